"""Tool servers from the `mcpServers` of a coding agent's settings.

    {"mcpServers": {"files": {"command": "npx", "args": ["-y", "server-files", "."], "env": {"TOKEN": "${TOKEN}"}},
                    "tickets": {"url": "https://example.org/mcp", "headers": {"Authorization": "Bearer ${KEY}"}}}}

`{"provider": "acme", "options": {…}}` is a server from an installed distribution. `servers` and `context_servers` are read as
well, and servers with `"disabled": true` are skipped. `${NAME}`, `${NAME:-default}` and `${env:NAME}` stand for environment
variables, so that the file need hold no secret.

`allow`, `ask` and `deny` of a server are names of its tools or globs, and `"readOnly": true` admits only tools that change nothing.
`"permissions": {"deny": ["*/delete_*"]}` beside the servers has the same lists for the tools of all, as `server/name`.

    >>> config = {"mcpServers": {"files": {"command": "npx", "args": ["${WHAT:-server-files}"]}}}
    >>> [(spec.name, spec.command) for spec in specs_of(config, "config.json", environ={})]
    [('files', ('npx', 'server-files'))]
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import sys
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from typing import Any

from vademecum.errors import ConfigError
from vademecum.plugins import load
from vademecum.protocols import ToolServer

SECTIONS = ("mcpServers", "servers", "context_servers")
_VARIABLE = re.compile(r"\$\{(?:env:)?([A-Za-z_]\w*)(?::-([^}]*))?\}")


@dataclass(frozen=True, slots=True)
class Rules:
    """A server's callable tools, as globs of ids."""

    allow: tuple[str, ...] = ()
    ask: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()
    read_only: bool = False  # only tools that say that they change nothing

    def of(self, id_: str) -> str:
        """Return the rule of a tool: `deny`, `ask` or `allow`.

        The strictest list that names the tool decides. With an `allow` list, tools on no list are asked about.

        >>> rules = Rules(allow=("notes/find_*",), deny=("*/delete_*",))
        >>> [rules.of(f"notes/{name}") for name in ("find_note", "delete_note", "draw_note")]
        ['allow', 'deny', 'ask']
        """
        for rule, globs in (("deny", self.deny), ("ask", self.ask), ("allow", self.allow)):
            if any(fnmatchcase(id_, each) for each in globs):
                return rule
        return "ask" if self.allow else "allow"


