"""Servers that speak as the real ones do, what is set to ask each, and an engine that does."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from loopback import running

sys.path.insert(0, str(Path(__file__).parent))
from wire import (
    AzureServer,
    ClickUpServer,
    ConfluenceServer,
    FileServer,
    GraphServer,
    JiraServer,
    WireServer,
)


@dataclass
class Case:
    """One provider, the server it asks, and what is set."""

    provider: str
    server: WireServer
    options: dict[str, Any]

    def put(self, number: int, title: str = "", changed: float | None = None, **more: Any) -> None:
        """Make or change an item."""
        at = {} if changed is None else {"changed": changed}
        match self.provider:
            case "jira":
                at = {} if changed is None else {"updated": changed}
                self.server.put(f"ABC-{number}", title, **at, **more)
            case "azure-devops":
                self.server.put(number, title, **at, **more)
            case "clickup":
                at = {} if changed is None else {"updated": changed}
                self.server.put(f"task{number:04}", title, **at, **more)
            case "confluence":
                self.server.put(str(1000 + number), title, **at, **more)
            case "sharepoint":
                text = f"# {title or f'Guide {number}'}\n\nAbout {number}.\n"
                self.server.put(f"file{number}", f"guide-{number}.md", text.encode(), **at, **more)

    def drop(self, number: int) -> None:
        """Delete an item."""
        match self.provider:
            case "jira":
                del self.server.issues[str(10_000 + number)]
            case "azure-devops":
                del self.server.work[number]
            case "clickup":
                del self.server.tasks[f"task{number:04}"]
            case "confluence":
                del self.server.pages[str(1000 + number)]
            case "sharepoint":
                self.server.drop(f"file{number}")

    def key(self, number: int) -> str:
        """What people call an item."""
        form = {
            "jira": "ABC-{}", "azure-devops": "AB#{}", "clickup": "CU-task{:04}", "confluence": "1{:03}", "sharepoint": "Guides/guide-{}.md",
        }  # fmt: skip
        return form[self.provider].format(number)


ADA = {"user": "ada@example.org", "token": "t0ken"}
CASES: dict[
    str, tuple[str, Callable[[], WireServer], str, dict[str, Any]]
] = {  # provider, server, path below its address, options
    "jira-cloud": ("jira", JiraServer, "", {"api": "3", "project": "ABC", **ADA}),
    "jira-dc": ("jira", lambda: JiraServer(cloud=False), "", {"token": "t0ken", "project": "ABC"}),
    "azure-devops": ("azure-devops", AzureServer, "/fabrikam", {"project": "Web Shop", "token": "t0ken"}),
    "clickup": ("clickup", ClickUpServer, "/api/v2", {"team": "42", "token": "pk_1_KEY"}),
    "confluence-cloud": ("confluence", ConfluenceServer, "/wiki", {"api": "2", "space": "TEAM", **ADA}),
    "confluence-dc": (
        "confluence",
        lambda: ConfluenceServer(cloud=False),
        "/wiki",
        {"token": "t0ken", "space": "TEAM"},
    ),
    "sharepoint": ("sharepoint", GraphServer, "/v1.0", {"site": "contoso.sharepoint.com/sites/team", "token": "t0ken"}),
}


def _case(name: str) -> Case:
    provider, make, path, options = CASES[name]
    server = make()
    return Case(provider, server, {"url": server.url + path, **options})


@pytest.fixture
def make_case() -> Iterator[Callable[[str], Case]]:
    """Start the server of a case, by name."""
    with ExitStack() as stack:

        def make(name: str) -> Case:
            case = _case(name)
            case.server.most = 2
            if hasattr(case.server, "kept"):
                case.server.kept = stack.enter_context(running(FileServer()))
            stack.enter_context(running(case.server))
            return case

        yield make


@pytest.fixture(params=CASES)
def case(request: pytest.FixtureRequest, make_case: Callable[[str], Case]) -> Case:
    """Every case, one after another."""
    return make_case(request.param)


@pytest.fixture
def set_up() -> Callable[..., None]:
    """Write sources into the user's file: `set_up(work={"provider": "jira", …})`."""

    def write(**sources: dict[str, Any]) -> None:
        lines = []
        for name, options in sources.items():
            lines.append(f"[sources.{name.replace('_', '-')}]")
            lines += [f"{option} = {_toml(value)}" for option, value in options.items()]
        file = Path(os.environ["XDG_CONFIG_HOME"]) / "vademecum" / "config.toml"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("\n".join(lines) + "\n", encoding="utf-8")

    return write


def _toml(value: object) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_toml, value))}]"
    return f'"{value}"' if isinstance(value, str) else str(value).lower()
