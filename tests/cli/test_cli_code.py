"""`vade search`, `open`, `symbol` and `index`: results on standard output, exit codes that say how it went."""

from __future__ import annotations

import json
import shutil

import pytest

from scip_encoder import DEFINED, document, occurrence, place
from scip_encoder import index as scip_index


def test_search_works_with_no_prior_step(vade):
    done = vade("search", "how is the token budget split")
    assert done.code == 0
    assert done.err == ""
    first, blank, place, *_ = done.out.splitlines()
    assert " | fresh | " in first
    assert blank == ""
    assert place.startswith("src/budget.py:")
    assert "  4  def split_budget(total: int)" in done.out


def test_what_is_not_there_is_not_found(vade):
    done = vade("search", "xylophone quantum marmalade")
    assert done.code == 1
    assert done.out.startswith("not found")


def test_json_is_one_document_with_stable_keys(vade):
    done = vade("search", "split the token budget", "--json")
    answer = json.loads(done.out)
    assert set(answer) == {
        *("query", "verdict", "probability", "reason", "nearest", "searched", "evidence"),
        *("tokens", "left_out", "remembered"),
    }
    top = answer["evidence"][0]
    assert (top["repo"], top["path"], top["language"], top["freshness"]) == (
        "handbook",
        "src/budget.py",
        "python",
        "fresh",
    )
    assert "split_budget" in top["snippet"]


def test_json_when_nothing_is_found_is_json_still(vade):
    done = vade("search", "xylophone quantum marmalade", "--json")
    assert done.code == 1
    assert json.loads(done.out)["evidence"] == []


def test_the_query_may_come_from_standard_input(vade):
    done = vade("search", "-", stdin="how is the token budget split\n")
    assert "src/budget.py:" in done.out


def test_filters_narrow_the_search(vade):
    assert "README.md" not in vade("search", "handbook budget retry", "--path", "src/*").out
    assert "budget.py" not in vade("search", "handbook budget retry", "--exclude", "src/budget.py").out
    assert "README.md" not in vade("search", "handbook budget retry", "--lang", "python").out
    assert ".py:" not in vade("search", "handbook budget retry", "--kind", "doc").out
    assert "retry.py" not in vade("search", "budget retry", "-e", r"primary,\s").out
    assert "budget.py" not in vade("search", "budget retry", "--symbol", "retry_with_backoff").out


def test_no_snippet_lines_prints_places_only(vade):
    done = vade("search", "split the token budget", "-k", "1", "--snippet-lines", "0")
    assert len(done.out.splitlines()) == 3


def test_the_number_of_results_is_a_setting_and_a_flag(vade, repository):
    (repository / ".vade.toml").write_text("[search]\nk = 1\n")
    asked = ("search", "budget retry handbook", "--json")
    assert len(json.loads(vade(*asked, "--snippet-lines", "3").out)["evidence"]) == 1
    assert len(json.loads(vade(*asked).out)["evidence"]) > 2
    assert len(json.loads(vade("search", "budget retry handbook", "-k", "2", "--json").out)["evidence"]) == 2


def test_why_shows_the_signals(vade):
    done = vade("search", "token budget", "-k", "1", "--why")
    assert "  score " in done.out


def test_an_edit_is_seen_by_the_next_search(vade, repository):
    vade("search", "token budget")
    (repository / "src" / "fresh.py").write_text("def marmalade_jar():\n    '''Keeps marmalade.'''\n")
    assert "src/fresh.py:" in vade("search", "marmalade jar").out


def test_two_repositories_are_searched_at_once_and_named(vade, repository):
    other = repository.parent / "other"
    shutil.copytree(repository, other)
    done = vade("search", "token budget", str(repository), str(other))
    assert "handbook:src/budget.py:" in done.out
    assert "other:src/budget.py:" in done.out
    done = vade("search", "token budget", str(repository), str(other), "--repo", "other")
    assert "handbook:" not in done.out
    assert "other:src/budget.py:" in done.out


