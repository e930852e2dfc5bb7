"""Lines of one file as evidence, from the disk or a commit.

Nothing outside the root is ever read.
"""

from __future__ import annotations

import json
import os
import re
from bisect import bisect_right
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from vademecum.code.checkout import git
from vademecum.code.checkout.classify import kind_of
from vademecum.code.checkout.git import commit_times
from vademecum.code.checkout.ignore import REPOSITORY_DIRECTORIES, is_secret
from vademecum.code.checkout.root import Root
from vademecum.code.checkout.source import contained, decode_source, read_source
from vademecum.code.languages import HEAD, language_of
from vademecum.code.search.evidence import check_file
from vademecum.code.snapshot.repository import Opened, Repository
from vademecum.code.snapshot.view import FILE_KINDS, LEFT_OUT
from vademecum.errors import GitError, SourceError, UnknownError, UsageError
from vademecum.types import Evidence, FileEntry, Freshness, Skipped


@dataclass(frozen=True, slots=True)
class FileFacts:
    """One indexed file."""

    path: str
    language: str
    file_kind: str
    bytes: int  # when it was read
    lines: int  # up to the last line of a chunk
    chunks: int
    complexity: int  # cyclomatic, of all its functions together
    freshness: Freshness
    # The time of the last commit that changed the file, in seconds since the epoch, or for a file that no recent commit
    # changed, the modification time when the file was read; 0 in a snapshot of a commit.
    modified_at: float


def inventory(opened: Opened, after: str = "", most: int = 1000) -> list[FileFacts]:
    """Return up to `most` files in path order, after a path."""
    files, view = opened.view.files, opened.view
    first = bisect_right(files.paths, after) if after else 0
    chosen = [number for number in range(first, len(files)) if files.blobs[number] != LEFT_OUT][:most]
    starts = np.searchsorted(view.row_file, chosen)
    ends = np.searchsorted(view.row_file, chosen, side="right")
    complexity = _complexity(opened, files.blobs[chosen].tolist())
    committed: dict[str, int] = {}
    if opened.snapshot.kind == "worktree":
        with suppress(GitError):  # as outside git
            committed = _commit_times(opened.repo.root, opened.snapshot.commit)
    return [
        FileFacts(
            files.paths[number], files.language(number), FILE_KINDS[view.file_kinds[number]].value, int(files.sizes[number]),
            int(view.lines[start:end, 1].max(initial=0)), int(end - start), complexity.get(int(files.blobs[number]), 0),
            check_file(opened, number).freshness, committed.get(files.paths[number], int(files.mtimes[number]) / 1e9),
        )
        for number, start, end in zip(chosen, starts, ends, strict=True)
    ]  # fmt: skip


@lru_cache(maxsize=4)
def _commit_times(root: Root, commit: str) -> dict[str, int]:
    """Return the files' commit times as of a commit.

    Raises `GitError`, which is not cached.
    """
    return commit_times(root, commit).unwrap()


def _complexity(opened: Opened, blobs: Sequence[int]) -> dict[int, int]:
    """Return the sum of the functions' complexity, by content."""
    total: dict[int, int] = {}
    rows = opened.repo.catalogue.store.scan("chunks", [("blob", "in", list(blobs))], ("blob", "metadata")).unwrap()
    for blob, metadata in rows:
        if metadata:
            total[blob] = total.get(blob, 0) + int(json.loads(metadata).get("cyclomatic", 0))
    return total


_LOCATION = re.compile(r"(?P<path>.+?)(?:(?::|#L)(?P<first>\d+)(?:-L?(?P<last>\d+)|:\d+)?)?")


