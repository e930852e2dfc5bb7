"""What to read for a task: found by text and title, each piece with its place and its reason, the same on every front."""

from __future__ import annotations

import asyncio
import json
import re
from dataclasses import replace

import pytest

from vademecum import AsyncEngine, Verdict
from vademecum.answers.pack import CODE, Form
from vademecum.code.search.evidence import FileChunks
from vademecum.context.primary import POINTED_AT, offers_of, worth_of
from vademecum.errors import GitError, OutsideRootError, UsageError
from vademecum.mcp.registry import TOOLS
from vademecum.types import Evidence


def pieces(found, name="primary"):
    return [piece for part in found.parts if part.name == name for piece in part.pieces]


def test_a_context_shows_whole_declarations_with_place_and_reason(repo, engine):
    found = engine(repo()).context("retry with backoff", 600)
    first = pieces(found)[0]
    assert (first.place.path, first.form, first.place.freshness) == ("src/net/retry.py", "whole", "fresh")
    assert {"words", "name"} & set(first.why)
    assert "### src/net/retry.py:1-10 retry_with_backoff\n" in found.text  # with the import above it, which touches
    assert "            time.sleep(2**attempt)\n" in found.text
    assert found.text.startswith(f"{str(found.verdict).replace('_', ' ')} {found.probability:.2f} | fresh\n")
    assert found.tokens <= 600


def test_what_is_shown_is_what_stands_there(repo, engine):
    """Every shown line is the file's line of that number."""
    handbook = repo()
    found = engine(handbook).context("budget split parse log retry", 4_000)
    assert len(pieces(found)) >= 4
    for piece in pieces(found):
        lines = handbook.read(piece.place.path).split("\n")
        if piece.form in CODE:
            assert piece.text.split("\n") == lines[piece.place.start_line - 1 : piece.place.end_line]


def test_a_line_of_several_pieces_is_shown_as_one_line(repo, engine):
    """Data on one very long line is cut into pieces, and no line is shown that the file does not have."""
    files = {"long.json": '{"cells": "' + "alpha beta gamma " * 400 + '"}', "two.txt": "zebras\n" + "alpha " * 1_000}
    shown = pieces(engine(repo("herd", files)).search("alpha beta", 8_000))
    assert {piece.place.path for piece in shown} == set(files)
    for piece in shown:
        assert piece.text.count("\n") == piece.place.end_line - piece.place.start_line


def test_a_title_finds_what_its_text_drowns(repo, engine):
    """A long report about other things does not hide what the title names."""
    files = {
        f"noise_{n}.py": f"def traceback_{n}(frame, error, log):\n    raise frame, error, log\n" for n in range(30)
    }
    files |= {"core.py": "def shorten_name(name):\n    return name[:8]\n"}
    noise = "frame error log traceback " * 200
    found = engine(repo("app", files)).context(f"shorten name cuts too early\n\n{noise}", 300)
    assert pieces(found)[0].place.path == "core.py"


def test_long_declarations_are_shown_in_part_or_whole_as_the_budget_allows(repo, engine):
    body = "\n".join(f"    step_{n} = prepare(step_{n - 1}, 'word{n}')\n    check(step_{n})" for n in range(1, 80))
    app = engine(repo("app", {"long.py": f"def assemble(step_0):\n{body}\n    return step_79\n"}))
    whole = pieces(app.context("assemble step word40", 40_000))[0]
    assert (whole.form, whole.place.start_line, whole.place.end_line) == ("whole", 1, 160)
    parts = pieces(app.context("assemble step word40", 1_200))
    assert parts[0].form in {Form.PART, Form.LINES}
    assert any("word40" in piece.text for piece in parts)


