"""An answer as text and as a record, for every front.

The text has the verdict and freshness first, then results by file:

    likely 0.83 | fresh | 2 results in 1 file

    src/budget.py:10-42  def split(total: int) -> Budget
      10  def split(total: int) -> Budget:
      11      ...

The record is the JSON of `--json` and of MCP's structured content; its keys are stable.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import chain, takewhile
from typing import TYPE_CHECKING, Any

from vademecum.amounts import counted
from vademecum.answers.pack import Context
from vademecum.types import Answer, Evidence, Freshness, Verdict

if TYPE_CHECKING:
    from vademecum.tools.records import Candidate, Group, Match, Plan, Prediction, ToolAnswer, ToolsStatus

LABEL_CHARACTERS = 120  # of a signature beside a place; a longer one is replaced by its name
LINE_CHARACTERS = 300  # of a shown line; minified code would fill the page
# Source text may hold terminal escapes and characters that reorder, hide or break the text ("Trojan Source",
# CVE-2021-42574): these are made visible. Tabs stay, and joiners, which scripts and emoji need.
VISIBLE = {code: chr(0x2400 + code) for code in range(32) if code != 9} | dict.fromkeys(
    (
        *range(0x7F, 0xA0), 0x061C, 0x200B, 0x200E, 0x200F, *range(0x2028, 0x202F), 0x2060, *range(0x2066, 0x206A), 0xFEFF,
    ),
    "\ufffd",
)  # fmt: skip


def _same(text: str) -> str:
    return text


@dataclass(frozen=True, slots=True)
class Style:
    """Formatting of text parts, by default none, and the longest line."""

    place: Callable[[str], str] = _same
    dim: Callable[[str], str] = _same
    verdict: Callable[[str], str] = _same
    code: Callable[[str], str] = _same
    width: int = LINE_CHARACTERS
    height: int = 0  # lines of the screen; 0 for a pipe


PLAIN = Style()


def found_text(found: Context, *, name_repos: bool = False, why: bool = False, style: Style = PLAIN) -> str:
    """Return an answer for a terminal.

    Numbered lines by file come first, then places, then memory's notes. The verdict is the first line, and again the last
    if the answer is longer than the screen.
    """
    text = answer_text(found.answer, name_repos=name_repos, why=why, style=style)
    for part in found.parts[1:]:
        if part.pieces:
            text += "\n".join(["", f"{part.name}:", *(f"  {visible(piece.text)}" for piece in part.pieces), ""])
    verdict = text.partition("\n")[0]
    return f"{text}\n{verdict}\n" if 0 < style.height < text.count("\n") else text


def found_record(found: Context) -> dict[str, Any]:
    """Return an answer and memory's notes as JSON-serialisable values."""
    remembered = [piece.text for part in found.parts[1:] for piece in part.pieces]
    return answer_record(found.answer) | {
        "tokens": found.tokens,
        "left_out": found.left_out,
        "remembered": remembered,
    }


def answer_text(
    answer: Answer,
    *,
    snippet_lines: int | None = None,
    name_repos: bool = False,
    why: bool = False,
    facts: bool = False,
    style: Style = PLAIN,
) -> str:
    """Return the answer as text that ends in a newline.

    Places without shown lines stand after the code, by file, but for those that are better than all of it.

    Args:
        answer: the answer.
        snippet_lines: lines shown of each piece of evidence, 0 for places only; all it has unless given.
        name_repos: whether paths are prefixed with their repository's name.
        why: whether the signals behind each rank are shown.
        facts: whether facts about a definition are shown: complexity, length, decorators.
        style: the formatting of parts.
    """
    lines = list(_header(answer, style))
    code = _by_file([item for item in answer.evidence if item.snippet and snippet_lines != 0])
    better = list(takewhile(lambda item: not item.snippet, answer.evidence)) if code else []
    places = [item for item in answer.evidence[len(better) :] if not item.snippet or snippet_lines == 0]
    for group in (better, *code, list(chain(*_by_file(places)))):
        lines += [""] if group else []
        for evidence in group:
            lines += evidence_lines(evidence, snippet_lines=snippet_lines, name_repos=name_repos, why=why, style=style)
            if facts and (known := definition_facts(evidence)):
                lines.append(style.dim(f"  {known}"))
    return "\n".join(lines) + "\n"


