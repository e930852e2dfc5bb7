"""The documentation as a site: built without a warning, whole, and quiet in a real browser."""

from __future__ import annotations

import functools
import http.server
import json
import os
import re
import subprocess
import sys
import urllib.parse
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest

from loopback import running
from needed import package, program
from vademecum import __version__

TOP = Path(__file__).parents[1]

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, beside one of an older version that is there already."""
    for name in ("sphinx", "myst_parser", "furo"):
        package(name)
    out = tmp_path_factory.mktemp("site")
    (out / "0.0.9").mkdir()
    (out / "0.0.9" / "index.html").write_text("older")
    command = [sys.executable, TOP / "website" / "build.py", "--out", out]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"versions: {__version__}, 0.0.9" in done.stdout
    return out


class Links(HTMLParser):
    """The places that a page leads to, and those within it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.names: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if value and name in {"href", "src"}:
                self.links.append(value)
            if value and name == "id":
                self.names.add(value)


def test_every_page_is_there_and_every_link_leads_somewhere(site: Path) -> None:
    """Each page of docs has one of the site, and no link within the site is broken, down to the heading."""
    top = site / __version__
    for page in (TOP / "docs").rglob("*.md"):
        assert (top / page.relative_to(TOP / "docs").with_suffix(".html")).exists(), page.name
    pages = {path: Links(path.read_text(encoding="utf-8")) for path in top.rglob("*.html")}
    broken = []
    for path, page in pages.items():
        for link in page.links:
            parts = urllib.parse.urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = Path(os.path.normpath(path.parent / urllib.parse.unquote(parts.path))) if parts.path else path
            if not target.exists() or (
                target in pages and parts.fragment and parts.fragment not in pages[target].names
            ):
                broken.append(f"{path.name}: {link}")
    assert sorted(set(broken)) == []


def test_older_versions_stay(site: Path) -> None:
    """The newest is where one arrives, and the older one is on the list."""
    assert f"url={__version__}/index.html" in (site / "index.html").read_text()
    listed = re.findall(r'href="([^"]+)/index.html"', (site / "versions.html").read_text())
    assert listed == [__version__, "0.0.9"]


@pytest.fixture
def served(site: Path) -> Iterator[str]:
    """The site on a loopback address."""

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            """Say nothing."""

    handler = functools.partial(Quiet, directory=str(site))
    with running(http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)) as server:
        yield f"http://127.0.0.1:{server.server_port}"


@pytest.mark.parametrize("page", ["index.html", "cli.html", "search.html?q=memory"])
def test_a_page_asks_nobody_else(served: str, page: str, tmp_path: Path) -> None:
    """A real browser that shows a page speaks to the server it came from and to no other."""
    log = tmp_path / "net.json"
    command = [
        program("chromium", "chromium-browser", "google-chrome", how="apt install chromium"), "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path / 'profile'}",
        "--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-first-run",
        f"--log-net-log={log}", "--virtual-time-budget=3000", "--dump-dom", f"{served}/{__version__}/{page}",
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert "vademecum" in done.stdout, done.stderr
    said = log.read_text(encoding="utf-8", errors="replace")
    said = said if said.rstrip().endswith("}") else said.rstrip().rstrip(",") + "]}"
    events = json.loads(said)["events"]
    asked = [
        each["params"] for each in events if isinstance(each.get("params"), dict) and "initiator" in each["params"]
    ]
    # The browser asks its maker for this and that by itself: what a page asks for has the page's origin as initiator.
    hosts = {urllib.parse.urlsplit(each["url"]).netloc for each in asked if each["initiator"] == served}
    assert hosts == {urllib.parse.urlsplit(served).netloc}
