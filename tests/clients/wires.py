"""The four wires between agents and models: how each offers tools, holds a conversation, and gets an answer.

They are Anthropic's Messages, OpenAI's Responses and Chat Completions, and Gemini's generateContent.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol
from urllib.parse import urlsplit

MODEL = "scripted-model"
TOOL_SEARCH = "ToolSearch"  # a tool of Claude Code that describes the tools it has only named


@dataclass(frozen=True, slots=True)
class Call:
    """A turn that calls a tool, named as its own server names it: `search` for `mcp__vademecum__search`."""

    tool: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of a conversation: kind is `user`, `assistant`, `system`, `call`, `result` or `loaded`."""

    kind: str
    text: str
    name: str = ""


Event = tuple[str, Mapping[str, Any]]


class Wire(Protocol):
    """One way to speak to a model: reads requests, writes answers."""

    def tools(self, body: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
        """Return the functions that are offered, by the name that a call has to use."""

    def said(self, body: Mapping[str, Any]) -> Iterator[Part]:
        """Yield the conversation so far, from the system prompt on."""

    def reply(self, turn: Call | str, number: int, usage: tuple[int, int]) -> dict[str, Any]:
        """Return a whole answer; the usage is tokens in and out."""

    def events(self, reply: dict[str, Any]) -> Iterable[Event]:
        """Return the same answer as a stream of named events."""


def texts(content: Any) -> str:
    """Return the text of a content, which is a string or a list of parts; other parts show as their type."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return "" if content is None else json.dumps(content, ensure_ascii=False)
    return "\n".join(part["text"] if "text" in part else f"[{part.get('type')}]" for part in content)


class Messages:
    """Anthropic's Messages API."""

    def tools(self, body: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
        """Return the tools by name."""
        return {tool["name"]: tool for tool in body.get("tools") or ()}

    def said(self, body: Mapping[str, Any]) -> Iterator[Part]:
        """Yield the system prompt and the blocks of every message."""
        yield Part("system", texts(body.get("system")))
        for message in body.get("messages") or ():
            content = message["content"]
            for block in [{"type": "text", "text": content}] if isinstance(content, str) else content:
                if block["type"] == "tool_use":
                    yield Part("call", json.dumps(block["input"], ensure_ascii=False), block["name"])
                elif block["type"] == "tool_result":
                    found = block.get("content")
                    loads = isinstance(found, list) and any(each["type"] == "tool_reference" for each in found)
                    yield Part("loaded" if loads else "result", texts(found))
                elif block["type"] == "text":
                    yield Part(message["role"], block["text"])

    def reply(self, turn: Call | str, number: int, usage: tuple[int, int]) -> dict[str, Any]:
        """Return a message."""
        block: dict[str, Any] = {"type": "text", "text": turn}
        if isinstance(turn, Call):
            block = {"type": "tool_use", "id": f"toolu_{number:04}", "name": turn.tool, "input": dict(turn.arguments)}
        return {
            "id": f"msg_{number:04}", "type": "message", "role": "assistant", "model": MODEL, "content": [block],
            "stop_reason": "tool_use" if isinstance(turn, Call) else "end_turn", "stop_sequence": None,
            "usage": {"input_tokens": usage[0], "output_tokens": usage[1],
                      "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0},
        }  # fmt: skip

    def events(self, reply: dict[str, Any]) -> Iterator[Event]:
        """Yield the start, the block's start, delta and stop, and the end."""
        block = reply["content"][0]
        empty, delta = {"type": "text", "text": ""}, {"type": "text_delta", "text": block.get("text")}
        if block["type"] == "tool_use":
            empty = block | {"input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        begun = reply | {"content": [], "stop_reason": None, "usage": reply["usage"] | {"output_tokens": 1}}
        ended = {"stop_reason": reply["stop_reason"], "stop_sequence": None}
        for name, data in (
            ("message_start", {"message": begun}),
            ("content_block_start", {"index": 0, "content_block": empty}),
            ("content_block_delta", {"index": 0, "delta": delta}),
            ("content_block_stop", {"index": 0}),
            ("message_delta", {"delta": ended, "usage": {"output_tokens": reply["usage"]["output_tokens"]}}),
            ("message_stop", {}),
        ):
            yield name, {"type": name, **data}


class Responses:
    """OpenAI's Responses API."""

    def tools(self, body: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
        """Return the functions by name, those of a namespace with its name in front."""
        found: dict[str, Mapping[str, Any]] = {}
        for tool in body.get("tools") or ():
            if tool["type"] == "namespace":
                found |= {tool["name"] + "/" + inner["name"]: inner for inner in tool["tools"]}
            elif tool["type"] == "function":
                found[tool["name"]] = tool
        return found

    def said(self, body: Mapping[str, Any]) -> Iterator[Part]:
        """Yield the instructions and every item of the input."""
        yield Part("system", body.get("instructions") or "")
        given = body.get("input")
        for item in [{"role": "user", "content": given}] if isinstance(given, str) else given or ():
            kind = item.get("type", "message")
            if kind == "function_call":
                name = f"{item['namespace']}/{item['name']}" if item.get("namespace") else item["name"]
                yield Part("call", item["arguments"], name)
            elif kind == "function_call_output":
                yield Part("result", texts(item["output"]))
            elif kind == "message":
                yield Part("system" if item["role"] == "developer" else item["role"], texts(item["content"]))

    def reply(self, turn: Call | str, number: int, usage: tuple[int, int]) -> dict[str, Any]:
        """Return a response of one item."""
        item: dict[str, Any]
        if isinstance(turn, Call):
            space, _, name = turn.tool.rpartition("/")
            item = {"type": "function_call", "id": f"fc_{number:04}", "call_id": f"call_{number:04}", "name": name,
                    "arguments": json.dumps(turn.arguments), "status": "completed"}  # fmt: skip
            item |= {"namespace": space} if space else {}
        else:
            content = [{"type": "output_text", "text": turn, "annotations": []}]
            item = {"type": "message", "id": f"msg_{number:04}", "role": "assistant", "status": "completed",
                    "content": content}  # fmt: skip
        return {
            "id": f"resp_{number:04}", "object": "response", "created_at": 0, "status": "completed", "model": MODEL,
            "output": [item], "error": None, "incomplete_details": None,
            "usage": {"input_tokens": usage[0], "input_tokens_details": {"cached_tokens": 0},
                      "output_tokens": usage[1], "output_tokens_details": {"reasoning_tokens": 0},
                      "total_tokens": sum(usage)},
        }  # fmt: skip

    def events(self, reply: dict[str, Any]) -> Iterator[Event]:
        """Yield the start, the item's start, its delta, its end, and the end."""
        item = reply["output"][0]
        place = {"output_index": 0, "item_id": item["id"]}
        if item["type"] == "message":
            text = item["content"][0]["text"]
            bare = item | {"content": [], "status": "in_progress"}
            middle = [("output_text.delta", place | {"content_index": 0, "delta": text}),
                      ("output_text.done", place | {"content_index": 0, "text": text})]  # fmt: skip
        else:
            bare = item | {"arguments": "", "status": "in_progress"}
            middle = [("function_call_arguments.delta", place | {"delta": item["arguments"]}),
                      ("function_call_arguments.done", place | {"arguments": item["arguments"]})]  # fmt: skip
        begun = reply | {"output": [], "status": "in_progress", "usage": None}
        for number, (name, data) in enumerate((
            ("created", {"response": begun}),
            ("output_item.added", {"output_index": 0, "item": bare}),
            *middle,
            ("output_item.done", {"output_index": 0, "item": item}),
            ("completed", {"response": reply}),
        )):  # fmt: skip
            yield f"response.{name}", {"type": f"response.{name}", "sequence_number": number, **data}


class Chat:
    """OpenAI's Chat Completions, which many providers are compatible with."""

    def tools(self, body: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
        """Return the functions by name."""
        return {tool["function"]["name"]: tool["function"] for tool in body.get("tools") or ()}

    def said(self, body: Mapping[str, Any]) -> Iterator[Part]:
        """Yield every message, and the calls in them."""
        for message in body.get("messages") or ():
            kind = {"tool": "result", "developer": "system"}.get(message["role"], message["role"])
            if message.get("content"):
                yield Part(kind, texts(message["content"]))
            for call in message.get("tool_calls") or ():
                yield Part("call", call["function"]["arguments"], call["function"]["name"])

    def reply(self, turn: Call | str, number: int, usage: tuple[int, int]) -> dict[str, Any]:
        """Return a completion of one choice."""
        message: dict[str, Any] = {"role": "assistant", "content": turn}
        if isinstance(turn, Call):
            function = {"name": turn.tool, "arguments": json.dumps(turn.arguments)}
            calls = [{"index": 0, "id": f"call_{number:04}", "type": "function", "function": function}]
            message = {"role": "assistant", "content": None, "tool_calls": calls}
        reason = "tool_calls" if isinstance(turn, Call) else "stop"
        return {
            "id": f"chatcmpl-{number:04}", "object": "chat.completion", "created": 0, "model": MODEL,
            "choices": [{"index": 0, "message": message, "finish_reason": reason}],
            "usage": {"prompt_tokens": usage[0], "completion_tokens": usage[1], "total_tokens": sum(usage)},
        }  # fmt: skip

    def events(self, reply: dict[str, Any]) -> Iterator[Event]:
        """Yield the message as one delta, and the end with the usage."""
        choice, chunk = reply["choices"][0], reply | {"object": "chat.completion.chunk"}
        first = {"index": 0, "delta": choice["message"], "finish_reason": None}
        last = {"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]}
        yield "", chunk | {"choices": [first], "usage": None}
        yield "", chunk | {"choices": [last]}


class Gemini:
    """Gemini's generateContent."""

    def tools(self, body: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
        """Return the functions by name."""
        return {each["name"]: each for tool in body.get("tools") or () for each in tool.get("functionDeclarations", ())}

    def said(self, body: Mapping[str, Any]) -> Iterator[Part]:
        """Yield the system instruction and the parts of every content."""
        system = body.get("systemInstruction") or {}
        yield Part("system", texts(system if isinstance(system, str) else system.get("parts")))
        for content in body.get("contents") or ():
            for part in content["parts"]:
                if call := part.get("functionCall"):
                    yield Part("call", json.dumps(call.get("args", {}), ensure_ascii=False), call["name"])
                elif answer := part.get("functionResponse"):
                    yield Part("result", _output(answer["response"]), answer["name"])
                elif "text" in part:
                    yield Part("assistant" if content.get("role") == "model" else "user", part["text"])

    def reply(self, turn: Call | str, number: int, usage: tuple[int, int]) -> dict[str, Any]:
        """Return an answer of one candidate."""
        part: dict[str, Any] = {"text": turn}
        if isinstance(turn, Call):
            part = {"functionCall": {"id": f"call_{number:04}", "name": turn.tool, "args": dict(turn.arguments)}}
        content = {"role": "model", "parts": [part]}
        counts = {"promptTokenCount": usage[0], "candidatesTokenCount": usage[1], "totalTokenCount": sum(usage)}
        return {"candidates": [{"content": content, "finishReason": "STOP", "index": 0}],
                "usageMetadata": counts, "modelVersion": MODEL, "responseId": f"response_{number:04}"}  # fmt: skip

    def events(self, reply: dict[str, Any]) -> Iterator[Event]:
        """Yield the answer as the only event."""
        yield "", reply


def _output(response: Mapping[str, Any]) -> str:
    """Return the text of a function's response, or its JSON where more than text is there."""
    only = response.get("output") if set(response) == {"output"} else None
    return only if isinstance(only, str) else json.dumps(response, ensure_ascii=False)


WIRES: Sequence[tuple[str, Wire]] = (
    (r"/v1/messages$", Messages()),
    (r"/responses$", Responses()),
    (r"/chat/completions$", Chat()),
    (r":(generateContent|streamGenerateContent)$", Gemini()),
)


def wire_of(path: str) -> Wire | None:
    """Return the wire that a path belongs to."""
    return next((wire for pattern, wire in WIRES if re.search(pattern, urlsplit(path).path)), None)
