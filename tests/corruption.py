"""Damage done at random to one file of the data directory, and what a verb then says.

A small repository with code, memory and tools is made once, with an older copy of its data. Each try puts the data back,
damages one file by a seeded choice, runs one verb in this process, and compares with what the verb says of whole data.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import random
import re
import shutil
import signal
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from handbook import SAMPLE, make_repository
from vademecum.cli import main

SECONDS = 30  # a verb that takes longer hangs
FILES = {
    **SAMPLE,
    **{
        f"shop/part{n}.py": f'"""Part {n} of the shop."""\n\nfrom shop.part{n - 1} import step_{n - 1}\n\n\n' + "".join(
            f'def step_{n}{end}(items):\n    """Take step {n}{end} of the order."""\n    return step_{n - 1}(items)\n\n\n' for end in ("", "_again", "_last")
        )
        for n in range(1, 12)
    },
    "shop/part0.py": "def step_0(items):\n    return items\n",
}  # fmt: skip
TOOLS = [
    {"name": f"{verb}_{noun}", "description": f"{verb.title()} a {noun} of the shop.", "inputSchema": {"type": "object"}}
    for verb in ("send", "read", "drop") for noun in ("report", "mail", "order")
]  # fmt: skip
TRACES = [
    {"intent": "tell the customer about the order", "calls": ["shop/read_order", "shop/send_mail"]},
    {"intent": "report the orders of today", "calls": ["shop/read_order", "shop/send_report"]},
]
REMEMBERED = (
    "we decided to use SQLite because nothing else needs no server",
    "I prefer tabs over spaces",
    "always run the tests before a commit",
    "the order has three steps",
)
QUESTIONS = (
    ["search", "split the token budget", "--json"],
    ["search", "step_4_again", "--json"],
    ["search", "retry", "-e", "retry_.*backoff", "--json"],
    ["symbol", "Budget.split", "--json"],
    ["open", "src/budget.py:1-9", "--json"],
    ["context", "why is a part of the order taken twice", "--json"],
    ["map", "--json"],
    ["callers", "step_3", "--json"],
    ["callees", "step_5_last", "--json"],
    ["impact", "step_7", "--json"],
    ["path", "step_9", "step_6", "--json"],
    ["related", "shop/part3.py:7", "--json"],
    ["graph", "step_2"],
    ["memory", "recall", "why SQLite", "--json"],
    ["memory", "timeline", "--json"],
    ["memory", "prefs", "--json"],
    ["memory", "context", "which indentation"],
    ["memory", "export", "-"],
    ["tools", "search", "send a mail", "--json"],
    ["tools", "predict", "tell the customer about the order", "--json"],
    ["tools", "suggest", "report the orders of today", "--json"],
    ["tools", "stats", "--json"],
    ["status", "--json"],
    ["repos", "--json"],
)
CHORES = (["index"], ["index", "--full"], ["gc"], ["doctor"], ["memory", "consolidate"], ["memory", "sync"])
KINDS = ("byte", "run", "cut", "swap", "empty", "older", "zeros")
ENDS = ("same", "named", "wrong", "internal error", "hangs")
# words with which a line says that something was damaged, lost or made anew
SAYS = re.compile(r"damaged|missing|made anew|rebuil|--full|lost|set aside|another version|gone|changed by")
# what differs from run to run, and does not tell right from wrong
_PASSING = re.compile(r'"(?:seconds|indexed_at|bytes|memory_bytes|recorded_at)": [-0-9.e]+')


class Data:
    """Whole data, what each question is answered from it, and an older copy."""

    def __init__(self, place: Path, home: Path) -> None:
        """Make a repository in `place` and its data in `home`, which `VADE_HOME` must name."""
        self.home, self.whole, self.older = home, place / "whole", place / "older"
        self.repo = make_repository(place / "shop", FILES)
        self._age()
        os.chdir(self.repo.path)
        (place / "tools.json").write_text(json.dumps({"tools": TOOLS}))
        (place / "traces.jsonl").write_text("".join(json.dumps(trace) + "\n" for trace in TRACES))
        self._record(REMEMBERED[:2])
        self._done("tools", "register", str(place / "tools.json"), "--server", "shop")
        self._done("tools", "observe", str(place / "traces.jsonl"))
        self._done("callers", "step_3")
        shutil.copytree(self.home, self.older)
        self.repo.write("src/budget.py", SAMPLE["src/budget.py"] + "\n\nLIMIT = 9\n")
        self.repo.commit("a limit")
        self._age()
        self._record(REMEMBERED[2:])
        self._done("memory", "sync")
        self._done("callers", "step_3")
        for _ in range(2):  # what is written when it is asked first is there the second time
            self.expected = {tuple(question): run(question) for question in QUESTIONS}
        shutil.copytree(self.home, self.whole)

    def _age(self) -> None:
        """Set files' times back, so that none counts as just written."""
        for path in self.repo.path.rglob("*.*"):
            os.utime(path, (1e9, 1e9))

    def _done(self, *arguments: str) -> None:
        code, said, problem = run(list(arguments))
        assert code in (0, 1), (arguments, said, problem)

    def _record(self, texts: tuple[str, ...]) -> None:
        for text in texts:
            self._done("memory", "remember", text)

    def files(self) -> list[Path]:
        """Return every file of the data, relative to its directory."""
        return sorted(path.relative_to(self.whole) for path in self.whole.rglob("*") if path.is_file())

    def back(self) -> None:
        """Put the whole data back."""
        shutil.rmtree(self.home)
        shutil.copytree(self.whole, self.home)

    def attempt(self, seed: int) -> tuple[str, str, str]:
        """Damage a file, ask, and return the end, what was done, and what was said."""
        chance = random.Random(seed)
        self.back()
        name = chance.choice(self.files())
        kind = chance.choice(KINDS)
        did = f"{seed}: {kind} of {name}{damage(self, name, kind, chance)}"
        question = chance.choice(QUESTIONS)
        chores = [chance.choice(CHORES)] if chance.random() < 0.3 else []
        said = ""
        for chore in chores:  # what was mended or said by a chore counts
            code, out, problem = run(chore)
            said += out + problem
            if "internal error" in problem or code == 124:
                return ("hangs" if code == 124 else "internal error"), f"{did}; {chore}", problem
        end, told = self._ended(question, said)
        return end, f"{did}; {chores}; {question}", told

    def _ended(self, question: list[str], before: str) -> tuple[str, str]:
        code, out, problem = run(question)
        expected = self.expected[tuple(question)]
        if code == 124:
            return "hangs", ""
        if "internal error" in problem:
            return "internal error", problem
        if (code, out) == expected[:2]:
            return "same", ""
        told = before + problem + out
        new = set(SAYS.findall(told)) - set(SAYS.findall(expected[1] + expected[2]))
        return (
            "named" if new else "wrong"
        ), f"{problem}\n--- expected {expected[0]}\n{expected[1]}\n--- got {code}\n{out}"


