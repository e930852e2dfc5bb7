"""Rust: crates, declared modules, `impl` blocks all over a crate."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from vademecum.code.languages.expression import split
from vademecum.code.languages.imports import Bound, in_one_line, text_of, without_comments
from vademecum.code.languages.language import Language, Parse, Read
from vademecum.code.languages.modules import Modules

if TYPE_CHECKING:
    import tree_sitter

    from vademecum.code.languages.references import References

# Methods of the standard library's traits.
_SPECIAL = """
    deref deref_mut drop fmt from into try_from try_into index index_mut add add_assign sub sub_assign mul
    mul_assign div div_assign rem rem_assign neg not bitand bitor bitxor shl shr clone clone_from eq ne cmp
    partial_cmp lt le gt ge hash default next size_hint into_iter from_iter extend as_ref as_mut borrow borrow_mut
    from_str to_string to_owned call call_mut call_once poll write_str write_fmt source serialize deserialize main
"""
# Methods of the standard library's containers and wrappers.
_SAME = """
    iter iter_mut into_iter as_ref as_mut as_deref as_slice unwrap expect unwrap_or_default unwrap_or_else
    unwrap_or clone cloned copied borrow borrow_mut lock read write ok take replace to_vec to_owned rev skip
    step_by chain filter by_ref peekable drain into unwrap_unchecked values values_mut into_values await
"""
_UNWRAPS_TEXT = """
    unwrap expect ok unwrap_or unwrap_or_else unwrap_or_default clone cloned copied await as_ref as_mut as_deref
"""
_UNWRAPS = frozenset(_UNWRAPS_TEXT.split())
_ONE = """
    pop first last get get_mut next next_back nth first_mut last_mut remove swap_remove pop_front pop_back
    front back peek find min_by max_by min_by_key max_by_key iter_next get_unchecked get_unchecked_mut
"""


_JOINTS = frozenset({".", "::"})
_PATHS = frozenset({"identifier", "self", "super", "crate", "Self"})
_MARKS = frozenset({"(", ")", "{", "}", ",", "..", "line_comment", "block_comment"})
_HOLDERS = frozenset({"Some", "Ok", "Err"})
_APPLIED = frozenset({"token_tree", "?"})
# Blocks, of which the last expression is the value.
_AROUND = frozenset({"block", "unsafe_block", "else_clause", "parenthesized_expression", "expression_statement"})
# Expressions that give nothing, or tell no type.
_UNTELLING_TEXT = """
    return_expression break_expression continue_expression macro_invocation closure_expression binary_expression
    unary_expression loop_expression while_expression for_expression tuple_expression array_expression
    assignment_expression let_condition unit_expression line_comment block_comment empty_statement
