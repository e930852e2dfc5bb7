"""Git hooks that index in the background.

They never hold git up and never change what it reports: all they do is to start a process that is on its own. What others
wrote stays and runs as before. Into a shell script of theirs a marked block is put after the first line; anything else is
kept beside ours and run by it, with its arguments, its input and its exit status. Both are undone to the last byte. Every
change of a hook is one rename, so that at any moment there is either the old one or the new one.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import stat
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

from vademecum.code.checkout.lock import WAIT_SECONDS, exclusive
from vademecum.code.checkout.plumbing import run
from vademecum.code.checkout.root import Root
from vademecum.code.indexing.index import index
from vademecum.code.snapshot.repository import Repository
from vademecum.errors import SourceError, StoreBusyError, UsageError

HOOKS = ("post-commit", "post-merge", "post-checkout", "post-rewrite")
KEPT = ".before-vade"  # what is added to the name of a hook that ours runs
BEGIN, END = "# >>> vademecum: index in the background; `vade hooks uninstall` removes this", "# <<< vademecum"
_BLOCK = re.compile(rb"^%s\n.*?^%s\n" % (re.escape(BEGIN.encode()), re.escape(END.encode())), re.MULTILINE | re.DOTALL)
_SHELL = re.compile(rb"#![^\n]*\b(?:sh|bash|dash|zsh|ksh)\b[^\n]*\n")


@dataclass(frozen=True, slots=True)
class Hook:
    """One hook as it is now: `state` is "installed", "not installed" or "changed since"."""

    name: str
    path: str
    state: str
    detail: str = ""


def install(root: Root) -> list[Hook]:
    """Put our part into every hook; one that has it gets it anew, so that it names the Python that runs now.

    Raises:
        UsageError: this is no git repository.
        GitError: git failed.
        SourceError: a hook cannot be written.
    """
    folder = _folder(root)
    for name in HOOKS:
        path = folder / name
        try:
            folder.mkdir(parents=True, exist_ok=True)
            _install(path)
        except OSError as error:
            raise SourceError(
                f"cannot write {path}: {error.strerror}; make it writable, or set core.hooksPath"
            ) from error
    return status(root)


def uninstall(root: Root) -> list[Hook]:
    """Take our part out again: what others wrote is as it was. Raises as `install` does."""
    folder = _folder(root)
    for name in HOOKS:
        path = folder / name
        try:
            _uninstall(path)
        except OSError as error:
            raise SourceError(f"cannot restore {path}: {error.strerror}; make it writable") from error
    return status(root)


def status(root: Root) -> list[Hook]:
    """Say of every hook whether our part is in it. Raises as `install` does."""
    return [_state(_folder(root) / name) for name in HOOKS]


def catch_up(repo: Repository, settle_s: float = 0.3) -> bool:
    """Bring the index up to date after git said that something changed; returns whether this call did it.

    A rebase says so a hundred times: one process waits for its turn, and those that come meanwhile leave it to that one. Where
    the hook stands in a directory of several repositories, those that were never indexed are left alone.

    Raises:
        Error: it could not be done.
    """
    if not _is_own(repo.root) and repo.catalogue.load("worktree", repo.root.path) is None:
        return False
    try:
        with exclusive(turn_of(repo), 0):
            time.sleep(settle_s)
            with exclusive(repo.lock, WAIT_SECONDS):
                pass  # whoever was indexing is done; what changes from here on is taken in below, or starts another
    except StoreBusyError:
        return False
    index(repo, lambda *_: None, references=True)
    return True


def turn_of(repo: Repository) -> Path:
    """Return the file that the process whose turn is next holds: each worktree has its own."""
    digest = blake2b(repo.root.path.encode("utf-8", "surrogateescape"), digest_size=6).hexdigest()
    return repo.catalogue.directory / f"hooks-{digest}.lock"


def _is_own(root: Root) -> bool:
    folder = _folder(root).resolve()
    return any(place and folder.is_relative_to(place) for place in (root.path, root.git_dir, root.common_dir))


def _folder(root: Root) -> Path:
    if root.git_dir is None:
        raise UsageError(f"{root.path} is no git repository: hooks are git's; `vade watch` works without it")
    top, common = root.work_tree or root.path, root.common_dir or ""
    asked = ("config", "--includes", "--type=path", "--get", "core.hooksPath")
    own = [place for name in (f"{root.git_dir}/config.worktree", f"{common}/config") if os.path.isfile(place := name)]
    places = [("--file", place) for place in own] + [("--global",), ("--system",)]
    told = (run(root, asked[0], *place, *asked[1:], tolerate=(1, 128)).unwrap() for place in places)  # as data
    folder = next((os.fsdecode(each).rstrip("\n") for each in told if each), os.path.join(common, "hooks"))
    return Path(top, folder)  # a relative one counts from the top of the work tree


def _install(path: Path) -> None:
    kept = path.with_name(path.name + KEPT)
    if not os.path.lexists(path):
        _replace(path, _script(path.name), 0o755)
        return
    content = b"" if path.is_symlink() else path.read_bytes()
    if _BLOCK.search(content):  # anew: another Python may run now
        _replace(path, _BLOCK.sub(lambda _: _block(), content), stat.S_IMODE(path.stat().st_mode))
    elif (first := _SHELL.match(content)) and os.access(path, os.X_OK):
        _replace(path, first[0] + _block() + content[first.end() :], stat.S_IMODE(path.stat().st_mode))
    elif os.path.lexists(kept):
        raise UsageError(f"{kept} is in the way: a hook that {path.name} ran before; remove one of the two")
    else:
        _link(path, kept)
        _replace(path, _script(path.name), 0o755)


def _uninstall(path: Path) -> None:
    kept = path.with_name(path.name + KEPT)
    if not path.exists() or path.is_symlink() or not _BLOCK.search(content := path.read_bytes()):
        return
    if _BLOCK.sub(b"", content) == _BLOCK.sub(b"", _script(path.name)):  # ours alone
        if os.path.lexists(kept):
            kept.replace(path)
        else:
            path.unlink()
    else:
        _replace(path, _BLOCK.sub(b"", content), stat.S_IMODE(path.stat().st_mode))


def _state(path: Path) -> Hook:
    kept = path.with_name(path.name + KEPT)
    if not path.exists() or path.is_symlink() or not _BLOCK.search(content := path.read_bytes()):
        detail = "another hook is there, and stays" if os.path.lexists(path) else ""
        if os.path.lexists(kept):
            detail = f"{kept.name} was ours to run, and something replaced our hook"
        return Hook(path.name, str(path), "not installed", detail)
    if not os.access(path, os.X_OK):
        return Hook(path.name, str(path), "changed since", "it is not executable, so git does not run it")
    if _BLOCK.sub(b"", content) != _BLOCK.sub(b"", _script(path.name)):
        return Hook(path.name, str(path), "installed", "beside what others wrote")
    return Hook(path.name, str(path), "installed", f"runs {kept.name} first" if os.path.lexists(kept) else "")


def _block() -> bytes:
    """What starts the process: on its own, with nothing of git's, and silent."""
    python = shlex.quote(sys.executable.replace(os.sep, "/"))
    return (
        f"{BEGIN}\n"
        "(unset $(git rev-parse --local-env-vars 2>/dev/null)\n"
        f"if [ -x {python} ]; then {python} -P -m vademecum hooks run; else vade hooks run; fi) </dev/null >/dev/null 2>&1 &\n"
        f"{END}\n"
    ).encode("utf-8", "surrogateescape")


def _script(name: str) -> bytes:
    """A hook of our own, which runs what was there before and says what that said."""
    kept = f'before="${{0%/*}}/{name}{KEPT}"\n'
    return b"#!/bin/sh\n" + _block() + f'{kept}[ ! -x "$before" ] || exec "$before" "$@"\n'.encode()


def _replace(path: Path, content: bytes, mode: int) -> None:
    """Write a file and put it in place at once."""
    handle, partial = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        os.chmod(partial, mode)
        os.replace(partial, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(partial)
        raise


def _link(path: Path, kept: Path) -> None:
    """Give what is at `path` a second name: a link is kept as a link."""
    try:
        os.link(path, kept, follow_symlinks=False)
    except (OSError, NotImplementedError):  # not every file system has a second name
        shutil.copy2(path, kept, follow_symlinks=False)
