"""Pages of long lists, by cursor.

A cursor holds the place of the last item shown, not a count. Items added or deleted meanwhile neither repeat nor hide
later items.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

from vademecum.errors import UsageError
from vademecum.memory.ledger import Scope
from vademecum.memory.timeline import Filter, how_many, latest

T = TypeVar("T")
Place = tuple[Any, ...]


def page(
    items: Iterable[T], limit: int, cursor: str, place: Callable[[T], Place], show: Callable[[T], Any]
) -> dict[str, Any]:
    """Return one page of items, which are sorted by place.

    The page has the shown items, the total, and the cursor of the next page.

    >>> first = page("abcde", 2, "", lambda item: (item,), str.upper)
    >>> first["items"], first["total"]
    (['A', 'B'], 5)
    >>> page("abbcde", 2, first["next"], lambda item: (item,), str.upper)["items"]
    ['C', 'D']
    """
    known = list(items)
    start = after(cursor)
    try:
        rest = [item for item in known if place(item) > start] if start else known
    except TypeError:  # a cursor of another list
        raise no_cursor(cursor) from None
    shown = rest[:limit]
    following = pack(place(shown[-1])) if len(rest) > limit else None
    return {"items": [show(item) for item in shown], "total": len(known), "next": following}


def events_page(scopes: Sequence[Scope], wanted: Filter, limit: int, cursor: str) -> dict[str, Any]:
    """Return one page of events, the latest first.

    It has the form of `page`, but reads only the page's events. The total is counted once, for the first page.

    Raises:
        UsageError: the cursor belongs to another list, or there is no such role.
        StoreError: a database cannot be read.
    """
    start = after(cursor)
    if start and list(map(type, start)) != [float, str, int]:
        raise no_cursor(cursor)
    found = latest(scopes, wanted, (start[0], start[1]) if start else None, limit + 1)
    total = start[2] if start else how_many(scopes, wanted)
    shown = found[:limit]
    following = pack((float(shown[-1].at), shown[-1].id, total)) if len(found) > limit else None
    return {"items": shown, "total": total, "next": following}


def pack(place: Place) -> str:
    """Return a place as a cursor."""
    text = json.dumps(place, separators=(",", ":"))
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def after(cursor: str) -> Place:
    """Return the place in a cursor; () for none. Raises `UsageError`."""
    if not cursor:
        return ()
    try:
        padded = cursor + "=" * (-len(cursor) % 4)
        place = json.loads(base64.b64decode(padded.encode(), altchars=b"-_", validate=True))
        if isinstance(place, list) and place:
            return tuple(place)
    except (ValueError, binascii.Error, RecursionError):
        pass
    raise no_cursor(cursor)


def no_cursor(cursor: str) -> UsageError:
    """Return the error for a cursor of another list."""
    return UsageError(f"{cursor!r} is not a cursor of this list: give the `next` of the page before, or none to begin")
