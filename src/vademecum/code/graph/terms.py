"""The words of the graph: relations, tiers, nodes and edges."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple

from vademecum.digests import blake2b

# Files that say where modules lie: when one changes, every file is asked again.
MANIFESTS = re.compile(
    r"(?:.*/)?(?:go\.mod|Cargo\.toml|package\.json|[tj]sconfig[\w.-]*\.json|[^/]*\.csproj|Directory\.Build\.\w+|[^/]*[Uu]sings?\.cs)"
)


class Relation(IntEnum):
    """The relation of an edge's source to its target.

    The number is stored.
    """

    CONTAINS = 0  # a file or declaration holds the target; not stored as an edge but as the target's `parent`
    IMPORTS = 1  # a file reads the target, a file
    CALLS = 2  # a declaration calls the target, or makes an instance of it
    INHERITS = 3  # a class extends the target; a method overrides it
    IMPLEMENTS = 4  # the same of an interface, trait or protocol
    TESTS = 5  # a test file is about the target, a file
    REFERENCES = 6  # a declaration names the target: as a type, a value, a decorator, in an import, in a document

    def __str__(self) -> str:
        """Return the word used in answers."""
        return self.name.lower()


class Tier(IntEnum):
    """The certainty of an edge; all but the last are trusted.

    The number is stored.
    """

    PROVEN = 0  # by a compiler, in an index of its answers; shown as exact
    EXACT = 1  # by scope and imports alone
    TYPED = 2  # by an annotation, a constructor or a declared result
    UNIQUE = 3  # only one definition in the repository has this name, and nothing says that it is not meant
    GUESS = 4  # one of several definitions of the name

    def __str__(self) -> str:
        """Return the word used in answers."""
        return "exact" if self is Tier.PROVEN else self.name.lower()


TRUSTED = (Tier.PROVEN, Tier.EXACT, Tier.TYPED, Tier.UNIQUE)


class Node(NamedTuple):
    """A file, or a declaration in a file.

    Declarations of one qualified name in one file (overloads) are one node.
    """

    id: int  # 63 bits of a hash of path and qualified name: the same in every snapshot
    path: str
    name: str  # a file's is its path's last part
    qualified: str  # "" for a file
    kind: str  # "file", or a symbol's kind
    start_line: int
    end_line: int
    chunk: int  # the ordinal of the chunk that defines it, -1 for a file
    parent: int  # the node around it, 0 for a file

    @property
    def label(self) -> str:
        """The name people use: a qualified name, or a path."""
        return self.qualified or self.path


@dataclass(frozen=True, slots=True)
class Edge:
    """One reference from node to node, with its first line."""

    source: int
    relation: Relation
    target: int
    tier: Tier
    line: int


def node_id(path: str, qualified: str = "") -> int:
    """Return the id of a declaration, or of a file.

    >>> node_id("a.py", "f") == node_id("a.py", "f") != node_id("a.py")
    True
    """
    digest = blake2b(f"{path}\\0{qualified}".encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big") >> 1
