"""What is hard on the page: hostile names, lists without end, nothing there yet, a server that is gone, keys."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from chromium import Page
from handbook import SAMPLE, make_repository
from served import EVIL, LONG, LONG_LINES, PAGE, TEXT, VIEWS, Served, serious, show

pytestmark = pytest.mark.slow


def test_hostile_names_and_code_are_text(browser: Page, served: Served) -> None:
    """Markup in names, code, memory and tools is shown and not obeyed; characters that reorder are shown as what they are."""
    for hash_ in (
        "#/search?q=evil_budget", "#/graph?symbol=evil_budget", "#/map", "#/map?as=table", VIEWS["timeline"],
        VIEWS["plan"], "#/tools?tool=mail%2Fsend", VIEWS["hypergraph"], "#/memory?tab=recall&q=PostgreSQL",
    ):  # fmt: skip
        show(browser, served, hash_)
        assert "owned" not in browser.js("document.title")
        assert (
            browser.js("document.querySelectorAll('main img, main script, main [onclick], main [onerror]').length") == 0
        )
        assert browser.complaints() == [], served.said()
        assert "\u202e" not in browser.js("document.body.textContent"), hash_
    show(browser, served, "#/search?q=evil_budget")
    assert (
        browser.js("[...document.querySelectorAll('.hidden-char')].map(each => each.textContent)").count("U+202E") >= 1
    )
    browser.js("document.querySelector('.card .place').click()")
    browser.until("document.querySelector('.code.file .line')")
    assert "<img src=x" in browser.js("document.querySelector('h1').textContent")
    assert "</script><script>" in browser.js("document.querySelector('.code.file').textContent")
    assert "owned" not in browser.js("document.title")


def test_a_long_file_is_drawn_in_part(browser: Page, served: Served) -> None:
    """Of thousands of lines only those around the screen exist, wherever one is."""
    show(browser, served, f"#/file?path=src/long.py&lines={LONG_LINES - 100}")
    assert browser.js("document.querySelector('.code.file').dataset.lines") == str(LONG_LINES)
    assert browser.js("document.querySelectorAll('.code.file .line').length") < 200
    assert browser.js("document.querySelector('.line.chosen .number').dataset.n") == str(LONG_LINES - 100)


def test_a_list_of_a_hundred_thousand_rows(browser: Page, served: Served) -> None:
    """The number of elements does not grow with the list; the last row is reached, and its place is said."""
    show(browser, served, "#/settings")
    made = """import('/page/parts/grid.js').then(({ Grid }) => {
      const rows = Array.from({ length: 100000 }, (_, n) => ({ n }));
      window.grid = new Grid({ label: 'many', sorted: 'n', descending: true, onopen: () => {},
        columns: [{ key: 'n', title: 'n', sort: row => row.n, cell: row => `row ${row.n}` }] });
      const main = document.querySelector('main');
      main.replaceChildren(window.grid.whole);
      window.grid.show(rows);
      window.grid.element.focus();
    })"""
    browser.js(made)
    most = 0
    for _ in range(40):
        browser.press("PageDown")
        most = max(most, browser.js("document.querySelectorAll('.grid-row').length"))
    browser.js("window.grid.element.scrollTop = 1600000")
    browser.until("[...document.querySelectorAll('.grid-row')].some(each => each.textContent === 'row 49999')")
    browser.press("End")
    browser.until("[...document.querySelectorAll('.grid-row')].some(each => each.textContent === 'row 0')")
    most = max(most, browser.js("document.querySelectorAll('.grid-row').length"))
    assert most < 80
    active = "document.getElementById(window.grid.element.getAttribute('aria-activedescendant'))"
    assert browser.js(f"{active}.getAttribute('aria-rowindex')") == "100001"
    assert browser.js("window.grid.element.getAttribute('aria-rowcount')") == "100001"


def test_a_map_of_a_hundred_thousand_files(browser: Page, served: Served) -> None:
    """What is drawn is bounded by the screen; all areas together are the screen; none lies outside of what holds it."""
    show(browser, served, "#/settings")
    told = browser.js("""import('/page/treemap.js').then(({ cells, squarify, tree }) => {
      const files = Array.from({ length: 100000 }, (_, n) => ({ path: `d${n % 40}/e${n % 1000}/f${n}.py`, lines: 1 + (n * 7919) % 997 }));
      const box = { x: 0, y: 0, width: 1200, height: 800 };
      const root = tree(files, file => file.lines), drawn = cells(root, box);
      const top = squarify([...root.children.values()].sort((a, b) => b.size - a.size), box);
      return {
        files: root.files, drawn: drawn.length, area: top.reduce((sum, each) => sum + each.width * each.height, 0),
        outside: drawn.filter(each => each.x < -0.01 || each.y < -0.01 || each.x + each.width > 1200.5 || each.y + each.height > 800.5).length,
        paper: squarify([6, 6, 4, 3, 2, 2, 1].map(size => ({ size })), { x: 0, y: 0, width: 6, height: 4 }).map(each => [each.x, each.y, each.width, each.height].map(n => Math.round(n * 100) / 100)),
      };
    })""")
    assert told["files"] == 100_000
    assert 1000 < told["drawn"] < 20_000
    assert told["outside"] == 0
    assert told["area"] == pytest.approx(1200 * 800)
    assert told["paper"][:3] == [[0, 0, 3, 2], [0, 2, 3, 2], [3, 0, 1.71, 2.33]], "the example of the paper"


def test_the_theme_is_kept(browser: Page, served: Served) -> None:
    """What one chose holds after a reload, and is there before anything is drawn."""
    show(browser, served, "#/settings")
    browser.js("document.getElementById('theme').click()")
    assert browser.js("document.documentElement.dataset.theme") == "dark"
    show(browser, served, "#/settings")
    assert browser.js("getComputedStyle(document.documentElement).colorScheme") == "dark"
    browser.js("document.getElementById('theme').click(); localStorage.removeItem('theme')")


def test_a_key_is_asked_for(browser: Page, tmp_path: Path) -> None:
    """A server that wants a key serves the page, the page asks for it, and sends it with every question."""
    repo = make_repository(tmp_path / "handbook")
    made = subprocess.run(
        [sys.executable, "-m", "vademecum", "serve", "--new-key", "ada"],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}, capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    key = re.search(r"once: (\S+)", made)
    entry = re.search(r"VADE_SERVER__KEYS: (\S+)", made)
    assert key
    assert entry
    server = Served(repo.path, tmp_path / "home", VADE_SERVER__KEYS=entry[1])
    try:
        browser.go(server.url + "#/settings")
        browser.until("document.querySelector('dialog input[type=password]')")
        browser.type("wrong")
        browser.press("Enter")
        browser.until("document.querySelector('dialog')?.innerText.includes('does not take')")
        browser.js(f"document.querySelector('dialog input').value = {json.dumps(key[1])}")
        browser.press("Enter")
        browser.until("document.querySelectorAll('.settings tbody tr').length > 10")
    finally:
        server.close()


def test_nothing_of_the_page_leads_elsewhere() -> None:
    """No file names another place, brings its own style or script into the markup, or makes elements from text."""
    for path in sorted(PAGE.rglob("*")):
        if path.suffix not in {".js", ".css", ".html", ".svg"}:
            continue
        text = path.read_text(encoding="utf-8")
        assert set(re.findall(r"https?://[^\s\"'`)]+", text)) <= {"http://www.w3.org/2000/svg"}, path.name
        assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function", text), (
            path.name
        )
        assert len(text.splitlines()) <= 400, path.name
    page = (PAGE / "index.html").read_text(encoding="utf-8")
    assert "default-src 'self'" in page
    assert not re.search(r"<style|<script>|\son\w+=|\sstyle=", page)


@pytest.fixture(scope="module")
def nothing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A repository without files, and a home without anything."""
    top = tmp_path_factory.mktemp("nothing")
    server = Served(make_repository(top / "empty", {}).path, top / "home")
    yield server
    server.close()


