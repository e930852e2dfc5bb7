"""Questions in the era without a greeting: a call is answered with them, and made again with the answers."""

from __future__ import annotations

import asyncio
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from mcp.types import ElicitRequestParams, ElicitResult, ListRootsResult, Root

from fronted import gateway
from mcp import Client
from vademecum.errors import ToolServerError, UsageError
from vademecum.mcp.client import MOST_PARKED, Rounds, working
from vademecum.providers.servers.wire import MOST_ROUNDS, in_rounds

OFFERS = {"elicitation": {}, "roots": {}}
# A server that knows no greeting, as the protocol's text of 2026-07-28 has it: it asks by answering, and keeps nothing itself.
STATELESS = """
import json, sys

TOOLS = [{"name": "burn", "description": "Burn all notes.", "inputSchema": {"type": "object"}}]

def answer(method, params):
    offers = params["_meta"]["io.modelcontextprotocol/clientCapabilities"]
    if method == "server/discover":
        return {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}}
    if method == "tools/list":
        return {"tools": TOOLS, "ttlMs": 0, "cacheScope": "private"}
    given = params.get("inputResponses")
    if not given and "elicitation" in offers:
        form = {"type": "object", "properties": {"sure": {"type": "boolean"}}}
        sure = {"method": "elicitation/create", "params": {"mode": "form", "message": "Sure?", "requestedSchema": form}}
        return {"resultType": "input_required", "requestState": "s1", "inputRequests": {"a": sure, "b": {"method": "roots/list"}}}
    said = [given["a"]["action"], given["b"]["roots"][0]["uri"], params["requestState"]] if given else ["nobody to ask"]
    return {"content": [{"type": "text", "text": " ".join(said)}]}

for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    reply = {"jsonrpc": "2.0", "id": message["id"]}
    if message["method"] == "initialize":
        reply["error"] = {"code": -32601, "message": "no method initialize"}
    else:
        reply["result"] = {"resultType": "complete", **answer(message["method"], message["params"])}
    print(json.dumps(reply), flush=True)
"""


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
def test_a_server_without_a_greeting_asks_whoever_is_in_front(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: str
) -> None:
    """It asks two things at once; a client of either era is asked both, and the call goes on."""
    (tmp_path / "burner.py").write_text(STATELESS, encoding="utf-8")
    server = gateway(
        tmp_path, {"notes": {"command": sys.executable, "args": [str(tmp_path / "burner.py")]}}, monkeypatch
    )

    async def user(_: Any, params: ElicitRequestParams) -> ElicitResult:
        return ElicitResult(action="accept" if params.message == "notes: Sure?" else "decline", content={"sure": True})

    async def roots(_: Any) -> ListRootsResult:
        return ListRootsResult(roots=[Root(uri="file:///work")])  # type: ignore[arg-type]

    async def converse(**answering: Any) -> str:
        async with Client(server, mode=mode, **answering) as client:
            result = await client.call_tool("call_tool", {"tool": "notes/burn"})
            return " ".join(getattr(part, "text", "") for part in result.content)

    said = asyncio.run(asyncio.wait_for(converse(elicitation_callback=user, list_roots_callback=roots), 120))
    assert said == "accept file:///work s1"
    assert asyncio.run(asyncio.wait_for(converse(), 120)) == "nobody to ask"


def asking(rounds: Rounds, server: str, *questions: str) -> Any:
    """A call in which a server asks something on a thread of its own, one after the other, as servers do."""

    def call() -> dict[str, Any]:
        working(server)
        answers: list[Any] = []

        def ask() -> None:
            answers.extend(rounds.ask(server, "elicitation/create", {"message": said}) for said in questions)

        thread = threading.Thread(target=ask)
        thread.start()
        thread.join()
        return {"answers": answers}

    return call


def test_a_call_goes_on_where_it_waited() -> None:
    rounds = Rounds()
    first = rounds.answered({}, OFFERS, asking(rounds, "notes", "one", "two"))
    assert first is not None
    assert first["resultType"] == "input_required"
    (key,) = first["inputRequests"]
    assert first["inputRequests"][key] == {"method": "elicitation/create", "params": {"message": "one"}}
    again = {"requestState": first["requestState"], "inputResponses": {key: {"action": "accept"}, "other": 1}}
    second = rounds.answered(again, OFFERS, pytest.fail)
    assert second is not None
    (later,) = second["inputRequests"]
    with pytest.raises(UsageError, match="call again without requestState"):
        rounds.answered(again, OFFERS, pytest.fail)  # the state of a round is good for one answer
    unanswered = rounds.answered({"requestState": second["requestState"]}, OFFERS, pytest.fail)
    assert unanswered is not None
    assert list(unanswered["inputRequests"]) == [later], "what was not answered is asked again"
    done = {"requestState": unanswered["requestState"], "inputResponses": {later: {"action": "decline"}}}
    assert rounds.answered(done, OFFERS, pytest.fail) == {
        "answers": [{"result": {"action": "accept"}}, {"result": {"action": "decline"}}]
    }


def test_who_cannot_be_asked_is_not() -> None:
    """Not what the client does not offer, not for a server that works on no call, and not once the client is gone."""
    rounds = Rounds()
    refused = {"code": -32601, "message": "this client offers no such thing now"}
    assert rounds.ask("notes", "elicitation/create", {}) == {"error": refused}
    assert rounds.answered({}, {"roots": {}}, asking(rounds, "notes", "one")) == {"answers": [{"error": refused}]}
    first = rounds.answered({}, OFFERS, asking(rounds, "notes", "one"))
    assert first is not None
    assert rounds.ask("mail", "elicitation/create", {}) == {"error": refused}
    rounds.give_up()
    ended = rounds.answered({"requestState": first["requestState"]}, OFFERS, pytest.fail)
    assert ended == {"answers": [{"error": {"code": -32600, "message": "the client is gone"}}]}


def test_a_call_that_fails_fails_in_the_last_round() -> None:
    rounds = Rounds()

    def call() -> dict[str, Any]:
        asking(rounds, "notes", "one")()
        raise ToolServerError("notes stopped")

    first = rounds.answered({}, OFFERS, call)
    assert first is not None
    (key,) = first["inputRequests"]
    with pytest.raises(ToolServerError, match="notes stopped"):
        rounds.answered({"requestState": first["requestState"], "inputResponses": {key: {}}}, OFFERS, pytest.fail)


def test_calls_that_nobody_goes_on_with_do_not_pile_up() -> None:
    rounds = Rounds()
    states = [rounds.answered({}, OFFERS, asking(rounds, f"s{n}", "one")) for n in range(MOST_PARKED + 1)]
    assert states[0] is not None
    with pytest.raises(UsageError):
        rounds.answered({"requestState": states[0]["requestState"]}, OFFERS, pytest.fail)
    rounds.give_up()


def test_a_server_that_only_ever_asks_back_is_named() -> None:
    asked = []

    def once(params: Any) -> dict[str, Any]:
        asked.append(params)
        return {"resultType": "input_required", "requestState": str(len(asked))}

    with pytest.raises(ToolServerError, match=f"notes asked back {MOST_ROUNDS} times and did not go on with burn"):
        in_rounds("notes", "burn", {"name": "burn"}, once, None)
    assert asked[1] == {"name": "burn", "requestState": "1"}
    with pytest.raises(ToolServerError, match="was refused: this client offers no such thing"):
        in_rounds(
            "notes", "burn", {},
            lambda _: {"resultType": "input_required", "inputRequests": {"a": {"method": "roots/list"}}}, None,
        )  # fmt: skip
