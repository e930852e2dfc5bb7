"""The supported agents and their files, read from `agents.toml`.

Here are the forms of entries that the table names: of a server, of a hook, and of the events that call a hook.

Each agent has its own form of the instructions, the skill and the explorer subagent.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import sys
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vademecum.errors import ConfigError, UsageError
from vademecum.providers.servers.configured import split
from vademecum.version import __version__


@dataclass(frozen=True, slots=True)
class Places:
    """The directories in templates such as `{home}/.claude.json`."""

    home: Path
    config: Path  # `$XDG_CONFIG_HOME` or `~/.config` on every platform: agents for the terminal use it everywhere
    code: Path  # VS Code's user directory
    claude: Path  # `$CLAUDE_CONFIG_DIR`
    claude_json: Path  # holds `.claude.json`: the same, or the home
    codex: Path  # `$CODEX_HOME`
    project: Path  # the top of the repository

    @property
    def homeless(self) -> bool:
        """True when the current repository is the home directory."""
        return os.path.realpath(self.project) == os.path.realpath(self.home)

    def path(self, template: str) -> Path:
        """Return the file of a template."""
        name, _, rest = template.partition("/")
        return Path(getattr(self, name.strip("{}")), *rest.split("/"))

    def first(self, templates: Iterable[str]) -> Path:
        """Return the first existing file, or the first of all."""
        paths = [self.path(template) for template in templates]
        return next((path for path in paths if os.path.lexists(path)), paths[0])


def places(environ: Mapping[str, str], project: Path, platform: str = sys.platform) -> Places:
    """Return the user's directories. Raises `ConfigError` without a home."""
    found = environ.get("USERPROFILE") if platform == "win32" else environ.get("HOME")
    home = Path(found or os.path.expanduser("~"))
    if str(home) == "~":
        raise ConfigError("there is no home directory to look for agents in: set HOME")
    config = Path(environ.get("XDG_CONFIG_HOME") or home / ".config")
    code = {
        "win32": Path(environ.get("APPDATA") or home / "AppData/Roaming"),
        "darwin": home / "Library/Application Support",
    }
    claude = environ.get("CLAUDE_CONFIG_DIR")
    return Places(
        home=home,
        config=config,
        code=code.get(platform, config) / "Code" / "User",
        claude=Path(claude or home / ".claude"),
        claude_json=Path(claude or home),
        codex=Path(environ.get("CODEX_HOME") or home / ".codex"),
        project=project,
    )


@dataclass(frozen=True, slots=True)
class Command:
    """The words that start `vade`."""

    words: tuple[str, ...]
    local: bool  # true if they name a path on this machine

    def hook(self, name: str, platform: str = sys.platform) -> str:
        r"""Return the shell line of a hook, which always exits with 0.

        An exit code of 2 would stop the agent. On Windows an agent runs the line in Git Bash, PowerShell or cmd.exe: only
        bare words and `/` mean the same to all three, and PowerShell 5 knows no `||`; a hook ends with 0 by itself.

        >>> Command(("/opt/my tools/vade",), True).hook("stop", "linux")
        "'/opt/my tools/vade' memory hook stop || exit 0"
        >>> Command(("C:\\Tools\\vade.exe",), True).hook("heard cursor", "win32")
        'C:/Tools/vade.exe memory hook heard cursor'
        """
        words = [*self.words, "memory", "hook", *name.split()]
        if platform == "win32":
            return " ".join(_bare(word.replace("\\", "/")) for word in words)
        return f"{shlex.join(words)} || exit 0"


def _bare(word: str) -> str:
    """Quote a word, only if needed: PowerShell runs no quoted program."""
    return word if re.fullmatch(r"[\w./:=~+-]+", word) else f'"{word}"'


