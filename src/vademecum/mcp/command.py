"""`vade mcp`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from vademecum.mcp.gateway import Gateway


@click.command()
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@click.option(
    "--gateway",
    "servers",
    metavar="FILE",
    type=click.Path(dir_okay=False),
    help="Instead serve the servers in FILE (its mcpServers) behind five tools: search, plan, predict and two to call.",
)
def mcp(paths: tuple[str, ...], servers: str | None) -> int:
    """Serve the current repository, or each PATH, to coding agents over MCP.

    Speaks on standard input and output. `vade install` adds it to agents; by hand it is, for example,

    \b
    claude mcp add vademecum -- vade mcp
    """  # noqa: D301 -- click reads the backspace as "leave these lines as they are"
    from vademecum.mcp.stdio import serve

    if sys.stdin.isatty():
        click.echo("vade mcp speaks JSON-RPC with an agent; a person wants `vade search`. Control-D ends it.", err=True)
    serve(paths, _gateway(servers) if servers else None)
    return 0


def _gateway(path: str) -> Gateway:
    """Return the gateway to a file's servers. Raises `UsageError` behind another."""
    import os
    import uuid

    from vademecum.config import load
    from vademecum.errors import UsageError
    from vademecum.mcp.gateway import INSIDE, gateway_to

    if os.environ.get(INSIDE):
        raise UsageError(f"this gateway was started by another: take the gateway itself out of {path}")
    return gateway_to(path, load(), f"gateway-{uuid.uuid4().hex[:12]}")
