"""The page's views, on a real repository, served by the real server, in a real browser."""

from __future__ import annotations

import json
import re
import urllib.request
from typing import Any

import pytest

from chromium import Page
from served import BUTTONS, CALLS, FOCUS, LINKS, MANY, READY, ROWS, TEXT, TOOLS, VIEWS, Served, serious, show

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("name", VIEWS)
def test_a_view_is_accessible_and_asks_nobody_else(browser: Page, served: Served, name: str, dark: bool) -> None:
    """Axe finds nothing serious in any view, by day and by night; every request goes to the server; no complaint."""
    show(browser, served, VIEWS[name], dark=dark)
    assert serious(browser) == []
    assert {url for url in browser.requests() if not url.startswith(served.url)} == set()
    assert browser.complaints() == [], served.said()
    paper = browser.js("getComputedStyle(document.body).backgroundColor")
    assert (sum(map(int, re.findall(r"\d+", paper)[:3])) < 150) == dark


@pytest.mark.parametrize("name", VIEWS)
def test_a_view_fits_a_phone(browser: Page, served: Served, name: str) -> None:
    """At 380 pixels nothing has to be moved sideways to be read, and the views are at hand."""
    show(browser, served, VIEWS[name], width=380, height=760)
    assert browser.js("document.documentElement.scrollWidth") <= 380
    assert browser.js("innerWidth") == 380, "something is wider than the screen, and the phone zoomed out"
    cut = "[...document.querySelectorAll('.segments, .tabs')].filter(e => e.scrollWidth > e.clientWidth).map(e => e.innerText)"
    assert browser.js(cut) == [], "all that can be chosen is to be seen"
    assert browser.js(
        "[...document.querySelectorAll('.rail nav a')].every(a => a.getBoundingClientRect().right <= 380)"
    )


def test_a_long_name_stays_clear_of_the_button_for_the_theme(browser: Page, served: Served) -> None:
    """On a phone the button stands beside the head of a view, and hides no word of it."""
    show(browser, served, "#/graph?symbol=retry_with_backoff", width=380, height=760)
    hidden = """[...document.querySelectorAll('.view-head > *')].filter(each => {
        const words = document.createRange(), button = document.querySelector('.rail-foot').getBoundingClientRect();
        words.selectNodeContents(each);
        return [...words.getClientRects()].some(box => box.right > button.left && box.top < button.bottom && box.bottom > button.top);
    }).map(each => each.innerText)"""
    assert browser.js(hidden) == []


@pytest.mark.parametrize("width", [380, 1280])
def test_no_name_in_a_drawing_is_cut(browser: Page, served: Served, width: int) -> None:
    """A name that the frame would cut is left out until there is room, also when one comes closer."""
    show(browser, served, VIEWS["overview"], width=width, height=760)
    for _ in range(3):
        browser.js("document.querySelector('.zoom button').click()")
        cut = """[...document.querySelectorAll('.drawing .node:not(.unnamed) text')].filter(each => {
            const box = each.getBoundingClientRect(), frame = each.ownerSVGElement.getBoundingClientRect();
            return box.left < frame.left - 12 || box.right > frame.right + 12;
        }).map(each => each.textContent)"""
        assert browser.js(cut) == []


def test_search_shows_evidence(browser: Page, served: Served) -> None:
    """The verdict with its probability, places, numbered and coloured lines, and on demand why a result is where it is."""
    show(browser, served, VIEWS["search"])
    said = browser.js(TEXT)
    assert re.search(r"(Resolved|Likely)\s+0\.\d\d", said)
    assert "src/budget.py:" in browser.js("document.querySelector('.card .place').textContent")
    assert browser.js("document.querySelectorAll('.card .t-keyword').length") > 3
    assert browser.js("[...document.querySelectorAll('mark')].some(each => each.textContent === 'budget')")
    browser.js("document.querySelector('.card').focus()")
    browser.press("w")
    assert "words in common" in browser.js("document.querySelector('.why').innerText")
    assert browser.js("document.querySelectorAll('.why .bar-fill').length") >= 3


