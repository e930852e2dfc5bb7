"""Is what was said found again: LoCoMo's talks between people, BEAM's chats with an assistant.

    python benchmarks/memory_recall.py --data BENCH/memory

Each conversation is recorded into a memory of its own, as it would be, rules and all; then its questions are asked.

- LoCoMo turns: recall@10 of the evidence turns, categories 1-4 (5 is adversarial and reported apart); sessions: whether
  the first session returned holds evidence. Image captions that come with a turn are part of it.
- BEAM messages: recall@10 of the messages that hold the answer, over the seven abilities that do not ask for a listing.
- Knowledge updates: whether the newer message is returned above the older (one that is not returned at all is last).
- Abstention: the area under the ROC curve of the stated probability, answerable questions against those about what was
  never said; for LoCoMo the latter are questions of the other talks, with the names changed to those of this one.

BEAM's questions are read from `beam_dev/N/probing_questions.json.gz`; where they are not there, BEAM is left out.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np

import report
from vademecum.memory.extract import read
from vademecum.memory.ledger import GLOBAL, scope_of
from vademecum.memory.memory import Memory
from vademecum.memory.records import Event, Role
from vademecum.plugins import load
from verdicts import area, reliability

ADVERSARIAL = 5
LISTING = {"event_ordering", "summarization"}
K = 10


@dataclass(frozen=True)
class Asked:
    """A question, what answers it, and of which kind it is."""

    text: str
    gold: frozenset[str]
    kind: str
    older: frozenset[str] = frozenset()
    newer: frozenset[str] = frozenset()
    answer: str = ""


@dataclass(frozen=True)
class Conversation:
    """What was said, and what is asked about it."""

    name: str
    events: tuple[Event, ...]
    questions: tuple[Asked, ...]
    people: tuple[str, ...] = ()


def locomo(data: Path) -> list[Conversation]:
    """LoCoMo's conversations."""
    return [_talk(sample) for sample in _read(data / "locomo_dev.json.gz")]


