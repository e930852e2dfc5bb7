"""What is read in coding talk as people type it, in English and French.

    python benchmarks/memory_talk.py [--talk FILE …] [--half looked-at|unread] [--misses]

`coding_talk.tsv` was written for this: decisions, house rules, likes, facts, fixes and work left to do in free phrasing, and what must not
be kept (jokes, quotations, retractions, pasted documents, one-off tasks, questions, complaints). Half of the lines, by a digest of their
text, stay unread until reading is finished. `coding_talk_later.tsv`, `_newest` and `_plain` were written later, each before a change of
reading; of `_plain` the half that `--half unread` names was set aside. `_free` and `_fresh` were written after the last, which saw none of them.
`_reversals` has pairs of messages; the half that `--half unread` names was set aside while their pairing was written. So it was of `_denials`,
statements and pairs in which "not" stands, and reports in which it stands too, written before reading was mended for them. And so it was of
`_offhand`, mostly what must not be kept (reports, one piece of work, jokes, others' opinions) and reversals in plain words.
Once measured, its unread half was read too, and `_aside` was written before that. `_weekday` was written before the next fit and measured once,
after it; it has short sessions too. All of these were looked at when reversals were paired by the kind of their values; `_harbour` was written
before that, and nobody read what is missed of it. `_twins` holds ten topics that were drawn before `talk.txt` of `training/memory_reading` was
written, and set aside: a line to be kept beside one or two that share its words and are not; nobody read what is missed of it either.

- **Read**: a statement of the kind, or of its neighbour (a rule for a preference, a fact for a decision), that an agent would be shown
  (confidence 0.6 or more), whose subject and value hold the words of the label, and whose value is denied where the label is.
- **Ended**: of labels of one or two words read as a decision or a fact, the share whose value is at most three words longer.
- **Kept wrongly**: of what must not be kept, the share in which anything is read that an agent would be shown.
- **Closed**: two messages, the second of which takes the first back, are recorded; then the old value no longer holds, and the new one does.
- **Closed wrongly**: of near misses whose first message was read, the share in which the second one ends it.
- **Told right**: short sessions after which everything that should hold does, and nothing that should not.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
from report import write
from vademecum.memory.extract import extract, read
from vademecum.memory.kinds import FactKind
from vademecum.memory.ledger import GLOBAL, scope_of
from vademecum.memory.memory import Memory
from vademecum.memory.records import Fact, Statement
from vademecum.memory.words import is_denied
from vademecum.plugins import load

SHOWN = 0.6
TALKS = [
    Path(__file__).parent / f"coding_talk{name}.tsv"
    for name in (
        "",
        "_later",
        "_newest",
        "_plain",
        "_free",
        "_fresh",
        "_denials",
        "_reversals",
        "_offhand",
        "_aside",
        "_weekday",
        "_harbour",
        "_twins",
    )
]
HALVES = ("looked-at", "unread")
NOON, HOUR = 1_760_000_400.0, 3600.0
_RULES = {FactKind.INSTRUCTION, FactKind.PREFERENCE}
NEIGHBOURS = {
    "instruction": _RULES | {FactKind.DECISION},
    "preference": _RULES,
    "decision": {FactKind.DECISION, FactKind.FACT, FactKind.INSTRUCTION},
    "fact": {FactKind.FACT, FactKind.DECISION},
    "fix": {FactKind.FIX},
    "todo": {FactKind.TODO},
}


@dataclass(frozen=True)
class Said:
    """One line of the file; the text of a reversal or a session holds several messages."""

    language: str
    kind: str
    value: str
    closed: str
    text: str

    @property
    def half(self) -> str:
        """The half that the text's digest puts it in."""
        return HALVES[hashlib.sha256(self.text.encode()).digest()[0] % 2]


def talk(path: Path) -> list[Said]:
    lines = path.read_text(encoding="utf-8").splitlines()[1:]
    return [Said(*line.replace("\\n", "\n").split("\t")) for line in lines]


def holds(value: str, label: str, subject: str = "") -> bool:
    """Return whether a subject and its value hold a label's words, and the value is denied as the label is."""
    denied, low = label.startswith("not "), f"{subject} {value}".lower()
    words = label.lower().removeprefix("not ").split()
    return is_denied(value) is denied and all(re.search(rf"(?<!\w){re.escape(word)}", low) for word in words)


def right(said: Said) -> Statement | None:
    """Return the statement that a label is read as."""
    shown = [each for each in extract(said.text) if each.confidence >= SHOWN and each.kind in NEIGHBOURS[said.kind]]
    return next((each for each in shown if holds(each.value, said.value, each.subject)), None)


def closed(said: Said) -> bool:
    """Record a reversal's two messages, and return whether the old value ended and the new one holds."""
    old, new = recorded(said)
    return bool(old) and new and all(fact.valid_to is not None for fact in old)