def test_a_heading_names_exactly_the_lines_below_it(browser: Page, served: Served) -> None:
    """Of what is shown at once, and of places alone as soon as their lines are asked for; where nothing is left out, no more is offered."""
    show(browser, served, VIEWS["search"])
    told = """[...document.querySelectorAll('.card')].map(card => [
        card.querySelector('.card-place .lines').textContent.match(/\\d+/g).map(Number),
        [...card.querySelectorAll('.card-code .number')].map(each => Number(each.dataset.n)),
    ])"""
    cards = browser.js(told)
    assert any(shown for _, shown in cards)
    assert all(shown in ([], list(range(named[0], named[-1] + 1))) for named, shown in cards)
    places = "[...document.querySelectorAll('.places .card')]"
    assert browser.js(f"{places}.length") == sum(not shown for _, shown in cards) > 0
    browser.js(f"{places}.forEach(card => card.querySelector('button').click())")
    browser.until(f"{places}.every(card => card.querySelector('.line'))")
    assert all(shown == list(range(named[0], named[-1] + 1)) for named, shown in browser.js(told))
    browser.js(f"{places}[0].querySelector('button').click()")
    assert browser.js(f"{places}[0].querySelectorAll('.line').length") == 0
    assert not browser.js("[...document.querySelectorAll('button')].some(each => each.textContent === 'Show more')")


def test_home_shows_what_there_is_and_what_was_asked(browser: Page, served: Served) -> None:
    """The repository with its languages, questions to try, and the last ones asked, which can be cleared."""
    show(browser, served, "")
    assert re.search(r"handbook main · \d+ files · python \d+", browser.js(TEXT))
    browser.type("parse line")
    browser.press("Enter")
    browser.until("document.querySelectorAll('.card').length > 1")
    show(browser, served, "#/search")
    sections = "[...document.querySelectorAll('.beginning > section')]"
    assert browser.js(f"{sections}.at(-1).innerText.replace(/\\s+/g, ' ')") == "Recent Clear parse line"
    browser.js(f"{sections}.find(each => each.innerText.startsWith('Try')).querySelector('a').click()")
    browser.until("document.querySelectorAll('.card').length > 1")
    show(browser, served, "#/search")
    browser.js(f"{sections}.at(-1).querySelector('button').click()")
    show(browser, served, "")
    assert "Recent" not in browser.js(TEXT)


def test_results_are_narrowed_by_counts(browser: Page, served: Served) -> None:
    """A language, folder or repository with its number of results narrows the question to them."""
    show(browser, served, VIEWS["search"])
    chips = "[...document.querySelectorAll('.facets a')]"
    shown = browser.js("[...document.querySelectorAll('.card .place')].map(each => each.textContent)")
    counted = browser.js(f"{chips}.map(each => each.textContent)")
    tests = sum(place.startswith("tests/") for place in shown)
    assert f"tests/ {tests}" in counted
    browser.js(f"{chips}.find(each => each.textContent.startsWith('tests/')).click()")
    browser.until("location.hash.includes('path=tests') && !document.querySelector('[aria-busy]')")
    places = browser.js("[...document.querySelectorAll('.card .place')].map(each => each.textContent)")
    assert places
    assert all(place.startswith("tests/") for place in places)


def test_a_file_shows_its_outline_and_leads_to_the_graph(browser: Page, served: Served) -> None:
    """A declaration of the outline marks its lines; a name in the code opens its graph; an editor opens the line."""
    show(browser, served, VIEWS["file"])
    names = browser.until(
        "document.querySelector('.outline li') && [...document.querySelectorAll('.outline a.mono')].map(each => each.textContent)"
    )
    assert names == ["Budget", "__init__", "split"]
    browser.js("document.querySelector('.outline a.mono').click()")
    browser.until("document.querySelectorAll('.line.chosen').length > 3")
    editor = browser.until("document.querySelector('.head-actions a[href^=vscode]:not([hidden])')?.href")
    assert re.fullmatch(r"vscode://file/.+/handbook/src/budget\.py:\d+", editor)
    browser.js("[...document.querySelectorAll('.file .t-name')].find(each => each.textContent === 'split').click()")
    browser.until("location.hash.startsWith('#/graph?symbol=split')")


