"""`vade mcp`."""

from __future__ import annotations

import sys

import click


@click.command()
@click.argument("paths", nargs=-1, metavar="[PATH]...")
def mcp(paths: tuple[str, ...]) -> int:
    """Serve coding agents over MCP, on standard input and output, for the current repository or each PATH.

    Add it to an agent with, for example: claude mcp add vademecum -- vade mcp
    """
    from vademecum.mcp.stdio import serve

    if sys.stdin.isatty():
        click.echo("vade mcp speaks JSON-RPC with an agent; a person wants `vade search`. Control-D ends it.", err=True)
    serve(paths)
    return 0