def command(chosen: str = "", executable: str = sys.executable, prefix: str = sys.prefix) -> Command:
    """Return the command that runs this installation.

    It is the one that the user chose, or `uvx` or `pipx run` if one of them runs this process, else an absolute path.

    Raises:
        UsageError: the chosen command cannot be split into words.
    """
    if chosen:
        try:
            words = split(chosen)
        except ValueError as error:
            raise UsageError(f"the command {chosen!r} cannot be read: {error}") from error
        if not words:
            raise UsageError("the command is empty: name one, as `uvx vademecum`")
        return Command(tuple(words), os.path.isabs(words[0]))
    parts = Path(prefix).parts
    # uv runs a tool from `…/uv/archive-v0/HASH` or `…/uv/environments-v2/…`, pipx from `…/pipx/.cache/HASH`.
    if any(part.startswith(("archive-v", "environments-v")) for part in parts) and shutil.which("uvx"):
        return Command(("uvx", f"vademecum=={__version__}"), local=False)
    if "pipx" in parts and ".cache" in parts and shutil.which("pipx"):
        return Command(("pipx", "run", f"vademecum=={__version__}"), local=False)
    folder = Path(executable).absolute().parent  # not resolved: an environment's Python is a link to another folder
    # The package for Windows has its programs in `bin`, beside the folder of its Python.
    for program in (folder / "vade", folder / "vade.exe", folder.parent / "bin" / "vade.exe"):
        if program.is_file():
            return Command((str(program),), local=True)
    return Command((str(Path(executable).absolute()), "-P", "-m", "vademecum"), local=True)


NAME = "vademecum-explorer"
RULES = "instructions"  # for every session
SKILL, EXPLORER = "skill", "explorer"  # also the names of the Markdown files beside this module
SAID = {
    SKILL: "Finds code in this repository by meaning, says who calls a function, what a change may break and which tests "
    "to run, and recalls what was decided. Use it before you change, rename or delete a function, when you look for where "
    "something is done or decided and do not know the exact words, when you start on an issue, and when you ask what was "
    "agreed before. Not for exact strings (grep) or files whose path you know.",
    EXPLORER: "Answers where something is done in this repository and how it works, with path:lines and reasons, by meaning "
    "and call graph. Use it for questions that take several searches, and before a change to learn what the change touches. "
    "It reads and never edits.",
}
_TOOLS = ("search", "context", "symbol", "recall")
INSTRUCTIONS = """\
## vademecum

The MCP server `vademecum` (on the command line `vade`) finds code in this repository by meaning, knows who calls what,
and remembers the work.

Use it
- to find where something is done or decided: `search` with a question in plain words;
- before you change a function: `symbol` with relation `impact`: who calls it, what may break, which tests to run;
- before a larger change: `context` with the whole issue: what to read, within a budget;
- for what was decided or preferred before, and why: `recall`; for a decision worth keeping: `remember`.

Do not use it
- for an exact string: grep is quicker;
- for a file whose path you know: read it;
- again after `not_found`: rephrase once at most, then say that it is not there.
"""


@dataclass(frozen=True, slots=True)
class Text:
    """An agent's file with one of our texts."""

    file: str  # template of its path
    head: str = ""  # the beginning of a file that we create
    of: str = RULES
    format: str = "markdown"  # a key of `formats`

    def words(self) -> str:
        """Return the content of the file below its head."""
        said = INSTRUCTIONS if self.of == RULES else body(self.of)
        if self.format == "markdown":
            return said
        return (
            f'name = "{NAME}"\ndescription = "{SAID[self.of]}"\nsandbox_mode = "read-only"\n'
            f"developer_instructions = '''\n{said}'''\n"
        )


def texts(agent: str, skills: str, agents: str) -> tuple[Text, Text]:
    """Return an agent's skill and explorer, for its folders of each."""
    skill = Text(f"{skills}/vademecum/SKILL.md", front_matter("name: vademecum", f"description: {SAID[SKILL]}"), SKILL)
    if agent == "codex":
        return skill, Text(f"{agents}/{NAME}.toml", "", EXPLORER, "toml-file")
    head = gemini_head() if agent == "gemini" else claude_head(NAME)
    return skill, Text(f"{agents}/{NAME}.md", head, EXPLORER)


def body(of: str) -> str:
    """Return a text without its head."""
    return Path(__file__).with_name(f"{of}.md").read_text(encoding="utf-8")


def claude_head(name: str, server: str = "mcp__vademecum__") -> str:
    """Return the front matter of Claude Code's explorer.

    `server` is the prefix of our tools' names there.

    >>> print(claude_head("explorer").splitlines()[3])
    tools: mcp__vademecum__search, mcp__vademecum__context, mcp__vademecum__symbol, mcp__vademecum__recall, Read, Grep
    """
    tools = ", ".join([*(server + tool for tool in _TOOLS), "Read", "Grep"])
    return front_matter(f"name: {name}", f"description: {SAID[EXPLORER]}", f"tools: {tools}")


