"""The parts of a checkout that its index covers.

`vade index --only` chooses them. The choice is remembered beside the index, for one checkout:

    only-<digest of the checkout's directory>.json   a list of paths below the directory
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from vademecum.code.checkout.source import contained
from vademecum.code.checkout.walk import walk
from vademecum.code.snapshot.repository import Repository
from vademecum.digests import blake2b
from vademecum.errors import UsageError
from vademecum.private import private_opener


def covered(repo: Repository) -> tuple[str, ...]:
    """Return the files and folders to keep to, () for the whole checkout."""
    try:
        return tuple(map(str, json.loads(_place(repo).read_bytes())))
    except (OSError, ValueError, TypeError):  # nothing was chosen, or the file is damaged: then everything counts
        return ()


def cover(repo: Repository, paths: Sequence[str]) -> None:
    """Remember the parts to keep to; the root lifts the limit.

    Raises:
        OutsideRootError: a path leads out of the repository.
        UsageError: there is no file to index in the paths.
    """
    parts = tuple(sorted({contained(repo.root, path).unwrap() for path in paths}))
    place = _place(repo)
    if "." in parts:
        place.unlink(missing_ok=True)
        return
    if not walk(repo.root, replace(repo.walk, only=parts)).unwrap().entries:
        said = " or ".join(parts)
        raise UsageError(f"no file of {said} is to be indexed: name files or folders that git does not ignore")
    beside = place.with_suffix(f".{os.getpid()}.tmp")
    with open(beside, "w", encoding="utf-8", opener=private_opener) as out:
        json.dump(parts, out)
    beside.replace(place)


def covered_said(repo: Repository) -> str:
    """Say which parts the index keeps to, "" for the whole checkout."""
    parts = covered(repo)
    return f"only {', '.join(parts)} is indexed: `vade index --only .` lifts that" if parts else ""


def _place(repo: Repository) -> Path:
    digest = blake2b(os.fsencode(repo.root.path), digest_size=6).hexdigest()
    return repo.catalogue.directory / f"only-{digest}.json"
