"""A budget is never exceeded, whatever is offered and whoever counts, and nothing that fits is left out."""

from __future__ import annotations

import json
import zlib
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from vademecum.answers.document import Heading, alone, markdown
from vademecum.answers.pack import Form, Piece, Section
from vademecum.context.code import Makers, Page, context
from vademecum.errors import UsageError
from vademecum.index.tokenize import PatternCounter
from vademecum.types import Answer, Evidence, Freshness, Verdict


class Counter:
    """Counts by a function; 0 for an empty text, as any counter."""

    name = "test"

    def __init__(self, function):
        self.function = function

    def count(self, text):
        return self.function(text) if text else 0


COUNTERS = {
    "pattern": PatternCounter(),
    "characters": Counter(len),
    "bytes": Counter(lambda text: len(text.encode("utf-8", "surrogatepass"))),
    "words": Counter(lambda text: len(text.split())),
    "nothing": Counter(lambda _: 0),
    "always more than the sum of its parts": Counter(lambda text: len(text) ** 2 // 50),
    "less than the sum of its parts": Counter(lambda text: int(len(text) ** 0.5) + 1),
    "no order at all": Counter(lambda text: zlib.crc32(text.encode("utf-8", "surrogatepass")) % 2_000),
}
TEXT = st.text(alphabet=st.characters(codec="utf-8"), max_size=80)
LINES = st.lists(
    st.sampled_from(["def f(x):", "    return 1", "", "```", "  ````text", "\x1b[31m", "語彙の数"]) | TEXT, max_size=8
)


@st.composite
def pieces(draw, key):
    text = "\n".join(draw(LINES))
    start, path = draw(st.integers(1, 40)), draw(st.sampled_from(["a.py", "b/c.md", "x\ny.py"]))
    end = start + text.count("\n")
    place = Evidence(
        f"r:c:{path}:{key}", "r", "main", "c", path, start, end, text, 1.0, "function",
        draw(st.sampled_from(["python", "text", "markdown"])), freshness=draw(st.sampled_from(list(Freshness))),
    )  # fmt: skip
    form = draw(st.sampled_from(list(Form)))
    place = None if form is Form.LINE and draw(st.booleans()) else place
    return Piece(
        text, tuple(draw(st.lists(TEXT, max_size=2))), form, place, (key,), draw(st.sampled_from([0, end + 1]))
    )


@st.composite
def sections(draw):
    keys = st.sampled_from([f"k{number}" for number in range(12)])
    return [
        Section(name, draw(st.floats(0, 100)), [
            tuple(draw(pieces(key)) for _ in range(draw(st.integers(1, 3))))
            for key in draw(st.lists(keys, max_size=6))
        ])
        for name in draw(st.lists(st.sampled_from(["primary", "related", "graph", "notes"]), unique=True))
    ]  # fmt: skip


FOUND = Answer("", Verdict.LIKELY, 1.0)
HEADINGS = st.builds(
    Heading,
    TEXT,
    st.builds(Answer, TEXT, st.sampled_from(list(Verdict)), st.floats(0, 1), st.just(()), TEXT, st.lists(TEXT, max_size=2).map(tuple)),
    name_repos=st.booleans(),
)  # fmt: skip


def packed(heading, offered, budget, counter, form):
    return Page(heading, budget, counter, form).packed(offered)


@settings(max_examples=30)  # of a page each, by sixteen ways
@given(heading=HEADINGS, offered=sections(), budget=st.integers(1, 400))
def test_the_page_is_never_over_the_budget(heading, offered, budget):
    """In either form, whoever counts."""
    for form, (name, counter) in product(("markdown", "json"), COUNTERS.items()):
        parts, text = packed(heading, offered, budget, counter, form)
        assert counter.count(text) <= budget, (form, name)
        shown = [piece for part in parts for piece in part.pieces]
        keys = [key for piece in shown for key in piece.keys]
        assert len(keys) == len(set(keys)), (form, name)  # nothing twice
        assert not shown or text, (form, name)  # what is said to be shown is in the text
        if form == "json" and text:
            assert sum(len(section["chunks"]) for section in json.loads(text)["sections"]) == len(shown), name


@given(heading=HEADINGS, offered=sections(), budget=st.integers(1, 400))
@example(Heading("", FOUND), [], 1)
def test_what_is_left_out_would_not_fit(heading, offered, budget):
    """Neither its share nor a large neighbour keeps a piece out that there is room for."""
    for counter in (COUNTERS["pattern"], COUNTERS["characters"]):
        parts, text = packed(heading, offered, budget, counter, "markdown")
        if not text:
            assert counter.count(markdown(heading, ())) > budget or not counter.count(markdown(heading, ()))
            continue
        taken = {key for part in parts for piece in part.pieces for key in piece.keys}
        for section, part in zip(offered, parts, strict=True):
            for place, offer in enumerate(section.offers):
                if taken.isdisjoint(offer[-1].keys):
                    before = {key for each in section.offers[:place] for form in each for key in form.keys}
                    at = sum(not before.isdisjoint(shown.keys) for shown in part.pieces)
                    more = replace(part, pieces=(*part.pieces[:at], offer[-1], *part.pieces[at:]))
                    page = markdown(heading, [more if each is part else each for each in parts])
                    least = counter.count(alone(offer[-1], name_repos=heading.name_repos))
                    assert counter.count(page) > budget or least > budget - counter.count(text)


def piece(key, size, form=Form.WHOLE):
    place = Evidence(f"r:c:{key}.py:{key}", "r", "", "c", f"{key}.py", 1, 1, "x" * size, 1.0, "function", "python")
    return Piece("x" * size, (), form, place, (key,))


def names(parts):
    return {part.name: [found.keys[0] for found in part.pieces] for part in parts}


def test_shares_are_kept_and_leftovers_are_handed_on():
    """Sixty, thirty, ten; what a section cannot use goes to the next, and in the end back to the first."""
    many = [(piece(f"p{n}", 60),) for n in range(40)]
    related = [(piece(f"r{n}", 60),) for n in range(40)]
    counter = COUNTERS["characters"]
    full, _ = packed(
        Heading("", FOUND), [Section("primary", 60, many), Section("related", 30, related)], 3000, counter, "markdown"
    )
    counts = {name: len(found) for name, found in names(full).items()}
    assert 1.7 < counts["primary"] / counts["related"] < 2.4
    few, text = packed(
        Heading("", FOUND),
        [Section("primary", 60, many), Section("related", 30, related[:2])],
        3000,
        counter,
        "markdown",
    )
    assert len(names(few)["related"]) == 2
    assert len(names(few)["primary"]) + 2 == sum(counts.values())
    assert counter.count(text) <= 3000


def test_what_is_worth_most_for_its_tokens_is_taken_first():
    """A long piece of some worth gives way to several short ones; the page keeps the order in which they were found."""

    def worth(key, size, share):
        return (replace(piece(key, size), worth=share),)

    offered = [
        worth("long", 220, 0.2),
        worth("b", 40, 0.1),
        worth("c", 40, 0.15),
        worth("d", 40, 0.1),
        worth("e", 40, 0.02),
    ]
    parts, _ = packed(Heading("", FOUND), [Section("primary", 1, offered)], 260, COUNTERS["characters"], "markdown")
    assert names(parts) == {"primary": ["b", "c", "d"]}
    parts, _ = packed(Heading("", FOUND), [Section("primary", 1, offered)], 700, COUNTERS["characters"], "markdown")
    assert names(parts) == {"primary": ["long", "b", "c", "d", "e"]}


def test_what_others_leave_lets_a_larger_piece_in():
    """Sixty per cent have no room for the best piece, all of the budget has: it is not shut out by small ones."""
    best = (replace(piece("best", 200), worth=0.9),)
    small = [(replace(piece(f"s{n}", 20), worth=0.001),) for n in range(9)]
    offered = [Section("primary", 60, [best, *small]), Section("related", 40, [])]
    parts, _ = packed(Heading("", FOUND), offered, 290, COUNTERS["characters"], "markdown")
    assert names(parts)["primary"][0] == "best"


def test_only_so_many_of_a_section_are_shown_in_full_while_others_want_the_room():
    """The rest are named by their signatures, and shown in full where nothing else is left."""
    related = [(piece(f"r{n}", 100), piece(f"r{n}", 20, Form.SIGNATURE)) for n in range(4)]
    many = [(piece(f"p{n}", 100),) for n in range(40)]
    offered = [Section("primary", 60, many), Section("related", 40, related, full=1)]
    parts, _ = packed(Heading("", FOUND), offered, 2000, COUNTERS["characters"], "markdown")
    assert [found.form for found in parts[1].pieces] == ["whole", "signature", "signature", "signature"]


def test_what_does_not_fit_is_passed_over():
    offered = [Section("primary", 1, [(piece("large", 4000),), (piece("small", 40),)])]
    parts, _ = packed(Heading("", FOUND), offered, 200, COUNTERS["characters"], "markdown")
    assert names(parts) == {"primary": ["small"]}


def test_whole_declarations_come_first_then_signatures():
    """A declaration without room is at least pointed at, and never instead of another that fits whole."""
    large = (piece("large", 900), piece("large", 20, Form.SIGNATURE))
    offered = [Section("primary", 1, [large, (piece("small", 100),)])]
    parts, text = packed(Heading("", FOUND), offered, 300, COUNTERS["characters"], "markdown")
    assert [(found.keys[0], found.form) for found in parts[0].pieces] == [("large", "signature"), ("small", "whole")]
    assert "- large.py:1-1 " in text


def test_what_matches_is_pointed_at_before_anything_that_belongs_to_it():
    """Where no declaration fits, its signature does, rather than somebody else's callee."""
    large = (piece("large", 900), piece("large", 20, Form.SIGNATURE))
    offered = [Section("primary", 60, [large]), Section("related", 30, [(piece("callee", 60),)])]
    parts, _ = packed(Heading("", FOUND), offered, 130, COUNTERS["characters"], "markdown")
    assert names(parts) == {"primary": ["large"], "related": []}


def test_a_long_declaration_is_shown_in_part_where_that_is_enough():
    whole, part = piece("f", 1000), piece("f", 100, Form.PART)
    for budget, form in ((500, Form.PART), (20_000, Form.WHOLE)):
        parts, _ = packed(
            Heading("", FOUND), [Section("primary", 1, [(whole, part)])], budget, COUNTERS["characters"], "markdown"
        )
        assert parts[0].pieces[0].form is form


def test_pieces_that_touch_are_joined():
    """Neighbours in a file share one heading and one block, with the blank lines between them."""

    def at(key, start, text, following):
        end = start + text.count("\n")
        return Piece(text, (key,), Form.WHOLE, Evidence(f"r:c:a.py:{key}", "r", "", "c", "a.py", start, end, text, 1.0, "function", "python"), (key,), following)  # fmt: skip

    offered = [
        (at("b", 5, "def b():\n    pass", 9),),
        (at("a", 1, "def a():\n    pass", 5),),
        (at("c", 20, "c = 1", 0),),
    ]
    _, text = packed(Heading("task", FOUND), [Section("primary", 1, offered)], 500, COUNTERS["characters"], "markdown")
    assert text == (
        "likely 1.00 | fresh\n\n### a.py:1-6 (a, b), 20-20 (c)\n```python\ndef a():\n    pass\n\n\ndef b():\n    pass\n⋮\nc = 1\n```\n"
    )


def test_code_cannot_end_its_block():
    """A fence in what is shown is met with a longer one, and what a terminal would obey is made visible."""
    text = "````\nnot code\n\x1b]0;owned\x07"
    place = Evidence("r:c:a.md:k", "r", "", "c", "a.md", 1, 3, text, 1.0, "section", "markdown")
    _, shown = packed(
        Heading("", FOUND),
        [Section("primary", 1, [(Piece(text, (), Form.WHOLE, place, ("k",)),)])],
        500,
        COUNTERS["characters"],
        "markdown",
    )
    assert shown.endswith("`````markdown\n````\nnot code\n␛]0;owned␇\n`````\n")


def test_a_budget_that_holds_no_heading_holds_nothing():
    parts, text = packed(
        Heading("a task", FOUND), [Section("primary", 1, [(piece("p", 1),)])], 3, COUNTERS["characters"], "markdown"
    )
    assert (text, names(parts)) == ("", {"primary": []})


@pytest.mark.parametrize(
    ("task", "budget", "form", "said"),
    [("x", 0, "markdown", "at least 1"), ("x", 9, "html", "markdown, json"), (" \n", 9, "json", "question is empty")],
)
def test_a_wrong_call_is_named(task, budget, form, said):
    makers = Makers(lambda *_: None, lambda *_: (), PatternCounter(), lambda *_: ((), ()), (), Path())
    with pytest.raises(UsageError, match=said):
        context(makers, task, budget, form=form)
