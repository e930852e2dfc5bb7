"""The only module that runs git.

Nothing that a repository configures is ever run. Git is told where the repository is and never searches for one. It
reads settings that we wrote in place of the repository's (see `Quarantine`). It sees only commits; of the calls that get
the work tree some list file names, and one compares files with git's index. The latter reads none of the user's settings
either: they could name a program that the repository's attributes choose. Git is run by its full path with a list of
arguments. It uses the network only to clone and fetch, asks no questions and takes no locks.

A stand-in git directory hides a repository's settings. These can name programs that git runs: filters, monitors, pagers and many other helpers, more with
each release. So `GIT_COMMON_DIR` points git at a directory of our own. It links to the repository's objects and
references and holds settings that we wrote. A few harmless settings of the repository are copied: its format, how names
compare, which branch follows which. None of them can name a program.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import weakref
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Self

from vademecum.code.checkout.root import Root, no_files, read_small
from vademecum.errors import GitError
from vademecum.result import Err, Ok, Result, attempt

_YES_OR_NO = r"(?i:true|false|yes|no|on|off|1|0)"
_WORDS = r'[^"\\\x00-\x1f]+'
_CARRIED = re.compile(
    r"extensions\.objectformat=(?:sha1|sha256)|extensions\.refstorage=(?:files|reftable)"
    rf"|core\.(?:filemode|ignorecase|precomposeunicode)={_YES_OR_NO}"
    rf"|branch\.{_WORDS}\.(?:remote|merge)={_WORDS}|remote\.{_WORDS}\.fetch={_WORDS}"  # for `@{upstream}`
)
_SECTION = re.compile(r'\s*\[\s*([\w.-]+)\s*(?:"((?:\\.|[^"\\])*)")?\s*\]')
_SETTING = re.compile(r"\s*([A-Za-z][\w-]*)\s*(?:=\s*(.*?)\s*)?")
_COMMENT = re.compile(r"\s[#;].*")
_MOST_SETTINGS = 1 << 20  # bytes read of a settings file
_PREFIX = "vade-git-"
_LEFT_BEHIND_S = 86_400  # no process needs a stand-in for so long
_FOLDERS = ("refs", "reftable", "logs")
_FILES = ("packed-refs", "shallow")


class Quarantine:
    """A stand-in directory, deleted on close.

    Attributes:
        path: the directory.
        objects: the directory where git finds and writes objects.
        has_files: whether git is given a work tree.
        scratch: whether objects can be written, into the stand-in and never into the repository.
    """

    def __init__(self, root: Root, *, has_files: bool, scratch: bool = False) -> None:
        """Create the directory. Raises `OSError`."""
        assert root.common_dir is not None
        self.path = tempfile.mkdtemp(prefix=_PREFIX)
        self.has_files, self.scratch = has_files, scratch
        self._end = weakref.finalize(self, _remove, self.path)
        for names, is_there in ((_FOLDERS, os.path.isdir), (_FILES, os.path.isfile)):
            for name in names:
                if is_there(source := os.path.join(root.common_dir, name)):
                    _lead(os.path.join(self.path, name), source)
        self.objects = os.path.join(root.common_dir, "objects")
        if scratch:
            theirs, self.objects = self.objects, os.path.join(self.path, "objects")
            os.makedirs(os.path.join(self.objects, "info"))
            self._write("objects/info/alternates", f"{theirs}\n")
        carried = _carried(os.path.join(root.common_dir, "config"))
        bare = str(not has_files).lower()
        self._write("config", f"[core]\nrepositoryformatversion = 1\nbare = {bare}\n{''.join(carried)}")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Remove the directory."""
        self._end()

    def put(self, kind: str, content: bytes, digits: int) -> str:
        """Write a loose object into a scratch stand-in and return its id.

        The format is git's. The id has 40 or 64 digits, as `digits` says.
        """
        whole = b"%s %d\0" % (kind.encode(), len(content)) + content
        import hashlib  # loads OpenSSL

        named = hashlib.sha1(whole, usedforsecurity=False) if digits == 40 else hashlib.sha256(whole)
        name = named.hexdigest()
        folder = os.path.join(self.path, "objects", name[:2])
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, name[2:]), "wb") as file:
            file.write(zlib.compress(whole, 1))
        return name

    def _write(self, name: str, text: str) -> None:
        with open(os.path.join(self.path, name), "wb") as file:
            file.write(os.fsencode(text))


def remove_left_behind() -> None:
    """Remove stand-ins of processes that were killed a day ago."""
    since = time.time() - _LEFT_BEHIND_S
    with suppress(OSError), os.scandir(tempfile.gettempdir()) as listing:
        folders = [each for each in listing if each.name.startswith(_PREFIX) and each.is_dir(follow_symlinks=False)]
        for folder in folders:
            if folder.stat(follow_symlinks=False).st_mtime < since:
                shutil.rmtree(folder.path, ignore_errors=True)  # a link in it is removed, and never followed


