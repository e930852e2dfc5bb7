"""The benchmark: engine, BM25 and grep on a repository's own questions.

    docstrings → cut them out → index the copy → ask;  names → ask the copy;  commits → index the tree before them → ask

for report in bench("."):
    print(report.measured[0].difference("grep", "tokens"))

A report is records, JSON and a table. The JSON is that of `--json`; its keys are stable.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from vademecum import config
from vademecum.amounts import counted
from vademecum.answers.render import PLAIN, Style, visible
from vademecum.bench.history import history_questions
from vademecum.bench.measures import (
    MOST_TOKENS,
    Difference,
    Reading,
    file_measures,
    lines_returned,
    paired_difference,
    span_recall,
    tokens_to_evidence,
)
from vademecum.bench.queries import (
    DOCSTRING,
    HISTORY,
    SYMBOL,
    LeftOut,
    Question,
    docstring_questions,
    enough,
    files_asked,
    symbol_questions,
)
from vademecum.bench.systems import OURS, SYSTEMS, Systems, Tree, opened, read_tree, write_tree
from vademecum.code.checkout import git
from vademecum.code.checkout.root import Root, repository_name
from vademecum.config import Settings
from vademecum.errors import GitError, UsageError
from vademecum.protocols import Embedder, Progress, silent
from vademecum.wiring.roots import narrow

FORMAT = 1  # version of the JSON: raised when a key changes its meaning
OTHERS = tuple(name for name in SYSTEMS if name != OURS)


@dataclass(frozen=True, slots=True)
class Measure:
    """One row of the table: label, direction and number format."""

    said: str
    less: bool = False  # lower is better
    form: str = ".2f"
    told: bool = False  # the price of another row, neither good nor bad by itself


# In the order of the table.
MEASURES: Mapping[str, Measure] = {
    "file_hit1": Measure("right file first"),
    "file_ndcg": Measure("file NDCG@10"),
    "file_mrr": Measure("file MRR@10"),
    "span_recall": Measure("answer in 10 results"),
    "lines": Measure("lines in 10 results", form=",.0f", told=True),
    "tokens": Measure("tokens to evidence", less=True, form=",.0f"),
    "never": Measure("never found", less=True),
}
ASKED: Mapping[str, str] = {
    DOCSTRING: "what a declaration's comment says it does, the comment cut out",
    SYMBOL: "where a name is defined",
    HISTORY: "what a commit says it changed, before it did",
}
BETTER, WORSE, EVEN, TOLD = "better", "worse", "even", "told"
MARKS = {BETTER: "▲", WORSE: "▼", EVEN: "·", TOLD: " "}
SHORTLY = {  # the summary of a comparison in words
    "file_hit1": {BETTER: "puts the right file first more often", WORSE: "puts the right file first less often"},
    "tokens": {BETTER: "needs fewer tokens", WORSE: "needs more tokens"},
}


@dataclass(frozen=True, slots=True)
class Asked:
    """One question, with each system's value for each of MEASURES."""

    question: Question
    values: Mapping[str, Mapping[str, float]]


@dataclass(frozen=True, slots=True)
class Place:
    """A tree used for questions: a commit's, or the disk's."""

    commit: str  # "" for the files on disk
    files: int
    chunks: int
    questions: int


@dataclass(frozen=True, slots=True)
class Measured:
    """The results of one kind of question, and its trees."""

    kind: str
    asked: tuple[Asked, ...]
    places: tuple[Place, ...]
    seed: int

    def column(self, system: str, measure: str) -> list[float]:
        """Return one value per question."""
        return [each.values[system][measure] for each in self.asked]

    def mean(self, system: str, measure: str) -> float:
        """Return the mean over questions."""
        column = self.column(system, measure)
        return sum(column) / len(column)

    def difference(self, other: str, measure: str) -> Difference:
        """Return ours minus the other's, with its interval."""
        groups = [each.question.targets[0].path for each in self.asked]
        return paired_difference(self.column(OURS, measure), self.column(other, measure), groups, seed=self.seed)


