"""Globs and prefixes."""

from __future__ import annotations

import re
from functools import lru_cache

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from vademecum.code.checkout.classify import file_kind
from vademecum.code.chunking.analyse import PathReader
from vademecum.code.search.filters import below, file_mask
from vademecum.code.snapshot.view import FileRow, changed_table, file_rows, file_table, load_files, save_files
from vademecum.matching import glob_pattern
from vademecum.types import Query

PATHS = [
    "a.py",
    "app/[slug]/page.tsx",
    "app/s/page.tsx",
    "src/a.py",
    "src/deep/a.py",
    "src/foox.py",
    "srcs/b.py",
    "lib/src/c.py",
    "x.y/z",
]


def table(paths):
    return file_table(
        [FileRow(path, n + 1, f"{n:040x}", "python", n, n, n) for n, path in enumerate(paths)], PathReader(file_kind)
    )


def chosen(paths=PATHS, **narrowed):
    files = table(paths)
    return {files.paths[i] for i in np.flatnonzero(file_mask(files, Query("", **narrowed)))}


@pytest.mark.parametrize(
    ("glob", "expected"),
    [("*.py", {"a.py", "src/a.py", "src/deep/a.py", "src/foox.py", "srcs/b.py", "lib/src/c.py"}), ("src/*.py", {"src/a.py", "src/deep/a.py", "src/foox.py"}),
     ("src", {"src/a.py", "src/deep/a.py", "src/foox.py", "lib/src/c.py"}), ("src/", {"src/a.py", "src/deep/a.py", "src/foox.py", "lib/src/c.py"}),
     ("./src/a.py", {"src/a.py"}), ("src/**/a.py", {"src/a.py", "src/deep/a.py"}), ("**/a.py", {"a.py", "src/a.py", "src/deep/a.py"}),
     ("src/**/x.py", set()), ("src/a.p?", {"src/a.py"}), ("[as].py", {"a.py", "src/a.py", "src/deep/a.py"}), ("x.y", {"x.y/z"}), ("x?y/z", {"x.y/z"}),
     ("app/[slug]", {"app/[slug]/page.tsx"}), ("app/[slug]/*.tsx", {"app/[slug]/page.tsx"}), (".", set(PATHS)), ("nowhere", set())],
)  # fmt: skip
def test_globs_choose_paths(glob, expected):
    """Globs match like those of `.gitignore`: names at any depth, paths from the root, `**/` any directories or none."""
    assert chosen(exclude=()) == set(PATHS)
    files = table(PATHS)
    assert {files.paths[i] for i in np.flatnonzero(file_mask(files, Query("", paths=(glob,))))} == expected


def test_any_number_of_directories_said_again_and_again_means_the_same(bounded):
    """And takes no longer: what does not match is given up at once."""
    again = re.compile(glob_pattern("**/" * 30 + "x.py"))
    assert again.match("a/b/x.py")
    assert not again.match("a/" * 30 + "y.py")


@pytest.mark.parametrize(
    "glob", ["**/a/" * 12 + "b", "**/*a/" * 12 + "b", "x/" + "**/a*a*/" * 12 + "b", "*a" * 30 + "b"]
)
def test_a_glob_of_many_stars_is_given_up_as_soon(bounded, glob):
    """There are more ways to share a path among its stars than could ever be tried."""
    match = re.compile(glob_pattern(glob)).match
    assert not match("x/" + "a/" * 1000 + "c")
    assert not match("aaa/" * 500 + "a" * 250 + "c")
    assert match(re.sub(r"(\*\*/)|\*", "", glob))


@lru_cache
def is_matched(glob, path):
    """What a glob means, place by place: `**/` any folders or none, a star anything, `?` one character."""
    if glob.startswith("**/"):
        return is_matched(glob[3:], path) or any(
            is_matched(glob, path[n + 1 :]) for n, c in enumerate(path) if c == "/"
        )
    if glob[:1] == "*":
        return any(is_matched(glob[1:], path[n:]) for n in range(len(path) + 1))
    return glob == path if not (glob and path) else glob[0] in {"?", path[0]} and is_matched(glob[1:], path[1:])


parts = st.lists(st.sampled_from(["*", "?", "a", "b", "*a", "b*"]), min_size=1, max_size=3).map(
    lambda pieces: re.sub(r"\*+", "*", "".join(pieces))
)


@given(
    st.lists(st.just("**") | parts, min_size=2, max_size=6),
    st.lists(st.text("ab", min_size=1, max_size=3), min_size=1, max_size=6),
)
def test_a_glob_matches_what_it_would_place_by_place(folders, path):
    """However it is found out."""
    glob, whole = "/".join(folders), "/".join(path)
    assume(re.search(r"[*?]", glob))
    assert bool(re.match(glob_pattern(glob), whole)) == is_matched(glob, whole)


@given(st.text("ab*?[]!/.-\\+(", max_size=12))
def test_no_glob_breaks(glob):
    """Any glob compiles, and excluding is the opposite of choosing."""
    re.compile(glob_pattern(glob))
    files = table(PATHS)
    inside, outside = (file_mask(files, Query("", **{name: (glob,)})) for name in ("paths", "exclude"))
    assert (inside ^ outside).all()


names = st.lists(st.sampled_from(["a", "b", "a0", "a-b", "a.b", "a b", "é"]), min_size=1, max_size=3).map("/".join)


@given(st.lists(names, unique=True, max_size=20), st.lists(names, max_size=3))
def test_below_is_the_path_itself_or_what_lies_in_it(paths, prefixes):
    """A prefix never matches a name that merely begins like it; without prefixes every file passes."""
    files = table(paths)
    expected = [not prefixes or any(path == p or path.startswith(p + "/") for p in prefixes) for path in files.paths]
    assert below(files, prefixes).tolist() == expected


rows = st.dictionaries(names, st.integers(1, 5), max_size=12)


@given(rows, rows, st.data())
def test_a_changed_table_equals_one_made_anew(before, after, data):
    """Replacing, adding and dropping rows gives the arrays that building from scratch gives, postings and all."""

    def made(entries):
        return [FileRow(path, n, f"{n:040x}", "python" if n % 2 else "go", n, n, n) for path, n in entries.items()]

    gone = data.draw(st.sets(st.sampled_from(sorted(before)))) if before else set()
    gone -= set(after)
    found = changed_table(file_table(made(before), PathReader(file_kind)), made(after), gone, PathReader(file_kind))
    fresh = file_table(
        made({path: n for path, n in (before | after).items() if path not in gone}), PathReader(file_kind)
    )
    assert file_rows(found) == file_rows(fresh)
    assert found.kinds.tolist() == fresh.kinds.tolist()
    for name in ("keys", "offsets", "docs", "tf"):
        kept = np.isin(found.postings.keys, fresh.postings.keys)
        assert kept.all() or not len(fresh.postings.keys)
        np.testing.assert_array_equal(getattr(found.postings, name), getattr(fresh.postings, name))


@given(rows)
def test_a_saved_table_is_the_same(tmp_path_factory, entries):
    """What is written is what is read back, also when it is empty."""
    files = table(sorted(entries))
    path = tmp_path_factory.getbasetemp() / "files"
    save_files(path, files)
    assert file_rows(load_files(path)) == file_rows(files)
