"""Ruby: names of the whole program, calls without brackets."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from vademecum.code.languages.bindings import listed_nodes
from vademecum.code.languages.expression import chain
from vademecum.code.languages.imports import QUOTED, Bound, text_of
from vademecum.code.languages.language import NAMELESS, Language, Read
from vademecum.code.languages.modules import Modules, nearest
from vademecum.code.languages.references import HANDED_ON, ITSELF
from vademecum.code.languages.scopes import CLASSES, Candidate, Source, anywhere, parent_scopes

if TYPE_CHECKING:
    import tree_sitter

# Hooks and conversions.
_SPECIAL = """
    initialize_copy initialize_dup initialize_clone method_missing respond_to_missing? included extended prepended
    inherited method_added singleton_method_added const_missing each to_s to_str to_a to_ary to_h to_hash to_proc
    to_sym to_i to_int to_path coerce hash eql? inspect call succ marshal_dump marshal_load encode_with init_with
    deconstruct deconstruct_keys
"""


_BRANCHES = frozenset({"assignment", "operator_assignment", "conditional", "if", "unless", "elsif"})
_PARTS = ("right", "consequence", "alternative")
_EVALUATING = frozenset({"instance_eval", "instance_exec", "class_eval", "class_exec", "module_eval", "module_exec"})
# A class without a name, and what it is made of.
_MADE = re.compile(
    r"Class\.new(?:\(([\w:]+)\)|\.(?:send\(:include,\s*|include\()([\w:]+)\)|\s*(?:do|\{)\s*include\s+([\w:]+))"
)
_BLOCKS = frozenset({"then", "else", "begin", "parenthesized_statements"})


class _Ruby(Language):
    def imported(self, statement: str) -> Iterator[Bound]:
        """Read a call that may load a file.

        >>> [list(LANGUAGE.imported(each)) for each in ("require 'a/b'", "require_relative('c')", "puts 'd'")]
        [[('', 'a/b', '')], [('', './c', '')], []]
        """
        method, quoted = statement.split(None, 1)[0].partition("(")[0], re.search(QUOTED, statement)
        if quoted and method in {"require", "require_relative", "load", "autoload"}:
            yield "", f"./{quoted[1]}" if method == "require_relative" else quoted[1], ""

    def call_of_tokens(self, name: tree_sitter.Node) -> str:
        """Return the call that a symbol makes on its receiver."""
        around = name.parent.parent if name.parent is not None and name.parent.type == "argument_list" else None
        receiver = around.child_by_field_name("receiver") if around is not None else None
        method = around.child_by_field_name("method") if around is not None else None
        is_handed_on = method is not None and text_of(method).startswith(("delegate", "def_"))
        before = "?" if around is None or is_handed_on else "self" if receiver is None else text_of(receiver)
        return f"{before}.{text_of(name).lstrip(':')}"

    def taken(self, parameters: tree_sitter.Node, text: Read) -> Sequence[tuple[int, str]]:
        """Return the values for a method's block, or the block's receiver."""
        listed, call = listed_nodes(parameters), parameters.parent
        if call is None or not listed or listed[-1].type != "block_argument":
            return [(place, chain(text(each)) or "?") for place, each in enumerate(listed)]
        receiver, method = call.child_by_field_name("receiver"), call.child_by_field_name("method")
        before = chain(text(receiver)) or "?" if receiver is not None else ""
        called = text(method) if method is not None else "?"
        if called not in _EVALUATING:
            return [(HANDED_ON, f"{before}.{called}".lstrip("."))]
        return [
            (ITSELF, before or "self"),
            *((place, chain(text(each)) or "?") for place, each in enumerate(listed[:-1])),
        ]

    def alternatives(self, value: tree_sitter.Node, text: Read) -> Sequence[str]:
        """Return the ends of a value, calls without their arguments."""
        ends = _ends(value)
        if ends != [value]:
            return [each for end in ends for each in self.alternatives(end, text) or (text(end),)]
        spelled = ""
        while value.type == "call" and (method := value.child_by_field_name("method")) is not None:
            receiver = value.child_by_field_name("receiver")
            holder = text_of(receiver) if receiver is not None else ""
            is_class = holder == "Class" or (holder == "Class.new" and text_of(method) in {"send", "include"})
            if is_class and (made := _MADE.match(text(value))):
                return (made[1] + spelled if made[1] else f"{made[2] or made[3]}.{NAMELESS}{spelled}",)
            brackets = "()" if method.end_byte != value.end_byte else ""
            spelled = f"{'.' if holder else ''}{text_of(method)}{brackets}{spelled}"
            if receiver is None:
                return (spelled,)
            value = receiver
        return (text(value) + spelled,) if spelled else ()

    def locate(self, modules: Modules, importer: str, module: str) -> str:
        """Find a file that is required."""
        name = module if module.endswith(".rb") else f"{module}.rb"
        if module.startswith("./"):
            return modules.beside(importer, name)
        return nearest((p for p in modules.ending(name) if p == name or p.endswith(f"lib/{name}")), importer)

    def is_seen(self, file: Source, scope: str, candidate: Candidate) -> bool:
        """Return whether a name can mean a declaration outside of blocks."""
        other, node = candidate
        within = other.within.get(node.qualified, "")
        if node.kind in CLASSES or "." in node.qualified + within:
            return node.kind in CLASSES
        if not within or other.path == file.path:
            return not within or within in parent_scopes(scope, file.within)
        own = other.path.rpartition("/")[2].removesuffix(".rb")
        return any(module.rpartition("/")[2] == own for _, module, _ in file.imports.get("", ()))

    def chosen(
        self, file: Source, scope: str, found: Sequence[Candidate], modules: Modules
    ) -> tuple[Candidate, bool] | None:
        """Return the declaration of the innermost scope; classes are certain."""
        for space in (*parent_scopes(scope), ""):
            own = [each for each in found if each[1].qualified.rpartition(".")[0] == space]
            if own:
                return own[0], own[0][1].kind in CLASSES
        return None


def _ends(value: tree_sitter.Node) -> list[tree_sitter.Node]:
    """Return the expressions whose value an expression may have."""
    ends: list[tree_sitter.Node] = []
    left = [value]  # no recursion: `a || b || …` is as deep as it is long
    while left:
        each = left.pop()
        is_binary = each.type == "binary"
        parts = each.named_children[-1:] if each.type in _BLOCKS else []
        if each.type in _BRANCHES or (is_binary and each.children[1].type in {"||", "or"}):
            names = ("left", *_PARTS) if is_binary else _PARTS
            parts = [part for name in names if (part := each.child_by_field_name(name))]
        left += reversed(parts)
        ends += [] if parts else [each]
    return ends


LANGUAGE = _Ruby(
    "ruby",
    extensions=(".rb", ".rake", ".gemspec", ".ru", ".podspec", ".jbuilder", ".rbw", ".thor"),
    names=(
        "gemfile", "rakefile", "guardfile", "podfile", "vagrantfile", "capfile", "fastfile", "brewfile", "berksfile",
        "dangerfile", "appraisals", ".irbrc", ".pryrc",
    ),
    aliases=("rb",),
    interpreters=("ruby", "jruby", "rake"),
    module="tree_sitter_ruby",
    queries=("ruby",),
    implicit_self=True,
    shares_names=True,
    path_in_text=rb"(?:::)?[A-Z]\w{0,99}+(?:::[A-Z]\w{0,99}+){1,9}+",
    turns={"new": "inst", "class": "def", NAMELESS: "def"},
    calls_bare=True,
    overrides_fields=True,
    hold_all=frozenset({"Class", "Module"}),  # which make classes without a name
    one="instance allocate",
    same="tap dup clone freeze itself",
    opened_in=anywhere,
    reopens=True,
    common="expect eq to and_return be_a subject let describe context it before after specify double allow "  # RSpec's
    "map collect select reject any? all? find detect inject each_with_index times",
    special=_SPECIAL,
)  # fmt: skip