def _talk(sample: dict[str, Any]) -> Conversation:
    talk = sample["conversation"]
    names = sorted((key for key in talk if re.fullmatch(r"session_\d+", key)), key=lambda key: int(key[8:]))
    events = []
    for name in names:
        start = datetime.strptime(talk[f"{name}_date_time"], "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)
        for place, turn in enumerate(talk[name]):
            text = " ".join(part for part in (turn["text"], turn.get("blip_caption", "")) if part)
            at = (start + timedelta(seconds=30 * place)).timestamp()
            events.append(Event(turn["dia_id"], at, Role.USER, text, name, speaker=turn["speaker"]))
    there = {event.id for event in events}
    questions = tuple(
        Asked(q["question"], frozenset(q["evidence"]) & there, str(q["category"]))
        for q in sample["qa"]
        if q["evidence"]
    )
    return Conversation(sample["sample_id"], tuple(events), questions, (talk["speaker_a"], talk["speaker_b"]))


def beam(data: Path) -> list[Conversation]:
    """BEAM's chats whose questions are there."""
    folders = sorted((data / "beam_dev").glob("*"), key=lambda folder: int(folder.name))
    return [_chat(folder) for folder in folders if (folder / "probing_questions.json.gz").exists()]


def _chat(folder: Path) -> Conversation:
    events = []
    for batch in _read(folder / "chat.json.gz"):
        for exchange in batch["turns"]:
            for message in exchange:
                at = 1_710_000_000.0 + 600 * message["id"]
                session = f"{batch['batch_number']}"
                events.append(Event(str(message["id"]), at, Role(message["role"]), message["content"], session))
    asked = _read(folder / "probing_questions.json.gz")
    questions = tuple(_asked(kind, each) for kind, some in asked.items() if kind not in LISTING for each in some)
    return Conversation(folder.name, tuple(events), questions)


def _asked(kind: str, question: dict[str, Any]) -> Asked:
    sources = question.get("source_chat_ids") or []
    older, newer = (frozenset(map(str, _flat(sources.get(name, [])))) if isinstance(sources, dict) else frozenset()
                    for name in ("original_info", "updated_info"))  # fmt: skip
    return Asked(
        question["question"], frozenset(map(str, _flat(sources))), kind, older, newer, str(question.get("answer", ""))
    )


def _flat(value: Any) -> Iterator[Any]:
    if isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _flat(item)
    else:
        yield value


def _read(path: Path) -> Any:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return json.load(file)


@contextmanager
def remembering(conversation: Conversation, embedder: Any) -> Iterator[Memory]:
    """A memory that holds one conversation, a day after its end."""
    now = max(event.at for event in conversation.events) + 86_400
    with tempfile.TemporaryDirectory(prefix="bench-memory-") as home:
        store = load("store", "sqlite", path=Path(home) / "memory.db")
        memory = Memory([scope_of(0, GLOBAL, "", Path(home), store)], lambda: embedder, read, lambda: now)
        memory.record_all(conversation.events)
        yield memory
        store.close()


def measure(conversations: Sequence[Conversation], embedder: Any) -> dict[str, Any]:
    """Ask everything of every conversation."""
    rows: list[dict[str, Any]] = []
    for conversation in conversations:
        with remembering(conversation, embedder) as memory:
            rows += (
                _answer(memory, question) | {"conversation": conversation.name} for question in conversation.questions
            )
            for other in conversations if conversation.people else ():
                if other is not conversation:
                    rows += (_elsewhere(memory, question, other, conversation) for question in other.questions)
    return rows


def _answer(memory: Memory, question: Asked) -> dict[str, Any]:
    found = memory.recall(question.text, k=50)
    ids = [item.event.id for item in found.evidence]
    row: dict[str, Any] = {"kind": question.kind, "probability": found.probability, "question": question.text}
    if question.gold:
        row["recall"] = len(set(ids[:K]) & question.gold) / len(question.gold)
        best = memory.sessions(question.text, k=1)
        held = {memory.get(id_).session for id_ in question.gold}
        row["session"] = bool(best) and best[0][1] in held
    if question.older and question.newer:
        row["updated"] = _place(ids, question.newer) < _place(ids, question.older)
    return row


def _elsewhere(memory: Memory, question: Asked, of: Conversation, asked: Conversation) -> dict[str, Any]:
    """Ask a question of one talk in another."""
    text = renamed(question.text, of.people, asked.people)
    return {"kind": "elsewhere", "probability": memory.recall(text, k=1).probability}


def _place(ids: Sequence[str], wanted: frozenset[str]) -> int:
    return min((ids.index(id_) for id_ in wanted if id_ in ids), default=len(ids))


def renamed(text: str, names: Sequence[str], others: Sequence[str]) -> str:
    for name, other in zip(names, others, strict=True):
        text = re.sub(rf"\b{re.escape(name)}\b", other, text)
    return text


def summary(rows: Sequence[dict[str, Any]], unanswerable: str, apart: frozenset[str]) -> dict[str, Any]:
    """Means over questions, by kind, and how true the probability is."""
    found = [row for row in rows if "recall" in row and row["kind"] not in apart]
    by_kind: dict[str, list[float]] = defaultdict(list)
    by_conversation: dict[str, list[float]] = defaultdict(list)
    for row in rows:
        if "recall" in row:
            by_kind[row["kind"]].append(row["recall"])
    for row in found:
        by_conversation[row["conversation"]].append(row["recall"])
    known = [row["probability"] for row in found]
    unknown = [row["probability"] for row in rows if row["kind"] == unanswerable]
    updated = [row["updated"] for row in rows if "updated" in row]
    answerable = [True] * len(known) + [False] * len(unknown)
    return {
        "questions": len(found),
        "recall_at_10": _mean([row["recall"] for row in found]),
        "session_hit_at_1": _mean([row["session"] for row in found]),
        "by_kind": {kind: _mean(values) for kind, values in sorted(by_kind.items())},
        "by_conversation": {name: _mean(values) for name, values in by_conversation.items()},
        "updates": len(updated),
        "update_order_right": _mean(updated) if updated else None,
        "unanswerable": len(unknown),
        "abstention_area": round(area(known + unknown, answerable), 4) if unknown else None,
        "reliability": reliability(known + unknown, answerable) if unknown else None,
    }


def _mean(values: Sequence[float]) -> float:
    return round(float(np.mean(values)), 4)


def main(argv: Sequence[str] | None = None) -> None:
    """Run, print, write the result."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--into", type=Path, default=report.RESULTS, help="folder for the result")
    parser.add_argument("--missed", action="store_true", help="list the questions whose evidence was not returned")
    parser.add_argument(
        "--name", default="memory-recall", help="of the result: that of other conversations is kept apart"
    )
    arguments = parser.parse_args(argv)
    embedder = load("embedder", "static")
    result: dict[str, Any] = {}
    for name, conversations, unanswerable, apart in (
        ("locomo", locomo(arguments.data), "elsewhere", frozenset({str(ADVERSARIAL)})),
        ("beam", beam(arguments.data), "abstention", frozenset()),
    ):
        if not conversations:
            print(f"{name}: no questions there")
            continue
        rows = measure(conversations, embedder)
        result[name] = summary(rows, unanswerable, apart)
        print(f"{name}:", json.dumps({k: v for k, v in result[name].items() if k != "reliability"}, indent=1))
        if arguments.missed:
            print(*(f"  {row['kind']}: {row['question']}" for row in rows if row.get("recall", 1) < 1), sep="\n")
    print("written:", report.write(arguments.name, result, arguments.into).name)


if __name__ == "__main__":
    main()
