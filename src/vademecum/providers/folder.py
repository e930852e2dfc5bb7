"""A folder of documents on this machine: Markdown and similar files.

Every run reads the whole folder, because file times mean little after a copy or checkout. Links are not followed, and
nothing outside the folder is read: each directory is opened from its parent.
"""

from __future__ import annotations

import os
from bisect import bisect_right
from pathlib import Path

from vademecum.beneath import open_beneath
from vademecum.errors import ConfigError, SyncError
from vademecum.items import Item, Page
from vademecum.providers.markup import SUFFIXES, UnreadableError, markdown_from, most_bytes
from vademecum.providers.web import outcome

AT_ONCE = 200  # files of one page


class Folder:
    """The documents below a folder. Raises `ConfigError` without the folder."""

    remote = False

    def __init__(self, path: str, name: str = "folder") -> None:
        self.name = name
        self._top = os.path.abspath(os.path.expanduser(path))
        self._listed: list[str] = []  # of the current run
        if not path or not os.path.isdir(self._top):
            raise ConfigError(
                f"sources.{name}.path is {path!r}, which is no directory: name the folder of the documents"
            )

    @outcome
    def page(self, since: float, cursor: str) -> Page:  # noqa: ARG002 - every run reads everything, see above
        """Return the documents after `cursor`, by path."""
        if not cursor or not self._listed:
            self._listed = self._paths()
        paths = self._listed
        if not paths and not os.path.isdir(self._top):
            raise SyncError(f"{self._top} cannot be read any more: check sources.{self.name}.path; nothing was dropped")
        first = bisect_right(paths, cursor)
        some = paths[first : first + AT_ONCE]
        items = tuple(item for path in some if (item := self._item(path)) is not None)
        last = first + AT_ONCE >= len(paths)
        return Page(items, cursor="" if last else some[-1], whole=last)

    def _paths(self) -> list[str]:
        found: list[str] = []
        for folder, folders, files in os.walk(self._top):
            folders[:] = [each for each in folders if not each.startswith(".")]
            below = os.path.relpath(folder, self._top)
            prefix = "" if below == "." else f"{below.replace(os.sep, '/')}/"
            found += [
                f"{prefix}{each}" for each in files if each.lower().endswith(SUFFIXES) and not each.startswith(".")
            ]
        return sorted(path for path in found if path.isprintable())

    def _item(self, path: str) -> Item | None:
        """Return one document, or None if it cannot be read."""
        try:
            content, changed = _read(self._top, path)
            text = markdown_from(path, content)
        except (OSError, ValueError, UnreadableError):
            return None
        title = next((line.lstrip("# ").strip() for line in text.splitlines() if line.startswith("# ")), "")
        body = text.partition("\n")[2] if title and text.startswith("# ") else text
        return Item(path, path, title or path, body, "document", "", Path(self._top, path).as_uri(), changed, path)


def _read(top: str, path: str) -> tuple[bytes, float]:
    """Return a file's content and modification time, following no link. Raises `OSError`."""
    with os.fdopen(open_beneath(top, path), "rb") as opened:
        return opened.read(most_bytes(path) + 1), os.fstat(opened.fileno()).st_mtime