def evidence_lines(
    evidence: Evidence,
    *,
    snippet_lines: int | None = None,
    name_repos: bool = False,
    why: bool = False,
    style: Style = PLAIN,
) -> Iterator[str]:
    """Yield a piece of evidence: its place, then numbered lines."""
    repo = f"{evidence.repo}:" if name_repos or evidence.url else ""
    place = visible(f"{repo}{evidence.path}:{evidence.start_line}-{evidence.end_line}")
    mark = "" if evidence.freshness is Freshness.FRESH else f"  [{evidence.freshness}]"
    label = _cut(visible(_label(evidence)), max(20, style.width - len(place) - len(mark) - 2))
    yield f"{style.place(place)}{mark}" + (f"  {label}" if label else "")
    if evidence.url:
        yield style.dim(f"  {visible(_item_facts(evidence))}")
    if why and evidence.signals:
        signals = "  ".join(f"{name} {value:.3g}" for name, value in sorted(evidence.signals.items()))
        yield style.dim(f"  score {evidence.score:.3g}  {signals}")
    lines = _lines(evidence.snippet)
    digits = len(str(evidence.end_line)) + 2
    most = len(lines) if snippet_lines is None else snippet_lines
    above = _above(evidence, lines, most)
    for number, line in enumerate(lines[above : above + most], evidence.start_line + above):
        shown = _cut(visible(line), style.width - digits - 2)
        yield f"{style.dim(f'{number:>{digits}}')}  {style.code(shown)}".rstrip()
    if 0 < most < len(lines):
        yield style.dim(f"{'...':>{digits}}  {len(lines) - most} more lines")


def _item_facts(evidence: Evidence) -> str:
    """Return facts about an item: address, state, dates and mentions."""
    known = evidence.metadata
    facts = [evidence.url, str(known.get("state", ""))]
    facts += [f"updated {evidence.updated[:10]}" if evidence.updated else ""]
    facts += [f"fetched {known['synced'][:10]}" if known.get("synced") else ""]
    named = [*known.get("named_in", ()), *known.get("commits", ())]
    facts += [f"named in {', '.join(named)}" if named else ""]
    return "  ".join(filter(None, facts))


def definition_facts(evidence: Evidence) -> str:
    """Return known facts about a definition; "" for none.

    >>> place = ("i", "r", "b", "c", "a.py", 1, 2, "", 1.0, "function", "python")
    >>> definition_facts(Evidence(*place, metadata={"cyclomatic": 3, "cognitive": 4, "lines_of_code": 12, "decorators": ["cache"]}))
    'cyclomatic 3, cognitive 4, 12 lines of code, @cache'
    """
    known = evidence.metadata
    facts = [f"{name} {known[name]}" for name in ("cyclomatic", "cognitive") if name in known]
    if "lines_of_code" in known:
        facts.append(f"{counted(known['lines_of_code'], 'line')} of code")
    return visible(", ".join([*facts, *(f"@{name}" for name in known.get("decorators", ()))]))


def answer_record(answer: Answer, *, snippet_lines: int | None = None, compact: bool = False) -> dict[str, Any]:
    """Return the answer as JSON-serialisable values.

    Args:
        answer: What was found.
        snippet_lines: Cut snippets to this many lines; None keeps them whole.
        compact: Leave out signals, metadata and empty values, and cut very long lines, to save tokens.
    """
    record = {
        "query": answer.query,
        "verdict": str(answer.verdict),
        "probability": round(answer.probability, 4),
        "reason": answer.reason,
        "nearest": list(answer.nearest),
        "searched": answer.searched,
        "evidence": [
            evidence_record(evidence, snippet_lines=snippet_lines, compact=compact) for evidence in answer.evidence
        ],
    }
    if compact:
        del record["query"]  # the caller knows the query
    return record


