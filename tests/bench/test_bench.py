"""The whole run: its report, that it can be repeated, and that it leaves everything as it was."""

from __future__ import annotations

import json
import tempfile

import pytest

from vademecum import config
from vademecum.bench.bench import MEASURES, bench, report_record, report_text
from vademecum.bench.queries import DOCSTRING, HISTORY, SYMBOL
from vademecum.bench.systems import SYSTEMS, opened, read_tree, write_tree
from vademecum.code.checkout.root import find_root
from vademecum.errors import RootError, UsageError


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Measure with one process and the embedder that needs no model; temporary files have a place that can be looked at."""
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))

    def run(*paths, **options):
        settings = config.load(paths[0], arguments={"index.workers": 1})
        reports = bench(*paths, settings=settings, embedder="hashing", **options)
        assert list(scratch.iterdir()) == []  # nothing is left behind
        return reports

    return run


def test_three_kinds_are_measured(run, trade):
    """Every kind has its questions, trees, means and differences, and the record is JSON."""
    (report,) = run(trade.path)
    assert [measured.kind for measured in report.measured] == [DOCSTRING, SYMBOL, HISTORY]
    assert report.left_out == ()
    record = json.loads(json.dumps(report_record(report)))
    assert set(record) == {
        "format", "repo", "root", "commit", "seed", "embedder", "ranker", "seconds", "kinds", "left_out"
    }  # fmt: skip
    assert record["commit"] == trade.git("rev-parse", "HEAD")
    for kind in record["kinds"]:
        assert set(kind) == {"kind", "trees", "means", "differences", "questions"}
        assert set(kind["means"]) == set(SYSTEMS)
        assert sum(tree["questions"] for tree in kind["trees"]) == len(kind["questions"])
        for other, differences in kind["differences"].items():
            for name, found in differences.items():
                gap = kind["means"]["vademecum"][name] - kind["means"][other][name]
                assert found["mean"] == pytest.approx(gap, abs=2e-4)
                assert found["low"] <= found["mean"] <= found["high"]
                assert found["verdict"] in {"better", "worse", "even", "told"}
        for question in kind["questions"]:
            assert set(question) == {"text", "source", "commit", "targets", "values"}
            assert all(set(values) == set(MEASURES) for values in question["values"].values())


def test_names_are_found_where_they_are_defined(run, trade):
    """A name's answer is the line that defines it, and finding it is what the engine is for."""
    (report,) = run(trade.path, history=False)
    symbols = report.measured[1]
    for asked in symbols.asked:
        for target in asked.question.targets:
            for first, _ in target.spans:
                assert asked.question.text in trade.read(target.path).split("\n")[first - 1]
    assert symbols.mean("vademecum", "file_hit1") == 1.0
    assert [left_out.reason for left_out in report.left_out] == ["not asked for"]


def test_a_run_can_be_repeated(run, trade):
    """The same tree, history and seed give the same report; another seed another one."""
    first, second, other = (report_record(run(trade.path, questions=6, seed=seed)[0]) for seed in (7, 7, 8))
    assert first | {"seconds": 0} == second | {"seconds": 0}
    assert first["kinds"][0]["questions"] != other["kinds"][0]["questions"]


def test_nothing_of_the_users_is_touched(run, trade, tmp_path):
    """Neither the work tree, nor the repository, nor the user's own index."""
    home = config.load(trade.path).home
    before = {path: path.stat().st_mtime_ns for path in trade.path.rglob("*")}
    run(trade.path)
    assert {path: path.stat().st_mtime_ns for path in trade.path.rglob("*")} == before
    assert not home.exists()


def test_part_of_a_repository_and_several(run, trade, repo, sources):
    """A path below the top narrows questions and what is searched; each repository has a report of its own."""
    other = repo("other", sources, git=False)
    narrowed, plain = run(trade.path / "src", other.path, questions=8)
    for measured in narrowed.measured:
        assert {t.path.split("/")[0] for asked in measured.asked for t in asked.question.targets} == {"src"}
        assert all(place.files == 6 for place in measured.places)
    assert [(each.kind, each.reason) for each in plain.left_out] == [(HISTORY, "not a git repository")]


def test_where_nothing_can_be_asked_the_reasons_are_told(run, repo, tmp_path):
    """An empty directory, pages alone, and code without a comment in too few files."""
    (tmp_path / "empty").mkdir()
    for path in (
        tmp_path / "empty",
        repo("pages", {"README.md": "# Words\n"}).path,
        repo("few", {"a.py": "def f(): ...\n"}).path,
    ):
        (report,) = run(path)
        assert report.measured == ()
        assert [each.kind for each in report.left_out] == [DOCSTRING, SYMBOL, HISTORY]
        assert all(each.reason in report_text(report) for each in report.left_out)


def test_wrong_calls_are_refused(run, trade, tmp_path):
    """No questions at all, and a path that is not there."""
    with pytest.raises(UsageError, match="at least 1"):
        run(trade.path, questions=0)
    with pytest.raises(RootError, match="does not exist"):
        bench(tmp_path / "nowhere")


def test_the_copy_holds_what_the_index_would(run, repo, tmp_path):
    """Files that git tracks though they are ignored, or lie where tools write, are in the copy; what is kept out stays out."""
    files = {
        ".gitignore": "*.log\n", "build/made.py": "x = 1\n", "a/keep.log": "kept\n", "a/plain.py": "y = 1\n",
        "a/.vadeignore": "gone.py\n", "a/gone.py": "z = 1\n", ".env": "SECRET=1\n",
    }  # fmt: skip
    made = repo("kept", files, commit=False)
    made.git("add", "-f", "-A")
    settings = config.load(made.path, arguments={"index.workers": 1, "storage.home": str(tmp_path / "home")})
    read = read_tree(find_root(made.path), (), settings)
    assert set(read) == set(files) - {"a/gone.py", ".env"}
    with opened(write_tree(read, tmp_path / "copy"), settings, "hashing", copied=True) as tree_at:
        tree = tree_at(lambda *_: None)
    assert {path: text.encode() for path, text in tree.files.items()} == read


def test_the_table_says_what_was_found(run, trade):
    """Numbers of all three, marks and words for a person, and what the marks mean."""
    (report,) = run(trade.path)
    text = report_text(report)
    for said in (
        "vademecum",
        "BM25",
        "grep",
        "right file first",
        "tokens to evidence",
        "▲",
        "Against grep it",
        "95 % interval",
    ):
        assert said in text
    assert "earlier commit" in text
