"""Query parsing: a question's terms, names and form."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from vademecum.index.tokenize import key, query_terms, run_terms

# An identifier, possibly qualified: `Engine.open`, `std::vec`.
_IDENTIFIER = re.compile(r"[A-Za-z_$][\w$]*(?:(?:\.|::|->|#|/)[A-Za-z_$][\w$]*)*")
_CODE_LIKE = re.compile(r"[a-z0-9][A-Z]|_|::|->|#|[A-Z]{2,}[a-z]|\w\.\w|\(\)")
# A location in a file, as compilers, traces and people write it: `src/app.py:12:5`, `app.py#L3-L9`, `File "app.py", line 3`.
_PLACE = re.compile(
    r"(?:\W*|\W*(?:at|from)\s+\W*|\s*File\s+\"|\s*thread .*\bpanicked at )(?P<path>[^\s:\"'()#]*[./][^\s:\"'()#]*)(?::(?:line )?|#L|\", line | on line )"
    r"(?P<first>\d{1,7})(?:-L?(?P<last>\d{1,7})|:\d+)?(?:\s\+0x[0-9a-f]+|(?:, |:)in .{1,200})?\W*"
)
# The same within a text, as a link to a line too. A path begins where a word does and is bounded, so that the time is linear.
_PLACES = re.compile(
    r"(?<![\w./\\@+~-])(?P<path>[\w./\\@+~-]{3,300})(?::(?:line )?|#L|\(|\", line | on line )(?P<first>\d{1,7})(?:-L?(?P<last>\d{1,7}))?"
    r"(?:, in (?P<name>\w+))?"
)
_LINKED = re.compile(r".*/blob/[^/]+/")  # in a link, before a file's path
# Go writes a pointer's method as `(*Engine).Run`. Traces add the package's path: `example.org/a/gin.(*Engine).Run`.
_RECEIVER = re.compile(r"(?:(?<!\S)\S*/)?(\b\w+\.)?\(\*([A-Za-z_]\w*)\)(?=\.)")
_HAS_ARGUMENTS = re.compile(r"\s*[A-Za-z_$][^\s<]{0,200}<.{0,300}$")
_ARGUMENTS = re.compile(r"(?<=[\w>])(?:::)?<[^<>]*>")
# Rust writes a method of a trait as `<Engine as Run>::run`.
_OF_TRAIT = re.compile(r"\s*([\w.:]*)<(\S.*?) as .+>((?:\.|::)[\w.:]+(?:\(\))?)\s*")
# A request for a change, and the clauses in which it asks for tests and documents besides, in English and French.
_CHANGE = re.compile(
    r"\s*(?:please\s+)?(?:\w+(?:\([^)\n]{0,40}\))?!?:\s*)?(?:add|adapt|allow|avoid|build|change|clean|convert|create|drop|"
    r"enable|extend|extract|expose|fix|handle|implement|improve|introduce|let|limit|make|merge|migrate|move|port|prevent|"
    r"refactor|remove|rename|replace|return|rewrite|simplify|speed|split|stop|support|switch|turn|update|use|validate|"
    r"(?:ajoute|change|corrige|crée|déplace|gère|implémente|modifie|remplace|renomme|répare|supprime|utilise)r?)\b",
    re.IGNORECASE,
)
_BESIDES = re.compile(
    r"(?:[,;.]|\s(?=(?:and|with|plus|including|et|avec)\b))\s*(?:(?:and|with|plus|including|also|then|et|avec|aussi)\s+){0,2}"
    r"(?:(?:add|write|update|include|extend|run|(?:make sure|ensure)(?: that)?|ajoute[rz]?|écri[srt]\w*|m[ei]t\w*(?: à jour)?|lance[rz]?)\s+)?"
    r"(?:(?:an?|the|its|all|some|new|unit|regression|integration|existing|une?|des|les?|la)\s+){0,3}"
    r"(?:tests?|specs?|test (?:cases?|coverage)|(?<!with )(?:docs?|documentation|readme|changelog))"
    r"(?:\s+(?:it|them|this|that|unitaires?|still pass|pass))?(?:\s+(?:for|of)\s+(?:it|them|this|that))?"
    r"(?=\s*(?:$|[,;.!]|(?:and|with|too|et|avec)\b))",
    re.IGNORECASE,
)
# The object of a verb of making, up to a word that says where or why; and a question, which asks for what there is.
_TO_MAKE = re.compile(
    r"\b(?:add|adding|create|creating|implement|implementing|introduce|introducing|write|build|define|expose|need|want|"
    r"(?:ajoute|crée|implémente)[rz]?)\s+(?:support for\s+)?(?P<made>[^\n,;]{1,120}?)"
    r"(?=\s(?:to|in|into|inside|on|onto|for|from|with|within|of|that|which|when|so|by|under|à|au|aux|dans|pour|sur|de|du|qui|avec)\s"
    r"|[.,;:]?\s*(?:$|\n)|[.,;:]\s)",
    re.IGNORECASE,
)
_QUESTION = re.compile(
    r"\s*(?:where|how|what|why|which|who|when|does|do|is|are|où|comment|pourquoi|quel\w*|qui|quand)\b", re.IGNORECASE
)
_LONGEST_REQUEST = 500  # characters of a request for a change; a longer text is an issue
_NAMELESS = frozenset({"__init__", "index", "mod", "lib", "main"})  # files that give their module no name
_SOURCE = frozenset({"src", "lib"})  # folders absent from names: `axum::routing` is in `axum/src/routing`
_DOTTED = re.compile(r"[\w$.]*")
_QUALIFIER = re.compile(r"\.|::|->|(?<!\.)#|/|\\")
_LONGEST = 20_000  # characters read of a question; an issue with its log fits
LONGEST_NAME = 500  # characters of a name with its arguments; a longer text is no name
_LONGEST_PLACE = 500  # characters of a location, with a trace's text around it
MAX_TERMS = 400
MAX_PLACES = 40  # locations of a text that are looked up; the first
MAX_QUALIFIED = 8  # qualified names looked up; a text with more is a log or a listing


class Place(NamedTuple):
    """A location within a text: a file's lines.

    `path` may have folders of another machine before it. `name` is the function's, "" where the text says none.
    """

    path: str
    first: int
    last: int
    name: str


@dataclass(frozen=True, slots=True)
class Plan:
    """A parsed question.

    Attributes:
        terms: distinct terms, stop words dropped; the first MAX_TERMS, since a long text states its topic first.
        joined: compounds of adjacent words.
        names: the last part of each identifier, as written.
        qualified: the parts of each qualified name; empty where there are too many.
        is_symbol: whether the question is one name, written as only code does.
        is_bare: whether the question is one word, which may be a name.
        lines: first and last line of a location; 0 for other questions.
        places: the locations within a longer text.
    """

    text: str
    terms: tuple[str, ...]
    names: tuple[str, ...]
    is_symbol: bool
    is_bare: bool = False
    joined: tuple[str, ...] = ()
    qualified: tuple[tuple[str, ...], ...] = ()
    lines: tuple[int, int] = (0, 0)
    places: tuple[Place, ...] = ()


def plan_query(text: str) -> Plan:
    """Parse a question.

    >>> plan_query("Engine.open").names, plan_query("Engine.open").is_symbol
    (('open',), True)
    >>> plan_query("(*Engine).Run").qualified, plan_query("example.org/a-b/gin.(*Engine).Run").text
    ((('Engine', 'Run'),), 'gin.Engine.Run')
    >>> plan_query("where does read_source refuse links?").names, plan_query("why does Engine.open wait").qualified
    (('read_source',), (('Engine', 'open'),))
    """
    text = _plainly(main_request(text[:_LONGEST]))
    stripped = text.strip().removesuffix("()")
    is_bare = bool(_IDENTIFIER.fullmatch(stripped))
    is_symbol = is_bare and (bool(_CODE_LIKE.search(stripped)) or stripped[:1].isupper() or stripped.startswith("_"))
    terms, joined = query_terms(text)
    spelled = _spelled_out(text)
    names = tuple(dict.fromkeys(last_part(name) for name in spelled))
    qualified = tuple(dict.fromkeys(parts for name in spelled if len(parts := tuple(split_name(name))) > 1))
    if len(qualified) > MAX_QUALIFIED:
        qualified = ()
    return Plan(
        text, tuple(terms[:MAX_TERMS]), names, is_symbol, is_bare, tuple(joined[:MAX_TERMS]), qualified,
        places=places_in(text),
    )  # fmt: skip


def main_request(text: str) -> str:
    """Return a request for a change without its tests and documents.

    Only a short text is read so. Their words would find tests and documents in place of the code to change.

    >>> main_request("add a retry to the client, update the docs and add a test"), main_request("fix the tests of retry")
    ('add a retry to the client', 'fix the tests of retry')
    >>> main_request("ajoute un délai au client, avec des tests"), main_request("where are unit and integration tests")
    ('ajoute un délai au client', 'where are unit and integration tests')
    """
    return _BESIDES.sub("", text) if len(text) <= _LONGEST_REQUEST and _CHANGE.match(text) else text


def names_to_make(text: str) -> frozenset[str]:
    """Return the names of declarations that a task asks to make.

    >>> sorted(names_to_make("Add a LoginPurchase grpc service to OneTimeDonation")), sorted(names_to_make("add retries to FooClient"))
    (['LoginPurchase'], ['retries'])
    >>> sorted(names_to_make("we need UserStore.exportCsv in the CLI")), names_to_make("where is LoginPurchase made")
    (['exportCsv'], frozenset())
    >>> names_to_make("where do we create LoginPurchase"), names_to_make("why does new LoginPurchase fail")
    (frozenset(), frozenset())
    """
    if _QUESTION.match(text):
        return frozenset()
    return frozenset(name for found in _TO_MAKE.finditer(text[:_LONGEST_REQUEST]) for name in names_in(found["made"]))


def place_of(text: str) -> tuple[str, int, int] | None:
    """Return path, first and last line of a location, or None.

    The text must be a location and nothing else.

    >>> place_of("src/app.py:120:7"), place_of("app.py#L3-L9"), place_of("why does app.py:120 fail")
    (('src/app.py', 120, 120), ('app.py', 3, 9), None)
    >>> place_of("from lib/base.rb:1000:in 'dispatch!'"), place_of('File "app.py", line 3, in run')
    (('lib/base.rb', 1000, 1000), ('app.py', 3, 3))
    >>> place_of("at Session.cs:line 12"), places_in("Fatal error: no value in /srv/Till.php on line 7")[0].first
    (('Session.cs', 12, 12), 7)
    """
    found = _PLACE.fullmatch(_LINKED.sub("", text)) if len(text) <= _LONGEST_PLACE else None
    if found is None:
        return None
    first = int(found["first"])
    return found["path"], first, max(first, int(found["last"] or 0))


def places_in(text: str) -> tuple[Place, ...]:
    """Return the locations within a text, each once, innermost first.

    A trace that writes `line 3, in run` has its last call last, others have it first. At most MAX_PLACES are returned.

    >>> places_in('File "/lib/app/net.py", line 12, in send, see https://example.org/a/b/blob/main/src/net.py#L3-L9')
    (Place(path='/lib/app/net.py', first=12, last=12, name='send'), Place(path='src/net.py', first=3, last=9, name=''))
    """
    found = [
        Place(
            _LINKED.sub("", each["path"].replace("\\", "/")),
            int(each["first"]),
            max(int(each["first"]), int(each["last"] or 0)),
            each["name"] or "",
        )
        for each in _PLACES.finditer(text)
    ]
    last_first = [place for place in reversed(found) if place.name]
    return tuple(dict.fromkeys(last_first + found))[:MAX_PLACES]


def plan_place(path: str, first: int, last: int) -> Plan:
    """Plan a search for an existing file, narrowed to the lines."""
    terms, joined = query_terms(os.path.splitext(path)[0])
    return Plan(path, tuple(terms), (path,), is_symbol=True, is_bare=True, joined=tuple(joined), lines=(first, last))


def names_in(text: str) -> tuple[str, ...]:
    """Return the last part of each identifier in a question.

    A question of one word counts as an identifier.

    >>> names_in("open the reader with read_source or Engine.open")
    ('read_source', 'open')
    """
    return tuple(dict.fromkeys(last_part(name) for name in _spelled_out(text[:_LONGEST])))


def _spelled_out(text: str) -> list[str]:
    """Return the identifiers that a text writes as only code does.

    A text of one word counts as an identifier.
    """
    stripped = text.strip().removesuffix("()")
    if _IDENTIFIER.fullmatch(stripped):
        return [stripped]
    if not _CODE_LIKE.search(text):  # then no word is code-like either: one test instead of one per word
        return []
    return [name for name in _IDENTIFIER.findall(text) if _CODE_LIKE.search(name)]


def title_of(text: str) -> str:
    r"""Return the title line of a longer text, or "".

    The title is the first line that is not empty and does not end with a colon. A text of one line has no title.

    >>> title_of("\n# Split the budget\n\nWhen a task is long, …"), title_of("Split the budget")
    ('Split the budget', '')
    >>> title_of("Steps to reproduce:\n\nSplit a budget of 0")
    'Split a budget of 0'
    """
    lines = [line.strip().lstrip("#").strip() for line in text[:_LONGEST].splitlines()]
    said = [line for line in lines if line]
    return next((line for line in said if not line.endswith(":")), "") if len(said) > 1 else ""


def last_part(name: str) -> str:
    """Return the last part of a qualified name.

    >>> last_part("std::vec::Vec")
    'Vec'
    """
    return _QUALIFIER.split(name)[-1]


def endings(name: str) -> list[str]:
    """Return a qualified name from each separator on.

    The last part may be any of these, where parts hold separators themselves.

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
    >>> split_name("<Id<T> as From<a::Key>>::from")
    ['Id', 'from']
    """
    if _DOTTED.fullmatch(name):  # most names
        return [part for part in name.split(".") if part]
    return [part for part in _QUALIFIER.split(_plainly(name).strip().removesuffix("()")) if part]


def _plainly(text: str) -> str:
    """Return a text without Go's pointers, generic arguments and traits.

    Arguments and traits are removed only from a text that is one name.
    """
    if "(*" in text:  # few lines of a long text have one
        text = "\n".join(_RECEIVER.sub(r"\1\2", line) if "(*" in line else line for line in text.split("\n"))
    if " as " in text and (written := _OF_TRAIT.fullmatch(text)):
        text = "".join(written.groups())
    if not _HAS_ARGUMENTS.match(text):
        return text
    name, nested = text.strip(), 1
    while nested:
        name, nested = _ARGUMENTS.subn("", name)
    return name if _IDENTIFIER.fullmatch(name.removesuffix("()")) else text


def is_meant(wanted: Sequence[str], qualified: str, path: str) -> bool:
    """Return whether a name's parts mean a declaration.

    The parts end the declaration's qualified name, or they are a part of its module's name and then the whole qualified
    name.

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
    """Return whether a name may reach a declaration through a package.

    The parts are directories above the declaration, then its whole qualified name. Packages export declarations of
    their modules: `requests.get` is `get` in `requests/api.py`. Used for names without a match by `is_meant`.

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
    """Return whether the parts of a name end a file's module name.

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
    if stem in _NAMELESS or last.endswith(".go"):  # named by the directory
        known += [each[:-1] for each in known]
    return any(each[-len(parts) :] == list(parts) for each in known)


def _without_source(folders: Sequence[str]) -> list[str]:
    return [folder for folder in folders if folder not in _SOURCE]


def name_term(name: str) -> str:
    """Return the term of a name in any spelling.

    A definition's name field holds this term.

    >>> name_term("readSource"), name_term("read_source"), name_term("open")
    ('readsourc', 'readsourc', 'open')
    """
    found = run_terms(name)
    return found[-1] if found else ""


# How a chunk defines a name, with the character that the key begins with.
DEFINED = {"declares": "\0", "has": "\2", "prototype": "\3"}


@lru_cache(4096)  # many classes share method names
def symbol_keys(name: str, how: str) -> tuple[int, int]:
    """Return the keys of a chunk that defines `name`.

    The first key is for the name as written, the second for any spelling. Keys start with a control character, so no
    term of a text equals a key.
    """
    return key(DEFINED[how] + name), key("\1" + name_term(name))