def test_a_view_links_to_its_answer_as_json(browser: Page, served: Served) -> None:
    """The link gives what the view shows, as the API says it."""
    show(browser, served, VIEWS["search"])
    address = browser.js("document.getElementById('json').href")
    with urllib.request.urlopen(address, timeout=60) as answer:
        said = json.load(answer)
    assert said["evidence"][0]["path"] == "src/budget.py"


def test_search_by_keyboard(browser: Page, served: Served) -> None:
    """One types at once; j and k go through the results, o opens the file at the lines, back returns to the answer."""
    show(browser, served, "")
    assert browser.js(f"{FOCUS}.id") == "question"
    browser.type("parse line")
    browser.until("location.hash.includes('parse')")
    browser.until("document.querySelectorAll('.card').length > 1 && !document.querySelector('[aria-busy]')")
    browser.press("Enter")
    browser.until(f"{FOCUS}.classList.contains('card')")
    first = browser.js(f"{FOCUS}.getAttribute('aria-labelledby')")
    browser.press("j")
    assert browser.js(f"{FOCUS}.getAttribute('aria-labelledby')") != first
    browser.press("k")
    assert browser.js(f"{FOCUS}.getAttribute('aria-labelledby')") == first
    place = browser.js(f"{FOCUS}.querySelector('.place').textContent")
    browser.press("o")
    browser.until("document.querySelector('.code.file .line.chosen')")
    assert place.split(":")[0] in browser.js("document.querySelector('h1').textContent")
    browser.press("b")
    browser.until("document.querySelectorAll('.card').length > 1")
    assert "parse" in browser.js("document.getElementById('question').value")
    browser.press("/")
    assert browser.js(f"{FOCUS}.id") == "question"
    browser.press("Escape")
    browser.press("?")
    assert "previous result" in browser.until("document.querySelector('dialog[open]')?.innerText")
    browser.press("Escape")
    browser.until("!document.querySelector('dialog')")
    browser.press("g")
    browser.press("t")
    browser.until("document.title.startsWith('Tools')")


def test_filters_stand_in_the_address(browser: Page, served: Served) -> None:
    """A kind narrows what is asked; the address tells it, and a shared address shows the same."""
    show(browser, served, VIEWS["search"])
    browser.js("document.querySelector('.segments input[value=test]').click()")
    browser.until("location.hash.includes('kind=test')")
    browser.until("[...document.querySelectorAll('.card .place')].every(each => each.textContent.startsWith('tests/'))")
    shared = browser.js("location.hash")
    show(browser, served, shared)
    assert browser.js("document.querySelector('.segments input:checked').value") == "test"
    assert browser.js(
        "[...document.querySelectorAll('.card .place')].every(each => each.textContent.startsWith('tests/'))"
    )


def test_what_is_not_there_is_said_not_to_be(browser: Page, served: Served) -> None:
    """The reason, and what to do next; a server that refuses is told of with the fix."""
    show(browser, served, "#/search?q=zzzqqqxx")
    assert "Not found" in browser.js(TEXT)
    assert "none of these words occur" in browser.js(TEXT)
    show(browser, served, "#/file?path=../../etc/passwd")
    assert browser.js("document.querySelector('[role=alert]').innerText.length") > 10
    show(browser, served, "#/nowhere")
    assert "There is no view" in browser.js(TEXT)


