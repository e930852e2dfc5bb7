"""Real coding agents ask our MCP server, and what their model receives is read.

`pytest tests/clients` runs them alone; README.md beside this file says more.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from clients.clients import CLIENTS, Client, Task, run
from clients.model_server import Call, ModelServer, Part
from clients.shop import SHOP, lines_of_code
from clients.wires import TOOL_SEARCH
from handbook import Repo, make_repository
from needed import lacking
from vademecum.index.tokenize import PatternCounter
from vademecum.mcp.registry import ALWAYS, TOOLS

pytestmark = pytest.mark.slow

GOLDEN = Path(__file__).parent / "golden"
REAL, UPDATE = (
    bool(os.environ.get(f"VADE_{name}")) for name in ("TEST_REAL_CLIENTS", "UPDATE_GOLDEN")
)  # tests hide them
BUDGET = 500
MOST_CHARACTERS = BUDGET * 6  # code is about four characters a token
MOST_TOKENS_OF_LIST = 800
PROMPT = "How does this shop work?"


@dataclass(frozen=True)
class Row:
    """A call of a tool, and what the text of its result must hold."""

    tool: str
    arguments: Mapping[str, Any]
    holds: Sequence[str]


# A tool that the server offers needs a row. Rows of tools that it does not offer are left out.
FACT = "59814ad828"  # of the sentence remembered below: an id is made of what a fact is about
ROWS = (
    Row(
        "search", {"query": "wait longer after each lost connection", "budget": 300}, ["time.sleep(base * 2**attempt)"]
    ),
    Row("search", {"query": "too many requests per client", "lang": "go"}, ["http.StatusTooManyRequests"]),
    Row("search", {"query": "kubernetes operator"}, ["kubernetes"]),
    Row(
        "context",
        {"task": "A refused card must give the voucher back when check_out charges it", "budget": BUDGET},
        ["receipt_id = charge(bank, card, amount)", "shop/checkout.py"],
    ),
    Row(
        "open", {"location": "shop/discount.py:10-14"}, ["return total_cents - total_cents * VOUCHERS[voucher] // 100"]
    ),
    Row("symbol", {"name": "RateLimiter.Allow"}, ["gateway/limit.go", "func (l *RateLimiter) Allow"]),
    Row("symbol", {"name": "charge", "relation": "callers"}, ["shop/checkout.py", "check_out"]),
    Row("symbol", {"name": "retry_with_backoff", "relation": "impact"}, ["shop/payment.py", "charge", "refund"]),
    Row("remember", {"text": "We decided to keep amounts in cents because floats lose money."}, []),
    Row("recall", {"question": "How do we keep amounts?"}, ["cents"]),
    Row("correct", {"fact": FACT, "text": "We decided to keep amounts in cents because banks do."}, []),
    Row("forget", {"id": FACT}, []),
    Row("status", {}, ["shop"]),
    Row("search_tools", {"query": "charge a card"}, []),
    Row("predict_tool", {"intent": "charge a card"}, []),
    Row("suggest_plan", {"intent": "charge a card"}, []),
)


@dataclass(frozen=True)
class Server:
    """What `vade mcp` says of itself to any client."""

    command: Sequence[str]
    instructions: str
    tools: Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True)
class Played:
    """One client's whole conversation, as the model saw it."""

    client: Client
    rows: Sequence[Row]
    results: Sequence[str]
    offered: Mapping[str, Mapping[str, Any]]
    conversation: Sequence[Part]
    body: Mapping[str, Any]
    repository: Path

    def answers(self) -> list[tuple[Row, str]]:
        """Return each call with its result, without what the client put around it."""
        return [(row, self.client.unframed(text)) for row, text in zip(self.rows, self.results, strict=True)]


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Repo:
    """The shop, committed."""
    return make_repository(tmp_path_factory.mktemp("work") / "shop", SHOP)


