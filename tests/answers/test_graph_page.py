"""The page of `vade graph --html` in a real browser: names can be read, what is chosen is told, nothing is asked for."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from chromium import Page, opened
from vademecum.answers.page import graph_page
from vademecum.codebase.surroundings import surroundings

FILES = {
    "hub.py": "class CentralHub:\n    def run(self): ...\n",
    **{
        f"users/uses_it_number_{n}.py": f"from hub import CentralHub\n\n\ndef uses_the_hub_for_{n}(hub: CentralHub):\n    hub.run()\n"
        for n in range(40)
    },
}
NAMES = "[...document.querySelectorAll('.node text')].filter(text => getComputedStyle(text).visibility == 'visible')"
BOXES = f"{NAMES}.map(text => text.getBoundingClientRect()).map(at => [at.left, at.top, at.right, at.bottom])"


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    """A browser; continuous integration has to have one."""
    yield from opened(tmp_path_factory.mktemp("profile"))


@pytest.mark.slow
@pytest.mark.parametrize("width", [1200, 380])
def test_names_do_not_lie_on_each_other(repo, engine, browser, tmp_path, width):
    """Of the nodes all are drawn, of the names those that have room; the chosen one's and some more are always there."""
    file = tmp_path / "graph.html"
    file.write_text(graph_page(surroundings(engine(repo("app", FILES)).codebase.graph(), "CentralHub"), "app"), "utf-8")
    browser.go(file, width=width, height=800)
    boxes = browser.js(BOXES)
    assert browser.js("document.querySelectorAll('.node').length") == 80
    assert 5 < len(boxes) < 80
    assert "CentralHub" in browser.js(f"{NAMES}.map(text => text.textContent)")
    for number, (left, top, right, bottom) in enumerate(boxes):
        for other in boxes[number + 1 :]:
            assert right <= other[0] or other[2] <= left or bottom <= other[1] or other[3] <= top
    frame = browser.js("document.getElementById('graph').getBoundingClientRect().right")
    assert max(right for _, _, right, _ in boxes) <= frame
    assert browser.requests() == [file.as_uri()]
    assert browser.complaints() == []


@pytest.mark.slow
def test_what_is_left_out_is_left_out_of_the_list_too(repo, engine, browser, tmp_path):
    """A kind of edge that is switched off is neither drawn nor told; a file is told by its path alone."""
    file = tmp_path / "graph.html"
    file.write_text(graph_page(surroundings(engine(repo("app", FILES)).codebase.graph(), "hub.py"), "app"), "utf-8")
    browser.go(file)
    assert browser.js("document.querySelector('#about code').textContent") == "file  hub.py"
    assert "imports exact" in browser.js("document.getElementById('about').textContent")
    kinds = "[...document.querySelectorAll('#kinds label')].find(label => label.textContent.trim() == 'imports')"
    browser.js(f"{kinds}.querySelector('input').click()")
    assert "imports exact" not in browser.js("document.getElementById('about').textContent")
