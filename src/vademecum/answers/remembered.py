"""Answers of memory as text, for the command and the server.

likely 0.83 | 2 of 310 events

2025-10-05 14:32  user  session 3f  (e1c2…)
  We decided on SQLite because nothing else is everywhere.
  ▸ decision storage: SQLite
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import TYPE_CHECKING, Any

from vademecum.amounts import counted
from vademecum.answers.pack import Form, Piece, Section
from vademecum.answers.render import visible
from vademecum.memory.labels import with_topic
from vademecum.memory.records import AnchorState, Chapter, Evidence, Fact, Note, Recalled

if TYPE_CHECKING:
    from vademecum.memory.corrections import Why

SNIPPET_LINES = 6
NEAR = 0.2  # cosine of a note that shares no word with the question
_STATES = {
    AnchorState.CURRENT: "",
    AnchorState.DRIFTED: "has changed since",
    AnchorState.ORPHANED: "is gone",
}
NOTES_SHARE = 10.0  # share of a context, beside those of its other sections
LINE_CHARACTERS = 300
SNIPPET_CHARACTERS = 1200


def recalled_text(found: Recalled, *, why: bool = False, names: Mapping[str, str] = {}) -> str:
    """Return memory's answer as text that ends in a newline.

    Nothing follows the reason of an answer that is not found: whatever is nearest has nothing to do with the question.
    `names` are the names of repositories by root.
    """
    verdict, evidence = str(found.verdict).replace("_", " "), [*_near(found)] if found else []
    shown = f"{len(evidence)} of " if found else ""
    head = f"{verdict} {found.probability:.2f} | {shown}{counted(found.searched, 'event')}" + (
        "" if found else " searched"
    )
    lines = [head + (f" | {found.reason}" if found.reason else "")]
    for item in evidence:
        lines += ["", *evidence_lines(item, why=why, repo=names.get(item.repo, ""))]
    return "\n".join(lines) + "\n"


def _near(found: Recalled) -> Iterator[Evidence]:
    """Yield evidence without the notes that are about something else.

    A note has no session, so nothing said beside it makes it an answer: without a word of the question, and far from its
    meaning, it is none.
    """
    for number, item in enumerate(found.evidence):
        says = item.signals.get("words", 1.0) or item.signals.get("meaning", 1.0) >= NEAR or "standing" in item.signals
        if not number or item.event.session or says:
            yield item


def whole_record(found: Recalled) -> dict[str, Any]:
    """Return all of memory's answer as a plain record.

    After "not found" nothing unrelated is in the record.
    """
    record = asdict(found)
    del record["weights"]  # of terms, by numbers of the index
    return record if found else record | {"evidence": ()}


def recalled_record(found: Recalled, names: Mapping[str, str] = {}) -> dict[str, Any]:
    """Return memory's answer as a plain record.

    It leaves out details for people at a terminal. With `names` of repositories, by root, each piece of evidence names
    its own: "" for the global memory.
    """
    return {
        "verdict": str(found.verdict),
        "probability": round(found.probability, 2),
        "reason": found.reason,
        "evidence": [
            {
                "id": item.event.id,
                **({"repo": names.get(item.repo, "")} if names else {}),
                "at": stamp(item.event.at),
                "role": str(item.event.role),
                "speaker": item.event.speaker,
                "session": item.event.session,
                "text": item.event.text[:SNIPPET_CHARACTERS],
                "facts": [fact_text(fact, item.now, item.against) for fact in item.facts],
                "superseded_by": item.superseded_by,
                "anchors": {anchor.symbol: str(anchor.state) for anchor in item.anchors},
            }
            for item in (_near(found) if found else ())
        ],
    }


def evidence_lines(item: Evidence, *, why: bool = False, repo: str = "") -> list[str]:
    """Return evidence as lines: time, speaker, words, facts with their state.

    `why` adds the session and the signals.
    """
    event = item.event
    who = event.speaker or str(event.role)
    session = f"  session {event.session}" if why and event.session else ""
    scope = "  global" if item.scope == "global" else f"  {visible(repo)}" if repo else ""
    # included because its fact always applies, not for its match
    stands = "  stands" if "standing" in item.signals else ""
    lines = [f"{stamp(event.at)}  {visible(who)}{visible(session)}{scope}  {event.id}{stands}"]
    said = [line for line in event.text.splitlines() if line.strip()]
    lines += [f"  {visible(line[:LINE_CHARACTERS])}" for line in said[:SNIPPET_LINES]]
    if len(said) > SNIPPET_LINES:
        lines.append(f"  … {len(said) - SNIPPET_LINES} more lines")
    lines += [f"  ▸ {visible(fact_text(fact, item.now, item.against))}" for fact in item.facts]
    lines += [f"  ⚓ {visible(anchor.symbol)} {anchor.state}" for anchor in item.anchors]
    if item.superseded_by:
        lines.append(f"  ✗ said differently later: {item.superseded_by}")
    if why:
        lines.append(
            "  " + ", ".join(f"{name} {value:g}" for name, value in {"score": item.score, **item.signals}.items())
        )
    return lines


def fact_text(fact: Fact, now: Sequence[Fact] = (), against: Sequence[Fact] = ()) -> str:
    """Return a fact, with its state.

    The text is `now X; was Y until D` for a past fact. For undecided contradictions it has both values with dates.
    """
    head = f"{fact.kind} {fact.id} "
    said = f"{head}{fact.topic}: "
    new = next((each for each in now if each.key == fact.key), None)
    if fact.valid_to is not None and new is not None:
        return f"{said}now {new.value}; was {fact.value} until {stamp(fact.valid_to)[:10]}"
    rivals = [f"{each.value} ({stamp(each.last_at)[:10]})" for each in against if each.key == fact.key]
    if rivals:
        return f"{said}{fact.value} ({stamp(fact.last_at)[:10]}), against {', '.join(rivals)}: undecided"
    return f"{head}{with_topic(fact.topic, fact.value)}{' (disputed)' if fact.disputed else ''}"


def stamp(at: float) -> str:
    """Return a time as `2025-10-05 14:32`, in the local zone."""
    return datetime.fromtimestamp(at).astimezone().strftime("%Y-%m-%d %H:%M")


def notes_text(notes: Sequence[Note]) -> str:
    """Return notes about shown code after a blank line; else ""."""
    lines = []
    for note in notes:
        fact, said = note.fact, _said(note)
        lines.append(visible(f"  {fact.kind} {stamp(fact.last_at)[:10]}  {said}  ({_about(note)})  {fact.id}"))
    return "\nremembered\n" + "".join(f"{line}\n" for line in lines) if lines else ""


def notes_section(notes: Sequence[Note]) -> Section:
    """Return notes about shown code as a section of a context."""
    pieces = [
        Piece(
            visible(_said(note)),
            (str(note.fact.kind), stamp(note.fact.last_at)[:10], visible(_about(note))),
            Form.LINE,
            keys=(f"fact:{note.fact.id}",),
        )
        for note in notes
    ]
    return Section("remembered", NOTES_SHARE, [(piece,) for piece in pieces])


def _said(note: Note) -> str:
    return " ".join(note.fact.text.split())[:LINE_CHARACTERS]


def _about(note: Note) -> str:
    """Return the symbols of a note, their state, and its caller.

    The caller is named if the note came through a called symbol.
    """
    about = ", ".join(f"{anchor.symbol} {_STATES[anchor.state]}".strip() for anchor in note.anchors)
    return f"{about}, called by {note.through}" if note.through else about


def facts_text(facts: Sequence[Fact], *, every: bool = True) -> str:
    """Return facts, a line each: id, confidence, kind, text and period.

    Of several facts of one sentence the first has the sentence, the others their topic and value. Without `every`
    these are the facts that agents are always told, so other facts may exist if there are none.
    """
    lines, told = [], set[str]()
    for fact in facts:
        until = f" until {stamp(fact.valid_to)[:10]}" if fact.valid_to is not None else ""
        limits = f"  [{fact.place}]" if fact.place else ""
        sure = "confirmed" if fact.confirmed else f"{fact.confidence:.2f}"
        disputed = "  disputed" if fact.disputed else ""
        said = with_topic(fact.topic, " ".join((fact.value if fact.text in told else fact.text).split()))
        told.add(fact.text)
        lines.append(f"{fact.id}  {sure}  {fact.kind}  {visible(said)}{until}{visible(limits)}{disputed}")
    if lines:
        return "".join(f"{line}\n" for line in lines)
    if not every:
        return "no preference and no instruction is known: `vade memory prefs --all` lists every fact\n"
    return "nothing is known yet: `vade memory remember` or `vade memory sync`\n"


def why_text(found: Why) -> str:
    """Return the sources of a fact: statements, speakers and history."""
    fact = found.fact
    lines = [
        fact_text(fact),
        f"  {found.scope}, said {counted(fact.mentions, 'time')}, {_standing(found)}",
        "",
        "said",
    ]
    for event, words in found.said:
        where = (
            f"{stamp(event.at)}  {event.speaker or event.role}  {event.id}"
            if event
            else "in an event that was archived or deleted"
        )
        lines += [f"  {visible(where)}", f"    {visible(' '.join(words.split()))}"]
    if found.anchors:
        lines += ["", "about code"]
        lines += [f"  {visible(each.symbol)}  {visible(each.path)}  {each.state}" for each in found.anchors]
    if len(found.history) > 1:
        lines += ["", "history"]
        for each in found.history:
            until = stamp(each.valid_to)[:16] if each.valid_to is not None else "now"
            lines.append(f"  {stamp(each.valid_from)[:16]} to {until}  {visible(each.value)}  {each.id}")
    return "\n".join(lines) + "\n"


def _standing(found: Why) -> str:
    """Return a fact's state: confidence, end, dispute or rejection.

    For a disputed or rejected fact it names the command that changes the state.
    """
    fact = found.fact
    if found.rejected:
        return f"rejected: `vade memory restore {fact.id}` takes that back"
    sure = "confirmed" if fact.confirmed else f"confidence {fact.confidence:.2f}"
    if fact.valid_to is not None:
        return f"{sure}, until {stamp(fact.valid_to)[:16]}"
    return f"{sure}, disputed: `vade memory confirm` one of those below" if fact.disputed else sure


def timeline_text(chapters: Sequence[Chapter]) -> str:
    """Return chapters, the latest first, with their events by time."""
    lines: list[str] = []
    for chapter in chapters:
        lines += [chapter.name, *(f"  * {visible(' | '.join(told.splitlines()))}" for told in chapter.digests)]
        for event in chapter.events:
            first = next((line for line in event.text.splitlines() if line.strip()), "")
            lines.append(f"  {stamp(event.at)}  {visible(event.speaker or str(event.role))}  {visible(first[:120])}")
        lines.append("")
    return "\n".join(lines) if lines else "nothing is recorded for that time\n"