@pytest.mark.parametrize("frame", ["/srv/till.go:{0} +0x4c", "in /srv/till.go:line {0}", "/srv/till.go on line {0}"])
def test_of_a_long_function_the_line_of_a_trace_is_shown(repo, engine, frame):
    """Also where other lines of it have more of the words."""
    body = "\trefused(voucher)\n" * 30 + "\tcount++\n" * 30
    files = {"till.go": f"package shop\n\nfunc checkOut(voucher int) int {{\n{body}\treturn 0\n}}\n"}
    app = engine(repo("app", files))
    for line in (20, 55):
        found = app.search(f"checkOut panics: refused voucher\n\ngoroutine 1:\n\t{frame.format(line)}", 400, lines=12)
        (shown,) = [p.place for p in pieces(found) if p.place.start_line <= line <= p.place.end_line]
        assert f"{shown.start_line}-{shown.end_line} of 3-65 checkOut" in found.text.split("```")[0]


def test_a_budget_is_a_ceiling_and_no_quota(repo, engine):
    """What is hardly expected to answer is named, and not shown because there is room."""
    files = {f"src/{n}.py": f"def read_{n}(page):\n    '''Read page {n}.'''\n    return page\n" for n in range(60)}
    files["src/press.py"] = "def print_invoice(invoice):\n    '''Print the invoice on a page.'''\n    return invoice\n"
    app = engine(repo("app", files), embedder="static")
    for found in (app.context("print the invoice on a page", 8_000), app.search("print the invoice on a page", 4_000)):
        shown = [piece for piece in pieces(found) if piece.form in CODE]
        named = [piece for piece in pieces(found) if piece.form is Form.SIGNATURE]
        assert shown[0].place.path == "src/press.py"
        assert len(shown) < 10
        assert 10 < len(named) <= 20
    limited = app.search("print the invoice on a page", most=40, lines=5)  # so many were asked for
    assert sum(piece.form in CODE for piece in pieces(limited)) == 40


def test_what_is_hardly_an_answer_names_three_places_and_shows_no_code(repo, engine):
    """Unless a size is asked for: results, lines or a budget."""
    files = {
        f"src/{n}.py": f"def shelve_{n}(book):\n    '''Put a book on shelf {n} of the library.'''\n" for n in range(6)
    }
    files["src/press.py"] = "def print_invoice(invoice):\n    '''Print the invoice on a page.'''\n    return invoice\n"
    app, question = engine(repo("app", files), embedder="static"), "print a page of the catalogue for readers"
    found = app.search(question)
    assert found.verdict is Verdict.AMBIGUOUS
    assert "hardly an answer" in found.text
    assert [piece.form for piece in pieces(found)] == [Form.SIGNATURE] * 3
    assert pieces(found)[0].place.path == "src/press.py"
    assert pieces(app.search(question, most=2))[0].form in CODE
    assert pieces(app.search(question, 300))[0].form in CODE
    sure = app.search("print the invoice on a page")
    assert pieces(sure)[0].form in CODE


STAMPED = "    post.stamp_{0}(parcel.sender, parcel.weight, parcel.country_of_destination)\n"


@pytest.mark.parametrize("budget", [60, 100, 150, 300, 500])
def test_what_the_verdict_is_about_stands_first(repo, engine, budget):
    """In a small budget by its best lines or its place, and not behind a shorter piece that answers less."""
    body = (
        "".join(STAMPED.format(n) for n in range(6))
        + "    raise UnpaidParcel('customs duty of the parcel is unpaid')\n"
    )
    files = {"src/duty.py": f"def hold_at_customs(parcel, post):\n{body}" + "".join(map(STAMPED.format, range(6, 12)))}
    files |= {f"src/{n}.py": f"def parcel_{n}(parcel):\n    return parcel.duty + {n}\n" for n in range(9)}
    app = engine(repo("app", files), embedder="static")
    for found in (
        app.context("customs duty of the parcel is unpaid", budget),
        app.search("customs duty of the parcel is unpaid", budget),
    ):
        assert found.verdict is Verdict.RESOLVED
        first = found.text.split("\n\n", 1)[1].split("\n")[0]
        assert re.match(r"(?:#+ |- )?src/duty.py:", first)
        assert budget < 150 or "is unpaid" in found.text
        assert found.tokens <= budget