def test_the_graph_is_walked(browser: Page, served: Served) -> None:
    """What is around a name is drawn and listed; arrow keys go between nodes, Enter walks there, back returns."""
    show(browser, served, VIEWS["graph"])
    assert browser.js("document.querySelectorAll('.drawing .node').length") >= 2
    assert browser.js("document.querySelectorAll('.drawing .edge').length") >= 1
    assert "test_split_leaves_the_rest" in browser.js("document.querySelector('.graph-about').innerText")
    browser.press("f")
    here = browser.js(f"{FOCUS}.getAttribute('aria-label')")
    assert "the centre" in here
    for key in ("ArrowRight", "ArrowLeft", "ArrowUp", "ArrowDown"):
        browser.press(key)
        if browser.js(f"{FOCUS}.getAttribute('aria-label')") != here:
            break
    there = browser.js(f"{FOCUS}.getAttribute('aria-label')")
    assert there != here
    browser.press("Enter")
    browser.until("!location.hash.includes('Budget.split')")
    browser.until(READY)
    browser.js("history.back()")
    browser.until("document.querySelector('h1').textContent === 'Budget.split'")


def test_names_are_offered_while_one_types(browser: Page, served: Served) -> None:
    """The field is a combobox: what begins so is listed, arrows choose, Enter goes there; and a way is shown."""
    show(browser, served, "#/graph")
    browser.js("document.querySelector('[role=combobox]').focus()")
    browser.type("Bud")
    browser.until("document.querySelectorAll('[role=option]').length > 0")
    browser.press("ArrowDown")
    assert browser.js(f"document.getElementById({FOCUS}.getAttribute('aria-activedescendant')).textContent").startswith(
        "Budget"
    )
    browser.press("Enter")
    browser.until("document.querySelector('h1').textContent.startsWith('Budget')")
    show(browser, served, "#/graph?symbol=test_split_leaves_the_rest&to=Budget.split")
    assert "calls" in browser.js("document.querySelector('.graph-about .way').innerText")
    assert browser.js("document.querySelectorAll('.drawing .node.centre').length") == 2
    assert browser.js("document.querySelectorAll('.drawing .edge').length") == 1


def test_the_map_goes_into_folders(browser: Page, served: Served) -> None:
    """Keys choose an area and go in and out; the crumbs follow; the table says the same and is sorted by a press."""
    show(browser, served, "#/map")
    assert int(browser.js("document.querySelector('canvas').dataset.cells")) >= 3
    browser.press("f")
    assert "lines" in browser.until("document.querySelector('.map-body [role=status]').textContent")
    browser.press("Enter")
    browser.until("location.hash.includes('in=src')")
    browser.until("document.querySelector('.map-crumbs').innerText.trim().endsWith('src')")
    browser.press("u")
    browser.until("!location.hash.includes('in=')")
    browser.press("v")
    browser.until("document.querySelector('.files-grid')")
    names = "[...document.querySelectorAll('.files-grid .grid-row .place')].map(each => each.textContent)"
    assert browser.js(names)[0] == "src/long.py"
    assert browser.js("document.querySelector('.files-grid [aria-sort=descending]').textContent").startswith("Lines")
    browser.js("document.querySelector('.files-grid [role=columnheader] button').click()")
    browser.until(f"{names}.join() === {names}.sort().join()")  # rows are drawn with the next frame
    assert len(browser.js(names)) >= 3
    assert "picture.png" not in "".join(browser.js(names))


def test_facts_with_their_time_and_evidence(browser: Page, served: Served) -> None:
    """What held when is drawn; a fact says who said it and what took its place."""
    show(browser, served, "#/memory?show=all")
    assert browser.js("document.querySelectorAll('.facts-grid .interval').length") == 5  # and that it is not SQLite
    label = "[...document.querySelectorAll('.facts-grid .axis')].map(each => each.getAttribute('aria-label'))"
    assert any(each.startswith("held from 15 Jun 2025 to 2 Feb 2026") for each in browser.js(label)), browser.js(label)
    browser.js(
        "[...document.querySelectorAll('.facts-grid .grid-row')].find(each => each.innerText.includes('PostgreSQL')).click()"
    )
    browser.until("document.querySelector('.beside blockquote')")
    said = browser.js("document.querySelector('.beside').innerText")
    assert "We decided to use PostgreSQL instead of SQLite." in said
    assert re.search(r"What held when\s+SQLite", said)
    assert "fact=" in browser.js("location.hash")


