"""`vade worker`: adding, listing, retrying, and one run over what waits."""

from __future__ import annotations

import json

import pytest


@pytest.fixture
def queued(repository, monkeypatch, database):
    """A repository, and a database chosen by its user."""
    monkeypatch.setenv("VADE_STORAGE__URL", database)
    monkeypatch.setenv("VADE_STORAGE__PROVIDER", "postgres")
    monkeypatch.setenv("VADE_SEARCH__EMBEDDER", "hashing")
    return repository


def test_what_is_added_is_indexed_and_found(vade, queued):
    """From the queue into a search, with nothing indexed by hand."""
    assert vade("worker", "add", ".").out == f"1 {queued}\n"
    assert "1  ready" in vade("worker", "list").out
    done = vade("worker", "--until-empty")
    assert done.code == 0
    assert done.out.startswith(f"done   1 {queued}: 3 files, 3 read anew")
    assert json.loads(vade("worker", "list", "--state", "done", "--json").out)[0]["attempts"] == 1
    assert "src/budget.py" in vade("search", "split the token budget").out


def test_what_cannot_be_done_is_given_up_and_can_be_retried(vade, queued, tmp_path):
    """A directory that is gone by then."""
    gone = tmp_path / "gone"
    gone.mkdir()
    vade("worker", "add", str(gone), "--revision", "v1")
    gone.rmdir()
    vade("worker", "--until-empty")
    [job] = json.loads(vade("worker", "list", "--json").out)
    assert "does not exist" in job["said"]
    assert (job["revision"], job["state"]) == ("v1", "ready"), "it may be back later"
    assert vade("worker", "retry").out == "0 jobs back in the queue\n", "it was not given up yet"


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("/no/such/place", "neither a directory nor an address"),
        ("ext::sh -c id", "neither a directory nor an address"),
        ("ext://example.org/app", "begins with none of"),
        ("https://ada:secret@example.org/app", "holds a password"),
        ("--upload-pack=id", "no such option"),
    ],
)
def test_a_source_that_could_never_be_indexed_is_refused_at_once(vade, queued, source, said):
    """And nothing secret is kept or shown."""
    done = vade("worker", "add", source)
    assert done.code == 2
    assert said in done.err
    assert "secret" not in done.err
    assert json.loads(vade("worker", "list", "--json").out) == []


def test_a_worker_without_a_database_says_what_to_set(vade, repository):
    """Files are not shared."""
    done = vade("worker", "--until-empty")
    assert done.code == 2
    assert "storage.provider" in done.err
