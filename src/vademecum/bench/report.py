"""Reports of the benchmark: records, JSON and a table.

The JSON is that of `--json`; its keys are stable.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from vademecum.amounts import counted
from vademecum.answers.render import PLAIN, Style, visible
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
from vademecum.bench.questions import DOCSTRING, HISTORY, SYMBOL, LeftOut, Question, files_asked
from vademecum.bench.systems import OURS, SYSTEMS

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
    files = file_measures(hits, targets)
    tokens = tokens_to_evidence(reading, targets)
    return {
        "file_hit1": files["file_hit1"],
        "file_ndcg": files["file_ndcg"],
        "file_mrr": files["file_mrr"],
        "span_recall": span_recall(hits, targets) or 0.0,
        "lines": float(lines_returned(hits)),
        "tokens": float(MOST_TOKENS if tokens is None else tokens),
        "never": float(tokens is None),
    }


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
    return {
        "format": FORMAT,
        "repo": report.repo,
        "root": report.root,
        "commit": report.commit,
        "seed": report.seed,
        "embedder": report.embedder,
        "ranker": report.ranker,
        "seconds": round(report.seconds, 2),
        "kinds": [_measured_record(measured) for measured in report.measured],
        "left_out": [{"kind": left_out.kind, "reason": left_out.reason} for left_out in report.left_out],
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
        lines += ["", *(style.dim(line) for line in _legend())]
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


def _legend() -> Sequence[str]:
    return (
        f"{MARKS[BETTER]} better, {MARKS[WORSE]} worse, {MARKS[EVEN]} no difference shown; in brackets the 95 % interval of the difference.",
        f"tokens to evidence: what is read until the first result that holds an answer, at most {MOST_TOKENS:,}.",
    )