@pytest.mark.parametrize(
    "name", ["search", "overview", "map", "facts", "timeline", "tools", "hypergraph", "index", "settings"]
)
def test_where_nothing_is_yet_it_says_what_to_do(browser: Page, nothing: Served, name: str) -> None:
    """An empty repository, no memory, no tools: no view fails, and those that are empty say what to do next."""
    show(browser, nothing, "" if name == "search" else VIEWS[name])
    assert browser.js("document.querySelectorAll('[role=alert]').length") == 0
    assert browser.complaints() == [], nothing.said()
    if name not in {"index", "settings"}:
        assert browser.js("document.querySelector('.empty-state')?.innerText.length") > 30


def test_a_server_that_is_gone_is_said_to_be(browser: Page, tmp_path: Path) -> None:
    """What fails says so where the answer would stand, and can be tried again."""
    server = Served(make_repository(tmp_path / "handbook").path, tmp_path / "home")
    try:
        show(browser, server, "#/search?q=budget")
    finally:
        server.close()
    browser.js("location.hash = '#/search?q=retry'")
    browser.until("document.querySelector('[role=alert]')")
    assert "vade serve" in browser.js("document.querySelector('[role=alert]').innerText")
    assert browser.js("document.querySelector('[role=alert] button').textContent") == "Try again"


def test_several_repositories(browser: Page, tmp_path: Path) -> None:
    """Evidence names its repository and leads into it; maps and graphs are of the one that is chosen."""
    one = make_repository(tmp_path / "one").path
    code = {"lib/budget.py": "def split_evenly(budget):\n    return budget / 2\n"}
    server = Served(one, tmp_path / "home", str(make_repository(tmp_path / "two", code).path))
    try:
        show(browser, server, "#/search?q=split%20budget")
        named = browser.js("[...document.querySelectorAll('.card .repo')].map(each => each.innerText.trim())")
        assert {"one", "two"} <= set(named)
        browser.js("[...document.querySelectorAll('.place')].find(e => e.textContent.startsWith('lib/')).click()")
        browser.until("document.querySelector('.code.file .line')")
        assert "split_evenly" in browser.js("document.querySelector('.code.file').textContent")
        for view in ("#/map?as=table", "#/graph"):
            show(browser, server, view)
            browser.until("!document.querySelector('.repo-choice').hidden")
            assert "lib/budget.py" not in browser.js(TEXT)
            choose = "e => { e.value = 'two'; e.dispatchEvent(new Event('change')); }"
            browser.js(f"({choose})(document.querySelector('.repo-choice select'))")
            browser.until("location.hash.includes('repo=two')")
            browser.until("document.querySelector('main').innerText.includes('lib/budget.py')")
    finally:
        server.close()