@dataclass(frozen=True, slots=True)
class Report:
    """The benchmark of one repository."""

    repo: str
    root: str
    commit: str  # the checked-out commit; "" outside git
    seed: int
    embedder: str
    ranker: str
    seconds: float
    measured: tuple[Measured, ...]  # empty if no question could be made
    left_out: tuple[LeftOut, ...]


def values_of(reading: Reading, question: Question) -> dict[str, float]:
    """Measure one reading. A reading that never reaches the evidence costs `MOST_TOKENS`."""
    hits, targets = reading.hits, question.targets
    tokens = tokens_to_evidence(reading, targets)
    values = file_measures(hits, targets) | {
        "span_recall": span_recall(hits, targets) or 0.0,
        "lines": float(lines_returned(hits)),
        "tokens": float(MOST_TOKENS if tokens is None else tokens),
        "never": float(tokens is None),
    }
    return {name: values[name] for name in MEASURES}


def judged(measure: str, difference: Difference) -> str:
    """Return whether our value is better, worse or even.

    "even" means that the interval contains 0. A measure that is only a price is "told".

    >>> judged("tokens", Difference(-20.0, -30.0, -10.0)), judged("file_hit1", Difference(0.1, -0.1, 0.3))
    ('better', 'even')
    """
    if MEASURES[measure].told or difference.low <= 0 <= difference.high:
        return TOLD if MEASURES[measure].told else EVEN
    return BETTER if (difference.mean < 0) == MEASURES[measure].less else WORSE


def report_record(report: Report) -> dict[str, Any]:
    """Return a report as JSON-serialisable values."""
    own = {name: getattr(report, name) for name in ("repo", "root", "commit", "seed", "embedder", "ranker")}
    return {
        "format": FORMAT,
        **own,
        "seconds": round(report.seconds, 2),
        "kinds": [_measured_record(measured) for measured in report.measured],
        "left_out": [asdict(left_out) for left_out in report.left_out],
    }


def _measured_record(measured: Measured) -> dict[str, Any]:
    return {
        "kind": measured.kind,
        "trees": [asdict(place) for place in measured.places],
        "means": {
            system: {name: round(measured.mean(system, name), 4) for name in MEASURES} for system in SYSTEMS
        },
        "differences": {
            other: {name: _difference_record(measured, other, name) for name in MEASURES} for other in OTHERS
        },
        "questions": [_asked_record(asked) for asked in measured.asked],
    }  # fmt: skip


def _difference_record(measured: Measured, other: str, measure: str) -> dict[str, Any]:
    found = measured.difference(other, measure)
    rounded = {name: round(value, 4) for name, value in found._asdict().items()}
    return {**rounded, "verdict": judged(measure, found)}


def _asked_record(asked: Asked) -> dict[str, Any]:
    question = asked.question
    targets = [{"path": target.path, "spans": [list(span) for span in target.spans]} for target in question.targets]
    values = {system: {name: round(v, 4) for name, v in own.items()} for system, own in asked.values.items()}
    return {
        "text": question.text, "source": question.source, "commit": question.commit, "targets": targets, "values": values
    }  # fmt: skip


def report_text(report: Report, style: Style = PLAIN) -> str:
    """Return a report as a table that ends in a newline."""
    lines = [style.place(visible(f"{report.repo}: does it help here?")) + style.dim(f"  seed {report.seed}")]
    for measured in report.measured:
        lines += ["", *_table(measured, style)]
    left_out = [visible(f"{each.kind} questions left out: {each.reason}") for each in report.left_out]
    lines += ["", *left_out] if left_out else []
    if report.measured:
        lines += [
            "",
            style.dim(
                f"{MARKS[BETTER]} better, {MARKS[WORSE]} worse, {MARKS[EVEN]} no difference shown; in brackets the 95 % interval of the difference."
            ),
            style.dim(
                f"tokens to evidence: what is read until the first result that holds an answer, at most {MOST_TOKENS:,}."
            ),
        ]
    return "\n".join(lines) + "\n"


