"""The benchmark: engine, BM25 and grep on a repository's own questions.

    docstrings → cut them out → index the copy → ask;  names → ask the copy;  commits → index the tree before them → ask

for report in bench("."):
    print(report.measured[0].difference("grep", "tokens"))
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from vademecum import config
from vademecum.bench.docstrings import docstring_questions
from vademecum.bench.history import history_questions
from vademecum.bench.questions import DOCSTRING, HISTORY, SYMBOL, LeftOut, Question, enough, symbol_questions
from vademecum.bench.report import Asked, Measured, Place, Report, values_of
from vademecum.bench.systems import Systems
from vademecum.bench.trees import Tree, opened, read_tree, write_tree
from vademecum.code.checkout import git
from vademecum.code.checkout.identity import repository_name
from vademecum.code.checkout.root import Root
from vademecum.config import Settings
from vademecum.errors import GitError, UsageError
from vademecum.protocols import Embedder, Progress, silent
from vademecum.wiring.roots import narrow

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