def told_right(said: Said) -> bool:
    """Record a session, and return whether all its values hold in the end, and nothing that was taken back."""
    standing = [fact for fact in remembered(said.text.split("~")) if fact.valid_to is None]
    wanted, gone = (part.split("; ") if part else [] for part in (said.value, said.closed))
    holding = all(any(holds(fact.value, each, fact.subject) for fact in standing) for each in wanted)
    return holding and not any(holds(fact.value, each) for fact in standing for each in gone)


def recorded(said: Said) -> tuple[list[Fact], bool]:
    """Record two messages, and return the facts of the old value, and whether the new one holds."""
    facts = remembered(said.text.split("~"))
    old = [fact for fact in facts if holds(fact.value, said.closed)]
    return old, not said.value or any(holds(fact.value, said.value) for fact in facts if fact.valid_to is None)


def remembered(messages: list[str]) -> list[Fact]:
    """Record messages, an hour apart, and return the facts, past ones too."""
    with tempfile.TemporaryDirectory(prefix="bench-talk-") as home:
        store, clock = load("store", "sqlite", path=Path(home) / "memory.db"), [NOON]
        embedder = load("embedder", "hashing")
        memory = Memory([scope_of(0, GLOBAL, "", Path(home), store)], lambda: embedder, read, lambda: clock[0])
        for message in messages:
            memory.record(message, role="user")
            clock[0] += HOUR
        facts = memory.facts(past=True)
        store.close()
    return facts


def measure(lines: list[Said], *, misses: bool = False) -> dict[str, Any]:
    counts: Counter[str] = Counter()
    for said in lines:
        if said.kind == "none":
            found = [each for each in extract(said.text) if each.confidence >= SHOWN]
            good, name = not found, "kept wrongly"
            counts.update({f"{name}/{said.language}/of": 1, f"{name}/{said.language}": bool(found)})
        elif said.kind == "stays":
            old, name = recorded(said)[0], "closed wrongly"
            good = not old or any(fact.valid_to is None for fact in old)
            counts.update({f"{name}/{said.language}/of": bool(old), f"{name}/{said.language}": not good})
            found = []
        elif said.kind == "session":
            good, name = told_right(said), "told right"
            counts.update({f"{name}/{said.language}/of": 1, f"{name}/{said.language}": good})
            found = []
        elif said.kind == "reversal":
            good, name = closed(said), "closed"
            counts.update({f"{name}/{said.language}/of": 1, f"{name}/{said.language}": good})
            found = [*extract(said.text.split("~")[0]), *extract(said.text.split("~")[1])]
        else:
            statement, name = right(said), "read"
            good, found = statement is not None, extract(said.text)
            for part in (said.language, said.kind):
                counts.update({f"{name}/{part}/of": 1, f"{name}/{part}": good})
            if statement is not None and said.kind in ("decision", "fact") and len(said.value.split()) <= 2:
                ended = len(statement.value.split()) <= len(said.value.split()) + 3
                counts.update({"ended/of": 1, "ended": ended})
        if misses and not good:
            print(name, said.kind, said.value, "|", said.text, "→", [(str(e.kind), e.subject, e.value, e.confidence) for e in found])  # fmt: skip
    return shares(counts)


def shares(counts: Counter[str]) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for name in sorted(key.removesuffix("/of") for key in counts if key.endswith("/of")):
        out[name] = [counts[name], counts[f"{name}/of"], round(counts[name] / counts[f"{name}/of"], 3)]
    for name in ("read", "kept wrongly", "closed", "closed wrongly", "told right"):
        of = sum(counts[f"{name}/{each}/of"] for each in ("en", "fr"))
        done = sum(counts[f"{name}/{each}"] for each in ("en", "fr"))
        out[name] = [done, of, round(done / of, 3) if of else 0.0]
    return out


def milliseconds(lines: list[Said]) -> float:
    """Return what reading a message costs on average, in milliseconds of computing."""
    started = time.process_time()
    for said in lines:
        extract(said.text)
    return round((time.process_time() - started) / len(lines) * 1e3, 3)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--half", choices=HALVES, help="one half of each file alone")
    parser.add_argument(
        "--talk", type=Path, nargs="+", default=TALKS, help="files of this form; all thirteen unless given"
    )
    parser.add_argument("--misses", action="store_true", help="print what is read wrongly")
    parser.add_argument("--no-save", action="store_true", help="only print")
    arguments = parser.parse_args()
    result: dict[str, Any] = {}
    for path in arguments.talk:
        lines = talk(path)
        parts = {half: [said for said in lines if said.half == half] for half in HALVES} | {"whole": lines}
        chosen = {arguments.half: parts[arguments.half]} if arguments.half else parts
        result[path.stem] = {name: measure(said) for name, said in chosen.items()}
        result[path.stem]["milliseconds"] = milliseconds(lines)
        if arguments.misses:
            measure(parts[arguments.half or "whole"], misses=True)
    print(json.dumps(result, indent=1))
    if not arguments.no_save:
        write("memory-talk", result)


if __name__ == "__main__":
    main()
