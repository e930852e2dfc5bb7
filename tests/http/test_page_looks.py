"""How the page is laid out: what belongs together is aligned, nothing is cut or covered, and everything shown has a name."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from chromium import Page
from handbook import make_repository
from served import TEXT, VIEWS, Served, serious, show

pytestmark = pytest.mark.slow

# A hub that many call, so that names are close to each other; and two files of one name.
CALLERS = "".join(f"def caller_number_{n}(value):\n    return hub(value)\n\n\n" for n in range(9))
FILES = {
    "lib/hub.py": f"def hub(value):\n    return value\n\n\n{CALLERS}",
    "lib/one/app.py": "from lib.hub import hub\n\n\ndef run_one(value):\n    return hub(value)\n",
    "lib/two/app.py": "from lib.one.app import run_one\n\n\ndef run_two(value):\n    return run_one(value)\n",
}
# Names that are shown and lie on another name or on a mark that is not their own.
COVERED = """(() => {
    const shown = [...document.querySelectorAll('.drawing .node')].map(node => ({
      node, mark: node.querySelector('.mark').getBoundingClientRect(), name: node.querySelector('text').getBoundingClientRect(),
      text: node.classList.contains('unnamed') ? '' : node.querySelector('text').textContent,
    }));
    const over = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 2 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 2;
    return shown.filter(each => each.text && shown.some(other => other !== each && (over(each.name, other.mark) || (other.text && over(each.name, other.name))))).map(each => each.text);
})()"""
NAMED = "[...document.querySelectorAll('.drawing .node:not(.unnamed) text')].map(each => each.textContent)"
LEFT = "document.querySelector('%s').getBoundingClientRect().left"


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Code that is drawn closely."""
    top = tmp_path_factory.mktemp("hub")
    server = Served(make_repository(top / "hub", FILES).path, top / "home")
    yield server
    server.close()


@pytest.mark.parametrize("width", [380, 1200])
@pytest.mark.parametrize("view", ["#/graph?symbol=hub", "#/graph"])
def test_names_in_a_drawing_cover_nothing(browser: Page, hub: Served, view: str, width: int) -> None:
    """A name stands where neither a name nor a mark is, and nearly all find such a place."""
    show(browser, hub, view, width=width)
    browser.until("document.querySelectorAll('.drawing .node').length >= 3")
    nodes = browser.js("document.querySelectorAll('.drawing .node').length")
    assert browser.js(COVERED) == []
    assert len(browser.js(NAMED)) >= 0.8 * nodes


def test_files_of_one_name_are_told_apart(browser: Page, hub: Served) -> None:
    """By the folder they are in; a name that only one has stands by itself."""
    show(browser, hub, "#/graph")
    assert set(browser.js(NAMED)) == {"hub.py", "one/app.py", "two/app.py"}
    assert "imported by 1" in browser.js("document.querySelector('.graph-about').innerText")


def test_tools_that_lead_nowhere_are_not_drawn(browser: Page, served: Served) -> None:
    """A catalogue is mostly tools that were never called: drawn, they would hide those that hang together."""
    show(browser, served, VIEWS["hypergraph"])
    assert 4 <= browser.js("document.querySelectorAll('.drawing .node').length") < 12
    assert "that lead somewhere or were called are drawn" in browser.js(TEXT.replace("main", "#tools-count"))
    assert browser.js(COVERED) == []


def test_every_signal_is_explained(browser: Page, served: Served) -> None:
    """Why a result ranks where it does is said in words, for each figure."""
    show(browser, served, VIEWS["search"])
    browser.js("document.querySelector('.card .quiet-button').click()")
    rows = browser.js(
        "[...document.querySelectorAll('.why tr')].map(row => [...row.children].map(each => each.innerText))"
    )
    assert len(rows) >= 6
    assert [row[0] for row in rows if not row[-1].strip()] == []


def test_filters_open_below_the_row_they_belong_to(browser: Page, served: Served) -> None:
    """They begin at the left edge, in one line where there is room, and what opened them stays where it was."""
    show(browser, served, VIEWS["search"])
    top = "document.querySelector('summary').getBoundingClientRect().top"
    shut = browser.js(top)
    browser.js("document.querySelector('summary').click()")
    browser.until("document.querySelector('.filter-fields').offsetHeight")
    assert browser.js(top) == shut
    assert browser.js(LEFT % ".filter-fields") == browser.js(LEFT % ".segments")
    tops = "new Set([...document.querySelectorAll('.filter-fields .field')].filter(e => e.offsetWidth).map(e => Math.round(e.getBoundingClientRect().top))).size"
    assert browser.js(tops) == 1


def test_views_end_at_the_same_edge(browser: Page, served: Served) -> None:
    """What is read line by line is as wide in every view."""
    edges = {}
    for name, part in (("search", ".card"), ("recall", ".card"), ("index", ".repository"), ("settings", ".scroll")):
        show(browser, served, VIEWS[name], width=1600)
        edges[name] = browser.js(f"document.querySelector('{part}').getBoundingClientRect().right")
    assert len(set(edges.values())) == 1, edges


