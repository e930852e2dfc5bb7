"""The model server plays its script over every wire, whole and as a stream."""

from __future__ import annotations

import json
import urllib.request

import pytest

from clients.model_server import Call, ModelServer

pytestmark = pytest.mark.once

SEARCH = {"type": "object", "properties": {"query": {"type": "string"}}}
SCRIPT = [Call("search", {"query": "budget"}), "Done."]
PATHS = {
    "messages": "/v1/messages?beta=true",
    "responses": "/v1/responses",
    "chat": "/v1/chat/completions",
    "gemini": "/v1beta/models/scripted-model:generateContent",
}
OFFERS = {
    "messages": {"tools": [{"name": "mcp__vademecum__search", "input_schema": SEARCH}]},
    "responses": {
        "tools": [
            {
                "type": "namespace",
                "name": "mcp__vademecum",
                "tools": [{"type": "function", "name": "search", "parameters": SEARCH}],
            }
        ]
    },
    "chat": {"tools": [{"type": "function", "function": {"name": "vademecum_search", "parameters": SEARCH}}]},
    "gemini": {"tools": [{"functionDeclarations": [{"name": "mcp_vademecum_search", "parametersJsonSchema": SEARCH}]}]},
}
ASKED = {
    "messages": {"system": "Be brief.", "messages": [{"role": "user", "content": "Where?"}]},
    "responses": {"instructions": "Be brief.", "input": "Where?"},
    "chat": {"messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Where?"}]},
    "gemini": {
        "systemInstruction": {"parts": [{"text": "Be brief."}]},
        "contents": [{"role": "user", "parts": [{"text": "Where?"}]}],
    },
}


def ask(url, body=None):
    """Post a body, or get; return the answer as text."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=10) as answer:
        return answer.read().decode()


def after_the_call(wire, reply):
    """The conversation with the call in a reply, and what its tool gave."""
    asked = json.loads(json.dumps(ASKED[wire]))
    if wire == "messages":
        call = reply["content"][0]
        result = {"type": "tool_result", "tool_use_id": call["id"], "content": [{"type": "text", "text": "budget.py"}]}
        asked["messages"] += [{"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}]
    elif wire == "responses":
        call = reply["output"][0]
        result = {"type": "function_call_output", "call_id": call["call_id"], "output": "budget.py"}
        asked["input"] = [{"role": "user", "content": "Where?"}, call, result]
    elif wire == "chat":
        message = reply["choices"][0]["message"]
        result = {"role": "tool", "tool_call_id": message["tool_calls"][0]["id"], "content": "budget.py"}
        asked["messages"] += [message, result]
    else:
        content = reply["candidates"][0]["content"]
        answer = {"name": "mcp_vademecum_search", "response": {"output": "budget.py"}}
        asked["contents"] += [content, {"role": "user", "parts": [{"functionResponse": answer}]}]
    return asked


@pytest.mark.parametrize("wire", PATHS)
def test_a_script_is_played_and_every_part_is_kept(wire):
    """The call comes first, under the name that was offered; after its result comes the text, and all can be read."""
    with ModelServer(SCRIPT) as server:
        first = json.loads(ask(server.url + PATHS[wire], ASKED[wire] | OFFERS[wire]))
        again = json.loads(ask(server.url + PATHS[wire], ASKED[wire] | OFFERS[wire]))
        last = ask(server.url + PATHS[wire], after_the_call(wire, first) | OFFERS[wire])
        kinds = [(part.kind, part.text) for part in server.conversation()]
        assert again == first
        assert "Done." in last
        assert [kind for kind, _ in kinds] == ["system", "user", "call", "result"]
        assert (kinds[0][1], json.loads(kinds[2][1])) == ("Be brief.", {"query": "budget"})
        assert server.tool_results() == ["budget.py"]
        assert [name.endswith("search") for name in server.tools()] == [True]
        assert json.loads(server.requests[0].raw) == ASKED[wire] | OFFERS[wire]


@pytest.mark.parametrize("wire", PATHS)
def test_a_stream_holds_what_the_whole_answer_holds(wire):
    """The events of a stream carry the name and the arguments of the call, and the same usage."""
    path = PATHS[wire].replace(":generateContent", ":streamGenerateContent?alt=sse")
    with ModelServer(SCRIPT) as server:
        asked = ASKED[wire] | OFFERS[wire] | ({} if wire == "gemini" else {"stream": True})
        lines = ask(server.url + path, asked).splitlines()
    data = [line.removeprefix("data: ") for line in lines if line.startswith("data: ")]
    named = [line.removeprefix("event: ") for line in lines if line.startswith("event: ")]
    events = [json.loads(each) for each in data if each != "[DONE]"]
    assert ("[DONE]" in data) == (wire == "chat")
    if named:
        assert [event["type"] for event in events] == named
    together = json.dumps(events)
    assert "search" in together
    assert "budget" in together
    assert any(str(key) in together for key in ('"input_tokens"', '"prompt_tokens"', '"promptTokenCount"'))


@pytest.mark.parametrize("wire", PATHS)
def test_a_request_without_tools_leaves_the_script_alone(wire):
    """A title is asked for between two turns: the script goes on where it was."""
    with ModelServer(SCRIPT) as server:
        assert "Scripted" in ask(server.url + PATHS[wire], ASKED[wire])
        assert server.tool_results() == []
        assert "budget" in ask(server.url + PATHS[wire], ASKED[wire] | OFFERS[wire])


def test_tools_that_are_only_named_are_asked_for_first():
    """A client describes tools on demand: the server asks for those of the script, then calls them."""
    offered = {"tools": [{"name": "ToolSearch", "input_schema": SEARCH}]}
    asked = {"messages": [{"role": "user", "content": "Deferred:\nmcp__vademecum__search\nmcp__vademecum__open"}]}
    with ModelServer(SCRIPT) as server:
        call = json.loads(ask(server.url + PATHS["messages"], asked | offered))["content"][0]
        assert (call["name"], call["input"]["query"]) == ("ToolSearch", "select:mcp__vademecum__search")
        result = {"type": "tool_result", "tool_use_id": call["id"],
                  "content": [{"type": "tool_reference", "tool_name": "mcp__vademecum__search"}]}  # fmt: skip
        asked["messages"] += [{"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}]
        offered["tools"].append({"name": "mcp__vademecum__search", "input_schema": SEARCH})
        call = json.loads(ask(server.url + PATHS["messages"], asked | offered))["content"][0]
        assert call["name"] == "mcp__vademecum__search"
        assert server.tool_results() == []


def test_tokens_are_counted_and_models_listed():
    """Counting and listing answer as the services do; the same body counts the same."""
    body = {"messages": [{"role": "user", "content": "x" * 400}]}
    with ModelServer([]) as server:
        counts = [json.loads(ask(server.url + "/v1/messages/count_tokens", body)) for _ in range(2)]
        assert counts[0] == counts[1]
        assert counts[0]["input_tokens"] > 100
        assert json.loads(ask(server.url + "/v1beta/models/m:countTokens", body))["totalTokens"] > 100
        assert json.loads(ask(server.url + "/v1/models"))["data"][0]["id"] == "scripted-model"