def parse_location(location: str) -> tuple[str, int, int]:
    """Return path, first and last line; 0 where not given.

    A column is ignored. Links such as `#L7-L9` are read too.

    >>> parse_location("a/b.py:10-40"), parse_location("a/b.py:7:12"), parse_location("a/b.py#L7-L9"), parse_location("a/b.py")
    (('a/b.py', 10, 40), ('a/b.py', 7, 7), ('a/b.py', 7, 9), ('a/b.py', 0, 0))
    """
    match = _LOCATION.fullmatch(location.strip())
    if match is None:
        raise UsageError(f"{location!r} is not a location: write path, path:10 or path:10-40")
    first = int(match["first"] or 0)
    last = int(match["last"] or first)
    if match["first"] and (first < 1 or last < first):
        raise UsageError(
            f"{location!r} is not a range of lines: lines count from 1, and the first is not after the last"
        )
    return match["path"], first, last


def line_in(location: str) -> int:
    """Return the first line of `path:line`, 0 for other names."""
    match = _LOCATION.fullmatch(location.strip())
    return int((match and match["first"]) or 0)


def past_end(path: str, lines: int, line: int) -> UsageError:
    """Return the error for a line past a file's end.

    >>> str(past_end("a.py", 1, 7))
    'a.py has 1 line: line 7 is past its end'
    """
    return UsageError(f"{path} has {lines} line{'' if lines == 1 else 's'}: line {line} is past its end")


def open_location(repo: Repository, location: str, revision: str = "") -> Evidence:
    """Return the lines of a location as evidence.

    Raises:
        UsageError: the location is malformed, or the file has fewer lines.
        OutsideRootError: the location leads out of the root.
        UnknownError: there is no such file.
        SourceError: the file is not text, or holds secrets.
    """
    named, first, last = parse_location(location)
    path = contained(repo.root, named).unwrap()
    if is_secret(path) or not REPOSITORY_DIRECTORIES.isdisjoint(path.lower().split("/")):
        raise SourceError(f"{path} may hold secrets and is never shown")
    if revision:
        label = git.resolve(repo.root, revision).unwrap()
        text, branch = _committed(repo, path, label), ""
    else:
        text, label, branch = _on_disk(repo, path)
    lines = text.removesuffix("\n").split("\n") if text else []
    if first > len(lines):
        raise past_end(path, len(lines), first)
    first, last = first or min(1, len(lines)), min(last or len(lines), len(lines))
    return Evidence(
        id=f"{repo.name}:{label}:{path}:{first}-{last}", repo=repo.name,
        branch=branch, commit=label, path=path, start_line=first,
        end_line=last, snippet="\n".join(lines[max(first - 1, 0) : last]), score=1.0, kind="window",
        language=language_of(path, text[:HEAD].encode()), file_kind=kind_of(path, text[:HEAD].encode()).value,
    )  # fmt: skip


def _on_disk(repo: Repository, path: str) -> tuple[str, str, str]:
    """Return a file's text, commit and branch.

    The commit is marked where the file differs from it.
    """
    try:
        status = os.lstat(os.path.join(repo.root.path, path))
    except FileNotFoundError as error:
        advice = f"paths are read from there, and `vade search {os.path.basename(path)}` finds files by their names"
        raise UnknownError(f"there is no {path} in {repo.root.path}: {advice}") from error
    except OSError as error:
        raise SourceError(f"{path} cannot be opened in {repo.root.path}: {error.strerror}") from error
    entry = FileEntry(path, status.st_size, status.st_mtime_ns, status.st_ino)
    source = read_source(repo.root, entry, repo.walk.max_file_bytes)
    if isinstance(source, Skipped):
        raise SourceError(f"{path} cannot be shown: {source.why}")
    head = git.head(repo.root).unwrap()
    label = head.commit
    if label and git.tree_ids(repo.root, label, [path]).unwrap().get(path) != source.blob:
        label += "+edited"
    return source.text.decode(), label, head.branch


def _committed(repo: Repository, path: str, commit: str) -> str:
    blob = git.tree_ids(repo.root, commit, [path]).unwrap().get(path)
    if blob is None:
        raise SourceError(f"{path} is not in commit {commit[:12]}")
    content = next((content for _, content in git.read_blobs(repo.root, [blob])), None)
    source = Skipped(path, "missing") if content is None else decode_source(path, content)
    if isinstance(source, Skipped):
        raise SourceError(f"{path} at {commit[:12]} cannot be shown: {source.why}")
    return source.text.decode()