def test_bars_of_a_table_begin_in_one_line_and_say_what_stands_beside_them(browser: Page, served: Served) -> None:
    """The longer the bar, the greater the figure next to it; no cell of figures is cut."""
    show(browser, served, VIEWS["files"])
    bars = browser.js("""[...document.querySelectorAll('.files-grid .grid-row .bar')].map(bar => [
        Math.round(bar.getBoundingClientRect().left), parseFloat(bar.firstChild.style.width), Number(bar.nextSibling.textContent)])""")
    assert len({left for left, _, _ in bars}) == 1
    by_width = [figure for _, _, figure in sorted(bars, key=lambda each: each[1])]
    assert by_width == sorted(by_width)
    cut = "[...document.querySelectorAll('.grid-row .cell.figure')].filter(e => e.scrollWidth > e.clientWidth).map(e => e.innerText)"
    assert browser.js(cut) == []


def test_columns_of_settings_are_named_once(browser: Page, served: Served) -> None:
    """Above the first table, for who sees them; in every table, for who does not."""
    show(browser, served, VIEWS["settings"])
    heads = browser.js(
        "[...document.querySelectorAll('.settings thead')].map(head => [head.offsetHeight > 10, head.textContent])"
    )
    assert [seen for seen, _ in heads] == [True, *[False] * (len(heads) - 1)]
    assert {said for _, said in heads} == {"SettingValueSet by"}


def test_chapters_are_named_as_people_name_them(browser: Page, served: Served) -> None:
    """A month by its name."""
    show(browser, served, VIEWS["timeline"])
    chapters = browser.js("[...document.querySelectorAll('.events-grid .cell b')].map(each => each.textContent)")
    assert any(re.fullmatch(r"[A-Z][a-z]+ 20\d\d", each) for each in chapters), chapters
    assert not [each for each in chapters if re.match(r"\d|[a-z]", each)]


def test_a_tool_says_how_it_fared_in_figures_that_agree(browser: Page, served: Served) -> None:
    """The share that went well is that of the table; what it does to the ranking is told as the factor that it is."""
    show(browser, served, "#/tools?tool=mail%2Fsend")
    said = browser.until("document.querySelector('.beside .pairs')?.innerText")
    assert "8, 1 failed" in said
    share = browser.js("document.querySelector('.grid-row.active .beside-bar').textContent")
    assert re.search(rf"Went well\s+{share}", said)
    assert re.search(r"Ranking\s+\u00d7 \d\.\d\d", said)


def test_what_was_searched_is_said_once(browser: Page, served: Served) -> None:
    """A reason that tells how much there was to search is not followed by the same."""
    show(browser, served, "#/search?q=zzzqqqxx")
    assert browser.js("document.querySelector('.verdict').innerText.split('searched').length") == 2
    show(browser, served, VIEWS["search"])
    assert browser.js("document.querySelector('.verdict').innerText.split('searched').length") == 2


def test_lists_of_keys_are_aligned(browser: Page, served: Served) -> None:
    """What a key does stands in one column, here and everywhere."""
    show(browser, served, VIEWS["map"])
    browser.js("document.getElementById('help').click()")
    lefts = "new Set([...document.querySelectorAll('dialog .keys dd')].map(e => Math.round(e.getBoundingClientRect().left)))"
    browser.until("document.querySelectorAll('dialog .keys dd').length > 8")
    assert browser.js(f"{lefts}.size") == 1


@pytest.mark.parametrize(
    ("name", "grid", "part"),
    [("facts", "facts", ".fact-actions"), ("timeline", "events", ".event-text"), ("tools", "tools", "h2"), ("traces", "traces", "h2")],
)  # fmt: skip
def test_what_is_chosen_on_a_phone_is_seen(browser: Page, served: Served, name: str, grid: str, part: str) -> None:
    """The panel stands below the list there; it comes onto the screen, above the bar of views."""
    show(browser, served, VIEWS[name], width=380, height=760)
    browser.js(f"document.querySelectorAll('.{grid}-grid .grid-row')[1].click()")
    browser.until(f"document.querySelector('.beside {part}')")
    below = f"document.querySelector('.beside {part}').getBoundingClientRect().bottom"
    browser.until(f"{below} <= document.querySelector('.rail').getBoundingClientRect().top && {below} > 0")


def test_a_run_is_stopped(browser: Page, tmp_path: Path) -> None:
    """Beside its progress is what stops it; that it was is told, and the index is as it was."""
    many = {f"src/part_{n}.py": f"def part_{n}(value):\n    return value + {n}\n" for n in range(1500)}
    server = Served(make_repository(tmp_path / "many", many).path, tmp_path / "home", VADE_INDEX__WORKERS="1")
    try:
        show(browser, server, "#/index")
        browser.js("[...document.querySelectorAll('.head-actions button')].at(-1).click()")
        browser.until("document.querySelector('.running button')")
        browser.js("document.querySelector('.running button').click()")
        browser.until("document.querySelector('#toasts').innerText.includes('many: stopped')")
        browser.until("!document.querySelector('.running')")
        assert "Not indexed" in browser.js(TEXT)
        assert serious(browser) == []
    finally:
        server.close()
