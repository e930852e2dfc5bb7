"""Signals of a view for a question.

A signal is a value per chunk, per file or per term: words, meaning, path, past commits, definitions and file
kind. Nothing is ranked here. `rank` weighs the signals of all rows to find candidates, and `model` describes those in more detail.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from vademecum.code.snapshot.past_commits import FileHistory
from vademecum.code.snapshot.view import FILE_KINDS, PATH_FIELDS, FileTable, View, path_keys
from vademecum.index.bm25 import CODE, Matches, Postings, bm25f, damaged, field_norms, term_keys
from vademecum.index.query import DEFINED, Place, Plan, is_meant, is_within, name_term
from vademecum.index.segment import KIND_CODES, cosines, quantise, scaled_products
from vademecum.index.tokenize import key, kindred
from vademecum.types import ChunkKind, FileKind, TermStatistics

Floats = NDArray[np.float32]
Rows = NDArray[np.int64] | None
PER_FILE = frozenset({"path", "prior", "path_dense", "history"})
FEW_ROWS = 32  # so few rows are read without a look-up first
_STEM = PATH_FIELDS.index("stem")
_TYPES = [KIND_CODES.index(kind) for kind in (ChunkKind.CLASS, ChunkKind.INTERFACE, ChunkKind.TYPE)]
_METHOD = KIND_CODES.index(ChunkKind.METHOD)
DIRECTORY_SHARE = 0.5  # the worth of a term in a directory's name, against 1 in a file's own name

# The worth of a file kind relative to product code, when the question does not ask for that kind.
KIND_PRIORS: dict[FileKind, float] = {
    FileKind.PRODUCT: 1.0,
    FileKind.TEST: 0.35,
    FileKind.DOC: 0.6,
    FileKind.CONFIG: 0.6,
    FileKind.EXAMPLE: 0.4,
    FileKind.VENDORED: 0.3,
    FileKind.GENERATED: 0.3,
}
_PRIORS = np.array([KIND_PRIORS[kind] for kind in FILE_KINDS], np.float32)
# Words of a question that ask for a file kind, which then counts in full.
_ASKED_BY = {
    FileKind.TEST: frozenset({"test", "tests", "testing", "spec", "fixture", "fixtures", "mock"}),
    FileKind.DOC: frozenset({"doc", "docs", "documentation", "readme", "changelog", "guide", "tutorial"}),
    FileKind.CONFIG: frozenset({"config", "configuration", "settings", "yaml", "toml", "dockerfile", "makefile", "ci"}),
    FileKind.EXAMPLE: frozenset({"example", "examples", "demo", "sample", "benchmark", "benchmarks"}),
}


# How surely a chunk is meant by a name. The chunk declares the name as written, lies in the file of that name, has a
# prototype or a member (field, constant) of that name, or declares the name in another spelling.
DEFINING: dict[str, float] = {"declares": 1.0, "file": 0.9, "has": 0.5, "prototype": 0.36, "resembles": 0.35}


@dataclass(frozen=True, slots=True)
class Signals:
    """Signals of a view's N chunks and F files for T terms.

    Attributes:
        lexical, dense, definition: float32 (N,). path, prior, path_dense, history: float32 (F,).
        rows, files: int64 and int32 (R,), the chunk and the file of each row, each file's together.
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
    path_dense: Floats
    history: Floats
    rows: NDArray[np.int64]
    files: NDArray[np.int32]
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

    def coverage(self, rows: NDArray[np.int64]) -> Floats:
        """Return each row's share of the question's idf, float32 (m,)."""
        chunks = self.rows[rows]
        number = np.zeros(len(self.lexical), np.int32)
        number[chunks] = np.arange(1, len(chunks) + 1)
        found = np.bincount(number[self.matches.docs], self.matches.share, len(chunks) + 1)[number[chunks]]
        return found.astype(np.float32)


