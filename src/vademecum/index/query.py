"""Read a question: its terms, and the names it spells out."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from vademecum.index.tokenize import key, query_terms, run_terms

# A name as code writes it: a capital inside, an underscore, a digit run, or a qualifier. `Engine.open`, `std::vec`.
_IDENTIFIER = re.compile(r"[A-Za-z_$][\w$]*(?:(?:\.|::|->|#|/)[A-Za-z_$][\w$]*)*")
_CODE_LIKE = re.compile(r"[a-z0-9][A-Z]|_|::|->|#|[A-Z]{2,}[a-z]|\w\.\w|\(\)")
# A place in a file, as compilers, traces and people write it: `src/app.py:12:5`, `app.py#L3-L9`, `File "app.py", line 3`.
_PLACE = re.compile(
    r"(?:\W*|\W*(?:at|from)\s+\W*|\s*File\s+\"|\s*thread .*\bpanicked at )(?P<path>[^\s:\"'()#]*[./][^\s:\"'()#]*)(?::|#L|\", line )"
    r"(?P<first>\d{1,7})(?:-L?(?P<last>\d{1,7})|:\d+)?(?:\s\+0x[0-9a-f]+|(?:, |:)in .{1,200})?\W*"
)
# Go writes a method of a pointer as `(*Engine).Run`, in traces after all of its package's path: `example.org/a/gin.(*Engine).Run`.
_RECEIVER = re.compile(r"(?:(?<!\S)\S*/)?(\b\w+\.)?\(\*([A-Za-z_]\w*)\)(?=\.)")
_HAS_ARGUMENTS = re.compile(r"\s*[A-Za-z_$][^\s<]{0,200}<.{0,300}$")
_ARGUMENTS = re.compile(r"(?<=[\w>])(?:::)?<[^<>]*>")
_NAMELESS = frozenset({"__init__", "index", "mod", "lib", "main"})  # files that modules are not called by
_SOURCE = frozenset({"src", "lib"})  # folders that names leave out: `axum::routing` is in `axum/src/routing`
_DOTTED = re.compile(r"[\w$.]*")
_QUALIFIER = re.compile(r"\.|::|->|#|/|\\")
_LONGEST = 20_000  # characters of a question that are read; an issue with its log fits
_LONGEST_PLACE = 500  # characters of a place in a file, with what a trace says around it
MAX_TERMS = 400  # the rarest are kept
MAX_QUALIFIED = 8  # names that are looked up by their qualifiers; a text with more is a log or a listing


@dataclass(frozen=True, slots=True)
class Plan:
    """How a question is read.

    Attributes:
        terms: distinct terms, stop words dropped.
        joined: compounds that adjacent words would make.
        names: identifiers it spells out, the last part of each, as written.
        qualified: the parts of those that have several; none where there are too many.
        is_symbol: whether it is one name, written as only code does, and nothing else.
        is_bare: whether it is one word, which may be a name.
        lines: first and last of those asked for, where it is a place in a file; 0 where not.
    """

    text: str
    terms: tuple[str, ...]
    names: tuple[str, ...]
    is_symbol: bool
    is_bare: bool = False
    joined: tuple[str, ...] = ()
    qualified: tuple[tuple[str, ...], ...] = ()
    lines: tuple[int, int] = (0, 0)


def plan_query(text: str) -> Plan:
    """Read a question.

    >>> plan_query("Engine.open").names, plan_query("Engine.open").is_symbol
    (('open',), True)
    >>> plan_query("(*Engine).Run").qualified, plan_query("example.org/a-b/gin.(*Engine).Run").text
    ((('Engine', 'Run'),), 'gin.Engine.Run')
    >>> plan_query("where does read_source refuse links?").names, plan_query("why does Engine.open wait").qualified
    (('read_source',), (('Engine', 'open'),))
    """
    text = _plainly(text[:_LONGEST])
    stripped = text.strip().removesuffix("()")
    is_bare = bool(_IDENTIFIER.fullmatch(stripped))
    is_symbol = is_bare and (bool(_CODE_LIKE.search(stripped)) or stripped[:1].isupper() or stripped.startswith("_"))
    terms, joined = query_terms(text)
    spelled = _spelled_out(text)
    names = tuple(dict.fromkeys(last_part(name) for name in spelled))
    qualified = tuple(dict.fromkeys(parts for name in spelled if len(parts := tuple(split_name(name))) > 1))
    if len(qualified) > MAX_QUALIFIED:
        qualified = ()
    return Plan(text, tuple(terms[:MAX_TERMS]), names, is_symbol, is_bare, tuple(joined[:MAX_TERMS]), qualified)


def place_of(text: str) -> tuple[str, int, int] | None:
    """Return the path, the first and the last line of a text that may be a place in a file, and nothing else.

    >>> place_of("src/app.py:120:7"), place_of("app.py#L3-L9"), place_of("why does app.py:120 fail")
    (('src/app.py', 120, 120), ('app.py', 3, 9), None)
    >>> place_of("from lib/base.rb:1000:in 'dispatch!'"), place_of('File "app.py", line 3, in run')
    (('lib/base.rb', 1000, 1000), ('app.py', 3, 3))
    """
    found = _PLACE.fullmatch(text) if len(text) <= _LONGEST_PLACE else None
    if found is None:
        return None
    first = int(found["first"])
    return found["path"], first, max(first, int(found["last"] or 0))


def plan_place(path: str, first: int, last: int) -> Plan:
    """Read a place in a file, one that is there: its path is asked for, as a name is, and lines of it."""
    terms, joined = query_terms(path)
    return Plan(path, tuple(terms), (path,), is_symbol=True, is_bare=True, joined=tuple(joined), lines=(first, last))


def names_in(text: str) -> tuple[str, ...]:
    """Return the identifiers that a question spells out, the last part of each; of one that is a single word, that word.

    >>> names_in("open the reader with read_source or Engine.open")
    ('read_source', 'open')
    """
    return tuple(dict.fromkeys(last_part(name) for name in _spelled_out(text[:_LONGEST])))


def _spelled_out(text: str) -> list[str]:
    """Return the identifiers that a text writes as only code does; of one that is a single word, that word."""
    stripped = text.strip().removesuffix("()")
    if _IDENTIFIER.fullmatch(stripped):
        return [stripped]
    if not _CODE_LIKE.search(text):  # then no part of it is: one look instead of one for every word
        return []
    return [name for name in _IDENTIFIER.findall(text) if not _is_word(name) and _CODE_LIKE.search(name)]


def _is_word(name: str) -> bool:
    """Tell at once of most words that they are no more than that."""
    return name.isalpha() and name[1:].islower()


def title_of(text: str) -> str:
    r"""Return the line that says what a longer text is about: its first that says anything and announces nothing.

    "" where the text is one line, which is then all there is.

    >>> title_of("\n# Split the budget\n\nWhen a task is long, …"), title_of("Split the budget")
    ('Split the budget', '')
    >>> title_of("Steps to reproduce:\n\nSplit a budget of 0")
    'Split a budget of 0'
    """
    lines = [line.strip().lstrip("#").strip() for line in text[:_LONGEST].splitlines()]
    said = [line for line in lines if line]
    return next((line for line in said if not line.endswith(":")), "") if len(said) > 1 else ""


def last_part(name: str) -> str:
    """Return what a qualified name ends with.

    >>> last_part("std::vec::Vec")
    'Vec'
    """
    return _QUALIFIER.split(name)[-1]


def endings(name: str) -> list[str]:
    """Return a qualified name from each of its parts on: what its last part may be where parts hold separators themselves.

    >>> endings("Changes.[0.1]")
    ['Changes.[0.1]', '[0.1]', '1]']
    """
    return [name, *(name[found.end() :] for found in _QUALIFIER.finditer(name))]


def split_name(name: str) -> list[str]:
    r"""Return the parts of a qualified name.

    >>> split_name("std::vec::Vec"), split_name("Engine.open()"), split_name(r"\Illuminate\Support\Str::slug")
    (['std', 'vec', 'Vec'], ['Engine', 'open'], ['Illuminate', 'Support', 'Str', 'slug'])
    >>> split_name("example.org/gin.(*Context).Next"), split_name("Router<S, Vec<u8>>::route")
    (['gin', 'Context', 'Next'], ['Router', 'route'])
    """
    if _DOTTED.fullmatch(name):  # as most are
        return [part for part in name.split(".") if part]
    return [part for part in _QUALIFIER.split(_plainly(name).strip().removesuffix("()")) if part]


def _plainly(text: str) -> str:
    """Return a text with Go's pointers as the types they point to, and a name and nothing else without what its types take."""
    if "(*" in text:  # the lines that have one, of which a long text has few
        text = "\n".join(_RECEIVER.sub(r"\1\2", line) if "(*" in line else line for line in text.split("\n"))
    if not _HAS_ARGUMENTS.match(text):
        return text
    name, nested = text.strip(), 1
    while nested:
        name, nested = _ARGUMENTS.subn("", name)
    return name if _IDENTIFIER.fullmatch(name.removesuffix("()")) else text


