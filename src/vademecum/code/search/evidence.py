"""Evidence: the text of ranked rows, as their files are now.

Nearby rows that became one result are one piece of evidence. It has the id, signals and score of the best row, and the
lines of all rows and of the gaps between. If the file was edited since it was indexed, only the best row is shown.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import accumulate, chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vademecum.code.chunking.analyse import chunk_hashes, symbols_of
from vademecum.code.chunking.enrich import summarise
from vademecum.code.search.freshness import FileState, check_file, check_files, corresponding
from vademecum.code.search.rank import Ranked
from vademecum.code.snapshot.files import FILE_KINDS
from vademecum.code.snapshot.repository import Opened, commit_of
from vademecum.index.segment import KIND_CODES
from vademecum.index.spans import Span, spans_of
from vademecum.index.stored_fields import Said
from vademecum.types import Chunk, Evidence, Freshness

Rows = NDArray[np.integer]
KINDS_SAID = tuple(kind.value for kind in KIND_CODES)
FILE_KINDS_SAID = tuple(kind.value for kind in FILE_KINDS)


def gather_evidence(
    opened: Sequence[Opened], ranked: Ranked, count: int, *, joined: bool, across: bool = True
) -> tuple[Evidence, ...]:
    """Read the first results and check their files.

    Args:
        opened: the repositories, whose rows are numbered consecutively.
        ranked: candidates, best first.
        count: the number of results.
        joined: whether nearby rows become one result.
        across: whether a joined result may hold rows that are not candidates.
    """
    bases = list(accumulate((len(each.view) for each in opened), initial=0))
    own: dict[int, list[tuple[int, Span]]] = {}  # results and their places, by repository
    spans = results_of(opened, ranked, bases, count, joined=joined, across=across)
    for place, span in enumerate(spans):
        own.setdefault(bisect_right(bases, span.first) - 1, []).append((place, span))
    signals = _rounded(ranked, [span.place for span in spans])
    found: dict[int, Evidence] = {}
    for which, results in own.items():
        each, base = opened[which], bases[which]
        view, places = each.view, [span.place for _, span in results]
        rows = [row - base for _, span in results for row in range(span.first, span.last + 1)]
        said = dict(zip(rows, view.said(rows), strict=True))
        bests, scores = (ranked.rows.take(places) - base).tolist(), ranked.scores.take(places).tolist()
        files, kinds = view.row_file.take(bests).tolist(), view.kinds.take(view.row_chunk.take(bests)).tolist()
        states = check_files(each, dict.fromkeys(files))
        blobs = view.files.blobs.take(files).tolist()
        contents = each.repo.catalogue.contents(set(blobs))
        for number, (place, span) in enumerate(results):
            best, file = bests[number], files[number]
            score, state = scores[number], states[file]
            if state.now is not None:
                found[place] = evidence_of(each, best, stored_chunks(each, [best])[0], score, signals[place], state)
                continue
            own_rows = range(span.first - base, span.last - base + 1)
            told = _told(view.lines, best, kinds[number], own_rows, said, contents[blobs[number]])
            shared = _shared(each, file, state.freshness, each.snapshot.label)
            found[place] = _evidence(shared, told, score, signals[place], {})
    return tuple(found[place] for place in range(len(found)))


def results_of(
    opened: Sequence[Opened], ranked: Ranked, bases: Sequence[int], count: int, *, joined: bool, across: bool
) -> Sequence[Span]:
    """Return the first results as spans of rows.

    Without joining, a span is one row.
    """
    if not joined:
        return [Span(place, row, row, 0, 0) for place, row in enumerate(ranked.rows[:count].tolist())]
    files, lines = _places(opened, ranked.rows, bases)
    return spans_of(ranked.rows, files, lines, ranked.gain, ranked.worth, count, across=across)


def _places(opened: Sequence[Opened], rows: Rows, bases: Sequence[int]) -> tuple[Rows, NDArray[np.int32]]:
    """Return the file and the lines of each row.

    Files are numbered across all repositories.
    """
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


def _rounded(ranked: Ranked, places: Sequence[int]) -> list[dict[str, float]]:
    """Return the signals of some rows, rounded to four places.

    The worth, which is small, has six places.
    """
    names = ranked.names[: ranked.names.index("worth") + 1]
    known, per_unit = ranked.told[: len(names)].take(places, axis=1).astype(np.float64), _per_unit(len(names))
    rounded = np.rint(known * per_unit) / per_unit
    return [dict(zip(names, row, strict=True)) for row in rounded.T.tolist()]


@cache
def _per_unit(count: int) -> NDArray[np.float64]:
    """Return rounding factors, float64 (count, 1).

    The last one, for the worth, keeps six places.
    """
    per_unit = np.full((count, 1), 1e4)
    per_unit[-1] = 1e6
    return per_unit


@dataclass(slots=True)
class _Told:
    """The fields of evidence that depend on its lines."""

    start_line: int
    end_line: int
    text: str
    kind: str
    symbols: tuple[str, ...]
    signature: str
    summary: str
    hash: str
    best_line: int = 0


def _told(
    lines: NDArray[np.int32], best: int, kind: int, rows: range, said: Mapping[int, Said], content: bytes
) -> _Told:
    """Return consecutive rows as one text, as they were indexed.

    Gaps between the rows are included.
    """
    first, last = rows[0], rows[-1]
    known, best_line = said[best], 0
    symbols = known.symbols
    if first != last:
        best_line = lines.item(best, 0)
        symbols = tuple(dict.fromkeys(chain(symbols, *[said[row].symbols for row in rows])))
    text = content[said[first].start : said[last].end].decode("utf-8", "replace").rstrip("\n")
    return _Told(
        lines.item(first, 0), lines.item(last, 1), text, KINDS_SAID[kind], symbols, known.signature, known.summary,
        known.hash, best_line,
    )  # fmt: skip


def evidence_of(
    each: Opened, row: int, stored: tuple[Chunk, str], score: float, signals: dict[str, float], state: FileState
) -> Evidence:
    """Return one row as evidence, as its file is now.

    `stored` is the row's chunk with its hash.
    """
    file = int(each.view.row_file[row])
    chunk, digest = stored
    label, freshness, language = each.snapshot.label, state.freshness, each.view.files.language(file)
    if state.now is not None:
        new = corresponding(chunk, state.now)
        if new is None:
            freshness = Freshness.STALE
        else:
            digest = chunk_hashes([new], state.now.language)[0]
            chunk = new
            label = f"{each.snapshot.commit}+edited" if each.snapshot.commit else "edited"
    told = _Told(
        chunk.start_line, chunk.end_line, chunk.text.rstrip("\n"), str(chunk.kind), symbols_of(chunk), chunk.signature,
        chunk.summary or summarise(chunk, language), digest,
    )  # fmt: skip
    return _evidence(_shared(each, file, freshness, label), told, score, signals, {})


def evidence_as_indexed(each: Opened, file: int, first: int, freshness: Freshness) -> Callable[[int], Evidence]:
    """Return a function that reads a file's chunks as indexed.

    The function takes a chunk's ordinal; `first` is the file's first row. `metadata` holds `part` and `parts` where a
    long declaration was cut.
    """
    view, blob = each.view, int(each.view.files.blobs[file])
    catalogue = each.repo.catalogue
    content = catalogue.content(blob)
    shared = _shared(each, file, freshness, each.snapshot.label)

    def read(ordinal: int) -> Evidence:
        row = first + ordinal
        said = dict(zip((row,), view.said((row,)), strict=True))
        told = _told(view.lines, row, view.kinds.item(view.row_chunk.item(row)), range(row, row + 1), said, content)
        return _evidence(shared, told, 0.0, {}, catalogue.part_of(blob, ordinal))

    return read


def _shared(each: Opened, file: int, freshness: Freshness, label: str) -> dict[str, Any]:
    """Return the fields that all evidence of a file shares."""
    files = each.view.files
    return {
        "repo": each.repo.name, "branch": each.snapshot.branch, "commit": commit_of(label), "path": files.paths[file],
        "language": files.language(file), "file_kind": FILE_KINDS_SAID[files.kinds.item(file)], "freshness": freshness,
        "url": "", "updated": "", "id": f"{each.repo.name}:{label}:{files.paths[file]}:",
    }  # fmt: skip


def _evidence(
    shared: dict[str, Any], told: _Told, score: float, signals: dict[str, float], metadata: dict[str, Any]
) -> Evidence:
    """Build evidence from all fields at once.

    Setting the fields of a frozen record one by one takes four times as long.
    """
    made = Evidence.__new__(Evidence)
    own = {
        "id": shared["id"] + told.hash, "start_line": told.start_line, "end_line": told.end_line, "snippet": told.text,
        "score": round(score, 6), "kind": told.kind, "symbols": told.symbols, "signature": told.signature,
        "summary": told.summary, "signals": signals, "best_line": told.best_line, "metadata": metadata,
    }  # fmt: skip
    object.__setattr__(made, "__dict__", shared | own)
    return made


def stored_chunks(each: Opened, rows: Sequence[int]) -> list[tuple[Chunk, str]]:
    """Return the rows' chunks as indexed, with their hashes."""
    view = each.view
    blobs = view.files.blobs[view.row_file[rows]].tolist()
    return each.repo.catalogue.chunks(list(zip(blobs, view.ordinals(rows).tolist(), strict=True)))


