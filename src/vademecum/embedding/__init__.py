"""Embedders made of others: one for code and one for prose, one that goes on while another fails."""
