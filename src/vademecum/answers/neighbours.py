"""Answers of the graph as text and as records.

The text has the verdict, then each neighbour with its place and the line that proves the edge.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from typing import Any

from vademecum.amounts import counted
from vademecum.answers.render import PLAIN, Style, visible
from vademecum.types import Neighbour, Neighbours, Uncovered

_FILES_NAMED = 20
_LINES_NAMED = 5  # of each file
_QUOTED = 20  # neighbours shown with their lines; the others are named by file
_QUOTED_CHARACTERS = 160  # of a line; a paragraph of prose is one line
_TESTS_NAMED = 20  # in one group


def neighbours_text(answer: Neighbours, *, style: Style = PLAIN) -> str:
    """Return a graph answer as text that ends in a newline.

    callers of Budget.split | found | 1 result | depth 1

    src/app.py:14-20  run  called_by exact
      17  budget.split(0.6)
    """
    return "\n".join(_lines(answer, style)) + "\n"


def neighbours_record(answer: Neighbours, *, compact: bool = False) -> dict[str, Any]:
    """Return a graph answer as JSON-serialisable values; `compact` leaves out empty ones."""
    record = asdict(answer)
    for key in ("of", "found"):
        record[key] = [_plain(each, compact=compact) for each in record[key]]
    if not compact:
        return record
    record["uncovered"] = [_unsure(each) for each in answer.uncovered[:_FILES_NAMED]]  # `reason` has the full count
    return {key: value for key, value in record.items() if value not in ("", [], (), 0)}


def _plain(neighbour: dict[str, Any], *, compact: bool) -> dict[str, Any]:
    del neighbour["chunk"]  # an internal number of the index
    return {key: value for key, value in neighbour.items() if value not in ("", 0, False)} if compact else neighbour


def _unsure(place: Uncovered) -> str:
    """Return a possible reference's path with its first lines."""
    more = f",… ({counted(len(place.lines), 'line')})" if len(place.lines) > _LINES_NAMED else ""
    return f"{replace(place, lines=place.lines[:_LINES_NAMED])}{more}"


def _lines(answer: Neighbours, style: Style) -> Iterator[str]:
    yield _head(answer, style)
    if answer.reason:
        yield visible(answer.reason) + (":" if answer.uncovered else "")
    if answer.nearest:
        yield visible(f"nearest: {', '.join(answer.nearest)}")
    yield from (visible(f"  {_unsure(each)}") for each in answer.uncovered[:_FILES_NAMED])
    if len(answer.uncovered) > _FILES_NAMED:
        yield f"  ... and {len(answer.uncovered) - _FILES_NAMED} more"
    if answer.relation in {"path", "related"} and answer.of:
        yield ""
        yield from (_place(each, style) for each in answer.of)
    quoted = _QUOTED
    for heading, group in _grouped(answer):
        yield from ("", f"{heading} ({len(group)})") if heading else ("",)
        for each in group[:quoted]:
            yield from _neighbour(each, style)
        rest = [each for each in group[quoted:] if each.distance == 1 or not each.is_test]
        yield from _by_file(rest, style)
        if in_tests := len(group[quoted:]) - len(rest):
            yield f"and {in_tests} more in tests"
        quoted = max(0, quoted - len(group))
    if answer.tests or answer.coverage:
        yield ""
        yield from _tests(answer)


def _tests(answer: Neighbours) -> Iterator[str]:
    """Yield the tests to run, the surest first, and the coverage data."""
    is_measured = any(test.because == "ran" for test in answer.tests)
    groups: dict[str, list[str]] = {}
    for test in answer.tests:
        if test.because == "imports":
            heading = "perhaps, they import it"
        elif test.tier == "guess":
            heading = "perhaps, by a name alone"
        else:
            heading = "tests to run, by calls" if is_measured and test.because == "calls" else "tests to run"
        groups.setdefault(heading, []).append(test.path)
    for heading, paths in groups.items():
        more = f" ... and {len(paths) - _TESTS_NAMED} more" if len(paths) > _TESTS_NAMED else ""
        yield f"{heading}: {' '.join(visible(path) for path in paths[:_TESTS_NAMED])}{more}"
    yield from map(visible, answer.coverage)


def _head(answer: Neighbours, style: Style) -> str:
    """Return the first line: question, verdict, and counts."""
    head = [visible(f"{answer.relation} of {answer.query}" if answer.relation != "path" else f"path {answer.query}")]
    head += [style.verdict(answer.verdict.replace("_", " "))]
    if answer.found:
        cut = f" of {answer.total}" if answer.total > len(answer.found) else ""
        head.append(f"{counted(len(answer.found), 'result') if not cut else f'{len(answer.found)}{cut} results'}")
    head.append(f"depth {answer.depth}")
    if answer.withheld:
        head.append(f"{counted(answer.withheld, 'guess')} withheld")
    return " | ".join(head)


def _grouped(answer: Neighbours) -> Iterator[tuple[str, list[Neighbour]]]:
    """Yield neighbours in groups with headings, direct ones first beyond depth 1."""
    if answer.depth == 1 or answer.relation in {"path", "related"}:
        groups = {"": list(answer.found)}
    else:
        direct = [each for each in answer.found if each.distance == 1]
        groups = {"direct": direct, "through others": [each for each in answer.found if each.distance > 1]}
    yield from ((heading, group) for heading, group in groups.items() if group)


def _by_file(group: Sequence[Neighbour], style: Style) -> Iterator[str]:
    """Yield a line for each file, with its neighbours and their lines."""
    files: dict[str, list[str]] = {}
    for each in group:
        guessed = " (guess)" if each.tier == "guess" else ""
        where = "" if each.line_path == each.path else f"{each.line_path}:"
        line = f"{where}{each.line}" if each.line else ""
        files.setdefault(each.path, []).append(" ".join(filter(None, (each.name, line))) + guessed)
    for path, named in files.items():
        yield f"{style.place(visible(path))}  {visible(', '.join(named))}"


def _neighbour(each: Neighbour, style: Style) -> Iterator[str]:
    via = f" via {each.via}" if each.via else ""
    yield f"{_place(each, style)}  {style.dim(visible(f'{each.relation} {each.tier}{via}'))}"
    if each.text:
        where = "" if each.line_path == each.path else f"{each.line_path}:"
        yield f"  {style.dim(visible(f'{where}{each.line}'))}  {style.code(visible(each.text)[: min(style.width, _QUOTED_CHARACTERS)])}"


def _place(each: Neighbour, style: Style) -> str:
    place = style.place(visible(f"{each.path}:{each.start_line}-{each.end_line}" if each.name else each.path))
    return f"{place}  {visible(each.name)}" if each.name else place