class FileChunks:
    """The chunks of one file, in order, read on demand.

    Attributes:
        lines: first and last line of each chunk.
    """

    def __init__(self, lines: Sequence[tuple[int, int]], read: Callable[[int], Evidence]) -> None:
        """Take the lines of each chunk and a function that reads one."""
        self.lines = lines
        self._read = cache(read)

    @classmethod
    def of(cls, pieces: Sequence[Evidence]) -> FileChunks:
        """Return chunks that are already read."""
        return cls([(piece.start_line, piece.end_line) for piece in pieces], pieces.__getitem__)

    def __len__(self) -> int:
        """Return the number of chunks."""
        return len(self.lines)

    def __getitem__(self, place: int) -> Evidence:
        """Return the chunk at a place."""
        return self._read(range(len(self))[place])

    def __iter__(self) -> Iterator[Evidence]:
        """Yield every chunk, first to last."""
        return map(self._read, range(len(self)))


def pieces_of(each: Opened, path: str) -> FileChunks:
    """Return a file's chunks as evidence, as the file is now.

    Empty for a file that is not indexed. `metadata` holds `part` and `parts` where a long declaration was cut.
    """
    files = each.view.files
    number = bisect_left(files.paths, path)
    if files.paths[number : number + 1] != [path]:
        return FileChunks.of(())
    rows = range(*np.searchsorted(each.view.row_file, [number, number + 1]).tolist())
    state = check_file(each, number)
    if state.now is not None:
        return FileChunks.of(_edited(each, rows, state))
    lines = [(first, last) for first, last in each.view.lines[rows.start : rows.stop].tolist()]
    return FileChunks(lines, evidence_as_indexed(each, number, rows.start, state.freshness))


def _edited(each: Opened, rows: range, state: FileState) -> Sequence[Evidence]:
    """Return an edited file's chunks that correspond to indexed chunks.

    Each comes once.
    """
    found: dict[str, Evidence] = {}
    for row, stored in zip(rows, stored_chunks(each, rows), strict=True):
        evidence = evidence_of(each, row, stored, 0.0, {}, state)
        found.setdefault(evidence.id, replace(evidence, metadata=stored[0].metadata))
    return tuple(found.values())
