"""Where the module lies that an import names: in this repository at a path, or elsewhere.

Each language says it its own way; `locate` knows the ways. What is not found here is external, and never guessed at.
"""

from __future__ import annotations

import json
import posixpath
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property, lru_cache
from typing import Any

from vademecum.code.graph.definitions import Definitions

SCRIPT_ENDINGS = (".ts", ".tsx", ".d.ts", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs", ".vue", ".json")
_SOURCE_ROOTS = ("", "src", "lib", "python", "source")
_C_STANDARD = frozenset(
    [
        "assert",
        "ctype",
        "errno",
        "fcntl",
        "float",
        "inttypes",
        "limits",
        "locale",
        "malloc",
        "math",
        "memory",
        "poll",
        "pthread",
        "sched",
        "semaphore",
        "setjmp",
        "signal",
        "stdarg",
        "stdatomic",
        "stdbool",
        "stddef",
        "stdint",
        "stdio",
        "stdlib",
        "string",
        "strings",
        "time",
        "unistd",
        "wchar",
        "windows",
    ]
)


class Modules:
    """Finds modules among the paths of a snapshot."""

    def __init__(self, definitions: Definitions) -> None:
        self._definitions = definitions
        self._paths = frozenset(definitions)
        self._found: dict[tuple[str, ...], str] = {}

    def locate(self, importer: str, module: str, language: str) -> str:
        """Return the path of a module's file; of a package without one its directory with a slash; "" for elsewhere."""
        find = _FINDERS.get(language)
        if find is None:
            return ""
        self._definitions.consulted |= _tokens(module)
        key = (language, importer if language == "rust" else importer.rpartition("/")[0], module)
        if key not in self._found:
            self._found[key] = find(self, importer, module)
        return self._found[key]

    @cached_property
    def folders(self) -> frozenset[str]:
        """Every directory that holds a file, at any depth."""
        found: set[str] = set()
        for path in self._paths:
            folder = posixpath.dirname(path)
            while folder and folder not in found:
                found.add(folder)
                folder = posixpath.dirname(folder)
        return frozenset(found | {""})

    @cached_property
    def by_last(self) -> Mapping[str, list[str]]:
        """Paths by their last part, sorted."""
        return _grouped((path.rpartition("/")[2], path) for path in self._paths)

    @cached_property
    def by_folder(self) -> Mapping[str, list[str]]:
        """Paths by the directory they are in, sorted."""
        return _grouped((posixpath.dirname(path), path) for path in self._paths)

    @cached_property
    def _folders_by_last(self) -> Mapping[str, list[str]]:
        return _grouped((folder.rpartition("/")[2], folder) for folder in self.folders)

    def _ending(self, tail: str) -> list[str]:
        """Return the paths that are, or end with a slash and, `tail`."""
        return [p for p in self.by_last.get(tail.rpartition("/")[2], ()) if p == tail or p.endswith("/" + tail)]

    # -- Python --------------------------------------------------------------------------------------------------

    def python(self, importer: str, module: str) -> str:
        """Find a Python module: beside the importer, or below a directory that packages are found in."""
        dots = len(module) - len(module.lstrip("."))
        rest = module.lstrip(".").replace(".", "/")
        if dots:
            folder = posixpath.dirname(importer)
            for _ in range(dots - 1):
                folder = posixpath.dirname(folder)
            return self._python_at(posixpath.join(folder, rest) if rest else folder)
        if rest.partition("/")[0] in sys.stdlib_module_names:
            return ""
        roots = {r for c in self._python_candidates(rest) if (r := c[: len(c) - len(rest)].rstrip("/")) is not None}
        usable = [root for root in roots if self._is_root(root, importer)]
        best = max(usable, key=lambda root: _nearness(root, importer), default=None)
        return "" if best is None else self._python_at(posixpath.join(best, rest) if best else rest)

    def _python_candidates(self, rest: str) -> list[str]:
        """Return every path without its ending that a module may be at."""
        last = rest.rpartition("/")[2]
        files = [path.rpartition(".")[0] for ending in (".py", ".pyi") for path in self._ending(rest + ending)]
        folders = [f for f in self._folders_by_last.get(last, ()) if f == rest or f.endswith("/" + rest)]
        return files + folders

    def _is_root(self, root: str, importer: str) -> bool:
        if f"{root}/__init__.py" in self._paths:
            return False
        return root in _SOURCE_ROOTS or importer.startswith(root + "/") or posixpath.basename(root) in _SOURCE_ROOTS

    def _python_at(self, place: str) -> str:
        for ending in (".py", "/__init__.py", ".pyi", "/__init__.pyi"):
            candidate = (place + ending).removeprefix("/")
            if candidate in self._paths:
                return candidate
        return f"{place}/" if place in self.folders else ""

    # -- JavaScript and TypeScript -------------------------------------------------------------------------------

    def script(self, importer: str, module: str) -> str:
        """Find a module of JavaScript or TypeScript: relative, by the paths of a tsconfig, or in a package of this repository."""
        module = module.partition("?")[0]
        if module.startswith("."):
            return self._script_at(posixpath.normpath(posixpath.join(posixpath.dirname(importer), module)))
        for place in self._aliased(importer, module):
            if found := self._script_at(place):
                return found
        return self._workspace(module)

    def _script_at(self, place: str) -> str:
        place = "" if place == "." else place
        stem, dot, ending = place.rpartition(".")
        if dot and ending in {"js", "jsx", "mjs", "cjs"}:  # TypeScript writes the name of what it will be compiled to
            for other in (f".{ending.replace('js', 'ts')}", ".ts", ".tsx", ".d.ts"):
                if stem + other in self._paths:
                    return stem + other
        if place in self._paths:
            return place
        index = f"{place}/index" if place else "index"
        for base in (place, index):
            for ending in SCRIPT_ENDINGS:
                if base + ending in self._paths:
                    return base + ending
        return ""

    def _aliased(self, importer: str, module: str) -> Iterable[str]:
        """Yield where the `paths` and the `baseUrl` of the nearest tsconfig.json put a module."""
        folder = posixpath.dirname(importer)
        while True:
            for name in ("tsconfig.json", "jsconfig.json"):
                path = posixpath.join(folder, name)
                if path in self._paths:
                    yield from self._by_options(path, module)
            if not folder:
                return
            folder = posixpath.dirname(folder)

    def _by_options(self, config: str, module: str) -> Iterable[str]:
        base, paths = self._options(config, 0)
        for pattern, targets in paths.items():
            before, star, after = pattern.partition("*")
            if module == pattern or (star and module.startswith(before) and module.endswith(after)):
                matched = module[len(before) : len(module) - len(after)] if star else ""
                for target in targets:
                    yield posixpath.normpath(posixpath.join(base, target.replace("*", matched)))
        if base:
            yield posixpath.normpath(posixpath.join(base, module))

    def _options(self, config: str, depth: int) -> tuple[str, dict[str, list[str]]]:
        """Return (directory that paths count from, "" for none; paths) of a tsconfig, and of those it extends."""
        read = self._json(config)
        options = read.get("compilerOptions") or {}
        folder = posixpath.dirname(config)
        base, paths = options.get("baseUrl"), options.get("paths")
        extended = read.get("extends")
        if isinstance(extended, str) and extended.startswith(".") and depth < 5 and (base is None or paths is None):
            parent = posixpath.normpath(posixpath.join(folder, extended))
            parent = parent if parent in self._paths else parent + ".json"
            if parent in self._paths:
                inherited, more = self._options(parent, depth + 1)
                return (posixpath.join(folder, base) if base is not None else inherited), paths or more
        where = posixpath.join(folder, base) if isinstance(base, str) else (folder or "." if paths else "")
        return where, paths if isinstance(paths, dict) else {}

    def _json(self, path: str) -> dict[str, Any]:
        text = self._definitions.content(path)
        try:
            read = json.loads(text)
        except ValueError:
            bare = re.sub(r'("(?:\\.|[^"\\])*")|//[^\n]*|/\*.*?\*/', lambda m: m[1] or "", text, flags=re.DOTALL)
            try:
                read = json.loads(re.sub(r",(\s*[}\]])", r"\1", bare))
            except ValueError:
                return {}
        return read if isinstance(read, dict) else {}

    @cached_property
    def _packages(self) -> dict[str, str]:
        """The directory of each package.json by the name it gives."""
        found = {}
        for path in reversed(self.by_last.get("package.json", [])):
            name = self._json(path).get("name")
            if isinstance(name, str):
                found[name] = posixpath.dirname(path)
        return found

    def _workspace(self, module: str) -> str:
        """Find a module in a package of this repository: where its package.json says, or where sources are kept."""
        parts = module.split("/")
        name = "/".join(parts[: 2 if module.startswith("@") else 1])
        if name not in self._packages:
            return ""
        folder, below = self._packages[name], "/".join(parts[2 if module.startswith("@") else 1 :])
        if below:
            places = [posixpath.join(folder, "src", below), posixpath.join(folder, below)]
        else:
            said = self._json(posixpath.join(folder, "package.json"))
            named = [said.get(key) for key in ("source", "types", "module", "main")]
            places = [posixpath.join(folder, p) for p in ("src/index", "index", "src/main", "lib/index")]
            places += [posixpath.normpath(posixpath.join(folder, p)) for p in named if isinstance(p, str)]
        return next((found for place in places if (found := self._script_at(place))), "")

    # -- Go ------------------------------------------------------------------------------------------------------

    @cached_property
    def _go_modules(self) -> list[tuple[str, str]]:
        """Each module's path with its directory, the longest path first."""
        found = []
        for path in self.by_last.get("go.mod", ()):
            named = re.search(r"^module\s+(\S+)", self._definitions.content(path), re.MULTILINE)
            if named:
                found.append((named[1].strip('"'), posixpath.dirname(path)))
        return sorted(found, key=lambda each: -len(each[0]))

    def go(self, importer: str, module: str) -> str:
        """Find a Go package by the module paths of go.mod files."""
        del importer
        for name, folder in self._go_modules:
            if module == name or module.startswith(name + "/"):
                place = posixpath.join(folder, module[len(name) + 1 :]).rstrip("/")
                return f"{place}/" if place in self.folders else ""
        return ""

    # -- Rust ----------------------------------------------------------------------------------------------------

    @cached_property
    def _crates(self) -> dict[str, str]:
        """The root file of each crate by the name it is used by."""
        import tomllib  # which only crates need

        found = {}
        for path in self.by_last.get("Cargo.toml", ()):
            folder = posixpath.dirname(path)
            try:
                said = tomllib.loads(self._definitions.content(path))
            except tomllib.TOMLDecodeError:
                continue
            named = (said.get("lib") or {}).get("name") or (said.get("package") or {}).get("name")
            root = (said.get("lib") or {}).get("path", "src/lib.rs")
            root = posixpath.normpath(posixpath.join(folder, root)) if isinstance(root, str) else ""
            if isinstance(named, str) and root in self._paths:
                found[named.replace("-", "_")] = root
        return found

    def crate_root(self, path: str) -> str:
        """Return the root file of the crate that a Rust file belongs to, "" for none."""
        folder = posixpath.dirname(path)
        while True:
            for name in ("lib.rs", "main.rs"):
                root = posixpath.join(folder, name)
                if root in self._paths and (posixpath.basename(folder) == "src" or root == path):
                    return root
            if not folder:
                return ""
            folder = posixpath.dirname(folder)

    def rust_child(self, path: str, name: str) -> str:
        """Return the file of a module declared in a file, "" for none."""
        folder, last = posixpath.split(path)
        stem = last.removesuffix(".rs")
        below = folder if stem in {"mod", "lib", "main"} else posixpath.join(folder, stem)
        for place in (posixpath.join(below, f"{name}.rs"), posixpath.join(below, name, "mod.rs")):
            if place in self._paths:
                return place
        return ""

    def _rust_parent(self, path: str) -> str:
        folder, last = posixpath.split(path)
        if last in {"mod.rs", "lib.rs", "main.rs"}:
            folder = posixpath.dirname(folder)
        for place in (f"{folder}.rs", f"{folder}/mod.rs", f"{folder}/lib.rs", f"{folder}/main.rs"):
            if place in self._paths and place != path:
                return place
        return ""

    def rust(self, importer: str, module: str) -> str:
        """Find a module of a Rust crate."""
        parts = [part for part in module.split("::") if part]
        if not parts:
            return importer
        first, here = parts[0], importer
        if first == "crate":
            here = self.crate_root(importer)
        elif first == "super":
            here = self._rust_parent(importer)
        elif first != "self":
            here = self.rust_child(importer, first) or self._crates.get(first, "")
        for part in parts[1:]:
            if here:
                here = self._rust_parent(here) if part == "super" else self.rust_child(here, part)
        return here

    # -- C and C++, Ruby, PHP files ------------------------------------------------------------------------------

    def include(self, importer: str, module: str) -> str:
        """Find a header: beside the includer, or the nearest whose path ends so."""
        beside = posixpath.normpath(posixpath.join(posixpath.dirname(importer), module))
        if beside in self._paths:
            return beside
        if "/" not in module and module.rpartition(".")[0] in _C_STANDARD:
            return ""
        return max(self._ending(posixpath.normpath(module)), key=lambda path: _nearness(path, importer), default="")

    def ruby(self, importer: str, module: str) -> str:
        """Find a Ruby file that is required."""
        name = module if module.endswith(".rb") else f"{module}.rb"
        if module.startswith("./"):
            place = posixpath.normpath(posixpath.join(posixpath.dirname(importer), name))
            return place if place in self._paths else ""
        found = [path for path in self._ending(name) if path == name or path.endswith(f"lib/{name}")]
        return max(found, key=lambda path: _nearness(path, importer), default="")

    def php(self, importer: str, module: str) -> str:
        """Find a PHP file that is included."""
        place = posixpath.normpath(posixpath.join(posixpath.dirname(importer), module.lstrip("/")))
        return place if place in self._paths else ""


def _nearness(path: str, importer: str) -> tuple[int, int, str]:
    """Return how near a path is to a file: parts in common, then shortness; the name settles what is left."""
    common = len(posixpath.commonprefix([path.split("/") if path else [], importer.split("/")]))
    return common, -path.count("/"), path


@lru_cache(1 << 14)
def _tokens(module: str) -> frozenset[str]:
    """Return what paths have to have in common with a module's name to matter for where it lies; see `build.parts_of`."""
    return frozenset(f"/{part}" for part in re.split(r"[./:]+", module) if part)


def _grouped(pairs: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for key, value in sorted(pairs):
        found.setdefault(key, []).append(value)
    return found


_FINDERS: dict[str, Callable[[Modules, str, str], str]] = {
    "python": Modules.python, "javascript": Modules.script, "typescript": Modules.script, "tsx": Modules.script,
    "go": Modules.go, "rust": Modules.rust, "c": Modules.include, "cpp": Modules.include, "ruby": Modules.ruby,
    "php": Modules.php,
}  # fmt: skip
