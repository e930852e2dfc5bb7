"""Show current preferences and instructions in answers to requests for help.

Past remarks about such help matter to a request like "how should I store sessions?": "I prefer Redis over a table", "always
show the types when I ask for code". Such a sentence shares few words with the request, so a search by words does not find it.
But these sentences are few, and the nearest in meaning is mostly the relevant one. So the last places of an answer to a
request for help go to the events that state them.

Measured on 279 questions of chats like those that memory is tuned on, none of them from a reported test: of the instructions
and preferences that matter to a request, 0.26 and 0.43 were among the ten events shown; with the last four places for
current ones, 0.39 and 0.54. Questions of other kinds lose next to nothing, since they ask for no help (decision 0051).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from vademecum.memory.preferences import read_active
from vademecum.memory.scope import Scope
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