def gemini_head() -> str:
    """Return the front matter of Gemini CLI's explorer."""
    tools: Sequence[str] = [*(f"mcp_vademecum_{tool}" for tool in _TOOLS), "read_file", "grep_search"]
    listed = "\n".join(["tools:", *(f"  - {tool}" for tool in tools)])
    return front_matter(f"name: {NAME}", f"description: {SAID[EXPLORER]}", "kind: local", listed)


def front_matter(*lines: str) -> str:
    """Return lines as the front matter of a Markdown file."""
    return "\n".join(["---", *lines, "---", "", ""])


Server = Callable[[str, list[str]], Any]  # (command, arguments) → the entry in the agent's settings
Element = Callable[[str, int | None], dict[str, Any]]  # (line, timeout) → an element of the event's list


def _typed(line: str, timeout: int | None) -> dict[str, Any]:
    hook: dict[str, Any] = {"type": "command", "command": line}
    return hook if timeout is None else hook | {"timeout": timeout}


ELEMENTS: Mapping[str, Element] = {
    "grouped": lambda line, timeout: {"hooks": [_typed(line, timeout)]},  # for Claude Code
    "typed": _typed,  # for VS Code and Copilot CLI
    "bare": lambda line, _: {"command": line},  # for Cursor
    "unseen": lambda line, _: {"command": line, "show_output": False},  # for Windsurf
}


@dataclass(frozen=True, slots=True)
class Hooks:
    """A file of settings with hooks."""

    file: str  # template of its path
    events: Mapping[str, str]  # the agent's event → our hook, and the agent's name if it needs its own form
    timeout: int | None = None  # in the agent's unit, None for the agent's default
    element: Element = ELEMENTS["grouped"]
    version: int | None = None  # the required `version` of the file
    hint: str = ""  # the event of a call of a search tool, "" without one
    format: str = "json"

    def part(self, event: str, hook: str, line: str) -> dict[str, Any]:
        """Return the element of an event's list that runs a hook."""
        element = self.element(line, self.timeout)
        tools = TOOLS.get(f"{hook} {event}")
        return {"matcher": tools, **element} if tools else element


@dataclass(frozen=True, slots=True)
class Program:
    """A program that an agent runs instead of hooks."""

    file: str  # template of its path
    source: str  # the file beside this module

    def text(self, words: Sequence[str]) -> str:
        """Return the program, with the command that runs `vade`.

        >>> 'const COMMAND = ["uvx", "vademecum"];' in Program("", "opencode.js").text(["uvx", "vademecum"])
        True
        """
        source = Path(__file__).with_name(self.source).read_text(encoding="utf-8")
        return source.replace('["vade"]', json.dumps(list(words)), 1)


# The agent's event → our hook.
QWEN = {"SessionStart": "session-start", "UserPromptSubmit": "prompt", "Stop": "stop"}
_BOTH = QWEN | {"SubagentStart": "subagent-start", "PreToolUse": "tool", "PreCompact": "compact"}
CLAUDE = _BOTH | {"PostToolUseFailure": "tool"}
CODEX = _BOTH | {"PostToolUse": "tool"}
GEMINI = {"SessionStart": "session-start", "BeforeAgent": "prompt", "AfterAgent": "stop", "AfterTool": "tool"}
# Our hook and the agent's event → the tools that it is for. A file is read before it is edited, and what is known about it
# should arrive before the edit is written.
TOOLS = {
    "tool PreToolUse": "Read|Edit|MultiEdit|Write|NotebookEdit|apply_patch",
    "tool PostToolUseFailure": "Bash",
    "tool PostToolUse": "Bash",
    "tool AfterTool": "read_file|replace|write_file|run_shell_command",
    "hint PreToolUse": "Grep|Bash",
    "hint AfterTool": "grep_search|run_shell_command",
}
CURSOR = {
    "sessionStart": "session-start cursor",
    "beforeSubmitPrompt": "heard cursor",
    "afterAgentResponse": "heard cursor",
}
CASCADE = {"pre_user_prompt": "heard windsurf", "post_cascade_response": "heard windsurf"}
COPILOT = {"SessionStart": "session-start copilot", "UserPromptSubmit": "heard copilot", "Stop": "stop"}


