"""Clones of repositories for indexing: history and contents without a checkout."""

from __future__ import annotations

import os
import re
from hashlib import blake2b
from pathlib import Path

from vademecum.code.checkout.identity import origin_name
from vademecum.code.checkout.lock import exclusive
from vademecum.code.checkout.plumbing import TRANSPORTS, run, transfer
from vademecum.code.checkout.root import find_root
from vademecum.errors import GitError, UsageError

WAIT_SECONDS = 3600.0
_SECRET = re.compile(r"^[a-z+]+://[^/@]*:[^/@]*@", re.IGNORECASE)


def is_address(source: str) -> bool:
    """Return whether a source is an address to clone from.

    >>> is_address("git@example.org:team/app.git"), is_address("https://example.org/app"), is_address("/srv/app")
    (True, True, False)
    """
    return "://" in source or bool(re.match(r"[\w.-]+@[\w.-]+:", source))


def check_source(source: str) -> None:
    """Reject a source that cannot be cloned. Raises `UsageError`."""
    if _SECRET.match(source):
        raise UsageError("the address holds a password: leave it out, and let git's credential helper know it")
    if not is_address(source):
        if not os.path.isdir(source):
            raise UsageError(f"{source!r} is neither a directory nor an address to clone from: name one of them")
    elif "://" in source and source.partition("://")[0].lower() not in TRANSPORTS:
        raise UsageError(f"{source!r} cannot be cloned: its address begins with none of {', '.join(TRANSPORTS)}")


def cloned(home: Path, address: str, revision: str = "") -> tuple[str, str]:
    """Clone an address below `home`, or fetch its new commits.

    Returns the directory and the commit to index: that of `revision`, or of the origin's checked-out branch. Raises `GitError`
    where git fails; an earlier clone is then unchanged.
    """
    digest = blake2b(address.encode(), digest_size=6).hexdigest()
    name = re.sub(r"[^\w.-]+", "-", origin_name(address).rpartition("/")[2]) or "clone"
    place = home / "clones" / f"{name}-{digest}"
    with exclusive(home / "clones" / f"{name}-{digest}.lock", WAIT_SECONDS):
        if (place / ".git" / "HEAD").exists():
            own = f"--git-dir={place / '.git'}"  # only our clone wrote these settings
            transfer(str(place), own, "fetch", "--quiet", "--prune", "--tags", "--force", "origin").unwrap()
            transfer(str(place), own, "remote", "set-head", "origin", "--auto").unwrap()
        else:
            _clone(address, place)
    root = find_root(place)
    for wanted in (f"refs/remotes/origin/{revision or 'HEAD'}", revision):
        found = run(root, "rev-parse", "--verify", "--quiet", f"{wanted}^{{commit}}", tolerate=(1, 128)).unwrap()
        if found:
            return str(place), found.decode().strip()
    raise GitError(f"{origin_name(address)} has no revision {revision or 'HEAD'!r}: name a branch, a tag or a commit")


def _clone(address: str, place: Path) -> None:
    """Clone beside, then rename: a killed run leaves no partial clone."""
    beside = place.with_name(f"{place.name}.{os.getpid()}.tmp")
    options = ("--quiet", "--no-checkout", "--template=")
    transfer(str(place.parent), "clone", *options, "--", address, str(beside)).unwrap()
    beside.rename(place)
