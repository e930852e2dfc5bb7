"""Vectors that are slow or cost money: they come last, one batch at a time, and nothing of them is lost."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

from vademecum.embedding import DualEmbedder
from vademecum.errors import EmbedError
from vademecum.plugins import load
from vademecum.result import Err, Ok
from vademecum.testing import CountingEmbedder, check_embedder
from vademecum.types import Passage

MANY = {
    f"src/part_{n}.py": f'def step_{n}(budget):\n    """Step {n} splits the budget."""\n    return budget / {n + 1}\n'
    for n in range(40)
} | {"README.md": "# Handbook\n\nHow budgets are split.\n\n## Retries\n\nCalls are tried again.\n"}


class Fails:
    """An embedder that fails after so many calls with documents, until it is mended."""

    def __init__(self, after, width=48, name="fails-1"):
        self.inner = CountingEmbedder(load("embedder", f"hashing:{width}"))
        self.name, self.dim, self.remote = name, width, False
        self.after = after
        self.calls = 0

    @property
    def passages(self):
        return self.inner.passages

    def embed(self, passages, kind):
        if kind == "document":
            self.calls += 1
            if self.calls > self.after:
                return Err(EmbedError("the server is down: start it"))
        return self.inner.embed(passages, kind)


def pending(engine):
    repo = engine.codebase._repositories[0][0]
    return int(repo.catalogue.load("worktree", repo.root.path)[1].pending.sum())


def test_what_was_embedded_before_a_failure_is_kept(repo, engine):
    """Each batch at once: the next run embeds what is missing, and no piece twice."""
    made, embedder = repo(files=MANY), Fails(after=3)
    opened = engine(made, embedder=embedder, embedding__batch_texts=5)
    report = opened.codebase.index()
    assert report.trouble == "the server is down: start it"
    assert embedder.passages == 15
    assert report.degraded == {"vectors": report.chunks - 15}
    assert pending(opened) == report.chunks - 15 == opened.codebase.status()[0].pending
    [said] = [check.detail for check in opened.codebase.doctor() if check.name == "index"]
    assert f"{report.chunks - 15} of them without a vector until `vade index` has made it" in said
    embedder.after = 1_000
    report = opened.codebase.index()
    assert (report.trouble, dict(report.degraded), pending(opened)) == ("", {}, 0)
    assert embedder.passages == report.chunks
    opened.codebase.index()
    assert embedder.passages == report.chunks


def test_search_goes_on_and_says_what_is_missing(repo, engine):
    """By words where there is no vector, by meaning too where there is one; the answer says of how many."""
    made, embedder = repo(files=MANY), Fails(after=3)
    opened = engine(made, embedder=embedder, embedding__batch_texts=5)
    chunks = opened.codebase.index().chunks
    answer = opened.codebase.search("step_7")
    assert answer.evidence[0].path == "src/part_7.py"
    assert (
        f"{chunks - 15} of {chunks} chunks have no vector yet and are found by words alone: `vade index`"
        in answer.reason
    )
    embedder.after = 1_000
    opened.codebase.index()
    answer = opened.codebase.search("step_7")
    assert "no vector" not in answer.reason
    assert answer.evidence[0].signals["dense"] > 0


def test_an_embedder_that_never_worked_hides_nothing(repo, engine):
    """Not even its width is known: words find everything."""

    class Down(Fails):
        @property
        def dim(self):
            return self.embed([Passage("x")], "document").unwrap().shape[1]

        @dim.setter
        def dim(self, width):
            pass

    embedder = Down(after=0)
    opened = engine(repo(files=MANY), embedder=embedder)
    report = opened.codebase.index()
    assert report.degraded == {"vectors": report.chunks}
    assert opened.codebase.search("step_7").evidence[0].path == "src/part_7.py"
    assert opened.codebase.status()[0].chunks == report.chunks
    embedder.after = 1_000
    assert not opened.codebase.index().degraded
    assert opened.codebase.search("step_7").evidence[0].signals["dense"] > 0


def test_the_same_index_comes_of_failures_and_of_none(repo, engine, tmp_path):
    """However often it stopped on the way, the vectors are those of a run that never did."""
    made = repo(files=MANY)
    whole = engine(made, embedder=Fails(after=1_000), embedding__batch_texts=5, home=tmp_path / "a")
    whole.codebase.index()
    expected = [(e.path, e.score) for e in whole.codebase.search("split a budget", k=20).evidence]
    embedder = Fails(after=0)
    torn = engine(made, embedder=embedder, embedding__batch_texts=5, home=tmp_path / "b")
    for _ in range(20):
        torn.codebase.index()
        embedder.calls, embedder.after = 0, 1
    assert pending(torn) == 0
    assert [(e.path, e.score) for e in torn.codebase.search("split a budget", k=20).evidence] == expected


def test_another_model_embeds_what_it_lacks_and_keeps_the_first_ones(repo, engine):
    """Going back embeds nothing; an edit embeds what it changed, for whichever is in use."""
    made = repo(files=MANY)
    first, second = Fails(1_000), Fails(1_000, width=32, name="other-1")
    chunks = engine(made, embedder=first).codebase.index().chunks
    made.write("src/part_3.py", "def step_3(budget):\n    return budget\n")
    engine(made, embedder=second).codebase.index()
    assert (first.passages, second.passages) == (chunks, chunks)
    engine(made, embedder=first).codebase.index()
    assert (first.passages, second.passages) == (chunks + 1, chunks)


def test_a_search_embeds_what_an_edit_changed_and_no_more(repo, engine):
    """A few pieces are embedded before the answer; hundreds are left to an index run."""
    made, embedder = repo(files=MANY), Fails(1_000)
    opened = engine(made, embedder=embedder)
    chunks = opened.codebase.index().chunks
    made.write("src/part_3.py", "def step_3(budget):\n    return budget\n")
    assert "no vector" not in opened.codebase.search("step_3").reason
    assert embedder.passages == chunks + 1
    made.write("src/big.py", "\n\n".join(f"def big_{n}():\n    return {n}\n" for n in range(600)))
    answer = opened.codebase.search("big_7")
    assert "no vector yet" in answer.reason
    assert embedder.passages == chunks + 1
    opened.codebase.index()
    assert embedder.passages > chunks + 100
    assert "no vector" not in opened.codebase.search("big_7").reason


def test_progress_is_told(repo, engine):
    """How many of those that were missing have a vector by now."""
    told = []
    engine(repo(files=MANY), embedder=Fails(1_000), embedding__batch_texts=5).codebase.index(
        progress=lambda stage, done, total: told.append((stage, done, total))
    )
    counts = [(done, total) for stage, done, total in told if stage == "embedding"]
    assert [done for done, _ in counts] == sorted(done for done, _ in counts)
    assert len({total for _, total in counts}) == 1


def test_two_processes_do_not_embed_the_same(repo, open_engine, tmp_path):
    """The second leaves it to the first, and says so."""
    made = repo(files=MANY)
    started, go_on = threading.Event(), threading.Event()

    class Waits(Fails):
        def embed(self, passages, kind):
            if kind == "document":
                started.set()
                go_on.wait(10)
            return super().embed(passages, kind)

    first, second = Waits(1_000), Fails(1_000, name="fails-1")

    def run():
        with open_engine(made, embedder=first, home=tmp_path / "home") as opened:
            opened.codebase.index()

    thread = threading.Thread(target=run)
    thread.start()
    assert started.wait(30)
    with open_engine(made, embedder=second, home=tmp_path / "home") as opened:
        report = opened.codebase.index()
        assert report.trouble == "another process is making them"
        assert opened.codebase.search("step_7").evidence[0].path == "src/part_7.py"
        go_on.set()
        thread.join(60)
        assert second.passages == 0
        assert not opened.codebase.index().degraded


SLOW = """
import sys, time
sys.path.insert(0, sys.argv[2])
from vademecum import Engine, config
from vademecum.plugins import load

