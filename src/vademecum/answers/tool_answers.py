"""Answers about tools, as text and as plain records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from vademecum.amounts import counted
from vademecum.answers.render import PLAIN, Style, visible
from vademecum.tools.records import Candidate, Group, Match, Plan, Prediction, ToolAnswer, ToolsStatus

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
    """Return the matching tools as text: score, then description."""
    found = len(answer.matches)
    head = f"{style.verdict(answer.verdict.replace('_', ' '))} {answer.probability:.2f} | {counted(found, 'result')}"
    lines = [f"{head} among {counted(answer.searched, 'tool')}"]
    lines += [f"  {visible(answer.reason)}"] if answer.reason else []
    lines += [f"  nearest: {visible(', '.join(answer.nearest))}"] if answer.nearest else []
    for match in answer.matches:
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
    lines = [f"{style.verdict('plan')} {plan.confidence:.2f} | {many}"]
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
