"""The files under a root that may be indexed.

In a repository git lists the files. Elsewhere the directories are walked, `.gitignore` files honoured and junk
directories skipped. Either way the same rules judge each name and each file's status, and every file left out is
reported with a reason. Nothing outside the root is ever read: no link is followed, even if a link replaces a directory
during the walk.
"""

# Paths are strings here: thousands of `Path` objects would cost more than the walk
from __future__ import annotations

import os
import stat
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import PurePosixPath

from vademecum.beneath import opened_folder
from vademecum.code.checkout import git
from vademecum.code.checkout.ignore import JUNK_DIRECTORIES, REPOSITORY_DIRECTORIES, VADEIGNORE, IgnoreFiles, refusal
from vademecum.code.checkout.plumbing import available
from vademecum.code.checkout.root import Root
from vademecum.code.checkout.source import (
    FORCED_FILE_BYTES,
    INODE_BITS,
    MAX_FILE_BYTES,
    NOTEBOOK,
    NOTEBOOK_TIMES,
    bytes_said,
    is_printable,
    printable,
    read_beneath,
)
from vademecum.digests import blake2b
from vademecum.errors import GitError
from vademecum.matching import is_below
from vademecum.result import Ok, attempt
from vademecum.types import FileEntry, Skipped

RULES_VERSION = 5  # increment when the tables of `ignore` change, so that known files are judged again


@dataclass(frozen=True, slots=True)
class WalkSettings:
    """Limits on the walk."""

    max_file_bytes: int = MAX_FILE_BYTES
    exclude: tuple[str, ...] = ()  # lines of a `.vadeignore` at the root, before the file there
    only: tuple[str, ...] = ()  # files and folders to keep to; the whole root if empty


Stat = tuple[int, int, int]  # size, modification time in nanoseconds, inode


@dataclass(frozen=True, slots=True)
class Known:
    """The result of an earlier walk: each file's status, and `Walk.rules`.

    `since` is when that walk began, in seconds since the epoch.
    """

    files: Mapping[str, Stat]
    rules: str
    since: float = 0.0


NOTHING = Known({}, "")
MANY = 5_000  # known files: git's look costs a process, and our own takes longer from here on
SETTLED_S = 2.0  # more than the tick of any file system's clock


@dataclass(frozen=True, slots=True)
class Walk:
    """Files to index and files left out, sorted by path.

    `entries` are the files that are new or changed, `unchanged` the paths of the other files. Ignored files are in
    neither list.
    """

    entries: list[FileEntry]
    skipped: list[Skipped]
    unchanged: frozenset[str] = frozenset()
    rules: str = ""  # a digest of the rules that judged the files


@dataclass(slots=True)
class _Survey:
    """The state of a running walk."""

    root: Root
    settings: WalkSettings
    vadeignore: IgnoreFiles
    known: Known
    unchanged: set[str] = field(default_factory=set)
    entries: list[FileEntry] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    real_folders: dict[str, bool] = field(default_factory=lambda: {"": True})

    def skip(self, path: str, reason: str, detail: str = "") -> None:
        """Report a skipped path, with unprintable characters escaped."""
        self.skipped.append(Skipped(printable(path), reason, detail))

    def finish(self) -> Walk:
        """Sort the results, so that equal trees give equal walks."""
        self.entries.sort(key=lambda entry: entry.path)
        self.skipped.sort(key=lambda skipped: skipped.path)
        return Walk(self.entries, self.skipped, frozenset(self.unchanged), self.rules())

    def rules(self) -> str:
        """Return a digest of the rules that judge names and sizes."""
        ruling = (RULES_VERSION, self.settings, sorted(self.vadeignore.lines))
        return blake2b(repr(ruling).encode(errors="surrogateescape"), digest_size=8).hexdigest()


@attempt(GitError, GitError)
def walk(root: Root, settings: WalkSettings = WalkSettings(), known: Known = NOTHING) -> Walk:
    """List the files to index, and the `known` files that are unchanged.

    Outside git, or without git installed, the directories are walked and `.gitignore` files honoured.
    """
    survey = _begin(root, settings, known)
    if settings.only:
        survey.skip(f"everything outside {', '.join(settings.only)}", "not indexed", "by --only; `--only .` lifts it")
    if root.git_dir is None or not available():
        _walk_directories(survey)
    else:
        _walk_git(survey)
    return survey.finish()