class Slow:
    name, dim, remote = "slow-1", 48, False
    inner = load("embedder", "hashing:48")
    def embed(self, passages, kind):
        if kind == "document":
            print(len(passages), flush=True)
            time.sleep(0.05)
        return self.inner.embed(passages, kind)

settings = config.load(arguments={"index.workers": 1, "embedding.batch_texts": 2})
with Engine.open(sys.argv[1], settings=settings, embedder=Slow()) as engine:
    engine.codebase.index()
"""


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_a_run_that_is_ended_loses_the_batch_under_way(repo, engine, how):
    """Killed or interrupted at any point: the next run embeds the rest."""
    made = repo(files=MANY)
    environ = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    process = subprocess.Popen([sys.executable, "-c", SLOW, str(made.path), "."], env=environ, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)  # fmt: skip
    for _ in range(5):
        process.stdout.readline()
    time.sleep(0.02)
    process.send_signal(how)
    process.stdout.close()
    process.wait(30)
    embedder = Fails(1_000, name="slow-1")
    opened = engine(made, embedder=embedder, embedding__batch_texts=2)
    report = opened.codebase.index()
    assert (report.trouble, pending(opened)) == ("", 0)
    assert embedder.passages <= report.chunks - 8  # of five batches of two, all but the last were kept


def test_a_description_is_read_with_its_code(repo, engine):
    """What a language model said changes what is embedded: those pieces are embedded again, once."""
    from vademecum.testing import CountingEnricher

    embedder = Fails(1_000)
    opened = engine(repo(files=MANY), embedder=embedder, enricher=CountingEnricher())
    chunks = opened.codebase.index().chunks
    [report] = opened.codebase.enrich()
    assert embedder.passages == chunks + report.made
    assert pending(opened) == 0
    opened.codebase.index()
    assert embedder.passages == chunks + report.made


# -- code by one, prose by another -----------------------------------------------------------------------------------


class Skewed:
    """An embedder whose vectors all lie near one direction: every cosine is high, as those of many models are."""

    remote = False

    def __init__(self, inner, skew, name):
        self.inner, self.skew, self.name, self.dim = inner, skew, name, inner.dim

    def embed(self, passages, kind):
        rows = self.inner.embed(passages, kind).unwrap()
        common = np.ones(self.dim, np.float32) / np.sqrt(self.dim)
        rows = np.where(rows.any(axis=1, keepdims=True), rows + self.skew * common, 0)
        norm = np.linalg.norm(rows, axis=1, keepdims=True)
        return Ok((rows / np.where(norm > 0, norm, 1)).astype(np.float32))


CORPUS = {
    "src/budget.py": 'def split_budget(total, share):\n    """Split the token budget into two parts."""\n    return total * share\n',
    "src/retry.py": 'def retry(call):\n    """Call again after a pause that doubles."""\n    return call()\n',
    "src/parse.py": 'def parse_line(line):\n    """Split one line of a log into fields."""\n    return line.split()\n',
    "src/image.py": 'def resize(image, width):\n    """Make a picture smaller."""\n    return image\n',
    "docs/licence.md": "# Licence\n\nThe project is published under the Apache licence; you may change and sell it.\n",
    "docs/install.md": "# Installation\n\nDownload the package and run the installer; no compiler is needed.\n",
    "docs/team.md": "# Team\n\nDecisions are made in a weekly meeting, by everybody who came.\n",
}
ASKED = {
    "which licence may I sell it under": "docs/licence.md",
    "how do I install the package without a compiler": "docs/install.md",
    "who makes decisions and when": "docs/team.md",
    "split the token budget in parts": "src/budget.py",
    "call again after a pause": "src/retry.py",
    "make a picture smaller": "src/image.py",
}


def dual(tmp_path, skew=1.5):
    return DualEmbedder(
        load("embedder", "static"), Skewed(load("embedder", "static"), skew, f"skewed-{skew}"), tmp_path / "scales"
    )


def test_two_embedders_as_one_keep_the_promises(tmp_path):
    """Of two widths; each document has its own part, and a question both."""
    pair = DualEmbedder(load("embedder", "static"), load("embedder", "hashing:96"), tmp_path)
    assert (pair.dim, pair.remote) == (256 + 96, False)
    check_embedder(pair)
    code, prose = pair.embed([Passage("def f(): ..."), Passage("how it works", prose=True)], "document").unwrap()
    assert code[:256].any()
    assert not code[256:].any()
    assert prose[256:].any()
    assert not prose[:256].any()


def ranks(opened):
    """At which place, from 0, the right file stands for each question, by meaning alone."""
    found = {}
    for question, path in ASKED.items():
        answer = opened.codebase.search(question, k=10, ranker="dense")
        found[question] = (
            [e.path for e in answer.evidence].index(path) if path in [e.path for e in answer.evidence] else 10
        )
    return found


def test_scores_of_two_embedders_compare(repo, engine, tmp_path):
    """Where every cosine of the prose model is far above those of the other, code is still found, and prose too."""
    made = repo(files=CORPUS)
    pair = dual(tmp_path)
    prose, code = (
        pair.prose.embed([Passage("a green apple"), Passage("zebra crossing")], "document").unwrap(),
        pair.code,
    )
    assert float(prose[0] @ prose[1]) > 0.5  # as near as texts get that have nothing in common
    assert (
        abs(
            float(
                np.prod(
                    code.embed([Passage("a green apple"), Passage("zebra crossing")], "document").unwrap(), axis=0
                ).sum()
            )
        )
        < 0.5
    )
    opened = engine(made, embedder=pair)
    opened.codebase.index()
    assert set(ranks(opened).values()) == {0}


def test_without_a_scale_prose_would_drown_code(tmp_path):
    """The same two models with their cosines as they are: the test above could fail."""
    pair = dual(tmp_path)
    passages = [(path, Passage(text, prose=path.endswith(".md"))) for path, text in CORPUS.items()]
    wrong = 0
    for question, path in ASKED.items():
        score = {}
        for where, passage in passages:
            own = pair.prose if passage.prose else pair.code
            asked = own.embed([Passage(question)], "query").unwrap()[0]
            score[where] = float(asked @ own.embed([passage], "document").unwrap()[0])
        wrong += max(score, key=score.get) != path
    assert wrong >= 2


def test_a_scale_is_asked_for_once(tmp_path):
    """And kept for the next process."""
    code, prose = (CountingEmbedder(load("embedder", name)) for name in ("static", "hashing"))
    DualEmbedder(code, prose, tmp_path).embed([Passage("x")], "query").unwrap()
    asked = code.passages
    assert asked > 10
    DualEmbedder(code, prose, tmp_path).embed([Passage("x")], "query").unwrap()
    assert code.passages == asked


def test_adding_one_for_prose_embeds_prose_alone(repo, engine, tmp_path):
    """Each keeps its own vectors under its own name."""
    made = repo(files=MANY)
    code, prose = Fails(1_000, name="code-1"), Fails(1_000, width=32, name="prose-1")
    chunks = engine(made, embedder=code).codebase.index().chunks
    before = code.passages
    opened = engine(made, embedder=DualEmbedder(code, prose, tmp_path))
    opened.codebase.index()
    assert pending(opened) == 0
    from vademecum.embedding import anchors

    assert before == chunks
    assert code.passages == before + len(anchors()["code"])
    assert 0 < prose.passages - len(anchors()["code"]) < 5


def test_settings_name_both(repo, engine):
    """`search.prose_embedder` is for prose, memory and tools; the same name twice is one."""
    made = repo(files=MANY)
    opened = engine(made, embedder=None, search__embedder="static", search__prose_embedder="hashing:32")
    opened.codebase.index()
    assert opened.codebase.status()[0].embedder == "dual:static:static-2+hashing:32"
    assert opened.memory._embedder().name == "hashing:32"
    assert opened.codebase.search("how are budgets split").evidence
    same = engine(made, embedder=None, search__embedder="static", search__prose_embedder="static")
    assert same.codebase.status()[0].embedder == "static:static-2"
