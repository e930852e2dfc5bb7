"""Items are found beside the code, say where a person sees them, and are linked to the code and commits that name them."""

from __future__ import annotations

import json
import re
import shutil
import sqlite3
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from vademecum.code.documented_codebase import keys_in
from vademecum.engine import Engine
from vademecum.errors import Error, StoreVersionError, UnknownError, UsageError

sys.path.insert(0, str(Path(__file__).parent))
from wire import DAY, NOW

Open = Callable[..., Any]
CODE = '''\
def retry(call):
    """Call again, see ABC-2."""
    return call()


def other():
    """Nothing to do with any issue but UTF-8 and SHA-256."""
    return 1
'''


@pytest.fixture
def place(repo: Open) -> Any:
    made = repo("shop", {"src/net.py": CODE, "src/quiet.py": "def quiet():\n    return 0\n"})
    made.write("src/quiet.py", "def quiet():\n    return 1\n")
    made.commit("ABC-3 Keep quiet\n\nAlso AB#7.")
    return made


@pytest.fixture
def jira(make_case: Any, set_up: Any) -> Any:
    case = make_case("jira-cloud")
    set_up(work={"provider": "jira", **case.options})
    case.put(1, "Colours of buttons", description="Make every button green.", state="x")
    case.put(2, "Calls fail now and then", description="A failing network call has to be repeated with a pause.")
    case.put(3, "Log less", description="Nobody reads the log.", updated=NOW - DAY)
    return case


@pytest.fixture
def own(jira: Any, place: Any, engine: Open) -> Any:
    made = engine(place)
    made.codebase.index()
    made.sources.sync("work")
    return made


def test_documents_are_searched_with_the_code(own: Any) -> None:
    answer = own.codebase.search("repeat a failing network call", kind="doc")
    first = answer.evidence[0]
    assert (first.repo, first.path, first.file_kind, str(first.freshness)) == ("work", "ABC-2.md", "doc", "fresh")
    assert first.url.endswith("/browse/ABC-2")
    assert first.updated == "2023-11-05T22:13:20Z"
    assert first.metadata["key"] == "ABC-2"
    assert first.metadata["state"] == "In Progress"
    assert first.metadata["named_in"] == ["src/net.py:2"]
    assert first.metadata["synced"] == "2023-11-14T22:13:20Z"


def test_a_search_for_code_finds_code(own: Any) -> None:
    assert {item.repo for item in own.codebase.search("call again").evidence} == {"shop"}


def test_a_source_can_be_searched_alone(own: Any) -> None:
    for names in (["work"], ["all"]):
        answer = own.codebase.search("green button", sources=names)
        assert answer.evidence[0].path == "ABC-1.md"
        assert {item.repo for item in answer.evidence} == {"work"}
    both = own.codebase.search("retry", sources=["work"], repos=["shop"], k=20)
    assert {item.repo for item in both.evidence} == {"work", "shop"}
    with pytest.raises(UsageError, match="choose among work"):
        own.codebase.search("x", sources=["wrok"])


def test_a_source_that_was_never_fetched_is_said(jira: Any, place: Any, engine: Open) -> None:
    own = engine(place)
    assert own.codebase.search("retry", kind="all").evidence
    own.codebase.search("retry", kind="doc")
    with pytest.raises(UsageError, match="run `vade sync work`"):
        own.codebase.search("retry", sources=["work"])


def test_a_source_belongs_to_the_repositories_that_are_set(jira: Any, place: Any, set_up: Any, engine: Open) -> None:
    for patterns, found in ((["shop"], True), (["other"], False), ([f"{place.path.parent}/*"], True), (["sh*"], True)):
        set_up(work={"provider": "jira", **jira.options, "repos": patterns})
        own = engine(place)
        own.sources.sync("work")
        answer = own.codebase.search("repeat a failing network call", kind="doc")
        assert any(item.repo == "work" for item in answer.evidence) is found
        assert bool(own.codebase.items(own.codebase.symbol("retry").evidence)) is found
        if not found:  # what belongs to others is out of reach by its name as well
            for ask in (
                lambda own=own: own.codebase.search("x", sources=["work"]),
                lambda own=own: own.codebase.search("x", repos=["work"]),
            ):
                with pytest.raises(UsageError, match="is called 'work'"):
                    ask()
            with pytest.raises(UnknownError):
                own.codebase.open("work:ABC-2")


