"""Points of a vector index, and the meaning of filters and globs.

Servers know equality and membership, but no globs. They receive the part of a filter that they can express, which
passes more than the whole filter does. Their results are filtered again, and more are fetched until enough passed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from fnmatch import translate
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from vademecum.errors import StoreError
from vademecum.result import Result, attempt

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Filter:
    """A filter on points of a vector index.

    Each field that is not empty has to match; `Filter()` matches everything.

    `matching.matches` defines the meaning, for every index alike.
    """

    repo: str = ""
    commit: str = ""  # the label that the evidence id names
    files: tuple[str, ...] = ()  # exact paths; any may match
    paths: tuple[str, ...] = ()  # globs or prefixes, as in `Query.paths`; any may match
    exclude: tuple[str, ...] = ()  # globs or prefixes; none may match
    languages: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()  # kinds of chunk, as "function"
    file_kinds: tuple[str, ...] = ()  # kinds of file, as "test"
    symbol: str = ""  # a defined name, bare or qualified


@dataclass(frozen=True, slots=True)
class Payload:
    """The data stored with a vector.

    It is enough to filter by, to show, and to find the chunk again.
    """

    id: str  # the evidence id, <repo>:<commit>:<path>:<chunkHash>
    repo: str
    branch: str
    commit: str
    path: str
    language: str
    start_line: int
    end_line: int
    kind: str  # a ChunkKind value
    file_kind: str  # a FileKind value
    symbols: tuple[str, ...]  # qualified names
    text: str
    blob: str  # git's id of the content
    ordinal: int  # the chunk's index within the content, from 0

    @property
    def key(self) -> str:
        """The evidence id as a UUID, the point's id on servers.

        The same evidence id gives the same UUID everywhere.
        """
        return point_key(self.id)


def payload_of(record: Mapping[str, Any]) -> Payload:
    """Return the payload in an index's record. Raises `ValueError` for others."""
    values: dict[str, Any] = {}
    for known in fields(Payload):
        value = record.get(known.name)
        if known.name == "symbols":
            value = tuple(value) if isinstance(value, list | tuple) and all(isinstance(s, str) for s in value) else None
        if value is None or (known.type in ("str", "int") and type(value).__name__ != known.type):
            raise ValueError(f"a point has no {known.name} of the right type")
        values[known.name] = value
    return Payload(**values)


def point_key(evidence_id: str) -> str:
    """Return an evidence id as a UUID (version 5, RFC 9562).

    >>> point_key("app:0a1b:src/a.py:00ff00ff00ff00ff")
    'efc2d1a8-1a91-5dc3-a458-c6b2bc2d5426'
    """
    from uuid import UUID, uuid5

    return str(uuid5(UUID("5c9e1c0e-8d0b-5a86-9a55-6a1f0d7a2b11"), evidence_id))


