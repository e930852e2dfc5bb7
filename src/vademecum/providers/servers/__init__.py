"""Servers whose tools can be listed and called: those that speak the Model Context Protocol."""