# Whether one sees where one is: an outline or a ring, of the element, its label, or what it marks inside; on the screen.
SEEN = """(element => {
  const label = element.matches('input[type=radio]') ? document.querySelector(`label[for="${element.id}"]`) : null;
  const marked = [element, label, element.querySelector('.active, .mark')].filter(Boolean).map(each => getComputedStyle(each));
  const box = (label || element).getBoundingClientRect();
  return box.bottom > 0 && box.top < innerHeight && box.width > 0
    && marked.some(style => style.outlineStyle !== 'none' || style.boxShadow !== 'none' || style.strokeWidth === '4px');
})(document.activeElement)"""


@pytest.mark.parametrize("name", ["search", "graph", "map", "facts", "plan", "settings"])
def test_every_stop_of_the_keyboard_is_seen(browser: Page, served: Served, name: str) -> None:
    """Tab goes through a view, and wherever it is, one sees it."""
    show(browser, served, VIEWS[name])
    browser.js("document.getElementById('skip').focus()")
    stops = set()
    for _ in range(24):
        browser.press("Tab")
        where = browser.js(
            "document.activeElement === document.body ? '' : document.activeElement.outerHTML.slice(0, 150)"
        )
        if not where:
            break
        stops.add(where)
        assert browser.js(SEEN), where
    assert len(stops) > 10


def test_what_opens_is_accessible_too(browser: Page, served: Served) -> None:
    """The list of keys, why a result ranks, open filters, what is offered, and the question before something is forgotten."""
    why = "document.querySelector('.card .quiet-button').click(); document.querySelector('details').open = true"
    for hash_, act, there in (
        (VIEWS["search"], why, ".why"),
        (VIEWS["search"], "document.getElementById('help').click()", "dialog[open]"),
        ("#/memory", "document.querySelector('.facts-grid .grid-row').click()", ".fact-actions .danger"),
        ("", "document.querySelector('.fact-actions .danger').click()", "dialog[open]"),
        ("#/graph", "document.querySelector('[role=combobox]').focus()", "[role=combobox]"),
    ):
        if hash_:
            show(browser, served, hash_)
        browser.js(act)
        browser.until(f"document.querySelector('{there}')")
        if there == "[role=combobox]":
            browser.type("Bud")
            browser.until("document.querySelectorAll('[role=option]').length > 0")
        assert serious(browser) == [], act


MIXED = "'\"`\\/*{-[[<!--#[$(](\t- a: 'x\n\"\"\"\n'''\n```\n\né 漢 😀 0x1F 1e9 @x :y --z"
# What would be read again and again by a pattern that looks for an end that never comes.
SLOW = {
    "yaml": "-", "makefile": "$(", "lua": "[[", "haskell": "{-", "sql": "/*", "css": "a-", "markdown": "](", "rust": "#[",
}  # fmt: skip


def test_colours_lose_nothing_and_end(browser: Page, served: Served) -> None:
    """In every language the pieces together are the text, also where it was written to make a scanner slow."""
    show(browser, served, "#/settings")
    texts = json.dumps([LONG[:2000], EVIL, MIXED, *SAMPLE.values()])
    source = (PAGE / "highlight.js").read_text(encoding="utf-8")
    languages = [*re.findall(r"^  (\w+): (?:\{|of\()", source, re.MULTILINE), "javascript", "c", "text", "unknown"]
    assert len(languages) >= 20
    load = "import('/page/highlight.js').then(({ lines }) => "
    joined = "lines(text, language).map(line => line.map(piece => piece[1]).join('')).join('\\n')"
    lost = f"{texts}.filter(text => {joined} !== text).map(text => language + text.slice(0, 40))"
    assert browser.js(f"{load} {json.dumps(languages)}.flatMap(language => {lost}))") == []
    kinds = "lines('class A: pass  # x\\nf.set(1, \\'class\\')', 'python').flat().filter(piece => piece[0])"
    assert browser.js(f"{load} {kinds})") == [
        ["keyword", "class"], ["name", "A"], ["keyword", "pass"], ["comment", "# x"],
        ["call", "set"], ["number", "1"], ["string", "'class'"],
    ]  # fmt: skip
    long = f"Object.entries({json.dumps(SLOW)}).map(([language, part]) => lines(part.repeat(200000), language).length)"
    assert browser.js(f"{load} {long})") == [1] * len(SLOW)
