"""Git hooks that index in the background.

They run after a commit, a merge, a checkout or a rewrite. They never delay git and never change its result: each only
starts a separate process. Other people's hooks stay and run as before. A shell script gets a marked block after its
first line. Any other hook is kept beside ours, which runs it with its arguments, input and exit status. Uninstalling
restores every hook to the last byte. Every change of a hook is one rename, so at any moment either the old hook or the
new one exists.
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

from vademecum.code.checkout.plumbing import run
from vademecum.code.checkout.root import Root
from vademecum.code.indexing.index import index
from vademecum.code.snapshot.repository import Repository
from vademecum.errors import SourceError, StoreBusyError, UsageError
from vademecum.private import WAIT_SECONDS, exclusive

HOOKS = ("post-commit", "post-merge", "post-checkout", "post-rewrite")
KEPT = ".before-vade"  # the suffix of an earlier hook, which ours runs
BEGIN, END = "# >>> vademecum: index in the background; `vade hooks uninstall` removes this", "# <<< vademecum"
_BLOCK = re.compile(rb"^%s\n.*?^%s\n" % (re.escape(BEGIN.encode()), re.escape(END.encode())), re.MULTILINE | re.DOTALL)
_SHELL = re.compile(rb"#![^\n]*\b(?:sh|bash|dash|zsh|ksh)\b[^\n]*\n")


@dataclass(frozen=True, slots=True)
class Hook:
    """The state of one git hook.

    `state` is "installed", "not installed" or "changed since".
    """

    name: str
    path: str
    state: str
    detail: str = ""


def install(root: Root) -> list[Hook]:
    """Install our part in every hook.

    An existing part is rewritten, so that it names the Python that runs now.

    Raises:
        UsageError: the root is not a git repository.
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
    """Remove our part from every hook.

    Other people's hooks are restored. Raises as `install` does.
    """
    folder = _folder(root)
    for name in HOOKS:
        path = folder / name
        try:
            _uninstall(path)
        except OSError as error:
            raise SourceError(f"cannot restore {path}: {error.strerror}; make it writable") from error
    return status(root)


def status(root: Root) -> list[Hook]:
    """Return the state of every hook. Raises as `install` does."""
    return [_state(_folder(root) / name) for name in HOOKS]


def catch_up(repo: Repository, settle_s: float = 0.3) -> bool:
    """Index after a git hook; return whether this call did.

    A rebase runs the hook a hundred times: one process waits for its turn, and processes that start meanwhile leave the
    work to it. Where the hook's directory serves several repositories, those that were never indexed are skipped.

    Raises:
        Error: indexing failed.
    """
    if not _is_own(repo.root) and repo.catalogue.load("worktree", repo.root.path) is None:
        return False
    try:
        with exclusive(turn_of(repo), 0):
            time.sleep(settle_s)
            with exclusive(repo.lock, WAIT_SECONDS):
                pass  # any other indexing run is done; later changes are indexed below, or start another run
    except StoreBusyError:
        return False
    index(repo, lambda *_: None, references=True)
    return True


def turn_of(repo: Repository) -> Path:
    """Return the lock of a worktree's process whose turn is next."""
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
    # read as data, never run
    told = (run(root, asked[0], *place, *asked[1:], tolerate=(1, 128)).unwrap() for place in places)
    folder = next((os.fsdecode(each).rstrip("\n") for each in told if each), os.path.join(common, "hooks"))
    return Path(top, folder)  # a relative path starts at the top of the work tree


def _install(path: Path) -> None:
    kept = path.with_name(path.name + KEPT)
    if not os.path.lexists(path):
        _replace(path, _script(path.name), 0o755)
        return
    content = b"" if path.is_symlink() else path.read_bytes()
    if _BLOCK.search(content):  # rewritten, since another Python may run now
        _replace(path, _BLOCK.sub(lambda _: _block(), content), stat.S_IMODE(path.stat().st_mode))
    elif (first := _SHELL.match(content)) and os.access(path, os.X_OK):
        _replace(path, first[0] + _block() + content[first.end() :], stat.S_IMODE(path.stat().st_mode))
    elif os.path.lexists(kept):
        raise UsageError(f"{kept} already exists beside {path.name}: remove one of the two hooks")
    else:
        _link(path, kept)
        _replace(path, _script(path.name), 0o755)


def _uninstall(path: Path) -> None:
    kept = path.with_name(path.name + KEPT)
    if not path.exists() or path.is_symlink() or not _BLOCK.search(content := path.read_bytes()):
        return
    if _BLOCK.sub(b"", content) == _BLOCK.sub(b"", _script(path.name)):  # our hook alone
        if os.path.lexists(kept):
            kept.replace(path)
        else:
            path.unlink()
    else:
        _replace(path, _BLOCK.sub(b"", content), stat.S_IMODE(path.stat().st_mode))


def _state(path: Path) -> Hook:
    kept = path.with_name(path.name + KEPT)
    if not path.exists() or path.is_symlink() or not _BLOCK.search(content := path.read_bytes()):
        detail = "another hook is installed" if os.path.lexists(path) else ""
        if os.path.lexists(kept):
            detail = f"{kept.name} is the earlier hook; something replaced the hook that ran it"
        return Hook(path.name, str(path), "not installed", detail)
    if not os.access(path, os.X_OK):
        return Hook(path.name, str(path), "changed since", "it is not executable, so git does not run it")
    if _BLOCK.sub(b"", content) != _BLOCK.sub(b"", _script(path.name)):
        return Hook(path.name, str(path), "installed", "beside another hook's lines")
    return Hook(path.name, str(path), "installed", f"runs {kept.name} first" if os.path.lexists(kept) else "")


def _block() -> bytes:
    """Return the shell lines that start the background process.

    The process is separate and silent, and inherits none of git's variables.
    """
    python = shlex.quote(sys.executable.replace(os.sep, "/"))
    return (
        f"{BEGIN}\n"
        "(unset $(git rev-parse --local-env-vars 2>/dev/null)\n"
        f"if [ -x {python} ]; then {python} -P -m vademecum hooks run; else vade hooks run; fi) </dev/null >/dev/null 2>&1 &\n"
        f"{END}\n"
    ).encode("utf-8", "surrogateescape")


def _script(name: str) -> bytes:
    """Return our own hook, which ends by running the earlier hook."""
    kept = f'before="${{0%/*}}/{name}{KEPT}"\n'
    return b"#!/bin/sh\n" + _block() + f'{kept}[ ! -x "$before" ] || exec "$before" "$@"\n'.encode()


def _replace(path: Path, content: bytes, mode: int) -> None:
    """Write a file and rename it into place."""
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
    """Give a file a second name; a symbolic link stays a link."""
    try:
        os.link(path, kept, follow_symlinks=False)
    except (OSError, NotImplementedError):  # not every file system has hard links
        shutil.copy2(path, kept, follow_symlinks=False)