def server_at(place: Path, repository: Path, further: str = "") -> Server:
    """Write a command `vade mcp` with its data in a place of its own, and ask it for its tools."""
    launcher = place / "vade"
    path = shlex.quote(os.pathsep.join(each for each in sys.path if each))
    launcher.write_text(
        f"#!/bin/sh\nexport VADE_HOME={shlex.quote(str(place / 'data'))} PYTHONPATH={path} VADE_MCP__TOOLS={further}\n"
        f'exec {shlex.quote(sys.executable)} -m vademecum "$@"\n'
    )
    launcher.chmod(0o755)
    client = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    asked = [{"id": 1, "method": "initialize", "params": client}, {"id": 2, "method": "tools/list"}]
    lines = "".join(json.dumps({"jsonrpc": "2.0", **each}) + "\n" for each in asked)
    done = subprocess.run(
        [str(launcher), "mcp"], cwd=repository, input=lines, capture_output=True, text=True, timeout=60, check=True
    )
    answers = {answer["id"]: answer["result"] for answer in map(json.loads, done.stdout.splitlines()) if "id" in answer}
    tools = {tool["name"]: tool for tool in answers[2]["tools"]}
    return Server([str(launcher), "mcp"], answers[1].get("instructions", ""), tools)


@pytest.fixture(scope="module", params=CLIENTS)
def client(request: pytest.FixtureRequest) -> Client:
    """Each client whose package is here."""
    found = CLIENTS[request.param]
    if not found.command():
        lacking(found.name)
    return found


@pytest.fixture(scope="module")
def served(client: Client, shop: Repo, tmp_path_factory: pytest.TempPathFactory) -> Server:
    """Our server with an empty memory for each client."""
    further = ",".join(name for name in TOOLS if name not in ALWAYS)
    return server_at(tmp_path_factory.mktemp(client.name), shop.path, further)


@pytest.fixture(scope="module")
def played(client: Client, served: Server, shop: Repo) -> Iterator[Played]:
    """The client has called every tool, as the model server told it to."""
    assert not (without := set(served.tools) - {row.tool for row in ROWS}), f"ROWS lacks a call of {without}"
    rows = [row for row in ROWS if row.tool in served.tools]
    with ModelServer([*(Call(row.tool, row.arguments) for row in rows), "That is all."]) as model:
        ran = run(client, Task(PROMPT, shop.path, Path(served.command[0]).parent, served.command, model.url))
        assert ran.code == 0, ran
        assert "That is all." in ran.output, ran
        offered = {name: tool for name, tool in model.tools().items() if "vademecum" in name}
        yield Played(client, rows, model.tool_results(), offered, model.conversation(), model.body(), shop.path)


def strings(value: Any) -> Iterator[str]:
    """Yield every string in data."""
    if isinstance(value, str):
        yield value
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from strings(inner)


def problems(text: str, row: Row, repository: Path) -> Iterator[str]:
    """Yield what is wrong with a result as the model received it."""
    yield from (f"lacks {held!r}" for held in row.holds if held not in text)
    yield from (f"has twice: {line!r}" for line in lines_of_code() if text.count(line) > 1)
    yield from (f"has the commit {commit}" for commit in set(re.findall(r"\b[0-9a-f]{40}\b", text)))
    places = re.findall(r"[\w/]+\.(?:py|go|md|toml):\d+(?:-\d+)?", text)
    yield from (f"names {place} twice" for place in set(places) if places.count(place) > 1)
    if text.count(str(repository)) > 1:
        yield "repeats where the repository lies"
    if text.lstrip().startswith(("{", "[")):
        yield "is JSON, not text"


def test_the_model_receives_text_with_the_code_and_nothing_twice(played: Played) -> None:
    """Every tool's result holds the lines it was asked for, as text, each once, without ids."""
    found = [
        f"{row.tool} {dict(row.arguments)} {problem}; the model got: {text[:600]}"
        for row, text in played.answers()
        for problem in problems(text, row, played.repository)
    ]
    assert not found, "\n\n".join(found)


def test_a_budget_holds_for_what_the_model_receives(played: Played) -> None:
    """A context keeps to the tokens that were promised, and is not an empty promise."""
    texts = [text for row, text in played.answers() if row.tool == "context"]
    assert texts
    for text in texts:
        assert BUDGET / 4 < PatternCounter().count(text) <= BUDGET, text
        assert len(text) <= MOST_CHARACTERS


