"""Cut talk about work into terms.

Prose wants what code does not: inflection taken off wholly (Porter's algorithm), irregular verbs brought home, accents
folded, elisions cut (`l'index`, `Anna's`), and a wide list of words that say nothing. Identifiers in it are cut as code
is (`index.tokenize.parts`) and also kept whole. Measured on conversations, stop words and stemming are worth ten
points of recall.

    >>> terms("Anna's teams were choosing between fileWalker and l'indexation")
    ['anna', 'team', 'choos', 'file', 'walker', 'filewalk', 'index']
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import filterfalse
from typing import TYPE_CHECKING

from vademecum.index.tokenize import MAX_PART, TALK, kept_parts, key, porter_stem
from vademecum.memory.forms import filled, table_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from vademecum.index.arrays import RunTable

_RUN = re.compile(r"\w+(?:['\u2019]\w+)*")
ELIDED = frozenset({"l", "d", "j", "m", "t", "s", "c", "n", "qu", "jusqu", "lorsqu", "puisqu"})

_FORMS = table_of(__file__)
_DENYING, ASKS_PAST = (re.compile(filled(_FORMS[name], {})) for name in ("denying", "asks_past"))
_ANSWERS = "day", "place", "number", "person"
IRREGULAR: Mapping[str, str] = _FORMS["irregular"]  # past forms that no suffix rule brings home


def fold(text: str) -> str:
    """Return text without accents.

    >>> fold("préférée")
    'preferee'
    """
    if text.isascii():
        return text
    return "".join(filterfalse(unicodedata.combining, unicodedata.normalize("NFKD", text)))


@lru_cache(maxsize=4096)  # most runs of a text were seen before
def run_terms(run: str) -> tuple[str, ...]:
    """Return the stems of a run's parts, and their compound.

    >>> run_terms("preferences"), run_terms("max_retries"), run_terms("wasn't"), run_terms("d'équipe")
    (('prefer',), ('max', 'retri', 'maxretri'), (), ('equip',))
    """
    pieces = re.split(r"['\u2019]", fold(run))
    if len(pieces) > 1:
        if "".join(pieces).lower() in TALK:
            return ()
        head = pieces[0].lower()
        pieces = pieces[1:] if head in ELIDED else pieces[:1] if len(pieces[-1]) <= 2 else pieces
    found: list[str] = []
    for piece in pieces:
        found += _word_terms(piece)
    return tuple(found)


def _word_terms(word: str) -> list[str]:
    if word.lower() in TALK:
        return []
    cut = kept_parts(word)
    found = [porter_stem(IRREGULAR.get(part, part)) for part in cut]
    if len(cut) > 1 and len("".join(cut)) <= MAX_PART:
        found.append(porter_stem("".join(cut)))
    return found


def is_denied(text: str) -> bool:
    """Return whether a text denies something; terms keep no word of denial.

    >>> is_denied("not tabs"), is_denied("jamais de tabulations"), is_denied("Don't push"), is_denied("notes on tabs")
    (True, True, True, False)
    """
    return _DENYING.search(text) is not None


def terms(text: str) -> list[str]:
    """Return every term of a text, in order."""
    return [term for run in _RUN.findall(text) for term in run_terms(run)]


@lru_cache(maxsize=1)
def _idle() -> frozenset[str]:
    return frozenset(terms(_FORMS["idle"]))


def asked_terms(question: str) -> list[str]:
    """Return the terms that may name a question's topic, in order.

    >>> asked_terms("combien de tentatives avant d'abandonner"), terms("avant")
    (['tent', 'abandonn'], ['avant'])
    """
    return [term for term in terms(question) if term not in _idle()]


def runs(text: str) -> list[str]:
    """Return the runs of word characters of a text, in order."""
    return _RUN.findall(text)


def asked_for(question: str) -> Iterator[tuple[set[str], re.Pattern[str]]]:
    """Yield the terms that only ask, and a pattern of the answer.

    The answer asked for is a day, a place, a number or a person.

    >>> [(words, bool(says.search("we deploy on Wednesdays"))) for words, says in asked_for("which day do we deploy?")]
    [({'dai'}, True)]
    """
    for name in _ANSWERS:
        if found := re.search(filled(_FORMS[f"asks_{name}"], {}), question):
            words = {term for group in found.groups("") for term in terms(group)}
            yield words, re.compile(filled(_FORMS[f"says_{name}"], {}))


@lru_cache(maxsize=1)
def _in_english() -> Mapping[str, list[str]]:
    """Return stems of the other language, by stem."""
    found: dict[str, list[str]] = {}
    for line in _FORMS["english"].strip().splitlines():
        french, english = (terms(part) for part in line.split(":"))
        for one, others in ((french, english), (english, french)):
            for term in one:
                found[term] = list(dict.fromkeys([*found.get(term, ()), *others]))
    return found


def other_forms(term: str) -> list[str]:
    """Return the stems of related words that Porter's rules keep apart.

    They name an act, or who does the act: "formatter" becomes formatt, "formatting" format. "Deploy" becomes deploi, "deployment"
    deploy. French and English words for the same thing follow.

    >>> other_forms("formatt"), other_forms("linter"), other_forms("lint"), other_forms("deploi")[:1]
    (['format'], ['lint', 'lin'], ['linter', 'lintter', 'lintt'], ['deploy'])
    >>> other_forms("factur")[-2:], other_forms("invoic")[-1:]
    (['invoic', 'bill'], ['factur'])
    """
    return [*_derived(term), *_in_english().get(term, ())]


def _derived(term: str) -> list[str]:
    if len(term) < 4:
        return []
    if term.endswith("er"):
        return [term[:-2], term[:-3]]
    if term[-1] in "iy":
        return [term[:-1] + ("y" if term[-1] == "i" else "i")]
    return [term[:-1]] if term[-1] == term[-2] else [f"{term}er", f"{term}{term[-1]}er", f"{term}{term[-1]}"]


@lru_cache(maxsize=4096)
def _keyed(run: str) -> tuple[int, ...]:
    return tuple(key(term) for term in run_terms(run))


def query_keys(text: str) -> NDArray[np.uint64]:
    """Return a question's distinct term keys, in order, uint64 (T,)."""
    import numpy as np  # hooks cut text into terms and have no time for it

    found = dict.fromkeys(map(key, asked_terms(text)))
    return np.fromiter(found, np.uint64, len(found))


def word_table() -> RunTable:
    """Return a table that counts a text's terms by their keys."""
    from vademecum.index.arrays import RunTable

    return RunTable(_RUN, _keyed)
