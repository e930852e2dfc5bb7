"""What is compared with: BM25 is the formula, and the index of words finds what grep would."""

from __future__ import annotations

import math
from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from vademecum.bench.systems import LISTED, Bm25, Grep, keywords_of, tokens_of

LINES = st.lists(st.text("abAB_é1 .(", max_size=12), min_size=1, max_size=8)
FILES = st.dictionaries(st.sampled_from(["a.py", "b/c.py", "d.md"]), LINES.map("\n".join), min_size=1)


@given(FILES, st.sampled_from(["a", "ab", "b_", "é", "a1"]))
def test_the_index_of_words_finds_what_grep_would(files, word):
    """The lines with a word are those in which it stands anywhere, whatever its case."""
    found = {(path, line) for path, matches in Grep(files.items()).ranked(word) for line, _ in matches}
    scanned = {
        (path, number)
        for path, text in files.items()
        for number, line in enumerate(text.split("\n"), 1)
        if word in line.lower()
    }
    assert found == (scanned if keywords_of(word) == [word] else found)


@given(FILES, st.lists(st.sampled_from(["ab", "ba", "aa", "bb", "b1"]), min_size=1, max_size=3).map(" ".join))
def test_windows_cover_every_match_once(files, question):
    """Reading on and on one comes by every match, no line of a file twice before all is read, inside the files."""
    grep = Grep(files.items())
    hits = grep.search(question, 1000)
    for path, matches in grep.ranked(question):
        own = [hit for hit in hits if hit.path == path]
        assert all(1 <= hit.start <= hit.end <= max(1, files[path].count("\n") + 1) for hit in own)
        assert all(any(hit.start <= line <= hit.end for hit in own) for line, _ in matches)
    assert grep.search(question, 1) == hits[:1]


def test_files_with_more_words_come_first_and_definitions_before_uses():
    """Distinct words rank files; of one word, the file that defines it."""
    files = {
        "uses.py": "parse(1)\nparse(2)\nparse(3)\n",
        "defines.py": "\n" * 60 + "def parse(line):\n    return line\n",
        "both.py": "parse\n" + "\n" * 50 + "header\n",
    }
    grep = Grep(files.items())
    assert [path for path, _ in grep.ranked("parse")] == ["defines.py", "uses.py", "both.py"]
    assert grep.search("parse", 1)[0].start == 41
    assert next(path for path, _ in grep.ranked("where is the header parsed or parse")) == "both.py"


def test_the_list_is_cut():
    """Nobody reads a list of thousands of matches."""
    files = {f"f{n}.py": "needle = 1\n" * 50 for n in range(200)}
    listing = Grep(files.items()).listing("needle")
    assert listing.count("\n") == LISTED
    assert listing.startswith("f0.py:1:needle = 1\n")


def test_bm25_is_the_formula():
    """One score, worked out by hand as the textbook has it; windows without a word of the question are not returned."""
    files = [("a.py", "cut chunk cut\n"), ("b.py", "cut\n" + "line\n" * 39 + "chunk\n"), ("c.py", "other\n")]
    index = Bm25(files)
    assert [(hit.path, hit.start, hit.end) for hit in index.windows] == [
        ("a.py", 1, 1), ("b.py", 1, 40), ("b.py", 41, 41), ("c.py", 1, 1)
    ]  # fmt: skip
    bags = [
        Counter(tokens_of(f"{h.path} " + "\n".join(dict(files)[h.path].split("\n")[h.start - 1 : h.end])))
        for h in index.windows
    ]
    mean = sum(map(Counter.total, bags)) / 4

    def score(bag):
        total = 0.0
        for word in ("cut", "chunk"):
            holding = sum(1 for each in bags if each[word])
            norm = 1.2 * (0.25 + 0.75 * bag.total() / mean)
            total += math.log(1 + (4 - holding + 0.5) / (holding + 0.5)) * bag[word] * 2.2 / (bag[word] + norm)
        return total

    order = sorted((n for n in range(4) if score(bags[n])), key=lambda n: -score(bags[n]))
    assert index.search("cut chunk", 10) == [index.windows[n] for n in order]
    assert Bm25([]).search("cut", 10) == Grep([]).search("cut", 10) == []
    assert Bm25([("empty.py", "")]).search("cut", 10) == Grep([("empty.py", "")]).search("cut", 10) == []