def _table(measured: Measured, style: Style) -> Iterator[str]:
    files = counted(len(files_asked(each.question for each in measured.asked)), "file")
    asked = f"{counted(len(measured.asked), 'question')} about {files}"
    place = measured.places[0]
    where = (
        f"{counted(len(measured.places), 'earlier commit')}, the newest with" if place.commit else "the files on disk:"
    )
    yield f"{style.place(measured.kind)}  {ASKED[measured.kind]}"
    yield style.dim(f"{asked}, asked of {where} {counted(place.files, 'file')} in {counted(place.chunks, 'chunk')}")
    heads = [*SYSTEMS.values(), *(f"against {SYSTEMS[other]}" for other in OTHERS)]
    rows = [["", *heads], *(_row(measured, name) for name in MEASURES)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(heads) + 1)]
    for row in rows:
        cells = [f"{row[0]:<{widths[0]}}", *(f"{c:>{w}}" for c, w in zip(row[1:4], widths[1:4], strict=True))]
        judgements = [f"{c:<{w}}" for c, w in zip(row[4:], widths[4:], strict=True)]
        yield "  " + "  ".join([*cells, *(_coloured(cell, style) for cell in judgements)]).rstrip()
    for other in OTHERS:
        yield f"  Against {SYSTEMS[other]} it {_shortly(measured, other)}."


def _row(measured: Measured, name: str) -> list[str]:
    measure = MEASURES[name]
    cells = [measure.said, *(_number(measured.mean(system, name), measure.form) for system in SYSTEMS)]
    for other in OTHERS:
        found = measured.difference(other, name)
        mean, low, high = (_number(value, "+" + measure.form) for value in found)
        cells.append(f"{MARKS[judged(name, found)]} {mean} [{low}, {high}]")
    return cells


def _number(value: float, form: str) -> str:
    """Write a number; a share without its leading zero.

    >>> _number(-0.25, "+.2f"), _number(1.0, ".2f"), _number(1234.4, ",.0f")
    ('-.25', '1.00', '1,234')
    """
    text = f"{value:{form}}"
    return text.replace("0.", ".", 1) if text.lstrip("+-").startswith("0.") else text


def _coloured(cell: str, style: Style) -> str:
    return style.verdict(cell[:1]) + cell[1:] if cell[:1] in MARKS.values() else cell


def _shortly(measured: Measured, other: str) -> str:
    """Return the table's two main measures in words."""
    said = []
    for name, words in SHORTLY.items():
        found = measured.difference(other, name)
        if (verdict := judged(name, found)) != EVEN:
            form = MEASURES[name].form
            said.append(f"{words[verdict]} ({_number(found.mean, '+' + form)})")
    return " and ".join(said) or "shows no difference in the right file or in tokens"


QUESTIONS = 100  # of each kind: intervals of about ±0.08
SEED = 7


@dataclass(frozen=True)
class Run:
    """The options of a benchmark run."""

    most: int
    seed: int
    settings: Settings
    embedder: Embedder | str | None
    progress: Progress
    home: Path  # deleted after the run


def bench(
    *paths: str | os.PathLike[str],
    questions: int = QUESTIONS,
    history: bool = True,
    seed: int = SEED,
    settings: Settings | None = None,
    embedder: Embedder | str | None = None,
    progress: Progress | None = None,
) -> list[Report]:
    """Measure the repositories of `paths`, by default the current directory's.

    A path below a repository's top narrows the benchmark. The user's files are not changed: copies and indexes are made
    in a temporary directory, and deleted. The same tree, history and seed give the same report, except for its `seconds`.

    Args:
        paths: directories or files.
        questions: at most how many of each kind.
        history: whether to ask about commits, which needs an index of some earlier ones.
        seed: of every draw.
        settings: all settings; read from their layers for the first path unless given.
        embedder: an object, or `name[:model]`; the setting `search.embedder` unless given. It embeds every chunk again.
        progress: told about indexing and asking.

    Returns:
        One report per repository, in the order of the paths.

    Raises:
        UsageError: `questions` is below 1.
        Error: a tree cannot be read or indexed.
    """
    if questions < 1:
        raise UsageError(f"{questions} questions: ask for at least 1")
    narrowed = narrow(paths or (".",))
    settings = settings or config.load(next(iter(narrowed)).path)
    reports = []
    for root, prefixes in narrowed.items():
        with tempfile.TemporaryDirectory(prefix="vade-bench-") as scratch:  # readable by this user alone
            home = Path(scratch)
            own = replace(settings, storage=replace(settings.storage, home=str(home / "home")))
            run = Run(questions, seed, own, embedder, progress or silent, home)
            reports.append(measure(root, prefixes, run, history=history))
    return reports


