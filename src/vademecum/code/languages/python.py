"""Python: modules below source roots, class bodies that run."""

from __future__ import annotations

import posixpath
import re
import sys
from collections.abc import Iterator
from functools import cached_property

from vademecum.code.languages import canonical
from vademecum.code.languages.imports import HASHED, Bound, named_in, without_comments
from vademecum.code.languages.language import SELVES, Language
from vademecum.code.languages.lexing import BLOCK, DOUBLE, ODD_LINES, SINGLE, TEXT, UNSURE, Span, UnsureError
from vademecum.code.languages.modules import Modules, nearness

_SOURCE_ROOTS = ("", "src", "lib", "python", "source")
_PREFIX = rb"(?<!\w)[rbuftRBUFT]{1,2}$"

# Methods of the standard library's containers and wrappers.
_SAME = """
    copy values
"""
_ONE = """
    pop get popleft setdefault popitem
"""


_KERNEL = re.compile(rb"\s*#!(\S+)")


class _Python(Language):
    def refined(self, name: str, head: bytes) -> str:
        """Return the language of a notebook's cells."""
        if not head or not name.endswith(".ipynb"):
            return self.id
        kernel = _KERNEL.match(head)
        return canonical(kernel[1].decode()) or "text" if kernel else "json"

    def calls_itself(self, name: str) -> bool:
        """Return whether a name is special, a test's or a hook's."""
        is_special = name.startswith("__") and name.endswith("__")
        return is_special or name.startswith(("test_", "pytest_")) or super().calls_itself(name)

    @cached_property
    def common_names(self) -> frozenset[str]:
        """The methods of built-in and widely used types."""
        import io
        import pathlib
        import threading
        from collections import OrderedDict, defaultdict, deque

        kinds = (
            str, bytes, list, dict, set, tuple, int, float, object, BaseException, io.StringIO, io.BytesIO, pathlib.Path,
            re.Pattern, re.Match, threading.Thread, threading.Event, OrderedDict, defaultdict, deque,
        )  # fmt: skip
        return frozenset(name for kind in kinds for name in dir(kind))

    def imported(self, statement: str) -> Iterator[Bound]:
        r"""Read an import statement.

        >>> list(LANGUAGE.imported("from .a import (b as c,\n  d)")), list(LANGUAGE.imported("import os.path"))
        ([('c', '.a', 'b'), ('d', '.a', 'd')], [('os', 'os', ''), ('', 'os.path', '')])
        """
        text = " ".join(without_comments(statement, HASHED).replace("\\\n", " ").split())
        if text.startswith("import "):
            for part in text[7:].split(","):
                yield from _whole(part.strip())
            return
        module, _, names = text.removeprefix("from ").partition(" import ")
        for name, local in named_in(names.strip("() ")):
            yield ("*" if name == "*" else local), module.replace(" ", ""), name

    def locate(self, modules: Modules, importer: str, module: str) -> str:
        """Find a module: beside the importer, or below a source root."""
        dots = len(module) - len(module.lstrip("."))
        rest = module.lstrip(".").replace(".", "/")
        if dots:
            folder = posixpath.dirname(importer)
            for _ in range(dots - 1):
                folder = posixpath.dirname(folder)
            return _at(modules, posixpath.join(folder, rest) if rest else folder)
        if rest.partition("/")[0] in sys.stdlib_module_names:
            return ""
        roots = {place[: len(place) - len(rest)].rstrip("/") for place in _places(modules, rest)}
        usable = [root for root in roots if _is_root(modules, root, importer)]
        best = max(usable, key=lambda root: nearness(root, importer), default=None)
        return "" if best is None else _at(modules, posixpath.join(best, rest) if best else rest)

    def submodule(self, modules: Modules, where: str, name: str) -> str:
        """Find a module in a package."""
        if not where.endswith(("/", "/__init__.py", "/__init__.pyi")):
            return ""
        return modules.locate(where.rstrip("/") + "/x" if where.endswith("/") else where, f".{name}", self)

    def lexed(self, content: bytes) -> Iterator[Span]:
        """Yield comments and strings. Source: The Python Language Reference, chapter 2."""
        if re.search(ODD_LINES, content):
            raise UnsureError
        for start, end, kind in super().lexed(content) or ():
            prefix = re.compile(_PREFIX).search(content, max(0, start - 3), start) if kind == TEXT else None
            before = prefix[0].lower() if prefix else b""
            is_formatted = b"f" in before or b"t" in before
            if is_formatted and content.count(b"{", start, end) != content.count(b"}", start, end):
                raise UnsureError  # a string may be within
            yield start - len(before), end, UNSURE if is_formatted else kind


