"""What an import statement brings into a file: its text to rows of (local name, module, name in the module).

The name is "" where the module itself is bound, "*" where everything in it is; the local name is "" where nothing is
bound but the module is read. Modules are spelled as the language spells them. Where they lie is `modules`' business.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

Bound = tuple[str, str, str]

_COMMENT = re.compile(r"#[^\n]*|//[^\n]*|/\*.*?\*/", re.DOTALL)
_HASH = re.compile(r"#[^\n]*")
_SLASHES = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_AS = re.compile(r"\s+as\s+")
_QUOTED = re.compile(r"[\"'`]([^\"'`\n]*)[\"'`]")
_REQUIRED = re.compile(r"(?:await\s+)?(?:require|import)\(\s*[\"'`]([^\"'`\n]+)[\"'`]\s*\)(?:\s*\.\s*(\w+))?\s*")
_FROM = re.compile(
    r"(?:import|export)\s+(?:type\s+)?(?:(?P<what>.*?)\s+from\s+)?[\"'](?P<module>[^\"'\n]+)[\"']", re.DOTALL
)
_BRACES = re.compile(r"\{(.*?)\}", re.DOTALL)
_DEFAULT = re.compile(
    r"export\s+default\s+(?:async\s+)?(?:abstract\s+)?(?:function\s*\*?|class)?\s*([A-Za-z_$][\w$]*)\s*(.?)", re.DOTALL
)


def imported(statement: str, language: str) -> list[Bound]:
    r"""Return what a statement brings in, in the order written.

    >>> imported("from .a import (b as c,\n  d)", "python"), imported("import os.path", "python")
    ([('c', '.a', 'b'), ('d', '.a', 'd')], [('os', 'os', ''), ('', 'os.path', '')])
    >>> imported("import x, { a as b } from './m'", "typescript"), imported("use a::{b as c, d::*};", "rust")
    ([('x', './m', 'default'), ('b', './m', 'a')], [('c', 'a', 'b'), ('*', 'a::d', '*')])
    """
    read = _READERS.get(language)
    return list(read(statement)) if read else []


def exported(statement: str) -> list[Bound]:
    r"""Return what an export statement of JavaScript hands on: the module is "" for a name of the file itself.

    >>> exported("export { a as b, c } from './m'"), exported("export * from './n'"), exported("export default run")
    ([('b', './m', 'a'), ('c', './m', 'c')], [('*', './n', '*')], [('default', '', 'run')])
    >>> exported("export {\n  a, // the first\n  /* not b */ c,\n}")
    [('a', '', 'a'), ('c', '', 'c')]
    """
    statement = _SLASHES.sub("", statement)
    found = _FROM.match(statement)
    module = found["module"] if found and found["what"] else ""
    what = (found["what"] if found else "") or ""
    if module and what.startswith("*"):
        name = _AS.split(what)[1:]
        return [(name[0], module, "")] if name else [("*", module, "*")]
    braces = _BRACES.match(statement.removeprefix("export").removeprefix(" type").lstrip())
    if braces:
        return [(local, module, name) for name, local in _named(braces[1])]
    default = _DEFAULT.match(statement)
    if (default and default[2] not in {".", "("} | set()) or (
        default and statement.startswith(("export default function", "export default class", "export default async"))
    ):
        return [("default", "", default[1])] if default else []
    return []


def required(name: str, value: str) -> list[Bound]:
    """Return what a CommonJS `require` or an awaited `import` binds.

    >>> required("{ a, b: c }", "require('m')"), required("x", "require('./m').y"), required("x", "f()")
    ([('a', 'm', 'a'), ('c', 'm', 'b')], [('x', './m', 'y')], [])
    """
    found = _REQUIRED.fullmatch(value)
    if not found:
        return []
    if name.startswith("{"):
        return [(local, found[1], member) for member, local in _named(name.strip("{} \n"), ":")]
    return [(name, found[1], found[2] or "")]


def _named(text: str, by: str = "") -> Iterator[tuple[str, str]]:
    """Yield (name, local name) of a list of names, some of them renamed."""
    for part in text.split(","):
        words = part.split(by) if by else _AS.split(part.strip())
        name = words[0].strip().removeprefix("type ").strip()
        local = words[-1].partition("=")[0].strip() if len(words) > 1 else name.partition("=")[0].strip()
        if name and not name.startswith("..."):
            yield name.partition("=")[0].strip(), local


def _python(statement: str) -> Iterator[Bound]:
    text = " ".join(_HASH.sub("", statement).replace("\\\n", " ").split())
    if text.startswith("import "):
        for part in text[7:].split(","):
            module, _, local = part.strip().partition(" as ")
            if local:
                yield local.strip(), module.strip(), ""
                continue
            top = module.partition(".")[0]
            yield top, top, ""
            if top != module:
                yield "", module, ""
        return
    module, _, names = text.removeprefix("from ").partition(" import ")
    for name, local in _named(names.strip("() ")):
        yield ("*" if name == "*" else local), module.replace(" ", ""), name


def _javascript(statement: str) -> Iterator[Bound]:
    text = _SLASHES.sub("", statement) if "/*" in statement or "\n" in statement else statement
    found = _FROM.match(text)
    if not found:
        equals = re.match(r"import\s+(?:type\s+)?(\w+)\s*=\s*require\(\s*[\"']([^\"']+)", text)
        if equals:
            yield equals[1], equals[2], ""
        return
    module, what = found["module"], (found["what"] or "").strip()
    if not what:
        yield "", module, ""
        return
    braces = _BRACES.search(what)
    plain = what.replace(braces[0], "") if braces else what
    for part in filter(None, (part.strip() for part in plain.split(","))):
        yield (_AS.split(part)[-1], module, "") if part.startswith("*") else (part, module, "default")
    for name, local in _named(braces[1]) if braces else ():
        yield local, module, name


def _go(spec: str) -> Iterator[Bound]:
    quoted = _QUOTED.search(spec)
    if quoted is None:
        return
    path, alias = quoted[1], spec[: quoted.start()].strip()
    if alias == ".":
        yield "*", path, "*"
    else:
        last = [part for part in path.split("/") if not re.fullmatch(r"v\d+", part)][-1:] or [path]
        yield ("" if alias == "_" else alias or re.sub(r"\.v\d+$|^go-|-go$", "", last[0])), path, ""


def _rust(statement: str) -> Iterator[Bound]:
    text = re.sub(r"^(?:pub(?:\([^)]*\))?\s+)", "", " ".join(_SLASHES.sub("", statement).split())).rstrip("; ")
    text = re.sub(r"^(?:#\[[^\]]*\]\s*)+", "", text)
    if text.startswith("mod "):
        name = text[4:].strip()
        yield name, "self", name
    elif text.startswith("use "):
        yield from _use_tree("", text[4:].strip())


def _use_tree(prefix: str, text: str) -> Iterator[Bound]:
    """Expand `a::{b, c::*}`, in which lists nest."""
    opening = text.find("{")
    if opening >= 0:
        inside = text[opening + 1 : text.rfind("}")]
        below = "::".join(part for part in (prefix, text[:opening].rstrip(": ")) if part)
        depth, start = 0, 0
        for place, letter in enumerate(inside + ","):
            depth += (letter == "{") - (letter == "}")
            if letter == "," and not depth:
                if inside[start:place].strip():
                    yield from _use_tree(below, inside[start:place].strip())
                start = place + 1
        return
    path, _, alias = text.partition(" as ")
    whole = "::".join(part for part in (prefix, path.strip()) if part).removeprefix("::")
    if whole.endswith("::self"):
        whole = whole.removesuffix("::self")
    module, _, name = whole.rpartition("::")
    if name == "*":
        yield "*", module, "*"
    else:
        yield (alias.strip() or name), module, name


def _dotted(statement: str) -> Iterator[Bound]:
    """Java and Kotlin: `import a.b.C`, `import static a.b.C.m`, `import a.b.*`, `import a.b.C as D`."""
    text = " ".join(_SLASHES.sub("", statement).split()).rstrip("; ").removeprefix("import ").removeprefix("static ")
    path, _, alias = text.partition(" as ")
    module, _, name = path.replace(" ", "").rpartition(".")
    yield ("*" if name == "*" else alias.strip() or name), module, name


def _csharp(statement: str) -> Iterator[Bound]:
    text = (
        " ".join(statement.split()).rstrip("; ").removeprefix("global ").removeprefix("using ").removeprefix("static ")
    )
    alias, equals, path = text.partition("=")
    if equals:
        module, _, name = path.strip().removeprefix("global::").partition("<")[0].rpartition(".")
        yield alias.strip(), module, name
    else:
        yield "*", text.strip().removeprefix("global::"), "*"


def _php(statement: str) -> Iterator[Bound]:
    if not statement.startswith("use"):
        quoted = _QUOTED.search(statement)
        if quoted:
            yield "", quoted[1], ""
        return
    text = re.sub(
        r"\b(?:function|const)\s+", "", " ".join(_COMMENT.sub("", statement).split()).rstrip("; ")[3:].strip()
    )
    prefix, braces, inside = text.partition("{")
    for part in (inside.rstrip("} ") if braces else text).split(","):
        path, _, alias = part.strip().partition(" as ")
        whole = ((prefix.strip() if braces else "") + path.strip()).strip("\\").replace("\\", ".")
        module, _, name = whole.rpartition(".")
        if name:
            yield alias.strip() or name, module, name


def _ruby(statement: str) -> Iterator[Bound]:
    method, quoted = statement.split(None, 1)[0].partition("(")[0], _QUOTED.search(statement)
    if quoted and method in {"require", "require_relative", "load", "autoload"}:
        yield "", f"./{quoted[1]}" if method == "require_relative" else quoted[1], ""


def _include(statement: str) -> Iterator[Bound]:
    if statement.startswith("using"):
        text = " ".join(statement.split()).rstrip("; ").removeprefix("using ")
        whole = text.removeprefix("namespace ").replace("::", ".")
        module, _, name = whole.rpartition(".")
        yield ("*", whole, "*") if text.startswith("namespace ") else (name, module, name)
        return
    found = re.search(r"[\"<]([^\">\n]+)[\">]", statement)
    if found:
        yield "", found[1], "<" if "<" in statement else ""


_READERS: dict[str, Callable[[str], Iterator[Bound]]] = {
    "python": _python, "javascript": _javascript, "typescript": _javascript, "tsx": _javascript, "go": _go,
    "rust": _rust, "java": _dotted, "kotlin": _dotted, "csharp": _csharp, "php": _php, "ruby": _ruby, "c": _include,
    "cpp": _include,
}  # fmt: skip