"""
_UNTELLING = frozenset(_UNTELLING_TEXT.split())
_HOLDING = frozenset({b"Some", b"Ok", b"Box::new", b"Rc::new", b"Arc::new"})
_SHORT = len("Box::new") + 1
_UNWRAPPING = frozenset({b"unwrap", b"expect", b"unwrap_unchecked"})
_TUPLE = re.compile(r"^[\s:>-]*(?:(?:[\w:]*(?:Result|Option)|Box)\s*<\s*)?\((.*)\)", re.DOTALL)


# What stands in a macro that wraps items, as `pin_project!` and `cfg_if!` do.
_WRAPS = re.compile(rb"\w!\s*\{\s")
_OUTER = frozenset({"mod_item", "impl_item", "trait_item", "foreign_mod_item"})
_ITEMS = ("_item", "_declaration", "_comment", "macro_invocation", "macro_definition")


class _Rust(Language):
    def unwrapped(self, root: tree_sitter.Node, content: bytes, parse: Parse) -> Iterator[tuple[int, bytes]]:
        """Yield macros around items, as empty calls before the items."""
        for call in _outer_macros(root) if _WRAPS.search(content) else ():
            wrapped = call.children[-1]
            if wrapped.type == "token_tree" and content[wrapped.start_byte : wrapped.start_byte + 1] == b"{":
                items = _items_in(wrapped, content)
                read = parse(items) if items[:2].isspace() else None
                if read is not None and _is_items(read):
                    yield wrapped.start_byte, b"{}" + items[2:]

    def imported(self, statement: str) -> Iterator[Bound]:
        """Read a `use`, `mod` or `extern crate` declaration.

        >>> list(LANGUAGE.imported("pub use a::{b as c, d::*};")), list(LANGUAGE.imported("mod e;"))
        ([('c', 'a', 'b'), ('*', 'a::d', '*')], [('e', 'self', 'e')])
        >>> list(LANGUAGE.imported("pub extern crate grep_printer as printer;"))
        [('printer', 'grep_printer', '')]
        """
        text = re.sub(r"^(?:pub(?:\([^)]*\))?\s+)", "", in_one_line(without_comments(statement)))
        text = re.sub(r"^(?:#\[[^\]]*\]\s*)+", "", text)
        if text.startswith("extern crate "):
            crate, _, alias = text[13:].partition(" as ")
            yield alias.strip() or crate.strip(), crate.strip(), ""
        elif text.startswith("mod "):
            name = text[4:].strip()
            yield name, "self", name
        elif text.startswith("use "):
            yield from _use_tree("", text[4:].strip())

    def call_of_tokens(self, name: tree_sitter.Node) -> str:
        """Return the call that ends in a name among a macro's tokens."""
        arguments, around = name.next_sibling, name.parent
        while around is not None and around.type == "token_tree":
            around = around.parent
        is_call = arguments is not None and arguments.text and arguments.text[:1] == b"("
        if not is_call or around is None or around.type == "attribute":
            return ""
        spelled, before = [name], name.prev_sibling
        while before is not None and before.type in _JOINTS:
            spelled.append(before)
            before = before.prev_sibling
            while before is not None and before.type in _APPLIED:
                spelled.append(before)
                before = before.prev_sibling
            if before is None or before.type not in _PATHS:
                return f"?.{text_of(name)}"
            spelled.append(before)
            before = before.prev_sibling
        return "".join(text_of(each) for each in reversed(spelled))

    def results(self, written: tree_sitter.Node, text: Read) -> Sequence[str]:
        """Return a result's type, and the types of a pair.

        An associated type is called by its own name.
        """
        whole = text(written).replace("Self::", "")
        pair = _TUPLE.match(whole) if "(" in whole else None
        return (whole, *(part.strip() for part in split(pair[1], ","))) if pair and "," in pair[1] else (whole,)

    def taken(self, parameters: tree_sitter.Node, text: Read) -> Sequence[tuple[int, str]]:
        """Return the places and types of parameters that may take a closure."""
        typed = [
            text(kind).lstrip("& ").removeprefix("mut ")
            for each in parameters.named_children
            if each.type == "parameter" and (kind := each.child_by_field_name("type")) is not None
            if (pattern := each.child_by_field_name("pattern")) is not None and pattern.type != "self"
        ]
        return [(place, kind) for place, kind in enumerate(typed) if kind.isupper() or "Fn" in kind]

    def giving(self, value: tree_sitter.Node) -> tree_sitter.Node:
        """Return the first telling arm, or the last expression, of a value.

        All arms that end have one type. `Some(x)` and `Box::new(x)` are read as x, as their types are.
        """
        return _giving(value) or value

    def taken_apart(self, pattern: tree_sitter.Node, text: Read) -> Iterator[tuple[tree_sitter.Node, str]]:
        """Return the names that a pattern binds, each with its field.

        The path begins with the type that the pattern names, as in `Shape.Circle.0`.
        """
        if pattern.type == "tuple_pattern":
            yield from _of_pair(pattern, text)
            return
        named, number = pattern.child_by_field_name("type"), 0
        if named is None or text(named) in _HOLDERS:
            return
        for part in (each for each in pattern.children[1:] if each.type not in _MARKS):
            if part.type == "field_pattern":
                field, bound = part.child_by_field_name("name"), part.child_by_field_name("pattern")
                bound, key = _bound_in(bound or field), text(field) if field is not None else ""
            else:
                bound, key, number = _bound_in(part), str(number), number + 1
            if bound is not None:
                yield bound, f"{text(named)}.{key}"

    def may_join_function(self, before: bytes, refs: References) -> bool:
        """Return whether a path or a range stands before."""
        return before.endswith((b"::", b".."))

    def locate(self, modules: Modules, importer: str, module: str) -> str:
        """Find a module of a crate."""
        parts = [part for part in module.split("::") if part]
        if not parts:
            return importer
        first, here = parts[0], importer
        if first == "crate":
            here = _crate_root(modules, importer)
        elif first == "super":
            here = _parent(modules, importer)
        elif first != "self":
            here = self.submodule(modules, importer, first) or modules.once(_crates).get(first, "")
        for part in parts[1:]:
            if here:
                here = _parent(modules, here) if part == "super" else self.submodule(modules, here, part)
        return here

    def submodule(self, modules: Modules, where: str, name: str) -> str:
        """Return the file of a module declared in a file, "" for none."""
        folder, last = posixpath.split(where)
        stem = last.removesuffix(".rs")
        is_root = stem in {"mod", "lib", "main"} or where in modules.once(_roots)
        below = folder if is_root else posixpath.join(folder, stem)
        for place in (posixpath.join(below, f"{name}.rs"), posixpath.join(below, name, "mod.rs")):
            if place in modules.paths:
                return place
        return ""


