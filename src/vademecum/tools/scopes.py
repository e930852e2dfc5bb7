"""Tools and traces as one scope sees them.

A scope is a gateway's servers in one project; "" is the user, to whom all scopes are open. Rows of a scope carry its name
before their id or session. A scope sees its own tools and traces, and traces of others whose calls all went to tools that
are there and the same: server, name and schemas agree, or all but the server's name. Where nothing is known of the tool that
a trace called, as in traces that a user observed, the id decides.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from vademecum.tools.records import Tool, Trace

_MARK = "\x1f"  # between a scope and what it is before


class Kept(NamedTuple):
    """A tool with the ledger's facts about it."""

    tool: Tool
    pinned: bool
    gone: bool  # its server no longer lists it
    scope: str = ""
    registered_at: float = 0.0  # seconds since the epoch


def within(scope: str, text: str) -> str:
    """Return an id or a session as a scope's rows have it.

    >>> split(within("blue", "files/read")), split("files/read")
    (('blue', 'files/read'), ('', 'files/read'))
    """
    return f"{scope}{_MARK}{text}" if scope else text


def split(text: str) -> tuple[str, str]:
    """Return (scope, id or session) of a row's text."""
    scope, mark, rest = text.rpartition(_MARK)
    return (scope, rest) if mark else ("", text)


def tools_of(scope: str, kept: Iterable[Kept]) -> list[Kept]:
    """Return a scope's tools by id.

    The user sees one tool of each id: a live one before one that is gone, then the latest.
    """
    if scope:
        return [each for each in kept if each.scope == scope]
    best: dict[str, Kept] = {}
    for each in sorted(kept, key=lambda each: (not each.gone, not each.scope, each.registered_at)):
        best[each.tool.id] = each
    return sorted(best.values(), key=lambda each: each.tool.id)


def traces_of(scope: str, kept: Sequence[Kept], traces: Iterable[tuple[str, Trace]]) -> list[Trace]:
    """Return traces that count in a scope, with its tools' ids, of (scope, trace)."""
    if not scope:
        return [trace for _, trace in traces]
    same = _Same([each.tool for each in kept if each.scope == scope], kept)
    found: list[Trace] = []
    for other, trace in traces:
        if other == scope:
            found.append(trace)
            continue
        calls = [(call, same.tool(other, call.tool)) for call in trace.calls]
        if all(id_ for _, id_ in calls):
            found.append(replace(trace, calls=tuple(replace(call, tool=id_) for call, id_ in calls)))
    return found


class _Same:
    """The tools of a scope that are those of other scopes."""

    def __init__(self, own: Sequence[Tool], kept: Sequence[Kept]) -> None:
        self._own = {tool.id: tool for tool in own}
        self._by_words: dict[str, list[str]] = {}
        for tool in own:
            self._by_words.setdefault(_words(tool), []).append(tool.id)
        self._others: Mapping[tuple[str, str], Tool] = {(each.scope, each.tool.id): each.tool for each in kept}
        self._known: dict[tuple[str, str], str] = {}

    def tool(self, scope: str, id_: str) -> str:
        """Return the id of the same tool here; "" where there is none."""
        if (scope, id_) not in self._known:
            self._known[scope, id_] = self._found(scope, id_)
        return self._known[scope, id_]

    def _found(self, scope: str, id_: str) -> str:
        own, other = self._own.get(id_), self._others.get((scope, id_))
        if other is None:
            return id_ if own else ""
        if own and _schemas(own) == _schemas(other):
            return id_
        named = self._by_words.get(_words(other), [])
        return named[0] if len(named) == 1 else ""


def _schemas(tool: Tool) -> str:
    return json.dumps([tool.input_schema, tool.output_schema], sort_keys=True)


def _words(tool: Tool) -> str:
    return json.dumps([tool.name, tool.description, _schemas(tool)])