def measure(root: Root, prefixes: tuple[str, ...], run: Run, *, history: bool = True) -> Report:
    """Measure one repository with each kind of question.

    Kinds with too few questions are left out. Each question is asked of a tree that holds its answer.
    """
    started = time.perf_counter()
    results = list(_ask_disk(root, prefixes, run))
    results.append(_ask_history(root, prefixes, run) if history else LeftOut(HISTORY, "not asked for"))
    embedder = run.settings.search.embedder if run.embedder is None else run.embedder
    return Report(
        repo=repository_name(root),
        root=root.path,
        commit=git.head(root).unwrap().commit,
        seed=run.seed,
        embedder=embedder if isinstance(embedder, str) else embedder.name,
        ranker=run.settings.search.ranker,
        seconds=time.perf_counter() - started,
        measured=tuple(each for each in results if isinstance(each, Measured)),
        left_out=tuple(each for each in results if isinstance(each, LeftOut)),
    )


def _ask_disk(root: Root, prefixes: tuple[str, ...], run: Run) -> Iterator[Measured | LeftOut]:
    """Ask about names and cut comments, on a copy of the tree."""
    run.progress("reading", 0, 0)
    files = read_tree(root, prefixes, run.settings)
    docstrings, cut = docstring_questions(files, run.most, run.seed, run.settings.index.deadline_s)
    copy = write_tree(files | cut, run.home / "copy")
    with opened(copy, run.settings, run.embedder, copied=True) as tree_at:
        tree = tree_at(run.progress, "")
        yield _measured(DOCSTRING, docstrings, [tree], run)
        yield _measured(SYMBOL, symbol_questions(tree, run.most, run.seed), [tree], run)


def _ask_history(root: Root, prefixes: tuple[str, ...], run: Run) -> Measured | LeftOut:
    """Ask about commits, on the trees before them, in a temporary index."""
    try:
        questions = history_questions(root, prefixes, run.most, run.seed)
    except GitError as error:
        return LeftOut(HISTORY, str(error))
    if isinstance(questions, LeftOut):
        return questions
    if too_few := enough(HISTORY, questions):
        return too_few
    with opened(root, run.settings, run.embedder, prefixes=prefixes) as tree_at:
        bases = dict.fromkeys(question.commit for question in questions)
        return _measured(HISTORY, questions, (tree_at(run.progress, base) for base in bases), run)


def _measured(kind: str, questions: Sequence[Question], trees: Iterable[Tree], run: Run) -> Measured | LeftOut:
    """Ask every system each question, one tree at a time."""
    if too_few := enough(kind, questions):
        return too_few
    asked: list[Asked] = []
    places = []
    for tree in trees:
        before = len(asked)
        systems = Systems(tree)
        for question in questions:
            if question.commit != tree.commit or any(target.path not in tree.files for target in question.targets):
                continue
            readings = systems.readings(question.text)
            asked.append(Asked(question, {name: values_of(reading, question) for name, reading in readings.items()}))
            run.progress(f"asking {kind} questions", len(asked), len(questions))
        places.append(Place(tree.commit, len(tree.files), tree.chunks, len(asked) - before))
    return enough(kind, [each.question for each in asked]) or Measured(kind, tuple(asked), tuple(places), run.seed)
