"""Evidence: the text of ranked rows, as their files are now.

Nearby rows that became one result are one piece of evidence. It has the id, signals and score of the best row, and the
lines of all rows and of the gaps between. If the file was edited since it was indexed, only the best row is shown.

The files about to be returned are checked. A worktree's file is fresh if its size, time and inode are unchanged. Any other file is read again. If its content
differs, the file is cut again and the corresponding chunk is shown, marked `edited`. If the file is gone or no longer
text, the indexed chunk is shown, marked `stale`. So no answer is silently out of date, and nothing has to watch the
disk.

A reader has room for `k` results and pays for every line. So each row is weighed by the share of all that is asked for
that its lines are expected to hold, less PRICE for each of its lines, and the best begin results. A row in whose file a
result stands already joins that one, with all that lies between them, if it is worth the lines this adds: two functions
far apart stay two results, two of three methods become one passage with the third in it, and the place this saves goes
to another. This is greedy maximisation under a cost (Khuller, Moss and Naor 1999), the budget of lines being given as
their price, which lets a sure question have more lines than a vague one. What PRICE and LONGEST do is told in
docs/ranking.md.
"""

from __future__ import annotations

import os
import re
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import accumulate, chain, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vademecum.code.checkout.root import Root
from vademecum.code.checkout.source import INODE_BITS, Source, read_source
from vademecum.code.chunking.analyse import chunk_hashes, symbols_of
from vademecum.code.languages import HEAD, language_of
from vademecum.code.search.rank import Ranked
from vademecum.code.snapshot.repository import Opened, commit_of
from vademecum.code.snapshot.view import FILE_KINDS
from vademecum.index.segment import KIND_CODES
from vademecum.index.tokenize import terms
from vademecum.types import Chunk, Evidence, FileEntry, Freshness, ParsedFile


@dataclass(frozen=True, slots=True)
class FileState:
    """A file now, compared with the index.

    `now` is given when the content changed.
    """

    freshness: Freshness
    now: ParsedFile | None = None


_AS_INDEXED = FileState(Freshness.FRESH)


def check_file(opened: Opened, number: int) -> FileState:
    """Compare one indexed file of a worktree with the disk.

    A commit's files never change.
    """
    return check_files(opened, [number])[number]


def check_files(opened: Opened, numbers: Collection[int]) -> dict[int, FileState]:
    """Compare indexed files with the disk, as `check_file` does."""
    if opened.snapshot.kind != "worktree":
        return dict.fromkeys(numbers, _AS_INDEXED)
    files, places = opened.view.files, np.fromiter(numbers, np.intp, len(numbers))
    then = zip(*(column.take(places).tolist() for column in (files.sizes, files.mtimes, files.inodes)), strict=True)
    above = f"{opened.repo.root.path}/"
    return {number: _checked(opened, number, above, known) for number, known in zip(numbers, then, strict=True)}


def _checked(opened: Opened, number: int, above: str, then: tuple[int, ...]) -> FileState:
    """Compare one file with its size, time and inode when indexed.

    `above` is the root's path with a slash.
    """
    repo, files = opened.repo, opened.view.files
    path = files.paths[number]
    try:
        status = os.lstat(above + path)
    except OSError:
        return FileState(Freshness.STALE)
    if (status.st_size, status.st_mtime_ns, status.st_ino & INODE_BITS) == then:
        return _AS_INDEXED
    entry = FileEntry(path, status.st_size, status.st_mtime_ns, status.st_ino)
    digest = files.digests[number].tobytes().hex()
    return compared(repo.root, entry, digest, max_bytes=repo.walk.max_file_bytes, deadline_s=repo.plan.deadline_s)


def compared(root: Root, entry: FileEntry, digest: str, *, max_bytes: int, deadline_s: float) -> FileState:
    """Compare a file on disk with a content's blob id.

    A file that differs is cut again, within a deadline.
    """
    source = read_source(root, entry, max_bytes)
    if not isinstance(source, Source):
        return FileState(Freshness.STALE)
    if source.blob == digest:
        return _AS_INDEXED
    from vademecum.code.chunking.chunk import chunk_file  # loaded only for changed files

    language = language_of(entry.path, source.text[:HEAD])
    return FileState(Freshness.EDITED, chunk_file(source.text, language, deadline_s))


