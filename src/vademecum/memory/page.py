"""Write the current facts as a page, and read edits back.

Each line states a fact, then its evidence and its id. Read back, a changed line corrects its fact, a line that is gone forgets
its fact, and a new line is a note of the kind of its heading. Only the page that was written last is read back: its first line
holds a stamp that memory knows too. So a page that came with a repository says nothing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from vademecum.digests import blake2b
from vademecum.errors import UsageError
from vademecum.memory.records import Fact, FactKind
from vademecum.memory.scope import Scope
from vademecum.memory.wording import LANGUAGES, Wording, date_of

WRITTEN = "page "  # prefix in `meta` of the pages written, by path
_STAMP = re.compile(r"<!-- vademecum ([0-9a-f]{16})")
_LINE = re.compile(r"[ \t]*(?:[-*]|\d+[.)])\s+(?P<text>.*?)(?: — (?P<evidence>[^—]*)`(?P<id>[0-9a-f]{10})`)?\s*")
_WRAPPED = re.compile(r"\n[ \t]+(?!(?:[-*]|\d+[.)])\s)(?=\S)")  # where a line goes on in the next one
_KINDS = {name.casefold(): FactKind(kind) for each in LANGUAGES.values() for kind, name in each.kinds.items()}


@dataclass(frozen=True, slots=True)
class Edits:
    """Changes that a person made to a page."""

    corrected: Mapping[str, str]  # fact → its new sentence
    forgotten: tuple[str, ...] = ()  # facts
    noted: tuple[tuple[FactKind, str], ...] = ()  # new sentences, with the kind of their heading


@dataclass(frozen=True, slots=True)
class Page:
    """A page to be written, and the edits read back."""

    text: str
    facts: int
    edits: Edits


def written(scope: Scope, wording: Wording, now: float, name: str = "") -> tuple[str, int]:
    """Return the page of a scope's current facts, and their number.

    Facts are ordered by kind and confidence. With the `name` of its file the page can be read back. Raises `StoreError`.
    """
    lines: list[str] = []
    facts = scope.ledger.facts()
    for kind in FactKind:
        own = sorted((f for f in facts if f.kind is kind), key=lambda f: (-f.confidence, f.first_at))
        if own:
            lines += [f"## {wording.kinds.get(kind, kind.capitalize())}", ""]
            lines += [f"- {_flat(fact.text)} — {_evidence(fact, wording, now)}" for fact in own] + [""]
    body = "\n".join(lines).rstrip() + "\n"
    if not name:
        return f"# {wording.page}\n\n{body}", len(facts)
    stamp = _digest(f"{name}\0{now!r}\0{body}")
    state = {"stamp": stamp, "lines": {fact.id: _digest(_flat(fact.text)) for fact in facts}}
    scope.store.upsert("meta", [(WRITTEN + name, json.dumps(state))]).unwrap()
    return f"<!-- vademecum {stamp}: {wording.page_rules} -->\n# {wording.page}\n\n{body}", len(facts)


def edits_of(text: str, scope: Scope, name: str) -> Edits:
    """Return the edits that a person made to a page.

    Raises:
        UsageError: the page is not the one written last, nothing is left of it, or a line is no heading or item.
        StoreError: memory cannot be read.
    """
    rows = scope.store.scan("meta", [("name", "=", WRITTEN + name)], ("value",)).unwrap()
    known: dict[str, Any] = json.loads(rows[0][0]) if rows else {"stamp": "", "lines": {}}
    stamp = _STAMP.match(text)
    if stamp is None or stamp[1] != known["stamp"]:
        raise UsageError(f"{name} is not as `vade memory page` last wrote it: move it away, or name another file")
    before: dict[str, str] = known["lines"]
    kind, seen, corrected, noted = FactKind.FACT, set[str](), dict[str, str](), list[tuple[FactKind, str]]()
    same = {digest: id_ for id_, digest in before.items()}
    for number, line in enumerate(_WRAPPED.sub(" ", text).splitlines(), 1):
        if line.startswith("#"):
            kind = _KINDS.get(line.lstrip("# ").casefold(), FactKind.FACT)
        if not line.strip() or line.startswith(("#", "<!--")):
            continue
        found = _LINE.fullmatch(line)
        if found is None:
            raise UsageError(f"line {number} of {name} is no heading or item: begin it with `- `: {line.strip()[:80]}")
        said = found["text"].strip()
        id_ = found["id"] or same.get(_digest(said))
        if id_ is None and said:
            noted.append((kind, said))
        elif id_ in before:
            seen.add(id_)
            if _digest(said) != before[id_]:
                corrected[id_] = said
    gone = tuple(id_ for id_ in before if id_ not in seen)
    if gone and not seen:
        raise UsageError(f"nothing is left of {name}: `vade memory forget` forgets facts by id")
    return Edits(corrected, gone, tuple(noted))


def _evidence(fact: Fact, wording: Wording, now: float) -> str:
    parts = [f"`{fact.place}`"] if fact.place not in ("", "*") else []
    parts += [_flat(fact.reason)] if fact.reason and fact.reason not in fact.text else []
    parts += [date_of(wording, fact.first_at, now), f"{fact.mentions} x", f"{fact.confidence:.2f}"]
    parts += [wording.in_dispute] if fact.disputed else []
    return f"{', '.join(parts)}, `{fact.id}`"


def _flat(text: str) -> str:
    return " ".join(text.replace("—", "-").split())


def _digest(text: str) -> str:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