@dataclass(frozen=True, slots=True, eq=False)
class Point:
    """A vector with its payload.

    The vector is float32 of shape (dim,), of unit length or all zeros.

    `tokens` is the same text for search by words: term number (below 2**32) to weight. Indexes without such search ignore it.
    """

    payload: Payload
    vector: NDArray[np.float32]
    tokens: Mapping[int, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Near:
    """A point with its score in a search."""

    payload: Payload
    score: float  # the cosine, -1..1; 0 if either vector is all zeros


_ANY_FOLDERS = re.compile(r"(?:(?:^|(?<=/))\*\*/)+")  # repeated `**/` means the same as one
FETCHED_MORE = 4  # factor on the number of results to fetch when too few passed


def matches(where: Filter, payload: Payload) -> bool:
    """Return whether a point matches a filter.

    >>> point = Payload("", "app", "", "c1", "src/a.py", "python", 1, 2, "method", "product", ("Files.read",), "", "", 0)
    >>> matches(Filter(paths=("src",), symbol="read"), point), matches(Filter(exclude=("*.py",)), point)
    (True, False)
    """
    p = payload
    return (
        where.repo in ("", p.repo)
        and where.commit in ("", p.commit)
        and (not where.files or p.path in where.files)
        and (not where.languages or p.language in where.languages)
        and (not where.kinds or p.kind in where.kinds)
        and (not where.file_kinds or p.file_kind in where.file_kinds)
        and (not where.symbol or where.symbol in defined_names(p.symbols))
        and (not where.paths or passes(where.paths, p.path))
        and not passes(where.exclude, p.path)
    )


def defined_names(symbols: Iterable[str]) -> list[str]:
    """Return the names of symbols for filters: qualified, and bare.

    >>> defined_names(["Files.read", "main"])
    ['Files.read', 'main', 'read']
    """
    return sorted({name for symbol in symbols for name in (symbol, re.split(r"\.|::|#", symbol)[-1])})


def passes(globs: Sequence[str], path: str) -> bool:
    """Return whether a path matches one of some globs or prefixes.

    A bracket may also be meant literally.
    """
    return any(
        _pattern(glob).match(path) or ("[" in glob and _pattern(glob.replace("[", "[[]")).match(path)) for glob in globs
    )


def is_below(path: str, prefixes: Sequence[str]) -> bool:
    """Return whether a path is at or below one of some prefixes.

    Without prefixes every path is.

    >>> is_below("src/a.py", ()), is_below("src/a.py", ["src"]), is_below("srcs/a.py", ["src"])
    (True, True, False)
    """
    return not prefixes or any(path == prefix or path.startswith(f"{prefix}/") for prefix in prefixes)


@lru_cache(maxsize=256)
def _pattern(glob: str) -> re.Pattern[str]:
    return re.compile(glob_pattern(glob))


def places(path: str) -> list[str]:
    """Return every prefix without wildcards that a path matches.

    These are the path, its directories, and each of their names.

    >>> places("src/http/client.py")
    ['client.py', 'http', 'src', 'src/http', 'src/http/client.py']
    """
    names = path.split("/")
    return sorted({*names, *("/".join(names[:n]) for n in range(1, len(names) + 1))})


def said_by_places(globs: Sequence[str]) -> list[str]:
    """Return the `places` that prefixes name.

    A path with none of them matches none of the prefixes. The result is [] if a prefix is a glob or matches everything.

    >>> said_by_places(["./src/http/", "tests"]), said_by_places(["src", "*.py"]), said_by_places([""])
    (['src/http', 'tests'], [], [])
    """
    plain = [glob.removeprefix("./").rstrip("/") for glob in globs]
    return [] if any(re.search(r"[*?\[]", glob) or glob in ("", ".") for glob in plain) else plain


def is_exact(where: Filter) -> bool:
    """Return whether a filter needs only equality and membership: no globs."""
    return not where.exclude and (not where.paths or bool(said_by_places(where.paths)))


@attempt(StoreError, StoreError)
def nearest_passing(ask: Callable[[int], Result[list[Near], StoreError]], k: int, where: Filter) -> list[Near]:
    """Return the `k` nearest matching results, fetching more until enough match.

    `ask` returns that many results, the nearest first, which match the part of the filter that the index can express.
    """
    wanted = k
    while True:
        found = ask(wanted).unwrap()
        passed = [near for near in found if matches(where, near.payload)]
        if len(passed) >= k or len(found) < wanted:
            return passed[:k]
        wanted *= FETCHED_MORE


def glob_pattern(glob: str) -> str:
    """Return a regular expression for a glob or a plain prefix.

    A path without wildcards matches everything below it.

    A glob without a slash matches names at any depth, as in `.gitignore`; `*` also matches across slashes. Brackets may
    be meant literally (some frameworks name routes like `app/[slug]`), so they match both ways.

        >>> def hits(glob, path): return bool(re.match(glob_pattern(glob), path))
        >>> hits("src/*.py", "src/a/b.py"), hits("*.py", "src/b.py"), hits("src", "src/b.py"), hits("src", "srcs/b.py")
        (True, True, True, False)
    """
    glob = glob.removeprefix("./").rstrip("/")
    if not glob or glob == ".":
        return ""
    anywhere = "" if "/" in glob else "(?:.*/)?"
    literal = rf"{anywhere}{re.escape(glob)}(?:/|\Z)"
    if not re.search(r"[*?\[]", glob):
        return f"(?:{literal})"
    *inner, last = _ANY_FOLDERS.split(glob)
    # Each part matches as far to the left as possible, without backtracking: it ends with a slash, so anything that may follow it
    # further right may follow it there. Backtracking would try every combination of positions.
    parts = [translate(f"{part}*").removeprefix("(?s:")[:-5] for part in inner]  # each translation ends in `.*)\Z`
    begin = "".join([*parts[:1], *(rf"(?>(?:.*?/)??{part})" for part in parts[1:]), "(?:.*/)?" if inner else ""])
    return rf"(?:{literal}|{anywhere}(?s:{begin}{translate(last).removeprefix('(?s:')[:-3]})\Z)"
