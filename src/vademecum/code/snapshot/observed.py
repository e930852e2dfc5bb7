"""Metrics of indexing and searching, for `/metrics` and spans."""

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
_EMBEDDER.add(0)  # starts at 0, so that the first error shows as a rise
_RUNS = counter("vademecum_index_runs_total", "Looks at a repository, by whether anything had changed.")
_TOOK = histogram("vademecum_index_duration_seconds", "Seconds that a look at a repository took, by the same.")
_FILES = counter("vademecum_index_files_total", "Files taken in, by what became of them.")
_DEGRADED = counter(
    "vademecum_index_degraded_total", "Files indexed with less than all, by the step that was left out."
)


def stage(name: str) -> AbstractContextManager[None]:
    """Measure one stage of a search."""
    return span(f"search.{name}", _STAGES, stage=name)


def count_verdict(verdict: Verdict) -> None:
    """Count an answer by its verdict."""
    _VERDICTS.add(verdict=str(verdict))


def count_freshness(evidence: Sequence[Evidence]) -> None:
    """Count the evidence shown, by freshness."""
    left = [item.freshness for item in evidence]
    while left:  # usually one kind, for which a `Counter` is slower
        freshness = left[0]
        _FRESHNESS.add(left.count(freshness), freshness=freshness.value)
        left = [each for each in left if each is not freshness]


def embedder_failed() -> None:
    """Count a question answered by words alone."""
    _EMBEDDER.add()


def index_failed() -> None:
    """Count a search answered without the external vector index."""
    _BEHIND.add()


def observed(report: IndexReport, *, changed: bool) -> IndexReport:
    """Count an indexing run and return its report."""
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