def signals_of(
    view: View,
    plan: Plan,
    vector: Floats | None,
    kinds: frozenset[FileKind],
    near: Floats | None = None,
    history: FileHistory | None = None,
    *,
    whole: TermStatistics | None = None,
) -> tuple[Signals, set[str]]:
    """Compute the signals of a view, and the unknown terms.

    Unknown terms are in no row and no path of the view. `vector` is the question's unit vector, or None to ignore
    meaning. `kinds` are the file kinds that the filter allows. `near` is float32 (N,), the cosine of each chunk where
    it is known already; else it is computed. `history` has the past commits; None without, or for a name, which messages say
    little of. `whole` has the statistics of the collection that the view is a part of.
    """
    keys = term_keys(plan.terms + plan.joined)
    if whole is None and not plan.is_symbol:
        keys = with_kindred(view, plan.terms, keys)
    norms = view.norms if whole is None else field_norms(CODE, view.lengths, np.array(whole.mean_lengths))
    words = bm25f(CODE, view.segments, view.copies, norms, keys, len(plan.terms), whole=whole)
    path, is_in_paths = path_share(view.files, keys, words.idf * words.known)
    unasked = unasked_kinds(plan.text, kinds)
    if vector is None:
        near = np.zeros(len(words.score), np.float32)
    elif near is None:
        near = cosines(view.segments, quantise(vector[None]))
    definition = definitions(view, plan.names)
    if plan.is_bare and plan.names and not plan.qualified:
        definition = _types_first(view, definition)
    if len(files := named_files(view, plan.text)):
        definition = np.maximum(definition, of_files(view, files, plan.lines))
    priors = np.where(unasked, _PRIORS, np.float32(1))
    counted = np.where(view.inner_tests, priors[FILE_KINDS.index(FileKind.TEST)], 1) * view.alive
    signals = Signals(
        lexical=words.score * counted,
        dense=near * counted,
        definition=definition,
        path=path,
        prior=priors.take(view.file_kinds),
        path_dense=path_cosines(view.files, vector),
        history=np.zeros(len(path), np.float32) if history is None else history.relevance(keys[: len(plan.terms)]),
        rows=view.row_chunk,
        files=view.row_file,
        contents=view.contents,
        file_content=view.file_content,
        lengths=view.lengths,
        kinds=view.kinds,
        file_lengths=view.file_lengths,
        unasked=(unasked * np.arange(len(FILE_KINDS), dtype=np.uint8)).take(view.file_kinds),
        matches=words.matches,
        term_share=words.term_share[:, None],
    )
    known = (words.known | is_in_paths).tolist()
    return signals, {term for term, is_known in zip(plan.terms, known, strict=False) if not is_known}


