"""Signals besides words and meaning: path, definitions and file kind."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

from vademecum.code.snapshot.files import FILE_KINDS, PATH_FIELDS, FileTable, path_keys
from vademecum.code.snapshot.view import View
from vademecum.index.postings import damaged
from vademecum.index.query import name_term
from vademecum.index.tokenize import key
from vademecum.types import FileKind

_STEM = PATH_FIELDS.index("stem")
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
# member (field, constant) of that name, or declares the name in another spelling.
DEFINING: dict[str, float] = {"declares": 1.0, "file": 0.9, "has": 0.5, "resembles": 0.35}


def definitions(view: View, names: Sequence[str]) -> NDArray[np.float32]:
    """Return how surely each chunk defines a name, float32 (N,).

    Each value is a value of `DEFINING`, or 0.
    """
    found = np.zeros(int(view.bases[-1]), np.float32)
    filed = [(key("\1" + name_term(name)), DEFINING["resembles"]) for name in names]
    filed += [(key("\2" + name), DEFINING["has"]) for name in names]
    filed += [(key("\0" + name), DEFINING["declares"]) for name in names]
    keys = np.array([number for number, _ in filed], np.uint64)
    worth = np.array([value for _, value in filed], np.float32)
    for segment, base in zip(view.segments, view.bases, strict=False):
        docs, _, which = segment.postings.find(keys)
        found[docs + base] = worth[which]  # keys ascend in worth, so the highest is written last
    return found


def declaring(view: View, name: str) -> NDArray[np.int64]:
    """Return the chunks that declare a name, int64 (m,), ascending.

    The name is compared as written. Holders of a member of that name count too.
    """
    keys = np.array([key("\0" + name), key("\2" + name)], np.uint64)
    found = [
        segment.postings.find(keys)[0].astype(np.int64) + base
        for segment, base in zip(view.segments, view.bases, strict=False)
    ]
    return np.unique(np.concatenate([*found, np.zeros(0, np.int64)]))


def named_files(view: View, text: str) -> NDArray[np.int64]:
    """Return the files that a question names, int64 (m,), ascending.

    The question must be nothing but a whole path or the end of one.
    """
    asked = text.strip().strip("`'\"").removeprefix("./")
    if not ("." in asked or "/" in asked) or len(asked.split()) != 1:
        return np.zeros(0, np.int64)
    return np.array(_ending_as(view.files, asked), np.int64)


def known_ending(files: FileTable, path: str) -> str:
    """Return the longest ending of a path that exists, or "".

    A shortened path keeps at least two names, since a file's name alone may be any file's.
    """
    while not _ending_as(files, path):
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
    for begin, count in zip(
        np.searchsorted(view.row_file, files.astype(np.int32)), view.file_rows.take(files), strict=True
    ):
        chunks, shown = view.row_chunk[begin : begin + count], view.lines[begin : begin + count]
        first = int(np.searchsorted(shown[:, 1], lines[0])) if lines[0] else count
        worth = np.full(count, DEFINING["file"], np.float32)
        if first < count:
            worth[(shown[:, 1] < lines[0]) | (shown[:, 0] > lines[1])] = DEFINING["resembles"]
            worth[first] = DEFINING["declares"]
        found[chunks] = np.maximum(found[chunks], worth)
    return found


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
    held, wanted = np.zeros(int(view.bases[-1]), bool), np.array([key(term)], np.uint64)
    for segment, base in zip(view.segments, view.bases, strict=False):
        held[segment.postings.find(wanted)[0] + base] = True
    found = np.zeros(len(view.files), bool)
    found[view.row_file[held[view.row_chunk]]] = True
    return found


def path_share(
    files: FileTable, keys: NDArray[np.uint64], weight: NDArray[np.float64]
) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
    """Return each path's share of the question, and the known terms.

    The share is float32 (F,). Known terms, bool (T,), occur in some path. `keys` and `weight` are (T,). A term counts
    in full in a file's own name, and DIRECTORY_SHARE in a directory's. Raises `StoreCorruptError`.
    """
    try:
        return _path_share(files, keys, weight)
    except (IndexError, ValueError) as error:
        raise damaged(error) from error


def _path_share(
    files: FileTable, keys: NDArray[np.uint64], weight: NDArray[np.float64]
) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
    """Compute `path_share`; damaged postings raise an error."""
    docs, tf, term = files.postings.find(keys)
    worth = np.where(tf[:, _STEM] > 0, 1.0, DIRECTORY_SHARE) * weight[term]
    if int(docs.max(initial=-1)) >= len(files):
        raise ValueError("postings name a path that there is not")
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
    return _but(frozenset(asked))


@cache
def _but(asked: frozenset[FileKind]) -> NDArray[np.bool_]:
    """Return the kinds not asked for, bool (len(FILE_KINDS),), read-only."""
    others = np.array([kind not in asked for kind in FILE_KINDS])
    others.flags.writeable = False
    return others


def of_kinds(view: View, unasked: NDArray[np.bool_]) -> tuple[NDArray[np.float32], NDArray[np.uint8]]:
    """Return each file's prior, float32 (F,), and unasked kind, uint8 (F,).

    The kind is an index in FILE_KINDS, or 0 for a kind that is asked for. `unasked` comes from `unasked_kinds`. The
    arrays are cached in the view and must not be written to.
    """
    key = unasked.tobytes()
    if key not in view.of_kinds:
        codes = unasked * np.arange(len(FILE_KINDS), dtype=np.uint8)
        view.of_kinds[key] = kind_priors(unasked).take(view.files.kinds), codes.take(view.files.kinds)
    return view.of_kinds[key]


def kind_priors(unasked: NDArray[np.bool_]) -> NDArray[np.float32]:
    """Return the prior of each kind, float32 (len(FILE_KINDS),).

    It is 1 for kinds that are asked for.
    """
    return np.where(unasked, _PRIORS, np.float32(1))
