"""The definition of a name: exact, inherited, or not found.

A look-up abstains rather than guesses.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import product

import numpy as np

from vademecum.code.indexing import index
from vademecum.code.languages import rules_of
from vademecum.code.search.evidence import FileState, check_file, evidence_of, stored_chunks
from vademecum.code.search.filters import below
from vademecum.code.search.open import line_in
from vademecum.code.search.search import as_it_stands, check_count, notes_of
from vademecum.code.search.signals import DEFINING, definitions
from vademecum.code.search.verdict import nearest_to, undefined
from vademecum.code.snapshot.repository import Opened
from vademecum.code.snapshot.view import FILE_KINDS
from vademecum.errors import StoreBusyError, StoreFullError, StoreReadOnlyError, UsageError
from vademecum.index.query import LONGEST_NAME, is_meant, is_within, last_part, split_name
from vademecum.protocols import Progress
from vademecum.types import Answer, Chunk, Evidence, FileKind, Symbol, Verdict

# Whether a name's parts mean what is declared by a qualified name at a path
Fits = Callable[[Sequence[str], str, str], bool]
MOST_ABOVE = 4  # lines of comment or decorators that are shown before a declaration where only some lines are
MOST = 100  # definitions of one qualified name that are looked at
_PRODUCT_FIRST = [FileKind.PRODUCT, FileKind.CONFIG, FileKind.EXAMPLE, FileKind.TEST]


def find_symbol(opened: Sequence[Opened], name: str, k: int, *, nearest: bool = True) -> Answer:
    """Return the definitions of `name`, or the `nearest` names.

    The name may be qualified: `Class.method`, `module.function`.

    Raises:
        UsageError: `name` holds no name, or `k` asks for nothing.
    """
    check_count(k)
    wanted = split_name(name)
    if not wanted or len(name) > LONGEST_NAME:
        raise UsageError(f"{name[:80]!r} is not a name: write it as code does, `Engine.open` or `read_source`")
    found: list[tuple[int, Evidence]] = []
    for how, fits in product(
        (("declares", "prototype"), ("has",)), (is_meant, is_within, None) if len(wanted) > 1 else (is_meant,)
    ):
        found = found or [
            hit for each in opened for hit in _definitions(each, wanted, fits or _is_shown_by(each.repo.name), how)
        ]
    # a heading of a document is called as what it describes
    found = [hit for hit in found if not rules_of(hit[1].language).is_document] or found
    prototypes = _prototypes([item for _, item in found])
    found.sort(key=lambda hit: (hit[1] in prototypes, hit[0], hit[1].path, hit[1].start_line))
    evidence = tuple(item for _, item in found)
    searched, notes = sum(len(each.view) for each in opened), notes_of(opened)
    if not evidence:
        near = nearest_to(opened, name) if nearest else ()
        reason = as_it_stands(notes, undefined(opened, name, searched))
        return Answer(name, Verdict.NOT_FOUND, 0.0, (), reason, near, searched)
    return _answer(name, evidence, k, searched, notes)


def find_inherited(opened: Sequence[Opened], name: str, k: int, missing: Answer, progress: Progress) -> Answer:
    """Return the definition around a line or of an inherited member.

    Without one it is `missing`. The graph knows what a class is based on, and is only asked where the class itself is defined
    here. Where it cannot be made or brought up to date, `missing` says so.
    """
    try:
        evidence = [hit for each in opened for hit in _inherited(each, name, progress)]
    except (StoreBusyError, StoreFullError, StoreReadOnlyError) as error:
        return replace(missing, reason=f"{missing.reason}; whether it is inherited is not known: {error}")
    if not evidence:
        said = f"{name} is in no declaration of an indexed file"
        return replace(missing, reason=said, nearest=()) if line_in(name) else missing
    said = inherited_said(name, evidence[0].symbols[0]) if len(evidence) == 1 else ""
    return _answer(name, evidence, k, missing.searched, "; ".join(filter(None, (said, notes_of(opened)))))


def _inherited(each: Opened, name: str, progress: Progress) -> Iterator[Evidence]:
    """Yield the definitions of an inherited member in one repository."""
    from vademecum.code.graph.graph import graph_of

    around = split_name(name)[:-1]
    is_place = line_in(name)
    if not is_place and not (around and find_symbol([each], "::".join(around), 1, nearest=False)):
        return
    with each.repo.catalogue.store.waiting(index.PATIENCE_SECONDS):
        graph = graph_of(each, progress)
    for node in graph.named(name):
        found = find_symbol([each], node.qualified, MOST, nearest=False).evidence if node.qualified else ()
        yield from (hit for hit in found if (hit.path, hit.symbols) == (node.path, (node.qualified,)))


def inherited_said(asked: str, qualified: str) -> str:
    """Say that a line is inside, or that a member is inherited."""
    return f"{asked} is in {qualified}" if line_in(asked) else f"{asked} is inherited: {qualified} is meant"


def how_to_choose(qualified: Iterable[str]) -> str:
    """Say how to choose one of several declarations.

    >>> how_to_choose(["A.open", "B.open"]), how_to_choose(["open", "open"])
    ('qualify the name or add a path to choose', 'add a path to choose')
    """
    return "qualify the name or add a path to choose" if len(set(qualified)) > 1 else "add a path to choose"


def _answer(name: str, evidence: Sequence[Evidence], k: int, searched: int, said: str) -> Answer:
    count, named = _counted(evidence)
    verdict = Verdict.AMBIGUOUS if count > 1 else Verdict.RESOLVED
    advice = f"; {how_to_choose(item.symbols[0] for item in evidence)}" if named > 1 else " of one name"
    reason = f"{count} definitions{advice}" if count > 1 else ""
    return Answer(name, verdict, 1 / count, tuple(evidence[:k]), "; ".join(filter(None, (reason, said))), (), searched)


def _counted(evidence: Sequence[Evidence]) -> tuple[int, int]:
    """Return how many definitions there are, and under how many names.

    A class and constructors called like it are one, and so are a function and its prototypes.
    """
    prototypes = _prototypes(evidence)
    evidence = [item for item in evidence if item not in prototypes]
    names = [(item.repo, item.path, item.symbols[0]) for item in evidence]
    made = [
        item.kind == "constructor" and (repo, path, qualified.rpartition(".")[0]) in names
        for item, (repo, path, qualified) in zip(evidence, names, strict=True)
    ]
    rest = [name for name, is_made in zip(names, made, strict=True) if not is_made]
    return len(rest), len(set(rest))


def _prototypes(evidence: Sequence[Evidence]) -> list[Evidence]:
    """Return the functions without a body that have one elsewhere."""
    bodies = {
        id(item): (item.repo, item.symbols[0])
        for item in evidence
        if rules_of(item.language).has_body(item.kind, last_part(item.symbols[0]), item.snippet)
    }
    defined = set(bodies.values())
    return [item for item in evidence if id(item) not in bodies and (item.repo, item.symbols[0]) in defined]


def _is_shown_by(repository: str) -> Fits:
    """Return whether a package shows a declaration under a name.

    The whole repository is a package too.
    """
    return lambda wanted, qualified, path: is_within(wanted, qualified, f"{repository}/{path}")


def _definitions(each: Opened, wanted: list[str], fits: Fits, how: Sequence[str]) -> list[tuple[int, Evidence]]:
    """Return (distance from product code, evidence) of each definition.

    `how` is "declares" and "prototype", or "has" for fields, members of an enum and other small parts of a declaration.
    """
    view = each.view
    exact = np.isin(
        definitions(view, wanted[-1:])[view.row_chunk], np.array([DEFINING[each] for each in how], np.float32)
    )
    if each.prefixes:
        exact &= below(view.files, each.prefixes)[view.row_file]
    hits = []
    rows = np.flatnonzero(exact).tolist()
    for row, stored in zip(rows, stored_chunks(each, rows), strict=True):
        file, chunk = int(view.row_file[row]), stored[0]
        state = check_file(each, file)
        for symbol in chunk.symbols:
            if fits(wanted, symbol.qualified, view.files.paths[file]):
                shown = evidence_of(each, row, stored, 1.0, {"definition": 1.0}, state)
                kind = FILE_KINDS[view.file_kinds[file]]
                distance = _PRODUCT_FIRST.index(kind) if kind in _PRODUCT_FIRST else len(_PRODUCT_FIRST)
                hits.append((distance, _as_definition(each, row, shown, (chunk, symbol), state)))
    return hits


def _is_whole(chunk: Chunk, symbol: Symbol) -> bool:
    """Return whether a chunk is all or part of this declaration."""
    return symbol.qualified == chunk.qualified


def _as_definition(each: Opened, row: int, shown: Evidence, held: tuple[Chunk, Symbol], state: FileState) -> Evidence:
    """Return evidence with all lines of its definition, and no others."""
    chunk, symbol = held
    first, last, at, lines = _extent(each, row, chunk, symbol, state)
    text = "\n".join(lines[first - 1 : last])
    metadata = {**chunk.metadata, "calls": list(chunk.calls)} if _is_whole(chunk, symbol) else {}
    if metadata.pop("parts", 0):
        del metadata["part"]
        metadata["lines_of_code"] = sum(bool(line.strip()) for line in lines[first - 1 : last])
    return replace(
        shown,
        start_line=first,
        end_line=last,
        best_line=at if at - first > MOST_ABOVE else 0,
        snippet=text,
        kind=symbol.kind,
        symbols=(symbol.qualified,),
        signature=symbol.signature or shown.signature,
        metadata=metadata,
    )


def _extent(each: Opened, row: int, chunk: Chunk, symbol: Symbol, state: FileState) -> tuple[int, int, int, list[str]]:
    """Return a definition's lines, its declaration's line, its file's lines.

    The first line is that of the comment above.
    """
    view, number = each.view, int(each.view.row_file[row])
    if state.now is not None:
        chunks = list(state.now.chunks)
        own = symbol.qualified, symbol.kind
        found = next(((c, s) for c in chunks for s in c.symbols if (s.qualified, s.kind) == own), None)
        if found is not None:
            return (*_lines_of(*found, chunks), found[1].start_line, _text_of(chunks))
    begin, end = np.searchsorted(view.row_file, [number, number + 1]).tolist()
    rows = range(begin, end) if chunk.metadata.get("parts", 1) > 1 else range(row, row + 1)
    chunks = [stored for stored, _ in stored_chunks(each, rows)]
    content = each.repo.catalogue.content(int(view.files.blobs[number])).decode("utf-8", "replace")
    return (*_lines_of(chunk, symbol, chunks), symbol.start_line, content.split("\n"))


def _lines_of(chunk: Chunk, symbol: Symbol, chunks: Sequence[Chunk]) -> tuple[int, int]:
    """Return the first and last line of all parts of a definition."""
    if not _is_whole(chunk, symbol):
        return symbol.start_line, symbol.end_line
    part = chunk.metadata.get("part", 1)
    parts = [other for other in chunks if chunk.metadata.get("parts", 1) > 1 and _is_whole(other, symbol)]
    above = _following([other for other in reversed(parts) if other.start_line < chunk.start_line], part, -1)
    below = _following([other for other in parts if other.start_line > chunk.start_line], part, 1)
    first = min(symbol.start_line, chunk.start_line, *(other.start_line for other in above))
    last = max(
        symbol.end_line, chunk.end_line if chunk.metadata.get("parts", 1) > 1 else 0, *(c.end_line for c in below)
    )
    return first, last


def _following(chunks: Sequence[Chunk], part: int, step: int) -> Iterator[Chunk]:
    """Yield the next parts of a chunk's declaration, counted by `step`."""
    for chunk in chunks:
        if chunk.metadata.get("part") == part + step:
            part += step
            yield chunk


def _text_of(chunks: Sequence[Chunk]) -> list[str]:
    """Return the lines of a freshly cut file from its chunks."""
    lines: list[str] = []
    for chunk in chunks:
        lines += [""] * (chunk.start_line - 1 - len(lines))
        lines[chunk.start_line - 1 :] = chunk.text.removesuffix("\n").split("\n")
    return lines
