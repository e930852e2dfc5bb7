"""Answers of the graph, and items about it, as text and records.

The text has the verdict, then each neighbour with its place and the line that proves the edge.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from vademecum.amounts import counted
from vademecum.answers.pack import Form, Piece, Section
from vademecum.answers.render import PLAIN, Style, visible
from vademecum.items import NamedItem, SyncReport
from vademecum.types import Evidence, Neighbour, Neighbours, Uncovered

if TYPE_CHECKING:  # a client that starts loads no graph
    from vademecum.code.graph.surroundings import Surroundings

ITEMS_SHARE = 10.0  # of a context's budget, beside primary 60, related 30 and graph 10
MOST_SHOWN = 8
WHY_CHARACTERS = 120


def sync_text(report: SyncReport) -> str:
    """Return the report of one sync, as a line."""
    would = "would have " if report.dry_run else ""
    went_on = ", going on with a run that was cut short" if report.resumed else ""
    asked = "everything" if report.full else "what changed"
    return (
        f"{visible(report.source)}: {would}{report.added} new, {report.changed} changed, {report.unchanged} as they were, {report.removed} "
        f"removed; {counted(report.items, 'item')} now (asked {report.provider} for {asked}{went_on}) in {report.seconds:.1f} s\n"
    )  # fmt: skip


def items_text(items: Sequence[NamedItem]) -> str:
    """Return linked items as text after a blank line; else ""."""
    lines = [f"  {_said(item)}  {item.url}  ({item.why[:WHY_CHARACTERS]})" for item in items[:MOST_SHOWN]]
    if len(items) > MOST_SHOWN:
        lines.append(f"  ... and {len(items) - MOST_SHOWN} more")
    return "\nitems\n" + "".join(f"{visible(line)}\n" for line in lines) if lines else ""


def items_record(items: Sequence[NamedItem]) -> list[dict[str, Any]]:
    """Return items as JSON-serialisable values."""
    return [asdict(item) for item in items]


def items_section(linked: Sequence[NamedItem], found: Sequence[Evidence]) -> Section:
    """Return items as a section of a context.

    Items linked to the shown code come first, then items that match the task.
    """
    pieces = [
        Piece(
            visible(f"{_said(item)}  {item.url}"),
            (visible(item.why[:WHY_CHARACTERS]),),
            Form.LINE,
            keys=(f"item:{item.source}:{item.key}",),
        )
        for item in linked[:MOST_SHOWN]
    ]
    for item in found:
        said = " ".join(item.snippet.split())[: WHY_CHARACTERS * 3]
        facts = [item.metadata.get("key", ""), item.metadata.get("title", "")]
        title = "  ".join(dict.fromkeys(filter(None, facts)))
        key = f"item:{item.repo}:{item.metadata.get('key', item.path)}"
        pieces.append(
            Piece(
                visible(f"{title}  {item.url}  {said}"),
                (f"{item.repo}", f"updated {item.updated[:10]}"),
                Form.LINE,
                keys=(key,),
            )
        )
    return Section("items", ITEMS_SHARE, [(piece,) for piece in pieces])


def _said(item: NamedItem) -> str:
    state = f"  [{item.state}]" if item.state else ""
    return f"{item.key}  {' '.join(item.title.split())[:WHY_CHARACTERS]}{state}"


def graph_page(drawn: Surroundings, repo: str, depth: int = 2) -> str:
    """Return the neighbourhood, `depth` steps around the centre, as an HTML page."""
    from vademecum.page_file import page_file

    title = f"{drawn.title} in {repo}" if drawn.title != repo else repo
    kinds = {node.kind for node in drawn.nodes if node.id in drawn.centre}
    start = {"path" if kinds == {"file"} else "symbol": drawn.title, "depth": str(depth)} if kinds else {}
    return page_file("graph", title, start, {"/graph/neighbourhood": {"title": drawn.title, **graph_record(drawn)}})


def graph_record(drawn: Surroundings) -> dict[str, Any]:
    """Return the nodes and edges as JSON-serialisable values."""
    return {
        "centre": [str(number) for number in drawn.centre],
        "left_out": drawn.left_out,
        "nodes": [
            {"id": str(n.id), "name": n.label, "short": n.name, "kind": n.kind, "path": n.path, "start": n.start_line,
             "end": n.end_line, "weight": round(drawn.weight[n.id], 4)}
            for n in drawn.nodes
        ],
        "edges": [
            {"from": str(e.source), "to": str(e.target), "relation": str(e.relation), "tier": str(e.tier), "line": e.line}
            for e in drawn.edges
        ],
    }  # fmt: skip


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
            heading = "tests that import its file, no call known"
        elif test.tier == "guess":
            heading = "tests that may call it, by its name alone"
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