def is_meant(wanted: Sequence[str], qualified: str, path: str) -> bool:
    """Tell whether a declaration is meant by a name's parts: they end its qualified name, or are all of it after its module's.

    >>> is_meant(["Store", "get"], "App.Store.get", "a.py"), is_meant(["app", "store", "get"], "get", "src/app/store.py")
    (True, True)
    >>> is_meant(["app", "get"], "get", "src/app/__init__.py"), is_meant(["app", "get"], "Store.get", "src/app.py")
    (True, False)
    """
    whole, parts = split_name(qualified), list(wanted)
    if len(parts) <= len(whole):
        return whole[-len(parts) :] == parts
    rest = len(parts) - len(whole)
    return parts[rest:] == whole and is_module(parts[:rest], path)


def is_within(wanted: Sequence[str], qualified: str, path: str) -> bool:
    """Tell whether a declaration may be meant by the package it is shown by: a directory above it, then its own whole name.

    Packages show what their modules declare: `requests.get` is `get` in `requests/api.py`. For names that `is_meant` takes
    for nothing.

    >>> is_within(["requests", "get"], "get", "src/requests/api.py"), is_within(["axum", "Router"], "Router", "axum/src/routing/mod.rs")
    (True, True)
    >>> is_within(["requests", "get"], "Session.get", "src/requests/sessions.py")
    False
    """
    whole, parts = split_name(qualified), list(wanted)
    above, folders = parts[: -len(whole) or None], path.split("/")[:-1]
    if not whole or not above or parts[len(above) :] != whole:
        return False
    return any(
        named[at : at + len(above)] == above
        for named in (folders, _without_source(folders))
        for at in range(len(named))
    )