def _goose(command: str, arguments: list[str]) -> Any:
    told = {"name": "vademecum", "description": "Finds code, remembers the work"}
    return {"enabled": True, "type": "stdio", **told, "cmd": command, "args": arguments, "envs": {}, "timeout": 300}


def _continue(command: str, arguments: list[str]) -> Any:
    return (
        "name: vademecum\nversion: 0.0.1\nschema: v1\nmcpServers:\n  - name: vademecum\n"
        f"    command: {json.dumps(command)}\n    args: {json.dumps(arguments)}"
    )


SERVERS: Mapping[str, Server] = {
    "plain": lambda command, arguments: {"command": command, "args": arguments},
    "stdio": lambda command, arguments: {"type": "stdio", "command": command, "args": arguments},
    "opencode": lambda command, arguments: {"type": "local", "command": [command, *arguments], "enabled": True},
    "copilot": lambda command, arguments: {"type": "local", "command": command, "args": arguments, "tools": ["*"]},
    "goose": _goose,
    "continue": _continue,
}


@dataclass(frozen=True, slots=True)
class Config:
    """A settings file with an entry for the server."""

    files: tuple[str, ...]  # templates of its path
    format: str = "json"  # a key of `formats`
    path: tuple[str, ...] = ()  # the keys that lead to the table of servers
    server: Server = SERVERS["plain"]
    # Argument of `vade mcp`: "" for the directory in which the agent starts it, a variable of the agent, or `{repository}`
    # for the path itself, if the agent starts its servers elsewhere.
    argument: str = ""


@dataclass(frozen=True, slots=True)
class Scope:
    """The kinds of files for one repository or for the user."""

    config: Config | None = None  # None marks a kind that the agent does not have
    rules: Text | None = None
    hooks: Hooks | Program | None = None
    texts: tuple[Text, ...] = ()


@dataclass(frozen=True, slots=True)
class Agent:
    """An agent: its names, its traces, and its two scopes."""

    id: str  # on the command line
    title: str  # known to people
    commands: tuple[str, ...]
    traces: tuple[str, ...]  # templates of paths that exist if the agent is in use
    user: Scope
    project: Scope


EVENTS: Mapping[str, Mapping[str, str]] = {
    "claude": CLAUDE, "codex": CODEX, "gemini": GEMINI, "qwen": QWEN, "cursor": CURSOR, "cascade": CASCADE, "copilot": COPILOT,
}  # fmt: skip


def _config(
    file: str | list[str], form: str = "plain", path: Sequence[str] = ("mcpServers",), **options: Any
) -> Config:
    files = (file,) if isinstance(file, str) else tuple(file)
    return Config(files, path=tuple(path), server=SERVERS[form], **options)


def _rules(file: str, head: Sequence[str] = ()) -> Text:
    return Text(file, front_matter(*head) if head else "")


def _hooks(file: str, program: str = "", events: str = "", form: str = "grouped", **options: Any) -> Hooks | Program:
    if program:
        return Program(file, program)
    return Hooks(file, EVENTS[events], element=ELEMENTS[form], **options)


def _scope(id_: str, row: Mapping[str, Any], scope: str) -> Scope:
    """Return one scope of an agent, from the agent's row."""

    def made(kind: str, make: Callable[..., Any]) -> Any:
        options = dict(row.get(kind, {}))
        own = {name: options.pop(name, None) for name in ("user", "project")}[scope]
        return None if own is None else make(**options | (own if isinstance(own, dict) else {"file": own}))

    places = row.get("texts", {}).get(scope)
    return Scope(
        made("server", _config), made("rules", _rules), made("hooks", _hooks), texts(id_, **places) if places else ()
    )


def _agents() -> tuple[Agent, ...]:
    rows = tomllib.loads(Path(__file__).with_name("agents.toml").read_text(encoding="utf-8"))
    return tuple(
        Agent(id_, row["title"], tuple(row["commands"]), tuple(row["traces"]), _scope(id_, row, "user"), _scope(id_, row, "project"))
        for id_, row in rows.items()
    )  # fmt: skip


AGENTS = _agents()
BY_ID: Mapping[str, Agent] = {agent.id: agent for agent in AGENTS}
