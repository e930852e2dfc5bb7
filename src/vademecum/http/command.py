"""`vade serve`."""

from __future__ import annotations

import click


@click.command()
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@click.option(
    "--host",
    metavar="ADDRESS",
    help="Where to listen; any but a loopback address needs keys.",
    show_default="server.host",
)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    metavar="N",
    help="The port; 0 for any that is free.",
    show_default="server.port",
)
@click.option("--new-key", metavar="NAME", default="", help="Print a new key and its entry for server.keys, and exit.")
@click.option(
    "--for",
    "repositories",
    metavar="REPOS",
    default="*",
    help="With --new-key: which repositories it opens, with commas; * is everything.",
)
def serve(paths: tuple[str, ...], host: str | None, port: int | None, new_key: str, repositories: str) -> int:
    """Serve the current repository, or each PATH, over HTTP.

    Serves the API, a page for people at /, metrics, and MCP for agents at /mcp. Needs the extra `server`.

    \b
    vade serve
    vade serve ~/app ~/lib --port 0
    vade serve --new-key ci --for app
    """  # noqa: D301 -- click reads the backspace as "leave these lines as they are"
    if new_key:
        from vademecum.http.auth import new_key as made

        key, entry = made(new_key, repositories)
        click.echo(
            f"key, shown this once: {key}\nentry of server.keys, in your user file or VADE_SERVER__KEYS: {entry}"
        )
        return 0
    from vademecum.cli.session import ask_first, settings_for
    from vademecum.http.serve import serve as run

    settings = settings_for(paths)
    ask_first(paths, settings)
    run(paths, settings, host, port)
    return 0
