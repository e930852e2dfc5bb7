"""Where rustc says that calls lead, in crates without dependencies.

    python rust_sites.py ROOT CRATE=src/lib.rs [OPTION ...] > found.json        options of rustc, `--edition 2021` among them

Prints the items that go/main.go describes, from the typed trees (THIR) of a stable compiler. Calls that a macro's
definition writes are left out, constructors of tuples, and calls that are not written by name, as of `deref` and `eq`.
A call of a trait's method may lead to each implementation.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

BODY = re.compile(r"^DefId\((\d+:\d+ ~ .+)\):$")
SPAN = re.compile(r"span: ([\w./-]+?):(\d+):(\d+): (\d+):(\d+) \(#0\)")
MEANT = re.compile(r"ty: FnDef\(DefId\((\d+):\d+ ~ ([^()]*?)\)(?:, \[(.*)\])?\)")
IMPL = re.compile(r"^\s*(?:unsafe\s+)?impl\b(.*)")
Place = tuple[str, int]


class Function(NamedTuple):
    """A function with a body: its path in the crate, the trait that it implements and the type it does so for."""

    place: Place
    path: str
    trait: str
    of: str


class Sources:
    """The lines of a repository's files."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._lines: dict[str, list[str]] = {}

    def lines(self, path: str) -> list[str]:
        """Return a file's lines."""
        if path not in self._lines:
            self._lines[path] = (self._root / path).read_text(errors="replace").split("\n")
        return self._lines[path]

    def above(self, path: str, line: int, wanted: re.Pattern[str]) -> tuple[int, str]:
        """Return the nearest line above, or at, that has a pattern; 0 and "" for none."""
        for number in range(min(line, len(self.lines(path))), 0, -1):
            if wanted.search(self.lines(path)[number - 1]):
                return number, self.lines(path)[number - 1]
        return 0, ""

    def required(self, trait: str, name: str) -> list[Place]:
        """Return a method that a trait declares."""
        for path, lines in self._lines.items():
            begun = next((at for at, line in enumerate(lines) if re.search(rf"\btrait\s+{trait}\b", line)), None)
            for at in range(begun, len(lines)) if begun is not None else ():
                if re.search(rf"\bfn\s+{name}\b", lines[at]):
                    return [(path, at + 1)]
        return []


def implemented(head: str) -> str:
    """Return the head of an `impl` without its own type parameters."""
    depth, head = 0, head.lstrip()
    for place, letter in enumerate(head):
        depth += (letter == "<") - (letter == ">" and head[place - 1] != "-")
        if not depth:
            return head[place + 1 :].lstrip() if letter == ">" else head
    return head


def bodies(tree: list[str], sources: Sources) -> dict[str, list[Function]]:
    """Return by name the functions that have a body."""
    found: dict[str, list[Function]] = defaultdict(list)
    for number, line in enumerate(tree):
        body = BODY.match(line)
        name = body[1].rpartition("::")[2] if body else ""
        span = next((s for later in tree[number : number + 60] if (s := SPAN.search(later))), None)
        if not body or not re.fullmatch(r"\w+", name) or span is None:
            continue
        at, _ = sources.above(span[1], int(span[2]), re.compile(rf"\bfn\s+{name}\b"))
        path = body[1].partition(" ~ ")[2]
        _, head = sources.above(span[1], at, IMPL) if "{impl#" in path.split("::")[-2] else (0, "")
        trait, _, of = implemented((IMPL.match(head) or [head, ""])[1]).partition(" for ")
        if at:
            found[name].append(
                Function((span[1], at), path, re.sub(r"<.*", "", trait).split("::")[-1].strip() if of else "", of)
            )
    return found


def calls(tree: list[str]) -> Iterator[tuple[str, str, str, re.Match[str], int]]:
    """Yield crate number, path and type arguments of each callee, the place of its name, and the line a call begins on."""
    for number, line in enumerate(tree):
        if line.endswith("Call {") and (meant := MEANT.search(tree[number + 1])):
            fun = next((at for at in range(number + 2, number + 12) if tree[at].strip() == "fun:"), 0)
            span = next((s for later in tree[fun : fun + 6] if (s := SPAN.search(later))), None) if fun else None
            if span is not None and "{constructor#" not in meant[2]:
                whole = SPAN.search(tree[number - 2]) or span
                yield meant[1], meant[2], meant[3] or "", span, int(whole[2])


def head(written: str) -> str:
    """Return the name of a type without its path and arguments, "" for one without a name."""
    named = re.match(r"(?:&|\*(?:const|mut)\b|mut\b|dyn\b|'[\w?{}]+|\s)*([\w:]+)", written)
    return named[1].rpartition("::")[2] if named else ""


def leads(crate: str, path: str, arguments: str, known: dict[str, list[Function]], sources: Sources) -> list[Place]:
    """Return the functions of the crate that a callee may be."""
    around, _, name = path.rpartition("::")
    holder = around.rpartition("::")[2]
    if crate == "0" and (exact := [each.place for each in known.get(name, ()) if each.path == path]):
        return exact + [each.place for each in known[name] if each.trait == holder]
    itself = head(arguments)
    own = [each for each in known.get(name, ()) if each.trait == holder]
    of_type = [each for each in own if head(each.of) == itself] if itself else []
    if crate != "0":
        return [each.place for each in of_type]
    return [*(each.place for each in of_type or own), *sources.required(holder, name)]


def main() -> None:
    """Print all sites."""
    root, given = Path(sys.argv[1]).resolve(), sys.argv[2:]
    crates = [each for each in given if "=" in each and each.endswith(".rs")]
    options = [each for each in given if each not in crates]
    sources, found = Sources(root), {}
    for each in crates:
        name, _, path = each.partition("=")
        command = ["rustc", "--crate-type", "lib", "--crate-name", name, path, "-Zunpretty=thir-tree", *options]
        done = subprocess.run(
            command, cwd=root, env=os.environ | {"RUSTC_BOOTSTRAP": "1"}, capture_output=True, text=True, check=True
        )
        tree = done.stdout.split("\n")
        known = bodies(tree, sources)
        for crate, callee, arguments, span, begun in calls(tree):
            file, line, column = span[1], int(span[4]), int(span[5])
            written = re.search(r"(\w+)\W*$", sources.lines(file)[line - 1][: column - 1])
            places = leads(crate, callee, arguments, known, sources)
            site = (file, begun, line, callee.rpartition("::")[2])
            if written is not None and written[1] == site[3]:
                found.setdefault(site, set()).update(places)
    listed: list[list[Any]] = [
        [*site, sorted((*place, "Func") for place in places)] for site, places in sorted(found.items())
    ]
    json.dump(listed, sys.stdout)


if __name__ == "__main__":
    main()