def test_the_same_text_is_shown_once(repo, engine):
    """Copies of a file are named beside the one that is shown."""
    text = "ALTER TABLE parcels\nADD COLUMN hide_sender BOOLEAN;\n"
    files = {f"migrations/{name}/up.sql": text for name in ("mysql", "postgresql", "sqlite")}
    found = engine(repo("post", files)).context("hide sender column of parcels", 800)
    assert sorted(str(piece.form) for piece in pieces(found)) == ["signature", "signature", "whole"]
    assert found.text.count("ADD COLUMN") == 1
    assert {piece.place.path for piece in pieces(found)} == set(files)


def test_nothing_found_says_so(repo, engine):
    found = engine(repo()).context("xylophone quantum marmalade", 500)
    assert not found
    assert found.verdict is Verdict.NOT_FOUND
    assert found.text.splitlines() == [f"not found {found.probability:.2f}", found.reason]


def test_an_edited_file_is_shown_as_it_is_now(repo, engine):
    handbook = repo()
    opened = engine(handbook)
    opened.context("retry with backoff", 500)
    handbook.write("src/net/retry.py", "def retry_with_backoff(call):\n    return call() or call()\n")
    assert "return call() or call()" in opened.context("retry with backoff", 500).text


def test_json_holds_the_same_within_the_same_budget(repo, engine):
    opened = engine(repo())
    for budget in (150, 400, 2_000):
        found = opened.context("token budget split", budget, form="json")
        assert found.tokens <= budget
        said = json.loads(found.text)
        shown = next((section["chunks"] for section in said["sections"] if section["name"] == "primary"), [])
        assert [piece["id"] for piece in shown] == [piece.place.id for piece in pieces(found)]
        assert (said["budget"], said["counter"]) == (budget, found.counter)
    assert "def split(self, share: float) -> int:" in "".join(piece["text"] for piece in shown)
    assert {"why", "path", "start_line", "end_line", "freshness", "form"} <= set(shown[0])


def test_several_repositories_are_named(repo, engine):
    both = engine(
        repo("one", {"a.py": "def split_budget():\n    pass\n"}),
        repo("two", {"a.py": "def split_budget(x):\n    pass\n"}),
    )
    text = both.context("split budget", 500).text
    assert "### one:a.py:1-2" in text
    assert "### two:a.py:1-2" in text


def test_the_lines_of_the_graph_name_repositories_too(repo, engine):
    """Two files of one path are told apart in every part of a context."""
    text = "def split_budget(x):\n    return x\n\n\ndef plan(x):\n    return split_budget(x)\n"
    both = engine(repo("one", {"a.py": text}), repo("two", {"a.py": text.replace("plan", "plot")}))
    assert "- plan (one:a.py:5) calls split_budget" in both.context("split budget", 500).text


def test_shares_are_settings(repo, engine):
    with pytest.raises(UsageError):
        engine(repo(), context__primary=-1.0)
    assert engine(repo("other"), context__primary=0.0, context__related=0.0, context__graph=0.0).context("split", 500)


def test_a_budget_is_a_setting_and_an_argument(repo, engine):
    opened = engine(repo(), context__budget=200)
    assert opened.context("token budget").budget == 200
    assert opened.context("token budget", 300).budget == 300


def test_the_loop_awaits_it(repo):
    async def ask():
        async with await AsyncEngine.open(str(repo().path)) as engine:
            return await engine.context("token budget", 500, session="a")

    assert asyncio.run(ask()).tokens <= 500


