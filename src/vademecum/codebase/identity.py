"""Which repository a directory is, what it is called and where its data lies; it needs nothing but names."""

from __future__ import annotations

import os
import re
from pathlib import Path

from vademecum.codebase.root import Root
from vademecum.digests import blake2b


def identity(root: Root) -> str:
    """Return what decides which index a root uses: all worktrees of a repository share one.

    A part of a repository that has its own `.vade.toml` is a root by itself and has its own.
    """
    is_top = os.path.lexists(os.path.join(root.path, ".git"))
    return root.common_dir if root.common_dir and is_top else root.path


def repository_name(root: Root) -> str:
    """Return what evidence calls the repository: the main worktree's directory name, or the root's own.

    >>> repository_name(Root("/src/my app"))
    'my-app'
    """
    own = identity(root)
    folder = os.path.dirname(own) if os.path.basename(own) == ".git" else own
    name = os.path.basename(folder).removesuffix(".git")
    return re.sub(r"[^\w.-]+", "-", name) or "root"


def index_directory(home: Path, root: Root) -> Path:
    """Return the directory below `home` that holds a root's index."""
    digest = blake2b(identity(root).encode("utf-8", "surrogateescape"), digest_size=6).hexdigest()
    return home / "repos" / f"{repository_name(root)}-{digest}"
