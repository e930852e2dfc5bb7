"""Every shipped backlog and source of documents keeps the promises that `vademecum.testing` checks, and broken ones are noticed."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from vademecum.errors import SyncError
from vademecum.items import Item, Page
from vademecum.plugins import load
from vademecum.result import Err, Ok
from vademecum.sources.sources import kind_of
from vademecum.testing import check_backlog, check_document_source, check_extractor, check_tool_server

CHECKS = {"backlog": check_backlog, "documents": check_document_source}
OPTIONS = (
    *("url", "token", "user", "project", "team", "space", "site", "library", "folder", "tenant", "client", "client_secret"),
    *("query", "lists", "api"),
)  # fmt: skip
# Read before any test sets the environment aside: VADE_TEST_JIRA_URL, VADE_TEST_JIRA_TOKEN, …
REAL = {
    provider: {
        option: os.environ[variable]
        for option in OPTIONS
        if (variable := f"VADE_TEST_{provider.upper().replace('-', '_')}_{option.upper()}") in os.environ
    }
    for provider in ("jira", "azure-devops", "clickup", "confluence", "sharepoint")
}


def test_every_provider_keeps_its_promises(case: Any) -> None:
    for number in range(1, 6):
        case.put(number, changed=1_600_000_000.0 + number)
    kind = kind_of(case.provider)
    CHECKS[kind](load(kind, case.provider, name="work", wait=lambda _: None, **case.options))


def test_a_folder_keeps_its_promises(tmp_path: Path) -> None:
    for number in range(250):
        (tmp_path / f"{number}.md").write_text(f"# Page {number}\n")
    check_document_source(load("documents", "folder", path=str(tmp_path)))


@pytest.mark.parametrize("provider", REAL)
def test_a_real_server(provider: str) -> None:
    """Against the real thing, where VADE_TEST_<PROVIDER>_URL and what else it needs say where that is."""
    options = REAL[provider]
    if "url" not in options:
        pytest.skip(f"VADE_TEST_{provider.upper().replace('-', '_')}_URL names no server")
    kind = kind_of(provider)
    CHECKS[kind](load(kind, provider, **options))


ITEMS = tuple(Item(str(n), f"A-{n}", f"Item {n}", updated=100.0 * n) for n in range(1, 6))


class Counted:
    """A backlog that keeps its promises, two items a page."""

    name: str = "counted"
    remote: Any = False

    def told(self, since: float) -> list[Item]:
        return [item for item in ITEMS if item.updated >= since]

    def page(self, since: float, cursor: str) -> Any:
        if cursor and not cursor.isdigit():
            return Err(SyncError("no"))
        first, found = int(cursor or 0), self.told(since)
        return Ok(Page(tuple(found[first : first + 2]), cursor=str(first + 2) if first + 2 < len(found) else ""))


class Nameless(Counted):
    """Has no name."""

    name = ""


class Unsure(Counted):
    """Does not know whether it is remote."""

    remote = "maybe"


class Empty(Counted):
    """Has nothing."""

    def told(self, since: float) -> list[Item]:
        return []


class Exclusive(Counted):
    """Leaves out what changed at that very moment."""

    def told(self, since: float) -> list[Item]:
        return [item for item in ITEMS if item.updated > since]


class Circling(Counted):
    """Leads in a circle."""

    def page(self, since: float, cursor: str) -> Any:
        return Ok(Page(ITEMS, cursor={"": "a", "a": "b"}.get(cursor, "a")))


class Forgetful(Counted):
    """Tells of less when asked again."""

    def __init__(self) -> None:
        self.asked = 0

    def told(self, since: float) -> list[Item]:
        self.asked += 1
        return super().told(since)[: 5 if self.asked < 4 else 3]


class Raising(Counted):
    """Answers a stranger's cursor with nothing at all."""

    def page(self, since: float, cursor: str) -> Any:
        if cursor == "no cursor of yours":
            return None
        return super().page(since, cursor)


class Milliseconds(Counted):
    """Counts in milliseconds."""

    def told(self, since: float) -> list[Item]:
        return [replace(item, updated=1.7e12) for item in ITEMS]


class Wordy(Counted):
    """Has keys of two words."""

    def told(self, since: float) -> list[Item]:
        return [replace(item, key=f"A {item.id}") for item in super().told(since)]


class Alike(Counted):
    """Has one key for all."""

    def told(self, since: float) -> list[Item]:
        return [replace(item, key="A-1") for item in super().told(since)]


class Keyless(Counted):
    """Has no keys."""

    def told(self, since: float) -> list[Item]:
        return [replace(item, key="") for item in super().told(since)]


def test_the_check_lets_a_good_one_pass() -> None:
    check_backlog(Counted())


@pytest.mark.parametrize(
    "broken", [Nameless, Unsure, Empty, Exclusive, Circling, Forgetful, Raising, Milliseconds, Wordy, Alike, Keyless]
)
def test_a_broken_promise_is_noticed(broken: type[Counted]) -> None:
    with pytest.raises(AssertionError):
        check_backlog(broken())


def test_the_extractor_keeps_its_promises(chat_server: Any) -> None:
    chat_server.answer = lambda _: "[]"
    check_extractor(load("extractor", "llm:tiny:1b", api="ollama", base_url=chat_server.url, api_key="", timeout_s=5.0))


def test_a_broken_extractor_is_noticed() -> None:
    class Inventing:
        name, remote = "inventing", False

        def read(self, messages: Any) -> Any:
            return Ok([{"event": "nobody", "quote": "x"}])

    with pytest.raises(AssertionError, match="names a message"):
        check_extractor(Inventing())


SERVER = """
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked:
        continue
    method, said = asked["method"], {}
    if method == "initialize":
        said = {"protocolVersion": asked["params"]["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}}
    elif method == "tools/list":
        said = {"tools": [{"name": "add", "inputSchema": {"type": "object"}}]}
    elif method == "tools/call":
        known = asked["params"]["name"] == "add"
        said = {"content": [{"type": "text", "text": "2" if known else "no such tool"}], "isError": not known}
    print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": said}), flush=True)
"""


def test_a_server_of_tools_keeps_its_promises(tmp_path: Path) -> None:
    script = tmp_path / "server.py"
    script.write_text(SERVER)
    command = (sys.executable, str(script))
    check_tool_server(
        load("server", "stdio", name="sums", command=command, env={}, cwd="", timeout_s=20.0, answer_bytes=100_000)
    )


def test_a_broken_server_of_tools_is_noticed() -> None:
    class Immortal:
        name, about, remote, stale, alive = "immortal", "", False, False, True

        def tools(self) -> Any:
            return Ok([{"name": "add", "inputSchema": {}}])

        def call(self, tool: str, arguments: Any) -> Any:
            return Ok({"content": [], "isError": True})

        def close(self) -> None:
            """Do nothing."""

    with pytest.raises(AssertionError, match="was closed"):
        check_tool_server(Immortal())
