"""One language as an object: recognition, grammar, rules of names.

Each module of this folder that has a `.scm` of its name beside it defines `LANGUAGE`, an instance of `Language` or of a
subclass. The other modules ask that object and compare no language's name. A field or method is here because some
language differs in it; the default is what most of them do. `recognised` holds the languages that have no grammar.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from vademecum.code.languages.lexing import Span, plain, tokens
from vademecum.code.languages.scopes import Candidate, Source, parent_scopes

if TYPE_CHECKING:
    import tree_sitter

    from vademecum.code.languages.imports import Bound
    from vademecum.code.languages.modules import Modules
    from vademecum.code.languages.references import References

Read = Callable[["tree_sitter.Node"], str]  # the text of a node
Parse = Callable[[bytes], "tree_sitter.Node | None"]  # the root of a tree, None where time ran out
NAMELESS = "class!"  # after a module: a class without a name that includes it (Ruby)
SUPERS = frozenset({"super", "parent", "base"})
SELVES = frozenset({"self", "this", "$this", "Self", "static", "$static"})


@dataclass(frozen=True, eq=False)
class Language:
    """One language."""

    id: str
    # How files are recognised.
    extensions: tuple[str, ...] = ()  # with the dot, lower case
    names: tuple[str, ...] = ()  # whole file names, lower case
    aliases: tuple[str, ...] = ()  # what people type for the language
    interpreters: tuple[str, ...] = ()  # what a shebang calls the language
    prefixes: tuple[str, ...] = ()  # beginnings of file names, lower case
    # How files are parsed.
    module: str | None = None  # the grammar's wheel
    factory: str = "language"  # the function in the wheel that returns the grammar
    queries: tuple[str, ...] = ()  # the `.scm` files that together make the query
    equations: bool = False  # neighbouring declarations of one name are one definition: clauses, overloads
    # How files are cut and described.
    is_prose: bool = False  # people read the files as text
    is_data: bool = False  # a name before a colon is a key, and calls nothing
    is_document: bool = False  # files refer to code by links and code spans
    sections: str = ""  # which scanner of `chunking.sections` cuts files: "headings", "statements", "" for blocks
    block: bytes = b""  # a regular expression for a line that opens an outermost block, with its name
    inner_tests: frozenset[str] = frozenset()  # modules within a file of product code that hold its tests
    is_described: bool = False  # Python's own parser describes the chunks
    type_first: bool = False  # a type is written before the name it belongs to
    result_last: bool = False  # a function's result type follows its parameters without a mark
    declares_apart: bool = False  # a function may be declared in one place and defined in another
    lexical: tuple[bytes, ...] = ()  # how comments and strings begin and go on; see `lexing.tokens`
    # How names are resolved.
    head: str = ""  # the language whose family this one belongs to: members call each other's code
    is_lexical: bool = False  # a name means the same all over a file unless something between binds it
    implicit_self: bool = False  # a bare name may be a member of the class around
    overrides_fields: bool = False  # a field takes the place of its base's, as a method does
    runs_class_bodies: bool = False  # a class body runs from top to bottom and sees its own names
    shares_names: bool = False  # a file sees names of its package or program that it does not import; see `chosen`
    names_modules: bool = False  # a bare name may be a module: `self`, a crate
    library: str = ""  # the namespace of the language's own library
    opens_namespaces: bool = False  # an unknown first name may be a namespace that other files open
    imports_packages: bool = False  # an import may name a package, and a chain go on from there
    has_submodules: bool = False  # an imported name may be a module below the module
    separator: str = "."  # stands between a module's name and one below it
    self_names: frozenset[str] = SELVES | {"super"}  # names that mean the object or class around
    marks_variables: bool = False  # `$` begins a variable's name
    turns: Mapping[str, str] = field(default_factory=dict)  # by member: "inst" of its class, or "def", the class of it
    call_method: str = ""  # the member that runs when an instance is called
    calls_super: bool = False  # `super()` means what `super` means elsewhere
    calls_apart: bool = False  # a variable does not hide a function of its name
    calls_bare: bool = False  # naming a function calls it, without brackets
    capital_functions: bool = False  # functions begin with a capital, as classes do
    types_results: bool = False  # a library's function gives what the library declares, or says what else
    generic: frozenset[str] = frozenset()  # modules of the library whose functions give what they are given
    shadows_packages: bool = False  # a variable may be named after the package that it is made by
    anything: frozenset[str] = frozenset()  # types that every value is of
    without_methods: frozenset[str] = frozenset()  # types on which nothing is called but what they name or hold
    subscripts_classes: bool = False  # a class may be subscripted and stays the class: `Generic[T]`
    names_arguments: bool = False  # `f(name=1)` names a parameter
    implied: str = ""  # the name of an argument that a function without a name does not list
    has_beans: bool = False  # libraries read and write fields by methods so named
    has_extensions: bool = False  # a function may be called on a type that it extends from outside
    path_in_text: bytes = b""  # how a text that is the path of a declaration looks
    fixture_file: str = ""  # the file whose functions give a test its parameters, in each folder
    has_exports: bool = False  # a module hands on what it exports, and nothing else
    nests_functions: bool = False  # functions stand in objects and in functions without a name
    is_structural: bool = False  # what has the methods of an interface is of it, said or not
    erases_types: bool = False  # interfaces, namespaces and aliases have no members at run time
    numbers_fields: bool = (
        False  # fields have numbers or a method's name, variants hold fields, `let x = x()` calls another x
    )
    has_markup: bool = False  # markup in the file names members of its object by their bare names
    has_shorthand: bool = False  # `{ name }` takes a member out of an object or puts one in
    assigns_modules: bool = False  # an assignment may import or export a module; see `assigned`
    hold_all: frozenset[str] = frozenset()  # objects of the library that the repository may put its own into
    locates_by_file: bool = False  # where a module lies depends on the file that names it, not on its folder alone
    opened_in: Callable[[str, str], bool] | None = None  # whether a class at a path may get members at another path
    extends_by_traits: bool = False  # files from afar give a class members too, and name it so that it is known
    builds_one: bool = False  # of the functions of one name in a package a build takes one
    reopens: bool = False  # a class may be declared in parts, in several files
    special: str = ""  # methods, and functions, that the language or its library calls by itself, separated by blanks
    decorates: bytes = b""  # a regular expression for how a mark begins; what is marked may be called by the mark
    inert: str = ""  # those that call nothing, separated by blanks
    same: str = ""  # methods of containers and wrappers that give all they hold, separated by blanks
    unwraps: frozenset[str] = frozenset()  # those of them that no type has by a trait from elsewhere
    # By one of them (Rust's `await`), the methods of a type that gives something else there, as a future does.
    gives_else: Mapping[str, Sequence[str]] = field(default_factory=dict)
    one: str = ""  # methods of containers that give one element, separated by blanks
    common: str = ""  # names of libraries' methods, beside those of the language's own in `library/<id>.txt`
    slow_on_errors: bool = False  # an error behind thousands of brackets costs the grammar the square of their number

    @property
    def adds_methods(self) -> bool:
        """True where types from elsewhere may have the repository's methods."""
        return self.has_extensions or self.numbers_fields

    @property
    def family(self) -> str:
        """The id of the family's head."""
        return self.head or self.id

    @cached_property
    def common_names(self) -> frozenset[str]:
        """Names of methods that libraries of the language have."""
        listed = Path(__file__).with_name("library") / f"{self.id}.txt"
        return frozenset(f"{self.common} {listed.read_text('ascii') if listed.exists() else ''}".split())

    @cached_property
    def library_classes(self) -> Mapping[str, frozenset[str]]:
        """By class of the language's library: its methods, beside Object's."""
        listed = Path(__file__).with_name("library") / f"{self.id}.classes.txt"
        rows = (row.split() for row in listed.read_text("ascii").splitlines()) if listed.exists() else ()
        return {name: frozenset(methods) for name, *methods in rows}

    def may_join_function(self, before: bytes, refs: References) -> bool:
        """Return whether a function outside of classes may stand after `before`."""
        return True

    def calls_itself(self, name: str) -> bool:
        """Return whether the language calls a method so named, as an operator's."""
        return not re.match(r"[\w$#]", name) or name in self._special

    def otherwise(self, name: str) -> Iterable[str]:
        """Return how other languages write a method's name."""
        return ()

    @cached_property
    def _special(self) -> frozenset[str]:
        return frozenset(self.special.split())

    @cached_property
    def gives(self) -> Mapping[str, str]:
        """By method of a library's container: "same" or "one"."""
        return dict.fromkeys(self.same.split(), "same") | dict.fromkeys(self.one.split(), "one")

    def refined(self, name: str, head: bytes) -> str:
        """Return the language id, judged from the first bytes too."""
        return self.id

    def readable(self, content: bytes) -> bytes:
        """Return a file rewritten, at equal length, for the grammar."""
        return content

    def unwrapped(self, root: tree_sitter.Node, content: bytes, parse: Parse) -> Iterator[tuple[int, bytes]]:
        """Yield the contents of macros, at equal length, with their places."""
        yield from ()

    def lexed(self, content: bytes) -> Iterator[Span] | None:
        """Yield comments and strings in order; None asks for a parser."""
        return plain(content, tokens(*self.lexical)) if self.lexical else None

    # -- references ----------------------------------------------------------------------------------------------

    def imported(self, statement: str) -> Iterable[Bound]:
        """Return the names that an import statement binds, in order."""
        return ()

    def exported(self, statement: tree_sitter.Node, text: Read, whole: Read) -> Iterable[Bound]:
        """Return the names that an export statement hands on.

        `text` reads the beginning of a node, `whole` all of it.
        """
        return ()

    def written_out(self, value: tree_sitter.Node) -> tree_sitter.Node | None:
        """Return the object literal that a result is, None for others."""
        return None

    def members(self, value: tree_sitter.Node, text: Read) -> Iterable[tuple[str, str]]:
        """Return the members of an object literal, each with its chain."""
        return ()

    def assigned(
        self, name: tree_sitter.Node, value: tree_sitter.Node, text: Read, whole: Read
    ) -> tuple[Iterable[Bound], Iterable[Bound]] | None:
        """Return the imports and the exports of an assignment, or None.

        Asked where `assigns_modules`. `text` reads the beginning of a node, `whole` all of it.
        """
        return None

    def alternatives(self, value: tree_sitter.Node, text: Read) -> Sequence[str]:
        """Return the expressions that a value may be, () for itself."""
        return ()

    def giving(self, value: tree_sitter.Node) -> tree_sitter.Node:
        """Return the telling part of a value."""
        return value

    def taken_apart(self, pattern: tree_sitter.Node, text: Read) -> Iterable[tuple[tree_sitter.Node, str]]:
        """Return the names that a pattern binds, each with its path.

        The path goes on from what is taken apart, as ".a.b", or begins with the type that the pattern names; "" is unknown.
        """
        return ()

    def member_types(self, written: tree_sitter.Node, text: Read) -> Iterable[tuple[str, str]]:
        """Return the members of a written type with their types."""
        return ()

    def documented(self, node: tree_sitter.Node, comment: str) -> Iterable[tuple[tree_sitter.Node | None, str]]:
        """Return the types that a comment tells, None for a result."""
        return ()

    def taken(self, parameters: tree_sitter.Node, text: Read) -> Sequence[tuple[int, str]]:
        """Return the places and types of parameters that may take a function.

        The type of all that follow begins with "...".
        """
        return ()

    def call_of_tokens(self, name: tree_sitter.Node) -> str:
        """Return the call of a name among macro tokens, "" for none."""
        return ""

    def package(self, known: str, found: str) -> str:
        """Return the package of a file that declares a second one.

        `known` is the first, "" for none.
        """
        return known or found

    def hidden_packages(self, content: bytes) -> Iterable[str]:
        """Return packages that a file declares where a parser sees none."""
        return ()

    def is_transparent(self, name: tree_sitter.Node) -> bool:
        """Return whether a namespace's content belongs to the one around it."""
        return False

    def results(self, written: tree_sitter.Node, text: Read) -> Sequence[str]:
        """Return the types that a function's results are used as."""
        return (text(written),)

    def is_guarded(self, node: tree_sitter.Node) -> bool:
        """Return whether a condition around a node only guards its file."""
        return False

    def alias_around(self, node: tree_sitter.Node) -> tree_sitter.Node | None:
        """Return the name of an alias whose type parameter a name is."""
        return None

    def is_alias(self, node: tree_sitter.Node, *, bounded: bool) -> bool:
        """Return whether a captured name stands for another type.

        `bounded` says that a type parameter has a bound.
        """
        return True

    # -- modules and packages ------------------------------------------------------------------------------------

    def locate(self, modules: Modules, importer: str, module: str) -> str | None:
        """Return the path of a module, "" for elsewhere.

        A package without a file of its own is its folder with a slash. None: the language imports no files by name.
        """
        return None

    def may_be_here(self, modules: Modules, module: str) -> bool:
        """Return whether an absent module may be the repository's still."""
        return False

    def submodule(self, modules: Modules, where: str, name: str) -> str:
        """Return the path of a module below another, "" for none."""
        return ""

    def in_package(self, path: str) -> bool:
        """Return whether a file in a package's folder belongs to the package."""
        return False

    def has_body(self, kind: str, name: str, text: str) -> bool:
        """Return whether a declaration is no prototype."""
        return True

    def is_header(self, path: str) -> bool:
        """Return whether a file is a header."""
        return False

    def imports_declaration(self, name: str) -> bool:
        """Return whether an import spells a declaration, not a file."""
        return False

    # -- scopes --------------------------------------------------------------------------------------------------

    def is_seen(self, file: Source, scope: str, candidate: Candidate) -> bool:
        """Return whether a bare name can mean a declaration elsewhere.

        Asked where `shares_names`.
        """
        other, node = candidate
        around = node.qualified.rpartition(".")[0]
        return not around or (around in parent_scopes(scope) and file.path == other.path)

    def chosen(
        self, file: Source, scope: str, found: Sequence[Candidate], modules: Modules
    ) -> tuple[Candidate, bool] | None:
        """Return the declaration a bare name means, and its certainty.

        Asked where `shares_names`, of the candidates that `is_seen` lets pass.
        """
        return None
