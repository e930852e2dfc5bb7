"""The command lines of coding agents: how each is started, and how its stream of events is read.

Each client is a class of two methods. `command` builds the command line; the prompt goes to standard input. `session` reads
the events. Both leave out the instructions, hooks and servers of the user and of the repository, as far as the client
allows: the arms differ in what this harness hands over. Web tools are off, since the fix is on the web.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from vademecum.redaction.redact import redact

SECRET_NAME = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL", re.IGNORECASE)
OURS = "vademecum"
Event = dict[str, Any]
Bill = tuple[int | None, int | None, int | None]  # tokens in, from the cache, out
# Claude Code then waits for a server before its model's first turn, whatever the machine has to do beside.
PATIENT = {"MCP_CONNECTION_NONBLOCKING": "0", "MCP_CONNECT_TIMEOUT_MS": "120000"}


@dataclass(frozen=True)
class Setup:
    """What one run hands to a client beside the prompt; `plugin` is the folder of the steered arm."""

    home: Path  # VADE_HOME of this run alone
    offered: bool = False
    plugin: Path | None = None
    model: str = ""
    budget_usd: float | None = None
    extra: tuple[str, ...] = ()

    @property
    def program(self) -> str:
        """The path of `vade`."""
        beside = str(Path(sys.executable).parent)
        return shutil.which("vade", path=f"{beside}{os.pathsep}{os.environ.get('PATH', '')}") or "vade"

    @property
    def environment(self) -> dict[str, str]:
        """The environment of the client and of the index; the plugin's hooks find `vade` on the path."""
        path = f"{Path(self.program).parent}{os.pathsep}" if self.offered else ""
        return os.environ | PATIENT | {"VADE_HOME": str(self.home), "PATH": path + os.environ.get("PATH", "")}

    @property
    def server(self) -> dict[str, Any]:
        """The MCP server as `vade install` writes it, with the data of this run alone."""
        passed = {name: os.environ[name] for name in ("PYTHONPATH",) if name in os.environ}
        return {"command": self.program, "args": ["mcp"], "env": passed | {"VADE_HOME": str(self.home)}}


@dataclass(frozen=True)
class Call:
    """One call of a tool: its name, what it was given, and what the model got back ("" if nothing came)."""

    tool: str
    given: str
    answer: str = ""

    @property
    def is_ours(self) -> bool:
        """Whether the call asks vademecum, through its server or on the command line."""
        return OURS in self.tool or re.search(r"\bvade\s+\w", self.given) is not None


@dataclass(frozen=True)
class Session:
    """One run as its client tells it; tokens are None where the client did not tell them."""

    outcome: str  # done, error, timeout
    calls: tuple[Call, ...] = ()
    input: int | None = None  # not from the cache, with what is written to the cache
    cached: int | None = None
    output: int | None = None
    cost_usd: float | None = None
    said: str = ""


def _text(content: Any) -> str:
    """Return the text of a result, which is a string, or a list of parts."""
    if isinstance(content, list):
        return "\n".join(part.get("text", "") for part in content if isinstance(part, dict))
    return content if isinstance(content, str) else ""


class Claude:
    """Claude Code: `claude -p`, events as `stream-json`."""

    tells_cost = True

    def command(self, setup: Setup) -> list[str]:
        """Allow files, the shell and our server; load no settings but ours. A plugin brings the server itself."""
        servers = json.dumps({"mcpServers": {OURS: setup.server} if setup.offered else {}})
        tools = ("Bash", "Edit", "Write", "Read", "Grep", "Glob", f"mcp__{OURS}", f"mcp__plugin_{OURS}_{OURS}")
        return [
            *("claude", "-p", "--output-format", "stream-json", "--verbose", "--no-session-persistence"),
            *("--setting-sources", "", "--permission-mode", "acceptEdits"),
            *("--allowedTools", ",".join(tools), "--disallowedTools", "WebFetch,WebSearch"),
            *(
                ("--plugin-dir", str(setup.plugin))
                if setup.plugin
                else ("--strict-mcp-config", "--mcp-config", servers)
            ),
            *(("--model", setup.model) if setup.model else ()),
            *(("--max-budget-usd", f"{setup.budget_usd:.2f}") if setup.budget_usd is not None else ()),
            *setup.extra,
        ]

    def session(self, events: Iterable[Event]) -> Session:
        """Read messages; the last event bills all models, and without it the messages' own usage counts."""
        calls: dict[str, Call] = {}
        bills: dict[str, Event] = {}
        end: Event = {}
        for event in events:
            message = event.get("message") or {}
            if event.get("type") == "assistant" and message.get("usage"):
                bills[message["id"]] = message["usage"]  # one event for each block: the last one counts
            for block in message.get("content") or () if isinstance(message.get("content"), list) else ():
                if block.get("type") == "tool_use":
                    calls[block["id"]] = Call(block["name"], json.dumps(block["input"], ensure_ascii=False))
                elif block.get("type") == "tool_result" and block["tool_use_id"] in calls:
                    call = calls.pop(block["tool_use_id"])  # put last: calls are in the order of their answers
                    calls[block["tool_use_id"]] = replace(call, answer=_text(block.get("content")))
            end = event if event.get("type") == "result" else end
        done = end.get("subtype") == "success" and not end.get("is_error")
        bill = _claude_bill(end.get("modelUsage") or bills)
        said = str(end.get("result") or "")
        return Session("done" if done else "error", tuple(calls.values()), *bill, end.get("total_cost_usd"), said)


