"""The page, on a real repository, served by the real server, in a real browser."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from chromium import CHROMIUM, Page
from conftest import SAMPLE, make_repository

pytestmark = pytest.mark.slow
AXE = Path(__file__).parent / "node_modules" / "axe-core" / "axe.min.js"
PAGE = Path(__file__).parents[2] / "src" / "vademecum" / "http" / "page"
# Names and texts of a repository whose author does not mean well: markup, an end of a script, characters that reorder.
EVIL_NAME = "src/a<img src=x onerror=document.title='owned'>\u202egnp.py"
EVIL = '''"""</script><script>document.title = 'owned'</script> \u202e reversed \u202c"""


def evil_budget(total):
    """<img src=x onerror="document.title='owned'"> of a budget\u200b."""
    return "</code><b>bold</b>"
'''
LONG_LINES = 6000
LONG = "".join(f"def number_{n}():\n    return {n}\n" for n in range(LONG_LINES // 2))
TOOLS = [
    ("report", "collect", "Collect the week's figures.", ["week"], ["figures"]),
    ("report", "render", "Render a report of figures.", ["figures"], ["document"]),
    ("mail", "address", "Find somebody's address.", ["name"], ["address"]),
    ("mail", "send", "Send mail. <img src=x onerror=\"document.title='owned'\">", ["address", "document"], []),
]
CALLS = ["report/collect", "report/render", "mail/address", "mail/send"]
LINKS = [[0, 1], [1, 3], [2, 3]]
MANY = 1500  # tools of one more server: a catalogue longer than any screen
VIEWS = {
    "search": "#/search?q=how%20is%20the%20token%20budget%20split",
    "file": "#/file?path=src/budget.py&lines=10-12",
    "graph": "#/graph?symbol=Budget.split",
    "overview": "#/graph",
    "map": "#/map",
    "files": "#/map?as=table",
    "facts": "#/memory?show=all",
    "timeline": "#/memory?tab=timeline",
    "recall": "#/memory?tab=recall&q=which%20database",
    "tools": "#/tools",
    "plan": "#/tools?tab=plan&q=mail%20the%20weekly%20report",
    "hypergraph": "#/tools?tab=graph",
    "index": "#/index",
    "settings": "#/settings",
}
READY = "document.querySelector('main').childElementCount > 0 && !document.querySelector('[aria-busy], .skeleton')"
TEXT = "document.querySelector('main').innerText"
FOCUS = "document.activeElement"
ROWS = "[...document.querySelectorAll('.facts-grid .grid-row')]"
BUTTONS = "[...document.querySelectorAll('.fact-actions button')]"


class Served:
    """A server of its own over a small repository."""

    def __init__(self, root: Path, home: Path, *options: str, **environ: str) -> None:
        own = {"VADE_HOME": str(home), "XDG_CONFIG_HOME": str(home / "config"), "PYTHONPATH": os.pathsep.join(sys.path)}
        command = [sys.executable, "-m", "vademecum", "serve", str(root), "--port", "0", *options]
        kept = {name: value for name, value in os.environ.items() if not name.startswith("VADE_")}
        self.log = home.with_suffix(".log")  # a file: a pipe that nobody reads would hold the server up
        with self.log.open("w") as log:
            self.process = subprocess.Popen(command, env=kept | own | environ, stderr=log)
        until = time.monotonic() + 60
        while not (found := re.search(r"at (http://[\d.:]+/)\n", self.log.read_text())):
            assert self.process.poll() is None, self.log.read_text()
            assert time.monotonic() < until, self.log.read_text()
            time.sleep(0.05)
        self.url = found[1]

    def post(self, path: str, body: Any) -> Any:
        """Send JSON and return the answer."""
        request = urllib.request.Request(
            f"{self.url}v1{path}", json.dumps(body).encode(), {"Content-Type": "application/json"}
        )
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)

    def close(self) -> None:
        """End the server as a person would."""
        self.process.send_signal(signal.SIGINT)
        self.process.wait(60)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """The sample with hostile and long files, something remembered, tools and how they were used."""
    top = tmp_path_factory.mktemp("served")
    files = {**SAMPLE, EVIL_NAME: EVIL, "src/long.py": LONG, "art/picture.png": b"\x89PNG\r\n\0\0"}
    make_repository(top / "handbook", files)
    server = Served(top / "handbook", top / "home")
    server.post("/index", {})
    for at, text in (
        (1_750_000_000, "We decided to use SQLite because it needs no server."),
        (1_760_000_000, "I prefer pnpm over npm. Always run the linter before committing."),
        (1_770_000_000, "We decided to use PostgreSQL instead of SQLite.\n<b onclick=alert(1)>\u202ebold</b>"),
    ):
        server.post("/events", {"text": text, "role": "user", "session": f"s{at}", "at": at})
    tools = [schema(*tool) for tool in TOOLS] + [
        schema("many", f"tool_{n:04}", "One of many.", [], []) for n in range(MANY)
    ]
    server.post("/tools/register", tools)
    traces = [{"id": f"t{n}", "intent": "mail the weekly report", "at": 1_760_000_000 + n, "links": LINKS,
               "calls": [{"tool": call, "ok": n != 3, "latency_s": 0.2} for call in CALLS]} for n in range(8)]  # fmt: skip
    server.post("/tools/observe", traces)
    yield server
    server.close()


def schema(server: str, name: str, about: str, takes: list[str], gives: list[str]) -> dict[str, Any]:
    return {
        "server": server, "name": name, "description": about,
        "inputSchema": {"type": "object", "properties": {key: {"type": "string"} for key in takes}, "required": takes},
        "outputSchema": {"type": "object", "properties": {key: {"type": "string"} for key in gives}},
    }  # fmt: skip


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    """A browser; continuous integration has to have one."""
    if not CHROMIUM:
        assert not os.environ.get("CI"), "there is no Chromium: .ci/run installs it"
        pytest.skip("there is no Chromium here")
    page = Page(tmp_path_factory.mktemp("profile"))
    yield page
    page.close()


def show(browser: Page, served: Served, hash_: str, **size: Any) -> None:
    """Open a view and wait until it has its answers."""
    browser.go(served.url + hash_, **size)
    browser.until(READY)


def axe() -> str:
    if not AXE.exists():
        assert not os.environ.get("CI"), "axe-core is not there: `make install` fetches it"
        pytest.skip("axe-core is not here: make install")
    return AXE.read_text(encoding="utf-8")


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("name", VIEWS)
def test_a_view_is_accessible_and_asks_nobody_else(browser: Page, served: Served, name: str, dark: bool) -> None:
    """Axe finds nothing serious in any view, by day and by night; every request goes to the server; no complaint."""
    show(browser, served, VIEWS[name], dark=dark)
    browser.js(axe() + "; 0")
    ran = browser.js("axe.run(document, {resultTypes: ['violations']}).then(done => JSON.stringify(done.violations))")
    found = [
        f"{each['impact']} {each['id']}: {node['html'][:200]} {node['failureSummary'][:300]}"
        for each in json.loads(ran)
        for node in each["nodes"][:3]
        if each["impact"] in {"serious", "critical"}
    ]
    assert found == []
    assert {url for url in browser.requests() if not url.startswith(served.url)} == set()
    assert browser.complaints() == []
    paper = browser.js("getComputedStyle(document.body).backgroundColor")
    assert (sum(map(int, re.findall(r"\d+", paper)[:3])) < 150) == dark


@pytest.mark.parametrize("name", VIEWS)
def test_a_view_fits_a_phone(browser: Page, served: Served, name: str) -> None:
    """At 380 pixels nothing has to be moved sideways to be read, and the views are at hand."""
    show(browser, served, VIEWS[name], width=380, height=760)
    assert browser.js("document.documentElement.scrollWidth") <= 380
    assert browser.js("innerWidth") == 380, "something is wider than the screen, and the phone zoomed out"
    assert browser.js(
        "[...document.querySelectorAll('.rail nav a')].every(a => a.getBoundingClientRect().right <= 380)"
    )


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
    assert "result before" in browser.until("document.querySelector('dialog[open]')?.innerText")
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
        assert browser.complaints() == []
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
    assert browser.js(names) == sorted(browser.js(names))
    assert "picture.png" not in "".join(browser.js(names))


def test_facts_with_their_time_and_evidence(browser: Page, served: Served) -> None:
    """What held when is drawn; a fact says who said it and what took its place."""
    show(browser, served, "#/memory?show=all")
    assert browser.js("document.querySelectorAll('.facts-grid .interval').length") == 4
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
    assert re.search(r"search\.k\s+10\s+default", browser.js(TEXT))


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