def test_a_repository_may_be_given_as_a_path(vade, repository):
    other = repository.parent / "other"
    other.mkdir()
    (other / "jam.py").write_text("def token_budget(): ...\n")
    assert "jam.py:" in vade("search", "token budget", "--repo", "../other").out
    assert "budget.py:" not in vade("search", "token budget", "--repo", "../other").out


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["serch", "x"], "vade: there is no command 'serch': did you mean 'search'?"),
        (["remember", "x"], "vade: there is no command 'remember': did you mean 'vade memory remember'?"),
        (["marmalade"], 'did you mean `vade search "marmalade"`?'),
        (["search", "x", "--lnag", "python"], "did you mean '--lang'?"),
        (["search", "x", "--limit", "3"], "no such option '--limit': did you mean '-k'?"),
        (["callers", "x", "-f", "json"], "no such option '-f': did you mean '--json'?"),
        (["callers", "x", "--limit", "3"], "no such option '--limit': see `vade callers --help`"),
        (["search"], "vade: missing argument 'QUERY': see `vade search --help`"),
        (["search", "token", "budget"], "no such file or directory 'budget': put a query of several words in quotes"),
        (["search", "x", "-k", "0"], "vade: invalid value for '-k'"),
        (["search", "x", "-k", "many"], "'many' is not a valid integer"),
        (["search", "x", "--kind", "codes"], "invalid value for '--kind': 'codes'"),
        (["search", "x", "--lang", "pyhton"], "python"),
        (["search", "x", "--repo", "nowhere/else"], "nowhere/else"),
        (["config", "shwo"], "shwo"),
        (["open", "../../../etc/passwd"], "passwd"),
        (["open", "/etc/passwd"], "/etc/passwd"),
    ],
)
def test_a_wrong_call_is_one_line_and_exit_code_2(vade, args, said):
    done = vade(*args)
    assert done.code == 2
    assert done.out == ""
    assert done.err.startswith("vade: ")
    assert said in done.err
    assert len(done.err.splitlines()) == 1


def test_a_wrong_setting_is_a_wrong_call(vade, repository):
    (repository / ".vade.toml").write_text("[search]\nkk = 1\n")
    done = vade("search", "x")
    assert done.code == 2
    assert "did you mean 'search.k'?" in done.err


@pytest.mark.parametrize("verb", [("index",), ("status",), ("map",), ("gc",), ("search", "x"), ("symbol", "x")])
def test_a_path_that_is_not_there_is_a_wrong_call_to_every_verb(vade, verb):
    done = vade(*verb, "no/such/folder")
    assert done.code == 2
    assert done.err.startswith("vade: ")
    assert "no/such/folder" in done.err
    assert len(done.err.splitlines()) == 1


def test_a_file_outside_of_git_has_no_directory_indexed_for_it(vade, tmp_path):
    lone = tmp_path / "lone"
    lone.mkdir()
    for name in ("a.txt", "b.txt"):
        (lone / name).write_text("words and words\n")
    for verb in (("search", "words"), ("index",)):
        done = vade(*verb, str(lone / "a.txt"))
        assert (done.code, done.out) == (2, "")
        assert f"is a file outside of git: name the directory that is to be indexed with it, {lone}" in done.err
    (lone / ".vade.toml").write_text("")
    assert "a.txt" in vade("search", "words", str(lone / "a.txt")).out


def test_no_commit_is_made_up_where_there_is_none(vade, tmp_path):
    """Outside of git and before the first commit; what names a state is in the id of its evidence alone."""
    lone = tmp_path / "lone"
    lone.mkdir()
    (lone / "a.py").write_text("def lonely():\n    pass\n")
    for path, said in ((lone, "none: not under git"), (".", "none yet")):
        assert json.loads(vade("index", str(path), "--json").out)[0]["commit"] == ""
        assert json.loads(vade("status", str(path), "--json").out)[0]["commit"] == ""
        assert any(line.split(None, 1) == ["commit", said] for line in vade("status", str(path)).out.splitlines())
    [found] = json.loads(vade("symbol", "lonely", str(lone), "--json").out)["evidence"]
    assert (found["commit"], found["id"].count(":")) == ("", 3)


def test_words_are_said_again_as_they_were_asked(vade):
    """Not their stems, which nobody wrote."""
    done = vade("search", "gargled garbages zyzzyvas")
    assert done.code == 1
    assert "none of these words occur" in done.out
    assert "gargled, garbages, zyzzyvas" in done.out


