"""What is read in chats at write time: how much of what is to last is captured, and how many messages are flagged.

    python benchmarks/memory_extract.py --data BENCH/memory [--labels FILE]

- **BEAM chats** (`beam_dev/N/chat.json.gz`): a message is flagged when an instruction or a preference is read in it with a
  confidence of 0.6 or more, which is what an agent would be shown unasked. Captured is the share of gold messages that are
  flagged, told the share of probing questions of which one of the messages is: a question may name beside what is to last the
  messages that came of it ("can you show me an example?"). Gold are the messages that the chat's own `probing_questions` name for `instruction_following` and
  `preference_following`; where these are not there, a file of labels says them: `{"N": {"instruction": [ids],
  "preference": [ids], "unsaid": [ids]}}`, `unsaid` being preferences that no word for preferring says.
- **Labelled statements** (`extraction/`): a label is found when a statement of its kind is read in its text; a commitment
  is work left to do, and an opinion is nothing to keep.
- **Stated preferences** (`--prefeval`, PrefEval's `explicit_preference/*.json`, CC BY-NC 4.0): the share of a thousand that
  are read as a preference or an instruction, and of the questions that go with them that are taken for one. Half of them, by
  a digest, were looked at while rules were written.

Rules were written with chats 1, 3 and 5 and the first 24 statements in view; the others were looked at for labels alone.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
from report import write
from vademecum.memory.extract import extract
from vademecum.memory.extract.sentences import kind_of
from vademecum.memory.records import FactKind, Role
from vademecum.redaction.redact import redact

SHOWN = 0.6
SEEN = {"1", "3", "5"}
SEEN_STATEMENTS = 24
ROUNDS = 3
KINDS = {"instruction": FactKind.INSTRUCTION, "preference": FactKind.PREFERENCE}
ABILITIES = {"instruction": "instruction_following", "preference": "preference_following"}
LABELS = {
    "decision": FactKind.DECISION,
    "preference": FactKind.PREFERENCE,
    "commitment": FactKind.TODO,
    "fact": FactKind.FACT,
}


def load(path: Path) -> Any:
    return json.loads(gzip.open(path).read())


def messages(chat: Any) -> Iterator[tuple[int, Role, str]]:
    """Yield the id, the role and the text of what is said, in order."""
    for batch in chat:
        for turn in batch["turns"]:
            yield from ((message["id"], Role(message["role"]), message["content"]) for message in turn)


def gold_of(folder: Path, labels: dict[str, Any]) -> tuple[dict[str, set[int]], str]:
    """Return the messages that hold what is to last, by kind, and where that is known from."""
    probing = folder / "probing_questions.json.gz"
    if not probing.exists():
        return {kind: set(ids) for kind, ids in labels.get(folder.name, {}).items()}, "labels"
    questions = load(probing)
    return {kind: {i for each in questions.get(ability, []) for i in numbers(each.get("source_chat_ids"))} for kind, ability in ABILITIES.items()}, "probing_questions"  # fmt: skip


def told_of(folder: Path, flagged: set[int]) -> Counter[str]:
    """Count the probing questions of each kind, and those of which a message is flagged."""
    counts: Counter[str] = Counter()
    probing = folder / "probing_questions.json.gz"
    for kind, ability in ABILITIES.items():
        for each in load(probing).get(ability, []) if probing.exists() else []:
            told = not flagged.isdisjoint(numbers(each.get("source_chat_ids")))
            counts.update({f"{kind}/asked": 1, f"{kind}/told": told})
    return counts


def numbers(value: Any) -> Iterator[int]:
    """Every number in nested lists and dicts."""
    if isinstance(value, int):
        yield value
    elif isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from numbers(each)


def chats(data: Path, labels: dict[str, Any]) -> dict[str, Any]:
    """Return for each chat and for the seen and unseen ones what is captured and flagged."""
    totals: dict[str, Counter[str]] = {"seen": Counter(), "unseen": Counter()}
    source = ""
    for folder in sorted(data.glob("beam_dev/*/")):
        gold, source = gold_of(folder, labels)
        counts, flagged = totals["seen" if folder.name in SEEN else "unseen"], set[int]()
        for number, role, text in messages(load(folder / "chat.json.gz")):
            if role is not Role.USER:
                continue
            kinds = {each.kind for each in extract(redact(text).text, role) if each.confidence >= SHOWN}
            shown = bool(kinds & set(KINDS.values()))
            flagged.update([number] if shown else [])
            counts.update({"messages": 1, "flagged": shown})
            for kind in (kind for kind, ids in gold.items() if number in ids):
                counts.update({f"{kind}/gold": 1, f"{kind}/captured": shown, f"{kind}/right": KINDS.get(kind) in kinds})
        counts.update(told_of(folder, flagged))
    return {"gold_from": source, **{part: dict(counts) | shares(counts) for part, counts in totals.items()}}


def costs(data: Path) -> dict[str, Any]:
    """Return what redacting and reading a message takes: of each the least of `ROUNDS` passes over all, so that each comes cold."""
    once = time.process_time()
    kind_of("Always use tabs, we decided on spaces because I prefer them.")
    once = time.process_time() - once
    extract("Always use tabs, we decided on spaces because I prefer them.")
    folders = sorted(data.glob("beam_dev/*/"))
    said = [(role, text) for folder in folders for _, role, text in messages(load(folder / "chat.json.gz"))]
    passes = [[timed(role, text) for role, text in said] for _ in range(ROUNDS)]
    least = [(role, len(text), min(r for r, _ in each), min(e for _, e in each)) for (role, text), each in zip(said, zip(*passes, strict=True), strict=True)]  # fmt: skip
    by_role = {role: [(reading, length) for who, length, _, reading in least if who is role] for role in (Role.USER, Role.ASSISTANT)}  # fmt: skip
    return {
        "cpu_milliseconds": {str(role): spread(each) for role, each in by_role.items()}
        | {"redaction": spread([(redacting, length) for _, length, redacting, _ in least])},
        "model_loaded_once": {"cpu_milliseconds": round(1e3 * once)},
    }


def timed(role: Role, text: str) -> tuple[float, float]:
    """Return the seconds of computing that redacting a message takes, and reading it."""
    started = time.process_time()
    clean = redact(text).text
    cleaned = time.process_time()
    extract(clean, role)
    return cleaned - started, time.process_time() - cleaned


def spread(times: list[tuple[float, int]]) -> dict[str, float]:
    """Return what a message costs, in milliseconds of computing, and how long the longest is."""
    taken = sorted(took for took, _ in times)
    at = {"p95": int(len(taken) * 0.95), "p99": int(len(taken) * 0.99), "most": -1}
    mean = round(sum(taken) / len(taken) * 1e3, 2)
    return {"messages": len(taken), "mean": mean, **{name: round(taken[i] * 1e3, 2) for name, i in at.items()},
            "longest_characters": max(length for _, length in times)}  # fmt: skip


def shares(counts: Counter[str]) -> dict[str, float]:
    """Return the shares that the counts make."""
    kinds = sorted({name.partition("/")[0] for name in counts if name.endswith("/gold")})
    captured = {f"{kind}_captured": round(counts[f"{kind}/captured"] / counts[f"{kind}/gold"], 3) for kind in kinds}
    captured |= {
        f"{kind}_told": round(counts[f"{kind}/told"] / n, 3) for kind in ABILITIES if (n := counts[f"{kind}/asked"])
    }
    return captured | {"flagged_share": round(counts["flagged"] / max(counts["messages"], 1), 3)}


def statements(data: Path, language: str) -> dict[str, Any]:
    """Return how many labels have a statement of their kind, and how many statements were read for nothing."""
    name = f"dataset.{language}.jsonl" if language != "en" else "dataset.jsonl"
    texts = [json.loads(line) for line in (data / "extraction" / name).read_text(encoding="utf-8").splitlines()]
    lines = (data / "extraction" / "labels.jsonl").read_text(encoding="utf-8").splitlines()
    labels = {each["id"]: {memory["type"] for memory in each["memories"]} for each in map(json.loads, lines)}
    totals: dict[str, Counter[str]] = {"seen": Counter(), "unseen": Counter()}
    for at, each in enumerate(texts):
        counts = totals["seen" if at < SEEN_STATEMENTS else "unseen"]
        read = {found.kind for found in extract(each["text"])}
        for label in labels[each["id"]]:
            if label in LABELS:
                counts.update({f"{label}/gold": 1, f"{label}/found": LABELS[label] in read})
        wrong = read - {LABELS[label] for label in labels[each["id"]] if label in LABELS}
        counts.update({"kinds_read": len(read), "kinds_read_wrongly": len(wrong)})
    return {part: dict(sorted(counts.items())) for part, counts in totals.items()}


def preferences(folder: Path) -> dict[str, Any]:
    """Return what share of stated preferences is flagged, and of the questions beside them, by half."""
    totals: dict[str, Counter[str]] = {"seen": Counter(), "unseen": Counter()}
    for each in (each for path in sorted(folder.glob("*.json")) for each in json.loads(path.read_text("utf-8"))):
        half = "unseen" if hashlib.sha256(each["preference"].encode()).digest()[0] % 2 else "seen"
        totals[half].update(
            {"stated": 1, "read": is_flagged(each["preference"]), "questions_flagged": is_flagged(each["question"])}
        )
    return {
        half: dict(counts) | {"read_share": round(counts["read"] / counts["stated"], 3)}
        for half, counts in totals.items()
    }


def is_flagged(text: str) -> bool:
    """Whether a preference or an instruction that is sure enough to be shown is read in what a user says."""
    return any(each.confidence >= SHOWN and each.kind in KINDS.values() for each in extract(redact(text).text))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="the folder that holds beam_dev and extraction")
    parser.add_argument("--labels", type=Path, help="gold messages, where the chats come without probing questions")
    parser.add_argument("--prefeval", type=Path, help="the folder of PrefEval's explicit preferences")
    parser.add_argument("--no-save", action="store_true", help="only print")
    arguments = parser.parse_args()
    labels = json.loads(arguments.labels.read_text(encoding="utf-8")) if arguments.labels else {}
    result = {
        "chats": chats(arguments.data, labels) | costs(arguments.data),
        "statements": {language: statements(arguments.data, language) for language in ("en", "fr")},
    }
    if arguments.prefeval:
        result["stated_preferences"] = preferences(arguments.prefeval)
    print(json.dumps(result, indent=1))
    if not arguments.no_save:
        write("memory-extract", result)


if __name__ == "__main__":
    main()