def _is_items(read: tree_sitter.Node) -> bool:
    """Return whether a tree holds items alone, without an error."""
    return not read.has_error and all(each.type.endswith(_ITEMS) for each in read.named_children)


def _outer_macros(root: tree_sitter.Node) -> Iterator[tree_sitter.Node]:
    """Yield the calls of macros that stand where items do."""
    around = [root]
    while around:
        for node in around.pop().named_children:
            if node.type == "macro_invocation":
                yield node
            elif node.type in _OUTER and (body := node.child_by_field_name("body")) is not None:
                around.append(body)


def _items_in(wrapped: tree_sitter.Node, content: bytes) -> bytes:
    """Return a macro's tokens, blank but for items.

    These stand in the macro itself, or in the branches of its `if #[cfg(…)] { … }`.
    """
    parts = wrapped.children
    is_choice = len(parts) > 2 and content[parts[1].start_byte : parts[1].end_byte] == b"if"
    kept = [each for each in parts if each.type == "token_tree"] if is_choice else [wrapped]
    items = bytearray(re.sub(rb"[^\n]", b" ", content[wrapped.start_byte : wrapped.end_byte]))
    for part in kept:
        if content[part.start_byte : part.start_byte + 1] == b"{":
            inner = slice(part.start_byte + 1, part.end_byte - 1)
            at = inner.start - wrapped.start_byte
            items[at : at + inner.stop - inner.start] = content[inner]
    return bytes(items)


def _giving(value: tree_sitter.Node) -> tree_sitter.Node | None:
    """Return the telling part of a value, None for none."""
    kind = value.type
    if kind == "match_expression":
        body = value.child_by_field_name("body")
        arms = (arm.child_by_field_name("value") for arm in (body.named_children if body is not None else ()))
        return _best(arm for arm in arms if arm is not None)
    if kind == "if_expression":
        parts = (value.child_by_field_name(name) for name in ("consequence", "alternative"))
        return _best(part for part in parts if part is not None)
    if kind in _AROUND:
        last = value.named_children[-1] if value.named_children else None
        is_value = last is not None and not (last.type == "expression_statement" and last.children[-1].type == ";")
        return _giving(last) if last is not None and is_value else None
    if kind == "call_expression":
        called, arguments = value.child_by_field_name("function"), value.child_by_field_name("arguments")
        held = arguments.named_children if arguments is not None else []
        if called is not None and called.end_byte - called.start_byte < _SHORT and called.text in {*_HOLDING, b"Err"}:
            return _giving(held[0]) if len(held) == 1 and called.text != b"Err" else None
    is_none = value.end_byte - value.start_byte == len("None") and value.text == b"None"
    is_telling = not (is_none or kind in _UNTELLING or kind.endswith(("_literal", "_item", "_declaration")))
    return value if is_telling else None


def _best(parts: Iterator[tree_sitter.Node]) -> tree_sitter.Node | None:
    """Return the most telling part, a bare name last."""
    telling = [found for part in parts if (found := _giving(part)) is not None]
    return min(telling, key=lambda each: each.type == "identifier", default=None)


def _of_pair(pattern: tree_sitter.Node, text: Read) -> Iterator[tuple[tree_sitter.Node, str]]:
    """Return the names of a pair, each with its value.

    A function's result has the number of its place, counted from 1.
    """
    value = pattern.parent.child_by_field_name("value") if pattern.parent is not None else None
    called = None
    while value is not None and value.type in {"try_expression", "call_expression"} and called is None:
        function = value.child_by_field_name("function")
        field = function.child_by_field_name("field") if function is not None else None
        is_passed = field is not None and field.text in _UNWRAPPING
        if function is None or is_passed:
            value = (function or value).named_children[0]
        else:
            called = function
    given = value.named_children if value is not None and value.type == "tuple_expression" else ()
    for number, part in enumerate(pattern.named_children, 1):
        if (bound := _bound_in(part)) is not None and (called is not None or number <= len(given)):
            yield bound, f"{text(called)}.{number}" if called is not None else text(given[number - 1])


