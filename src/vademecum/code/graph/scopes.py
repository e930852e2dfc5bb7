"""Where each language looks for a name that neither the place nor the file's imports bind.

Python and JavaScript look nowhere else. Others see what is declared elsewhere: in the package or namespace (Go, Java,
Kotlin, C#, PHP), in the whole program (C, C++, Ruby).
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterator

from vademecum.code.graph.definitions import CLASSES, File
from vademecum.code.graph.modules import Modules
from vademecum.code.graph.terms import Node, Tier

Found = list[tuple[File, Node]]
Choice = tuple[tuple[File, Node], Tier] | None

HEADERS = (".h", ".hpp", ".hh", ".hxx", ".h++")
# Languages in which a bare name may be a member of the class around.
IMPLICIT_SELF = frozenset({"java", "kotlin", "csharp", "cpp", "ruby"})
# Languages that share names in a package, and in which a bare name never is a member.
MEMBERS_BY_RECEIVER = frozenset({"go", "php"})


def parent_scopes(scope: str) -> Iterator[str]:
    """Yield a qualified name and those around it, innermost first, the file's "" left out.

    >>> list(parent_scopes("A.f.g"))
    ['A.f.g', 'A.f', 'A']
    """
    while scope:
        yield scope
        scope = scope.rpartition(".")[0]


def is_here(file: File, scope: str, other: File, node: Node) -> bool:
    """Tell whether a declaration can be meant by its bare name from a place in a file."""
    around = node.qualified.rpartition(".")[0]
    if not around or file.language in MEMBERS_BY_RECEIVER:
        return not around
    if file.language in {"cpp", "c", "ruby"}:
        return node.kind in CLASSES or file.language == "cpp"
    return around in parent_scopes(scope) and file.path == other.path


def _go(file: File, _scope: str, found: Found, _modules: Modules) -> Choice:
    folder = posixpath.dirname(file.path)
    own = [
        each
        for each in found
        if posixpath.dirname(each[0].path) == folder and each[0].refs.package == file.refs.package
    ]
    return (own[0], Tier.EXACT) if own else None


def _by_package(file: File, _scope: str, found: Found, _modules: Modules) -> Choice:
    package = file.refs.package
    visible = {package, *(module for _, module, name in file.imports.get("*", ()) if name == "*")}
    if file.language == "csharp":  # the namespaces around are seen too
        parts = package.split(".")
        visible |= {".".join(parts[:length]) for length in range(1, len(parts))}
    if file.language == "php":
        visible.add("")
    own = [each for each in found if each[0].refs.package == package]
    near = own or [each for each in found if each[0].refs.package in visible]
    return (near[0], Tier.EXACT) if near else None


def _c(file: File, scope: str, found: Found, modules: Modules) -> Choice:
    """A function of C is one for the whole program; a header that is read says that it is meant."""
    own = [each for each in found if each[0].path == file.path]
    spaces = set(parent_scopes(scope))
    found = own or [
        e for e in found if (a := e[1].qualified.rpartition(".")[0]) == "" or a in spaces or _is_space(e[0], a, file)
    ]
    if not found:
        return None
    bodies = [each for each in found if not each[0].path.endswith(HEADERS)] or found
    headers = [each for each in found if each not in bodies]
    seen = {modules.locate(file.path, module, file.language) for _, module, _ in file.imports.get("", ())}
    is_read = own or any(each[0].path in seen for each in [*headers, *bodies])
    if len(bodies) == 1 or own:
        return (own or bodies)[0], Tier.EXACT if is_read else Tier.UNIQUE
    read = [each for each in [*headers, *bodies] if each[0].path in seen]
    return (read[0], Tier.EXACT) if len({node.qualified for _, node in read}) == 1 else None


def _is_space(other: File, around: str, file: File) -> bool:
    """Whether what a declaration stands in is a namespace that the file opens, or none of its classes."""
    opened = {module for _, module, name in file.imports.get("*", ()) if name == "*"}
    return around in opened or (around not in other.nodes and around.rpartition(".")[2] in file.refs.owners)


def _ruby(_file: File, scope: str, found: Found, _modules: Modules) -> Choice:
    spaces = [*parent_scopes(scope), ""]
    for space in spaces:
        own = [each for each in found if each[1].qualified.rpartition(".")[0] == space]
        if own:
            return own[0], Tier.EXACT if own[0][1].kind in CLASSES else Tier.UNIQUE
    return None


PACKAGED: dict[str, Callable[[File, str, Found, Modules], Choice]] = {
    "go": _go, "java": _by_package, "kotlin": _by_package, "csharp": _by_package, "php": _by_package, "c": _c,
    "cpp": _c, "ruby": _ruby,
}  # fmt: skip


def _same_folder(one: str, other: str) -> bool:
    return posixpath.dirname(one) == posixpath.dirname(other)


def _same_crate(one: str, other: str) -> bool:
    return one.partition("/src/")[0] == other.partition("/src/")[0]


def _anywhere(_one: str, _other: str) -> bool:
    return True


# Languages in which a class's members may be declared apart from it, and where they may stand then.
OPEN_CLASSES: dict[str, Callable[[str, str], bool]] = {
    "go": _same_folder, "rust": _same_crate, "cpp": _anywhere, "c": _anywhere, "ruby": _anywhere, "csharp": _anywhere,
    "kotlin": _anywhere,
}  # fmt: skip
