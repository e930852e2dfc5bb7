"""The ledger of tools, pins and traces, by scope.

A scope is a gateway's servers in one project; "" is the user, who sees all scopes. Rows carry their scope before id or
session. A scope sees its own tools and traces, and those of others whose calls all went to tools that it has, too:
server, name and schemas agree, or all but the server's name. Of a tool that is not registered the id decides.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from functools import cache
from typing import Any, NamedTuple

from vademecum.errors import UnknownError
from vademecum.protocols import Clock, Row, Store
from vademecum.tools.records import Call, ObserveReport, RegisterReport, Tool, Trace

_SERVERS = "tools.servers"
_VERSION = "tools.version"  # counts every write, so that a reader knows at once whether what it holds is current
_CATALOGUE = "tools.catalogue"  # counts those after which no question may see what was before

_MARK = "\x1f"  # between a scope and what it is before


class Version(NamedTuple):
    """Counts of writes, changed tools and forgotten traces, over all processes."""

    written: int = 0
    catalogue: int = 0


class Ledger:
    """A scope's tools and traces in a database, opened when needed."""

    def __init__(self, store: Callable[[], Store], clock: Clock, scope: str = "") -> None:
        self._store = store
        self._clock = clock
        self.scope = scope
        self._read: tuple[object, Version] | None = None  # the version, and the state of the store in which it was read

    def version(self) -> Version:
        """Return the counts that change with every write, read again if needed."""
        state = self._store().state()  # asked first: what is written meanwhile makes the next one differ
        if state is None or self._read is None or self._read[0] != state:
            self._read = state, Version(int(self.fact(_VERSION) or 0), int(self.fact(_CATALOGUE) or 0))
        return self._read[1]

    def register(self, tools: Iterable[Tool], complete: Collection[str] = ()) -> RegisterReport:
        """Keep tools, and mark missing tools of `complete` servers as gone."""
        given = {tool.id: tool for tool in tools}
        now, store = self._clock(), self._store()
        with store.transaction():
            known = self._own_rows()
            rows = {id_: _tool_row(tool, known.get(id_), now, self.scope) for id_, tool in given.items()}
            changed = {id_: row for id_, row in rows.items() if known.get(id_) != row}
            missing = [row for id_, row in known.items() if row[1] in complete and id_ not in given]
            gone = [(*row[:-1], now) for row in missing if not row[-1]]
            self._write("tools", [*changed.values(), *gone])
            said = self.servers()
            about = said | {tool.server: tool.about for tool in given.values() if tool.about}
            if about != said:
                self.keep_fact(_SERVERS, _json(about))
                self._bump(catalogue=True)
        added = sum(id_ not in known or bool(known[id_][-1]) for id_ in changed)
        return RegisterReport(added, len(changed) - added, len(given) - len(changed), len(gone))

    def retain(self, servers: Collection[str]) -> int:
        """Mark tools of all other servers as gone; return their number."""
        with self._store().transaction():
            live = [row for row in self._own_rows().values() if not row[-1]]
            gone = [(*row[:-1], self._clock()) for row in live if row[1] not in servers]
            self._write("tools", gone)
        return len(gone)

    def _own_rows(self) -> dict[str, Row]:
        """Return the rows of this scope's tools by their ids."""
        rows = ((*split(row[0]), row) for row in self._store().scan("tools").unwrap())
        return {id_: row for scope, id_, row in rows if scope == self.scope}

    def servers(self) -> dict[str, str]:
        """Return the servers' descriptions of themselves, by name."""
        return dict(json.loads(self.fact(_SERVERS) or "{}"))

    def pin(self, tool: str, *, pinned: bool = True) -> None:
        """Show a tool with every search, or no longer; or raise `UnknownError`."""
        with self._store().transaction():
            rows = [row for row in self._store().scan("tools").unwrap() if split(row[0])[1] == tool]
            if not rows:
                raise UnknownError(f"no tool {tool!r} is registered: `vade tools stats` lists them by server/name")
            self._write("tools", [(*row[:6], int(pinned), *row[7:]) for row in rows])

    def observe(self, traces: Iterable[Trace]) -> ObserveReport:
        """Keep traces with calls; a changed trace replaces its earlier form."""
        given = {trace.id: trace for trace in traces if trace.calls}
        store = self._store()
        with store.transaction():
            known = {row[0]: row for row in store.get("traces", [(id_,) for id_ in given]).unwrap()}
            rows_before = store.scan("traces", columns=("position",)).unwrap()
            position = 1 + max((int(row[0]) for row in rows_before), default=0)
            bodies = {id_: _trace_body(trace, self.scope) for id_, trace in given.items()}
            new = [id_ for id_, body in bodies.items() if id_ not in known or known[id_][2:] != body]
            rows: list[Row] = [(id_, place, *bodies[id_]) for place, id_ in enumerate(new, position)]
            self._write("traces", rows)
        added = sum(row[0] not in known for row in rows)
        return ObserveReport(added, len(rows) - added, len(given) - len(rows))

    def forget(self, traces: Collection[str]) -> int:
        """Delete traces by their ids. Returns how many there were."""
        with self._store().transaction():
            count = self._store().delete("traces", [("id", "in", sorted(traces))]).unwrap()
            self._bump(catalogue=True)
        return count

    def tools(self) -> list[Kept]:
        """Return every tool that was ever registered in the scope, by id."""
        return tools_of(self.scope, self._kept())

    def traces(self) -> list[Trace]:
        """Return the scope's traces, in the order of their last writing."""
        rows = self._store().scan("traces", order=("position",)).unwrap()
        return traces_of(self.scope, self._kept() if self.scope else (), map(_trace, rows))

    def _kept(self) -> list[Kept]:
        return [_kept(row) for row in self._store().scan("tools", order=("id",)).unwrap()]

    def vectors(self, embedder: str) -> dict[str, bytes]:
        """Return the kept vectors of an embedder, by text hash."""
        rows = self._store().scan("vectors", [("embedder", "=", embedder)], ("hash", "vector")).unwrap()
        return dict(rows)

    def keep_vectors(self, embedder: str, vectors: Iterable[tuple[str, bytes]]) -> None:
        """Keep vectors by the hash of their text."""
        self._store().upsert("vectors", [(embedder, hash_, vector) for hash_, vector in vectors]).unwrap()

    def fact(self, name: str) -> str:
        """Return a fact kept under a name; "" where there is none."""
        rows = self._store().scan("meta", [("name", "=", name)], ("value",)).unwrap()
        return str(rows[0][0]) if rows else ""

    def keep_fact(self, name: str, value: str) -> None:
        """Keep a fact under a name."""
        self._store().upsert("meta", [(name, value)]).unwrap()

    def _write(self, family: str, rows: list[Row]) -> None:
        if rows:
            self._store().upsert(family, rows).unwrap()
            self._bump(catalogue=family == "tools")

    def _bump(self, *, catalogue: bool) -> None:
        known = self.version()
        rows = [(_VERSION, str(known.written + 1)), (_CATALOGUE, str(known.catalogue + catalogue))]
        self._store().upsert("meta", rows).unwrap()


