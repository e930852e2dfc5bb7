"""Sentences of a language model: asked once, kept at once, found by, and never in the way of anything."""

from __future__ import annotations

import subprocess
import sys
import threading
import time

import pytest

from vademecum import Engine, Err, Ok, config
from vademecum.errors import ConsentError, EnrichError, StoreBusyError, UsageError
from vademecum.private import exclusive
from vademecum.testing import CountingEmbedder, CountingEnricher

FILES = {
    "a.py": "def first(x):\n    return x\n\n\ndef second(x):\n    return [x, x, x, x, x, x]\n" + "    # pad\n" * 40,
    "b.py": "class Third:\n    def go(self):\n        return 'went'\n",
    "tests/test_a.py": "def test_first():\n    assert first(1)\n",
    "notes.md": "# Notes\n\nProse speaks for itself.\n",
}


def summaries(opened):
    return {e.path: e.summary for path in FILES for e in opened.codebase.chunks(path)}


def every_sentence(opened, word):
    return [e.summary for path in FILES for e in opened.codebase.chunks(path) if e.summary.startswith(word)]


def test_each_piece_of_code_is_described_once(repo, engine):
    writer = CountingEnricher()
    opened = engine(repo("app", FILES), enricher=writer)
    (report,) = opened.codebase.enrich()
    assert report.made == report.wanted == len(writer.asked) > 3
    assert (report.known, report.failed, report.problem) == (0, 0, "")
    assert not any("Prose" in passage.text for passage in writer.asked)
    (again,) = opened.codebase.enrich()
    assert (again.made, again.known, again.wanted) == (0, report.wanted, report.wanted)
    assert len(writer.asked) == report.wanted


def test_product_code_comes_first(repo, engine):
    writer = CountingEnricher()
    engine(repo("app", FILES), enricher=writer).codebase.enrich()
    assert "test_first" in writer.asked[-1].text


def test_what_was_said_is_shown_and_found(repo, engine):
    """A question in the model's words finds code that holds none of them."""

    class Foreign(CountingEnricher):
        def sentence(self, passage):
            super().sentence(passage)
            return Ok("Quarantines zebras overnight." if "went" in passage.text else "Does something else.")

    opened = engine(repo("app", FILES), enricher=Foreign())
    assert not opened.codebase.search("quarantine zebras")
    opened.codebase.enrich()
    found = opened.codebase.search("quarantine zebras")
    assert found.evidence[0].path == "b.py"
    assert found.evidence[0].summary == "Quarantines zebras overnight."


def test_an_edit_asks_for_what_it_changed(repo, engine):
    app, writer = repo("app", FILES), CountingEnricher()
    opened = engine(app, enricher=writer)
    opened.codebase.enrich()
    before = len(writer.asked)
    app.write("b.py", FILES["b.py"].replace("went", "gone"))
    app.write("a.py", "\n\n" + FILES["a.py"])
    opened.codebase.index()
    assert all(summary.startswith("Marks") for summary in [e.summary for e in opened.codebase.chunks("a.py")])
    opened.codebase.enrich()
    assert 1 <= len(writer.asked) - before <= 2


def test_a_fresh_index_knows_what_was_said(repo, engine):
    app, writer = repo("app", FILES), CountingEnricher()
    opened = engine(app, enricher=writer)
    opened.codebase.enrich()
    said = every_sentence(opened, "Marks")
    opened.codebase.index(full=True)
    assert every_sentence(opened, "Marks") == said
    assert len(said) == len(writer.asked)


def test_without_it_the_offline_summary_stands(repo, engine):
    app = repo("app", FILES)
    opened = engine(app)
    with pytest.raises(UsageError, match=r"enrich\.provider"):
        opened.codebase.enrich()
    assert summaries(opened)["b.py"]


def test_failures_are_counted_and_never_fatal(repo, engine):
    """Every second one fails: the others are kept, and the next run asks for the failed ones alone."""

    class Moody(CountingEnricher):
        moody = True

        def sentence(self, passage):
            outcome = super().sentence(passage)
            return Err(EnrichError("no mood")) if self.moody and len(self.asked) % 2 else outcome

    writer = Moody()
    opened = engine(repo("app", FILES), enricher=writer)
    (report,) = opened.codebase.enrich()
    assert report.failed == (report.wanted + 1) // 2
    assert (report.made + report.failed, report.problem) == (report.wanted, "no mood")
    assert opened.codebase.search("second")
    writer.moody = False
    (again,) = opened.codebase.enrich()
    assert (again.known, again.made) == (report.made, report.failed)


