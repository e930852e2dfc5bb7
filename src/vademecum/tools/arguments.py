"""Values of arguments, read in memory and never kept."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from vademecum.tools.fields import words

LOOKED_AT = 100_000  # characters of an outcome in which values are looked for
_MOST_VALUES = 200
_LEAST_TELLING = 4  # characters of a value: a shorter one stands in any text
_SECRET_NAME = re.compile(r"passw|passphrase|pwd|secret|token|credential|apikey|accesskey|privatekey")


def used(arguments: Any, said: Sequence[str], intent: str = "") -> list[int]:
    """Return the earlier results whose values a call's arguments hold.

    What stands in the question too was not learned from them.

    >>> used({"id": "note-4711", "verbose": True}, ["found note-4711", "found nothing"])
    [0]
    """
    values = [value for value in telling(arguments) if value not in intent]
    return [earlier for earlier, text in enumerate(said) if any(value in text for value in values)]


def secrets(arguments: Any) -> Iterator[str]:
    """Yield the values whose names say that they are secret."""
    for name, value in _named(arguments):
        if _SECRET_NAME.search("".join(words(name))):
            yield from (text for text in telling(value) if not text.isdigit() or len(text) > _LEAST_TELLING)


def telling(arguments: Any) -> Iterator[str]:
    """Yield values of some length, as a text would write them."""
    for _, value in _named(arguments):
        if isinstance(value, str | int | float) and not isinstance(value, bool) and len(str(value)) >= _LEAST_TELLING:
            yield str(value)


def _named(arguments: Any) -> Iterator[tuple[str, Any]]:
    """Yield each value within some arguments with its name, "" in a list."""
    todo = [("", arguments)]
    for _ in range(_MOST_VALUES):
        if not todo:
            return
        name, value = todo.pop()
        yield name, value
        if isinstance(value, Mapping):
            todo += [(str(key), inner) for key, inner in value.items()]
        elif isinstance(value, list):
            todo += [("", inner) for inner in value]