def _lead(path: str, source: str) -> None:
    """Make a path lead to a file or folder of git's.

    On Windows only some users may make a symbolic link: a folder is linked by a junction there, and a file is copied.
    """
    try:
        os.symlink(source, path)
    except OSError:
        if os.path.isfile(source):
            shutil.copyfile(source, path)
        elif sys.platform == "win32":
            import _winapi

            _winapi.CreateJunction(source, path)
        else:
            raise


def _remove(path: str) -> None:
    """Remove a stand-in.

    It usually holds only links and one file, and removing these takes a tenth of the time of `rmtree`.
    """
    try:
        for name in os.listdir(path):
            os.unlink(os.path.join(path, name))
        os.rmdir(path)
    except OSError:
        shutil.rmtree(path, ignore_errors=True)


def _carried(path: str) -> Iterator[str]:
    """Yield the settings lines to copy from a repository."""
    for section, part, name, value in settings_in(read_small(path, _MOST_SETTINGS)):
        if _CARRIED.fullmatch(f"{section}.{part}.{name}={value}" if part else f"{section}.{name}={value}"):
            yield f'[{section} "{part}"]\n{name} = "{value}"\n' if part else f'[{section}]\n{name} = "{value}"\n'


def is_bare(root: Root) -> bool:
    """Return whether the repository's settings say it is bare."""
    if root.common_dir is None or root.git_dir != root.common_dir:
        return False
    text = read_small(os.path.join(root.common_dir, "config"), _MOST_SETTINGS)
    said = [value for section, _, name, value in settings_in(text) if (section, name) == ("core", "bare")]
    return bool(said) and said[-1].lower() in {"true", "yes", "on", "1", ""}


def settings_in(text: str) -> Iterator[tuple[str, str, str, str]]:
    r"""Yield the entries of a git config file.

    Each entry is section, subsection, name and value.

    >>> list(settings_in('[core]\n\tbare = true ; really\n[remote "origin"] fetch = "+a:b"\n'))
    [('core', '', 'bare', 'true'), ('remote', 'origin', 'fetch', '+a:b')]
    """
    section = part = ""
    for line in text.splitlines():
        rest = line
        while head := _SECTION.match(rest):
            section, part, rest = head[1].lower(), head[2] or "", rest[head.end() :]
        if found := _SETTING.fullmatch(_COMMENT.sub("", rest)):
            value = found[2] or ""
            yield section, part, found[1].lower(), value[1:-1] if value[:1] == value[-1:] == '"' else value


TIMEOUT_SECONDS = 120.0  # listing a very large repository from a cold disk takes tens of seconds
TRANSPORTS = ("https", "ssh", "git", "file")  # allowed for cloning; `ext` would run a command

_HARDENING = ("-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null")  # overrides the user's own settings
# The only GIT_ variables passed on: they select the user's settings. A git hook exports others, such as the
# repository that runs the hook.
_USERS_CHOICES = ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_NOSYSTEM", "GIT_CONFIG_SYSTEM")
# Variables passed on to clone and fetch: how to reach another machine.
_TO_REACH = ("GIT_ASKPASS", "GIT_CONFIG_", "GIT_HTTP_", "GIT_PROXY_", "GIT_SSH", "GIT_SSL_")
_NO_SETTINGS = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
_HEAD = re.compile(r"ref:.+|[0-9a-f]{40}(?:[0-9a-f]{24})?")
_MOST_OF_HEAD = 4096  # bytes: enough for any path
_BAD_REVISION = re.compile(r"^fatal: bad revision '(.+)'$", re.MULTILINE)


def available() -> bool:
    """Return whether git is installed."""
    return _program() is not None


def _program() -> str | None:
    """Return the path of git, or None.

    Relative entries of PATH do not count: they could name a file of the repository.
    """
    places = [place for place in os.get_exec_path() if os.path.isabs(place)]
    return shutil.which("git", path=os.pathsep.join(places)) if places else None


def _environment(kept: tuple[str, ...], own: Mapping[str, str]) -> dict[str, str]:
    inherited = {name: value for name, value in os.environ.items() if name.startswith(kept) or name[:4] != "GIT_"}
    return inherited | {
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_NO_LAZY_FETCH": "1",
        "LC_ALL": "C",  # errors are recognised in English
        **own,
    }


def quarantined(root: Root, *, has_files: bool = False, scratch: bool = False) -> Quarantine:
    """Return the stand-in for a repository's settings. Raises `GitError`."""
    if complaint := _unfit(root) or (no_files(root.path) if has_files and is_bare(root) else ""):
        raise GitError(complaint)
    try:
        return Quarantine(root, has_files=has_files, scratch=scratch)
    except OSError as cause:
        raise GitError(f"git needs temporary files: {cause.strerror}; make room, or set TMPDIR") from cause


