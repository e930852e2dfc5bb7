"""Searches while a shared database is unreachable.

The local arrays say which chunks answer a question. A chunk's text is read from the working tree or from git, by the id
of its content, and cut as it was indexed. If neither has the content any more, it was edited since: the lines are taken
from the current file, and the answer says `edited`, as for any such file. Nothing is written.
"""

from __future__ import annotations

import re
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from vademecum.code.checkout import git
from vademecum.code.checkout.source import Source, decode_source, read_source
from vademecum.code.chunking.analyse import chunk_hashes, describe
from vademecum.code.indexing.index import Refresher, snapshot_place
from vademecum.code.snapshot.catalogue import Catalogue, Snapshot, snapshot_of
from vademecum.code.snapshot.repository import LOCAL_VECTORS, Opened, Repository
from vademecum.code.snapshot.segments import kept
from vademecum.code.snapshot.view import FileTable, View, load_files, view_of
from vademecum.errors import StoreAwayError, StoreCorruptError
from vademecum.index.segment import Segment, load_segment
from vademecum.protocols import Condition, Progress, Row
from vademecum.types import Chunk, ChunkKind, FileEntry

Cut = list[tuple[Chunk, str]]  # a content's chunks, each with its hash


class OfflineRefresher(Refresher):
    """Opens the local copy of an index while its database is unreachable."""

    def opened(
        self, repo: Repository, prefixes: tuple[str, ...], commit: str, progress: Progress, *, refresh: bool
    ) -> Opened:
        """Return a snapshot, perhaps a local copy. Raises `StoreAwayError` without one."""
        try:
            return super().opened(repo, prefixes, commit, progress, refresh=refresh)
        except StoreAwayError as error:
            catalogue = OfflineCatalogue(repo)
            loaded = catalogue.load(*snapshot_place(repo, commit))
            if loaded is None:
                raise
            when = time.strftime("%Y-%m-%d %H:%M", time.localtime(loaded[0].indexed_at))
            missing = f", and {len(loaded[1].missing)} files are missing from it" if loaded[1].missing else ""
            note = f"the index is as this machine has it, of {when}{missing}: {error}"
            return Opened(replace(repo, catalogue=catalogue, dense=LOCAL_VECTORS), *loaded, prefixes, note)