def corresponding(old: Chunk, now: ParsedFile) -> Chunk | None:
    """Return the edited file's chunk that corresponds to an indexed one.

    The same qualified name decides. Without one, or with several, the most shared words decide. Returns None when
    nothing corresponds.
    """
    named = [c for c in now.chunks if old.name and (c.name, c.scope) == (old.name, old.scope)]
    words = set(terms(old.text))

    def shared(chunk: Chunk) -> float:
        own = set(terms(chunk.text))
        return len(words & own) / max(len(words | own), 1)

    best = max(named or now.chunks, key=shared, default=None)
    return best if best is not None and (named or shared(best) > 0) else None


Rows = NDArray[np.integer]
_WORD_OR_QUOTE = re.compile(r"\w+|(?<!')'(?!')")  # three quotes hold documentation
_BETWEEN_PARTS = re.compile(r":\s|\n")  # of a message that wraps another
# A message in a question: adjacent pairs of words, those that a chunk holds, and their share. Three pairs are four words:
# fewer are said anywhere. A quote counts as a word, so that a text of three words is one where it stands alone in quotes.
LEAST_PAIRS, MOST_PAIRS, SAID = 3, 42, 0.5
SAID_BY_TRANSLATION = 0.75  # a question in its language shares pairs of small words with it
MOST_READ = 10  # candidates, those that hold most of the question
MOST_TIED, TIED = 50, 0.99  # with those that hold this share of what the tenth holds


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
    spans = results_of(opened, ranked, bases, count, joined=joined, across=across)
    own: dict[int, list[int]] = {}  # the places of results, by repository
    for place, span in enumerate(spans):
        own.setdefault(bisect_right(bases, span.first) - 1, []).append(place)
    found: dict[int, Evidence] = {}
    for which, places in own.items():
        results = [_result(ranked, spans[place], bases[which]) for place in places]
        found |= zip(places, _read(opened[which], results), strict=True)
    return tuple(found[place] for place in range(len(found)))


@dataclass(frozen=True, slots=True)
class _Result:
    """A result's rows in its repository, the best one, and its score."""

    rows: range
    best: int
    score: float
    signals: dict[str, float]


def _result(ranked: Ranked, span: Span, base: int) -> _Result:
    names = ranked.names[: ranked.names.index("worth") + 1]
    values = ranked.told[: len(names), span.place].tolist()
    signals = {name: round(value, 6 if name == "worth" else 4) for name, value in zip(names, values, strict=True)}
    rows = range(span.first - base, span.last - base + 1)
    return _Result(rows, int(ranked.rows[span.place]) - base, float(ranked["score"][span.place]), signals)


def _read(each: Opened, results: Sequence[_Result]) -> Iterator[Evidence]:
    """Yield one repository's results as evidence."""
    view = each.view
    files = view.row_file.take([result.best for result in results]).tolist()
    states = check_files(each, set(files))
    contents = each.repo.catalogue.contents(set(view.files.blobs.take(files).tolist()))
    for result, file in zip(results, files, strict=True):
        best, state = result.best, states[file]
        if state.now is not None:
            yield evidence_of(each, best, stored_chunks(each, [best])[0], result.score, result.signals, state)
        else:
            content = contents[int(view.files.blobs[file])]
            yield _as_indexed(each, result, content, state.freshness)