def test_instructions_and_tools_reach_the_model(played: Played, served: Server) -> None:
    """The model reads the server's instructions, and each tool's description and arguments."""
    assert served.instructions
    assert any(served.instructions in text for text in strings(played.body))
    for name, tool in served.tools.items():
        offered = [
            each for shown, each in played.offered.items() if re.split(r"_vademecum_+|^vademecum_|/", shown)[-1] == name
        ]
        assert [each["description"] for each in offered] == [tool["description"]]
        [schema] = [
            offered[0][key] for key in ("input_schema", "parameters", "parametersJsonSchema") if key in offered[0]
        ]
        assert set(schema["properties"]) >= set(tool["inputSchema"]["properties"])


def test_the_list_of_tools_is_short(shop: Repo, tmp_path: Path) -> None:
    """Tools and instructions cost little of every conversation."""
    offered = server_at(tmp_path, shop.path)
    listed = json.dumps({"tools": list(offered.tools.values())}, separators=(",", ":")) + offered.instructions
    assert PatternCounter().count(listed) <= MOST_TOKENS_OF_LIST


def transcript(played: Played, served: Server) -> str:
    """Write a conversation down for a person, without what differs between two runs."""
    shown = [
        f"# {played.client.name}",
        "",
        f"Written by `VADE_UPDATE_GOLDEN=1 pytest tests/clients`. Asked: {PROMPT}",
        "",
    ]
    shown += ["## Instructions", "", served.instructions, "", "## Tools", ""]
    shown += [f"- `{name}`: {tool['description'].split('. ')[0].rstrip('.')}" for name, tool in played.offered.items()]
    results = iter(played.results)
    for part in played.conversation:
        if part.kind == "call" and part.name == TOOL_SEARCH:
            shown += ["", f"## {part.name}", "", part.text]
        elif part.kind == "call":
            arguments = json.dumps(json.loads(part.text), ensure_ascii=False)
            shown += ["", f"## {part.name}", "", arguments, "", "~~~~text", next(results), "~~~~"]
    return normalised("\n".join(shown), served, played.repository)


def normalised(text: str, served: Server, repository: Path) -> str:
    """Replace places, commits, ids, dates and durations by words."""
    text = text.replace(str(repository), "SHOP").replace(str(Path(served.command[0]).parent), "PLACE")
    for pattern, word in (
        (r"\b[0-9a-f]{40}\b", "COMMIT"),
        (r"\b(?=[0-9a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,32}\b", "ID"),
        (r"\b20\d\d-\d\d-\d\d(?:[T ][\d:.]+(?:Z|[+-]\d\d:\d\d)?)?", "DATE"),
        (r"\b\d+(?:\.\d+)? (ms|s|seconds|kB|MB)\b", r"N \1"),
    ):
        text = re.sub(pattern, word, text)
    return "\n".join(line.rstrip() for line in text.splitlines()) + "\n"


def test_the_transcript_is_the_golden_one(played: Played, served: Server) -> None:
    """The conversation is the one that a person has read; VADE_UPDATE_GOLDEN=1 writes it anew."""
    written = GOLDEN / f"{played.client.name}.md"
    found = transcript(played, served)
    if UPDATE:
        written.parent.mkdir(exist_ok=True)
        written.write_text(found, encoding="utf-8")
    assert written.read_text(encoding="utf-8") == found


@pytest.mark.skipif(not REAL, reason="VADE_TEST_REAL_CLIENTS=1 asks the real services, with the user's own accounts")
def test_the_real_service_finds_the_place(client: Client, served: Server, shop: Repo) -> None:
    """A real model, told to use our server, names the file."""
    prompt = (
        "Call the tool `search` of vademecum once to find where a pause doubles. Answer with path and line, no more."
    )
    ran = run(client, Task(prompt, shop.path, Path(served.command[0]).parent, served.command))
    assert ran.code == 0, ran
    assert "shop/retry.py" in ran.output, ran