class OfflineCatalogue(Catalogue):
    """A catalogue that is read without its store."""

    def __init__(self, repo: Repository) -> None:
        of = repo.catalogue
        super().__init__(of.store, of.directory, lambda: repo.embedder().name, of.read_paths, of.here)
        self._repo = repo
        self._table: FileTable | None = None
        self._segments: Sequence[Segment] = ()
        self._cut: dict[int, tuple[bytes, Cut]] = {}

    def load(self, kind: str, place: str) -> tuple[Snapshot, View] | None:
        """Return a snapshot from local files, or None.

        None means that it was never read here, or that its files are gone.
        """
        manifest = kept(self.directory, (kind, place))
        if manifest is None:
            return None
        self._segments = [*self._readable(manifest.segments)]
        try:
            snapshot = replace(snapshot_of(manifest.record), place=place)
            self._table = load_files(self.directory / snapshot.table_file, self.read_paths().embedder)
        except StoreCorruptError:
            return None
        return snapshot, view_of(self._table, self._segments)

    def _readable(self, names: Sequence[str]) -> Iterator[Segment]:
        for name in names:
            with suppress(StoreCorruptError):
                yield load_segment(self.directory / name, self._repo.embedder().name)

    def chunks(self, wanted: Sequence[tuple[int, int]]) -> list[tuple[Chunk, str]]:
        """Return chunks with their hashes, by blob and ordinal."""
        return [self._read(blob)[1][ordinal] for blob, ordinal in wanted]

    def part_of(self, blob: int, ordinal: int) -> dict[str, int]:
        """Return a chunk's `part` and `parts`, or {} for a whole declaration."""
        known = self._read(blob)[1][ordinal][0].metadata
        return {name: known[name] for name in ("part", "parts") if name in known}

    def contents(self, blobs: Collection[int]) -> Mapping[int, bytes]:
        """Return the contents, or their files' current text."""
        return {blob: self._read(blob)[0] for blob in blobs}

    def symbols(self, where: Sequence[Condition], columns: Sequence[str] = ()) -> list[Row]:  # noqa: ARG002 - of none
        """Return nothing: only the database has symbols."""
        return []

    def with_errors(self) -> set[int]:
        """Return nothing: only the database knows of parse errors."""
        return set()

    def _read(self, blob: int) -> tuple[bytes, Cut]:
        """Return a content, cut as it was indexed.

        If the content no longer exists, the current file is cut by the indexed lines.
        """
        if blob not in self._cut:
            self._cut[blob] = self._find(blob)
        return self._cut[blob]

    def _find(self, blob: int) -> tuple[bytes, Cut]:
        digest, language, paths = self._origin(blob)
        lines = self._lines(blob)
        now = b""
        for path in paths:
            source = read_source(self._repo.root, FileEntry(path, 0, 0, 0), self._repo.walk.max_file_bytes)
            if isinstance(source, Source):
                if source.blob == digest:
                    return self._as_indexed(source.text, language, lines)
                now = now or source.text
        for _, content in git.read_blobs(self._repo.root, [digest]) if digest and self._repo.root.git_dir else ():
            source = decode_source(paths[0], content)
            if isinstance(source, Source):
                return self._as_indexed(source.text, language, lines)
        return now, by_lines(now, lines)

    def _as_indexed(self, text: bytes, language: str, lines: NDArray[np.int32]) -> tuple[bytes, Cut]:
        from vademecum.code.chunking.chunk import chunk_file

        parsed, _ = describe(chunk_file(text, language, self._repo.plan.deadline_s), text)
        found = list(zip(parsed.chunks, chunk_hashes(parsed.chunks, parsed.language), strict=True))
        if [(chunk.start_line, chunk.end_line) for chunk, _ in found] != [tuple(own) for own in lines.tolist()]:
            return text, by_lines(text, lines)  # another version of the chunker cut it
        return text, found

    def _origin(self, blob: int) -> tuple[str, str, list[str]]:
        """Return a content's git blob id, language and paths."""
        table = self._table
        places = [] if table is None else np.flatnonzero(table.blobs == blob).tolist()
        if table is None or not places:
            return "", "text", []
        digest = table.digests[places[0]].tobytes().hex()
        return digest, table.language(places[0]), [table.paths[place] for place in places]

    def _lines(self, blob: int) -> NDArray[np.int32]:
        """Return each chunk's first and last line, int32 (n, 2)."""
        for segment in self._segments:
            place = int(np.searchsorted(segment.blobs, blob))
            if place < len(segment.blobs) and segment.blobs[place] == blob:
                return segment.lines[segment.starts[place] : segment.starts[place + 1]]
        return np.zeros((0, 2), np.int32)


def by_lines(text: bytes, lines: NDArray[np.int32]) -> Cut:
    r"""Return chunks without names, cut at the given lines.

    Only line feeds end lines, as in the line numbers.

    >>> [chunk.text for chunk, _ in by_lines(b"a\rb\nc\nd\n", np.array([[1, 2], [3, 9]]))]
    ['a\rb\nc\n', 'd\n']
    """
    kept_ends = re.findall(rb"[^\n]*\n|[^\n]+", text)
    found: Cut = []
    for first, last in lines.tolist():
        start = sum(map(len, kept_ends[: first - 1]))
        own = b"".join(kept_ends[first - 1 : last])
        piece = own.decode("utf-8", "replace")
        found.append(
            (Chunk(first, last, start, start + len(own), ChunkKind.WINDOW, piece, "", "", "", "", ""), "0" * 16)
        )
    return found