@attempt(GitError, GitError)
def walk_commit(root: Root, revision: str, settings: WalkSettings = WalkSettings()) -> Walk:
    """List the files of a commit to index, by `walk`'s rules."""
    entries = git.tree(root, revision).unwrap()
    survey = _begin(root, settings)
    ignore_files = [entry for entry in entries if entry.path.rpartition("/")[2] == VADEIGNORE]
    contents = dict(git.read_blobs(root, {entry.blob for entry in ignore_files})) if ignore_files else {}
    for entry in ignore_files:
        lines = contents.get(entry.blob, b"").decode(errors="replace").splitlines()
        survey.vadeignore.add(entry.path.rpartition("/")[0], lines)
    for entry in entries:
        forced = _admit(survey, entry.path)
        if forced is not None and _fits(survey, entry.path, entry.size, forced=forced):
            survey.entries.append(entry)
    return survey.finish()


def _begin(root: Root, settings: WalkSettings, known: Known = NOTHING) -> _Survey:
    survey = _Survey(root, settings, IgnoreFiles(), known)
    survey.vadeignore.add("", settings.exclude)
    return survey


def _walk_git(survey: _Survey) -> None:
    """Walk the files that git lists. Raises `GitError`."""
    settled = partial(is_settled, survey.root, len(survey.known.files), survey.known.since)
    listed = git.begin_listing(survey.root, survey.settings.only)
    compared = git.begin_comparing(survey.root, survey.settings.only) if settled() else None
    same = set() if compared else _same_as_known(survey, survey.known.files)  # computed while git runs
    listing = listed().unwrap()
    if compared:
        changed = compared()
        # asked again, since git may have read an index that is newer
        told = changed.value if isinstance(changed, Ok) and settled() else listing.plain
        same = _same_by_git(survey, listing.plain, told)
    within = "a submodule or a repository within; open it as a root of its own"
    for repository in listing.repositories:
        survey.skip(repository, "another repository", within)
    for path in _missing(survey, listing.sparse):
        survey.skip(path, "not checked out", "outside the sparse checkout")
    _load_vadeignores(survey, listing.files)
    if survey.known.rules == survey.rules():  # judging names is the slowest step: skip it for unchanged files
        others = [path for path in listing.files if path not in same]
        is_all = len(same) + len(others) == len(listing.files)
        survey.unchanged = same if is_all else same.intersection(listing.files)
        _examine(survey, others)
    else:
        _examine(survey, listing.files)
    if survey.vadeignore.forces:
        done = survey.unchanged.copy()
        ignored = git.list_ignored(survey.root, survey.settings.only).unwrap()
        _examine(survey, [path for path in ignored if path not in done and survey.vadeignore.verdict(path) is False])


def _missing(survey: _Survey, paths: Iterable[str]) -> set[str]:
    """Return the missing files, or the highest missing folder above each."""
    there: dict[str, bool] = {"": True}
    found = set()
    for path in paths:
        parts = path.split("/")
        for depth in range(1, len(parts) + 1):
            place = "/".join(parts[:depth])
            if place not in there:
                there[place] = os.path.lexists(f"{survey.root.path}/{place}")
            if not there[place]:
                found.add(place)
                break
    return found


def is_settled(root: Root, known: int, since: float) -> bool:
    """Return whether git can tell which files of a large tree changed.

    The tree has `known` files. Git compares each file with what its index notes. An index older than the walk before, at `since`, notes nothing of later
    changes: a file that is as noted has not been changed since, for no program can set back the time of the last change.
    """
    return known >= MANY and git.index_time(root) + SETTLED_S < since <= time.time()


def _same_by_git(survey: _Survey, plain: list[str], changed: list[str]) -> set[str]:
    """Return the known files that are unchanged.

    By git's word they are those of `plain` but `changed`. The rest is looked at here.
    """
    known = survey.known.files
    same = known.keys() & plain
    same.difference_update(changed)
    if len(same) < len(known):
        same |= _same_as_known(survey, {path: known[path] for path in known.keys() - same})
    return same