def test_a_rejection_is_undone(browser: Page, served: Served) -> None:
    """At once, from the note that says it was done, or later among what was rejected; by keyboard like all else."""
    there = "document.querySelector('.facts-grid').innerText.includes('run the linter')"

    def reject() -> None:
        show(browser, served, "#/memory")
        browser.until(there)
        browser.js(f"{ROWS}.find(each => each.innerText.includes('run the linter')).click()")
        browser.until("document.querySelector('.beside .fact-value')?.textContent.includes('run the linter')")
        browser.js(f"{BUTTONS}.find(each => each.textContent.startsWith('Reject')).click()")
        browser.until("document.querySelector('dialog[open]')")
        browser.js("document.querySelector('dialog .danger').click()")
        browser.until(f"!{there}")

    reject()
    browser.until("document.querySelector('.toast button')")
    browser.js("document.querySelector('.toast button').click()")
    browser.until(there)
    reject()
    show(browser, served, "#/memory?show=rejected")
    browser.until(there)
    assert "rejected" in browser.js("document.querySelector('.facts-grid').innerText")
    browser.js(f"{ROWS}.find(each => each.innerText.includes('run the linter')).click()")
    browser.until(f"{BUTTONS}.some(each => each.textContent === 'Restore')")
    browser.js(f"{BUTTONS}.find(each => each.textContent === 'Restore').click()")
    browser.until("!location.hash.includes('rejected')")
    browser.until(there)


def test_facts_are_confirmed_rejected_and_forgotten(browser: Page, served: Served) -> None:
    """Confirming is done at once; rejecting and forgetting say what they do, and the safe answer has the focus."""

    def server_says() -> list[dict[str, Any]]:
        with urllib.request.urlopen(f"{served.url}v1/memory/facts?state=all", timeout=60) as answer:
            return json.load(answer)["items"]

    def chosen(value: str) -> None:
        browser.js(f"{ROWS}.find(each => each.innerText.includes('{value}')).click()")

    def button(said: str) -> None:
        browser.js(f"{BUTTONS}.find(each => each.textContent.startsWith('{said}')).click()")

    show(browser, served, "#/memory")
    chosen("pnpm")
    browser.until("document.querySelector('.fact-actions button')")
    button("Confirm")
    browser.until("document.querySelector('.facts-grid').innerText.includes('confirmed')")
    assert [fact["value"] for fact in server_says() if fact["confirmed"]] == ["pnpm"]
    for said, value in (("Reject", "run the linter"), ("Forget", "pnpm")):
        chosen(value)
        browser.until(f"document.querySelector('.beside .fact-value')?.textContent.includes('{value}')")
        button(said)
        browser.until("document.querySelector('dialog[open]')")
        assert browser.js(f"{FOCUS}.textContent") == "Cancel"
        browser.press("Enter")
        browser.until("!document.querySelector('dialog')")
        assert any(value in fact["value"] for fact in server_says()), "cancelled, so nothing happened"
        button(said)
        browser.until("document.querySelector('dialog[open]')")
        browser.js("document.querySelector('dialog .danger').click()")
        browser.until(f"!document.querySelector('.facts-grid').innerText.includes('{value}')")
        assert not any(value in fact["value"] for fact in server_says())


