"""What rules read in chats at write time: how much of what is to last is captured, and how many messages are flagged.

    python benchmarks/memory_extract.py --data BENCH/memory [--labels FILE]

- **BEAM chats** (`beam_dev/N/chat.json.gz`): a message is flagged when an instruction or a preference is read in it with a
  confidence of 0.6 or more, which is what an agent would be shown unasked. Captured is the share of gold messages that are
  flagged. Gold are the messages that the chat's own `probing_questions` name for `instruction_following` and
  `preference_following`; where these are not there, a file of labels says them: `{"N": {"instruction": [ids],
  "preference": [ids], "unsaid": [ids]}}`, `unsaid` being preferences that no word for preferring says.
- **Labelled statements** (`extraction/`): a label is found when a statement of its kind is read in its text; a commitment
  is work left to do, and an opinion is nothing to keep.

Rules were written with chats 1, 3 and 5 and the first 24 statements in view; the others were looked at for labels alone.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
from report import write
from vademecum.memory.extract import LANGUAGES, extract
from vademecum.memory.records import FactKind, Role
from vademecum.memory.redact import redact

SHOWN = 0.6
SEEN = {"1", "3", "5"}
SEEN_STATEMENTS = 24
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
    times: dict[Role, list[tuple[float, int]]] = {Role.USER: [], Role.ASSISTANT: []}
    once = time.process_time()
    patterns = [rule.compiled for language in LANGUAGES for rule in language.rules]
    once = time.process_time() - once
    extract("Always use tabs, we decided on spaces because I prefer them.")
    redaction: list[tuple[float, int]] = []
    source = ""
    for folder in sorted(data.glob("beam_dev/*/")):
        gold, source = gold_of(folder, labels)
        counts = totals["seen" if folder.name in SEEN else "unseen"]
        for number, role, text in messages(load(folder / "chat.json.gz")):
            started = time.process_time()
            clean = redact(text).text
            cleaned = time.process_time()
            found = extract(clean, role)
            times[role].append((time.process_time() - cleaned, len(text)))
            redaction.append((cleaned - started, len(text)))
            if role is not Role.USER:
                continue
            kinds = {each.kind for each in found if each.confidence >= SHOWN}
            flagged = bool(kinds & set(KINDS.values()))
            counts.update({"messages": 1, "flagged": flagged})
            for kind, ids in gold.items():
                if number in ids:
                    counts.update(
                        {f"{kind}/gold": 1, f"{kind}/captured": flagged, f"{kind}/right": KINDS.get(kind) in kinds}
                    )
    return {
        "gold_from": source,
        **{part: dict(counts) | shares(counts) for part, counts in totals.items()},
        "cpu_milliseconds": {str(role): spread(each) for role, each in times.items()}
        | {"redaction": spread(redaction)},
        "patterns_compiled_once": {"patterns": len(patterns), "cpu_milliseconds": round(1e3 * once)},
    }


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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="the folder that holds beam_dev and extraction")
    parser.add_argument("--labels", type=Path, help="gold messages, where the chats come without probing questions")
    parser.add_argument("--no-save", action="store_true", help="only print")
    arguments = parser.parse_args()
    labels = json.loads(arguments.labels.read_text(encoding="utf-8")) if arguments.labels else {}
    result = {
        "chats": chats(arguments.data, labels),
        "statements": {language: statements(arguments.data, language) for language in ("en", "fr")},
    }
    print(json.dumps(result, indent=1))
    if not arguments.no_save:
        write("memory-extract", result)


if __name__ == "__main__":
    main()