def with_kindred(view: View, terms: Sequence[str], keys: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return keys where a kindred term stands for each unknown one.

    The commonest stands for it, and the others follow after all keys: nobody asked for them.
    """
    every = [view.files.postings, *(segment.postings for segment in view.segments)]
    unknown = np.flatnonzero(_posted(every, keys[: len(terms)]) == 0).tolist()
    changed, others = keys.copy(), [keys[:0]]
    for number in unknown:
        forms = term_keys(kindred(terms[number]))
        holding = _posted(every, forms)
        found = forms[np.argsort(-holding, kind="stable")][: np.count_nonzero(holding)]
        changed[number : number + 1] = found[:1] if len(found) else changed[number]
        others.append(found[1:])
    return np.concatenate([changed, *others])


def _posted(every: Sequence[Postings], keys: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Return how often each term is posted, int64 (T,)."""
    counts = np.zeros(len(keys), np.int64)
    for postings in every:
        if len(postings.keys):
            slot = postings.keys.searchsorted(keys)
            is_known = postings.keys.take(slot, mode="clip") == keys
            own = postings.offsets.take(slot + 1, mode="clip") - postings.offsets.take(slot)
            counts += np.where(is_known, own, 0)
    return counts


def as_qualified(views: Sequence[View], found: Sequence[Signals], plan: Plan) -> list[Signals]:
    """Lower the definition signal where a qualified name does not fit.

    Chunks that define only the last part then count as resembling the name. The beginning of a name may be unknown
    here, such as a package whose folder has another name, so the longest ending that fits a declaration counts. If none
    fits, as in a call on a variable, the last part counts and nothing is lowered.
    """
    changed = list(found)
    for parts in plan.qualified:
        for begin in range(len(parts) - 1):
            told = [_meant(view, parts[begin:]) for view in views]
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


def _meant(view: View, parts: Sequence[str]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return the chunks that define a name's last part, and which fit.

    A chunk fits when the whole qualified name means it.
    """
    rows = np.flatnonzero(declaring(view, parts[-1])[view.row_chunk])
    return view.row_chunk[rows], meant_rows(view, rows, parts)


def laid_end_to_end(several: Sequence[Signals]) -> Signals:
    """Join the signals of several repositories.

    Their rows are then ranked against each other.
    """
    if len(several) == 1:
        return several[0]
    chunks = np.cumsum([0, *(len(s.lexical) for s in several)])
    files = np.cumsum([0, *(len(s.path) for s in several)]).astype(np.int32)
    contents = np.cumsum([0, *(1 + int(s.contents[-1:].max(initial=-1)) for s in several)]).astype(np.int32)
    shifted = [
        replace(
            s,
            rows=s.rows + chunk,
            files=s.files + file,
            contents=s.contents + content,
            file_content=s.file_content + content,
            matches=replace(s.matches, docs=s.matches.docs + np.int32(chunk)),
        )
        for s, chunk, file, content in zip(several, chunks, files, contents, strict=False)
    ]
    joined = {
        f.name: np.concatenate([getattr(s, f.name) for s in shifted])
        for f in fields(Signals)
        if f.name not in {"matches", "term_share"}
    }
    return Signals(
        **joined,
        matches=Matches(*(np.concatenate([getattr(s.matches, f.name) for s in shifted]) for f in fields(Matches))),
        term_share=np.mean([s.term_share for s in several], axis=0, dtype=np.float32),
    )


def definitions(view: View, names: Sequence[str]) -> NDArray[np.float32]:
    """Return how surely each chunk defines a name, float32 (N,).

    Each value is a value of `DEFINING`, or 0. A prototype alone declares.
    """
    found = np.zeros(int(view.bases[-1]), np.float32)
    filed = [(key("\1" + name_term(name)), DEFINING["resembles"]) for name in names]
    filed += [(key(DEFINED[how] + name), DEFINING[how]) for how in ("prototype", "has", "declares") for name in names]
    keys = np.array([number for number, _ in filed], np.uint64)
    worth = np.array([value for _, value in filed], np.float32)
    for segment, base in zip(view.segments, view.bases, strict=False):
        docs, _, which = segment.postings.find(keys)
        found[docs + base] = worth[which]  # keys ascend in worth, so the highest is written last
    if not (found == DEFINING["declares"]).any():
        found[found == np.float32(DEFINING["prototype"])] = DEFINING["declares"]
    return found


def _types_first(view: View, definition: Floats) -> Floats:
    """Count methods of a type's name as members, its constructors too."""
    declared = np.flatnonzero(definition >= DEFINING["declares"])
    kinds = view.kinds[declared]
    if np.isin(kinds, _TYPES).any():
        definition[declared[kinds == _METHOD]] = DEFINING["has"]
    return definition


def declaring(view: View, name: str) -> NDArray[np.bool_]:
    """Return the chunks that declare a name, bool (N,).

    The name is compared as written. Holders of a member of that name count too.
    """
    return _holding(view, *(key(begins + name) for begins in DEFINED.values()))


def _holding(view: View, *keys: int) -> NDArray[np.bool_]:
    """Return the chunks that hold one of some terms, bool (N,)."""
    held = np.zeros(int(view.bases[-1]), bool)
    for segment, base in zip(view.segments, view.bases, strict=False):
        held[segment.postings.find(np.array(keys, np.uint64))[0] + base] = True
    return held


def named_files(view: View, text: str) -> NDArray[np.int64]:
    """Return the files that a question names, int64 (m,), ascending.

    The question must be nothing but a whole path or the end of one.
    """
    asked = as_path(text)
    return np.array(_ending_as(view.files, asked) if asked else [], np.int64)


def as_path(text: str) -> str:
    """Return a text that may be a path, unmarked; else "".

    >>> as_path("`./src/app.py`"), as_path("app"), as_path("see app.py")
    ('src/app.py', '', '')
    """
    asked = text.strip().strip("`'\"").removeprefix("./")
    return asked if ("." in asked or "/" in asked) and len(asked.split()) == 1 else ""


def known_ending(files: FileTable, path: str) -> str:
    """Return the longest ending of a path that exists, or "".

    A shortened path keeps at least two names, since a file's name alone may be any file's.
    """
    named = [f"/{files.paths[file]}" for file in _ending_as(files, path.rpartition("/")[2])]
    while not any(each.endswith(f"/{path}") for each in named):
        if path.count("/") < 2:  # a file's name alone may be any file's
            return ""
        path = path.partition("/")[2]
    return path


def _ending_as(files: FileTable, path: str) -> list[int]:
    """Return the files whose path ends with `path`, name by name."""
    ending = f"/{path}"
    return [file for file in _with_words_of(files, path) if f"/{files.paths[file]}".endswith(ending)]


def of_files(view: View, files: NDArray[np.int64], lines: tuple[int, int]) -> NDArray[np.float32]:
    """Return how surely a file's name means each chunk, float32 (N,).

    If lines are given, the chunk of the first line counts most, then those of the other lines. Lines past the end mean
    the whole file.
    """
    found = np.zeros(int(view.bases[-1]), np.float32)
    for file in files.tolist():
        rows = slice(*np.searchsorted(view.row_file, [file, file + 1]))
        chunks, shown = view.row_chunk[rows], view.lines[rows]
        first = int(np.searchsorted(shown[:, 1], lines[0])) if lines[0] else len(shown)
        worth = np.full(len(shown), DEFINING["file"], np.float32)
        if first < len(shown):
            worth[(shown[:, 1] < lines[0]) | (shown[:, 0] > lines[1])] = DEFINING["resembles"]
            worth[first] = DEFINING["declares"]
        found[chunks] = np.maximum(found[chunks], worth)
    return found


def rows_of_places(views: Sequence[View], places: Sequence[Place]) -> tuple[NDArray[np.int64], Floats]:
    """Return the rows that places mean, int64 (m,), and weights.

    Rows ascend and are numbered across the views. The first place weighs 1, the n-th 1/n: most faults are mended near the
    innermost frame of a trace (Schröter, Bettenburg and Premraj, MSR 2010). Where a place names a function that does not
    stand there, the text is of another version, and the nearest declaration of that name in the file is meant. A path
    that several files end with means none.
    """
    found: list[tuple[int, float]] = []
    known = 0
    for place in places:
        for view, base in zip(views, accumulate((len(view) for view in views), initial=0), strict=False):
            files = named_files(view, known_ending(view.files, place.path))
            if len(files) == 1:
                known += 1
                at = _rows_at(view, int(files[0]), place)
                found += [(base + row, 1 / (known * len(at))) for row in at.tolist()]
    rows, number = np.unique(np.array([row for row, _ in found], np.int64), return_inverse=True)
    return rows, np.bincount(number, [weight for _, weight in found], len(rows)).astype(np.float32)


def _rows_at(view: View, file: int, place: Place) -> NDArray[np.intp]:
    """Return the rows of a file that a place means."""
    begin, end = np.searchsorted(view.row_file, [file, file + 1])
    lines = view.lines[begin:end]
    at = np.flatnonzero((lines[:, 0] <= place.last) & (lines[:, 1] >= place.first))
    if place.name:
        declared = np.flatnonzero(declaring(view, place.name)[view.row_chunk[begin:end]])
        if len(declared) and not np.isin(at, declared).any():
            at = declared[[np.abs(lines[declared, 0] - place.first).argmin()]]
    rows: NDArray[np.intp] = begin + at
    return rows


def _with_words_of(files: FileTable, path: str) -> list[int]:
    """Return the files whose paths hold all words of a path.

    Only these may end with the path. Ascending.
    """
    keys = np.array(list(path_keys(path)), np.uint64)
    docs, _, _ = files.postings.find(keys)
    return np.flatnonzero(np.bincount(docs, minlength=len(files)) == len(keys)).tolist()


def holding(view: View, name: str) -> NDArray[np.bool_]:
    """Return the files that may write a name, bool (F,).

    All files, where terms cannot tell.
    """
    term = name_term(name) if name.isidentifier() else ""
    if not term:
        return np.ones(len(view.files), bool)
    found = np.zeros(len(view.files), bool)
    found[view.row_file[_holding(view, key(term))[view.row_chunk]]] = True
    return found


def path_cosines(files: FileTable, vector: Floats | None) -> Floats:
    """Return the cosine of each path with a question, float32 (F,).

    All are 0 without a question's vector or without vectors of paths.
    """
    if vector is None or not files.vectors.size:
        return np.zeros(len(files), np.float32)
    whole, scale = quantise(vector[None])
    return scaled_products(files.vectors, whole, files.scales, scale)


def path_share(
    files: FileTable, keys: NDArray[np.uint64], weight: NDArray[np.float64]
) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
    """Return each path's share of the question, and the known terms.

    The share is float32 (F,). Known terms, bool (T,), occur in some path. `keys` and `weight` are (T,). A term counts
    in full in a file's own name, and DIRECTORY_SHARE in a directory's. Raises `StoreCorruptError`.
    """
    docs, tf, term = files.postings.find(keys)
    if int(docs.max(initial=-1)) >= len(files) or int(docs.min(initial=0)) < 0:
        raise damaged("postings name a path that there is not")
    worth = np.where(tf[:, _STEM] > 0, 1.0, DIRECTORY_SHARE) * weight[term]
    share = np.bincount(docs, worth, len(files)) / max(float(weight.sum()), 1e-9)
    known = np.zeros(len(keys), bool)
    known[term] = True
    return share.astype(np.float32), known


def unasked_kinds(text: str, kinds: frozenset[FileKind]) -> NDArray[np.bool_]:
    """Return the kinds that are not asked for, bool (len(FILE_KINDS),).

    Product is never among them. The question or its filter may ask for a kind.
    """
    words = set(text.lower().split())
    asked = {FileKind.PRODUCT} | {kind for kind, markers in _ASKED_BY.items() if words & markers}
    if len(kinds) < len(FILE_KINDS):
        asked |= kinds
    return np.array([kind not in asked for kind in FILE_KINDS])


def meant_rows(view: View, rows: NDArray[np.intp], parts: Sequence[str]) -> NDArray[np.bool_]:
    """Return the rows that a qualified name means, bool (m,).

    If no row is meant exactly, rows that a package exports under the name count.
    """
    found = np.zeros(len(rows), bool)
    likely = _likely(view, rows, parts) if len(rows) > FEW_ROWS else np.arange(len(rows))
    rows = rows[likely]
    files = view.row_file.take(rows).tolist()
    held = [(each.symbols, view.files.paths[file]) for each, file in zip(view.said(rows.tolist()), files, strict=True)]
    strictly = np.array([any(is_meant(parts, name, path) for name in names) for names, path in held], bool)
    if not strictly.any():
        strictly = np.array([any(is_within(parts, name, path) for name in names) for names, path in held], bool)
    found[likely[strictly]] = True
    return found


def _likely(view: View, rows: NDArray[np.intp], parts: Sequence[str]) -> NDArray[np.intp]:
    """Return the places of rows that may match a qualified name.

    The part before the last must occur in the row's file or path. Reading a row's symbols means reading its text, and a
    common name has hundreds of declarations.
    """
    around = parts[-2] if len(parts) > 1 else ""
    writing, paths = holding(view, around), view.files.paths
    files = view.row_file.take(rows)
    beside = np.fromiter((around in paths[file] for file in files.tolist()), bool, len(rows))
    return np.flatnonzero(writing.take(files) | beside)
