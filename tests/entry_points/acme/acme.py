"""One provider of every kind, by somebody who never saw this project's code, only its page about providers."""

from __future__ import annotations

import numpy as np

from vademecum import Ok
from vademecum.errors import CursorError, ToolServerError, VectorIndexError
from vademecum.items import Item, Page
from vademecum.matching import Filter, Near, matches
from vademecum.result import Err
from vademecum.storage.sqlite import SqliteStore


class Letters:
    """Counts letters, and how they begin words."""

    name, dim, remote = "acme-letters-1", 26 * 27, False

    def embed(self, passages, kind):
        """Return a row for each passage."""
        rows = np.zeros((len(passages), self.dim), np.float32)
        for row, passage in zip(rows, passages, strict=True):
            text = "".join(letter if "a" <= letter <= "z" else " " for letter in passage.joined.lower())
            for one, two in zip(f" {text}", f"{text} ", strict=True):
                if two != " ":
                    row[(ord(one) - 96 if one != " " else 0) * 26 + ord(two) - 97] += 1
            if not row.any() and passage.joined.strip():
                row[0] = 1
        return Ok(rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9))


class Shortest:
    """Shows short code first."""

    name, remote = "acme-shortest-1", False

    def rerank(self, query, passages):
        """Return minus the length of each."""
        return Ok([-float(len(passage.text)) for passage in passages])


class Shouting:
    """Describes by shouting the first line."""

    name, remote = "acme-shouting-1", False

    def sentence(self, passage):
        """Return the first line with something in it."""
        lines = [line.strip() for line in passage.text.split("\n") if line.strip("\0 ")]
        return Ok((lines or ["nothing"])[0].upper()[:200])


class Notes:
    """Notes every instruction to always do something."""

    name, remote = "acme-notes-1", False

    def read(self, messages):
        """Return a note for each message that begins with `Always`."""
        return Ok([
            {"event": each.title, "quote": each.text[:80], "kind": "instruction", "subject": "always", "value": each.text[7:80], "reason": ""}
            for each in messages
            if each.text.startswith("Always ")
        ])  # fmt: skip


class Words:
    """Counts letters, two a token."""

    name = "acme-words-1"

    def count(self, text):
        """Return how many."""
        return (len(text) + 1) // 2


class Memory(SqliteStore):
    """A store; what matters here is that it is found."""


class Shelf:
    """An index of vectors in a dictionary, compared one by one."""

    remote = False

    def __init__(self, collection, model, dim):
        self.name, self.dim, self.points = f"acme {collection}", dim, {}

    def upsert(self, points):
        """Keep them by their keys."""
        if any(point.vector.shape != (self.dim,) for point in points):
            return Err(VectorIndexError(f"{self.name} holds vectors of {self.dim} numbers"))
        self.points.update({point.payload.key: point for point in points})
        return Ok(len(points))

    def delete(self, which):
        """Drop those that a filter lets pass, or those with these keys."""
        for key in self.keys(which).unwrap() if isinstance(which, Filter) else which:
            self.points.pop(key, None)
        return Ok(None)

    def nearest(self, vector, k, where):
        """Compare with every point that the filter lets pass."""
        if vector.shape != (self.dim,):
            return Err(VectorIndexError(f"{self.name} holds vectors of {self.dim} numbers"))
        length = float(np.linalg.norm(vector)) or 1.0
        passing = [point for point in self.points.values() if matches(where, point.payload)]
        found = [Near(point.payload, float(point.vector @ vector) / length) for point in passing]
        return Ok(sorted(found, key=lambda near: -near.score)[:k])

    def keys(self, where):
        """Return the keys of those that the filter lets pass."""
        return Ok({key for key, point in self.points.items() if matches(where, point.payload)})

    def activate(self):
        """There is but one model."""
        return Ok(None)

    def close(self):
        """Let go."""


class Tracker:
    """A tracker with three issues, two a page."""

    def __init__(self, project: str, name: str = "acme-tracker"):
        self.name, self.remote, self.project = name, False, project

    def page(self, since, cursor):
        """Return issues that changed since then."""
        if cursor and not cursor.isdigit():
            return Err(CursorError(f"{cursor!r} is none of mine"))
        every = [
            Item(str(n), f"{self.project}-{n}", f"Issue {n}", f"About zebra {n}.", updated=100.0 * n) for n in (1, 2, 3)
        ]
        found = [item for item in every if item.updated >= since]
        first = int(cursor or 0)
        return Ok(
            Page(tuple(found[first : first + 2]), cursor=str(first + 2) if first + 2 < len(found) else "", at=1e9)
        )


class Wiki(Tracker):
    """The same as documents."""

    def __init__(self, name: str = "acme-wiki"):
        super().__init__("WIKI", name)


class Calculator:
    """A server with one tool."""

    remote = stale = False
    about = "Adds numbers"

    def __init__(self, name, timeout_s, answer_bytes, unit=""):
        self.name, self.alive, self.unit = name, True, unit

    def tools(self):
        """Return the one."""
        return Ok([{"name": "add", "description": "Add two numbers", "inputSchema": {"type": "object"}}])

    def call(self, tool, arguments):
        """Add."""
        if not self.alive or tool != "add":
            return Err(ToolServerError(f"{self.name} has no tool {tool!r}: call add"))
        total = f"{sum(arguments.values())}{self.unit}"
        return Ok({"content": [{"type": "text", "text": total}], "isError": False})

    def close(self):
        """Let go."""
        self.alive = False