def evidence_record(evidence: Evidence, *, snippet_lines: int | None = None, compact: bool = False) -> dict[str, Any]:
    """Return evidence as JSON-serialisable values; arguments as of `answer_record`."""
    snippet, above = evidence.snippet, 0
    if snippet_lines is not None:
        lines = _lines(snippet)
        above = _above(evidence, lines, snippet_lines)
        snippet = "\n".join(lines[above : above + snippet_lines])
    record: dict[str, Any] = {
        "id": evidence.id,
        "repo": evidence.repo,
        "branch": evidence.branch,
        "commit": evidence.commit,
        "path": evidence.path,
        "start_line": evidence.start_line,
        "end_line": evidence.end_line,
        "snippet": snippet,
        "snippet_line": evidence.start_line + above,
        "best_line": evidence.focus,
        "score": round(evidence.score, 4),
        "kind": evidence.kind,
        "language": evidence.language,
        "symbols": list(evidence.symbols),
        "signature": evidence.signature,
        "summary": evidence.summary,
        "file_kind": str(evidence.file_kind),
        "signals": {name: round(float(value), 4) for name, value in evidence.signals.items()},
        "freshness": str(evidence.freshness),
        "metadata": dict(evidence.metadata),
        "url": evidence.url,
        "updated": evidence.updated,
    }
    if compact:
        record["snippet"] = "\n".join(_cut(line, LINE_CHARACTERS) for line in _lines(snippet))
        del record["signals"], record["metadata"], record["best_line"]
        record = {key: value for key, value in record.items() if value not in ("", [])}
    return record


def _above(evidence: Evidence, lines: list[str], most: int) -> int:
    """Return the number of lines to leave out above.

    The shown lines then begin at the best piece, or earlier to fill the limit.
    """
    return max(0, min(evidence.focus - evidence.start_line, len(lines) - most))


def first_lines(evidence: Evidence, count: int) -> Evidence:
    """Return the evidence narrowed to its first `count` lines."""
    lines = _lines(evidence.snippet)
    if len(lines) <= count:
        return evidence
    return replace(evidence, snippet="\n".join(lines[:count]), end_line=evidence.start_line + count - 1)


def _header(answer: Answer, style: Style) -> Iterator[str]:
    said = f"{style.verdict(str(answer.verdict).replace('_', ' '))} {answer.probability:.2f}"
    if places := answer.evidence:
        files = len({(place.repo, place.path) for place in places})
        yield f"{said} | {freshness_of(places)} | {counted(len(places), 'result')} in {counted(files, 'file')}"
    else:
        yield f"{said} | {counted(answer.searched, 'chunk')} searched"
    nearest = answer.nearest and f"nearest: {', '.join(answer.nearest)}"
    yield from (visible(said) for said in (answer.reason, nearest) if said)


def freshness_of(evidence: Sequence[Evidence]) -> str:
    """Return "fresh", or the counts of changed results; "" for no results."""
    counts = Counter(item.freshness for item in evidence)
    changed = [f"{counts[state]} {state}" for state in (Freshness.EDITED, Freshness.STALE) if counts[state]]
    return ", ".join(changed) or ("fresh" if evidence else "")


def _by_file(evidence: Sequence[Evidence]) -> list[list[Evidence]]:
    """Group evidence by file, in the order of best pieces."""
    groups: dict[tuple[str, str], list[Evidence]] = {}
    for item in evidence:
        groups.setdefault((item.repo, item.path), []).append(item)
    return list(groups.values())


def declared(symbols: Iterable[str]) -> list[str]:
    """Return names, without members of the names before.

    >>> declared(["Budget", "Budget.split", "spend"])
    ['Budget', 'spend']
    """
    names: list[str] = []
    for name in symbols:
        if not any(name == known or name.startswith(f"{known}.") for known in names):
            names.append(name)
    return names