def results_of(
    opened: Sequence[Opened], ranked: Ranked, bases: Sequence[int], count: int, *, joined: bool, across: bool
) -> Sequence[Span]:
    """Return the first results as spans of rows.

    Without joining, a span is one row.
    """
    if not joined:
        return [Span(place, row, row, 0, 0) for place, row in enumerate(ranked.rows[:count].tolist())]
    which = np.searchsorted(bases, ranked.rows, side="right") - 1
    files, lines = np.zeros(len(which), np.int64), np.zeros((len(which), 2), np.int32)
    for number, each in enumerate(opened):
        own = np.flatnonzero(which == number)
        inside = ranked.rows[own] - bases[number]
        files[own], lines[own] = each.view.row_file[inside], each.view.lines[inside]
    files = files * len(opened) + which  # numbered across all repositories
    return spans_of(ranked.rows, files, lines, ranked.gain, ranked["worth"], count, across=across)


def evidence_of(
    each: Opened, row: int, stored: tuple[Chunk, str], score: float, signals: dict[str, float], state: FileState
) -> Evidence:
    """Return one row as evidence, as its file is now.

    `stored` is the row's chunk with its hash.
    """
    from vademecum.code.chunking.enrich import summarise  # most answers have only unedited files

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
    file = int(each.view.row_file[row])
    return _evidence(
        each, file, label, digest, start_line=chunk.start_line, end_line=chunk.end_line,
        snippet=chunk.text.rstrip("\n"), score=round(score, 6), kind=str(chunk.kind), symbols=symbols_of(chunk),
        signature=chunk.signature, summary=chunk.summary or summarise(chunk, each.view.files.language(file)),
        signals=signals, freshness=freshness,
    )  # fmt: skip


def _as_indexed(each: Opened, result: _Result, content: bytes, freshness: Freshness, **metadata: Any) -> Evidence:
    """Return consecutive rows as one text, as they were indexed.

    Gaps between the rows are included.
    """
    view, rows, best = each.view, result.rows, result.best
    stored = view.said(rows)
    known, joined = stored[best - rows[0]], len(rows) > 1
    return _evidence(
        each, int(view.row_file[best]), each.snapshot.label, known.hash,
        start_line=view.lines.item(rows[0], 0), end_line=view.lines.item(rows[-1], 1),
        snippet=content[stored[0].start : stored[-1].end].decode("utf-8", "replace").rstrip("\n"),
        score=round(result.score, 6), kind=KIND_CODES[view.kinds[view.row_chunk[best]]].value,
        symbols=tuple(dict.fromkeys(chain(known.symbols, *(said.symbols for said in stored)))) if joined else known.symbols,
        signature=known.signature, summary=known.summary, signals=result.signals, freshness=freshness,
        metadata=metadata, best_line=view.lines.item(best, 0) if joined else 0,
    )  # fmt: skip


def _evidence(each: Opened, file: int, label: str, digest: str, **fields: Any) -> Evidence:
    """Return evidence with the facts of its file; `fields` are the others."""
    files, repo = each.view.files, each.repo.name
    path = files.paths[file]
    return Evidence(
        id=f"{repo}:{label}:{path}:{digest}", repo=repo, branch=each.snapshot.branch, commit=commit_of(label), path=path,
        language=files.language(file), file_kind=FILE_KINDS[each.view.file_kinds[file]].value, **fields,
    )  # fmt: skip


def stored_chunks(each: Opened, rows: Sequence[int]) -> list[tuple[Chunk, str]]:
    """Return the rows' chunks as indexed, with their hashes."""
    view = each.view
    blobs = view.files.blobs[view.row_file[rows]].tolist()
    return each.repo.catalogue.chunks(list(zip(blobs, view.ordinals(rows).tolist(), strict=True)))