def test_the_tool_gives_the_text_and_says_what_is_in_it(repo, engine):
    opened = engine(repo())
    outcome = TOOLS["context"].call(opened, {"task": "retry with backoff", "budget": 400, "session": "mcp"})
    assert "### src/net/retry.py:1-10" in outcome.text
    shown = [piece for section in outcome.data["sections"] for piece in section["chunks"]]
    assert shown[0]["path"] == "src/net/retry.py"
    assert all(piece["text"] in outcome.text for piece in shown if piece["form"] != "signature")
    assert outcome.data["tokens"] <= 400
    again = TOOLS["context"].call(opened, {"task": "retry with backoff", "budget": 400, "session": "mcp"})
    assert again.data["shown_before"] > 0
    assert "### src/net/retry.py" not in again.text


LINKED = {
    "pay.py": "from sums import add_up\n\n\ndef settle_invoice(lines):\n    return add_up(lines)\n",
    "sums.py": "def add_up(numbers):\n    return sum(numbers)\n",
    "tests/test_all.py": "from pay import settle_invoice\n\n\ndef test_nothing_owed():\n    assert settle_invoice([]) == 0\n",
    **{f"noise/n{n}.py": f"def settle_{n}(invoice):\n    return 'settle invoice', invoice\n" for n in range(60)},
}


def test_what_belongs_to_it_is_shown_with_its_role(repo, engine):
    """The callee of what matches, and its test, although neither the budget's other two thirds nor the words hold them."""
    found = engine(repo("app", LINKED)).context("settle_invoice", 700)
    related = {(piece.place.path, piece.why) for piece in pieces(found, "related")}
    assert ("sums.py", ("callee",)) in related
    assert ("tests/test_all.py", ("test",)) in related
    assert "### sums.py:1-2 add_up (callee)\n" in found.text
    assert "- settle_invoice (pay.py:4) calls add_up" in found.text
    assert found.tokens <= 700


def test_changelogs_and_posts_are_shown_to_those_who_ask_for_them(repo, engine):
    """They match the words of most tasks, and no task is done in them."""
    files = LINKED | {
        "CHANGELOG.md": "# Changes\n\n- settle_invoice rounds each invoice up\n",
        "website/blog/2020-may.md": "# May\n\nWe now settle_invoice in the blog of May.\n",
    }
    opened = engine(repo("app", files))
    told = {"CHANGELOG.md", "website/blog/2020-may.md"}
    assert not told & shown(opened.context("settle_invoice rounds each invoice wrongly", 4_000))
    assert told & shown(opened.context("what does the changelog say of settle_invoice", 4_000))


def test_notes_about_what_is_shown_are_one_more_section(repo, engine):
    """Whoever knows more about a piece adds a section with a share of its own, under the same budget."""
    from dataclasses import replace

    from vademecum.answers.pack import ANYWHERE, Piece, Section
    from vademecum.context.code import context

    opened = engine(repo("app", LINKED))
    opened.codebase.index()

    def notes(evidence):
        assert evidence[0].path == "pay.py"
        note = Piece("invoices are settled by line since May", ("decision", "2024-05-02"), Form.LINE, None, ("note:1",))
        return [Section("notes", 10, [(note,)])]

    makers = replace(opened._makers(ANYWHERE, None), sources=(notes,))
    found = context(makers, "settle_invoice", 500)
    assert "## notes\n- invoices are settled by line since May (decision, 2024-05-02)\n" in found.text
    assert found.tokens <= 500


def shown(found):
    return {piece.place.path for part in found.parts for piece in part.pieces if piece.place}


def test_what_matches_lies_where_it_is_looked_for_and_what_belongs_to_it_anywhere(repo, engine):
    """A directory to open or a glob to match narrows the search; callers and tests elsewhere still belong to what is found."""
    files = {f"app/{path}" if path.startswith("pay") else path: text for path, text in LINKED.items()}
    files["tests/test_all.py"] = files["tests/test_all.py"].replace("from pay", "from app.pay")
    made = repo("app", files)
    assert "noise/n1.py" in shown(engine(made).context("settle invoice", 4_000))
    for found in (
        engine(made.path / "app").context("settle invoice", 4_000),
        engine(made).context("settle invoice", 4_000, paths=["app"]),
        engine(made).context("settle invoice", 4_000, paths=["app/*.py"]),
    ):
        assert {piece.place.path for piece in pieces(found)} == {"app/pay.py"}
        assert {"sums.py", "tests/test_all.py"} <= {piece.place.path for piece in pieces(found, "related")}


