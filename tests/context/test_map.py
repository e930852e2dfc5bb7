"""A repository in so many tokens: what is central first, seen from a task or from files, and never a token too many."""

from __future__ import annotations

import asyncio
import json

import pytest

from vademecum import AsyncEngine
from vademecum.code.graph.outline import Entry
from vademecum.context.map import draw
from vademecum.errors import UsageError
from vademecum.index.tokenize import PatternCounter
from vademecum.mcp.registry import TOOLS

APP = {
    "app/store.py": 'class Store:\n    """Keeps things."""\n\n    def get(self, key):\n        return key\n\n    def put(self, key):\n        return key\n',
    "app/names.py": "Key = str\nMAX = 3\n\n\ndef shorten(name):\n    return name[:MAX]\n",
    **{
        f"app/user_{n}.py": f"from app.names import Key\nfrom app.store import Store\n\n\ndef use_{n}(store: Store, key: Key):\n    return store.get(key)\n"
        for n in range(6)
    },
    "app/lonely.py": "def lonely():\n    return helper()\n\n\ndef helper():\n    return 1\n",
    "tests/test_all.py": "from app.store import Store\nfrom app.lonely import lonely\n\n\ndef test_all():\n    assert Store().get(1)\n    assert lonely()\n",
}  # fmt: skip


def shown(drawn):
    return [(entry.path, entry.qualified) for entry in drawn.entries]


def test_what_much_leads_to_comes_first(repo, engine):
    drawn = engine(repo("app", APP)).map((), 120)
    assert drawn.entries[0].path == "app/store.py"
    assert drawn.text.startswith("# Map of app\n```\napp/store.py\n  1 class Store\n")
    assert drawn.tokens == PatternCounter().count(drawn.text) <= 120


def test_a_task_that_asks_for_all_is_no_question(repo, engine):
    """A word for the whole centred the map on the files that say it."""
    used = engine(repo("app", APP | {"docs/overview.md": "# Overview\n\nAn overview of the repository.\n"}))
    assert used.map((), 120, task="Overview of the repository").text == used.map((), 120).text


def test_where_a_program_begins_comes_before_a_helper(repo, engine):
    """A function that all call and that calls nothing says less of a program than what holds it together."""
    files = {
        f"app/part_{n}.py": f"from app.text import trim\n\n\ndef step_{n}(it):\n    return trim(it)\n" for n in range(6)
    }
    steps = [f"from app.part_{n} import step_{n}\n" for n in range(6)]
    files["app/text.py"] = "def trim(it):\n    return it\n"
    files["app/run.py"] = (
        "".join(steps) + "\n\ndef serve(it):\n" + "".join(f"    it = step_{n}(it)\n" for n in range(6))
    )
    files["main.py"] = "from app.run import serve\n\n\ndef main():\n    serve(1)\n"
    paths = list(dict.fromkeys(path for path, _ in shown(engine(repo("app", files)).map((), 2_000))))
    assert paths[0] == "app/run.py"
    assert paths.index("main.py") < paths.index("app/part_0.py")


def test_aliases_and_constants_do_not_fill_the_map(repo, engine):
    """Everything names `Key`; nobody learns anything from it."""
    drawn = engine(repo("app", APP)).map((), 2_000)
    assert "Key" not in {name for _, name in shown(drawn)}
    assert "MAX" not in {name for _, name in shown(drawn)}


def test_tests_come_last(repo, engine):
    order = shown(engine(repo("app", APP)).map((), 2_000))
    assert order.index(("tests/test_all.py", "test_all")) > order.index(("app/lonely.py", "lonely"))


def test_a_long_changelog_comes_last(repo, engine):
    """Nobody learns from a hundred sections of earlier releases where to begin."""
    sections = "".join(f"## 1.{n}\n\n- mended\n\n" for n in range(100))
    drawn = engine(repo("app", APP | {"CHANGELOG.md": f"# Changelog\n\n{sections}"})).map((), 2_000)
    assert shown(drawn)[-1][0] == "CHANGELOG.md"


def test_a_map_is_drawn_around_files(repo, engine):
    opened = engine(repo("app", APP))
    assert opened.map(("app/lonely.py",), 60).entries[0].path == "app/lonely.py"
    assert opened.map((), 60).entries[0].path != "app/lonely.py"
    with pytest.raises(UsageError, match=r"'app/none\.py' is not indexed"):
        opened.map(("app/none.py",), 60)


def test_a_map_is_drawn_around_a_task(repo, engine):
    drawn = engine(repo("app", APP)).map((), 80, task="shorten a name")
    assert drawn.entries[0].path == "app/names.py"
    assert drawn.text.startswith("# Map of app for: shorten a name\n")


def test_a_part_of_a_repository_is_mapped_by_itself(repo, engine):
    app = repo("app", APP)
    assert {path.partition("/")[0] for path, _ in shown(engine(app.path / "tests").map((), 500))} == {"tests"}


def test_a_map_as_json(repo, engine):
    drawn = engine(repo("app", APP)).map((), 300, form="json")
    said = json.loads(drawn.text)
    first = said["repositories"][0]["files"][0]
    assert (first["path"], first["declarations"][0]["name"]) == ("app/store.py", "Store")
    assert drawn.tokens <= 300


def test_repositories_share_the_budget(repo, engine):
    both = engine(repo("one", APP), repo("two", APP)).map((), 200)
    assert "# Map of one\n" in both.text
    assert "# Map of two\n" in both.text
    assert {entry.repo for entry in both.entries} == {"one", "two"}