def test_everything_on_this_machine_includes_sources_of_repositories_that_are_not_open(
    jira: Any, place: Any, set_up: Any, repo: Open, engine: Open
) -> None:
    """Asked for by scope, never by itself; and not for whoever may ask about some repositories only."""
    set_up(
        work={"provider": "jira", **jira.options, "repos": ["shop"]},
        idle={"provider": "jira", **jira.options, "repos": ["nobody"]},
    )
    shop = engine(place)
    shop.codebase.index()
    for name in ("work", "idle"):
        shop.sources.sync(name)
    other = engine(repo("other", {"a.py": "def retry():\n    return 2\n"}))
    asked = "repeat a failing network call"
    assert {item.repo for item in other.codebase.search(asked, kind="doc").evidence} == set()
    found = other.codebase.search(asked, kind="doc", scope="all").evidence
    assert (found[0].repo, found[0].path) == ("work", "ABC-2.md")
    assert {item.repo for item in found} == {"work"}, "what belongs to no repository on this machine stays out"
    assert other.codebase.search(asked, sources=["work"], scope="all").evidence[0].path == "ABC-2.md"
    assert other.codebase.search(asked, repos=["work"], scope="all").evidence
    with Engine.open(other.roots[0].path, settings=other.settings, personal=False) as few:
        for more in ({"kind": "doc"}, {"sources": ["work"]}):
            with pytest.raises(Error):
                few.codebase.search(asked, scope="all", **more)


def test_commits_that_name_an_item_are_told_with_it(own: Any) -> None:
    [item] = [each for each in own.codebase.search("log less", sources=["work"]).evidence if each.path == "ABC-3.md"][
        :1
    ]
    [commit] = item.metadata["commits"]
    assert commit.endswith("2024-01-02 ABC-3 Keep quiet")
    assert "named_in" not in item.metadata


def test_code_leads_to_the_items_it_names(own: Any) -> None:
    [named] = own.codebase.items(own.codebase.symbol("retry").evidence)
    assert (named.key, named.source, named.why, named.title) == (
        "ABC-2",
        "work",
        "src/net.py:2",
        "Calls fail now and then",
    )
    assert named.url.endswith("/browse/ABC-2")
    assert own.codebase.items(own.codebase.symbol("other").evidence) == []
    [named] = own.codebase.items(own.codebase.symbol("quiet").evidence)
    assert re.fullmatch(r"lines by commit [0-9a-f]{9} 2024-01-02 ABC-3 Keep quiet", named.why)


def test_commits_that_wrote_the_lines_come_before_those_that_changed_the_file(own: Any, place: Any) -> None:
    place.write("src/quiet.py", "def loud():\n    return 9\n\n\ndef quiet():\n    return 1\n")
    place.commit("ABC-1 Be loud")
    found = own.codebase.items(own.codebase.symbol("quiet").evidence)
    assert [(item.key, item.why.partition(" commit")[0]) for item in found] == [
        ("ABC-3", "lines by"),
        ("ABC-1", "file changed by"),
    ]
    found = own.codebase.items(own.codebase.symbol("loud").evidence)
    assert [(item.key, item.why.partition(" commit")[0]) for item in found] == [
        ("ABC-1", "lines by"),
        ("ABC-3", "file changed by"),
    ]


def test_what_comes_later_is_linked_too(own: Any, place: Any, jira: Any) -> None:
    assert own.codebase.items(own.codebase.symbol("other").evidence) == []
    place.write("src/net.py", CODE.replace("Nothing to do", "See ABC-1. Nothing to do"))
    place.commit("Say more")
    assert [item.key for item in own.codebase.items(own.codebase.symbol("other").evidence)] == ["ABC-1"]
    place.write("src/quiet.py", "def quiet():\n    return 2\n")
    place.commit("ABC-1 again")
    assert [item.key for item in own.codebase.items(own.codebase.symbol("quiet").evidence)] == ["ABC-1", "ABC-3"]
    jira.put(9, "Late")
    place.write("src/quiet.py", "def quiet():\n    return 3  # ABC-9\n")
    assert own.codebase.items(own.codebase.symbol("quiet").evidence)[0].key != "ABC-9"
    jira.server.now = NOW + DAY
    jira.put(9, "Late", NOW + DAY)
    own.sources.sync("work")
    assert own.codebase.items(own.codebase.symbol("quiet").evidence)[0].key == "ABC-9"