def test_nothing_is_shown_of_what_is_excluded(repo, engine):
    found = engine(repo("app", LINKED)).context("settle_invoice", 4_000, exclude=["noise/**", "tests"])
    assert shown(found) == {"pay.py", "sums.py"}
    assert "test_" not in found.text


def test_a_commit_is_shown_as_it_was(repo, engine):
    """Code, neighbours and their lines are those of the commit, whatever is on disk now, and nothing of today is beside them."""
    made = repo("app", LINKED)
    then = made.git("rev-parse", "HEAD").strip()
    made.write("sums.py", "def add_together(numbers):\n    return 0\n")
    made.write(
        "pay.py", "from sums import add_together\n\n\ndef settle_invoice(lines):\n    return add_together(lines)\n"
    )
    made.commit("other sums")
    opened = engine(made)
    opened.codebase.index()
    opened.memory.record("We decided that `settle_invoice` rounds up because auditors asked for it.", role="user")
    now = opened.context("settle_invoice", 4_000)
    was = opened.context("settle_invoice", 900, commit=then[:8])
    assert "add_together" in now.text
    assert "add_together" not in was.text
    assert ("sums.py", ("callee",)) in {(piece.place.path, piece.why) for piece in pieces(was, "related")}
    assert "- settle_invoice (pay.py:4) calls add_up" in was.text
    assert {piece.place.commit for part in was.parts for piece in part.pieces if piece.place} == {then}
    assert "rounds up" in now.text
    assert "rounds up" not in was.text
    assert was.tokens <= 900


def test_a_commit_that_is_not_there_is_said(repo, engine):
    with pytest.raises(GitError, match="nowhere"):
        engine(repo("app", LINKED)).context("settle_invoice", commit="nowhere")


def test_the_tool_is_narrowed_as_search_is(repo, engine):
    opened = engine(repo("app", LINKED))
    outcome = TOOLS["context"].call(opened, {"task": "settle invoice", "path": "noise/*"})
    [matched] = [section for section in outcome.data["sections"] if section["name"] == "primary"]
    assert {piece["path"].partition("/")[0] for piece in matched["chunks"]} == {"noise"}
    with pytest.raises(OutsideRootError):
        TOOLS["context"].call(opened, {"task": "settle invoice", "path": "../elsewhere"})


def found_in(path, ordinal, **signals):
    return Evidence(f"r:c:{path}:{ordinal}", "r", "", "c", path, 1, 2, "x", 1.0, "function", "python", signals=signals)


def test_the_best_piece_of_a_file_is_worth_more_than_its_lines():
    """It points at the file; where a reranker moved pieces, worth goes by place."""
    found = [
        found_in("a.py", 1, worth=0.3, file=0.4),
        found_in("a.py", 2, worth=0.1, file=0.4),
        found_in("b.py", 3, worth=0.2, file=0.2),
    ]
    worth = worth_of(found)
    assert worth["r:a.py:1"] - POINTED_AT * 0.4 == pytest.approx(0.3)
    assert (worth["r:a.py:2"], worth["r:b.py:3"] - POINTED_AT * 0.2) == pytest.approx((0.1, 0.2))
    moved = [replace(each, signals={**each.signals, "file": 0.0, "rerank": 1.0}) for each in reversed(found)]
    assert list(worth_of(moved).values()) == pytest.approx([0.3, 0.2, 0.1])
    assert set(worth_of([found_in("a.py", 1)]).values()) == {0.0}


