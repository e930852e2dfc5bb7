"""Counters and spans of indexing and searching."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager

from vademecum.metrics import counter, histogram
from vademecum.tracing import span
from vademecum.types import Evidence, IndexReport, Verdict

_STAGES = histogram("vademecum_search_stage_duration_seconds", "Seconds that a search took, by stage.")
_VERDICTS = counter("vademecum_search_verdicts_total", "Answers to searches, by verdict.")
_FRESHNESS = counter("vademecum_evidence_total", "Evidence shown, by freshness.")
_EMBEDDER = counter("vademecum_embedder_errors_total", "Questions that no vector could be made of.")
_BEHIND = counter("vademecum_vector_index_errors_total", "Searches that an index of vectors outside did not answer.")
_BEHIND.add(0)
_EMBEDDER.add(0)  # shown from the beginning, so that the first one is seen as a rise
_RUNS = counter("vademecum_index_runs_total", "Looks at a repository, by whether anything had changed.")
_TOOK = histogram("vademecum_index_duration_seconds", "Seconds that a look at a repository took, by the same.")
_FILES = counter("vademecum_index_files_total", "Files taken in, by what became of them.")
_DEGRADED = counter(
    "vademecum_index_degraded_total", "Files indexed with less than all, by the step that was left out."
)


def stage(name: str) -> AbstractContextManager[None]:
    """Observe one stage of a search."""
    return span(f"search.{name}", _STAGES, stage=name)


def count_verdict(verdict: Verdict) -> None:
    """Count an answer."""
    _VERDICTS.add(verdict=str(verdict))


def count_freshness(evidence: Sequence[Evidence]) -> None:
    """Count what is shown."""
    left = [item.freshness for item in evidence]
    while left:  # one kind, most often: a `Counter` takes longer to make
        freshness = left[0]
        _FRESHNESS.add(left.count(freshness), freshness=freshness.value)
        left = [each for each in left if each is not freshness]


def embedder_failed() -> None:
    """Count a question that was answered by words alone."""
    _EMBEDDER.add()


def index_failed() -> None:
    """Count a search that was answered without an index of vectors outside."""
    _BEHIND.add()


def observed(report: IndexReport, *, changed: bool) -> IndexReport:
    """Count a look at a repository, and return its report."""
    outcome = "changed" if changed else "unchanged"
    _RUNS.add(outcome=outcome)
    _TOOK.observe(report.seconds, outcome=outcome)
    if changed:
        counts = {"added": report.added, "removed": report.removed, "failed": len(report.failures)}
        for name, number in counts.items():
            _FILES.add(number, outcome=name)
        for step, number in report.degraded.items():
            _DEGRADED.add(number, step=step)
    return report
