"""Roots of repositories and worktrees, read from git's files without git.

Git's files are somebody else's: only regular files are opened, and never more than a bound is read of one.
"""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass

from vademecum.errors import RootError

MARKER = ".vade.toml"  # a directory that holds one is a root of its own, inside a repository or not
MOST_BYTES = 64 << 20  # read of one of git's files: `packed-refs` of a million references is about as large
_GIT_DIRECTORIES = (("HEAD", "objects", "refs"), ("HEAD", "commondir"))  # a repository's own, and a linked worktree's


@dataclass(frozen=True, slots=True)
class Root:
    """The directory that is indexed as one, and the repository it belongs to."""

    path: str  # absolute, symbolic links resolved
    git_dir: str | None = None  # None outside git
    common_dir: str | None = None  # shared by a repository's worktrees: the repository's identity
    work_tree: str | None = None  # the directory that holds `.git`: `path`, or one above it

    @property
    def prefix(self) -> str:
        """The way from the work tree to the root, as git writes it: "" or `src/`.

        >>> Root("/app/src", "/app/.git", "/app/.git", "/app").prefix
        'src/'
        """
        if self.work_tree in {None, self.path}:
            return ""
        return f"{os.path.relpath(self.path, self.work_tree)}/".replace(os.sep, "/")


def find_root(path: str | os.PathLike[str]) -> Root:
    """Find the root that a directory belongs to: its nearest ancestor with `.git` or `.vade.toml`, else itself.

    A `.vade.toml` inside a repository makes that part of it a root; it still belongs to the repository.

    Raises:
        RootError: `path` is not a directory, or lies in a bare repository or inside `.git`.
    """
    start = os.path.realpath(path)
    if not os.path.isdir(start):
        what = "is a file; name its directory" if os.path.exists(start) else "does not exist"
        raise RootError(f"{start} {what}")
    top = ""
    folder = start
    while True:
        if not top and os.path.exists(os.path.join(folder, MARKER)):
            top = folder
        dot_git = os.path.join(folder, ".git")
        if os.path.lexists(dot_git) and (git_dir := _git_dir(dot_git)) is not None:
            return Root(top or folder, git_dir, _common_dir(git_dir), folder) if git_dir else Root(top or folder)
        _refuse_git_directory(folder)
        parent = os.path.dirname(folder)
        if parent == folder:
            return Root(top or start)
        folder = parent


def _git_dir(dot_git: str) -> str | None:
    """Where `.git` leads. "" for a link to a repository that is gone; None for an empty `.git`, as git has it."""
    if os.path.isdir(dot_git):
        return os.path.realpath(dot_git) if os.path.isfile(os.path.join(dot_git, "HEAD")) else None
    line = read_small(dot_git)
    if not line.startswith("gitdir:"):
        return None
    target = os.path.join(os.path.dirname(dot_git), line.removeprefix("gitdir:").strip())
    return os.path.realpath(target) if os.path.isfile(os.path.join(target, "HEAD")) else ""


def _common_dir(git_dir: str) -> str:
    shared = read_small(os.path.join(git_dir, "commondir")).strip()
    return os.path.realpath(os.path.join(git_dir, shared)) if shared else git_dir


def _refuse_git_directory(folder: str) -> None:
    """Raise when `folder` is what git keeps its own data in: git would obey the settings in it."""
    if not any(all(os.path.lexists(os.path.join(folder, part)) for part in parts) for parts in _GIT_DIRECTORIES):
        return
    if os.path.basename(folder) == ".git":
        raise RootError(f"{folder} is git's own data; name the work tree, {os.path.dirname(folder)}")
    if os.path.lexists(os.path.join(folder, "commondir")):
        raise RootError(f"{folder} is git's own data, and no work tree: name the directory that holds `.git`")
    raise RootError(no_files(folder))


def no_files(folder: str) -> str:
    """Return what to say of a bare repository."""
    return (
        f"{folder} is a bare repository, which has no files to index; make a work tree of it, "
        f"`git -C {folder} worktree add ../work`, and name that"
    )


def read_small(path: str, most: int = MOST_BYTES) -> str:
    """Return the text of one of git's small files, "" when there is none, or none that a file should be."""
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):  # to open a device may do something, and a pipe waits
            return ""
        with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
            content = file.read(most + 1) if stat.S_ISREG(os.fstat(file.fileno()).st_mode) else b""
    except (OSError, ValueError):  # a NUL byte in a path that a file named
        return ""
    return content.decode(errors="surrogateescape") if len(content) <= most else ""


def worktrees(root: Root) -> list[str]:
    """Return every directory where the repository is checked out, this one first; read from git's files, without git."""
    if root.common_dir is None:
        return [root.path]
    found = [root.path]
    if os.path.basename(root.common_dir) == ".git":
        found.append(os.path.dirname(root.common_dir))
    linked = os.path.join(root.common_dir, "worktrees")
    for name in sorted(os.listdir(linked)) if os.path.isdir(linked) else ():
        pointer = read_small(os.path.join(linked, name, "gitdir")).strip()
        if pointer:
            found.append(os.path.dirname(pointer))
    return list(dict.fromkeys(found))
