"""Whether an agent is told what answers its user: the texts that it gets, read at the end of the chain.

    python benchmarks/memory_told.py --data BENCH/memory [--half tuned|held]

Each conversation of LoCoMo and BEAM is recorded into a memory of its own; then every question is sent as a user's message. Four texts are
read: what opens a session, what the prompt hook adds, `build_memory_context`, and `recall` as the server passes it on.

- **Evidence**: a message counts as told when a text holds eight words of it in a row, or a whole shorter sentence. The share is that of
  the questions with any evidence told; beside it stands the share of those whose evidence is among the first five of `recall`.
- **Values that changed** (BEAM's knowledge updates whose answer has a number or a name that the older message lacks): the newest value is
  told, or the outdated message alone.
- **Preferences and instructions** (BEAM) that were captured: told among the active preferences, and told at all.
- **The prompt hook**: in how many cases it speaks, and in how many of these it tells evidence.

Constants were chosen on every other conversation (`tuned`: the second, the fourth, …); the others are `held` back.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
import report
from memory_recall import ADVERSARIAL, Asked, Conversation, beam, locomo, remembering
from vademecum.answers.remembered import recalled_text
from vademecum.index.tokenize import estimated_tokens
from vademecum.mcp.registry import REMEMBERED
from vademecum.memory.brief import Brief
from vademecum.memory.kinds import FactKind
from vademecum.memory.labels import ENGLISH
from vademecum.memory.memory import CONTEXT_TOKENS, Memory
from vademecum.plugins import load

UPDATE, LASTING = "knowledge_update", ("preference_following", "instruction_following")
IN_A_ROW = 8
_WORD = re.compile(r"\w+")
_VALUE = re.compile(r"\w*\d[\w.,:]*\w|\d|\b[A-Z]\w+")


@dataclass(frozen=True)
class Told:
    """What was told of one question's answer."""

    conversation: str
    kind: str
    question: str
    tokens: dict[str, int]
    evidence: dict[str, bool]  # by text, and for the first five of `recall`
    newest: dict[str, bool] = field(default_factory=dict)
    outdated: dict[str, bool] = field(default_factory=dict)
    lasting: dict[str, bool] = field(default_factory=dict)
    milliseconds: float = 0.0


def words(text: str) -> str:
    """The words of a text, a blank around each."""
    return f" {' '.join(_WORD.findall(text.lower()))} "


def holds(told: str, message: str) -> bool:
    """Return whether a text holds a run of a message's words, or a short sentence of it."""
    for sentence in re.split(r"(?<=[.!?])\s+|\n+", message):
        said = words(sentence).split()
        if any(
            f" {' '.join(said[at : at + IN_A_ROW])} " in told
            for at in range(max(len(said) - IN_A_ROW + 1, len(said) > 3))
        ):
            return True
    return False


def texts_of(memory: Memory, question: str) -> tuple[dict[str, str], list[str], float]:
    """Return the texts that an agent gets, the events that `recall` has first, and the milliseconds of the context."""
    now = max(event.at for event in memory.events()) + 86_400
    brief = Brief([scope.store for scope in memory.scopes], ENGLISH, lambda: now, CONTEXT_TOKENS)
    found = memory.recall(question, k=REMEMBERED)
    started = time.perf_counter()
    context = memory.build_memory_context("now", question)
    took = 1e3 * (time.perf_counter() - started)
    texts = {
        "opening": brief.opening(),
        "hook": brief.answering(question),
        "context": context,
        "recall": recalled_text(found),
    }
    return texts, [item.event.id for item in memory.recall(question, k=5).evidence], took


def ask(memory: Memory, asked: Asked, conversation: Conversation) -> Told:
    """Send a question as a message, and read what the agent gets."""
    texts, first, took = texts_of(memory, asked.text)
    said = {name: words(text) for name, text in texts.items()}
    by_id = {event.id: event.text for event in conversation.events}
    evidence = {name: any(holds(text, by_id[id_]) for id_ in asked.gold) for name, text in said.items()}
    evidence["recall@5"] = not asked.gold.isdisjoint(first)
    told = Told(
        conversation.name,
        asked.kind,
        asked.text,
        {n: estimated_tokens(t) for n, t in texts.items()},
        evidence,
        milliseconds=took,
    )
    if asked.kind == UPDATE and asked.older and asked.newer:
        told.newest.update(_newest(asked, by_id, texts))
        told.outdated.update(
            {
                n: not shown and any(holds(said[n], by_id[o]) for o in asked.older - asked.newer)
                for n, shown in told.newest.items()
            }
        )
    if asked.kind in LASTING:
        told.lasting.update(_lasting(memory, asked, texts["context"], evidence))
    return told


