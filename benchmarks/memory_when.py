"""Times in words against hindsight's golden pairs (MIT): which ranges are the same, by language and kind.

    python benchmarks/memory_when.py --data BENCH/memory

A pair is "reference time U+001F phrase" → [start, end] or null, the same 423 phrases at six reference times. Its ranges
end a microsecond before ours, which are half-open. A phrase is English unless it holds a letter that English has not
or a word of another language; digits, signs and nonsense count as English, for an English reader may type them. The
phrases are split in two by a hash: rules were written with `first` in view.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import sys
import time
import unicodedata
from collections import Counter, defaultdict
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
from report import write
from vademecum.memory.when import time_named

FRENCH = set(re.findall(r"\S+", """
    janvier février fevrier avril mai juin juillet août aout septembre octobre novembre décembre mars
    hier aujourd hui semaine mois année dernier dernière derniere jours réunion ai je fait il y a le la l
    qu du
"""))  # fmt: skip
OTHERS = set(re.findall(r"\S+", """
    enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre ayer hoy qué
    hice hace días pasado pasada el año semana reunión gennaio febbraio aprile maggio giugno luglio
    settembre ottobre dicembre ieri oggi fa giorni scorso scorsa settimana anno mese lo fine cosa ho
    fatto riunione januar februar märz juni juli oktober dezember gestern heute letzte letzten letztes
    woche monat jahr wochenende was ist passiert vor tagen besprechung am o que aconteceu há dias de
"""))  # fmt: skip
ONLY_FRENCH = FRENCH - {"a", "l", "y", "je"}


def language(phrase: str) -> str:
    """Return `english`, `french` or `other`."""
    words = set(re.findall(r"[^\W\d_]+", phrase.lower()))
    if words & OTHERS or any(_is_foreign(c) for c in phrase):
        return "other"
    if words & ONLY_FRENCH:
        return "french"
    return "english"


def _is_foreign(character: str) -> bool:
    return character.isalpha() and not unicodedata.name(character, "").startswith("LATIN")


def half(phrase: str) -> str:
    """Return `first` or `second`, the same on every run."""
    return "first" if hashlib.sha256(phrase.encode()).digest()[0] % 2 else "second"


def measure(pairs: dict[str, list[str] | None]) -> dict[str, Any]:
    """Return the share of pairs that agree, by language, half and whether there is a time at all, and the misses."""
    right: Counter[str] = Counter()
    asked: Counter[str] = Counter()
    missed: dict[str, list[str]] = defaultdict(list)
    times: list[float] = []
    for key, golden in pairs.items():
        reference, _, phrase = key.partition("\x1f")
        now = datetime.fromisoformat(reference).replace(tzinfo=UTC)
        started = time.perf_counter()
        found = time_named(phrase, now)
        times.append(time.perf_counter() - started)
        said = [found.start, found.end - timedelta(microseconds=1)] if found else None
        wanted = [datetime.fromisoformat(moment).replace(tzinfo=UTC) for moment in golden] if golden else None
        spoken = language(phrase)
        for name in (spoken, f"{spoken}/{half(phrase)}", f"{spoken}/{'time' if golden else 'none'}"):
            asked[name] += 1
            right[name] += said == wanted
        if said != wanted and spoken != "other":
            missed[f"{spoken}: {phrase[:60]!r}"].append(reference[:10])
    times.sort()
    return {
        "share": {name: round(right[name] / asked[name], 4) for name in sorted(asked)},
        "pairs": dict(sorted(asked.items())),
        "missed_phrases": len(missed),
        "milliseconds": {
            "median": round(times[len(times) // 2] * 1e3, 3),
            "p99": round(times[int(len(times) * 0.99)] * 1e3, 3),
        },
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="the folder that holds time_expressions.json")
    parser.add_argument("--no-save", action="store_true", help="only print")
    arguments = parser.parse_args()
    pairs = json.loads((arguments.data / "time_expressions.json").read_text(encoding="utf-8"))
    result = measure(pairs)
    print(json.dumps(result, indent=1, ensure_ascii=False))
    if not arguments.no_save:
        write("memory-when", result)


if __name__ == "__main__":
    main()
