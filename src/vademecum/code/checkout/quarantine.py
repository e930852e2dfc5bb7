"""A stand-in git directory that hides a repository's settings from git.

A repository's settings can name programs that git runs: filters, monitors, pagers and many other helpers, more with
each release. So `GIT_COMMON_DIR` points git at a directory of our own. It links to the repository's objects and
references and holds settings that we wrote. A few harmless settings of the repository are copied: its format, how names
compare, which branch follows which. None of them can name a program.
"""

# Paths are strings here, as in `git`
from __future__ import annotations

import hashlib
import os
import re
import shutil
import sys
import tempfile
import time
import weakref
import zlib
from collections.abc import Iterator
from contextlib import suppress
from typing import Self

from vademecum.code.checkout.root import Root, read_small

_YES_OR_NO = r"(?i:true|false|yes|no|on|off|1|0)"
_WORDS = r'[^"\\\x00-\x1f]+'
_CARRIED = re.compile(
    r"extensions\.objectformat=(?:sha1|sha256)|extensions\.refstorage=(?:files|reftable)"
    rf"|core\.(?:ignorecase|precomposeunicode)={_YES_OR_NO}"
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