def _same_as_known(survey: _Survey, known: Mapping[str, Stat]) -> set[str]:
    """Return the known files that are unchanged and reached without a link."""
    try:
        with opened_folder(survey.root.path) as look:
            same = _same(look, known)
    except OSError:  # git will report the error
        return set()
    for folder in {path.rpartition("/")[0] for path in known}.difference(survey.real_folders):
        _survey_folder(survey, folder)
    if all(survey.real_folders.values()):
        return same
    return {path for path in same if survey.real_folders[path.rpartition("/")[0]]}


def _same(look: Callable[[str], os.stat_result], files: Mapping[str, Stat]) -> set[str]:
    same = set()
    for path, then in files.items():
        try:  # not `suppress`: in a large repository this loop is most of a search's wait
            status = look(path)
        except OSError:
            continue
        if then == (status.st_size, status.st_mtime_ns, status.st_ino & INODE_BITS):
            same.add(path)
    return same


def _load_vadeignores(survey: _Survey, paths: Iterable[str]) -> None:
    """Load the `.vadeignore` files among `paths`, and those above them.

    The root's own is loaded even where git ignores it.
    """
    suffix = f"/{VADEIGNORE}"
    above = {str(folder / VADEIGNORE) for part in survey.settings.only for folder in PurePosixPath(part).parents}
    for path in {VADEIGNORE, *above, *(path for path in paths if path.endswith(suffix))}:
        _load_ignore_file(survey, survey.vadeignore, path)


def _load_ignore_file(survey: _Survey, into: IgnoreFiles, path: str) -> None:
    """Add the lines of one ignore file, if it can be read."""
    content = read_beneath(survey.root.path, path, MAX_FILE_BYTES)
    if isinstance(content, bytes):
        into.add(path.rpartition("/")[0], content.decode(errors="replace").removeprefix("\ufeff").splitlines())


def _examine(survey: _Survey, paths: Iterable[str]) -> None:
    """Judge each path by name, then by status on disk.

    One `lstat` per path, and one per directory.
    """
    known = survey.known.files
    for path in paths:
        forced = _admit(survey, path)
        if forced is None or (status := _status(survey, path)) is None:
            continue
        if not stat.S_ISREG(status.st_mode):
            _judge_special(survey, path, status.st_mode)
        elif _fits(survey, path, status.st_size, forced=forced):
            if known.get(path) == (status.st_size, status.st_mtime_ns, status.st_ino & INODE_BITS):
                survey.unchanged.add(path)
            else:
                survey.entries.append(FileEntry(path, status.st_size, status.st_mtime_ns, status.st_ino & INODE_BITS))


def _status(survey: _Survey, path: str) -> os.stat_result | None:
    """Return a path's status, or None where there is none.

    Every cause but a missing file is reported.
    """
    folder = path.rpartition("/")[0]
    if folder not in survey.real_folders:
        _survey_folder(survey, folder)
    if not survey.real_folders[folder]:
        survey.skip(path, "symlink", "a directory above it is a symbolic link")
        return None
    try:
        return os.lstat(f"{survey.root.path}/{path}")
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        survey.skip(path, "unreadable", error.strerror or "")
        return None


def _survey_folder(survey: _Survey, folder: str) -> None:
    """Note whether a directory is reached without a symbolic link."""
    unknown = [folder]
    while (parent := unknown[-1].rpartition("/")[0]) not in survey.real_folders:
        unknown.append(parent)
    for each in reversed(unknown):  # from the top down, however deep
        parent, _, name = each.rpartition("/")
        real = survey.real_folders[parent] and name not in {"", ".", ".."}
        survey.real_folders[each] = real and not os.path.islink(f"{survey.root.path}/{each}")


def _admit(survey: _Survey, path: str) -> bool | None:
    """Judge a path by its name.

    Returns None for a path left out, which is reported, else whether a `!pattern` forces the path in.
    """
    if not is_printable(path):
        survey.skip(path, "undecodable name", "not UTF-8, or with control characters: it cannot be shown or stored")
        return None
    reason = refusal(path)
    forced = False
    if survey.vadeignore and reason != "secret":
        verdict = survey.vadeignore.verdict(path)
        forced = verdict is False
        reason = "ignored" if verdict else "" if forced else reason
    if reason:
        survey.skip(path, reason, VADEIGNORE if reason == "ignored" else "")
        return None
    return forced


