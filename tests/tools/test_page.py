"""The page about tools: complete in itself, and what a real browser makes of it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from chromium import Page, opened
from vademecum.tools.page import graph_page
from vademecum.tools.records import Call, Group, Plan, Task, Tool, Trace

HOSTILE = "</script><script>document.title = 'owned'</script><img src=x onerror=\"document.title='owned'\">"


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    """A browser; continuous integration has to have one."""
    yield from opened(tmp_path_factory.mktemp("profile"))


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
# An element's text, an attribute, a count: what a test asks of the page.
FOCUSED = "document.activeElement.dataset.id || document.activeElement.id"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """The page with a plan, as a file."""
    path = tmp_path / "tools.html"
    path.write_text(graph_page(TOOLS, TRACES, PLAN, GROUPS), encoding="utf-8")
    return path


def test_the_page_is_complete_and_names_nobody_else() -> None:
    """No file, script, style or font of another place; a policy that forbids them; a description cannot end the data."""
    page = graph_page(TOOLS, TRACES, PLAN)
    assert "default-src 'none'" in page
    assert re.findall(r"(?:src|href|action)\s*=\s*[\"'](?!data:)", page) == []
    assert set(re.findall(r"https?://[^\s\"']+", page)) == {"http://www.w3.org/2000/svg"}  # the name of a notation
    assert "owned'</script>" not in page
    assert page.count("</script>") == 2
    assert graph_page(TOOLS, TRACES, PLAN) == page


def test_what_is_drawn_is_what_is_known() -> None:
    """Nodes, arcs of each kind with their evidence, and of each input of the plan where it comes from."""
    page = graph_page(TOOLS, TRACES, PLAN, GROUPS)
    found = re.search(r'<script id="data" type="application/json">(.*?)</script>', page, re.DOTALL)
    assert found
    data = json.loads(found[1])
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
    inputs = {task["id"]: {one["name"]: one["from"] for one in task["inputs"]} for task in data["plan"]["tasks"]}
    assert inputs == {"a": {"title": ""}, "b": {"name": ""}, "c": {"film_id": "a"}, "d": {"address": "b", "text": ""}}


def test_nothing_known_is_a_page_too() -> None:
    """No tool, no trace, no plan."""
    assert '"nodes":[]' in graph_page([], [])


@pytest.mark.slow
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [1200, 380])
def test_it_fits_and_asks_for_nothing(browser: Page, file: Path, width: int, dark: bool) -> None:
    """On a desk and on a phone, by day and by night: no request, no complaint, nothing beside the edge, all lines drawn."""
    browser.go(file, width=width, height=800, dark=dark)
    assert browser.js("document.querySelectorAll('#links > path').length") == sum(
        len(task.depends_on) for task in PLAN.tasks
    )
    for view in ("plan", "map", "list"):
        browser.js(f"document.getElementById('tab-{view}').click()")
        assert browser.js("document.documentElement.scrollWidth <= innerWidth"), view
    paper = browser.js("getComputedStyle(document.body).backgroundColor")
    assert (sum(map(int, re.findall(r"\d+", paper)[:3])) < 150) == dark
    assert browser.requests() == [file.as_uri()]
    assert browser.complaints() == []
    assert browser.js("document.title") == "Tools and how they lead to each other"


@pytest.mark.slow
def test_the_plan_is_shown_in_layers(browser: Page, file: Path) -> None:
    """Tasks of a layer stand above each other, later layers to the right, and what is missing is said."""
    browser.go(file)
    lefts = browser.js(
        "[...document.querySelectorAll('.task')].map(task => [task.dataset.id, Math.round(task.getBoundingClientRect().left)])"
    )
    at = dict(lefts)
    assert at["a"] == at["b"] < at["c"] < at["d"]
    assert "mail/send?text" in browser.js("document.getElementById('about-plan').textContent")
    within = browser.js("document.getElementById('within').textContent")
    assert "meta-capability: search → credits ⇒ send, seen in 2 traces" in within
    browser.js("[...document.querySelectorAll('#within button')].at(-1).click()")
    said = browser.js("document.getElementById('detail').textContent")
    assert "Containssearch → credits and mail/send" in said, "a level opens what it is made of"
    assert "asks for title" in browser.js("document.querySelector('.task').textContent")


@pytest.mark.slow
def test_the_plan_by_keyboard(browser: Page, file: Path) -> None:
    """Tab reaches the tasks, arrows go between them, Enter shows one with its inputs and neighbours."""
    browser.go(file)
    for _ in range(3):  # the theme, the views, the first task
        browser.press("Tab")
    assert browser.js(FOCUSED) == "a"
    browser.press("ArrowRight")
    assert browser.js(FOCUSED) == "c"
    browser.press("Enter")
    said = browser.js("document.getElementById('detail').textContent")
    assert "films/credits" in said
    assert "film_id from films/search" in said
    assert "<img src=x" in said, "a description is text"
    assert browser.js("document.querySelectorAll('#links path.on').length") == 2
    assert browser.js("document.title") == "Tools and how they lead to each other"


@pytest.mark.slow
def test_views_and_map_by_keyboard(browser: Page, file: Path) -> None:
    """Arrows change the view and go from tool to tool; the chosen one and its relations stand out; Escape lets go."""
    browser.go(file)
    browser.js("document.getElementById('tab-plan').focus()")
    browser.press("ArrowRight")
    assert browser.js(FOCUSED) == "tab-map"
    assert browser.js("document.querySelectorAll('#drawing .node').length") == 6
    browser.js("document.querySelector('#drawing .node[tabindex=\"0\"]').focus()")
    visited = {browser.js("document.querySelector('#detail h2').textContent")}
    for key in ("ArrowRight", "ArrowDown", "ArrowLeft", "ArrowLeft"):
        browser.press(key)
        visited.add(browser.js("document.querySelector('#detail h2').textContent"))
    assert len(visited) > 1
    assert visited <= {*CALLS, "search → credits", "search → credits ⇒ send"}
    assert browser.js("document.querySelectorAll('#drawing .node.chosen').length") == 1
    before = browser.js("document.getElementById('drawing').getAttribute('viewBox')")
    browser.press("+")
    assert browser.js("document.getElementById('drawing').getAttribute('viewBox')") != before
    browser.press("Escape")
    assert browser.js("document.querySelectorAll('#drawing .chosen, #drawing .dim').length") == 0


@pytest.mark.slow
def test_kinds_can_be_left_out_and_tools_found(browser: Page, file: Path) -> None:
    """A box takes a kind of relation off the map; typing finds tools by name and description."""
    browser.go(file)
    browser.js("document.getElementById('tab-map').click()")
    drawn = "document.querySelectorAll('#drawing .arc').length"
    assert browser.js(drawn) == 6
    browser.js("document.querySelector('#kinds input').click()")
    assert browser.js(drawn) == 4
    browser.js("document.getElementById('tab-list').click(); document.getElementById('filter').focus()")
    for letter in "address":
        browser.press(letter)
    assert browser.js("[...document.querySelectorAll('#names button')].map(b => b.firstChild.textContent)") == [
        "mail/address"
    ]
    browser.js("document.querySelector('#names button').click()")
    assert "Leads to" in browser.js("document.getElementById('detail').textContent")


@pytest.mark.slow
def test_thousands_of_tools_are_drawn_in_part(browser: Page, tmp_path: Path) -> None:
    """The most used ones are on the map, all are in the list, and it says so."""
    many = [tool(f"s{number % 9}/tool_{number}", "Does something.") for number in range(3000)]
    traces = [Trace(f"t{number}", "", (Call(many[number].id), Call(many[number + 1].id))) for number in range(400)]
    path = tmp_path / "many.html"
    path.write_text(graph_page(many, traces), encoding="utf-8")
    browser.go(path)
    assert browser.js("document.querySelectorAll('#drawing .node').length") == 150
    assert "150 most used of 3000" in browser.js("document.getElementById('left-out').textContent")
    assert browser.js("document.getElementById('count').textContent") == "3000 tools, the first 200 shown"
    assert browser.complaints() == []
