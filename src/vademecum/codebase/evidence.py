"""Evidence: what ranked rows say, as their files are now.

Rows near each other that became one result are one piece of evidence: it has the id, the signals and the score of the best of
them, and the lines of all, with what stands between. Where the file was edited since it was indexed, the best stands alone.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from vademecum.codebase.analyse import chunk_hashes
from vademecum.codebase.enrich import summarise
from vademecum.codebase.freshness import FileState, check_file, corresponding
from vademecum.codebase.repository import Opened
from vademecum.retrieval.files import FILE_KINDS
from vademecum.retrieval.rank import Ranked
from vademecum.retrieval.spans import Span, spans_of
from vademecum.types import Chunk, Evidence, Freshness

Rows = NDArray[np.integer]


def gather_evidence(
    opened: Sequence[Opened], ranked: Ranked, count: int, *, joined: bool, across: bool = True
) -> tuple[Evidence, ...]:
    """Read what the first results say, and check the files they come from.

    Args:
        opened: the repositories, whose rows lie end to end.
        ranked: candidates, best first.
        count: how many results.
        joined: whether rows near each other become one result.
        across: whether that may hold rows that are no candidates.
    """
    bases = list(accumulate((len(each.view) for each in opened), initial=0))
    own: dict[int, list[tuple[int, Span]]] = {}  # per repository, its results with their places
    spans = results_of(opened, ranked, bases, count, joined=joined, across=across)
    for place, span in enumerate(spans):
        own.setdefault(bisect_right(bases, span.first) - 1, []).append((place, span))
    signals = _rounded(ranked, [span.place for span in spans])
    found: dict[int, Evidence] = {}
    for which, results in own.items():
        each, base = opened[which], bases[which]
        rows = [row - base for _, span in results for row in range(span.first, span.last + 1)]
        stored = dict(zip(rows, stored_chunks(each, rows), strict=True))
        states = {file: check_file(each, file) for file in dict.fromkeys(each.view.row_file[rows].tolist())}
        for place, span in results:
            best = int(ranked.rows[span.place]) - base
            score, state = float(ranked.scores[span.place]), states[int(each.view.row_file[best])]
            parts = [stored[row - base][0] for row in range(span.first, span.last + 1)]
            found[place] = evidence_of(each, best, stored[best], score, signals[place], state, parts=parts)
    return tuple(found[place] for place in range(len(found)))


def results_of(
    opened: Sequence[Opened], ranked: Ranked, bases: Sequence[int], count: int, *, joined: bool, across: bool
) -> Sequence[Span]:
    """Return the first results as spans of rows, one row each unless they are joined."""
    if not joined:
        return [Span(place, row, row, 0, 0) for place, row in enumerate(ranked.rows[:count].tolist())]
    files, lines = _places(opened, ranked.rows, bases)
    return spans_of(ranked.rows, files, lines, ranked.gain, ranked.worth, count, across=across)


def _places(opened: Sequence[Opened], rows: Rows, bases: Sequence[int]) -> tuple[Rows, NDArray[np.int32]]:
    """Return the file of each row, a number of its own among those of all repositories, and its lines."""
    if len(opened) == 1:
        view = opened[0].view
        return view.row_file.take(rows), view.lines.take(rows, axis=0)
    which = np.searchsorted(bases, rows, side="right") - 1
    files, lines = np.zeros(len(which), np.int64), np.zeros((len(which), 2), np.int32)
    for number, each in enumerate(opened):
        own = np.flatnonzero(which == number)
        inside = rows[own] - bases[number]
        files[own], lines[own] = each.view.row_file[inside], each.view.lines[inside]
    return files * len(opened) + which, lines


def passage(best: Chunk, parts: Sequence[Chunk]) -> tuple[str, tuple[str, ...]]:
    """Return the text of neighbouring chunks with the lines between them, and the symbols of all, those of the best first."""
    lines: list[str] = []
    for chunk in parts:
        lines += [""] * (chunk.start_line - parts[0].start_line - len(lines))
        lines += chunk.text.rstrip("\n").split("\n")
    symbols = dict.fromkeys(symbols_of(best))
    for chunk in parts:
        symbols.update(dict.fromkeys(symbols_of(chunk)))
    return "\n".join(lines), tuple(symbols)


def symbols_of(chunk: Chunk) -> tuple[str, ...]:
    """Return the qualified names that a chunk defines, or the one it is part of."""
    if chunk.symbols:
        return tuple([symbol.qualified for symbol in chunk.symbols])
    return (chunk.qualified,) if chunk.name else ()


def _rounded(ranked: Ranked, places: Sequence[int]) -> list[dict[str, float]]:
    """Return the signals of some ranked rows to four places, and what each is worth, of which there is little to go round, to six."""
    shown = np.asarray(places, np.intp)
    values = np.array([known.take(shown) for known in ranked.signals.values()], np.float64).T.round(4).tolist()
    worth = ranked.worth.take(shown).astype(np.float64).round(6).tolist()
    return [
        dict(zip(ranked.signals, row, strict=True)) | {"worth": own} for row, own in zip(values, worth, strict=True)
    ]


def evidence_of(
    each: Opened,
    row: int,
    stored: tuple[Chunk, str],
    score: float,
    signals: dict[str, float],
    state: FileState,
    *,
    parts: Sequence[Chunk] = (),
) -> Evidence:
    """Return one row, whose chunk was stored with its hash, as evidence: as its file is now; with its neighbours if `parts` has some."""
    files = each.view.files
    file = int(each.view.row_file[row])
    chunk, digest = stored
    label, freshness = each.snapshot.label, state.freshness
    if state.now is not None:
        new = corresponding(chunk, state.now)
        if new is None:
            freshness = Freshness.STALE
        else:
            digest = chunk_hashes([new], state.now.language)[0]
            chunk = new
            label = f"{each.snapshot.commit}+edited" if each.snapshot.commit else "edited"
    joined = len(parts) > 1 and state.now is None
    first, last = (parts[0], parts[-1]) if joined else (chunk, chunk)
    text, symbols = passage(chunk, parts) if joined else (chunk.text.rstrip("\n"), symbols_of(chunk))
    path, kind = files.paths[file], FILE_KINDS[files.kinds[file]]
    return Evidence(
        id=f"{each.repo.name}:{label}:{path}:{digest}", repo=each.repo.name, branch=each.snapshot.branch, commit=label,
        path=path, start_line=first.start_line, end_line=last.end_line, snippet=text, score=round(score, 6),
        kind=str(chunk.kind), language=files.language(file), symbols=symbols, signature=chunk.signature,
        summary=chunk.summary or summarise(chunk, files.language(file)), file_kind=kind.value, signals=signals,
        freshness=freshness, best_line=chunk.start_line if joined else 0,
    )  # fmt: skip


def stored_chunks(each: Opened, rows: Sequence[int]) -> list[tuple[Chunk, str]]:
    """Return the chunks of rows as they were indexed, each with its hash."""
    view = each.view
    blobs = view.files.blobs[view.row_file[rows]].tolist()
    return each.repo.catalogue.chunks(list(zip(blobs, view.ordinals(rows).tolist(), strict=True)))
