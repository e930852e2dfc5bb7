"""The page about tools as one file, in a real browser too."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from chromium import Page
from vademecum.tools.records import Call, Group, Plan, Task, Tool, Trace
from vademecum.tools.relations import graph_record
from vademecum.tools.tools import Tools

HOSTILE = "</script><script>document.title = 'owned'</script><img src=x onerror=\"document.title='owned'\">"


def tool(id_: str, about: str, inputs: tuple[str, ...] = (), outputs: tuple[str, ...] = ()) -> Tool:
    server, _, name = id_.partition("/")
    takes = {"properties": {key: {"type": "string"} for key in inputs}, "required": list(inputs)}
    return Tool(id_, name, server, about, takes, {"properties": {key: {"type": "string"} for key in outputs}})


TOOLS = [
    tool("films/search", "Find a film.", ("title",), ("film_id",)),
    tool("films/credits", HOSTILE, ("film_id",), ("person_id",)),
    tool("mail/address", "Find an address.", ("name",), ("address",)),
    tool("mail/send", "Send mail.", ("address", "text")),
]
CALLS = ("films/search", "films/credits", "mail/address", "mail/send")
TRACES = [Trace("t1", "", tuple(map(Call, CALLS)), ((0, 1), (1, 3), (2, 3)))]
GROUPS = (
    Group("capability/c", "capability", CALLS[:2], CALLS[:2], 3),
    Group("meta/m", "meta", ("capability/c", "mail/send"), (*CALLS[:2], "mail/send"), 2),
)
PLAN = Plan(
    "Mail Ada the credits of a film",
    (
        Task("a", "films/search", "tool", (), ("title",)),
        Task("b", "mail/address", "tool", (), ("name",)),
        Task("c", "films/credits", "tool", ("a",), ("film_id",)),
        Task("d", "mail/send", "tool", ("c", "b"), ("address", "text")),
    ),
    (("a", "b"), ("c",), ("d",)),
    0.8,
    ("t1",),
    ("mail/send?text",),
    contains=GROUPS,
)
INTENT = PLAN.intent
HELD = r'<script id="held" type="application/json">(.*?)</script>'


@pytest.fixture
def known(tools: Tools) -> Tools:
    """The tools and traces above, taken in."""
    tools.register(TOOLS)
    tools.observe(TRACES)
    return tools


@pytest.fixture
def file(known: Tools, tmp_path: Path) -> Path:
    """The page with a plan, as a file."""
    path = tmp_path / "tools.html"
    path.write_text(known.page(PLAN), encoding="utf-8")
    return path


def held(page: str) -> dict[str, Any]:
    """The answers in a page."""
    found = re.search(HELD, page, re.DOTALL)
    assert found
    return json.loads(found[1])["answers"]


def test_the_page_is_complete_and_names_nobody_else(known: Tools) -> None:
    """No file, script, style or font of another place; a policy that forbids them; a description cannot end the data."""
    page = known.page()
    assert "default-src 'none'" in page
    assert re.findall(r"(?:src|href|action)\s*=\s*[\"'](?!data:|#)", page) == []
    assert re.findall(r"https?://[^\s\"']+", page) == []
    assert "owned'</script>" not in page
    assert page.count("</script>") == 4
    assert known.page() == page


def test_the_page_holds_no_traces_and_no_places(file: Path) -> None:
    """A page may be shown to others: the questions that were asked and the database's place stay at home."""
    answers = held(file.read_text())
    assert set(answers) == {f"/tools{rest}" for rest in ("", "/stats", "/graph", "/search", "/predict", "/suggest")}
    assert answers["/tools/stats"]["database"] == ""


def test_what_is_drawn_is_what_is_known() -> None:
    """Nodes, and arcs of each kind with their evidence."""
    data = graph_record(TOOLS, TRACES, {group.id: group for group in GROUPS})
    names = [node["id"] for node in data["nodes"]]
    assert sorted(names) == sorted([*CALLS, "capability/c", "meta/m"])
    shown = {node["id"]: (node["kind"], node["name"]) for node in data["nodes"]}
    assert shown["capability/c"] == ("capability", "search → credits")
    assert shown["meta/m"] == ("meta", "search → credits ⇒ send")
    arcs = {
        (tuple(sorted(names[n] for n in arc["tail"])), names[arc["head"]], arc["kind"], arc["seen"])
        for arc in data["arcs"]
    }
    assert arcs == {
        (("films/search",), "films/credits", "sequence", 1),
        (("films/credits", "mail/address"), "mail/send", "sequence", 1),
        (("films/search",), "films/credits", "provides", 0),
        (("mail/address",), "mail/send", "provides", 0),
        (("films/credits", "films/search"), "capability/c", "contains", 0),
        (("capability/c", "mail/send"), "meta/m", "contains", 0),
    }