def rows_that_say(
    ranked: Ranked,
    text: str,
    texts: Callable[[NDArray[np.int64]], Iterable[str]],
    shares: Numbers,
) -> NDArray[np.int64]:
    """Return candidates that hold most of a text, or of one part.

    They hold it word by word. So a message is found where it is written, whatever values stand in it and whatever wraps it. Code that writes it comes
    before a page that quotes it. The rows ascend; `texts` reads ascending rows. `shares` is how much of it each candidate has to hold.
    """
    parts = [_pairs(f'"{part}"') for part in (text, *_BETWEEN_PARTS.split(text))]
    asked: set[tuple[str, ...]] = set().union(*parts)
    if not LEAST_PAIRS < len(parts[0]) <= MOST_PAIRS:
        return np.zeros(0, np.int64)
    coverage = ranked["coverage"]
    likely = np.argsort(-coverage, kind="stable")[:MOST_TIED]
    likely = likely[coverage[likely] >= TIED * coverage[likely[:MOST_READ]].min(initial=np.inf)]
    likely = likely[np.argsort(ranked.rows[likely])]
    rows = ranked.rows[likely]
    found: dict[tuple[float, int], list[int]] = {}  # rows by the prior of their kind and the pairs that they hold
    told = (rows.tolist(), ranked["prior"][likely].tolist(), shares[likely].tolist())
    for row, prior, share, each in zip(*told, texts(rows), strict=True):
        own = asked & _pairs(each)
        if any(len(own & part) >= max(LEAST_PAIRS, share * len(part)) for part in parts):
            found.setdefault((prior, len(own)), []).append(row)
    return np.array(found[max(found)] if found else [], np.int64)


def texts_of(opened: Sequence[Opened], rows: NDArray[np.int64]) -> Iterator[str]:
    """Yield the stored texts of ascending rows of several repositories."""
    bases = np.cumsum([0, *(len(each.view) for each in opened)])
    for each, base, own in zip(opened, bases, np.split(rows, np.searchsorted(rows, bases[1:])), strict=False):
        yield from (chunk.text for chunk, _ in stored_chunks(each, (own - base).tolist()))


def _pairs(text: str) -> set[tuple[str, ...]]:
    """Return adjacent words of a text, and two beside each quote."""
    written = _WORD_OR_QUOTE.findall(text.lower().replace('"', "'").replace("`", "'"))
    threes = zip(written, written[1:], written[2:], strict=False)
    quoted = (three for three in threes if three[1] != "'" and "'" in three)
    return {*pairwise(word for word in written if word != "'"), *quoted}


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
    number = files.number(path)
    if number is None:
        return FileChunks.of(())
    rows = range(*np.searchsorted(each.view.row_file, [number, number + 1]).tolist())
    state = check_file(each, number)
    if state.now is not None:
        return FileChunks.of(_edited(each, rows, state))
    lines = [(first, last) for first, last in each.view.lines[rows.start : rows.stop].tolist()]
    blob, catalogue = int(files.blobs[number]), each.repo.catalogue
    content = catalogue.content(blob)

    def read(ordinal: int) -> Evidence:
        result = _Result(rows[ordinal : ordinal + 1], rows[ordinal], 0.0, {})
        return _as_indexed(each, result, content, state.freshness, **catalogue.part_of(blob, ordinal))

    return FileChunks(lines, read)


def _edited(each: Opened, rows: range, state: FileState) -> Sequence[Evidence]:
    """Return an edited file's chunks that correspond to indexed chunks.

    Each comes once.
    """
    found: dict[str, Evidence] = {}
    for row, stored in zip(rows, stored_chunks(each, rows), strict=True):
        evidence = evidence_of(each, row, stored, 0.0, {}, state)
        found.setdefault(evidence.id, replace(evidence, metadata=stored[0].metadata))
    return tuple(found.values())


Numbers = NDArray[Any]
PRICE = 1 / 3000  # of a line, as a share of all that is asked for: ten results then hold about 380 lines
LONGEST = 100  # lines of a result that was joined of several
GAP = 3  # lines from the end of one to the beginning of the next that is beside it: two blank ones between


@dataclass(slots=True)
class Span:
    """Rows and lines of one file, with the best row's place."""

    place: int
    first: int
    last: int
    begin: int
    end: int