def test_a_renamed_file_is_counted(vade, repository):
    """Every file is new, moved, or unchanged."""
    vade("index")
    (repository / "src" / "budget.py").rename(repository / "src" / "tokens.py")
    assert "3 files" in (out := vade("index").out)
    assert "(0 new, 1 moved or as once before, 1 removed, 2 unchanged)" in out


def test_open_prints_the_lines_asked_for(vade):
    done = vade("open", "src/budget.py:4-5")
    assert done.code == 0
    assert done.out.splitlines()[1:] == [
        "  4  def split_budget(total: int) -> tuple[int, int]:",
        '  5      """Split the token budget into primary and related parts."""',
    ]
    assert json.loads(vade("open", "src/budget.py:4-5", "--json").out)["start_line"] == 4


def test_open_of_a_missing_file_is_a_wrong_call(vade):
    assert vade("open", "src/none.py").code == 2


def test_open_prints_the_file_as_it_is_now(vade, repository):
    vade("index")
    (repository / "src" / "budget.py").write_text("changed = 1\n")
    assert "changed = 1" in vade("open", "src/budget.py").out


def test_symbol_is_exact(vade):
    done = vade("symbol", "split_budget")
    assert done.code == 0
    assert done.out.startswith("resolved")
    assert "src/budget.py:" in done.out
    done = vade("symbol", "split_budge", "--json")
    assert done.code == 1
    assert json.loads(done.out)["verdict"] == "not_found"


def test_index_says_what_it_did(vade):
    done = vade("index")
    assert done.code == 0
    assert done.err == ""
    assert done.out.startswith("handbook: 3 files, ")
    report = json.loads(vade("index", "--full", "--json").out)[0]
    assert (report["repo"], report["files"]) == ("handbook", 3)


def test_index_says_what_it_took_of_a_compiler_s_answers(vade, repository, tmp_path):
    """One that is no index is an error that says so, and about one repository at a time."""
    text = (repository / "src" / "budget.py").read_text()
    names = [occurrence(place(text, "split_budget"), "hand pip handbook 1 `budget`/split_budget().", DEFINED)]
    (tmp_path / "made.scip").write_bytes(scip_index(document("src/budget.py", *names)))
    done = vade("index", "--scip", str(tmp_path / "made.scip"))
    assert (done.code, "made.scip by scip-hand 1.0: 1 of 1 files taken" in done.out) == (0, True)
    done = vade("index", "--scip", str(tmp_path / "none.scip"))
    assert done.code > 1
    assert "none.scip is not taken: it is no file: name one that a SCIP indexer wrote" in done.err
    (tmp_path / "other").mkdir()
    done = vade("index", str(repository), str(tmp_path / "other"), "--scip", "none")
    assert (done.code, "index one PATH at a time" in done.err) == (2, True)


def test_index_keeps_to_parts_named_from_where_the_user_stands(vade, repository, monkeypatch):
    """A path counts from the current directory if it is there, else from the repository's top."""
    (repository / "docs").mkdir()
    (repository / "docs" / "a.md").write_text("# About\n")
    monkeypatch.chdir(repository / "src")
    done = vade("index", "--only", "budget.py")
    assert (done.code, done.out.startswith("handbook: 1 file, ")) == (0, True)
    assert "only src/budget.py is indexed: `vade index --only .` lifts that" in done.out
    assert vade("index", "--only", "docs", "--only", ".").out.startswith("handbook: 3 files, ")
    assert "only docs, src is indexed" in vade("status").out
    assert "everything outside docs, src (not indexed)" in vade("symbol", "nobody").out
    assert vade("index", "--only", str(repository)).out.startswith("handbook: 4 files, ")
    done = vade("index", "--only", "nowhere")
    assert (done.code, "no file of nowhere is to be indexed" in done.err) == (2, True)


def test_index_lists_what_was_skipped(vade, repository):
    (repository / ".env").write_text("TOKEN=hunter2\n")
    assert ".env: secret" in vade("index", "-v").out
    assert "1 skipped" in vade("index", "--full").out
