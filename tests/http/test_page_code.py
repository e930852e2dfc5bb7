"""Code on the page has the colours of its file, wherever a piece of it begins."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from chromium import Page
from handbook import make_repository
from served import Served, show

pytestmark = pytest.mark.slow

PROSE = "".join(f"    Paragraph {n} of the manual: the harbour lights are lit in order {n}.\n\n" for n in range(60))
PYTHON = f'''\
"""A manual, "quoted" here and there."""


class Harbour:
    """What keeps the lights.

{PROSE}
    The lantern keeper's last remark about the semaphore.
    """

    def signal_semaphore(self, lantern):
        """Signal with a lantern."""
        return {{"lantern": lantern}}
'''
C = (
    "/* Tides and moorings.\n"
    + "".join(f' * {n}: if the "mooring" isn\'t fast, for a while; return to it.\n' for n in range(120))
    + " * the capstan remark */\nint capstan_turns(int turns) {\n  return turns + 1;\n}\n"
)
TYPESCRIPT = (
    "export const page = `\n"
    + "".join(f'  <p class="buoy">The buoy number {n} isn\'t lit, for now.</p>\n' for n in range(120))
    + "  the bellbuoy remark`;\n\nexport function bellbuoy(name: string): string {\n  return name + page;\n}\n"
)
MARKDOWN = (
    "# Charts\n\n```python\n"
    + "".join(f"chart_{n} = 'sounding {n}'\n\n" for n in range(90))
    + "```\n\nThe fathom remark stands outside of the fence, `fathom` is code.\n"
)
FILES = {
    "src/harbour.py": PYTHON, "src/tides.c": C, "src/buoys.ts": TYPESCRIPT, "docs/charts.md": MARKDOWN,
}  # fmt: skip
QUESTIONS = (
    "lantern keeper's last remark semaphore", "lantern keeper's last remark&commit=HEAD", "signal_semaphore", "harbour lights paragraph 40",
    "capstan remark", "mooring fast while 70", "bellbuoy remark", "buoy number 60 lit", "fathom remark", "sounding 80",
)  # fmt: skip
# Of each line of a card the runs of one colour, as they are shown, and as the whole file has them.
SHOWN = """[...document.querySelectorAll('.card')].flatMap(card => {
    const path = card.querySelector('.place bdi').textContent;
    return [...card.querySelectorAll('.card-code .line')].map(line => {
      const runs = [];
      for (const node of line.querySelector('code').childNodes) {
        const kind = node.className || '';
        if (runs.length && runs.at(-1)[0] === kind) runs.at(-1)[1] += node.textContent; else runs.push([kind, node.textContent]);
      }
      return [path, Number(line.querySelector('.number').dataset.n), runs];
    });
})"""
OF_THE_FILE = """import('/page/highlight.js').then(async ({ lines }) => {
    const told = await (await fetch('/v1/open?target=' + encodeURIComponent(%r))).json();
    return lines(told.snippet, told.language).map(pieces => {
      const runs = [];
      for (const [kind, text] of pieces) {
        const name = kind && `t-${kind}`;
        if (runs.length && runs.at(-1)[0] === name) runs.at(-1)[1] += text; else runs.push([name, text]);
      }
      return runs;
    });
})"""
COLOURED = "!document.querySelector('.card[data-colours]')"


@pytest.fixture(scope="module")
def manual(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Files with long docstrings, comments, templates and fences."""
    top = tmp_path_factory.mktemp("manual")
    server = Served(make_repository(top / "manual", FILES).path, top / "home")
    yield server
    server.close()


def test_a_snippet_has_the_colours_of_its_file(browser: Page, manual: Served) -> None:
    """Also where it begins inside a docstring, a block comment, a template or a fence; shut and open."""
    files: dict[str, list[object]] = {}
    inside, compared = set(), 0
    for question in QUESTIONS:
        show(browser, manual, f"#/search?q={question.replace(' ', '%20')}", height=6000)
        for _ in ("shut", "open"):
            browser.until(COLOURED)
            for path, number, runs in browser.js(SHOWN):
                if path not in files:
                    files[path] = browser.js(OF_THE_FILE % path)
                assert runs == files[path][number - 1], (question, path, number)
                compared += 1
            firsts = browser.js(
                "[...document.querySelectorAll('.card .line:first-child')].map(line => "
                "[line.closest('.card').querySelector('.place bdi').textContent, Number(line.querySelector('.number').dataset.n)])"
            )
            inside |= {path for path, number in firsts if _is_inside(path, number)}
            browser.js("document.querySelectorAll('.places .card:not(:has(.line))').forEach(card => card.toggle())")
            browser.until("[...document.querySelectorAll('.card')].every(card => card.querySelector('.line'))")
    assert inside == set(FILES), "every kind was met by a snippet that begins in the middle of it"
    assert compared > 200


def _is_inside(path: str, number: int) -> bool:
    """Whether a line is one of the long string, comment or fence of its file, and not the first."""
    text = FILES[path]
    opening, closing = {"src/harbour.py": ("class", "keeper's"), "docs/charts.md": ("```p", "```\n\nThe")}.get(
        path, ("", "remark")
    )
    first = text[: text.index(opening)].count("\n") + 1
    return first + 2 < number <= text[: text.index(closing)].count("\n") + 1


def test_no_more_is_asked_for_than_is_looked_at(browser: Page, manual: Served) -> None:
    """The text before snippets is read when one of them comes onto the screen, and once for all snippets of a file."""
    show(browser, manual, "#/search?q=harbour%20lights%20lit%20buoy%20sounding", height=500)
    far = "[...document.querySelectorAll('.card')].filter(card => card.getBoundingClientRect().top > 2 * innerHeight)"
    browser.until("!document.querySelector('.card').dataset.colours")
    assert browser.js(f"{far}.length") > 2
    assert browser.js(f"{far}.some(card => card.dataset.colours === 'unknown')")
    show(browser, manual, "#/search?q=harbour%20lights%20lit%20buoy%20sounding", height=6000)
    browser.until(COLOURED)
    asked = [url for url in browser.requests() if "/v1/open" in url]
    assert 1 <= len(asked) == len(set(asked)) <= len(FILES)
    assert browser.complaints() == [], manual.said()


def test_a_snippet_that_begins_as_declared_asks_for_nothing(browser: Page, manual: Served) -> None:
    """A declaration is code, whatever stands before it."""
    show(browser, manual, "#/search?q=signal_semaphore&path=src/harbour.py")
    told = """import('/page/parts/before.js').then(({ beginsAsCode }) => [
      { snippet: 'def f(\\n  x):', start_line: 9, signature: 'def f( x)' },
      { snippet: '    says nothing\\nof it', start_line: 9, signature: 'def f( x)' },
      { snippet: 'anything', start_line: 1, signature: '' },
      { snippet: '', start_line: 9, signature: 'def f( x)' },
      { snippet: 'anything', start_line: 9, signature: '' },
    ].map(beginsAsCode))"""
    assert browser.js(told) == [True, False, True, False, False]