def _unfit(root: Root) -> str:
    """Return the reason not to run git on a repository, or ""."""
    if root.git_dir is None:
        return f"{root.path} is not in a git repository: there are no revisions to name"
    if not _HEAD.match(read_small(os.path.join(root.git_dir, "HEAD"), _MOST_OF_HEAD)):
        return f"{root.git_dir}/HEAD names neither a branch nor a commit: write `ref: refs/heads/BRANCH` into it"
    index = os.path.join(root.git_dir, "index")
    if os.path.lexists(index) and not os.path.isfile(index):  # git would wait on a pipe for ever
        return f"{index} is no file: remove it, and run `git reset` to have it made again"
    return ""


def start(
    root: Root,
    apart: Quarantine,
    arguments: Sequence[str],
    *,
    stdin: int,
    stderr: int = subprocess.PIPE,
    users: bool = True,
) -> subprocess.Popen[bytes]:
    """Start git on a repository. Raises `GitError`.

    Without `users` it reads none of the user's settings.
    """
    where = [f"--git-dir={root.git_dir}"]
    if apart.has_files:
        where += [f"--work-tree={root.work_tree or root.path}", "-C", root.path]
    variables = {"GIT_COMMON_DIR": apart.path, "GIT_OBJECT_DIRECTORY": apart.objects, "GIT_ALLOW_PROTOCOL": "none"}
    if apart.scratch:
        variables["GIT_INDEX_FILE"] = os.path.join(apart.path, "index")
    environment = _environment(_USERS_CHOICES, variables if users else variables | _NO_SETTINGS)
    return _spawn([*where, *arguments], apart.path, environment, stdin=stdin, stderr=stderr)


def _spawn(
    arguments: Sequence[str], folder: str, environment: dict[str, str], *, stdin: int, stderr: int = subprocess.PIPE
) -> subprocess.Popen[bytes]:
    if (program := _program()) is None:
        raise GitError("git cannot be run: it is not installed, or not on PATH")
    command = [program, "--no-pager", *_HARDENING, *arguments]
    try:
        return subprocess.Popen(
            command, cwd=folder, stdin=stdin, stdout=subprocess.PIPE, stderr=stderr, env=environment
        )
    except OSError as cause:
        raise GitError(f"git cannot be run: {cause.strerror}") from cause


@attempt(GitError, GitError)
def run(root: Root, *arguments: str, tolerate: tuple[int, ...] = ()) -> bytes:
    """Return git's output; exit statuses in `tolerate` count as success."""
    with quarantined(root) as apart:
        return run_in(root, apart, arguments, tolerate=tolerate).unwrap()


def run_in(
    root: Root, apart: Quarantine, arguments: Sequence[str], feed: bytes | None = None, tolerate: tuple[int, ...] = ()
) -> Result[bytes, GitError]:
    """Run git in a quarantine, reading `feed`. Raises `GitError` without git."""
    stdin = subprocess.DEVNULL if feed is None else subprocess.PIPE
    return _finish(start(root, apart, arguments, stdin=stdin), root.path, arguments[0], tolerate, feed)


def begin_on_files(root: Root, *arguments: str, users: bool = True) -> Callable[[], Result[bytes, GitError]]:
    """Start git with the work tree; return a function that waits."""
    failed: Err[GitError]
    try:
        apart = quarantined(root, has_files=True)
        process = start(root, apart, arguments, stdin=subprocess.DEVNULL, users=users)
    except GitError as error:
        failed = Err(error)
        return lambda: failed

    def waited() -> Result[bytes, GitError]:
        with apart:
            return _finish(process, root.path, arguments[0])

    return waited


@attempt(GitError, GitError)
def transfer(folder: str, *arguments: str) -> bytes:
    """Run git to clone or fetch, in a directory of our own.

    No other function uses the network.
    """
    environment = _environment(_TO_REACH, {"GIT_ALLOW_PROTOCOL": ":".join(TRANSPORTS)})
    process = _spawn(arguments, folder, environment, stdin=subprocess.DEVNULL)
    return _finish(process, folder, next(word for word in arguments if word[0] != "-")).unwrap()


def _finish(
    process: subprocess.Popen[bytes], path: str, verb: str, tolerate: tuple[int, ...] = (), feed: bytes | None = None
) -> Result[bytes, GitError]:
    with process:
        try:
            printed, complaint = process.communicate(feed, timeout=TIMEOUT_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            return Err(GitError(f"git {verb} did not finish within {TIMEOUT_SECONDS:.0f} s in {path}"))
        except BaseException:  # an interrupt: nobody reads git's output any more
            process.kill()
            raise
    if process.returncode == 0 or process.returncode in tolerate:
        return Ok(printed)
    return Err(GitError(_explain(path, verb, complaint.decode(errors="replace"))))


def unknown_revision(path: str, revision: str) -> str:
    """Return the error message for an unknown revision."""
    return f"{path} has no revision {revision!r}: name a branch, a tag or a commit"


def _explain(path: str, verb: str, complaint: str) -> str:
    """Return an error message with a fix, made from git's output."""
    if unknown := _BAD_REVISION.search(complaint):
        return unknown_revision(path, unknown[1])
    return f"git {verb} failed in {path}: {complaint.strip() or 'no reason given'}"