@pytest.mark.parametrize("outcome", [Ok(""), Ok(7), None, "text", Ok("   ")])
def test_an_answer_that_is_none_is_a_failure(repo, engine, outcome):
    writer = CountingEnricher()
    writer.sentence = lambda _: outcome
    (report,) = engine(repo("app", FILES), enricher=writer).codebase.enrich()
    assert report.made == 0
    assert report.failed == min(5, report.wanted)
    assert "did not answer with a sentence" in report.problem


def test_an_enricher_that_raises_has_failed_at_that_piece_alone(repo, engine):
    """One of others' making may raise: counted, told, and the rest is described."""

    class Raising(CountingEnricher):
        def sentence(self, passage):
            if "second" in passage.text:
                raise ZeroDivisionError("by design")
            return super().sentence(passage)

    (report,) = engine(repo("app", FILES), enricher=Raising()).codebase.enrich()
    assert report.failed
    assert report.made == report.wanted - report.failed
    assert report.problem.endswith("raised ZeroDivisionError: by design")


def test_a_server_that_is_down_is_not_asked_for_ever(repo, engine):
    files = {f"m{n}.py": f"def f{n}():\n    return {n}\n" for n in range(20)}
    writer = CountingEnricher()
    writer.sentence = lambda _: Err(EnrichError("nothing answers"))
    (report,) = engine(repo("app", files), enricher=writer).codebase.enrich()
    assert (report.failed, report.problem) == (5, "nothing answers")


def test_a_run_that_is_stopped_goes_on_where_it_was(repo, engine):
    files = {f"m{n}.py": f"def f{n}():\n    return {n}\n" for n in range(12)}
    stop, writer = threading.Event(), CountingEnricher()
    opened = engine(repo("app", files), enricher=writer)
    (report,) = opened.codebase.enrich(
        lambda stage, done, _: stop.set() if stage == "describing" and done >= 4 else None, stop
    )
    assert report.made == 4
    (rest,) = opened.codebase.enrich()
    assert (rest.known, rest.made) == (4, 8)
    assert len(writer.asked) == 12


def test_a_run_that_is_killed_goes_on_where_it_was(repo, chat_server):
    """Killed between two answers: what was answered is not asked again, and is folded in by the next run."""
    files = {f"m{n}.py": f"def f{n}():\n    return {n}\n" for n in range(8)}
    app = repo("app", files)
    asked = []

    def answer(said):
        asked.append(said)
        if len(asked) == 4:
            time.sleep(5)
        return "Numbers a thing."

    chat_server.answer = answer
    code = (
        "import sys; from vademecum import Engine, config\n"
        "settings = config.load(arguments={'enrich.provider': 'ollama:tiny:1b', 'llm.base_url': sys.argv[2]})\n"
        "with Engine.open(sys.argv[1], settings=settings, embedder='hashing') as engine: engine.codebase.enrich()\n"
    )
    process = subprocess.Popen([sys.executable, "-c", code, str(app.path), chat_server.url])
    deadline = time.monotonic() + 60
    while len(asked) < 4 and time.monotonic() < deadline:
        time.sleep(0.02)
    process.kill()
    process.wait()
    arguments = {"enrich.provider": "ollama:tiny:1b", "llm.base_url": chat_server.url}
    with Engine.open(app.path, settings=config.load(arguments=arguments), embedder="hashing") as opened:
        (report,) = opened.codebase.enrich()
        assert (report.known, report.made) == (3, 5)
        assert all(opened.codebase.chunks(name)[0].summary == "Numbers a thing." for name in files)


def test_the_pace_is_kept(repo, engine):
    """Six hundred a minute are ten a second: twelve take more than a second, whoever answers at once."""
    files = {f"m{n}.py": f"def f{n}():\n    return {n}\n" for n in range(12)}
    opened = engine(repo("app", files), enricher=CountingEnricher(), enrich__per_minute=600)
    (report,) = opened.codebase.enrich()
    assert report.made == 12
    assert report.seconds >= 1.1


