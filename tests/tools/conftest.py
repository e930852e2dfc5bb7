"""A handful of tools and traces of a small office, and the capability over a database of its own."""

from __future__ import annotations

import shutil
from functools import cache

import pytest

from vademecum.plugins import load
from vademecum.storage.sqlite import SqliteStore
from vademecum.testing import FixedClock
from vademecum.tools.observe import trace
from vademecum.tools.records import Call, Tool
from vademecum.tools.tools import Tools

TOOLS = [
    Tool.of("files", "read", "Read a file from the disk.", input_schema={"properties": {"path": {"type": "string"}}}),
    Tool.of("files", "write", "Write text to a file."),
    Tool.of("mail", "send", "Send a message by mail to somebody."),
    Tool.of("mail", "search", "Search the mailbox for messages."),
    Tool.of("web", "fetch", "Fetch a web page by its address."),
    Tool.of("web", "search", "Search the web for pages."),
    Tool.of("calendar", "add_event", "Add an appointment to the calendar."),
    Tool.of("chat", "send", "Send a message to a chat channel."),
]
HABITS = [
    ("mail the report {} to the team", ("files/read", "mail/send")),
    ("look up {} on the web and keep the page", ("web/search", "web/fetch", "files/write")),
    ("find the message about {} and put its date into my calendar", ("mail/search", "calendar/add_event")),
]
TOPICS = (
    "budget",
    "sales",
    "travel",
    "hiring",
    "garden",
    "server",
    "contract",
    "lunch",
    "music",
    "physics",
    "tax",
    "roof",
)


def habits(count=12):
    """Traces of three habits, for as many topics as asked for."""
    return [
        trace(intent.format(topic), tuple(map(Call, tools)), session=f"{topic}-{number}", at=float(number))
        for topic in TOPICS[:count]
        for number, (intent, tools) in enumerate(HABITS)
    ]


@cache
def embedder():
    return load("embedder", "static:prose-1")


@pytest.fixture(scope="session")
def office_database(tmp_path_factory):
    """A database with the office's tools and habits, and what was learned of them; it is copied, never opened again."""
    path = tmp_path_factory.mktemp("office") / "user.db"
    store = SqliteStore(path)
    tools = Tools(lambda: store, embedder, FixedClock())
    tools.register(TOOLS)
    tools.observe(habits())
    tools.settle()
    tools.close()
    store.close()
    return path


@pytest.fixture
def store(request, tmp_path):
    """A database of its own: the office's for a test of the office, else an empty one."""
    if "office" in request.fixturenames:
        shutil.copy(request.getfixturevalue("office_database"), tmp_path / "user.db")
    store = SqliteStore(tmp_path / "user.db")
    yield store
    store.close()


@pytest.fixture
def tools(store):
    """The capability, with nothing in it."""
    tools = Tools(lambda: store, embedder, FixedClock())
    yield tools
    tools.close()


@pytest.fixture
def office(tools):
    """The capability with the office's tools and habits."""
    return tools


@pytest.fixture
def tools_of_office():
    """The office's tools."""
    return list(TOOLS)


@pytest.fixture
def traces_of():
    """What makes the office's habits into traces, for so many topics."""
    return habits


@pytest.fixture
def opened(store):
    """Make the capability anew over the same database, with another embedder if one is given."""
    known = []

    def opened(embeds=None):
        known.append(Tools(lambda: store, (lambda: embeds) if embeds else embedder, FixedClock()))
        return known[-1]

    yield opened
    for tools in known:
        tools.close()


@pytest.fixture
def embedder_of_tests():
    """The built-in embedder."""
    return embedder()
