"""Read traces from JSON (docs/tools.md has the form), without secrets.

Without an `id` one is made of what happened, so that the same trace observed twice is one trace.

    >>> traces, _ = read_traces('{"intent": "log in with token ghp_0123456789abcdefABCDEF0123456789abcd", "calls": ["login"]}')
    >>> traces[0].intent, traces[0].calls[0].tool
    ('log in with token [secret]', 'login')
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from hashlib import blake2b
from typing import Any

from vademecum.errors import UsageError
from vademecum.tools.fields import words
from vademecum.tools.records import Call, Rejected, Trace
from vademecum.tools.register import read_items

LONGEST_INTENT = 8_000  # characters kept of an intent: it is matched, never replayed
_MOST_CALLS = 2_000
_LONGEST_ID = 600
LOOKED_AT = 100_000  # characters of an outcome in which values are looked for
_MOST_VALUES = 200  # of a call's arguments
_LEAST_TELLING = 4  # characters of a value: a shorter one stands in any text
_SECRET_NAME = re.compile(r"passw|passphrase|pwd|secret|token|credential|apikey|accesskey|privatekey")
_SHOWN = 60  # characters of what is refused
_HIGHEST = sys.float_info.max
_NAME = re.compile(r"[A-Za-z_$][\w.$-]{0,63}")  # of an argument: whatever else stands there may be a value
# What is worth stealing wherever it stands: well-known shapes of keys, and whatever is said to be a password.
_SECRET = re.compile(
    r"""-----BEGIN[ A-Z]*PRIVATE\ KEY-----.*?(?:-----END[ A-Z]*PRIVATE\ KEY-----|\Z)
    | \b(?:sk|pk|rk)[-_](?:live|test|proj|ant|or)?[-_A-Za-z0-9]{16,}
    | \b(?:gh[opsur]_|github_pat_|glpat-|xox[abeoprs]-|npm_|pypi-|hf_|AIza|ya29\.)[-\w]{16,}
    | \b(?:AKIA|ASIA)[0-9A-Z]{16}\b
    | \beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*
    | (?<=://)[^\s/:@]+:[^\s/@]+(?=@)
    | (?<=\bBearer\ )[-\w.~+/=]{8,}
    | (?:(?<=password)|(?<=passwd)|(?<=passphrase)|(?<=secret)|(?<=api_key)|(?<=api[ ]key)|(?<=apikey)|(?<=token)|(?<=pwd))
      (?:\s*[:=]\s*|\s+is\s+)["']?[^\s"',;]+
    # said without a sign between: only what no word looks like
    | (?:(?<=password\s)|(?<=passwd\s)|(?<=passphrase\s)|(?<=pwd\s))["']?(?=[^\s"',;]*\d)(?=[^\s"',;]*[A-Za-z])[^\s"',;]{6,}
    | (?:(?<=secret\s)|(?<=api_key\s)|(?<=api[ ]key\s)|(?<=apikey\s)|(?<=token\s))
      ["']?(?=[^\s"',;]*\d)(?=[^\s"',;]*[A-Za-z])[^\s"',;]{12,}
    """,
    re.VERBOSE | re.IGNORECASE | re.DOTALL,
)


def read_traces(text: str) -> tuple[list[Trace], list[Rejected]]:
    """Return traces and refused items of a JSON text, or raise `UsageError`."""
    return read_items(text, "traces", trace_of)


def trace_of(item: Any) -> Trace:
    """Return the trace of a JSON value, or raise `UsageError`."""
    if not isinstance(item, Mapping):
        raise UsageError("a trace is an object with calls")
    listed = item.get("calls")
    if not isinstance(listed, list) or not listed:
        raise UsageError("a trace needs calls: an array of tool ids or of objects with `tool`")
    if len(listed) > _MOST_CALLS:
        raise UsageError(f"a trace has at most {_MOST_CALLS} calls: cut it at its intents")
    calls, at = tuple(_call(call) for call in listed), item.get("at", 0)
    if at is not None and not _number(at) and (at != 0 or at is False):
        raise UsageError(f"at is {_shown(at)}: give seconds since 1970 as a number, or leave it out")
    return trace(
        _string(item, "intent"), calls, id_=_string(item, "id"), links=_links(item.get("links"), len(calls)),
        session=_string(item, "session"), at=_number(at), ok=item.get("ok", True) is not False,
    )  # fmt: skip


def trace(
    intent: str, calls: tuple[Call, ...], *, id_: str = "", links: tuple[tuple[int, int], ...] = (), session: str = "",
    at: float = 0.0, ok: bool = True,
) -> Trace:  # fmt: skip
    """Return a trace that is safe to keep, with an id."""
    safe = without_secrets(intent)[:LONGEST_INTENT]
    return Trace(id_ or _identity(safe, calls, session, at), safe, calls, links, session, at, ok)


def without_secrets(text: str) -> str:
    """Return the text with likely secrets replaced by a word.

    >>> without_secrets("clone https://ada:hunter2@example.org/x, password: hunter2!")
    'clone https://[secret]@example.org/x, password[secret]'
    """
    return _SECRET.sub("[secret]", text)


def argument_names(arguments: Any) -> tuple[str, ...]:
    """Return the names of a call's arguments, sorted; never a value.

    A name that looks like a secret is left out.

    >>> argument_names({"path": "/etc/shadow", "a name with spaces": 1, "ghp_" + "0123456789" * 4: "a key as a name"})
    ('path',)
    """
    given = arguments if isinstance(arguments, Mapping | list | tuple) else ()
    names = {name for name in given if isinstance(name, str) and _NAME.fullmatch(name)}
    return tuple(sorted(name for name in names if not _SECRET.search(name)))


def _call(item: Any) -> Call:
    if isinstance(item, str):
        item = {"tool": item}
    tool = item.get("tool", item.get("name")) if isinstance(item, Mapping) else None
    if not isinstance(tool, str) or not tool.strip() or len(tool) > _LONGEST_ID:
        raise UsageError("a call names its tool: a tool's id, or an object with `tool`")
    took = _number(item.get("latency_s")) or _number(item.get("latency_ms")) / 1000
    return Call(tool_id(tool.strip()), argument_names(item.get("arguments")), item.get("ok", True) is not False, took)


def tool_id(name: str) -> str:
    """Return a tool's id from an agent's name for it.

    >>> tool_id("mcp__files__read_text"), tool_id("files/read_text")
    ('files/read_text', 'files/read_text')
    """
    prefix, _, rest = name.partition("__")
    server, mark, tool = rest.partition("__")
    return f"{server}/{tool}" if prefix == "mcp" and mark and server and tool else name


def _links(value: Any, calls: int) -> tuple[tuple[int, int], ...]:
    """Return pairs of calls, the earlier first, or raise `UsageError`."""
    given = [] if value is None else value
    pairs = given if isinstance(given, list) else [given]
    for pair in pairs:
        fine = isinstance(pair, list) and len(pair) == 2 and all(type(place) is int for place in pair)
        if not fine or not 0 <= pair[0] < pair[1] < calls:
            said = f"links has {_shown(pair)}: give pairs of calls by their places from 0 to {calls - 1}, the earlier first"
            raise UsageError(said)
    return tuple((earlier, later) for earlier, later in pairs)


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


def _string(item: Mapping[str, Any], key: str) -> str:
    value = item.get(key, "")
    return str(value)[: _LONGEST_ID if key != "intent" else None] if isinstance(value, str | int) else ""


def _number(value: Any) -> float:
    """Return a finite number from 0 on, 0 for another value."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= _HIGHEST
    return float(value) if is_number else 0.0


def _identity(intent: str, calls: tuple[Call, ...], session: str, at: float) -> str:
    happened = json.dumps([intent, [[call.tool, call.arguments, call.ok] for call in calls], session, at])
    return blake2b(happened.encode(), digest_size=12).hexdigest()


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
