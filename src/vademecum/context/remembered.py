"""What memory answers as text: the same for the command and the server.

    likely 0.83 | 2 of 310 events

    2025-10-05 14:32  user  session 3f  (e1c2…)
      We decided on SQLite because nothing else is everywhere.
      ▸ decision storage: SQLite
"""

from __future__ import annotations

from datetime import datetime

from vademecum.memory.records import Evidence, Fact, Recalled

SNIPPET_LINES = 6
LINE_CHARACTERS = 300


def recalled_text(found: Recalled, *, why: bool = False) -> str:
    """Return an answer of memory as text that ends in a newline."""
    verdict = str(found.verdict).replace("_", " ")
    head = f"{verdict} {found.probability:.2f} | {len(found.evidence)} of {found.searched} events"
    lines = [head + (f" | {found.reason}" if found.reason else "")]
    for item in found.evidence:
        lines += ["", *evidence_lines(item, why=why)]
    return "\n".join(lines) + "\n"


def evidence_lines(item: Evidence, *, why: bool = False) -> list[str]:
    """Return one piece of evidence: when and who, the words, and what they state and whether it still holds."""
    from vademecum.context.render import visible

    event = item.event
    who = event.speaker or str(event.role)
    session = f"  session {event.session}" if event.session else ""
    scope = "  global" if item.scope == "global" else ""
    lines = [f"{stamp(event.at)}  {visible(who)}{visible(session)}{scope}  {event.id}"]
    said = [line for line in event.text.splitlines() if line.strip()]
    lines += [f"  {visible(line[:LINE_CHARACTERS])}" for line in said[:SNIPPET_LINES]]
    if len(said) > SNIPPET_LINES:
        lines.append(f"  … {len(said) - SNIPPET_LINES} more lines")
    lines += [f"  ▸ {visible(fact_text(fact, item.now))}" for fact in item.facts]
    lines += [f"  ⚓ {visible(anchor.symbol)} {anchor.state}" for anchor in item.anchors]
    if item.superseded_by:
        lines.append(f"  ✗ said differently later: {item.superseded_by}")
    if why:
        lines.append("  " + ", ".join(f"{name} {value:g}" for name, value in {"score": item.score, **item.signals}.items()))
    return lines


def fact_text(fact: Fact, now: tuple[Fact, ...] = ()) -> str:
    """Return a fact and whether it holds: `now X; was Y until D`."""
    said = f"{fact.kind} {fact.id} {fact.topic}: "
    new = next((each for each in now if each.key == fact.key), None)
    if fact.valid_to is not None and new is not None:
        return f"{said}now {new.value}; was {fact.value} until {stamp(fact.valid_to)[:10]}"
    disputed = " (disputed)" if fact.disputed else ""
    return f"{said}{fact.value}{disputed}"


def stamp(at: float) -> str:
    """Return a moment as `2025-10-05 14:32`, in the local zone."""
    return datetime.fromtimestamp(at).astimezone().strftime("%Y-%m-%d %H:%M")