def test_files_without_declarations_are_named(repo, engine):
    """Notes and settings have no symbols, and are on the map all the same."""
    drawn = engine(repo("notes", {"a.md": "# One\n\ntext\n", "b.txt": "words\n"})).map((), 200)
    assert {path for path, _ in shown(drawn)} >= {"b.txt"}


@pytest.mark.parametrize("budget", [1, 5, 20, 50, 100, 1_000])
@pytest.mark.parametrize("form", ["markdown", "json"])
def test_a_map_is_never_over_its_budget(budget, form):
    entries = [
        Entry(
            "r",
            f"dir/file_{n % 7}.py",
            n,
            n,
            f"Class{n}.method",
            "method",
            f"def method{n}(self, 語彙: str) -> '```'",
            1 / (n + 1),
        )
        for n in range(200)
    ]
    for counter in (PatternCounter(), type("Bytes", (), {"name": "b", "count": lambda _, text: len(text.encode())})()):
        drawn = draw([("r", entries), ("empty", [])], budget, counter, form=form)
        assert drawn.tokens == counter.count(drawn.text) <= budget
        assert bool(drawn) == bool(drawn.entries)
        assert drawn.left_out == 200 - len(drawn.entries)
        assert drawn.text.count("```") in {0, 2} or form == "json"


def test_wrong_calls_are_named(repo, engine):
    opened = engine(repo("app", APP))
    with pytest.raises(UsageError, match="at least 1"):
        opened.map((), 0)
    with pytest.raises(UsageError, match="markdown, json"):
        opened.map((), 10, form="xml")


def test_the_loop_and_the_tool_draw_it(repo, engine):
    app = repo("app", APP)

    async def ask():
        async with await AsyncEngine.open(str(app.path)) as opened:
            return await opened.map((), 100)

    assert "app/store.py" in asyncio.run(ask()).text
    outcome = TOOLS["context"].call(engine(app), {"task": "", "mode": "map", "budget": 200})
    assert outcome.text.startswith("# Map of app\n")
    assert "app/store.py:1" in outcome.data["shown"]


def test_the_verb_takes_files_and_directories(repo, monkeypatch, capsys):
    from vademecum.cli import main

    app = repo("app", APP)
    monkeypatch.chdir(app.path)
    assert main(["map", "app/lonely.py", "--budget", "60"]) == 0
    assert "lonely" in capsys.readouterr().out.splitlines()[2]
    assert main(["map", "tests", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["repositories"][0]["files"][0]["path"] == "tests/test_all.py"
    assert main(["map", "--task", "shorten a name", "--budget", "80"]) == 0
    assert "app/names.py" in capsys.readouterr().out
    assert main(["map", "--budget", "1"]) == 1
    assert main(["map", "nowhere"]) == 2


def test_how_central_something_is_follows_an_edit(repo, engine):
    """What is kept of a state is not taken for that of another."""
    files = {
        "a.py": "def used():\n    return 1\n",
        "b.py": "from a import used\n\n\ndef caller():\n    return used()\n",
    }
    made = repo("kept", files)
    opened = engine(made)
    first = {e.qualified: e.rank for e in opened.codebase.outline() if e.qualified} if opened.codebase.graph() else {}
    assert {e.qualified: e.rank for e in opened.codebase.outline() if e.qualified} == first
    made.write("b.py", "def caller():\n    return 2\n")
    opened.codebase.index()
    second = {e.qualified: e.rank for e in opened.codebase.outline() if e.qualified}
    assert second["used"] < first["used"]


def test_a_map_may_be_of_a_part(repo, engine):
    """Of a folder or of what a glob covers; where nothing lies that is said."""
    opened = engine(repo("app", {"a/one.py": "def first(): ...\n", "b/two.py": "def second(): ...\n"}))
    assert {entry.path for entry in opened.map(within=("a",)).entries} == {"a/one.py"}
    assert {entry.path for entry in opened.map(within=("**/two.py",)).entries} == {"b/two.py"}
    with pytest.raises(UsageError, match="nothing that is indexed lies in c"):
        opened.map(within=("c",))


def test_a_session_is_shown_a_declaration_once(repo, engine):
    """What was declared otherwise since is new, what only moved is not."""
    made = repo("app", {"a.py": "def first(): ...\n\n\ndef second(x): ...\n"})
    opened = engine(made)
    names = [entry.qualified for entry in opened.map(session="s").entries if entry.qualified]
    assert sorted(names) == ["first", "second"]
    again = opened.map(session="s")
    assert (again.entries, again.shown_before) == ((), 3)
    assert again.text == "3 shown before in this session\n# Map of app\n"
    assert opened.map(session="other").entries
    made.write("a.py", "# moved\n\ndef first(): ...\n\n\ndef second(x, y): ...\n")
    assert [entry.qualified for entry in opened.map(session="s").entries] == ["second"]


def test_the_tool_draws_a_map_of_a_path_for_a_session(repo, engine):
    """As `context` does what it gathers."""
    opened = engine(repo("app", {"a/one.py": "def first(): ...\n", "b/two.py": "def second(): ...\n"}))
    asked = {"task": "", "mode": "map", "path": "a", "session": "s"}
    assert TOOLS["context"].call(opened, asked).data["shown"] == ["a/one.py:1"]
    assert TOOLS["context"].call(opened, asked).data["shown"] == []
