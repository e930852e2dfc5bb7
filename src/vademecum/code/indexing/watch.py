"""Index updates while files change and after git's commands.

Searches do not need it. With an enricher, a separate process requests sentences for new chunks: a request may take
seconds, and a save should be indexed at once.

Git hooks index in the background after a commit, a merge, a checkout or a rewrite. They never delay git and never change
its result: each only starts a separate process. Other people's hooks stay and run as before. A shell script gets a marked
block after its first line. Any other hook is kept beside ours, which runs it with its arguments, input and exit status.
Uninstalling restores every hook to the last byte. Every change of a hook is one rename, so at any moment either the old
hook or the new one exists.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import stat
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

from vademecum.code.checkout.plumbing import run
from vademecum.code.checkout.root import Root
from vademecum.code.indexing.index import index
from vademecum.code.snapshot.repository import Repository
from vademecum.errors import Error, MissingExtraError, SourceError, StoreBusyError, UsageError
from vademecum.private import WAIT_SECONDS, exclusive
from vademecum.protocols import silent
from vademecum.types import EnrichReport, IndexReport, Skipped

DEBOUNCE_MS = 200  # an editor's save is several events; a branch switch is thousands
LOOK_MS = 1_000  # interval between checks of the enricher's process
Report = Callable[[IndexReport | EnrichReport], None]


def watch(repos: Sequence[Repository], on_report: Report, stop: threading.Event) -> None:
    """Index each repository now and after every change, until `stop`.

    An indexing error while watching (a full disk, or git in the middle of an operation) is reported as a failure, and
    indexing is tried again at the next change.

    Raises:
        MissingExtraError: the package that watches files is not installed.
        Error: the first indexing run failed.
    """
    try:
        from watchfiles import watch as changes
    except ImportError as error:
        raise MissingExtraError("watching needs watchfiles: pip install 'vademecum[watch]'") from error
    for repo in repos:
        on_report(index(repo, silent, references=True))
    by_root = {repo.root.path: repo for repo in repos}
    paths = list(by_root)
    beside = Beside(repos, on_report)
    beside.wake()
    try:
        for changed in changes(
            *paths, stop_event=stop, debounce=DEBOUNCE_MS, step=50, raise_interrupt=True,
            rust_timeout=LOOK_MS, yield_on_timeout=True,
        ):  # fmt: skip
            touched = {root for root in paths for _, path in changed if path.startswith(root.rstrip(os.sep) + os.sep)}
            for root in sorted(touched):
                _take_in(by_root[root], on_report, beside)
            beside.look()
    finally:
        beside.close()


def _take_in(repo: Repository, on_report: Report, beside: Beside) -> None:
    try:
        report = index(repo, silent, wait_s=0.0, references=True)
    except StoreBusyError:
        return  # the holder of the lock indexes the change
    except Error as error:
        failure = Skipped(repo.root.path, "not indexed", " ".join(str(error).split()))
        on_report(IndexReport(repo.name, "", 0, 0, 0, 0, 0, failures=(failure,)))
        return
    if report.removed or report.unchanged < report.files:
        on_report(report)
        beside.wake()


class Beside:
    """The one process that runs the enricher, started again after changes."""

    def __init__(self, repos: Sequence[Repository], on_report: Report) -> None:
        self._repos = [repo for repo in repos if repo.enricher]
        self._on_report = on_report
        self._process: subprocess.Popen[bytes] | None = None
        self._due = False

    def wake(self) -> None:
        """Note that new chunks may need sentences."""
        self._due = bool(self._repos)
        self.look()

    def look(self) -> None:
        """Report a finished process, and start the next one if due."""
        if self._process is not None and self._process.poll() is not None:
            assert self._process.stdout is not None
            self._tell(self._process.stdout.read())
            self._process.stdout.close()
            self._process = None
        if self._process is None and self._due:
            self._due = False
            self._process = self._started()

    def close(self) -> None:
        """End the process; its answers so far are stored."""
        if self._process is not None:
            self._process.terminate()
            self._process.communicate()

    def _started(self) -> subprocess.Popen[bytes]:
        first = self._repos[0]
        own = {"VADE_ENRICH__PROVIDER": first.enricher, "VADE_HOME": str(first.catalogue.directory.parent.parent)}
        vade = [sys.executable, "-P", "-m", "vademecum"]
        command = [*vade, "enrich", "--json", *(repo.root.path for repo in self._repos)]
        return subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=os.environ | own
        )

    def _tell(self, said: bytes) -> None:
        try:
            records = json.loads(said or b"[]")
        except ValueError:
            return
        for record in records:
            report = EnrichReport(**record)
            if report.made or report.failed:
                self._on_report(report)


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
