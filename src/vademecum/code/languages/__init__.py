"""The languages: recognition of files, and each language's grammar and queries.

A module of this folder with a `.scm` of its name beside it is a language; see `language`. Importing this package imports
no language and no grammar. The module of one language is imported when something is asked of that language, and all of
them once a file's name is to be recognised.
"""

from __future__ import annotations

import functools
import importlib
import os
import re
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast

from vademecum.errors import UsageError

if TYPE_CHECKING:
    import tree_sitter

    from vademecum.code.languages.language import Language

_FOLDER = Path(__file__).parent
_SHEBANG = re.compile(rb"#![ \t]*(?:\S*/)?(?:env[ \t]+(?:-\S+[ \t]+)*(?:\w+=\S*[ \t]+)*)?(?:\S*/)?([A-Za-z][\w+.-]*)")


@dataclass(frozen=True, slots=True)
class Grammar:
    """A loaded grammar and the text of its query.

    Threads may share a grammar.
    """

    compiled: tree_sitter.Language
    source: str

    @property
    def predicates(self) -> bool:
        """Say whether the query looks at the text of nodes."""
        return "(#" in self.source


HEAD = 1 << 14  # bytes at the beginning of a file that tell its language


@dataclass(frozen=True, slots=True)
class Joint:
    """A grammar's query and its query for references, as one.

    One walk through a tree answers both.
    """

    query: tree_sitter.Query
    own: int  # how many patterns, the first ones, are the grammar's own


def language_of(path: str, head: bytes = b"") -> str:
    """Return the language id of a file, by name, then by content.

    Args:
        path: The file's name or path.
        head: The first bytes of the content (a few kilobytes are plenty); may be empty.

    Returns:
        The id of a language; "text" when nothing fits.

        >>> language_of("src/app.tsx"), language_of("Makefile"), language_of("bin/run", b"#!/usr/bin/env python3")
        ('tsx', 'makefile', 'python')
        >>> language_of("a.h"), language_of("a.h", b"namespace a { class B; }"), language_of("notes")
        ('c', 'cpp', 'text')
    """
    name = path.replace("\\", "/").rpartition("/")[2].lower()
    endings = (name[at:] for at, letter in enumerate(name) if letter == ".")  # the longest first
    by_ending = (found for ending in endings if (found := _table("extensions").get(ending)))
    by_beginning = (found for prefix, found in _table("prefixes").items() if name.startswith(prefix))
    by_name = _table("names").get(name) or next(by_ending, None) or next(by_beginning, None)
    found = by_name or _by_shebang(head) or "text"
    return _by_id()[found].refined(name, head)


def canonical(name: str) -> str | None:
    """Return the language id that a user means, or None.

    >>> [canonical(name) for name in ("TS", "c++", ".rs", "python", "klingon")]
    ['typescript', 'cpp', 'rust', 'python', None]
    """
    wanted = name.strip().lower()
    is_id = wanted in with_grammar() or wanted in _recognised()
    return wanted if is_id else _table("aliases").get(wanted) or _table("extensions").get("." + wanted.lstrip("."))


def named_language(name: str) -> str:
    """Return the language id that a user means.

    Raises:
        UsageError: nothing is called so; the message names the closest language.
    """
    found = canonical(name)
    if found is None:
        from difflib import get_close_matches

        close = get_close_matches(name.lower(), list(_by_id()), 1)
        hint = f"did you mean {close[0]!r}?" if close else "`vade status` lists those in this repository"
        raise UsageError(f"unknown language {name!r}: {hint}")
    return found


@functools.cache
def row(language: str) -> Language | None:
    """Return a language by its id, or None."""
    return _with_module(language) if language in with_grammar() else _recognised().get(language)


def rules_of(language: str) -> Language:
    """Return a language by its id, a plain one for unknown ids.

    >>> rules_of("typescript").family, rules_of("klingon").family
    ('javascript', 'klingon')
    """
    from vademecum.code.languages.language import Language

    return row(language) or Language(language)


@functools.cache
def with_grammar() -> tuple[str, ...]:
    """Return the ids of the languages that have a grammar."""
    files = set(os.listdir(_FOLDER))
    queries = {name.partition(".")[0] for name in files if name.endswith(".scm")}
    return tuple(sorted(name for name in queries if f"{name}.py" in files))


def every_language() -> tuple[Language, ...]:
    """Return every language, those with a grammar first."""
    return tuple(_by_id().values())


@functools.cache
def compiled_grammar(language: str) -> tree_sitter.Language | None:
    """Load a language's grammar, once per process; None when it has none."""
    found = row(language)
    if found is None or found.module is None:
        return None
    import tree_sitter

    with warnings.catch_warnings():
        # Grammars built against older bindings hand out a plain integer; it works all the same.
        warnings.simplefilter("ignore", DeprecationWarning)
        return tree_sitter.Language(getattr(importlib.import_module(found.module), found.factory)())


@functools.cache
def grammar(language: str) -> Grammar | None:
    """Load a language's grammar and query once, None for no grammar."""
    found, compiled = row(language), compiled_grammar(language)
    if found is None or compiled is None:
        return None
    source = "\n".join((_FOLDER / f"{query}.scm").read_text("utf-8") for query in found.queries)
    return Grammar(compiled, source)


@functools.cache
def own_query(language: str) -> tree_sitter.Query | None:
    """Compile the query for declarations once, None for no grammar."""
    loaded = grammar(language)
    if loaded is None:
        return None
    import tree_sitter

    return tree_sitter.Query(loaded.compiled, loaded.source)


@functools.cache
def joint_query(language: str) -> Joint | None:
    """Compile both queries as one, once; None without references."""
    found, loaded = row(language), grammar(language)
    if found is None or loaded is None or not has_references(language):
        return None
    import tree_sitter

    sources = [loaded.source, *(path.read_text("utf-8") for path in _references(found))]
    query = tree_sitter.Query(loaded.compiled, "\n".join(sources))
    end = len(loaded.source.encode())
    own = sum(query.start_byte_for_pattern(number) < end for number in range(query.pattern_count))
    return Joint(query, own)


@functools.cache
def has_references(language: str) -> bool:
    """Return whether the graph reads references in a language."""
    found = row(language)
    return found is not None and any(True for _ in _references(found))


def _references(found: Language) -> Iterator[Path]:
    names = dict.fromkeys((*found.queries, found.id))
    paths = (_FOLDER / f"{name}.refs.scm" for name in names)
    return (path for path in paths if path.exists())


def _by_shebang(head: bytes) -> str | None:
    match = _SHEBANG.match(head)
    if not match:
        return None
    interpreter = match[1].decode("ascii", "ignore").lower()
    return _table("interpreters").get(interpreter) or _table("interpreters").get(interpreter.rstrip("0123456789."))


def _with_module(language: str) -> Language:
    return cast("Language", importlib.import_module(f"{__name__}.{language}").LANGUAGE)


@functools.cache
def _recognised() -> Mapping[str, Language]:
    from vademecum.code.languages.recognised import RECOGNISED

    return {entry.id: entry for entry in RECOGNISED}


@functools.cache
def _by_id() -> Mapping[str, Language]:
    return {language: _with_module(language) for language in with_grammar()} | dict(_recognised())


@functools.cache
def _table(part: str) -> dict[str, str]:
    """Return the languages' ids by their extensions, say."""
    return {each: entry.id for entry in every_language() for each in getattr(entry, part)}
