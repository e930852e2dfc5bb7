"""Commits that say what they do, and the lines they changed, in the files as they were before."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from changes import Span, parse_hunks
from messages import clean_subject, first_sentence, objection_to_subject, without_references
from prose import clean_sentence
from repository import Blobs, git

LOOKED_AT, MOST_CHANGES = 6_000, 450  # commits of a repository, newest first; those that are used
MOST_FILES, MOST_HUNKS, MOST_LINES = 4, 12, 120
_LOG = "%x1e%H%x1f%aN%x1f%B"
_ROBOT = re.compile(r"\[bot\]|\bbot\b|dependabot|renovate|greenkeeper|pre-commit|snyk", re.IGNORECASE)
_MERGED = re.compile(r"^Merge pull request #\d+ from \S+\s+(.+)", re.DOTALL)
_SQUASHED = re.compile(r"\(#\d+\)\s*$")
_FILE = re.compile(r"^diff --git ", re.MULTILINE)
_INDEX = re.compile(r"^index ([0-9a-f]{40})\.\.[0-9a-f]{40}", re.MULTILINE)
_OLD = re.compile(r"^--- a/(.+)$", re.MULTILINE)


@dataclass(frozen=True)
class Change:
    """What a commit says, as (kind, question), and (path, content before, changed spans) of its files."""

    questions: tuple[tuple[str, str], ...]
    files: tuple[tuple[str, bytes, list[Span]], ...]


def questions_of(message: str) -> tuple[tuple[str, str], ...]:
    """Return the questions that a message holds; none where it says too little.

    >>> questions_of("Close the socket when the handshake fails (#12)")
    (('pull', 'Close the socket when the handshake fails'),)
    """
    merged = _MERGED.match(message)
    kind = "pull" if merged or _SQUASHED.search(message.split("\n", 1)[0]) else "commit"
    subject, body = first_sentence(merged[1] if merged else message)
    cleaned = clean_subject(subject)
    if objection_to_subject(subject, cleaned):
        return ()
    found = [(kind, cleaned)]
    paragraph = without_references(" ".join(body.split("\n\n")[0].split()))
    if paragraph and not re.match(r"[-*]|\w[\w-]*-by:|\w+:\s", paragraph):
        sentence = clean_sentence(paragraph)
        if len(sentence.split()) >= 6:
            found.append(("body", sentence))
    return tuple(found)


def changes_of(
    git_dir: str, commit: str, blobs: Blobs, wanted: Callable[[str], bool], most_bytes: int
) -> Iterator[Change]:
    """Yield the changes of a history that say what they do and touch little."""
    asked: dict[str, tuple[tuple[str, str], ...]] = {}
    for entry in git(git_dir, "log", f"--max-count={LOOKED_AT}", f"--format={_LOG}", commit).split("\x1e")[1:]:
        sha, author, message = entry.split("\x1f", 2)
        questions = () if _ROBOT.search(author) else questions_of(message.strip())
        if questions:
            asked[sha] = questions
    used = 0
    for block in _blocks(list(asked), 150):
        for entry in _diffs(git_dir, block).split("\x1e")[1:]:
            files = _files(entry, wanted)
            if files and used < MOST_CHANGES:
                read = tuple(
                    (path, content, spans)
                    for path, blob, spans in files
                    if len(content := blobs.read(blob)) <= most_bytes
                )
                if read:
                    used += 1
                    yield Change(asked[entry[:40]], read)
        if used >= MOST_CHANGES:
            return


def _diffs(git_dir: str, shas: list[str]) -> str:
    """Return the commits with their diffs against the first parent; none where the snapshot lacks a file of them."""
    try:
        return git(
            git_dir, "log", "--no-walk=unsorted", "--stdin", "-p", "-U0", "--full-index", "--no-renames", "--no-ext-diff",
            "--diff-merges=first-parent", "--diff-filter=M", "--format=%x1e%H", given="\n".join(shas),
        )  # fmt: skip
    except subprocess.CalledProcessError:
        half = len(shas) // 2
        return _diffs(git_dir, shas[:half]) + _diffs(git_dir, shas[half:]) if half >= 8 else ""


def _blocks(shas: list[str], size: int) -> Iterator[list[str]]:
    for start in range(0, len(shas), size):
        yield shas[start : start + size]


def _files(entry: str, wanted: Callable[[str], bool]) -> list[tuple[str, str, list[Span]]]:
    """Return (path, blob before, spans) of the wanted files; none where the change is large."""
    parts = _FILE.split(entry)[1:]
    found = []
    hunks_in_all = 0
    if len(parts) > 4 * MOST_FILES:
        return []
    for part in parts:
        path, index = _OLD.search(part[:2000]), _INDEX.search(part[:2000])
        if path is None or index is None or not wanted(path[1]):
            continue
        hunks = parse_hunks(part)
        hunks_in_all += len(hunks)
        if hunks_in_all > MOST_HUNKS or sum(hunk.count for hunk in hunks) > MOST_LINES:
            return []
        found.append((path[1], index[1], [hunk.span(10**9) for hunk in hunks]))
    return found if len(found) <= MOST_FILES else []
