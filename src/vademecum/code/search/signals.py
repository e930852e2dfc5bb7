"""Every signal of one view for one question.

A signal is a value per chunk, per file or per term. Nothing is ranked here. `rank` weighs the signals of all rows to
find candidates, and `candidates` describes those in more detail.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

import numpy as np
from numpy.typing import NDArray

from vademecum.code.search.cosines import PathCosine
from vademecum.code.search.features import (
    DEFINING,
    declaring,
    definitions,
    named_files,
    of_files,
    of_kinds,
    path_share,
    unasked_kinds,
)
from vademecum.code.search.filters import meant_rows
from vademecum.code.snapshot.view import View
from vademecum.index.arrays import ranges
from vademecum.index.bm25 import bm25f, term_keys
from vademecum.index.postings import Matches, end_to_end
from vademecum.index.query import Plan
from vademecum.index.schema import CODE
from vademecum.index.segment import quantised
from vademecum.index.vectors import cosines
from vademecum.types import FileKind

Floats = NDArray[np.float32]
Rows = NDArray[np.int64] | None
PER_FILE = frozenset({"path", "prior", "path_dense"})


@dataclass(frozen=True, slots=True)
class Signals:
    """Signals of a view's N chunks and F files for T terms.

    Attributes:
        lexical, dense, definition: float32 (N,). path, prior, path_dense: float32 (F,).
        rows, files: int64 and int32 (R,), the chunk and the file of each row, each file's together.
        file_rows: int64 (F,), the number of rows of each file.
        standing: int32 (R,), the rows in the order of their chunks. begins, copies: int32 and int64 (N,), the start of each
            chunk's rows in `standing`, and their number.
        contents, file_content: int32 (N,) and (F,), the content of each chunk and each file; ascending over the chunks.
        lengths, kinds: (N, 4) and (N,), terms per field and kind code of each chunk. file_lengths: float32 (F,), terms of
            each file's bodies.
        unasked: uint8 (F,), each file's kind if the question does not ask for that kind, as its index in FILE_KINDS, else 0
            (product).
        matches: the occurrences of the question's terms.
        term_share: float32 (T, 1), each term's share of the question's idf; 0 for compounds that the question does not write.
    """

    lexical: Floats
    dense: Floats
    definition: Floats
    path: Floats
    prior: Floats
    path_dense: Floats | PathCosine
    rows: NDArray[np.int64]
    files: NDArray[np.int32]
    file_rows: NDArray[np.int64]
    standing: NDArray[np.int32]
    begins: NDArray[np.int32]
    copies: NDArray[np.int64]
    contents: NDArray[np.int32]
    file_content: NDArray[np.int32]
    lengths: Floats
    kinds: NDArray[np.uint8]
    file_lengths: Floats
    unasked: NDArray[np.uint8]
    matches: Matches
    term_share: Floats

    def of(self, name: str, rows: Rows) -> Floats:
        """Return one signal for some rows; None means all rows."""
        where = self.files if name in PER_FILE else self.rows
        values: Floats = np.take(getattr(self, name), where if rows is None else where[rows])
        return values

    def rows_of(self, chunks: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the rows of chunks, chunk by chunk, int64 (m,)."""
        begins, counts = self.begins.take(chunks).astype(np.int64), self.copies.take(chunks)
        return self.standing.take(ranges(begins, counts)).astype(np.int64)

    def coverage(self, rows: NDArray[np.int64]) -> Floats:
        """Return each row's share of the question's idf, float32 (m,)."""
        chunks = self.rows[rows]
        number = np.zeros(len(self.lexical), np.int32)
        number[chunks] = np.arange(1, len(chunks) + 1)
        matched, _, share, _ = self.matches.laid_out()
        found = np.bincount(number[matched], share, len(chunks) + 1)[number[chunks]]
        return found.astype(np.float32)