def _claude_bill(rows: dict[str, Event]) -> Bill:
    """Return tokens in, from the cache, and out: of models at the end, or of messages, which spell them otherwise."""
    names = (
        ("inputTokens", "cacheCreationInputTokens", "input_tokens", "cache_creation_input_tokens"),
        ("cacheReadInputTokens", "cache_read_input_tokens"),
        ("outputTokens", "output_tokens"),
    )
    taken, cached, given = (sum(row.get(name) or 0 for row in rows.values() for name in spelled) for spelled in names)
    return (taken, cached, given) if rows else (None, None, None)


class Codex:
    """Codex CLI: `codex exec --json`, in the sandbox that lets commands write to the work tree and not use the network."""

    tells_cost = False

    def command(self, setup: Setup) -> list[str]:
        """Set everything by options; the user's configuration is not read, the account is."""
        settings: dict[str, Any] = {"web_search": "disabled", "project_doc_max_bytes": 0}
        if setup.offered:
            # a run whose server starts late would be one of another arm
            patient = {"required": True, "startup_timeout_sec": 120}
            server = setup.server | {"default_tools_approval_mode": "approve"} | patient
            server |= {f"env.{name}": value for name, value in server.pop("env").items()}
            settings |= {f"mcp_servers.{OURS}.{key}": value for key, value in server.items()}
        if setup.plugin:  # no plugin can be loaded for one run
            files = sorted(setup.plugin.rglob("SKILL.md"))
            settings["developer_instructions"] = "\n\n".join(file.read_text(encoding="utf-8") for file in files)
        return [
            *("codex", "exec", "--json", "--ephemeral", "--ignore-user-config", "--sandbox", "workspace-write"),
            *(
                part for key, value in settings.items() for part in ("-c", f"{key}={json.dumps(value)}")
            ),  # which is TOML too
            *(("--model", setup.model) if setup.model else ()),
            *(*setup.extra, "-"),
        ]

    def session(self, events: Iterable[Event]) -> Session:
        """Read finished items; the end of the turn bills."""
        calls: list[Call] = []
        bill: Bill = (None, None, None)
        outcome, said = "error", ""
        for event in events:
            item = event.get("item") or {}
            if event.get("type") == "item.completed":
                calls += _codex_call(item)
                said = item.get("text") or said if item.get("type") == "agent_message" else said
            elif event.get("type") == "turn.completed":
                usage, outcome = event["usage"], "done"
                cached = usage["cached_input_tokens"]
                bill = usage["input_tokens"] - cached, cached, usage["output_tokens"]
            elif event.get("type") == "turn.failed":
                said = str((event.get("error") or {}).get("message"))
        return Session(outcome, tuple(calls), *bill, None, said)


def _codex_call(item: Event) -> Iterator[Call]:
    """Yield the call that an item is, if any."""
    kind = item.get("type")
    if kind == "command_execution":
        yield Call("shell", item.get("command") or "", item.get("aggregated_output") or "")
    elif kind == "file_change":
        yield Call("apply_patch", json.dumps(item.get("changes")))
    elif kind == "mcp_tool_call":
        result = item.get("result") or {}
        structured = result.get("structured_content")  # the model gets it in the place of the text
        answer = json.dumps(structured, ensure_ascii=False) if structured else _text(result.get("content"))
        yield Call(f"{item.get('server')}/{item.get('tool')}", json.dumps(item.get("arguments")), answer)
    elif kind not in {"agent_message", "reasoning", "error", "todo_list"}:
        yield Call(str(kind), "")


CLIENTS: dict[str, Claude | Codex] = {"claude": Claude(), "codex": Codex()}


def play(command: Sequence[str], prompt: str, tree: Path, setup: Setup, seconds: float) -> tuple[str, bool]:
    """Run a client in a tree; return its events as text, and whether time ran out and all it started was ended."""
    listened = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # Ctrl-C waits until the process is known
    try:
        process = subprocess.Popen(
            command, cwd=tree, env=setup.environment, text=True, errors="replace", start_new_session=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            preexec_fn=lambda: signal.pthread_sigmask(signal.SIG_SETMASK, listened),  # noqa: PLW1509 - no threads here
        )  # fmt: skip
    except OSError:
        signal.pthread_sigmask(signal.SIG_SETMASK, listened)
        raise
    try:
        signal.pthread_sigmask(signal.SIG_SETMASK, listened)
        output, complaints = process.communicate(prompt, timeout=seconds)
    except (subprocess.TimeoutExpired, KeyboardInterrupt) as stopped:
        os.killpg(process.pid, signal.SIGKILL)
        output = process.communicate()[0]
        if isinstance(stopped, KeyboardInterrupt):
            raise
        return output, True
    if not output.strip():
        raise SystemExit(f"{command[0]} told nothing: {without_secrets(complaints)[-2000:]}")
    return output, False


def events_in(output: str) -> Iterator[Event]:
    """Yield the events of a stream; a last line that was cut off is dropped."""
    for line in output.splitlines():
        try:
            yield json.loads(line)
        except json.JSONDecodeError:
            continue


def without_secrets(text: str) -> str:
    """Take out the values of the environment's secrets, and all that looks like one."""
    for name, value in os.environ.items():
        if SECRET_NAME.search(name) and len(value) >= 8:
            text = text.replace(value, "[redacted]")
    return "".join(redact(line).text for line in text.splitlines(keepends=True))
