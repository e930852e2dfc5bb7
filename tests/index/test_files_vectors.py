"""What paths mean: vectors that are made once for each path, belong to one embedder, and come back when they are lost."""

from __future__ import annotations

import os
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vademecum.code.checkout.classify import file_kind
from vademecum.code.chunking.analyse import PathReader, path_reader
from vademecum.code.snapshot.view import FileRow, FileTable, changed_table, file_table, load_files, save_files
from vademecum.errors import StoreCorruptError
from vademecum.index.segment import quantise
from vademecum.plugins import load
from vademecum.types import Passage

STATIC, HASHING = load("embedder", "static"), load("embedder", "hashing")
QUESTIONS = ["split the token budget", "call again after a pause", "where is a log line parsed", "Budget", "retry"]


class Reading:
    """A reader of paths that keeps which paths it was asked for."""

    def __init__(self):
        self.asked = []
        self.reader = PathReader(file_kind, HASHING.name, self.embed)

    def embed(self, paths):
        self.asked += paths
        return quantise(HASHING.embed([Passage(path) for path in paths], "document").unwrap())


def made(entries):
    return [FileRow(path, n, f"{n:040x}", "python" if n % 2 else "go", n, n, n) for path, n in entries.items()]


def the_same(one: FileTable, other: FileTable):
    """Whether two tables say the same of every path."""
    assert one.paths == other.paths
    assert [one.language(i) for i in range(len(one))] == [other.language(i) for i in range(len(other))]
    for field in fields(FileTable):
        if field.name not in {"paths", "languages", "language_names", "postings"}:
            mine, theirs = getattr(one, field.name), getattr(other, field.name)
            np.testing.assert_array_equal(mine, theirs, err_msg=field.name)
            assert mine.dtype == theirs.dtype, field.name
    for name in ("keys", "offsets", "docs", "tf"):
        np.testing.assert_array_equal(getattr(one.postings, name), getattr(other.postings, name), err_msg=name)


names = st.lists(st.sampled_from(["read", "write_file", "a0", "net-io", "x.py", "é"]), min_size=1, max_size=3).map(
    "/".join
)
rows = st.dictionaries(names, st.integers(1, 5), max_size=10)


@given(rows, rows, st.data())
def test_known_paths_keep_their_vectors_and_added_ones_get_theirs(before, after, data):
    """Only added paths are read, and the table is the one that is made anew; also when there was nothing before."""
    gone = data.draw(st.sets(st.sampled_from(sorted(before)))) - set(after) if before else set()
    reading, anew = Reading(), Reading()
    previous = file_table(made(before), reading.reader)
    assert reading.asked == sorted(before)
    reading.asked.clear()
    found = changed_table(previous, made(after), gone, reading.reader)
    assert reading.asked == sorted(set(after) - set(before))
    left = {path: n for path, n in (before | after).items() if path not in gone}
    the_same(found, file_table(made(left), anew.reader))
    assert found.vectors.shape == (len(left), HASHING.dim)


@given(rows)
def test_a_table_grows_from_nothing_and_goes_back_to_it(entries):
    """Nothing, then everything, then nothing: each as if made anew."""
    reading = Reading()
    nothing = file_table([], reading.reader)
    everything = changed_table(nothing, made(entries), (), reading.reader)
    the_same(everything, file_table(made(entries), reading.reader))
    the_same(changed_table(everything, [], set(entries), reading.reader), nothing)


def test_the_same_paths_in_a_new_language_are_not_read_again():
    """The table is made anew for the language's sake; what the paths mean stays where it was."""
    reading = Reading()
    previous = file_table(made({"a/read.py": 1, "b/write.py": 3}), reading.reader)
    reading.asked.clear()
    found = changed_table(previous, made({"b/write.py": 2}), (), reading.reader)
    assert reading.asked == []
    the_same(found, file_table(made({"a/read.py": 1, "b/write.py": 2}), reading.reader))