def test_a_context_brings_what_was_asked_for_in_the_backlog(own: Any) -> None:
    shown = own.context("repeat a failing network call").text
    assert "## items" in shown
    assert "ABC-2  Calls fail now and then" in shown
    assert "/browse/ABC-2" in shown
    tight = own.context("repeat a failing network call", 60)
    assert tight.tokens <= 60


def test_an_item_is_opened_by_its_key_or_path(own: Any) -> None:
    whole = own.codebase.open("work:ABC-2")
    assert whole.snippet.startswith("# ABC-2: Calls fail now and then\n")
    assert whole.url.endswith("/browse/ABC-2")
    assert own.codebase.open("work:ABC-2.md:1").snippet == "# ABC-2: Calls fail now and then"
    for wrong in ("work:ABC-99", "work:../../index.db", "work:ABC-2.md:900"):
        with pytest.raises(UsageError):
            own.codebase.open(wrong)


def test_derived_files_are_made_anew_without_asking_anybody(own: Any, place: Any, jira: Any, engine: Open) -> None:
    repo = own.codebase.sources()[0]
    for file in repo.catalogue.directory.glob("*.safetensors"):
        file.unlink()
    jira.server.asked.clear()
    answer = engine(place).codebase.search("green button", sources=["work"])
    assert answer.evidence[0].path == "ABC-1.md"
    assert jira.server.asked == []


def test_another_embedder_reads_items_again_without_asking_anybody(
    own: Any, place: Any, jira: Any, engine: Open
) -> None:
    jira.server.asked.clear()
    answer = engine(place, embedder="static").codebase.search("green button", sources=["work"])
    assert answer.evidence[0].path == "ABC-1.md"
    assert jira.server.asked == []


def test_a_clean_up_keeps_what_there_is_and_drops_what_was(own: Any, jira: Any) -> None:
    jira.put(1, "Quite another", NOW)
    jira.server.now = NOW + DAY
    jira.put(1, "Quite another", NOW + DAY)
    own.sources.sync("work")
    assert own.codebase.gc().blobs >= 1
    assert own.codebase.search("quite another", sources=["work"]).evidence[0].path == "ABC-1.md"
    assert own.codebase.items(own.codebase.symbol("retry").evidence)[0].key == "ABC-2"


def test_a_damaged_database_is_set_aside_and_fetched_again(own: Any, place: Any, engine: Open) -> None:
    database = own.codebase.sources()[0].catalogue.directory / "index.db"
    own.close()
    for suffix in ("-wal", "-shm"):
        Path(f"{database}{suffix}").unlink(missing_ok=True)
    database.write_bytes(b"no database" * 1000)
    again = engine(place)
    report = again.sources.sync("work")
    assert (report.full, report.items) == (True, 3)
    assert database.with_name("index.db.damaged").exists()


def test_a_source_that_cannot_be_read_is_left_out_and_said(own: Any, place: Any, engine: Open) -> None:
    database = own.codebase.sources()[0].catalogue.directory / "index.db"
    own.close()
    with sqlite3.connect(database) as connection:
        connection.execute("PRAGMA user_version = 9999")
    connection.close()
    again = engine(place)
    answer = again.codebase.search("quiet", kind="doc")
    assert "source work is left out" in answer.reason
    assert again.codebase.symbol("retry").evidence
    assert again.codebase.items(again.codebase.symbol("retry").evidence) == []
    assert again.context("quiet").text
    with pytest.raises(StoreVersionError):
        again.codebase.search("quiet", sources=["work"])


def test_a_source_is_named_as_evidence_names_it(own: Any) -> None:
    answer = own.codebase.search("green button", repos=["work"])
    assert {item.repo for item in answer.evidence} == {"work"}
    first = answer.evidence[0]
    shown = own.codebase.open(f"{first.path}:{first.start_line}-{first.end_line}", repo=first.repo)
    assert shown.snippet == first.snippet


def test_nothing_of_sources_costs_where_none_is_set(repo: Open, engine: Open) -> None:
    own = engine(repo())
    own.codebase.search("budget", kind="doc")
    own.context("budget")
    assert own.codebase.items(own.codebase.symbol("Budget").evidence) == []
    tables = own.codebase._repositories[0][0].catalogue.store
    assert tables.scan("named_in_code").unwrap() == []
    assert not (own.settings.home / "sources").exists()