def _label(evidence: Evidence) -> str:
    """Return the signature, or kind and name, on one line.

    It adds the number of further names that the lines declare.
    """
    name, *others = declared(evidence.symbols) or [""]
    more = f" and {len(others)} more" if others else ""
    said, (scope, _, last) = " ".join(evidence.signature.split()), name.rpartition(".")
    holder = scope.rpartition(".")[2]
    if not said or (name and len(said) > LABEL_CHARACTERS):
        return name and f"{evidence.kind} {name}{more}"
    if last not in said:  # of the type around: `impl Stream for Lines: Item and 1 more`
        return f"{said}: {last}{more}" if holder and holder in said else f"{evidence.kind} {name}{more}"
    return (said if holder in said else f"{scope}: {said}") + more


def _lines(text: str) -> list[str]:
    """Split at line feeds alone, as line numbers count, unlike `str.splitlines`."""
    return [line.removesuffix("\r") for line in text.removesuffix("\n").split("\n")] if text else []


def visible(text: str) -> str:
    """Replace control and reordering characters by harmless ones."""
    return text if text.isprintable() else text.translate(VISIBLE)


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else text[: max(1, width - 1)] + "…"


WORDS = 160  # characters shown of a description
USED_SHOWN = 10


def record_of(value: Any, *, compact: bool = False) -> dict[str, Any]:
    """Return an answer as a record; `compact` leaves out reasons and schemas."""
    record = asdict(value)
    if compact:
        for item in (*record.get("matches", ()), *record.get("candidates", ())):
            for key in ("why", "input_schema", "semantic", "reliability"):
                item.pop(key, None)
    return record


def tools_text(answer: ToolAnswer, *, why: bool = False, style: Style = PLAIN) -> str:
    """Return the matching tools as text: score, then description.

    Where none fits, the nearest are named, and described with `why` alone.
    """
    nothing, found = answer.verdict is Verdict.NOT_FOUND, f"{counted(len(answer.matches), 'result')} among "
    head = f"{style.verdict(answer.verdict.replace('_', ' '))} {answer.probability:.2f}"
    lines = [head if nothing else f"{head} | {found}{counted(answer.searched, 'tool')}"]
    lines += [f"  {visible(answer.reason)}"] if answer.reason else []
    lines += [f"  nearest: {visible(', '.join(answer.nearest))}"] if answer.nearest else []
    for match in answer.matches if why or not nothing else ():
        lines += ["", *_match_lines(match, why=why, style=style)]
    return "\n".join(lines) + "\n"


def prediction_text(prediction: Prediction, *, why: bool = False, style: Style = PLAIN) -> str:
    """Return a prediction as text: the verdict, then candidates with probabilities."""
    said = "not sure" if prediction.abstained else "next"
    lines = [f"{style.verdict(said)} {prediction.probability:.2f} | done {prediction.done:.2f}"]
    lines[0] += f" | {counted(prediction.traces, 'trace')} known"
    lines += [f"  {visible(prediction.reason)}"] if prediction.reason else []
    for candidate in prediction.candidates:
        lines += _candidate_lines(candidate, why=why, style=style)
    return "\n".join(lines) + "\n"


def plan_text(plan: Plan, *, style: Style = PLAIN) -> str:
    """Return a plan as text, by layers of parallel tasks."""
    tasks = {task.id: task for task in plan.tasks}
    many = f"{counted(len(plan.tasks), 'task')} in {counted(len(plan.layers), 'layer')}"
    lines = [f"{style.verdict('plan')} {plan.confidence:.2f} | {many}" if plan.tasks else style.verdict("no plan")]
    lines += [f"  {visible(plan.reason)}"] if plan.reason else []
    for number, layer in enumerate(plan.layers, 1):
        for id_ in layer:
            task = tasks[id_]
            inputs = visible(", ".join(task.inputs))
            after = f"  after {', '.join(task.depends_on)}" if task.depends_on else ""
            lines.append(f"  {number}. {id_}  {style.place(visible(task.call))}({inputs}){after}")
    lines += [f"  missing: {visible(', '.join(plan.missing))}"] if plan.missing else []
    lines += [style.dim(f"  {_group_line(group, plan.contains)}") for group in plan.contains]
    lines += [style.dim(f"  as in {visible(', '.join(plan.evidence))}")] if plan.evidence else []
    return "\n".join(lines) + "\n"