LINES = 8  # of each piece below


def piece_of(number, *, part=1, parts=1, worth=0.0):
    start = number * 10 + 1
    signals = {"worth": worth, "lexical": 1.0} if worth else {}
    text = "\n".join(f"line {line}" for line in range(start, start + LINES))
    return Evidence(
        f"r:c:a.py:{number}", "r", "", "c", "a.py", start, start + LINES - 1, text, 1.0, "function", "python",
        (f"f{number}",), f"def f{number}()", signals=signals, metadata={"part": part, "parts": parts},
    )  # fmt: skip


def fullest(offers):
    return [(str(forms[0].form), forms[0].place.start_line, forms[0].place.end_line) for forms in offers]


def test_what_matches_near_each_other_is_one_passage():
    """With what lies between, worth the sum, and every line where it stands; what is far away stands by itself."""
    file = [piece_of(number) for number in range(30)]
    found = [piece_of(2, worth=0.3), piece_of(20, worth=0.2), piece_of(4, worth=0.1)]
    offers = offers_of("", found, lambda path, repo: FileChunks.of(file), 8_000)
    assert fullest(offers) == [("passage", 21, 48), ("whole", 201, 208)]
    shown = offers[0][0]
    assert shown.keys == ("r:a.py:2", "r:a.py:3", "r:a.py:4")
    assert shown.text.split("\n") == [f"line {n}" if (n - 1) % 10 < LINES else "" for n in range(21, 49)]
    assert shown.worth == pytest.approx(0.4)
    assert (offers[0][-1].form, offers[0][-1].text) == ("signature", "def f2()")


def test_a_passage_is_as_long_as_the_budget_allows():
    """A small budget has no room for one that takes most of it."""
    file = [piece_of(number) for number in range(9)]
    found = [piece_of(2, worth=0.3), piece_of(4, worth=0.1)]
    for budget, count in ((8_000, 1), (1_000, 2)):
        assert len(offers_of("", found, lambda path, repo: FileChunks.of(file), budget)) == count


@pytest.mark.parametrize("lines", [3, 8, 9])
def test_a_limit_of_lines_shows_lines_of_the_best_piece(lines):
    """A passage of several pieces that is over the limit gives way to the best of them, not to a place alone."""
    file = [piece_of(number) for number in range(9)]
    found = [piece_of(2, worth=0.3), piece_of(4, worth=0.1)]
    [offer] = offers_of("line 21", found, lambda path, repo: FileChunks.of(file), 8_000, lines=lines)
    assert (offer[0].form, offer[0].place.start_line) == (Form.LINES, 21)
    assert len(offer[0].text.split("\n")) == min(lines, LINES)


def test_no_passage_reaches_across_what_was_shown():
    """The session has it; what lies on either side of it is still offered."""
    file = [piece_of(number) for number in range(9)]
    found = [piece_of(number, worth=0.2) for number in (2, 3, 4, 5)]
    offers = offers_of("", found, lambda path, repo: FileChunks.of(file), 8_000, seen=frozenset({"r:a.py:3"}))
    assert sorted(fullest(offers)) == [("passage", 41, 58), ("whole", 21, 28), ("whole", 31, 38)]


def test_a_declaration_is_shown_whole_where_no_other_passage_shows_half_of_it():
    """What matches in its first part brings the others; not where the last one belongs to another passage."""
    file = [piece_of(0), *(piece_of(n, part=n, parts=9) for n in range(1, 10)), piece_of(10)]
    offers = offers_of("", [piece_of(1, worth=0.3)], lambda path, repo: FileChunks.of(file), 8_000)
    assert [(str(form.form), form.place.start_line) for form in offers[0]] == [
        ("whole", 11),
        ("part", 11),
        ("signature", 11),
    ]
    found = [piece_of(1, worth=0.3), piece_of(9, worth=0.1), piece_of(10, worth=0.1)]
    first, second = offers_of("", found, lambda path, repo: FileChunks.of(file), 3_000)
    assert [(str(form.form), form.place.start_line, form.place.end_line) for form in (*first[:-1], *second[:-1])] == [
        ("part", 11, 18),
        ("passage", 11, 108),
        ("passage", 91, 108),
    ]


