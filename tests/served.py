"""A server of its own over a small repository, and the page it shows: what the page's tests stand on."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from typing import Any

from chromium import Page
from handbook import SAMPLE, make_repository
from needed import lacking

AXE = Path(__file__).parent / "http" / "node_modules" / "axe-core" / "axe.min.js"
PAGE = Path(__file__).parents[1] / "src" / "vademecum" / "http" / "page"
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
MANY = 300  # tools of one more server: a catalogue longer than any screen
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
    "traces": "#/tools?tab=traces",
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

    def said(self) -> str:
        """The end of its log: why the page complains."""
        return self.log.read_text()[-6000:]

    def close(self) -> None:
        """End the server as a person would."""
        self.process.send_signal(signal.SIGINT)
        self.process.wait(60)


def handbook(top: Path) -> Served:
    """Serve the sample with hostile and long files, something remembered, tools and how they were used."""
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
    return server


def schema(server: str, name: str, about: str, takes: list[str], gives: list[str]) -> dict[str, Any]:
    return {
        "server": server, "name": name, "description": about,
        "inputSchema": {"type": "object", "properties": {key: {"type": "string"} for key in takes}, "required": takes},
        "outputSchema": {"type": "object", "properties": {key: {"type": "string"} for key in gives}},
    }  # fmt: skip


def show(browser: Page, served: Served, hash_: str, **size: Any) -> None:
    """Open a view and wait until it has its answers."""
    browser.go(served.url + hash_, **size)
    browser.until(READY)


def axe() -> str:
    if not AXE.exists():
        lacking("axe-core")
    return AXE.read_text(encoding="utf-8")


def serious(browser: Page) -> list[str]:
    """What axe finds that would keep somebody out."""
    browser.js(axe() + "; 0")
    ran = browser.js("axe.run(document, {resultTypes: ['violations']}).then(done => JSON.stringify(done.violations))")
    return [
        f"{each['impact']} {each['id']}: {node['html'][:200]} {node['failureSummary'][:300]}"
        for each in json.loads(ran)
        for node in each["nodes"][:3]
        if each["impact"] in {"serious", "critical"}
    ]