@pytest.mark.parametrize("embedder", [STATIC, HASHING])
@given(entries=rows)
def test_a_repositorys_reader_of_paths_makes_vectors_where_the_ranker_reads_them(embedder, entries):
    """The embedder the ranker was fitted on gives each path a vector of its own; with another there are none."""
    read = path_reader(embedder)
    files = changed_table(file_table([], read), made(entries), (), read)
    assert files.vectors.shape == (len(entries), STATIC.dim if embedder is STATIC else 0)
    assert files.scales.shape == (len(entries),)
    the_same(files, file_table(made(entries), read))


@given(entries=rows)
def test_a_saved_table_has_its_vectors(tmp_path_factory, entries):
    """What is written is what is read back by the same embedder's name."""
    files = file_table(made(entries), Reading().reader)
    path = tmp_path_factory.getbasetemp() / "vectors"
    save_files(path, files, HASHING.name)
    the_same(load_files(path, HASHING.name), files)


@pytest.mark.parametrize(("own", "asked"), [("one", "two"), ("", "two"), ("one", "")])
def test_another_embedders_table_is_refused(tmp_path, own, asked):
    """Vectors of two embedders cannot be compared; the message says what becomes of the file."""
    save_files(tmp_path / "files", file_table(made({"a.py": 1}), Reading().reader), own)
    with pytest.raises(StoreCorruptError, match="made again when asked next"):
        load_files(tmp_path / "files", asked)


# -- through the engine --------------------------------------------------------------------------------------------------


def tables():
    return sorted(Path(os.environ["VADE_HOME"]).rglob("files-*.safetensors"))


def answers(codebase, **options):
    return [codebase.search(question, **options) for question in QUESTIONS]


def table_of(codebase):
    """The files of the worktree's snapshot, as searches see them."""
    ((repo, _),) = codebase._repositories
    _, view = repo.catalogue.load("worktree", repo.root.path)
    return view.files


def test_a_lost_table_comes_back_with_the_same_vectors(repo, engine):
    """Without the file, and with a damaged one, searches answer as before: from the database, with or without a refresh."""
    made_here = repo()
    first = engine(made_here, embedder=STATIC).codebase
    before, files = answers(first), table_of(first)
    assert files.vectors.any(axis=1).all()
    for refresh in (False, True):
        for damage in (Path.unlink, lambda path: path.write_bytes(b"no table")):
            for path in tables():
                damage(path)
            again = engine(made_here, embedder=STATIC).codebase
            answers(again, refresh=refresh)  # of which the first one tells what was damaged
            assert answers(again, refresh=refresh) == before
            the_same(table_of(again), files)


def test_a_table_of_another_embedder_is_made_again(repo, engine):
    """Turning from one embedder to another and back answers as an index of its own does."""
    made_here = repo()
    own = {embedder.name: answers(engine(made_here, embedder=embedder, home=made_here.path.parent / embedder.name).codebase) for embedder in (STATIC, HASHING)}  # fmt: skip
    for embedder in (HASHING, STATIC, HASHING, STATIC):
        codebase = engine(made_here, embedder=embedder).codebase
        codebase.index()
        assert answers(codebase) == own[embedder.name]
        assert table_of(codebase).vectors.shape[1] == (STATIC.dim if embedder is STATIC else 0)


def test_a_changed_file_keeps_the_vectors_of_paths(repo, engine):
    """After edits, a rename and an addition the vectors are those of an index made anew."""
    made_here = repo()
    codebase = engine(made_here, embedder=STATIC).codebase
    codebase.index()
    made_here.write("src/budget.py", made_here.read("src/budget.py").replace("share", "part"))
    made_here.write("src/net/pause.py", made_here.read("src/net/retry.py"))
    (made_here.path / "src/net/retry.py").unlink()
    codebase.index()
    fresh = engine(made_here, embedder=STATIC, home=made_here.path.parent / "fresh").codebase
    assert answers(codebase) == answers(fresh)
    one, other = table_of(codebase), table_of(fresh)
    assert one.paths == other.paths
    np.testing.assert_array_equal(one.vectors, other.vectors)
    np.testing.assert_array_equal(one.scales, other.scales)
