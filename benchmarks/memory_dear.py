"""What the dearest message costs to read while it is recorded: texts made to be dear, by processor time, cold.

    python benchmarks/memory_dear.py [--random 150]

- **Lists** of ten to a thousand rules, English, French, and one form over and over; **prose** of up to 100,000 characters.
- **Floods**: a few words that some step of reading looks for (quotation marks, list marks, dates, paths, negations, cues), over and over, in one line and in many, 8,000 and 100,000 characters.
- **Mixes** of cues, clauses, links and marks, drawn at random.

Each is read with nothing remembered of it, the twenty-five dearest and all lists five times; the least time counts. Of the
dearest stand also the sentences that are read of them, with their characters.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from report import write
from vademecum.memory import extract as reading
from vademecum.memory.extract import prose, read, sentences, subject, values

SEED = 3
ENGLISH = (
    "Always check the {} first.", "Never push {} without a review.", "I prefer {} over globals.", "All {} must have type hints in src/api.",
    "We decided to use {} instead of MySQL because it is simple.", "Use {}, not npm.", "The {} server is at 10.0.0.4.",
    "TODO: write the {} migration", "The fix was to pin {} below 2.", "When I ask about {}, always list the risks.",
    "I'm trying to keep {} small, and I want to avoid {}.",
)  # fmt: skip
FRENCH = (
    "Vérifie toujours le {} d'abord.", "Ne pousse jamais {} sans revue.", "Je préfère {} plutôt que les globales.", "Utilise {}, pas npm.",
    "On a décidé d'utiliser {} au lieu de MySQL parce que c'est simple.", "Toutes les {} doivent avoir des types.",
    "Il reste à écrire {}.", "Quand je demande {}, donne toujours des liens.", "J'essaie de garder {} petit.",
)  # fmt: skip
PLAIN = (
    "The {} of the {} works as we said, and it is what the {} needs to be.", "So we use the {} when the {} is down, but not for the {}.",
    "I need the {} to be fast, since I have always had trouble with {} and {}.", "We never had a {} that was not {}, and I think {} should do.",
)  # fmt: skip
THINGS = [
    "cache",
    "parser",
    "worker",
    "index",
    "schema",
    "queue",
    "router",
    "token",
    "session",
    "page",
    "graph",
    "store",
    "client",
    "server",
    "widget",
    "chart",
]
MARKS = (
    "don't ", "because it is so, ", "2026-01-02 and May 4, ", "src/api/v1/foo.py and ", "in *.ts and **/*.py, ", "foo_bar.Qux.quux() ", "é日本👩‍👩‍👧İ\u2028 ",
    "\"a `b 'c “d «e ", "`a b` ", "```\n", "> use a\n", "a, ", "a: b; ", "- a\n", "use a. ", "(a (b ", "<code>a</code> ", "12:00:00 a\n", "Ada Byron Lovelace ",
    "no.\n", "instead. ", "and we use a and i use b ", "i prefer a over b, ", "we decided a because b, ", "Our API is in Go and the DB on AWS ",
    "we switched from a to b, ", "all a must b, ", "i want to keep a, ", "never use a\n", "je préfère a à b, ", "le serveur est sur X1, ",
)  # fmt: skip
_CUES_TEXT = """
    always never prefer decided use instead because when every from_now_on must should avoid keep i_like moved switched fixed turned_out
    todo we_use our scrap no not over toujours jamais préfère décidé utilise plutôt parce_que quand désormais évite garde abandonne remplacé
"""
CUES = tuple(cue.replace("_", " ") for cue in _CUES_TEXT.split())


def filled(form: str, drawn: random.Random) -> str:
    """A form with things in its places."""
    return form.format(*(f"{drawn.choice(THINGS)}_{drawn.randrange(1000)}" for _ in range(form.count("{}"))))


def lists() -> Iterator[tuple[str, str]]:
    """Lists of rules, and prose."""
    drawn = random.Random(SEED)
    for count in (10, 30, 60, 100, 300, 1000):
        for name, forms in (("English", ENGLISH), ("French", FRENCH), ("one form", ENGLISH[:1])):
            yield f"{count} rules, {name}", "\n".join(f"- {filled(forms[i % len(forms)], drawn)}" for i in range(count))
    for size in (1_000, 10_000, 100_000):
        said = " ".join(filled(drawn.choice(PLAIN + ENGLISH), drawn) for _ in range(size // 20))
        yield f"prose of {size} characters", said[:size]


def floods() -> Iterator[tuple[str, str]]:
    """A few words over and over."""
    for words in (*MARKS, *(f"{cue} " for cue in CUES)):
        for size in (8_000, 100_000):
            yield f"{words!r} over and over, {size}", (words * (size // len(words) + 1))[:size]
            line = (words * (160 // len(words) + 1))[:160].strip()
            yield f"lines of {words!r}, {size}", "\n".join([line] * (size // 161))


def mixes(count: int) -> Iterator[tuple[str, str]]:
    """Cues, clauses, links and marks in any order."""
    drawn = random.Random(SEED)
    links = (
        ", ",
        ". ",
        "\n",
        " and ",
        ": ",
        "; ",
        " (",
        "? ",
        '"',
        " not ",
        " over ",
        " because ",
        " i ",
        " we ",
        "\n- ",
        "\n> ",
    )
    pieces = (*ENGLISH, *FRENCH, *CUES, *links)
    for number in range(count):
        few = drawn.sample(pieces, drawn.choice((2, 4, 8, 30)))
        said = (" " if drawn.random() < 0.7 else "").join(filled(drawn.choice(few), drawn) for _ in range(3_000))
        yield f"mix {number}", said[: drawn.choice((2_000, 9_000, 30_000))]


def milliseconds(text: str, times: int) -> float:
    """Return the least milliseconds of computing that reading a text takes, nothing of it remembered."""
    least = float("inf")
    for _ in range(times):
        for module in (reading, prose, sentences, subject, values):
            for each in vars(module).values():
                if hasattr(each, "cache_clear"):
                    each.cache_clear()
        started = time.process_time()
        read(text)
        least = min(least, time.process_time() - started)
    return least * 1e3


def reach(text: str) -> tuple[int, int]:
    """Return how many sentences of a text are read, and their characters."""
    spans, _ = prose.read_of(prose.prose_of(text), reading.MOST_SENTENCES)
    return len(spans), sum(end - start for start, end in spans)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--random", type=int, default=150, help="how many mixes")
    parser.add_argument("--no-save", action="store_true", help="only print")
    arguments = parser.parse_args()
    for text in (*ENGLISH, *FRENCH, *CUES):  # patterns are made when they are first needed
        read(text)
    texts = dict(lists())
    costs = {name: milliseconds(text, 5) for name, text in texts.items()}
    others = dict(floods()) | dict(mixes(arguments.random))
    roughly = {name: milliseconds(text, 1) for name, text in others.items()}
    dear = sorted(roughly, key=roughly.__getitem__)[-25:]
    costs |= roughly | {name: milliseconds(others[name], 5) for name in dear}
    shown = sorted(costs, key=costs.__getitem__, reverse=True)[:12]
    result = {
        "texts": len(costs),
        "cpu_milliseconds": {"most": round(max(costs.values()), 2), "over_5": sum(cost > 5 for cost in costs.values())},
        "dearest": {name: [round(costs[name], 2), *reach((texts | others)[name])] for name in shown},
    }
    print(json.dumps(result, indent=1, ensure_ascii=False))
    if not arguments.no_save:
        write("memory-dear", result)


if __name__ == "__main__":
    main()