def test_several_are_asked_at_once(repo, engine):
    files = {f"m{n}.py": f"def f{n}():\n    return {n}\n" for n in range(8)}
    together = threading.Barrier(4, timeout=30)

    class Slow(CountingEnricher):
        def sentence(self, passage):
            together.wait()  # returns only when four ask at the same time
            return super().sentence(passage)

    (report,) = engine(repo("app", files), enricher=Slow(), enrich__parallel=4).codebase.enrich()
    assert report.made == 8


def test_one_run_at_a_time(repo, engine):
    opened = engine(repo("app", FILES), enricher=CountingEnricher())
    opened.codebase.index()
    with (
        exclusive(opened.codebase._repositories[0][0].catalogue.directory / "enrich.lock", 0),
        pytest.raises(StoreBusyError),
    ):
        opened.codebase.enrich()


def test_sentences_of_two_models_are_not_mixed(repo, engine):
    app, one, other = repo("app", FILES), CountingEnricher("one", "One"), CountingEnricher("other", "Other")
    engine(app, enricher=one).codebase.enrich()
    opened = engine(app, enricher=other)
    opened.codebase.enrich()
    assert len(other.asked) == len(one.asked)
    assert every_sentence(opened, "Other")
    assert not every_sentence(opened, "One")


def test_code_does_not_leave_without_consent(repo, engine):
    writer = CountingEnricher(remote=True)
    with pytest.raises(ConsentError, match="allow_remote"):
        engine(repo("app", FILES), enricher=writer).codebase.enrich()
    assert writer.asked == []
    agreed = engine(repo("other", FILES), enricher=writer, privacy__allow_remote=True)
    assert agreed.codebase.enrich()[0].made


def test_a_repository_cannot_turn_it_on(repo):
    app = repo("app", FILES)
    app.write(".vade.toml", '[enrich]\nprovider = "ollama:tiny"\n')
    with pytest.raises(UsageError, match="cannot turn on"):
        Engine.open(app.path)


def test_an_embedder_that_costs_money_reads_the_sentences(repo, engine):
    """Vectors that are kept by chunk are made anew for what was described, and for nothing else."""
    from vademecum.plugins import load

    embedder = CountingEmbedder(load("embedder", "hashing"))
    writer = CountingEnricher()
    opened = engine(repo("app", FILES), embedder=embedder, enricher=writer)
    opened.codebase.index()
    before = embedder.passages
    opened.codebase.enrich()
    assert embedder.passages - before == len(writer.asked)
    opened.codebase.enrich()
    opened.codebase.index(full=True)
    assert embedder.passages - before == len(writer.asked)


def test_a_clean_up_keeps_what_is_alive(repo, engine):
    app, writer = repo("app", FILES), CountingEnricher()
    opened = engine(app, enricher=writer)
    opened.codebase.enrich()
    (app.path / "b.py").unlink()
    opened.codebase.index()
    opened.codebase.gc()
    (again,) = opened.codebase.enrich()
    assert again.made == 0
    assert opened.codebase._repositories[0][0].catalogue.store.scan("summaries").unwrap().__len__() == again.wanted


def test_watching_enriches_beside(repo, chat_server, monkeypatch, tmp_path):
    """A process beside the watcher describes what is there and what is new, and ends with it."""
    import os

    chat_server.answer = lambda said: "Describes the second." if "later" in said else "Describes the first."
    monkeypatch.setenv("VADE_LLM__BASE_URL", chat_server.url)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
    monkeypatch.setenv("VADE_ENRICH__PROVIDER", "ollama:tiny:1b")
    app = repo("app", {"a.py": "def now():\n    return 1\n"})
    reports, stop = [], threading.Event()

    def run():
        with Engine.open(app.path) as opened:
            opened.codebase.watch(reports.append, stop)

    watcher = threading.Thread(target=run)
    watcher.start()
    try:
        assert _until(lambda: any(getattr(report, "made", 0) for report in reports))
        app.write("b.py", "def later():\n    return 2\n")
        assert _until(lambda: sum(getattr(report, "made", 0) for report in reports) == 2)
    finally:
        stop.set()
        watcher.join(60)
    with Engine.open(app.path) as opened:
        assert opened.codebase.chunks("b.py")[0].summary == "Describes the second."


def _until(condition, seconds=180):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.05)
    return False