def _bound_in(part: tree_sitter.Node | None) -> tree_sitter.Node | None:
    """Return the one name that a pattern's part binds."""
    while part is not None and part.type in {"ref_pattern", "mut_pattern"}:
        part = part.named_children[-1]
    return part if part is not None and part.type in {"identifier", "shorthand_field_identifier"} else None


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


def _crates(modules: Modules) -> dict[str, str]:
    """Return the root file of each library crate by the crate's name."""
    found = {}
    for folder, manifest in modules.once(_manifests):
        own, package = _table(manifest.get("lib")), _table(manifest.get("package"))
        named = own.get("name") or package.get("name")
        root = _below(folder, own.get("path", "src/lib.rs"))
        if isinstance(named, str) and root in modules.paths:
            found[named.replace("-", "_")] = root
    return found


def _manifests(modules: Modules) -> list[tuple[str, dict[str, Any]]]:
    """Return each readable Cargo.toml with its folder."""
    import tomllib  # which only crates need

    found = []
    for path in modules.by_last.get("Cargo.toml", ()):
        with suppress(tomllib.TOMLDecodeError):
            found.append((posixpath.dirname(path), tomllib.loads(modules.content(path))))
    return found


def _roots(modules: Modules) -> frozenset[str]:
    """Return the root files of all crates: libraries, programs, tests, examples."""
    places: list[str] = []
    for folder, manifest in modules.once(_manifests):
        listed = [_table(manifest.get("lib"))]
        for kind in ("bin", "test", "bench", "example"):
            own = manifest.get(kind)
            listed += map(_table, own if isinstance(own, list) else ())
        places += [_below(folder, each.get("path", "")) for each in listed]
        places += [_below(folder, usual) for usual in ("src/lib.rs", "src/main.rs", "build.rs")]
        for inside in ("src/bin", "tests", "benches", "examples"):
            places += modules.by_folder.get(_below(folder, inside), ())
    return frozenset(place for place in places if place in modules.paths and place.endswith(".rs"))


def _table(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _below(folder: str, path: Any) -> str:
    return posixpath.normpath(posixpath.join(folder, path)) if isinstance(path, str) else ""


def _crate_root(modules: Modules, path: str) -> str:
    """Return the root file of a file's crate, "" for none."""
    roots = modules.once(_roots)
    if path in roots:
        return path
    folder = posixpath.dirname(path)
    while True:
        near = [
            root
            for root in modules.by_folder.get(folder, ())
            if root in roots or root.endswith(("/lib.rs", "/main.rs"))
        ]
        if near:
            return min(near, key=lambda root: (not root.endswith("lib.rs"), not root.endswith("main.rs"), root))
        if not folder:
            return ""
        folder = posixpath.dirname(folder)


def _parent(modules: Modules, path: str) -> str:
    """Return the file of the parent module, "" for none."""
    folder, last = posixpath.split(path)
    if last in {"mod.rs", "lib.rs", "main.rs"}:
        folder = posixpath.dirname(folder)
    for place in (f"{folder}.rs", f"{folder}/mod.rs", f"{folder}/lib.rs", f"{folder}/main.rs"):
        if place in modules.paths and place != path:
            return place
    roots = modules.once(_roots)
    return next((root for root in modules.by_folder.get(folder, ()) if root in roots and root != path), "")


def _same_crate(one: str, other: str) -> bool:
    """Return whether two files may be of one crate."""
    first, second = (
        path.partition("/src/")[0] if "/src/" in path else posixpath.dirname(path) for path in (one, other)
    )
    return f"{first}/".startswith(f"{second}/") or f"{second}/".startswith(f"{first}/")


LANGUAGE = _Rust(
    "rust",
    extensions=(".rs",),
    aliases=("rs",),
    interpreters=("rust-script",),
    module="tree_sitter_rust",
    queries=("rust",),
    inner_tests=frozenset({"tests", "test"}),
    is_lexical=True,
    names_modules=True,
    self_names=frozenset({"self", "Self"}),
    has_submodules=True,
    numbers_fields=True,
    has_shorthand=True,
    separator="::",
    locates_by_file=True,
    opened_in=_same_crate,
    extends_by_traits=True,
    same=_SAME,
    unwraps=_UNWRAPS,
    gives_else={"await": ("poll", "into_future")},
    one=_ONE,
    special=_SPECIAL,
    decorates=rb"#\[",
    inert="inline must_use allow cfg cfg_attr deprecated cold doc track_caller expect warn deny target_feature skip rustfmt clippy unstable stable",
)
