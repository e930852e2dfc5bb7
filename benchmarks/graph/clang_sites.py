"""Where clang says that calls lead, in C or C++.

    python clang_sites.py ROOT [OPTION ...] > found.json

Prints the items that go/main.go describes. A function's declarations, its definition and its overloads are all true
targets, since they are one name to whoever reads.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from clang.cindex import Cursor, CursorKind, Index, TranslationUnit, conf

KEEP_GOING = 0x200  # after a header that is not found
C, CPP = {".c"}, {".cc", ".cpp", ".cxx"}
SPACES = {CursorKind.NAMESPACE, CursorKind.LINKAGE_SPEC, CursorKind.UNEXPOSED_DECL}  # walked in every unit
CALLED = {
    CursorKind.FUNCTION_DECL, CursorKind.CXX_METHOD, CursorKind.FUNCTION_TEMPLATE, CursorKind.CONVERSION_FUNCTION,
    CursorKind.CONSTRUCTOR, CursorKind.DESTRUCTOR,
}  # fmt: skip


def units(root: Path, options: list[str]) -> Iterator[TranslationUnit]:
    """Parse every source file, with every folder that holds a header in its path."""
    folders = sorted({str(path.parent) for path in root.rglob("*.h*") if ".git" not in path.parts})
    found = {str(Path(folder).parent) for folder in folders} | set(folders)
    system = {suffix: headers_of("c++" if suffix in CPP else "c") for suffix in C | CPP}
    index = Index.create()
    for path in sorted(root.rglob("*")):
        if path.suffix in C | CPP and ".git" not in path.parts:
            standard = "-std=c++17" if path.suffix in CPP else "-std=gnu11"
            yield index.parse(
                str(path),
                [standard, *(f"-I{folder}" for folder in sorted(found)), *system[path.suffix], *options],
                options=KEEP_GOING,
            )


def headers_of(language: str) -> list[str]:
    """Return options with the folders in which the machine's own compiler finds headers."""
    command = ["cc", "-x", language, "-E", "-v", "-"]
    told = subprocess.run(command, input="", capture_output=True, text=True, check=True).stderr
    listed = (
        told.partition("search starts here:\n#include <")[2]
        .partition("search starts here:\n")[2]
        .partition("End of search")[0]
    )
    return [f"-isystem{folder.strip()}" for folder in listed.splitlines() if folder.strip()]


def walk(unit: Cursor, root: str, seen: set[tuple[str, int, int, str]]) -> Iterator[Cursor]:
    """Yield every cursor of a unit in files below the root, but for parts of headers that were walked in another."""
    queue = [unit]
    while queue:
        cursor = queue.pop()
        if cursor.kind is CursorKind.TRANSLATION_UNIT or cursor.kind in SPACES:
            for part in cursor.get_children():
                place, extent = placed(root, part), part.extent
                known = (place[0] if place else "", extent.start.offset, extent.end.offset, part.get_usr())
                if place and (part.kind in SPACES or known not in seen):
                    seen.add(known)
                    queue.append(part)
        else:
            yield cursor
            queue.extend(cursor.get_children())


def placed(root: str, cursor: Cursor) -> tuple[str, int] | None:
    """Return path and line of a cursor below the root."""
    file = cursor.location.file
    name = real(file.name) if file else ""
    return (name.removeprefix(root), cursor.location.line) if name.startswith(root) else None


@cache
def real(name: str) -> str:
    """Return the path of a file without links."""
    return str(Path(name).resolve())


@cache
def content(path: Path) -> bytes:
    """Return a file's bytes."""
    return path.read_bytes()


def written(path: Path, call: Cursor, name: str) -> int:
    """Return the line on which a call writes a name, 0 for none."""
    start, end = call.extent.start, call.extent.end
    found = re.search(rb"\b%s\b" % re.escape(name.encode()), content(path)[start.offset : end.offset])
    return start.line + content(path)[start.offset : start.offset + found.start()].count(b"\n") if found else 0


def symbol(function: Cursor) -> str:
    """Return what all overloads of a function share."""
    own = function
    while (template := conf.lib.clang_getSpecializedCursorTemplate(own)) is not None and template.kind in CALLED:
        own = template  # a template in an instance of a class template is one of that template
    return f"{own.semantic_parent.get_usr() if own.semantic_parent else ''} {own.spelling.partition('<')[0]}"


def main() -> None:
    """Print all sites."""
    root = Path(sys.argv[1]).resolve()
    prefix = f"{root}/"
    declared: dict[str, set[tuple[str, int]]] = defaultdict(set)  # by the symbol that all its declarations share
    sites: dict[tuple[str, int, int, str], set[str] | None] = {}
    own: set[str] = set()  # what is declared below the root, or called there without a declaration
    seen: set[tuple[str, int, int, str]] = set()
    for unit in units(root, sys.argv[2:]):
        for cursor in walk(unit.cursor, prefix, seen):
            if cursor.kind in CALLED and (place := placed(prefix, cursor)):
                declared[symbol(cursor)].add(place)
            elif cursor.kind is CursorKind.CALL_EXPR and cursor.spelling and (at := placed(prefix, cursor)):
                name = cursor.spelling
                line = written(root / at[0], cursor, name)
                if not line:  # a macro, an operator, a conversion that is not written
                    continue
                site = (at[0], cursor.extent.start.line, line, name)
                meant = cursor.referenced
                if meant is None or meant.kind not in CALLED:
                    sites[site] = None
                elif sites.get(site, set()) is not None:
                    sites.setdefault(site, set()).add(symbol(meant))  # type: ignore[union-attr]
                    own |= {symbol(meant)} if placed(prefix, meant) else set()
                    if meant.kind is CursorKind.CONSTRUCTOR and (around := placed(prefix, meant.semantic_parent)):
                        declared[symbol(meant)].add(around)  # nobody wrote it
    json.dump(list(_items(sites, declared, own)), sys.stdout)


def _items(
    sites: dict[tuple[str, int, int, str], set[str] | None], declared: dict[str, set[tuple[str, int]]], own: set[str]
) -> Iterator[list[Any]]:
    """Yield each site with its true targets, None where a function was called without a declaration."""
    for (path, start, line, name), symbols in sorted(sites.items()):
        is_assumed = symbols is None or any(each in own and not declared[each] for each in symbols)
        places = sorted({(*place, "Func") for each in symbols or () for place in declared[each]})
        yield [path, start, line, name, None if is_assumed else places]


if __name__ == "__main__":
    main()
