"""The page of `vade graph --html` in a real browser: names can be read, what is chosen is told, nothing is asked for."""

from __future__ import annotations

import pytest

from vademecum.answers.neighbours import graph_page
from vademecum.code.graph.surroundings import surroundings

FILES = {
    "hub.py": "class CentralHub:\n    def run(self): ...\n",
    **{
        f"users/uses_it_number_{n}.py": f"from hub import CentralHub\n\n\ndef uses_the_hub_for_{n}(hub: CentralHub):\n    hub.run()\n"
        for n in range(40)
    },
}
NAMES = "[...document.querySelectorAll('.node:not(.unnamed) text')]"


@pytest.fixture
def drawn(repo, engine):
    """The graph around a class that many files use."""
    return surroundings(engine(repo("app", FILES)).codebase.graph(), "CentralHub")


@pytest.mark.slow
@pytest.mark.parametrize("width", [1200, 380])
def test_everything_is_drawn_and_nothing_asked_for(drawn, browser, tmp_path, width):
    """All nodes are drawn, the centre's name among those that have room; the page fits and makes no request."""
    file = tmp_path / "graph.html"
    file.write_text(graph_page(drawn, "app"), "utf-8")
    browser.go(file, width=width, height=800)
    browser.until("document.querySelectorAll('.node').length == 80")
    assert 5 < browser.js(f"{NAMES}.length") < 80
    assert "CentralHub" in browser.js(f"{NAMES}.map(text => text.textContent)")
    assert browser.js("document.documentElement.scrollWidth <= innerWidth")
    assert browser.js("document.title").startswith("Graph")
    assert browser.requests() == [file.as_uri()]
    assert browser.complaints() == []


@pytest.mark.slow
def test_one_walks_through_the_file(drawn, browser, tmp_path):
    """Each node that the file holds can be asked for, by a click or by name; what it does not hold is said."""
    file = tmp_path / "graph.html"
    file.write_text(graph_page(drawn, "app"), "utf-8")
    browser.go(file)
    user = (
        "[...document.querySelectorAll('.graph-about .steps a')].find(a => a.innerText.startsWith('uses_the_hub_for_'))"
    )
    name = browser.until(f"{user}?.innerText")
    browser.js(f"{user}.click()")
    about = "document.querySelector('.graph-about').innerText"
    browser.until(f"document.querySelector('h1').innerText == '{name}' && {about}.includes('CentralHub')")
    assert browser.js("document.querySelectorAll('.node').length") < 80
    browser.js("document.querySelector('main input').value = ''; document.querySelector('main input').focus()")
    browser.type("Uses_the_hub_for_2")
    browser.until(
        "[...document.querySelectorAll('[role=option]')].some(each => each.innerText.includes('uses_the_hub_for_2'))"
    )
    browser.js("location.hash = '#/graph?symbol=uses_the_hub_for_2'")
    browser.until(f"{about}.includes('Nothing that this file holds')")
    browser.js("location.hash = '#/graph?symbol=unheard'")
    browser.until("document.body.innerText.includes('Nothing here has that name')")
    browser.js("[...document.querySelectorAll('button')].find(each => each.innerText == 'Overview').click()")
    browser.until("document.querySelectorAll('.node').length == 80")
    assert browser.complaints() == []


@pytest.mark.slow
def test_a_relation_is_taken_out_of_the_drawing(repo, engine, browser, tmp_path):
    """Without its tick, no edge of the relation is seen."""
    file = tmp_path / "graph.html"
    file.write_text(graph_page(surroundings(engine(repo("app", FILES)).codebase.graph(), "hub.py"), "app"), "utf-8")
    browser.go(file)
    browser.until("document.querySelector('.check')")
    shown = "[...document.querySelectorAll('.edge')].filter(edge => edge.closest('.drawing') && edge.style.display != 'none').length"
    before = browser.js(shown)
    label = browser.js("document.querySelector('.check').innerText")
    browser.js("document.querySelector('.check input').click()")
    assert browser.js(shown) == before - int(label.partition("(")[2].rstrip(")")) < before
