"""The place of an imported module: a path here, or elsewhere.

`Modules` holds the paths of a snapshot and what is worked out from them once; the language of the importing file knows
the rules. A module that is not found is external, and never guessed at.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property, lru_cache
from typing import Any, Protocol, TypeVar

from vademecum.code.languages.language import Language
from vademecum.code.languages.scopes import Source

T = TypeVar("T")
MOST_INCLUDED, MOST_STEPS = 200, 8  # files that one file includes through others, and through how many


class Snapshot(Protocol):
    """The files of a snapshot, with a note of questions."""

    consulted: set[str]

    def __iter__(self) -> Iterator[str]:
        """Yield the paths."""

    def content(self, path: str) -> str:
        """Return a file's text."""

    def file(self, path: str) -> Source:
        """Return a file."""


class Modules:
    """Finds modules among the paths of a snapshot."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self.paths = frozenset(snapshot)
        self._found: dict[tuple[Language, str, str], str | None] = {}
        self._included: dict[str, tuple[frozenset[str], frozenset[str]]] = {}  # by path, with the parts consulted
        self._levels: tuple[str, list[frozenset[str]]] = ("", [])  # of the last file: what it includes in 1, 2, … steps
        self._worked_out: dict[Callable[[Modules], Any], Any] = {}

    def forget(self) -> None:
        """Let go of the places found."""
        self._found = {}
        self._included = {}
        self._levels = "", []

    def locate(self, importer: str, module: str, language: Language) -> str:
        """Return the path of a module, "" for elsewhere.

        A package without a file of its own is its folder with a slash.
        """
        key = (language, importer if language.locates_by_file else importer.rpartition("/")[0], module)
        if key not in self._found:
            self._found[key] = language.locate(self, importer, module)
        found = self._found[key]
        if found is None:
            return ""
        self._snapshot.consulted |= _tokens(module)
        return found

    def included(self, file: Source, language: Language) -> frozenset[str]:
        """Return the files that a file includes, kept."""
        known = self._included.get(file.path)
        if known is None:
            names = {module for _, module, _ in file.imports.get("", ())}
            found = frozenset(self.locate(file.path, name, language) for name in names)
            known = self._included[file.path] = found, frozenset[str]().union(*map(_tokens, names))
        self._snapshot.consulted |= known[1]
        return known[0]

    def nearest_included(self, file: Source, language: Language, wanted: frozenset[str]) -> frozenset[str]:
        """Return which of some files a file includes in the fewest steps."""
        return next((found for level in self.levels(file, language) if (found := level & wanted)), frozenset())

    def levels(self, file: Source, language: Language) -> Iterator[frozenset[str]]:
        """Yield the included files, by how many steps away they are."""
        if self._levels[0] != file.path:  # names are looked up file by file
            self._levels = file.path, [self.included(file, language) & self.paths]
        levels, met = self._levels[1], {file.path}
        for step in range(MOST_STEPS):
            if not levels[step]:
                return
            yield levels[step]
            met |= levels[step]
            self._snapshot.consulted |= levels[step]
            if step + 1 == len(levels):
                included = (self.included(self._snapshot.file(path), language) for path in levels[step])
                levels.append(
                    (frozenset[str]().union(*included) & self.paths) - met if len(met) < MOST_INCLUDED else frozenset()
                )

    def once(self, work_out: Callable[[Modules], T]) -> T:
        """Return the result of a function of these paths, kept."""
        if work_out not in self._worked_out:
            self._worked_out[work_out] = work_out(self)
        found: T = self._worked_out[work_out]
        return found

    def content(self, path: str) -> str:
        """Return a file's text."""
        return self._snapshot.content(path)

    @cached_property
    def folders(self) -> frozenset[str]:
        """Every directory that holds a file, at any depth."""
        found: set[str] = set()
        for path in self.paths:
            folder = posixpath.dirname(path)
            while folder and folder not in found:
                found.add(folder)
                folder = posixpath.dirname(folder)
        return frozenset(found | {""})

    @cached_property
    def by_last(self) -> Mapping[str, list[str]]:
        """Paths by their last part, sorted."""
        return _grouped((path.rpartition("/")[2], path) for path in self.paths)

    @cached_property
    def by_folder(self) -> Mapping[str, list[str]]:
        """Paths by the directory they are in, sorted."""
        return _grouped((posixpath.dirname(path), path) for path in self.paths)

    @cached_property
    def folders_by_last(self) -> Mapping[str, list[str]]:
        """Directories by their last part, sorted."""
        return _grouped((folder.rpartition("/")[2], folder) for folder in self.folders)

    def ending(self, tail: str) -> list[str]:
        """Return the paths that are, or end with a slash and, `tail`."""
        return [p for p in self.by_last.get(tail.rpartition("/")[2], ()) if p == tail or p.endswith("/" + tail)]

    def beside(self, importer: str, name: str) -> str:
        """Return the path of a file beside an importer, "" for none."""
        place = posixpath.normpath(posixpath.join(posixpath.dirname(importer), name))
        return place if place in self.paths else ""


def nearest(paths: Iterable[str], importer: str) -> str:
    """Return the path nearest to a file, "" for none."""
    return max(paths, key=lambda path: nearness(path, importer), default="")


def nearness(path: str, importer: str) -> tuple[int, int, str]:
    """Return how near a path is to a file.

    Parts in common count first, then shortness; the name settles the rest.
    """
    common = len(posixpath.commonprefix([path.split("/") if path else [], importer.split("/")]))
    return common, -path.count("/"), path


@lru_cache(1 << 14)
def _tokens(module: str) -> frozenset[str]:
    """Return the path parts that matter for a module's place.

    `build.parts_of` makes the same of a path that changes.
    """
    return frozenset(f"/{part}" for part in re.split(r"[./:]+", module) if part)


def _grouped(pairs: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for key, value in sorted(pairs):
        found.setdefault(key, []).append(value)
    return found