@dataclass(frozen=True, slots=True)
class ServerSpec:
    """The way to reach a server, without its secrets in the repr."""

    name: str
    command: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    cwd: str = ""
    url: str = field(default="", repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    sse: bool = False
    provider: str = ""  # from an installed distribution, instead of a command or a URL
    options: Mapping[str, str] = field(default_factory=dict, repr=False)
    rules: Rules = Rules()

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
            words = tuple(split(line))
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


def read_servers(
    path: str | os.PathLike[str], environ: Mapping[str, str] | None = None, problems: list[str] | None = None
) -> list[ServerSpec]:
    """Read a file of servers.

    Args:
        path: The file: JSON.
        environ: The environment; by default `os.environ`.
        problems: Receives a line for each wrong server; the other servers count. Without a list, a wrong server is an error.

    Raises:
        ConfigError: The file cannot be read, or no server in it is right.
    """
    shown = os.fspath(path)
    try:
        with open(path, encoding="utf-8") as file:
            config = json.load(file)
    except OSError as error:
        raise ConfigError(f"{shown} cannot be read: {error.strerror or error}: name a file with mcpServers") from error
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{shown} is not JSON: {error}: mend it") from error
    return specs_of(config, shown, os.environ if environ is None else environ, problems)


def specs_of(
    config: Any, origin: str, environ: Mapping[str, str], problems: list[str] | None = None
) -> list[ServerSpec]:
    """Return a configuration's enabled servers, in its order.

    Raises:
        ConfigError: No server is enabled and right, or one is wrong and `problems` is not given.
    """
    sections = [config[key] for key in SECTIONS if isinstance(config, Mapping) and isinstance(config.get(key), Mapping)]
    if not sections:
        raise ConfigError(f"{origin} names no servers: it needs an object `mcpServers` of name to command or url")
    everywhere = _lists(config.get("permissions", {}), f"`permissions` in {origin}", "")
    specs: dict[str, ServerSpec] = {}
    wrong: list[str] = []
    for key, body in sections[0].items():
        try:
            if spec := _entry(key, body, origin, environ, everywhere, specs):
                specs[spec.name] = spec
        except ConfigError as error:
            if problems is None:
                raise
            wrong.append(str(error))
    if not specs:
        raise ConfigError("; ".join(wrong) or f"every server in {origin} is disabled: enable one")
    if problems is not None:
        problems += wrong
    return list(specs.values())


def _entry(
    key: str, body: Any, origin: str, environ: Mapping[str, str], everywhere: Mapping[str, tuple[str, ...]],
    others: Collection[str],
) -> ServerSpec | None:  # fmt: skip
    """Return one server with its rules; None for a disabled one."""
    name, where = _name(key), f"{key!r} in {origin}"
    if not isinstance(body, Mapping):
        raise ConfigError(f"{where} is not described: it needs an object with `command` or `url`")
    if body.get("disabled") is True or body.get("enabled") is False:
        return None
    if name in others:
        raise ConfigError(f"two servers in {origin} are called {name!r}: rename one")
    if not isinstance(body.get("readOnly", False), bool):
        raise ConfigError(f"readOnly of {where} is true or false")
    own = _lists(body, where, f"{name}/")
    rules = Rules(**{rule: own[rule] + everywhere[rule] for rule in own}, read_only=body.get("readOnly", False))
    return replace(_spec(name, body, where, environ), rules=rules)


def _lists(body: Any, where: str, prefix: str) -> dict[str, tuple[str, ...]]:
    """Return the lists `allow`, `ask` and `deny`, each name after a prefix."""
    found = {}
    for rule in ("allow", "ask", "deny"):
        names = body.get(rule, []) if isinstance(body, Mapping) else None
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise ConfigError(f"{rule} of {where} must be an array of names of tools, or of globs such as delete_*")
        found[rule] = tuple(prefix + name for name in names)
    return found


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
    """Return the most telling word of a command."""
    program = os.path.basename(words[0]).removesuffix(".exe").removesuffix(".cmd")
    runs_others = re.fullmatch(r"npx|uvx|pipx|bunx|node|deno|python[\d.]*|docker|sh|bash", program)
    telling = [word for word in words[1:] if not word.startswith("-") and word not in {"run", "exec"}]
    chosen = telling[0] if runs_others and telling else program
    return _name(re.sub(r"(?<=.)@[^/]*$|:[^/]*$|\.(?:py|js|ts|sh)$", "", chosen).rstrip("/").rpartition("/")[2])


def _name(key: str) -> str:
    """Return a server's name without slashes, which separate server from tool."""
    return key.strip().replace("/", "-") or "server"


def split(line: str, platform: str = sys.platform) -> list[str]:
    r"""Split a command line into words.

    On Windows a backslash is part of a path, and only double quotes hold words together.

    Raises:
        ValueError: a quote is not closed.

    >>> split(r'"C:\my tools\uvx.exe" vademecum', "win32")
    ['C:\\my tools\\uvx.exe', 'vademecum']
    """
    if platform != "win32":
        return shlex.split(line)
    words = shlex.shlex(line, posix=True)
    words.whitespace_split, words.commenters, words.escape, words.quotes = True, "", "", '"'
    return list(words)


def program(name: str, path: str | None) -> str:
    """Find a program on a search path, or return its name.

    Windows starts `npx.cmd` by its whole name only.
    """
    return shutil.which(name, path=path) or name
