"""Roots of repositories and their other checkouts, read without git.

Git's files are not trusted: only regular files are opened, up to a size limit.
"""

from __future__ import annotations

import os
import re
import stat
from dataclasses import dataclass
from pathlib import Path

from vademecum.beneath import open_plain
from vademecum.digests import blake2b
from vademecum.errors import RootError


def identity(root: Root) -> str:
    """Return the path that identifies a root's index.

    All worktrees of a repository share one index. A part of a repository with its own `.vade.toml` is a root with its
    own index.
    """
    is_top = os.path.lexists(os.path.join(root.path, ".git"))
    return root.common_dir if root.common_dir and is_top else root.path


def repository_name(root: Root) -> str:
    """Return the repository's display name.

    The name is that of the main worktree's directory, or of the root.

    >>> repository_name(Root("/src/my app"))
    'my-app'
    """
    return folder_name(identity(root))


def folder_name(place: str) -> str:
    """Return a repository's display name from its directory or address.

    >>> folder_name("/src/app/.git"), folder_name("example.org/team/app")
    ('app', 'app')
    """
    folder = os.path.dirname(place) if os.path.basename(place) == ".git" else place
    name = os.path.basename(folder).removesuffix(".git")
    return re.sub(r"[^\w.-]+", "-", name) or "root"


def index_directory(home: Path, root: Root) -> Path:
    """Return the directory below `home` that holds a root's index."""
    digest = blake2b(identity(root).encode("utf-8", "surrogateescape"), digest_size=6).hexdigest()
    return home / "repos" / f"{repository_name(root)}-{digest}"


def shared_identity(root: Root, machine: str) -> str:
    """Return the repository's name in a shared database.

    The name is the origin's, the same for every clone. A repository without an origin exists on one machine only, and
    is named by machine and directory.
    """
    origin = _origin(root.common_dir) if root.common_dir else ""
    if not origin:
        return f"{machine}:{identity(root)}"
    own = identity(root)
    below = os.path.relpath(own, os.path.dirname(root.common_dir or "")) if own == root.path else "."
    return origin if below == "." else f"{origin}//{below}"


def _origin(common_dir: str) -> str:
    """Return the name of a repository's origin, or "" without one."""
    section = re.search(
        r'^\[remote "origin"\]([^\[]*)', read_small(os.path.join(common_dir, "config")), re.MULTILINE | re.IGNORECASE
    )
    url = re.search(r"^\s*url\s*=\s*(.+?)\s*$", section[1], re.MULTILINE | re.IGNORECASE) if section else None
    return origin_name(url[1].strip('"')) if url else ""


def origin_name(url: str) -> str:
    """Return a clone URL's host and path as a name.

    Scheme, user, password, port and `.git` are dropped.

    >>> origin_name("git@example.org:team/app.git"), origin_name("https://ada:token@Example.org:443/team/app/")
    ('example.org/team/app', 'example.org/team/app')
    """
    scheme, separator, rest = url.partition("://")
    if not separator:
        host, colon, path = url.partition(":")
        if not colon or "/" in host or len(host) == 1:  # a path, perhaps with a drive letter
            return url.rstrip("/").removesuffix(".git")
        rest = f"{host}/{path.lstrip('/')}"
    elif scheme == "file":
        return rest.rstrip("/").removesuffix(".git")
    host, _, path = rest.partition("/")
    return f"{host.rpartition('@')[2].partition(':')[0].lower()}/{path.strip('/').removesuffix('.git')}"


MARKER = ".vade.toml"  # a directory that holds this file is a root, inside a repository or not
MOST_BYTES = 64 << 20  # bytes read per git file: the size of a `packed-refs` with a million references
_GIT_DIRECTORIES = (("HEAD", "objects", "refs"), ("HEAD", "commondir"))  # a repository's, and a linked worktree's


@dataclass(frozen=True, slots=True)
class Root:
    """The directory that is indexed, and the repository around it."""

    path: str  # absolute, symbolic links resolved
    git_dir: str | None = None  # None outside git
    common_dir: str | None = None  # shared by a repository's worktrees: the repository's identity
    work_tree: str | None = None  # the directory that holds `.git`: `path`, or one above it

    @property
    def prefix(self) -> str:
        """The path from the work tree to the root: "" or `src/`.

        >>> Root("/app/src", "/app/.git", "/app/.git", "/app").prefix
        'src/'
        """
        if self.work_tree in {None, self.path}:
            return ""
        return f"{os.path.relpath(self.path, self.work_tree)}/".replace(os.sep, "/")


def find_root(path: str | os.PathLike[str]) -> Root:
    """Find the root that a directory belongs to.

    The root is the nearest ancestor with `.git` or `.vade.toml`, else the directory itself. A `.vade.toml` inside a
    repository makes that part a root, which still belongs to the repository.

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
    """Return the directory that `.git` leads to.

    Returns "" for a link to a missing repository, and None for an empty `.git`, which git ignores too.
    """
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
    """Refuse git's own data: git would obey the settings there."""
    if not any(all(os.path.lexists(os.path.join(folder, part)) for part in parts) for parts in _GIT_DIRECTORIES):
        return
    if os.path.basename(folder) == ".git":
        raise RootError(f"{folder} is git's own data; name the work tree, {os.path.dirname(folder)}")
    if os.path.lexists(os.path.join(folder, "commondir")):
        raise RootError(f"{folder} is git's own data, and no work tree: name the directory that holds `.git`")
    raise RootError(no_files(folder))


def no_files(folder: str) -> str:
    """Return the error message for a bare repository."""
    return (
        f"{folder} is a bare repository, which has no files to index; make a work tree of it, "
        f"`git -C {folder} worktree add ../work`, and name that"
    )


def read_small(path: str, most: int = MOST_BYTES) -> str:
    """Return a git file's text; "" if missing, too large or not regular."""
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):  # opening a device has side effects, and a pipe blocks
            return ""
        with open(open_plain(path), "rb") as file:
            content = file.read(most + 1) if stat.S_ISREG(os.fstat(file.fileno()).st_mode) else b""
    except (OSError, ValueError):  # ValueError: a NUL byte in a path read from a file
        return ""
    return content.decode(errors="surrogateescape") if len(content) <= most else ""


def worktrees(root: Root) -> list[str]:
    """Return every checkout of the repository, this first, without running git."""
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