def signals_of(
    view: View, plan: Plan, vector: Floats | None, kinds: frozenset[FileKind], near: Floats | None = None
) -> tuple[Signals, set[str]]:
    """Compute the signals of a view, and the unknown terms.

    Unknown terms are in no row and no path of the view. `vector` is the question's unit vector, or None to ignore
    meaning. `kinds` are the file kinds that the filter allows. `near` is float32 (N,), the cosine of each chunk where
    it is known already; else it is computed.
    """
    keys = term_keys(plan.terms + plan.joined)
    copies = None if view.is_plain else view.copies
    words = bm25f(CODE, view.segments, copies, view.norms, keys, len(plan.terms), rows=len(view))
    path, is_in_paths = path_share(view.files, keys, words.idf * words.known)
    prior, unasked = of_kinds(view, unasked_kinds(plan.text, kinds))
    nothing = np.zeros(len(words.score), np.float32)
    query = None if vector is None else quantised(vector)
    definition = definitions(view, plan.names) if plan.names else nothing
    if len(files := named_files(view, plan.text)):
        definition = np.maximum(definition, of_files(view, files, plan.lines))
    signals = Signals(
        lexical=_living(view, words.score),
        dense=nothing if query is None else _living(view, cosines(view.segments, query) if near is None else near),
        definition=definition,
        path=path,
        prior=prior,
        path_dense=PathCosine(view.files, query),
        rows=view.row_chunk,
        files=view.row_file,
        file_rows=view.file_rows,
        standing=view.standing,
        begins=view.begins,
        copies=view.copies,
        contents=view.contents,
        file_content=view.file_content,
        lengths=view.lengths,
        kinds=view.kinds,
        file_lengths=view.file_lengths,
        unasked=unasked,
        matches=words.matches,
        term_share=words.term_share[:, None],
    )
    known = (words.known | is_in_paths).tolist()
    return signals, {term for term, is_known in zip(plan.terms, known, strict=False) if not is_known}


def as_qualified(views: Sequence[View], found: Sequence[Signals], plan: Plan) -> list[Signals]:
    """Lower the definition signal where a qualified name does not fit.

    Chunks that define only the last part then count as resembling the name. The beginning of a name may be unknown
    here, such as a package whose folder has another name, so the longest ending that fits a declaration counts. If none
    fits, as in a call on a variable, the last part counts and nothing is lowered.
    """
    changed = list(found)
    for parts in plan.qualified:
        for begin in range(len(parts) - 1):
            told = [_meant(view, signals, parts[begin:]) for view, signals in zip(views, found, strict=True)]
            if any(fits.any() for _, fits in told):
                changed = [
                    _but_those(signals, chunks, fits) for signals, (chunks, fits) in zip(changed, told, strict=True)
                ]
                break
    return changed


def _but_those(signals: Signals, chunks: NDArray[np.int64], fits: NDArray[np.bool_]) -> Signals:
    """Lower the definition signal of chunks that do not fit."""
    definition = signals.definition.copy()
    definition[chunks] = np.minimum(definition.take(chunks), np.float32(DEFINING["resembles"]))
    meant = chunks[fits]  # content in several files needs to fit in only one
    definition[meant] = signals.definition.take(meant)
    return replace(signals, definition=definition)


def _meant(view: View, signals: Signals, parts: Sequence[str]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return the chunks that define a name's last part, and which fit.

    A chunk fits when the whole qualified name means it.
    """
    rows = np.sort(signals.rows_of(declaring(view, parts[-1])))
    return view.row_chunk[rows], meant_rows(view, rows, parts)


def _living(view: View, score: Floats) -> Floats:
    """Return the scores with dead chunks set to 0."""
    return score * view.alive if view.has_dead else score


def laid_end_to_end(several: Sequence[Signals]) -> Signals:
    """Join the signals of several repositories.

    Their rows are then ranked against each other.
    """
    if len(several) == 1:
        return several[0]
    chunks = np.cumsum([0, *(len(s.lexical) for s in several)])
    files = np.cumsum([0, *(len(s.path) for s in several)]).astype(np.int32)
    rows = np.cumsum([0, *(len(s.rows) for s in several)]).astype(np.int32)
    contents = np.cumsum([0, *(1 + int(s.contents[-1:].max(initial=-1)) for s in several)]).astype(np.int32)
    shifted = [
        replace(
            s,
            rows=s.rows + chunk,
            files=s.files + file,
            standing=s.standing + row,
            begins=s.begins + row,
            contents=s.contents + content,
            file_content=s.file_content + content,
        )
        for s, row, chunk, file, content in zip(several, rows, chunks, files, contents, strict=False)
    ]
    joined = {
        f.name: np.concatenate([getattr(s, f.name) for s in shifted])
        for f in fields(Signals)
        if f.name not in {"matches", "term_share"}
    }
    return Signals(
        **joined,
        matches=end_to_end([s.matches for s in several], chunks.tolist()),
        term_share=np.mean([s.term_share for s in several], axis=0, dtype=np.float32),
    )
