"""Measure one run: what the agent read, what it changed, whether that solves the task."""

from __future__ import annotations

import json
from collections import Counter
from functools import partial
from pathlib import Path

from agents.clients import Session
from agents.make_tasks import SAFE_DIFF, Row, Task, git, lay_out_tests, passes
from vademecum.bench.measures import tokens_in
from vademecum.bench.queries import is_product
from vademecum.code.checkout.commits import hunks_of

CACHE_PRICE = 0.1  # of a token from the cache, of one that is not: both vendors' price lists say a tenth
NEAR = 3  # lines: a fix beside the gold lines counts as on them
HALF = 0.5
Edits = dict[str, list[tuple[int, int]]]


def billed(row: Row) -> float | None:
    """Return the billed tokens of a run: a cached one counts a tenth; None if the client did not tell.

    >>> billed({"input": 100, "cached": 1000, "output": 7})
    207.0
    """
    if row["input"] is None:
        return None
    return float(row["input"] + CACHE_PRICE * row["cached"] + row["output"])


def shows(text: str, marks: tuple[str, ...]) -> bool:
    r"""Say whether a text holds a gold line, as it is or as JSON writes it.

    >>> shows('7  return a["b"]', ('return a["b"]',)), shows('{"x": "return a[\\"b\\"]"}', ('return a["b"]',))
    (True, True)
    """
    return any(mark in text or json.dumps(mark, ensure_ascii=False)[1:-1] in text for mark in marks)


def reading(session: Session, block: str, marks: tuple[str, ...]) -> Row:
    """Estimate the tokens that came into the context until the first gold line, and all of them.

    The prompt's block of places counts, then the answers of tools in their order, each whole: a reader cannot stop inside
    one. What every run has (the system prompt, the question) does not count.
    """
    read, first = 0, None
    for text in (block, *(call.answer for call in session.calls)):
        read += tokens_in(text)
        if first is None and shows(text, marks):
            first = read
    return {"read": read, "read_until_gold": first}


def edits_of(tree: Path, base: str) -> Edits:
    """Return the changed lines of each changed file, as they count in the tree before."""
    ask = partial(git, tree / ".git", f"--work-tree={tree}")
    ask("add", "-A")
    diff = ("diff", "--cached", "--no-renames", *SAFE_DIFF, "-U0", base)
    edits: Edits = {}
    for path in filter(None, ask(*diff, "-z", "--name-only").split("\0")):
        edits[path] = [hunk.span(10**9) for hunk in hunks_of(ask(*diff, "--", path))]
    return edits


def agreement(edits: Edits, task: Task) -> dict[str, float]:
    """Return the share of gold spans that were edited, and the share of edited files of code that are gold."""
    spans = [(path, first, last) for path, own in task.gold for first, last in own]
    touched = sum(
        any(start <= last + NEAR and first - NEAR <= end for start, end in edits.get(path, ()))
        for path, first, last in spans
    )
    code = [path for path in edits if is_product(path)]
    gold = {path for path, _ in task.gold}
    precision = sum(path in gold for path in code) / len(code) if code else 0.0
    return {"gold_edited": touched / len(spans), "edits_gold": precision}


def is_solved(tree: Path, task: Task, found: dict[str, float]) -> bool:
    """Decide by the task's tests; without any, by half of the gold spans edited, and half of the edited files gold."""
    if not task.test:
        return found["gold_edited"] >= HALF and found["edits_gold"] >= HALF
    lay_out_tests(Path(task.mirror), task.fix, task.tests, tree)
    return passes(tree, task.test, task.tests)


def measured(session: Session, task: Task, block: str, tree: Path, base: str) -> Row:
    """Return every measure of a run; a run that failed or was cut off has solved nothing."""
    found = agreement(edits_of(tree, base), task)
    return {
        "outcome": session.outcome,
        "solved": session.outcome == "done" and is_solved(tree, task, found),
        **found,
        "calls": dict(Counter(call.tool for call in session.calls)),
        "vade_calls": sum(call.is_ours for call in session.calls),
        "input": session.input, "cached": session.cached, "output": session.output, "cost_usd": session.cost_usd,
        **reading(session, block, task.marks),
    }  # fmt: skip
