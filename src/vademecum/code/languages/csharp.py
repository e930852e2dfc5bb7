"""C#: names shared in nested namespaces, classes declared in parts."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from vademecum.code.languages.c import with_one_branch
from vademecum.code.languages.imports import Bound, in_one_line
from vademecum.code.languages.java import Packaged
from vademecum.code.languages.language import SELVES, Read
from vademecum.code.languages.scopes import Candidate, Source, anywhere, by_package

if TYPE_CHECKING:
    import tree_sitter

    from vademecum.code.languages.modules import Modules

# Methods of object and of interfaces that the language calls.
_SPECIAL = """
    ToString Equals GetHashCode Dispose DisposeAsync GetEnumerator MoveNext CompareTo Invoke Deconstruct GetAwaiter
    Add Main
"""
_COMMON = """
    Add AddRange Any Append AppendLine All Clear Close Contains ContainsKey Copy CopyTo Count Create Dispose Equals First
    FirstOrDefault Format Get GetHashCode GetType GetValue IndexOf Insert Invoke Join Parse Read ReadLine Remove Replace Select
    Set Single Skip Split StartsWith EndsWith Substring Sum Take ToArray ToList ToLower ToString ToUpper Trim TryGetValue TryParse
    Where Write WriteLine Wait ConfigureAwait Add Start Stop Run Open Flush Load Save Send
"""
# Methods of the standard library's containers and wrappers.
_SAME = """
    Where ToList ToArray OrderBy Reverse Skip Take Distinct Concat
"""
_ONE = """
    First FirstOrDefault Single SingleOrDefault Last LastOrDefault ElementAt Dequeue Pop Peek Find
"""


class _CSharp(Packaged):
    def readable(self, content: bytes) -> bytes:
        """Return a file with one branch of conditionals that cut across code."""
        return with_one_branch(content) if b"#if" in content else content

    def imported(self, statement: str) -> Iterator[Bound]:
        """Read a `using` directive.

        >>> [list(LANGUAGE.imported(each)) for each in ("using A.B;", "global using C = A.B.D<E>;")]
        [[('*', 'A.B', '*')], [('C', 'A.B', 'D')]]
        """
        text = in_one_line(statement).removeprefix("global ").removeprefix("using ").removeprefix("static ")
        alias, equals, path = text.partition("=")
        if equals:
            module, _, name = path.strip().removeprefix("global::").partition("<")[0].rpartition(".")
            yield alias.strip(), module, name
        else:
            yield "*", text.strip().removeprefix("global::"), "*"

    def calls_itself(self, name: str) -> bool:
        """Return whether the language, or its library, calls a function."""
        return name.startswith("ShouldSerialize") or super().calls_itself(name)

    def taken(self, parameters: tree_sitter.Node, text: Read) -> Sequence[tuple[int, str]]:
        """Return the receiver's type of an extension method, at place -1."""
        first = parameters.named_children[0]
        extended, marks = first.child_by_field_name("type"), {text(each) for each in first.children[:2]}
        return [(-1, text(extended))] if extended is not None and "this" in marks else []

    def chosen(
        self, file: Source, scope: str, found: Sequence[Candidate], modules: Modules
    ) -> tuple[Candidate, bool] | None:
        """Return a declaration in sight: by namespace, imports, or the project."""
        parts = file.refs.package.split(".")
        around = (".".join(parts[:length]) for length in range(1, len(parts)))
        return by_package(file, found, (*around, *_used_by_project(file.path, modules)))


# Where a namespace is opened for a whole project: a `global using`, by convention in files of such a name, or an item.
_USINGS = re.compile(r"(?:.*/)?(?:[^/]*usings?\.cs|[^/]*\.csproj|Directory\.Build\.(?:props|targets))", re.IGNORECASE)
_USING = re.compile(
    r"""^\s*global\s+using\s+(?:global::)?([\w.]+)\s*;|<Using\s+Include="([\w.]+)"\s*/?>""", re.MULTILINE
)


def _used_by_project(path: str, modules: Modules) -> Iterator[str]:
    """Yield the namespaces that a project opens for all files."""
    used = modules.once(_usings)
    while path:
        path = posixpath.dirname(path)
        yield from used.get(path, ())


def _usings(modules: Modules) -> dict[str, list[str]]:
    """Return the namespaces opened for all files below a directory."""
    found: dict[str, list[str]] = {}
    projects = {posixpath.dirname(path) for path in modules.paths if path.endswith(".csproj")}
    for path in filter(_USINGS.fullmatch, modules.paths):
        below = folder = posixpath.dirname(path)
        while path.endswith(".cs") and below and below not in projects:
            below = posixpath.dirname(below)
        named = [written or item for written, item in _USING.findall(modules.content(path))]
        found.setdefault(below if below in projects else folder, []).extend(named)
    return found


LANGUAGE = _CSharp(
    "csharp",
    extensions=(".cs", ".csx"),
    aliases=("c#", "cs"),
    interpreters=("dotnet-script",),
    module="tree_sitter_c_sharp",
    queries=("csharp",),
    type_first=True,
    slow_on_errors=True,
    implicit_self=True,
    shares_names=True,
    opened_in=anywhere,
    reopens=True,
    common=_COMMON,
    same=_SAME,
    one=_ONE,
    self_names=SELVES | {"base"},
    special=_SPECIAL,
    decorates=rb"\[",
    inert="""
        Obsolete MethodImpl Pure DebuggerStepThrough DebuggerHidden DebuggerNonUserCode SuppressMessage EditorBrowsable
        NotNullWhen MemberNotNull DoesNotReturn return RequiresUnreferencedCode UnconditionalSuppressMessage ExcludeFromCodeCoverage
    """,
    capital_functions=True,
    has_extensions=True,
    anything=frozenset({"object", "dynamic"}),
)