def _whole(part: str) -> Iterator[Bound]:
    """Read one module of `import a, b.c as d`."""
    module, _, local = part.partition(" as ")
    if local:
        yield local.strip(), module.strip(), ""
        return
    top = module.partition(".")[0]
    yield top, top, ""
    if top != module:
        yield "", module, ""


def _places(modules: Modules, rest: str) -> list[str]:
    """Return every path without its ending that a module may be at."""
    last = rest.rpartition("/")[2]
    files = [path.rpartition(".")[0] for ending in (".py", ".pyi") for path in modules.ending(rest + ending)]
    folders = [f for f in modules.folders_by_last.get(last, ()) if f == rest or f.endswith("/" + rest)]
    return files + folders


def _is_root(modules: Modules, root: str, importer: str) -> bool:
    """Return whether a file may find packages in a folder."""
    if f"{root}/__init__.py" in modules.paths:
        return False
    return root in _SOURCE_ROOTS or importer.startswith(root + "/") or posixpath.basename(root) in _SOURCE_ROOTS


def _at(modules: Modules, place: str) -> str:
    """Return the file of a module at a path, or its folder."""
    for ending in (".py", "/__init__.py", ".pyi", "/__init__.pyi"):
        candidate = (place + ending).removeprefix("/")
        if candidate in modules.paths:
            return candidate
    return f"{place}/" if place in modules.folders else ""


LANGUAGE = _Python(
    "python",
    lexical=(b"\"'#", rb"(?<=#)[^\n]*", BLOCK, BLOCK.replace(b'"', b"'"), DOUBLE, SINGLE),
    extensions=(".py", ".pyi", ".pyw", ".pyx", ".pxd", ".wsgi", ".bzl", ".star", ".ipynb"),
    names=("sconstruct", "sconscript", "wscript", "buck", "build", "build.bazel", "workspace", "tiltfile"),
    aliases=("py", "python3", "cpython"),
    interpreters=("python", "pypy", "uv"),
    module="tree_sitter_python",
    queries=("python",),
    is_described=True,
    special="setUp tearDown setUpClass tearDownClass setUpModule tearDownModule setup_module teardown_module setup_class"
    " teardown_class setup_method teardown_method setup_function teardown_function",
    is_lexical=True,
    runs_class_bodies=True,
    overrides_fields=True,
    is_structural=True,
    decorates=b"@",
    inert="""
        staticmethod classmethod property cached_property setter getter deleter lru_cache cache wraps override final overload
        abstractmethod contextmanager asynccontextmanager total_ordering singledispatchmethod no_type_check deprecated dataclass
        runtime_checkable unique njit jit
    """,
    has_submodules=True,
    self_names=SELVES | {"super", "cls"},
    call_method="__call__",
    calls_super=True,
    subscripts_classes=True,
    anything=frozenset({"Any", "object"}),
    names_arguments=True,
    path_in_text=rb"[A-Za-z_]\w{0,99}+(?:\.[A-Za-z_]\w{0,99}+){1,9}+(?::[A-Za-z_]\w{0,99}+(?:\.[A-Za-z_]\w{0,99}+){0,3}+)?",
    fixture_file="conftest.py",
    same=_SAME,
    one=_ONE,
)