def test_lines_that_cost_more_than_they_are_worth_are_named():
    """A line costs a three-thousandth of all that is asked for; the best five passages are shown all the same."""
    lines = {f"best{n}.py": 40 for n in range(5)} | {"short.py": 20, "long.py": 48}
    worths = dict.fromkeys(lines, 0.1) | {"short.py": 0.012, "long.py": 0.012}
    found = [
        replace(
            piece_of(n, worth=worths[path]),
            path=path,
            id=f"r:c:{path}:{n}",
            end_line=10 * n + size,
            snippet=f"{path}\n" * size,
        )
        for n, (path, size) in enumerate(lines.items(), 1)
    ]
    files = {item.path: FileChunks.of([item]) for item in found}
    offers = offers_of("", found, lambda path, repo: files[path], 8_000)
    full = {offer[0].place.path for offer in offers if offer[0].text.count("\n") > 5}
    assert full == {*lines} - {"long.py"}


def test_of_further_files_few_lines_are_shown():
    """As many as the budget has room for, each by its best lines; further pieces of a file that is shown are named."""
    worths = {f"best{n}.py": 0.15 for n in range(5)} | {f"{n}.py": 0.005 for n in range(9)} | {"nothing.py": 0.0005}
    found = [
        replace(piece_of(n, worth=own), path=path, id=f"r:c:{path}:{n}", snippet=f"{path}\n" * 30 + "the scale\n" * 10)
        for n, (path, own) in enumerate(worths.items())
    ]
    found.append(replace(piece_of(90, worth=0.004), path="best0.py", id="r:c:best0.py:90"))
    files = {path: FileChunks.of([item for item in found if item.path == path]) for path in worths}
    for budget, further in ((8_000, 9), (6_000, 5), (4_000, 0), (750, 0)):
        forms = [offer[0] for offer in offers_of("the scale", found, lambda path, repo: files[path], budget)]
        shown, few, named = forms[:5], forms[5 : 5 + further], forms[5 + further :]
        assert {piece.place.path for piece in shown} == {f"best{n}.py" for n in range(5)}
        assert {piece.text for piece in few} <= {"\n".join(["the scale"] * 4)}
        assert {piece.form for piece in named} == {Form.SIGNATURE}
        assert len(named) == 11 - further


@pytest.mark.parametrize("form", ["markdown", "json"])
def test_what_no_budget_of_this_size_can_show_is_said_with_the_one_that_can(repo, engine, form):
    """A path of 2,000 characters takes more than a small budget; a second result is shown beside the word about it."""
    deep = "/".join(f"folder{n:03}" for n in range(200)) + "/m.py"
    app = engine(repo("app", {deep: "def frobnicate(x):\n    return x + 1\n"}))
    found = app.context("frobnicate", 200, form=form)
    assert not pieces(found)
    [needed] = re.findall(
        r"1 result alone would take more than 200 tokens: give a budget of (\d+) to see it", found.text
    )
    assert found.tokens <= 200
    assert pieces(app.context("frobnicate", int(needed), form=form))[0].place.path == deep
    assert app.search("frobnicate", 60).answer.reason.startswith("1 result alone would take more than 60 tokens")
    other = engine(
        repo("two", {deep: "def frobnicate(x):\n    return x\n", "a.py": "def frobnicate(y):\n    return y\n"})
    )
    both = other.search("frobnicate", 100)
    assert [piece.place.path for piece in pieces(both)] == ["a.py"]
    assert "1 result alone would take more than 100 tokens" in both.text
    assert not app.search("frobnicate", int(needed)).answer.reason