def test_nothing_known_is_a_page_too(tools: Tools) -> None:
    """No tool, no trace, no plan."""
    answers = held(tools.page())
    assert (answers["/tools"]["items"], answers["/tools/graph"]["nodes"]) == ([], [])


@pytest.mark.slow
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [1200, 380])
def test_it_fits_and_asks_for_nothing(browser: Page, file: Path, width: int, dark: bool) -> None:
    """On a desk and on a phone, by day and by night: no request, no complaint, nothing beside the edge."""
    browser.go(file, width=width, height=800, dark=dark)
    browser.until("document.querySelectorAll('.plan-sheet .task').length == 4")
    assert browser.js("document.querySelectorAll('.plan-line').length") == sum(len(t.depends_on) for t in PLAN.tasks)
    for tab, drawn in (("Catalogue", "[role=grid]"), ("Connections", ".drawing .node"), ("Plan a task", ".task")):
        browser.js(f"[...document.querySelectorAll('[role=tab]')].find(tab => tab.textContent == '{tab}').click()")
        browser.until(f"document.querySelector('{drawn}')")
        assert browser.js("document.documentElement.scrollWidth <= innerWidth"), tab
    paper = browser.js("getComputedStyle(document.body).backgroundColor")
    assert (sum(map(int, re.findall(r"\d+", paper)[:3])) < 150) == dark
    assert browser.requests() == [file.as_uri()]
    assert browser.complaints() == []
    assert "owned" not in browser.js("document.title")


@pytest.mark.slow
def test_the_page_leads_nowhere_else(browser: Page, file: Path) -> None:
    """Views, traces and plans that the file does not hold are not offered; an address of one says so."""
    browser.go(file)
    browser.until("document.querySelector('.task')")
    assert browser.js("[...document.querySelectorAll('[role=tab]')].map(tab => tab.textContent)") == [
        *("Catalogue", "Plan a task", "Connections"),
    ]
    links = "[...document.querySelectorAll('a[href]')].map(link => link.getAttribute('href'))"
    assert {link.partition("?")[0] for link in browser.js(links)} == {"#main", "#/tools"}
    assert not [link for link in browser.js(links) if "traces" in link]
    browser.js("location.hash = '#/tools?tab=plan&q=something+else'")
    browser.until("document.body.innerText.includes('This file holds another plan')")
    browser.js("location.hash = '#/memory'")
    browser.until("document.body.innerText.includes('There is no view called')")


@pytest.mark.slow
def test_tools_are_found_and_told(browser: Page, file: Path) -> None:
    """Typing finds tools by name and description; the chosen one is told, its hostile description as text."""
    browser.go(file)
    browser.until("document.querySelector('.task')")
    browser.js("location.hash = '#/tools?tool=films/credits'")
    browser.js("location.hash = '#/tools'")
    browser.until("document.querySelector('.tools-grid')")
    browser.js("document.querySelector('main input[type=search]').focus()")
    browser.type("credits")
    browser.until("document.querySelectorAll('.tools-grid [role=row] b').length == 1")
    browser.js("document.querySelector('.tools-grid [role=row] b').click()")
    browser.until("document.querySelector('.beside').innerText.includes('film_id')")
    assert "<img src=x" in browser.js("document.querySelector('.beside').innerText")


@pytest.mark.slow
def test_of_hundreds_of_tools_the_most_used_are_drawn_with_their_chains(
    browser: Page, tools: Tools, tmp_path: Path
) -> None:
    """No chain stands without its tools, and no name is cut by the frame."""
    tools.register(tool(f"desk/handle_the_{number}_of_the_day", "Handle it.") for number in range(300))
    chains = [[f"desk/handle_the_{first + n}_of_the_day" for n in range(3)] for first in range(0, 270, 3)]
    traces = [Trace(f"{n}.{m}", f"day {n}", tuple(map(Call, chain))) for n, chain in enumerate(chains) for m in (0, 1)]
    tools.observe(traces)
    file = tmp_path / "tools.html"
    file.write_text(tools.page(), encoding="utf-8")
    for width in (1280, 380):
        browser.go(file, width=width, height=800)
        browser.until("document.querySelectorAll('.drawing .node:not(.unnamed)').length > 1")
        count = "document.querySelectorAll('.drawing .node .{}').length"
        drawn, arcs = [browser.js(count.format(kind)) for kind in ("function", "type")], ".drawing .arc.contains"
        circles, squares = drawn
        assert (circles >= 100, squares >= 20) == (True, True), drawn
        assert browser.js(f"document.querySelectorAll('{arcs}').length") == squares
        assert (
            browser.js("""(() => {
                const frame = document.querySelector('.drawing').getBoundingClientRect();
                const names = [...document.querySelectorAll('.drawing .node:not(.unnamed) text')];
                return names.filter(name => {
                    const box = name.getBoundingClientRect();
                    return box.left < frame.left - 2 || box.right > frame.right + 2;
                }).map(name => name.textContent);
            })()""")
            == []
        )
