"""Long answers, kept in a file and shown page by page.

    kept = Pages(home / "answers", 20_000)
    first = kept.shown(content)          the first page of each long text, with the file and the way to the next page

The files are for the user alone, and go with the gateway.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
import tempfile
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from vademecum.errors import UsageError

PAGE_TOOL = "gateway/page"  # the id by which an agent asks for the next page


class Pages:
    """Long answers of one gateway, in pages of `page` characters.

    They are kept in a folder of their own, made in `home`.
    """

    def __init__(self, home: Path, page: int) -> None:
        self._home = home
        self._page = page
        self._folder: Path | None = None
        self._lock = threading.Lock()

    def shown(self, content: Sequence[Any]) -> list[Any] | None:
        """Return content with long texts cut to a page, None without any."""
        if not any(len(_text(part)) > self._page for part in content):
            return None
        return [
            {**part, "text": self._first(_text(part))} if len(_text(part)) > self._page else part for part in content
        ]

    def read(self, arguments: Mapping[str, Any]) -> str:
        """Return a page of a kept answer. Raises `UsageError` without one."""
        name, number = arguments.get("answer"), arguments.get("page", 1)
        path = self._folder / f"{name}.txt" if self._folder and isinstance(name, str) and name.isalnum() else None
        if path is None or not path.is_file():
            raise UsageError(f"{PAGE_TOOL}: no answer {name!r} is kept: answers end with the gateway")
        return self._paged(path.read_text(encoding="utf-8"), str(name), path, number)

    def close(self) -> None:
        """Delete the kept answers."""
        with self._lock:
            folder, self._folder = self._folder, None
        if folder:
            shutil.rmtree(folder, ignore_errors=True)

    def _first(self, text: str) -> str:
        with self._lock:
            if self._folder is None:
                self._home.mkdir(parents=True, exist_ok=True)
                self._folder = Path(tempfile.mkdtemp(prefix="answers-", dir=self._home))  # for the user alone
        name = secrets.token_hex(4)
        path = self._folder / f"{name}.txt"
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
            file.write(text.encode("utf-8", "replace").decode("utf-8"))
        return self._paged(text, name, path, 1)

    def _paged(self, text: str, name: str, path: Path, number: Any) -> str:
        pages = self._cut(text)
        last = len(pages)
        if not isinstance(number, int) or not 1 <= number <= last:
            raise UsageError(f"{PAGE_TOOL}: {name} has pages 1 to {last}, not {number!r}")
        said = f"[page {number} of {last}; the whole answer is in {path}"
        if number < last:
            asked = {"tool": PAGE_TOOL, "arguments": {"answer": name, "page": number + 1}}
            said += f"; the next page: call_reading_tool with {json.dumps(asked)}"
        return f"{pages[number - 1].removesuffix(chr(10))}\n{said}]"

    def _cut(self, text: str) -> list[str]:
        """Return the pages; each ends with a line, where one ends near."""
        found, begin = list[str](), 0
        while begin < len(text):
            line = text.rfind("\n", begin + self._page // 2, begin + self._page)
            end = line + 1 if line >= 0 and begin + self._page < len(text) else begin + self._page
            found.append(text[begin:end])
            begin = end
        return found


def _text(part: Any) -> str:
    found = part.get("text") if isinstance(part, Mapping) else None
    return found if isinstance(found, str) else ""
