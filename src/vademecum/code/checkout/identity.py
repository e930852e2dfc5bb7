"""A repository's identity, display name and index directory."""

from __future__ import annotations

import os
import re
from pathlib import Path

from vademecum.code.checkout.root import Root, read_small
from vademecum.digests import blake2b


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