def test_the_folder_of_a_source_that_vanished_is_no_trouble(own: Any, place: Any, engine: Open) -> None:
    directory = own.codebase.sources()[0].catalogue.directory
    own.close()
    shutil.rmtree(directory)
    assert engine(place).codebase.search("retry", kind="doc") is not None


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("see ABC-123", ["ABC-123"]),
        ("(ABC-123), ABC_D2-4!", ["ABC-123", "ABC_D2-4"]),
        ("AB#42 and CU-86a1b2c3", ["AB#42", "CU-86a1b2c3"]),
        ("x-ABC-1 ABC-1-2 abc-1 A-1 ABC-12345678901 ABC-1x", []),
        ("https://x.atlassian.net/browse/ABC-9?focused=1", ["ABC-9"]),
        ("https://x.atlassian.net/wiki/spaces/T/pages/98765/Title and pageId=12345", ["98765"]),
        ("https://wiki.example/pages/viewpage.action?pageId=12345", ["12345"]),
        ("https://dev.azure.com/f/p/_workitems/edit/7", ["AB#7"]),
        ("https://app.clickup.com/t/86a1b2 https://app.clickup.com/t/9012/DEV-7", ["CU-86a1b2", "DEV-7"]),
        ("", []),
    ],
)
def test_what_names_an_item(text: str, keys: list[str]) -> None:
    assert [key for key, _ in keys_in(text)] == keys


def test_tasks_are_named_by_number_and_by_key(make_case: Any, set_up: Any, repo: Open, engine: Open) -> None:
    case = make_case("clickup")
    set_up(work={"provider": "clickup", **case.options})
    case.put(1)
    case.put(2, custom_id="DEV-2")
    place = repo(
        "app", {"a.py": "# CU-task0001\nX = 1\n", "b.py": "# CU-task0002\nY = 1\n", "c.py": "# DEV-2\nZ = 1\n"}
    )
    own = engine(place)
    own.codebase.index()
    own.sources.sync("work")
    named = {
        path: [item.key for item in own.codebase.items(own.codebase.chunks(path))] for path in ("a.py", "b.py", "c.py")
    }
    assert named == {"a.py": ["CU-task0001"], "b.py": ["DEV-2"], "c.py": ["DEV-2"]}


def test_the_commands_show_it(
    own: Any, place: Any, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from vademecum.cli import main

    own.close()
    monkeypatch.chdir(place.path)
    monkeypatch.setenv("VADE_SEARCH__EMBEDDER", "hashing")

    def vade(*arguments: str) -> str:
        assert main(arguments) == 0
        return capfd.readouterr().out

    found = vade("search", "repeat a failing network call", "--kind", "doc")
    assert "work:ABC-2.md:1-" in found
    assert "/browse/ABC-2  In Progress  updated 2023-11-05  fetched 2023-11-14  named in src/net.py:2" in found
    assert "work:ABC-1.md" in vade("search", "green button", "--source", "work")
    assert "items\n  ABC-2  Calls fail now and then  [In Progress]" in vade("symbol", "retry")
    assert "(src/net.py:2)" in vade("related", "src/net.py:1")
    assert json.loads(vade("related", "src/net.py:1", "--json"))["items"][0]["key"] == "ABC-2"
    assert json.loads(vade("symbol", "retry", "--json"))["items"][0]["key"] == "ABC-2"
    [first, *_] = json.loads(vade("search", "repeat a failing call", "--source", "work", "--json"))["evidence"]
    assert first["url"].endswith("/browse/ABC-2")
    assert first["updated"] == "2023-11-05T22:13:20Z"
    assert "ABC-2" in vade("context", "repeat a failing network call")
    assert "# ABC-2" in vade("open", "work:ABC-2")


def test_agents_are_shown_it(own: Any) -> None:
    from vademecum.mcp.registry import TOOLS

    shown = TOOLS["symbol"].call(own, {"name": "retry"})
    assert "ABC-2  Calls fail now and then" in shown.text
    assert shown.data["items"][0]["key"] == "ABC-2"
    assert "ABC-2" in TOOLS["symbol"].call(own, {"name": "retry", "relation": "callers"}).text
    found = TOOLS["search"].call(own, {"query": "repeat a failing network call", "kind": "doc"})
    assert "work:ABC-2.md" in found.text
    first = found.data["sections"][0]["chunks"][0]
    assert (first["repo"], first["path"]) == ("work", "ABC-2.md")
    assert "# ABC-2" in TOOLS["open"].call(own, {"location": "work:ABC-2"}).text
