"""PHP: names shared in a namespace, variables marked by `$`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from vademecum.code.languages.imports import HASHED, QUOTED, SLASHED, Bound, in_one_line, without_comments
from vademecum.code.languages.java import Packaged
from vademecum.code.languages.language import SELVES, Read
from vademecum.code.languages.scopes import Candidate, Source, by_package

if TYPE_CHECKING:
    import tree_sitter

    from vademecum.code.languages.modules import Modules
    from vademecum.code.languages.references import References

# Magic methods, and those of the language's own interfaces.
_SPECIAL = """
    __get __set __isset __unset __call __callStatic __toString __invoke __clone __sleep __wakeup __serialize
    __unserialize __set_state __debugInfo __destruct offsetGet offsetSet offsetExists offsetUnset getIterator
    current key next rewind valid count jsonSerialize serialize unserialize
"""
_COMMON = """
    getMessage getCode getName getValue setName setValue getId __toString __construct toArray jsonSerialize count current key
    valid rewind getIterator offsetGet offsetSet willReturn expects method with assertEquals assertSame assertTrue
"""
_TYPE = r"(?:\$this\b|[^\s<$]|<[^>]*>)+"
_TAG = re.compile(
    rf"@(?:phpstan-|psalm-)?(var|param|return)\s+({_TYPE}(?:\s*[&|]\s*{_TYPE})*)(?:\s+&?(?:\.\.\.)?\$(\w+))?"
)
_LISTS = re.compile(r"\b(?:non-empty-)?(?:array|list|iterable)<")
_AROUND = frozenset({"parenthesized_expression", "clone_expression"})
_NAMING = frozenset({"name", "qualified_name", "relative_scope", "attribute_list"})
_VAGUE = frozenset({"array", "?array", "iterable", "?iterable", "mixed", "object"})


class _Php(Packaged):
    def imported(self, statement: str) -> Iterator[Bound]:
        r"""Read a `use` declaration, or an include.

        >>> [list(LANGUAGE.imported(each)) for each in (r"use A\{B, C as D};", "require 'a/b.php'")]
        [[('B', 'A', 'B'), ('D', 'A', 'C')], [('', 'a/b.php', '')]]
        """
        if not statement.startswith("use"):
            quoted = re.search(QUOTED, statement)
            if quoted:
                yield "", quoted[1], ""
            return
        text = in_one_line(without_comments(statement, f"{HASHED}|{SLASHED}"))[3:].strip()
        prefix, braces, inside = re.sub(r"\b(?:function|const)\s+", "", text).partition("{")
        for part in (inside.rstrip("} ") if braces else prefix).split(","):
            path, _, alias = part.strip().partition(" as ")
            whole = ((prefix.strip() if braces else "") + path.strip()).strip("\\").replace("\\", ".")
            module, _, name = whole.rpartition(".")
            if name:
                yield alias.strip() or name, module, name

    def alternatives(self, value: tree_sitter.Node, text: Read) -> Sequence[str]:
        """Return the values of a choice, "?" for a nameless class."""
        ends, left = [], [value]
        while left:
            each = left.pop()
            parts = each.named_children
            if each.type in _AROUND or (each.type == "binary_expression" and each.children[1].type == "??"):
                left += reversed(parts)
            elif each.type == "conditional_expression":
                left += (parts[-1], parts[-2])  # of `a ?: b` the condition
            elif each.type == "object_creation_expression" and any(part.type not in _NAMING for part in parts[:1]):
                ends.append("?")
            elif each != value and each.type != "throw_expression":
                ends.append(text(each))
        return ends

    def documented(self, node: tree_sitter.Node, comment: str) -> Iterator[tuple[tree_sitter.Node | None, str]]:
        """Read `@var`, `@param` and `@return` where types are vague."""
        told = {
            name or kind: _LISTS.sub("Map<", text).replace("$this", "static")
            for kind, text, name in _TAG.findall(comment)
        }
        if name := node.child_by_field_name("left") or (node if node.type == "variable_name" else None):
            typed = told.get((name.text or b"").decode().lstrip("$"), told.get("var", ""))
            if typed and typed not in _VAGUE:
                yield name.named_children[-1], typed
            return
        if node.type == "property_declaration":
            holders = [each for each in node.named_children if each.type == "property_element"]
            holders = holders if _is_vague(node, "type") else []
        else:
            parameters = node.child_by_field_name("parameters")
            holders = [
                each
                for each in (parameters.named_children if parameters is not None else ())
                if _is_vague(each, "type")
            ]
            if "return" in told and _is_vague(node, "return_type"):
                yield None, told["return"]
        for holder in holders:
            name = holder.child_by_field_name("name")
            typed = told.get((name.text or b"").decode().lstrip("$") if name is not None else "", "")
            typed = told.get("var", "") if node.type == "property_declaration" else typed
            if name is not None and typed:
                yield name.named_children[-1], typed

    def locate(self, modules: Modules, importer: str, module: str) -> str:
        """Find a file that is included."""
        return modules.beside(importer, module.lstrip("/"))

    def may_join_function(self, before: bytes, refs: References) -> bool:
        """Return False but after a dot, which joins texts."""
        return before.endswith(b".")

    def is_seen(self, file: Source, scope: str, candidate: Candidate) -> bool:
        """Return whether a declaration is no member; members need a receiver."""
        return "." not in candidate[1].qualified

    def chosen(
        self, file: Source, scope: str, found: Sequence[Candidate], modules: Modules
    ) -> tuple[Candidate, bool] | None:
        """Return a declaration of the namespace, imported, or global."""
        return by_package(file, found, ("",))


def _is_vague(node: tree_sitter.Node, field: str) -> bool:
    """Return whether a node declares no type, or one that tells little."""
    declared = node.child_by_field_name(field)
    return declared is None or (declared.text or b"").decode() in _VAGUE


LANGUAGE = _Php(
    "php",
    extensions=(".php", ".phtml", ".php3", ".php4", ".php5", ".php7", ".phps", ".ctp"),
    interpreters=("php",),
    module="tree_sitter_php",
    factory="language_php",
    queries=("php",),
    type_first=True,
    shares_names=True,
    marks_variables=True,
    overrides_fields=True,
    anything=frozenset({"mixed", "object"}),
    without_methods=frozenset({"string", "array", "iterable", "callable"}),
    imports_packages=True,
    common=_COMMON,
    self_names=SELVES | {"parent"},
    special=_SPECIAL,
    decorates=rb"#\[",
    inert="Override Deprecated ReturnTypeWillChange Pure NoReturn",
)