def is_module(parts: Sequence[str], path: str) -> bool:
    """Tell whether the parts of a name end that of the module a file is.

    >>> is_module(["app", "net"], "src/app/net.py"), is_module(["app"], "src/app/__init__.py"), is_module(["net"], "src/net.py.txt")
    (True, True, False)
    >>> is_module(["net", "py"], "src/net.py"), is_module(["axum", "routing"], "axum/src/routing/mod.rs")
    (True, True)
    """
    *folders, last = path.split("/")
    stem, _, extension = last.rpartition(".") if "." in last[1:] else (last, "", "")
    names = [*split_name(".".join(folders)), stem]
    if len(parts) > 1 and parts[-1] == extension:  # as in `tests/test_net.py::test_open`
        return names[1 - len(parts) :] == list(parts[:-1])
    known = [names, _without_source(names)]
    if stem in _NAMELESS or last.endswith(".go"):  # called by the directory
        known += [each[:-1] for each in known]
    return any(each[-len(parts) :] == list(parts) for each in known)


def _without_source(folders: Sequence[str]) -> list[str]:
    return [folder for folder in folders if folder not in _SOURCE]


def name_term(name: str) -> str:
    """Return the term that a name's definition holds in its name field, however the name is written.

    >>> name_term("readSource"), name_term("read_source"), name_term("open")
    ('readsourc', 'readsourc', 'open')
    """
    found = run_terms(name)
    return found[-1] if found else ""


@lru_cache(4096)  # many a name is that of methods of many classes
def symbol_keys(name: str, *, is_member: bool) -> tuple[int, int]:
    """Return the keys under which a chunk is filed as defining `name`: as written, and in any spelling.

    Keys start with a control character, so that no term of a text can be taken for one.
    """
    return key(("\2" if is_member else "\0") + name), key("\1" + name_term(name))
