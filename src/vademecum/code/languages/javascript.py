"""JavaScript, and the parts that TypeScript shares."""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from vademecum.code.languages.expression import chain
from vademecum.code.languages.imports import QUOTED, RENAMED, Bound, named_in, without_comments
from vademecum.code.languages.language import Language, Read
from vademecum.code.languages.lexing import (
    DOUBLE,
    FRAGMENT,
    KINDS,
    ODD_LINES,
    SINGLE,
    SLASHED,
    TEMPLATE,
    Span,
    UnsureError,
    tokens,
)
from vademecum.code.languages.modules import Modules

if TYPE_CHECKING:
    import tree_sitter

# Methods that the language and browsers call.
_SPECIAL = """
    toString valueOf toJSON toLocaleString then next return throw connectedCallback disconnectedCallback
    adoptedCallback attributeChangedCallback handleEvent
"""
_COMMON = """
    addEventListener appendChild bind charCodeAt concat createElement every findIndex flatMap getAttribute getItem includes
    json lastIndexOf localeCompare now off once padStart pipe querySelector removeEventListener repeat setAttribute setItem
    some splice startsWith endsWith substring toFixed toLowerCase toUpperCase trimEnd unshift catch finally toEqual toBe
    toThrow toHaveBeenCalled mockReturnValue describe it expect text toJSON valueOf hasOwnProperty entries assign freeze
"""
# The code that runs comes before what only declares it.
_ENDINGS = (".ts", ".tsx", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs", ".d.ts", ".vue", ".json")
# Statements.
_FROM = r"(?:import|export)\s+(?:type\s+)?(?:(?P<what>.*?)\s+from\s+)?[\"'](?P<module>[^\"'\n]+)[\"']"
_BRACES = r"\{(.*?)\}"
_DEFAULT = r"export\s+default\s+(?:async\s+)?(?:abstract\s+)?(?:(?:function|class|interface)\b\s*\*?)?\s*([A-Za-z_$][\w$]*)\s*(.?)"
_REQUIRE = r"import\s+(?:type\s+)?(\w+)\s*=\s*require\(\s*[\"']([^\"']+)"
_REQUIRED = r"\(?\s*(?:await\s+)?(?:require|import)\(\s*[\"'`]([^\"'`\n]+)[\"'`]\s*\)\s*\)?(?:\s*\.\s*(\w+))?\s*"
_NAMES_ALONE = r"export\s*(?:type\s*)?[{*]"
_EXPORTS = r"(?:module\.)?exports(?:\.([A-Za-z_$][\w$]*))?"
_MEMBER = r"(?:^|[{,])\s*([A-Za-z_$][\w$]*)\s*(?::\s*([A-Za-z_$][\w$.]*)\s*)?(?=[,}])"
_DEFAULT_VALUES = frozenset({"object", "new_expression", "call_expression", "member_expression"})
_NAMED_VALUES = frozenset({"class", "function_expression"})
_NAMELESS_VALUES = _NAMED_VALUES | {"arrow_function", "generator_function"}
_OWN_MEMBERS = frozenset({"object_type", "intersection_type"})  # a type so written is declared as an interface is
_AROUND = frozenset({"parenthesized_expression", "as_expression", "satisfies_expression"})
_EITHER = {
    "ternary_expression": ("consequence", "alternative"),
    "binary_expression": ("left", "right"),
    "assignment_expression": ("right",),
}
_PATTERNS = frozenset({"object_pattern", "array_pattern"})
_WITH_DEFAULT = frozenset({"assignment_pattern", "object_assignment_pattern"})
_FUNCTION_VALUES = frozenset({"arrow_function", "function_expression", "function"})
_MAY_BE_CALLED_TEXT = """
    function_type type_identifier generic_type union_type array_type tuple_type parenthesized_type nested_type_identifier
"""
_MAY_BE_CALLED = frozenset(_MAY_BE_CALLED_TEXT.split())
# What of TypeScript has type parameters that its members are read with; bounds are read of more.
_GENERIC_TEXT = """
    function_declaration method_definition arrow_function class_declaration interface_declaration type_alias_declaration
"""
_GENERIC = frozenset(_GENERIC_TEXT.split())
_BOUNDED = _GENERIC | {"function_signature", "method_signature"}
# Characters.
_DEEPEST = 8  # templates within each other
_REACH = 80  # bytes before a slash that say what the slash is
_FOLLOWED = (SLASHED, DOUBLE, SINGLE, rb"(?<=`)[^`\\$]*`")
_MARKUP = rb"</|/>|<!--|-->"
_TEMPLATE_PARTS = rb"\\.|`|\$\{"
_REGEX = rb"/(?:[^/\\\[\n]|\\[^\n]|\[(?:[^\]\\\n]|\\[^\n])*\])+/"
_BEFORE_REGEX = rb"(?:^|[(,=:;?&|{\[~^%*]|=>|(?<![\w$.])(?:return|typeof|case|in|of|delete|void|instanceof|new|throw|else|do|await|yield))\s*$"
_BEFORE_DIVISION = rb"[\w$\]\"']\s*$"


@dataclass(frozen=True, eq=False)
class Script(Language):
    """JavaScript or TypeScript."""

    is_lexical: bool = True
    has_exports: bool = True
    nests_functions: bool = True
    erases_types: bool = True
    has_shorthand: bool = True
    overrides_fields: bool = True
    is_structural: bool = True
    decorates: bytes = b"@"
    assigns_modules: bool = True
    hold_all: frozenset[str] = frozenset({"window", "globalThis", "global"})
    anything: frozenset[str] = frozenset({"any", "unknown", "object"})
    same: str = "filter slice concat reverse sort values"
    one: str = "at pop shift find get next"

    def imported(self, statement: str) -> Iterator[Bound]:
        """Read an import declaration.

        >>> list(LANGUAGE.imported("import x, { a as b } from './m'")), list(LANGUAGE.imported("import * as y from 'n'"))
        ([('x', './m', 'default'), ('b', './m', 'a')], [('y', 'n', '')])
        """
        text = without_comments(statement) if "/*" in statement or "\n" in statement else statement
        found = re.match(_FROM, " ".join(text.split()))
        if not found:
            if equals := re.match(_REQUIRE, text):
                yield equals[1], equals[2], ""
            if named := re.match(rf"import\(\s*{QUOTED}", text):  # as code runs
                yield "", named[1], ""
            return
        module, what = found["module"], (found["what"] or "").strip()
        if not what:
            yield "", module, ""
            return
        braces = re.search(_BRACES, what, re.DOTALL)
        plain = what.replace(braces[0], "") if braces else what
        for part in filter(None, (part.strip() for part in plain.split(","))):
            yield (re.split(RENAMED, part)[-1], module, "") if part.startswith("*") else (part, module, "default")
        for name, local in named_in(braces[1]) if braces else ():
            yield local, module, name

    def exported(self, statement: tree_sitter.Node, text: Read, whole: Read) -> Iterable[Bound]:
        """Read an export declaration."""
        beginning = text(statement)
        value = statement.child_by_field_name("value")
        if value is not None and value.type in _DEFAULT_VALUES:
            return default_of(value, text)
        if value is not None and value.type in _NAMELESS_VALUES and value.child_by_field_name("name") is None:
            return [("default", "", "")]
        return exports_of(whole(statement) if re.match(_NAMES_ALONE, beginning) else beginning)

    def assigned(
        self, name: tree_sitter.Node, value: tree_sitter.Node, text: Read, whole: Read
    ) -> tuple[Iterable[Bound], Iterable[Bound]] | None:
        """Read CommonJS: `require`, and assigned exports."""
        local = whole(name) if name.type == "object_pattern" else text(name)
        held = text(value)
        bound, exports = required(local, held), re.fullmatch(_EXPORTS, local)
        if exports is None:
            return (bound, ()) if bound else None
        if bound:
            return (), [(exports[1] or "=", module, member) for _, module, member in bound]
        if exports[1] or not held.startswith(("{", "Object.assign(")):
            own = value.child_by_field_name("name") if value.type in _NAMED_VALUES else None
            if own is None and value.type in _NAMELESS_VALUES:
                return (), () if exports[1] else [("=", "", "")]
            spelled = text(own) if own is not None else chain(held)
            return (), [(exports[1] or "=", "", spelled)] if spelled else ()
        return (), handed_on(value, text, whole)

    def members(self, value: tree_sitter.Node, text: Read) -> Iterable[tuple[str, str]]:
        """Return the members of an object literal that name declarations."""
        return ((key, spelled) for key, spelled in _members(value, text) if spelled)

    def written_out(self, value: tree_sitter.Node) -> tree_sitter.Node | None:
        """Return the object literal that a result is, None for others."""
        while value.type in _AROUND and value.named_children:
            value = value.named_children[0]
        return value if value.type == "object" else None

    def alternatives(self, value: tree_sitter.Node, text: Read) -> Sequence[str]:
        """Return the expressions that a value may be, () for itself.

        What is assigned to `exports` too is `exports`.
        """
        if re.match(r"(?:module\.)?exports\s*(?:=[^=]|$)", text(value)):
            return ["exports"]
        ends: list[str] = []
        left = [value]  # no recursion: `a || b || …` is as deep as it is long
        while left:
            each = left.pop()
            if each.type in _EITHER and (each.type != "binary_expression" or each.children[1].type in {"||", "??"}):
                parts = [part for name in _EITHER[each.type] if (part := each.child_by_field_name(name)) is not None]
                left += reversed(parts)
            elif each.type == "as_expression":
                ends.append(f"({text(each)})")
            elif each is not value:
                ends.append(text(each))
        return ends

    def taken_apart(self, pattern: tree_sitter.Node, text: Read) -> Iterator[tuple[tree_sitter.Node, str]]:
        """Yield the names that a pattern binds, each with its path."""
        return _taken_apart(pattern, text, "")

    def member_types(self, written: tree_sitter.Node, text: Read) -> Iterator[tuple[str, str]]:
        """Yield the members of a written type with their types."""
        for part in written.named_children[0].named_children if written.named_children else ():
            name, held = part.child_by_field_name("name"), part.child_by_field_name("type")
            if name is not None and held is not None:
                yield text(name), text(held)

    def taken(self, parameters: tree_sitter.Node, text: Read) -> Sequence[tuple[int, str]]:
        """Return the places and types of parameters that may take a function."""
        found = []
        for place, part in enumerate(each for each in parameters.named_children if each.type != "comment"):
            held, pattern = part.child_by_field_name("type"), part.child_by_field_name("pattern")
            kind = held.named_children[0].type if held is not None and held.named_children else ""
            if held is not None and pattern is not None and kind in _MAY_BE_CALLED:
                rest = "..." if pattern.type == "rest_pattern" else ""
                found.append((place, rest + text(held).removeprefix(":").lstrip()))
        return found

    def alias_around(self, node: tree_sitter.Node) -> tree_sitter.Node | None:
        """Return the name of an alias whose type parameter a name is."""
        listed = node.parent.parent if node.parent is not None and node.parent.type == "type_parameter" else None
        around = listed.parent if listed is not None else None
        is_alias = around is not None and around.type == "type_alias_declaration" and not _has_members(around)
        return around.child_by_field_name("name") if around is not None and is_alias else None

    def is_alias(self, node: tree_sitter.Node, *, bounded: bool) -> bool:
        """Return whether a name is an alias or a read type parameter."""
        parameter = node.parent
        if parameter is None or parameter.type != "type_parameter":
            return parameter is None or not _has_members(parameter)
        listed = parameter.parent
        around = listed.parent if listed is not None else None
        return around is not None and around.type in (_BOUNDED if bounded else _GENERIC)

    def locate(self, modules: Modules, importer: str, module: str) -> str:
        """Find a module: relative, by a manifest, or in a workspace."""
        module = module.partition("?")[0]
        if module.startswith("."):
            place = posixpath.normpath(posixpath.join(posixpath.dirname(importer), module))
            return _at(modules, place) or _main_of(modules, "" if place == "." else place)
        for place in _private(modules, importer, module) if module[:1] == "#" else _aliased(modules, importer, module):
            if found := _at(modules, place):
                return found
        return _in_workspace(modules, module)

    def may_be_here(self, modules: Modules, module: str) -> bool:
        """Return whether a module has an alias's name or a package's here."""
        return module.startswith(("#", "~", "@/")) or _package_of(module) in modules.once(_packages)

    def lexed(self, content: bytes) -> Iterator[Span]:
        """Yield comments and strings of a file that may hold markup.

        Source: ECMA-262, clause 12.
        """
        if re.search(_MARKUP, content):
            raise UnsureError
        yield from lexed(content)


def exports_of(statement: str) -> list[Bound]:
    r"""Return the names that an export statement hands on.

    The module is "" for a name of the file itself.

    >>> exports_of("export { a as b, c } from './m'"), exports_of("export * from './n'"), exports_of("export default run")
    ([('b', './m', 'a'), ('c', './m', 'c')], [('*', './n', '*')], [('default', '', 'run')])
    >>> exports_of("export {\n  a, // the first\n  /* not b */ c,\n}")
    [('a', '', 'a'), ('c', '', 'c')]
    """
    statement = " ".join(without_comments(statement).split())
    found = re.match(_FROM, statement)
    module = found["module"] if found and found["what"] else ""
    what = (found["what"] if found else "") or ""
    if module and what.startswith("*"):
        name = re.split(RENAMED, what)[1:]
        return [(name[0], module, "")] if name else [("*", module, "*")]
    braces = re.match(_BRACES, statement.removeprefix("export").removeprefix(" type").lstrip(), re.DOTALL)
    if braces:
        return [(local, module, name) for name, local in named_in(braces[1])]
    default = re.match(_DEFAULT, statement, re.DOTALL)
    heads = ("export default function", "export default class", "export default async")
    if default and (default[2] not in {".", "("} or statement.startswith(heads)):
        return [("default", "", default[1])]
    return []


def default_of(value: tree_sitter.Node, text: Read) -> Iterator[Bound]:
    """Yield a default export: an expression, or an object with its members.

    A member's exported name is `default.` and its own.
    """
    if value.type == "object":
        yield from ((f"default.{key}", "", spelled or key) for key, spelled in _members(value, text))
    else:
        yield "default", "", chain(text(value)) or "?"


def handed_on(value: tree_sitter.Node, text: Read, whole: Read) -> Iterator[Bound]:
    """Yield the exports of an object and of its parts.

    It may be `{ a, ...base }`, or `Object.assign(make, { a }, base)`.
    """
    arguments = value.child_by_field_name("arguments")
    for place, part in enumerate(arguments.named_children if arguments is not None else [value]):
        if part.type == "object":
            yield from ((member, "", own or member) for member, own in re.findall(_MEMBER, whole(part)))
            taken = [each.named_children[0] for each in part.named_children if each.type == "spread_element"]
        else:
            taken = [part]
        star = "*" if place or part.type == "object" else "="  # which is what the others are put on
        for each in taken:
            yield from required(star, text(each)) or [(star, "", chain(text(each)))]


def _members(value: tree_sitter.Node, text: Read) -> Iterator[tuple[str, str]]:
    """Yield an object's members with their chains, "" for functions."""
    for part in value.named_children:
        name, held, key = (part.child_by_field_name(each) for each in ("name", "value", "key"))
        if part.type == "shorthand_property_identifier":
            yield text(part), text(part)
        elif name is not None or (held is not None and held.type in _FUNCTION_VALUES and key is not None):
            yield text(name or key or part), ""
        elif held is not None and key is not None and (spelled := chain(text(held))):
            yield text(key), spelled


def _has_members(declared: tree_sitter.Node) -> bool:
    """Return whether an alias lists members, as an interface does."""
    value = declared.child_by_field_name("value")
    return value is not None and value.type in _OWN_MEMBERS


def _taken_apart(pattern: tree_sitter.Node, text: Read, path: str) -> Iterator[tuple[tree_sitter.Node, str]]:
    """Yield the names that a pattern binds and their paths."""
    for part in pattern.named_children:
        key, held = part.child_by_field_name("key"), part.child_by_field_name("value") or part
        while held.type in _WITH_DEFAULT and (left := held.child_by_field_name("left")) is not None:
            held = left
        if pattern.type == "array_pattern":
            own = f"{path}[]"
        else:
            named = key or held
            own = f"{path}.{text(named)}" if "identifier" in named.type else ""
        if held.type in _PATTERNS and own:
            yield from _taken_apart(held, text, own)
        elif "identifier" in held.type:
            yield held, own


def required(name: str, value: str) -> list[Bound]:
    """Return the names that `require` or an awaited `import` binds.

    >>> required("{ a, b: c }", "require('m')"), required("x", "require('./m').y"), required("x", "f()")
    ([('a', 'm', 'a'), ('c', 'm', 'b')], [('x', './m', 'y')], [])
    """
    found = re.fullmatch(_REQUIRED, value)
    if not found:
        return []
    if name.startswith("{"):
        return [(local, found[1], member) for member, local in named_in(name.strip("{} \n"), ":")]
    return [(name, found[1], found[2] or "")]


# -- modules ---------------------------------------------------------------------------------------------------------


def _at(modules: Modules, place: str) -> str:
    """Return the file of a module at a path, any ending."""
    place = "" if place == "." else place
    stem, dot, ending = place.rpartition(".")
    compiled = dot and ending in {
        "js",
        "jsx",
        "mjs",
        "cjs",
    }  # TypeScript writes the name of what it will be compiled to
    written = [stem + other for other in (f".{ending.replace('js', 'ts')}", ".ts", ".tsx")] if compiled else []
    for exact in (*written, place, *([f"{stem}.d.ts"] if compiled else [])):
        if exact in modules.paths:
            return exact
    index = f"{place}/index" if place else "index"
    return next((b + ending for b in (place, index) for ending in _ENDINGS if b + ending in modules.paths), "")


def _aliased(modules: Modules, importer: str, module: str) -> Iterable[str]:
    """Yield the paths that tsconfig.json files give a module."""
    folder = posixpath.dirname(importer)
    while True:
        for name in ("tsconfig.json", "jsconfig.json"):
            path = posixpath.join(folder, name)
            if path in modules.paths:
                yield from _by_options(modules, path, module)
        if not folder:
            return
        folder = posixpath.dirname(folder)


def _by_options(modules: Modules, config: str, module: str) -> Iterable[str]:
    base, paths = _options(modules, config, 0)
    yield from _matched(paths, base, module)
    if base:
        yield posixpath.normpath(posixpath.join(base, module))


def _matched(patterns: Mapping[str, object], base: str, module: str) -> Iterator[str]:
    """Yield the paths that patterns with a star give a module."""
    for pattern, targets in patterns.items():
        before, star, after = pattern.partition("*")
        if module == pattern or (star and module.startswith(before) and module.endswith(after)):
            matched = module[len(before) : len(module) - len(after)] if star else ""
            for target in _targets(targets):
                yield posixpath.normpath(posixpath.join(base, target.replace("*", matched)))


def _targets(written: object) -> Iterator[str]:
    """Yield the paths of a list, or of package.json's conditions."""
    if isinstance(written, str):
        yield written
    for each in written.values() if isinstance(written, dict) else written if isinstance(written, list) else ():
        yield from _targets(each)


def _private(modules: Modules, importer: str, module: str) -> Iterator[str]:
    """Yield the paths that the nearest package.json gives a module."""
    folder, known = posixpath.dirname(importer), modules.once(_imports)
    while folder and folder not in known:
        folder = posixpath.dirname(folder)
    yield from _matched(known.get(folder, {}), folder, module)


def _imports(modules: Modules) -> dict[str, dict[str, object]]:
    """Return the `imports` of each package.json by its directory."""
    read = ((posixpath.dirname(p), _json(modules, p).get("imports")) for p in modules.by_last.get("package.json", ()))
    return {folder: imports for folder, imports in read if isinstance(imports, dict)}


def _options(modules: Modules, config: str, depth: int) -> tuple[str, dict[str, list[str]]]:
    """Return the base directory and the `paths` of a tsconfig.

    The directory is "" for none. A tsconfig inherits from the one it extends.
    """
    read = _json(modules, config)
    options = read.get("compilerOptions") or {}
    folder = posixpath.dirname(config)
    base, paths = options.get("baseUrl"), options.get("paths")
    extended = read.get("extends")
    if isinstance(extended, str) and extended.startswith(".") and depth < 5 and (base is None or paths is None):
        parent = posixpath.normpath(posixpath.join(folder, extended))
        parent = parent if parent in modules.paths else parent + ".json"
        if parent in modules.paths:
            inherited, more = _options(modules, parent, depth + 1)
            return (posixpath.join(folder, base) if base is not None else inherited), paths or more
    where = posixpath.join(folder, base) if isinstance(base, str) else (folder or "." if paths else "")
    return where, paths if isinstance(paths, dict) else {}


def _json(modules: Modules, path: str) -> dict[str, Any]:
    """Return a JSON object, read leniently, {} for anything else."""
    text = modules.content(path)
    try:
        read = json.loads(text)
    except ValueError:
        bare = re.sub(r'("(?:\\.|[^"\\])*")|//[^\n]*|/\*.*?\*/', lambda m: m[1] or "", text, flags=re.DOTALL)
        try:
            read = json.loads(re.sub(r",(\s*[}\]])", r"\1", bare))
        except ValueError:
            return {}
    return read if isinstance(read, dict) else {}


def _packages(modules: Modules) -> dict[str, str]:
    """Return the directory of each package.json by the name the file gives."""
    found = {}
    for path in reversed(modules.by_last.get("package.json", [])):
        name = _json(modules, path).get("name")
        if isinstance(name, str):
            found[name] = posixpath.dirname(path)
    return found


def _package_of(module: str) -> str:
    """Return the name of the package that a module is of."""
    return "/".join(module.split("/")[: 2 if module.startswith("@") else 1])


def _in_workspace(modules: Modules, module: str) -> str:
    """Find a module in a package of this repository."""
    packages, name = modules.once(_packages), _package_of(module)
    if name not in packages:
        return ""
    folder, below = packages[name], module[len(name) + 1 :]
    if not below:
        return _main_of(modules, folder)
    places = [posixpath.join(folder, "src", below), posixpath.join(folder, below)]
    return next((found for place in places if (found := _at(modules, place))), "")


def _main_of(modules: Modules, folder: str) -> str:
    """Return the main file of a package's folder, "" for no package."""
    manifest = posixpath.join(folder, "package.json")
    if manifest not in modules.paths:
        return ""
    package = _json(modules, manifest)
    named = [package.get(key) for key in ("source", "module", "main", "types")]
    places = [posixpath.join(folder, p) for p in ("src/index", "index", "src/main", "lib/index")]
    places += [posixpath.normpath(posixpath.join(folder, p)) for p in named if isinstance(p, str)]
    return next((found for place in places if (found := _at(modules, place))), "")


# -- characters ------------------------------------------------------------------------------------------------------


def lexed(content: bytes) -> Iterator[Span]:
    """Yield the comments and strings of a file without markup."""
    if re.search(ODD_LINES, content) or b"<!--" in content or b"-->" in content or content.startswith(b"#!"):
        raise UnsureError
    at = 0
    while at < len(content):
        for token in tokens(b"\"'`/", *_FOLLOWED).finditer(content, at):
            start, end = token.span()
            if end - start == 1:
                found: list[Span] = []
                at = _beyond(content, start, found, 0)
                yield from sorted(found)
                break
            yield start, end, KINDS[content[start : start + 1]]
        else:
            return


def _beyond(content: bytes, start: int, found: list[Span], depth: int) -> int:
    """Return the place after a template or a slash."""
    first = content[start : start + 1]
    if first == b"`":
        return _template(content, start, found, depth + 1)
    if first == b"/":
        return _after_slash(content, start)
    raise UnsureError  # a quote that nothing closes


def _substitution(content: bytes, at: int, found: list[Span], depth: int) -> int:
    """Note a template's substitution; return the place after its brace."""
    braces, pattern = 0, tokens(b"\"'`/{}", *_FOLLOWED)
    while token := pattern.search(content, at):
        start, at = token.span()
        first = content[start : start + 1]
        if at - start > 1:
            found.append((start, at, KINDS[first]))
        elif first == b"{":
            braces += 1
        elif first == b"}" and not braces:
            return at
        elif first == b"}":
            braces -= 1
        else:
            at = _beyond(content, start, found, depth)
    raise UnsureError


def _template(content: bytes, start: int, found: list[Span], depth: int) -> int:
    """Note the parts of a template literal; return its end."""
    if depth > _DEEPEST:
        raise UnsureError
    at, begin, parts = start + 1, start, re.compile(_TEMPLATE_PARTS, re.DOTALL)
    while part := parts.search(content, at):
        at = part.end()
        if part[0] == b"`":
            found.append((begin, at, TEMPLATE if begin == start else FRAGMENT))
            return at
        if part[0] == b"${":
            found.append((begin, part.start(), FRAGMENT))
            at = begin = _substitution(content, at, found, depth)
    raise UnsureError


def _after_slash(content: bytes, start: int) -> int:
    """Return the place after a division or a regular expression."""
    before = content[max(0, start - _REACH) : start]
    if re.search(_BEFORE_REGEX, before):
        if regex := re.compile(_REGEX).match(content, start):
            return regex.end()
    elif re.search(_BEFORE_DIVISION, before):
        return start + 1
    raise UnsureError


LANGUAGE = Script(
    "javascript",
    extensions=(".js", ".jsx", ".mjs", ".cjs", ".es6"),
    names=("jakefile",),
    aliases=("js", "jsx", "node", "ecmascript"),
    interpreters=("node", "nodejs", "bun"),
    module="tree_sitter_javascript",
    queries=("javascript", "javascript_only"),
    common=_COMMON,
    special=_SPECIAL,
)