def test_the_traces_behind_a_match_are_a_step_away(browser: Page, served: Served) -> None:
    """From a match and from a plan to what was observed, its calls in order, and from a call to its tool."""
    show(browser, served, VIEWS["plan"])
    browser.until("document.querySelector('.steps a[href*=trace]')")
    browser.js("document.querySelector('.steps a[href*=trace]').click()")
    browser.until("document.querySelectorAll('.beside .steps li').length > 0")
    assert "mail the weekly report" in browser.js("document.querySelector('.beside').innerText")
    assert browser.js("[...document.querySelectorAll('.beside .steps a')].map(each => each.textContent)") == CALLS
    browser.js("document.querySelector('.beside .steps a').click()")
    browser.until("location.hash.includes('tool=report%2Fcollect')")
    browser.until("document.querySelector('.beside a[href*=with]')")
    browser.js("document.querySelector('.beside a[href*=with]').click()")
    browser.until("document.querySelector('.traces-grid')")


@pytest.mark.parametrize("width", [380, 1200, 1440])
@pytest.mark.parametrize("name", ["tools", "facts", "timeline", "traces", "files", "index"])
def test_no_column_of_a_table_is_cut(browser: Page, served: Served, name: str, width: int) -> None:
    """A table shows all of its columns, with their headings whole, on a phone and in a window of usual size."""
    show(browser, served, VIEWS[name], width=width, height=800)
    browser.until("document.querySelector('.grid-row')")
    wide = "[...document.querySelectorAll('.grid')].filter(e => e.scrollWidth > e.clientWidth).map(e => [e.className, e.scrollWidth, e.clientWidth])"
    assert browser.js(wide) == []
    cut = "[...document.querySelectorAll('.grid-head > *')].filter(e => e.scrollWidth > e.clientWidth).map(e => e.innerText)"
    assert browser.js(cut) == []


def test_the_timeline_and_recall(browser: Page, served: Served) -> None:
    """Events stand by chapters, one is read whole; recall shows what is remembered and what holds now."""
    show(browser, served, VIEWS["timeline"])
    assert browser.js("document.querySelectorAll('.events-grid .grid-row').length") >= 4
    browser.js("document.querySelector('.events-grid').focus()")
    browser.press("ArrowDown")
    browser.until("document.querySelector('.beside .event-text')")
    show(browser, served, VIEWS["recall"])
    assert "SQLite" in browser.js("document.querySelector('.recalled').innerText")


def test_tools_and_a_plan(browser: Page, served: Served) -> None:
    """The catalogue is virtual and found in; a plan stands in layers, from left to right, and is walked by keys."""
    show(browser, served, "#/tools")
    assert browser.js("document.querySelector('.tools-grid').getAttribute('aria-rowcount')") == str(
        MANY + len(TOOLS) + 1
    )
    assert browser.js("document.querySelectorAll('.grid-row').length") < 80
    browser.press("/")
    browser.type("address")
    browser.until("document.querySelectorAll('.grid-row').length === 1")
    browser.js("document.querySelector('.grid-row').click()")
    assert "7 failed" not in browser.js("document.querySelector('.beside').innerText")
    assert "8, 1 failed" in browser.js("document.querySelector('.beside').innerText")
    show(browser, served, VIEWS["plan"])
    at = browser.js("Object.fromEntries([...document.querySelectorAll('.task')].map(each => [each.querySelector('b').textContent, Math.round(each.getBoundingClientRect().left)]))")  # fmt: skip
    assert set(at) == set(CALLS)
    assert at["report/collect"] < at["report/render"] < at["mail/send"]
    assert at["mail/address"] < at["mail/send"]
    assert browser.js("document.querySelectorAll('.plan-line').length") == len(LINKS)
    browser.press("f")
    browser.press("ArrowRight")
    browser.press("Enter")
    assert browser.until("document.querySelector('.task-about').innerText")
    assert browser.js("document.querySelectorAll('.plan-line.near').length") >= 1


def test_the_hypergraph_has_joints(browser: Page, served: Served) -> None:
    """Two tails meet before they lead to a head, and a kind of relation can be left out."""
    show(browser, served, VIEWS["hypergraph"])
    assert browser.js("document.querySelectorAll('.joint').length") >= 1
    shown = "[...document.querySelectorAll('.arc')].filter(each => each.style.display !== 'none').length"
    before = browser.js(shown)
    browser.js("document.querySelector('[aria-label=\"Find a tool\"]').focus()")
    browser.type("mail/send")
    assert browser.until("document.querySelector('.beside h2')?.textContent") == "send"
    browser.js("document.querySelector('.check input').click()")
    assert 0 < browser.js(shown) < before


