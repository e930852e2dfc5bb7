"""Suggestions of defined names similar to an unknown name."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import SequenceMatcher

import numpy as np
from numpy.typing import NDArray

from vademecum.code.snapshot.repository import Opened
from vademecum.index.query import Plan, last_part, split_name
from vademecum.index.tokenize import parts

NEAREST = 5
HOLDERS = 20  # classes whose members are compared
MANY_TERMS = 20  # a question with more terms is not about one or two names
_CLOSE = 0.6  # the standard library's threshold for a close match
_CLASSES = 256  # letters are counted by code point modulo this


def nearest_names(opened: Sequence[Opened], plan: Plan) -> tuple[str, ...]:
    """Return defined names similar to those in a question, best first.

    A long text has no suggestions.
    """
    if len(plan.terms) > MANY_TERMS:
        return ()
    best: dict[str, float] = {}
    for each in opened:
        alive = set(each.view.files.blobs.tolist())  # other branches' definitions do not count
        for name in plan.names or re.findall(r"\w{4,}", plan.text):
            compare(name, _candidates(each, name, alive), best)
    return tuple(sorted(best, key=lambda name: (-best[name], name))[:NEAREST])


def nearest_to(opened: Sequence[Opened], name: str) -> tuple[str, ...]:
    """Return defined names similar to an unknown name, best first.

    For a qualified name, the members of its holder and members elsewhere are compared. Only without any, names like the
    last part are returned.
    """
    own, best = last_part(name), dict[str, float]()
    wanted = ".".join(split_name(name))
    for each in opened:
        alive = set(each.view.files.blobs.tolist())
        compare(wanted, _qualified(each, split_name(name), alive), best)
    if best or not own:
        return tuple(sorted(best, key=lambda known: (-best[known], known))[:NEAREST])
    return nearest_names(opened, Plan(name, (), (own,), is_symbol=True))


def _qualified(each: Opened, wanted: Sequence[str], alive: set[int]) -> list[str]:
    """Return qualified names to compare with an unknown one.

    These are the members of the holder (or of similar holders), and members elsewhere with the same last part.
    """
    if len(wanted) < 2:
        return []
    holder, own = wanted[-2:]
    look = each.repo.catalogue.symbols
    columns = ("qualified", "blob")
    found = {known for known, blob in look([("name", "=", own)], columns) if blob in alive and "." in known}
    alike = dict[str, float]()
    compare(holder, _candidates(each, holder, alive), alike)
    names = [holder] if holder in alike else sorted(alike)
    holders = {known for name in names for known, blob in look([("name", "=", name)], columns) if blob in alive}
    for each_holder in sorted(holders)[:HOLDERS]:
        members = look([("qualified", "prefix", f"{each_holder}.")], columns)
        found |= {known for known, blob in members if blob in alive}
    return sorted(found)


def compare(name: str, candidates: Sequence[str], best: dict[str, float]) -> None:
    """Add similar candidates to `best`, with likeness 0 to 1.

    Only candidates that may be among the nearest are added. The most promising come first, so most are never compared:
    a full comparison takes 25 µs, a quick rejection 3.

    >>> best = {}
    >>> compare("retry_with_backof", ["retry_with_backoff", "retreat", "Backoff"], best)
    >>> best
    {'retry_with_backoff': 0.971...}
    """
    lowered = name.lower()
    matcher, places = SequenceMatcher(None, b=lowered), places_of(lowered)
    floor = _floor(best)
    bounds = most_alike(name, candidates)
    for place in np.argsort(-bounds, kind="stable").tolist():
        if bounds[place] < floor:
            return
        candidate = candidates[place]
        other = candidate.lower()
        if 2.0 * in_order(places, len(lowered), other) / (len(lowered) + len(other)) < floor:
            continue
        matcher.set_seq1(other)
        likeness = matcher.ratio()
        if likeness >= floor:
            best[candidate] = max(likeness, best.get(candidate, 0))
            floor = _floor(best)


def _floor(best: dict[str, float]) -> float:
    """Return the likeness that a further name needs.

    With NEAREST names or more, that is the likeness of the last of the nearest.
    """
    return sorted(best.values())[-NEAREST] if len(best) >= NEAREST else _CLOSE


def most_alike(name: str, candidates: Sequence[str]) -> NDArray[np.float64]:
    """Return an upper bound of each candidate's likeness, float64 (n,).

    The bound, 0 to 1, counts shared letters in any order.

    >>> most_alike("abcd", ["dcba", "abxy", ""])
    array([1. , 0.5, 0. ])
    """
    wanted = _letters(name.lower())
    own = np.bincount(wanted, minlength=_CLASSES)
    lowered = [candidate.lower() for candidate in candidates]
    lengths = np.fromiter(map(len, lowered), np.int64, len(lowered))
    used = np.flatnonzero(own)
    column = np.full(_CLASSES, len(used))  # the last column is for other letters
    column[used] = np.arange(len(used))
    width = len(used) + 1
    cells = np.repeat(np.arange(len(lowered)) * width, lengths) + column[_letters("".join(lowered))]
    counts = np.bincount(cells, minlength=len(lowered) * width).reshape(len(lowered), width)
    shared = np.minimum(counts[:, :-1], own[used]).sum(axis=1)
    alike: NDArray[np.float64] = 2.0 * shared / np.maximum(lengths + len(wanted), 1)
    return alike


def places_of(text: str) -> dict[str, int]:
    """Map each letter to its positions, one bit per position."""
    places: dict[str, int] = {}
    for at, letter in enumerate(text):
        places[letter] = places.get(letter, 0) | 1 << at
    return places


def in_order(places: dict[str, int], length: int, other: str) -> int:
    """Return the length of the longest common subsequence.

    All positions are handled at once, as bits of one number (Hyyrö, Bit-Parallel LCS-length Computation Revisited,
    2004).

    >>> in_order(places_of("retry_with"), 10, "return_with")
    9
    """
    left = every = (1 << length) - 1
    for letter in other:
        met = left & places.get(letter, 0)
        left = (left + met) | (left - met)
    return length - (left & every).bit_count()


def _letters(text: str) -> NDArray[np.int64]:
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
    return codes.astype(np.int64) % _CLASSES


def _candidates(each: Opened, name: str, alive: set[int]) -> list[str]:
    """Return the defined names with a similar beginning.

    They begin like `name` or one of its parts, in any case.
    """
    beginnings = {_folded(name[:2]), *(_folded(part[:3]) for part in parts(name) if len(part) >= 3)}
    found: set[str] = set()
    for beginning in _shortest(beginnings):
        rows = each.repo.catalogue.symbols([("name", "prefix", beginning)], ("name", "blob"))
        found |= {known for known, blob in rows if blob in alive}
    return sorted(found)


def _folded(text: str) -> str:
    """Return a text as the index compares it.

    ASCII text is lower-cased.
    """
    return text.lower() if text.isascii() else text


def _shortest(beginnings: set[str]) -> list[str]:
    """Return the beginnings that extend no other beginning.

    >>> sorted(_shortest({"op", "opt", "com"}))
    ['com', 'op']
    """
    return [one for one in beginnings if not any(one != other and one.startswith(other) for other in beginnings)]
