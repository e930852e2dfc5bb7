"""Tool servers from the `mcpServers` of a coding agent's settings.

    {"mcpServers": {"files": {"command": "npx", "args": ["-y", "server-files", "."], "env": {"TOKEN": "${TOKEN}"}},
                    "tickets": {"url": "https://example.org/mcp", "headers": {"Authorization": "Bearer ${KEY}"}}}}

`{"provider": "acme", "options": {…}}` is a server from an installed distribution. `servers` and `context_servers` are read as
well, and servers with `"disabled": true` are skipped. `${NAME}`, `${NAME:-default}` and `${env:NAME}` stand for environment
variables, so that the file need hold no secret.

    >>> config = {"mcpServers": {"files": {"command": "npx", "args": ["${WHAT:-server-files}"]}}}
    >>> [(spec.name, spec.command) for spec in specs_of(config, "config.json", environ={})]
    [('files', ('npx', 'server-files'))]
"""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from vademecum.errors import ConfigError
from vademecum.plugins import load
from vademecum.protocols import ToolServer

SECTIONS = ("mcpServers", "servers", "context_servers")
_VARIABLE = re.compile(r"\$\{(?:env:)?([A-Za-z_]\w*)(?::-([^}]*))?\}")


@dataclass(frozen=True, slots=True)
class ServerSpec:
    """The way to reach a server: command, URL, or provider.

    The repr hides fields that may hold secrets.
    """

    name: str
    command: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    cwd: str = ""
    url: str = field(default="", repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    sse: bool = False
    provider: str = ""  # from an installed distribution, instead of a command or a URL
    options: Mapping[str, str] = field(default_factory=dict, repr=False)

    @classmethod
    def of_command(cls, line: str, name: str = "") -> ServerSpec:
        """Return the server of a command line.

        Without a name the server is called after the command's most telling word.

        Raises:
            ConfigError: The command line is empty, or its quotes do not match.

        >>> ServerSpec.of_command("npx -y @scope/server-files .").name
        'server-files'
        """
        try:
            words = tuple(shlex.split(line))
        except ValueError as error:
            raise ConfigError(f"{line!r} is no command line: {error}") from error
        if not words:
            raise ConfigError("the command of a server is empty: give the program and its arguments")
        return cls(name or _called(words), words)

    @classmethod
    def of_url(cls, url: str, name: str = "") -> ServerSpec:
        """Return the server at a URL, by default called after its host.

        Raises:
            ConfigError: `url` is no http or https URL.
        """
        found = re.match(r"https?://(?:[^/@]*@)?([^/:?#]+)", url)
        if not found:
            raise ConfigError("a server's URL begins with http:// or https:// and names a host")
        return cls(name or found[1], url=url)


def read_servers(path: str | os.PathLike[str], environ: Mapping[str, str] | None = None) -> list[ServerSpec]:
    """Read a file of servers.

    Args:
        path: The file: JSON.
        environ: The environment; by default `os.environ`.

    Raises:
        ConfigError: The file cannot be read, or a server's description is wrong.
    """
    shown = os.fspath(path)
    try:
        with open(path, encoding="utf-8") as file:
            config = json.load(file)
    except OSError as error:
        raise ConfigError(f"{shown} cannot be read: {error.strerror or error}: name a file with mcpServers") from error
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{shown} is not JSON: {error}: mend it") from error
    return specs_of(config, shown, os.environ if environ is None else environ)


def specs_of(config: Any, origin: str, environ: Mapping[str, str]) -> list[ServerSpec]:
    """Return a configuration's enabled servers, in its order.

    Raises:
        ConfigError: No server is enabled, or a description is wrong.
    """
    sections = [config[key] for key in SECTIONS if isinstance(config, Mapping) and isinstance(config.get(key), Mapping)]
    if not sections:
        raise ConfigError(f"{origin} names no servers: it needs an object `mcpServers` of name to command or url")
    specs: dict[str, ServerSpec] = {}
    for key, body in sections[0].items():
        name = _name(key)
        if not isinstance(body, Mapping):
            raise ConfigError(f"{key!r} in {origin} is not described: it needs an object with `command` or `url`")
        if body.get("disabled") is True or body.get("enabled") is False:
            continue
        if name in specs:
            raise ConfigError(f"two servers in {origin} are called {name!r}: rename one")
        specs[name] = _spec(name, body, f"{key!r} in {origin}", environ)
    if not specs:
        raise ConfigError(f"every server in {origin} is disabled: enable one")
    return list(specs.values())


def open_server(spec: ServerSpec, *, timeout_s: float = 60.0, answer_bytes: int = 4_000_000) -> ToolServer:
    """Return the server, not yet started or connected.

    Raises:
        MissingExtraError: The server is at a URL, and the SDK is not installed.
        UnknownProviderError: The configuration names a provider that is not installed.
    """
    limits: dict[str, Any] = {"timeout_s": timeout_s, "answer_bytes": answer_bytes}
    server: ToolServer
    if spec.provider:
        server = load("server", spec.provider, name=spec.name, **spec.options, **limits)
    elif spec.command:
        server = load("server", "stdio", name=spec.name, command=spec.command, env=spec.env, cwd=spec.cwd, **limits)
    else:
        server = load("server", "http", name=spec.name, url=spec.url, headers=spec.headers, sse=spec.sse, **limits)
    return server


def _spec(name: str, body: Mapping[str, Any], where: str, environ: Mapping[str, str]) -> ServerSpec:
    def filled(key: str, value: Any) -> str:
        if not isinstance(value, str | int | float) or isinstance(value, bool):
            raise ConfigError(f"{key} of {where} is {type(value).__name__}: it must be text")
        return _expanded(str(value), f"{key} of {where}", environ)

    def table(key: str) -> dict[str, str]:
        found = body.get(key) or {}
        if not isinstance(found, Mapping):
            raise ConfigError(f"{key} of {where} must be an object of name to text")
        return {inner: filled(f"{key}.{inner}", value) for inner, value in found.items()}

    command, args, url = body.get("command"), body.get("args") or [], body.get("url") or body.get("serverUrl")
    if isinstance(command, list):
        command, args = (command or [""])[0], [*command[1:], *args]
    if not isinstance(args, list):
        raise ConfigError(f"args of {where} must be an array of text")
    if body.get("provider"):
        return ServerSpec(name, provider=filled("provider", body["provider"]), options=table("options"))
    if bool(command) == bool(url):
        raise ConfigError(f"{where} needs either `command` or `url`")
    if url:
        known = ServerSpec.of_url(filled("url", url), name)
        sse = body.get("type", body.get("transport")) == "sse"
        return ServerSpec(name, url=known.url, headers=table("headers"), sse=sse)
    words = (filled("command", command), *(filled("args", one) for one in args))
    return ServerSpec(name, words, table("env"), filled("cwd", body.get("cwd") or ""))


def _expanded(text: str, where: str, environ: Mapping[str, str]) -> str:
    def value(found: re.Match[str]) -> str:
        name, default = found[1], found[2]
        if name in environ:
            return environ[name]
        if default is None:
            raise ConfigError(
                f"{where} needs the environment variable {name}, which is not set: set it, or write ${{{name}:-default}}"
            )
        return default

    return _VARIABLE.sub(value, text)


def _called(words: tuple[str, ...]) -> str:
    """Return the most telling word of a command.

    This is the program, or its first plain argument if the program runs others.
    """
    program = os.path.basename(words[0]).removesuffix(".exe").removesuffix(".cmd")
    runs_others = re.fullmatch(r"npx|uvx|pipx|bunx|node|deno|python[\d.]*|docker|sh|bash", program)
    telling = [word for word in words[1:] if not word.startswith("-") and word not in {"run", "exec"}]
    chosen = telling[0] if runs_others and telling else program
    return _name(re.sub(r"(?<=.)@[^/]*$|:[^/]*$|\.(?:py|js|ts|sh)$", "", chosen).rstrip("/").rpartition("/")[2])


def _name(key: str) -> str:
    """Return a server's name without slashes, which separate server from tool."""
    return key.strip().replace("/", "-") or "server"