def test_an_index_run_is_followed(browser: Page, served: Served) -> None:
    """What was left out is listed with its reason; a run is begun, followed by its events, and its end is told."""
    show(browser, served, "#/index")
    said = browser.js(TEXT)
    assert "art/picture.png" in said
    assert "binary" in said
    browser.js(
        "[...document.querySelectorAll('button')].find(each => each.textContent === 'Read everything again').click()"
    )
    assert "handbook" in browser.until("document.querySelector('.toast')?.textContent")
    browser.until("document.querySelector('.badge.good')")


def test_settings_say_where_they_come_from(browser: Page, served: Served) -> None:
    """Each with its value and the layer that set it; typing finds them."""
    show(browser, served, "#/settings")
    browser.press("/")
    browser.type("search.k")
    browser.until("document.querySelectorAll('.settings tbody tr').length === 1")
    assert re.search(r"search\.k\s+Results in an answer\.\s+10\s+default", browser.js(TEXT))


@pytest.mark.parametrize("width", [1200, 1280, 1440])
def test_how_sure_a_fact_is_stands_in_one_line(browser: Page, served: Served, width: int) -> None:
    """A label of one word is not broken within it, however narrow the panel is."""
    show(browser, served, VIEWS["facts"], width=width)
    browser.js(f"{ROWS}[0].click()")
    browser.until("document.querySelector('.beside .meter > .quiet')?.textContent === 'sure'")
    lines = "(range => (range.selectNodeContents(document.querySelector('.beside .meter > .quiet')), range.getClientRects().length))"
    assert browser.js(f"{lines}(document.createRange())") == 1


def test_a_name_that_is_nowhere_is_said_so_once_with_the_nearest_as_links(browser: Page, served: Served) -> None:
    """What leads on is a link to the nearest names, not a command; the same for either end of a way."""
    show(browser, served, "#/graph?symbol=splitt")
    said = browser.js(TEXT)
    assert (said.count("Not defined here"), said.count("defined nowhere"), "vade " in said) == (1, 0, False)
    chips = "[...document.querySelectorAll('.graph-about a.chip')]"
    assert browser.js(f"{chips}.map(each => each.textContent)") == ["split"]
    browser.js(f"{chips}[0].click()")
    browser.until("location.hash.endsWith('symbol=split') && document.querySelector('.node.centre')")
    show(browser, served, "#/graph?symbol=Budget.split&to=splitt")
    assert "symbol=Budget.split&to=" in browser.js(f"{chips}[0].hash")
    show(browser, served, "#/graph?symbol=splitt&to=Budget.split")
    assert browser.js(f"{chips}[0].hash").endswith("&to=Budget.split")
    show(browser, served, "#/graph?path=src/none.py")
    assert "No file of the index has that path." in browser.js(TEXT)


def test_the_list_and_the_drawing_count_the_same_tools(browser: Page, served: Served) -> None:
    """What only a trace names is counted apart: it is drawn, and in no list."""
    served.post("/tools/observe", [{"id": "old", "intent": "ask the oracle", "calls": [{"tool": "oracle/ask"}]}])
    listed = f"{len(TOOLS) + MANY} tools of 3 servers, 1 more in traces alone, "
    show(browser, served, VIEWS["tools"])
    browser.until("document.getElementById('tools-count').textContent.includes('tools')")
    assert browser.js("document.getElementById('tools-count').textContent").startswith(listed)
    show(browser, served, VIEWS["hypergraph"])
    drawn = f"{len(TOOLS) + MANY} tools, 1 more in traces alone, 9 traces"
    assert browser.js("document.getElementById('tools-count').textContent").startswith(drawn)