def damage(data: Data, name: Path, kind: str, chance: random.Random) -> str:
    """Damage a file, and return where."""
    path = data.home / name
    content = bytearray(path.read_bytes())
    place = chance.randrange(len(content)) if content else 0
    length = min(chance.choice((4, 64, 4096)), len(content) - place)
    if kind == "byte" and content:
        content[place] ^= 1 << chance.randrange(8)
    elif kind == "run":
        content[place : place + length] = chance.randbytes(length)
    elif kind == "zeros":
        content[place : place + length] = bytes(length)
    elif kind == "cut":
        del content[place:]
    elif kind == "empty":
        content.clear()
    elif kind == "older":
        return f" ({_older(data, name, chance)})"
    else:  # two pieces of one file change places
        other = chance.randrange(len(content)) if content else 0
        length = min(length, len(content) - other, abs(other - place))
        one, two = content[place : place + length], content[other : other + length]
        content[place : place + length], content[other : other + length] = two, one
    path.write_bytes(content)
    return f" at {place}+{length} of {path.stat().st_size}"


def _older(data: Data, name: Path, chance: random.Random) -> str:
    """Put an old version of a file in its place, or another file of its kind."""
    old = data.older / name
    alike = [path for path in sorted(data.older.rglob("*")) if path.is_file() and path.suffix == name.suffix]
    source = old if old.exists() or not alike else chance.choice(alike)
    if source.exists():
        shutil.copyfile(source, data.home / name)
    return str(source.name)


def run(arguments: list[str]) -> tuple[int, str, str]:
    """Run a verb in this process; return its exit code (124 if it hangs), output and errors."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            with bounded():
                code = main(arguments)
        except TimeoutError:
            code = 124
    return code, _PASSING.sub("", out.getvalue()), err.getvalue()


@contextlib.contextmanager
def bounded() -> Iterator[None]:
    """Raise `TimeoutError` after SECONDS."""

    def give_up(*_: object) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, give_up)
    signal.alarm(SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def tried(data: Data, seeds: range) -> tuple[Counter[str], list[tuple[str, str, str]]]:
    """Return how many tries had each end, and those that ended badly."""
    ends: Counter[str] = Counter()
    bad = []
    for seed in seeds:
        end, did, said = data.attempt(seed)
        ends[end] += 1
        if end not in ("same", "named"):
            bad.append((end, did, said))
    return ends, bad


def told(ends: Counter[str]) -> str:
    """Return the number of tries with each end as JSON."""
    return json.dumps({end: ends[end] for end in ENDS})