def stats_text(status: ToolsStatus, *, style: Style = PLAIN) -> str:
    """Return counts of tools and traces, with the most used tools."""
    much = ", ".join(
        (
            f"{counted(status.tools, 'tool')} of {counted(len(status.servers), 'server')}",
            counted(status.traces, "trace"),
            counted(status.capabilities, "chain"),
            f"{counted(status.metas, 'chain')} of chains",
            f"{counted(status.unused, 'tool')} never used",
        )
    )
    lines = [
        much,
        *(f"  {visible(server or '(no server)')}: {count}" for server, count in status.servers.items()),
    ]
    lines += [f"  pinned: {visible(', '.join(status.pinned))}"] if status.pinned else []
    lines += [f"  {_group_line(group, status.recurring)}" for group in status.recurring if group.kind == "meta"]
    for usage in status.used[:USED_SHOWN]:
        took = f", {usage.latency_s * 1000:.0f} ms" if usage.latency_s else ""
        said = f"{counted(usage.calls, 'call')}, {counted(usage.failures, 'failure')}{took}"
        lines.append(f"  {style.place(visible(usage.tool))}  {said}")
    lines.append(style.dim(f"  {visible(status.database)}"))
    return "\n".join(lines) + "\n"


def _group_line(group: Group, groups: Sequence[Group]) -> str:
    """Return a chain of tools or chains, with its number of traces."""
    parts = {part.id: part.tools for part in groups if part.kind == "capability"}
    meta = group.kind == "meta"
    tools = nested_text([parts.get(one, (one,)) for one in group.members]) if meta else " → ".join(group.tools)
    return f"{'chain of chains' if meta else 'chain'}: {visible(tools)}  {counted(group.traces, 'trace')}"


def nested_text(contains: Sequence[Sequence[str]]) -> str:
    """Return a chain of chains as a line.

    >>> nested_text([("files/read", "mail/send"), ("calendar/add",)])
    '(files/read → mail/send) ⇒ calendar/add'
    """
    return " ⇒ ".join(f"({' → '.join(part)})" if len(part) > 1 else part[0] for part in contains)


def _match_lines(match: Match, *, why: bool, style: Style) -> list[str]:
    marks = "".join(f"  [{mark}]" for mark in ("exact", "pinned") if getattr(match, mark))
    if match.kind == "capability":
        lines = [f"{style.place('chain')}  {match.score:.2f}  {visible(' → '.join(match.tools))}"]
    elif match.kind == "meta":
        lines = [f"{style.place('chain of chains')}  {match.score:.2f}  {visible(nested_text(match.contains))}"]
    else:
        lines = [f"{style.place(visible(match.id))}  {match.score:.2f}{marks}"]
    said = " ".join(match.description.split())
    lines += [f"  {visible(said[:WORDS])}{'…' if len(said) > WORDS else ''}"] if said else []
    if why:
        factors = {"semantic": match.semantic, "reliability": match.reliability}
        lines += _why_lines(factors | dict(match.why), match.traces, style)
    return lines


def _candidate_lines(candidate: Candidate, *, why: bool, style: Style) -> list[str]:
    way = f"  by {visible(' → '.join(candidate.path))}" if len(candidate.path) > 1 else ""
    lines = [f"  {candidate.probability:.2f}  {style.place(visible(candidate.tool))}{way}"]
    return lines + (_why_lines(candidate.why, candidate.traces, style) if why else [])


def _why_lines(why: Mapping[str, float], traces: Sequence[str], style: Style) -> list[str]:
    lines = [style.dim("    " + "  ".join(f"{name} {value:+.2f}" for name, value in why.items()))]
    return lines + ([style.dim(f"    as in {visible(', '.join(traces))}")] if traces else [])