def _newest(asked: Asked, by_id: dict[str, str], texts: dict[str, str]) -> dict[str, bool]:
    """Return by text whether the newest value is in it, {} where the older message has it too."""
    newer, older = (" ".join(by_id[each] for each in sorted(ids)) for ids in (asked.newer, asked.older))
    values = [each for each in _VALUE.findall(asked.answer) if each in newer and each not in older]
    return {name: all(each in text for each in values) for name, text in texts.items()} if values else {}


def _lasting(memory: Memory, asked: Asked, context: str, evidence: dict[str, bool]) -> dict[str, bool]:
    """Return whether a captured preference is told, {} where nothing was captured."""
    captured = [
        f
        for f in memory.facts(kinds=[FactKind.PREFERENCE, FactKind.INSTRUCTION])
        if f.event in asked.gold and f.confidence >= 0.6
    ]
    if not captured:
        return {}
    block = words(context.partition(f"### {ENGLISH.knowledge}")[0])
    told = any(words(fact.text[:200])[:60] in block for fact in captured)
    return {"active": told, "hook": evidence["hook"], "context": told or evidence["context"]}


def measure(conversations: Sequence[Conversation], embedder: Any) -> Iterator[Told]:
    """Ask everything of every conversation."""
    for conversation in conversations:
        with remembering(conversation, embedder) as memory:
            asked = (
                each
                for each in conversation.questions
                if each.gold and each.kind not in {str(ADVERSARIAL), "abstention"}
            )
            yield from (ask(memory, each, conversation) for each in asked)


def summary(rows: Sequence[Told]) -> dict[str, Any]:
    """Return counts and means over questions."""
    changed, lasting = [row for row in rows if row.newest], [row for row in rows if row.lasting]
    spoken = [row for row in rows if row.tokens["hook"]]
    took = sorted(row.milliseconds for row in rows)
    result: dict[str, Any] = {
        "questions": len(rows),
        "evidence_told": {name: _mean([row.evidence[name] for row in rows]) for name in rows[0].evidence},
        "tokens": {name: round(sum(row.tokens[name] for row in rows) / len(rows)) for name in rows[0].tokens},
        "context_ms": {"median": round(took[len(took) // 2], 1), "p95": round(took[int(0.95 * len(took))], 1)},
        "hook": {"speaks": len(spoken), "right": sum(row.evidence["hook"] for row in spoken)},
    }
    if changed:
        result["changed"] = {"questions": len(changed)} | {
            name: {
                "newest": sum(row.newest[name] for row in changed),
                "outdated_alone": sum(row.outdated[name] for row in changed),
            }
            for name in changed[0].newest
        }
    if lasting:
        result["lasting"] = {"captured": len(lasting)} | {
            n: sum(row.lasting[n] for row in lasting) for n in lasting[0].lasting
        }
    return result


def _mean(values: Sequence[bool]) -> float:
    return round(sum(values) / len(values), 3)


def main(argv: Sequence[str] | None = None) -> None:
    """Run, print, write the result."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--half", choices=("tuned", "held"), help="only one half of the conversations")
    parser.add_argument("--only", choices=("locomo", "beam"), help="only one collection")
    parser.add_argument("--rows", type=Path, help="write what was told of each question into this file too")
    parser.add_argument("--no-save", action="store_true", help="only print")
    arguments = parser.parse_args(argv)
    embedder, result, kept = load("embedder", "static"), dict[str, Any](), list[Told]()
    for name, read in (("beam", beam), ("locomo", locomo)):
        conversations = [] if arguments.only not in (None, name) else read(arguments.data)
        halves = {"tuned": conversations[1::2], "held": conversations[::2]}
        rows = {
            half: list(measure(some, embedder))
            for half, some in halves.items()
            if some and arguments.half in (None, half)
        }
        kept += [row for some in rows.values() for row in some]
        every = {"all": [row for some in rows.values() for row in some]} if len(rows) == 2 else {}
        result |= {name: {half: summary(some) for half, some in (rows | every).items() if some}} if rows else {}
    print(json.dumps(result, indent=1))
    if arguments.rows:
        arguments.rows.write_text("\n".join(json.dumps(vars(row)) for row in kept), encoding="utf-8")
    if not arguments.no_save:
        print("written:", report.write("memory-told", result).name)


if __name__ == "__main__":
    main()