def spans_of(
    rows: Numbers,
    files: Numbers,
    lines: Numbers,
    gain: Numbers | None,
    worth: Numbers,
    k: int,
    *,
    across: bool = True,
    longest: int = LONGEST,
) -> list[Span]:
    """Return at most `k` results, best first.

    Args:
        rows: int64 (m,), candidates best first; rows of one file follow each other in the order of its lines.
        files: int32 (m,), the file of each.
        lines: int32 (m, 2), the first and last line of each.
        gain: float32 (m,), what a result with this row alone is expected to give, in the unit of `worth`; None: results begin
            in the order that the candidates have.
        worth: float32 (m,), 0..1, the share of all that is asked for that these lines are expected to hold; 1 in sum.
        k: how many results.
        across: whether two candidates may be joined across rows that are none.
        longest: lines of a result that is joined of several, at most.

    >>> rows, files = np.array([4, 9, 6, 7]), np.array([0, 1, 0, 0])
    >>> lines = np.array([[10, 19], [1, 20], [31, 40], [41, 80]])
    >>> worth = np.array([0.5, 0.3, 0.1, 0.001])  # of three in one file two stand near each other; the last is not worth its lines
    >>> [(span.first, span.last) for span in spans_of(rows, files, lines, worth, worth, 2)]
    [(4, 6), (9, 9)]
    >>> [(span.first, span.last) for span in spans_of(rows, files, lines, worth, worth, 3, across=False)]
    [(4, 4), (9, 9), (6, 6)]
    """
    size = lines[:, 1] - lines[:, 0] + 1
    order = np.arange(len(rows)) if gain is None else np.argsort(PRICE * size - gain, kind="stable")
    joins = worth >= PRICE * size  # else it is not worth its own lines, let alone those between
    joining, spans = _Joining(across=across, longest=longest), dict[int, list[Span]]()
    known, files, begins, ends, values = (of.tolist() for of in (rows, files, lines[:, 0], lines[:, 1], worth))
    for place, may_join in zip(order.tolist(), joins[order].tolist(), strict=True):
        if joining.count >= k and not may_join:
            continue  # asked first: most rows are nothing to the results
        row, file = known[place], files[place]
        own = spans.get(file)
        if own is None:
            if joining.count >= k:
                continue
            own = spans[file] = []
        elif any(span.first <= row <= span.last for span in own):
            continue  # already, between two that were joined
        begin, end = begins[place], ends[place]
        if own and may_join:
            near, adds = _nearest(own, row, begin, end)
            if values[place] >= PRICE * adds and joining.join(own, near, Span(place, row, row, begin, end)):
                continue
        if joining.count < k:
            own.append(Span(place, row, row, begin, end))
            joining.count += 1
    return sorted((span for own in spans.values() for span in own), key=lambda span: span.place)


class _Joining:
    """Grows spans, and counts them."""

    def __init__(self, *, across: bool, longest: int) -> None:
        self.count = 0
        self._across = across
        self._longest = longest

    def join(self, own: list[Span], near: Span, one: Span) -> bool:
        """Join a row to a span of its file if they fit."""
        if not self._fits(near, one):
            return False
        self._take(near, one)
        for each in own:  # what it has grown up to becomes one with it: they are a passage, and a place is saved
            if each is not near and _beside(each, near) and self._fits(near, each):
                self._take(near, each)
                own.remove(each)
                self.count -= 1
                break
        return True

    def _fits(self, span: Span, one: Span) -> bool:
        long = max(span.end, one.end) - min(span.begin, one.begin) >= self._longest
        return not long and (self._across or _beside(span, one))

    def _take(self, span: Span, one: Span) -> None:
        span.place = min(span.place, one.place)
        span.first, span.last = min(span.first, one.first), max(span.last, one.last)
        span.begin, span.end = min(span.begin, one.begin), max(span.end, one.end)


def _nearest(own: list[Span], row: int, begin: int, end: int) -> tuple[Span, int]:
    """Return the span to which a row adds fewest lines, counted."""
    adds = [end - span.end if row > span.last else span.begin - begin for span in own]
    fewest = min(adds)
    return own[adds.index(fewest)], fewest


def _beside(span: Span, one: Span) -> bool:
    """Return whether two spans follow each other, with few lines between."""
    if one.first == span.last + 1:
        return one.begin - span.end <= GAP
    return one.last == span.first - 1 and span.begin - one.end <= GAP
