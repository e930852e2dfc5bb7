"""Find events that ranking misses: rules in force, open todos.

Past remarks matter to a request like "how should I store sessions?": "I prefer Redis over a table", "always show the types when
I ask for code". Such a sentence shares few words with the request, so a search by words does not find it. But these sentences
are few, and the nearest in meaning is mostly the relevant one. So the last places of an answer to a request for help go to the
events that state them (decision 0051).

"What is left to do?" shares no word with "I still have to write the migration guide", so words and vectors cannot rank it.
Its answer is the events that state open todos, the latest first. A question that names a subject ("what is left to do about
the cache?") is ranked by its words like any other.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from vademecum.memory.preferences import read_active
from vademecum.memory.records import FactKind
from vademecum.memory.scope import Scope
from vademecum.memory.timeline import names_nothing
from vademecum.memory.view import View

PART = 0.4  # largest share of an answer's places


def standing_rows(scopes: Sequence[Scope], view: View) -> NDArray[np.int64]:
    """Return the rows of current preferences and instructions: int64 (M,), ascending.

    Raises `StoreError`.
    """
    return rows_of(scopes, view, [fact.event for fact in read_active(scopes)])


def rows_of(scopes: Sequence[Scope], view: View, events: Sequence[str]) -> NDArray[np.int64]:
    """Return the rows of events in a view: int64 (M,), ascending.

    Args:
        scopes: The scopes, which may share an id.
        view: The view.
        events: Ids of events.

    Raises:
        StoreError: a database cannot be read.
    """
    found = []
    for scope in scopes:
        numbers = np.array(sorted(scope.journal.numbers(events).values()), np.int64)
        here = view.rows_in(scope.number)
        own = view.numbers[here]
        place = np.searchsorted(own, numbers)
        there = place < len(own)
        there[there] = own[place[there]] == numbers[there]  # an event recorded just now is only in the next view
        found.append(place[there] + here.start)
    rows: NDArray[np.int64] = np.concatenate([np.zeros(0, np.int64), *found])
    return rows[view.alive.take(rows)]


_STATE = r"(?:left|open|remaining|outstanding|pending|unfinished|undone|missing)"
_WORK = r"(?:to-?dos?|to do|tasks?|items?|action items?|(?:loose )?ends|work|things?(?: to do)?|points?)"
_ETAT = r"(?:ouverte?s?|restante?s?|en cours|en attente|en suspens|à faire|inachevée?s?)"
_CHOSE = r"(?:to-?dos?|tâches?|choses?|points?|travail|travaux)"
# Matched from the start of a question in lower case with plain apostrophes; most other questions fail at the first words.
_ASKS = re.compile(
    r"\W*(?:(?:so|and|ok|okay|now|alors|et|donc)\b[,\s]*)*(?:"
    rf"what(?:'s| is| are|)(?: still| yet)? (?:{_STATE}|remains?|to be done|to do)(?: (?:open|undone|to do|to be done|to finish))?\b"
    rf"|what(?: \w+)? (?:do|have|must|should) (?:i|we|you)(?: still)?(?: have| need| got)?(?: {_STATE})? to (?:do|finish)\b(?<!should i do)(?<!should we do)"
    r"|what (?:do|must|should) (?:i|we|you) still (?:have to |need to )?(?:do|finish)\b"
    r"|what (?:else |still )?(?:needs|has|remains) (?:to be done|doing|to do)\b"
    r"|what(?:'s| is| are) (?:still )?on (?:my|our|the) (?:to-?do|to do|task)(?:s| list)?\b"
    rf"|(?:is|are) there (?:still )?(?:anything|something|any) (?:still )?(?:{_STATE}(?: to do| to be done| {_WORK})?|to do)\b"
    rf"|(?:(?:what are|show|list|tell|give|any)(?: me)? )?(?:all )?(?:of )?(?:the |my |our )?(?:still )?{_STATE} {_WORK}\b(?: list)?"
    rf"|(?:what|which) {_WORK} (?:remains?\b|(?:are|is)(?: still)? {_STATE}\b)"
    r"|(?:(?:what are|show|list|tell|give)(?: me)? )?(?:all )?(?:the |my |our )?(?:to-?dos|to-?do list)\b"
    r"|qu(?:e |'est-ce qu(?:e |'|i ))(?:il )?(?:me |nous |te |vous )?reste(?:-t-il)?(?: encore| donc)?(?: à (?:faire|finir|terminer))?"
    r"|(?:il |ça )?(?:me |nous )?reste quoi(?: à (?:faire|finir))?"
    r"|reste-t-il (?:encore )?(?:quelque chose|des choses|du travail|des tâches|quoi que ce soit)(?: à (?:faire|finir))?"
    r"|qu(?:e |'est-ce qu(?:e |'))(?:dois-je|devons-nous|doit-on|faut-il|je dois|on doit|il faut|nous devons) encore faire"
    rf"|quel(?:le)?s? (?:sont )?(?:encore )?(?:les |mes |nos )?{_CHOSE} (?:(?:sont|restent) )?(?:encore |toujours )?{_ETAT}"
    rf"|(?:(?:montre|liste|donne)(?:-moi)? )?(?:toutes |tous )?(?:les |mes |nos )?{_CHOSE} (?:encore )?{_ETAT}"
    r"|(?:la |ma |notre )?liste (?:des (?:tâches|choses à faire|to-?dos)|de to-?dos)"
    r")"
)
_NAMES_NOTHING = re.compile(
    r"\b(?:now|then|so far|still|yet|here|please|project|repo(?:sitory)?|session|all|open|for (?:me|us)"
    r"|encore|donc|ici|maintenant|projet|dépôt|session|ouverte?s?)\b"
)


def asks_for_open_work(question: str) -> bool:
    """Return whether a question asks for all open work.

    >>> asks_for_open_work("What is left to do this week?"), asks_for_open_work("Que reste-t-il à faire ?")
    (True, True)
    >>> asks_for_open_work("What is left to do about the cache?"), asks_for_open_work("What is open source?")
    (False, False)
    """
    low = question.lower().replace("\u2019", "'")
    asked = _ASKS.match(low)
    return asked is not None and names_nothing(low[asked.end() :], _NAMES_NOTHING)


def open_rows(scopes: Sequence[Scope], view: View, as_of: float | None = None) -> NDArray[np.int64]:
    """Return the rows of events that state open todos: int64 (M,), ascending.

    With `as_of`, todos that were open at that time. Raises `StoreError`.
    """
    todos = [fact.event for scope in scopes for fact in scope.ledger.facts([FactKind.TODO], as_of=as_of)]
    return rows_of(scopes, view, todos)