def _judge_special(survey: _Survey, path: str, mode: int) -> None:
    """Report a path that is not a regular file."""
    if stat.S_ISLNK(mode):
        survey.skip(path, *_judge_link(survey.root.path, path))
    elif stat.S_ISDIR(mode):
        survey.skip(path, "another repository", "git tracks a file here, but the disk has a directory")
    else:
        survey.skip(path, "not a regular file")


def _fits(survey: _Survey, path: str, size: int, *, forced: bool) -> bool:
    larger = NOTEBOOK_TIMES if path.lower().endswith(NOTEBOOK) else 1
    limit = FORCED_FILE_BYTES if forced else survey.settings.max_file_bytes * larger
    if size > limit:
        survey.skip(path, "too large", f"{bytes_said(size)}, the limit is {bytes_said(limit)}")
    return size <= limit


def _judge_link(root: str, path: str) -> tuple[str, str]:
    """Return the reason to skip a symbolic link.

    No link is followed: a target inside the root is found under its own name.
    """
    try:
        target = os.path.realpath(os.path.join(root, path), strict=True)
    except OSError as error:
        return "broken symlink", error.strerror or ""
    if target == root or target.startswith(root.removesuffix("/") + "/"):
        return "symlink", "its target is listed under its own name"
    return "symlink out of the root", ""


def _walk_directories(survey: _Survey) -> None:
    """Walk the directories without git.

    An ignored directory is entered only where a `!pattern` might force files in.
    """
    gitignore = IgnoreFiles()
    pending = [("", False)]
    while pending:
        folder, ignored = pending.pop()
        children = _scan(survey, folder)
        prefix = f"{folder}/" if folder else ""
        for child in children:
            if child.name in {".gitignore", VADEIGNORE}:
                rules = survey.vadeignore if child.name == VADEIGNORE else gitignore
                _load_ignore_file(survey, rules, prefix + child.name)
        files = []
        for child in children:
            path = prefix + child.name
            if not _is_reached(survey.settings.only, path):
                continue
            if child.is_dir(follow_symlinks=False):
                pending += _enter(survey, path, child.name, ignored=ignored or bool(gitignore.verdict(f"{path}/")))
            elif _wanted(survey, gitignore, path, ignored=ignored):
                files.append(path)
        survey.real_folders[folder] = True  # each directory on the way was scanned, and none is a link
        _examine(survey, files)


def _is_reached(only: Sequence[str], path: str) -> bool:
    """Return whether a path is in a part or above one."""
    return is_below(path, only) or any(is_below(part, [path]) for part in only)


def _scan(survey: _Survey, folder: str) -> list[os.DirEntry[str]]:
    """List a directory; a missing or unreadable one gives an empty list."""
    try:
        with os.scandir(os.path.join(survey.root.path, folder)) as listing:
            return [child for child in listing if child.name != ".git"]
    except (FileNotFoundError, NotADirectoryError):
        pass
    except OSError as error:
        survey.skip(folder or ".", "unreadable", error.strerror or "")
    return []


def _enter(survey: _Survey, path: str, name: str, *, ignored: bool) -> list[tuple[str, bool]]:
    """Return the directory to enter, or nothing.

    The flag beside the path says whether the contents are ignored unless forced in.
    """
    if name.lower() in REPOSITORY_DIRECTORIES:
        return []
    if not ignored and survey.vadeignore.verdict(f"{path}/"):
        survey.skip(path, "ignored", VADEIGNORE)
        ignored = True
    if not ignored and name.lower() in JUNK_DIRECTORIES:
        survey.skip(path, "junk directory", "output of tools; name it in .vadeignore as !pattern to force it in")
        ignored = True
    return [(path, ignored)] if not ignored or survey.vadeignore.forces else []


def _wanted(survey: _Survey, gitignore: IgnoreFiles, path: str, *, ignored: bool) -> bool:
    if ignored or gitignore.verdict(path):
        return survey.vadeignore.verdict(path) is False
    return True