def _tool_row(tool: Tool, known: Row | None, now: float, scope: str) -> Row:
    """The row of a tool; changed words register the tool anew."""
    texts = (_text(part) for part in (within(scope, tool.id), tool.server, tool.name, tool.description))
    words = (*texts, _json(tool.input_schema), _json(tool.output_schema))
    same = known is not None and known[:6] == words and not known[-1]
    return (*words, known[6] if known else 0, known[7] if known and same else now, 0.0)


def _kept(row: Row) -> Kept:
    key, server, name, description, inputs, outputs, pinned, at, gone_at = row
    scope, id_ = split(key)
    tool = Tool(id_, name, server, description, json.loads(inputs), json.loads(outputs))
    return Kept(tool, bool(pinned), bool(gone_at), scope, at)


def _trace_body(trace: Trace, scope: str) -> Row:
    calls = [[call.tool, list(call.arguments), int(call.ok), call.latency_s] for call in trace.calls]
    session = _text(within(scope, trace.session))
    return (_text(trace.intent), _json(calls), _json(trace.links), session, float(trace.at), int(trace.ok))


def _trace(row: Row) -> tuple[str, Trace]:
    id_, _, intent, calls, links, of_scope, at, ok = row
    scope, session = split(of_scope)
    read = tuple(Call(tool, tuple(names), bool(fine), float(took)) for tool, names, fine, took in json.loads(calls))
    pairs = tuple((int(a), int(b)) for a, b in json.loads(links))
    return scope, Trace(id_, intent, read, pairs, session, float(at), bool(ok))


def _json(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"))  # escapes keep what no database takes as text


def _text(text: str) -> str:
    """Drop halves of surrogate pairs, which cannot be stored."""
    return text.encode("utf-8", "replace").decode()


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
    """Return the traces that count in a scope, with its tools' ids."""
    if not scope:
        return [trace for _, trace in traces]
    own = {each.tool.id: each.tool for each in kept if each.scope == scope}
    others = {(each.scope, each.tool.id): each.tool for each in kept}
    by_words: dict[str, list[str]] = {}
    for tool in own.values():
        by_words.setdefault(_words(tool, tool.name, tool.description), []).append(tool.id)

    @cache
    def same(other: str, id_: str) -> str:
        """The id of the same tool here; "" where there is none."""
        here, there = own.get(id_), others.get((other, id_))
        if here and (there is None or _words(here) == _words(there)):
            return id_
        named = by_words.get(_words(there, there.name, there.description), []) if there else []
        return named[0] if len(named) == 1 else ""

    found: list[Trace] = []
    for other, trace in traces:
        ids = [call.tool if other == scope else same(other, call.tool) for call in trace.calls]
        if all(ids):
            calls = (replace(call, tool=id_) for call, id_ in zip(trace.calls, ids, strict=True))
            found.append(trace if other == scope else replace(trace, calls=tuple(calls)))
    return found


def _words(tool: Tool, *more: str) -> str:
    """Return more words of a tool, and its schemas."""
    return json.dumps([*more, tool.input_schema, tool.output_schema], sort_keys=True)
