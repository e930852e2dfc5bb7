"""`vade sync`: what changed comes in, what is gone goes, and nothing is lost or doubled wherever a run is cut short."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from vademecum import config
from vademecum.code.checkout.source import blob_id
from vademecum.code.snapshot.view import file_rows
from vademecum.errors import ConfigError, ConsentError, StoreBusyError, SyncError, UnknownProviderError, UsageError
from vademecum.items import Comment, Item, Page
from vademecum.result import Err, Ok
from vademecum.settings import SourceSettings
from vademecum.sources.fetched import document_of, path_of, readable
from vademecum.sources.sources import sync
from vademecum.wiring.parts import Parts

sys.path.insert(0, str(Path(__file__).parent))
from wire import DAY, NOW

Open = Callable[..., Any]


def told(engine: Any, name: str = "work") -> dict[str, str]:
    """Every item that is known of a source, and what its document says."""
    items = next(repo for repo in engine.codebase.sources() if repo.name == name).items
    paths = [entry.path for entry in items.listing()]
    texts = {path: source.text.decode() for path, source in items.read(paths)}
    return {items.at(path).key: texts[path] for path in paths}


def indexed(engine: Any, name: str = "work") -> set[str]:
    """The paths that a search can find."""
    repo = next(repo for repo in engine.codebase.sources() if repo.name == name)
    return set(repo.catalogue.load(*repo.place)[1].files.paths)


@pytest.fixture
def work(case: Any, set_up: Any) -> Any:
    """A source called `work`, for each kind of server in turn."""
    set_up(work={"provider": case.provider, **case.options})
    case.server.now = NOW
    return case


@pytest.fixture
def jira(make_case: Any, set_up: Any) -> Any:
    case = make_case("jira-cloud")
    set_up(work={"provider": "jira", **case.options})
    return case


def test_everything_then_only_what_changed(work: Any, repo: Open, engine: Open) -> None:
    for number in range(1, 6):
        work.put(number)
    own = engine(repo())
    first = own.sources.sync("work")
    assert (first.added, first.changed, first.unchanged, first.removed, first.items, first.full) == (
        5,
        0,
        0,
        0,
        5,
        True,
    )
    again = own.sources.sync("work")
    assert (again.added, again.changed, again.removed, again.items, again.full) == (0, 0, 0, 5, False)
    work.server.now = NOW + DAY
    work.put(2, "Quite another title", NOW + DAY / 2)
    work.put(6, changed=NOW + DAY / 2)
    later = own.sources.sync("work")
    assert (later.added, later.changed, later.removed, later.items) == (1, 1, 0, 6)
    assert set(told(own)) == {work.key(number) for number in range(1, 7)}
    assert "Quite another title" in told(own)[work.key(2)]
    assert len(indexed(own)) == 6


def test_what_is_gone_goes_with_everything_and_only_then(jira: Any, repo: Open, engine: Open) -> None:
    for number in range(1, 6):
        jira.put(number)
    own = engine(repo())
    own.sources.sync("work")
    jira.drop(3)
    assert own.sources.sync("work").removed == 0
    assert set(told(own)) == {f"ABC-{number}" for number in range(1, 6)}
    report = own.sources.sync("work", full=True)
    assert (report.removed, report.unchanged, report.items) == (1, 4, 4)
    assert "ABC-3.md" not in indexed(own)
    assert not any(item.path == "ABC-3.md" for item in own.codebase.search("ABC-3", sources=["work"]).evidence)


def test_what_a_server_says_is_gone_goes_at_once(make_case: Any, set_up: Any, repo: Open, engine: Open) -> None:
    case = make_case("sharepoint")
    set_up(work={"provider": case.provider, **case.options})
    case.put(1)
    case.put(2)
    own = engine(repo())
    own.sources.sync("work")
    case.drop(1)
    assert own.sources.sync("work").removed == 1
    assert set(told(own)) == {case.key(2)}
    case.server.expired = True
    case.put(3)
    report = own.sources.sync("work")
    assert (report.full, report.added, report.items) == (True, 1, 2)


def test_a_page_that_moved_up_is_not_taken_for_deleted(make_case: Any, set_up: Any, repo: Open, engine: Open) -> None:
    """A deletion between two pages of a server that counts pushes an item past the reader: a second look finds it."""
    case = make_case("jira-dc")
    set_up(work={"provider": case.provider, **case.options})
    for number in range(1, 6):
        case.put(number)
    own = engine(repo())
    own.sources.sync("work")
    search, calls = case.server._search, []

    def deleting(body: Any) -> Any:
        calls.append(body)
        found = search(body)
        if len(calls) == 1:
            case.drop(1)
        return found

    case.server._search = deleting
    own.sources.sync("work", full=True)
    assert set(told(own)) == {f"ABC-{number}" for number in range(1, 6)}  # the first was told of before it went
    assert own.sources.sync("work", full=True).removed == 1
    assert set(told(own)) == {"ABC-2", "ABC-3", "ABC-4", "ABC-5"}


def test_a_server_that_suddenly_tells_nothing_is_not_believed(work: Any, repo: Open, engine: Open) -> None:
    for number in range(1, 4):
        work.put(number)
    own = engine(repo())
    own.sources.sync("work")
    for number in range(1, 4):
        work.drop(number)
    with pytest.raises(SyncError, match="nothing was dropped"):
        own.sources.sync("work", full=True)
    assert len(told(own)) == 3


def test_a_run_that_fails_goes_on_where_it_was(work: Any, repo: Open, engine: Open) -> None:
    for number in range(1, 8):
        work.put(number)
    own = engine(repo())
    probe = len(work.server.asked)
    own.sources.sync("work", dry_run=True)
    asked = len(work.server.asked) - probe
    work.server.fault_after, work.server.faults = asked // 2 + 1, [401]
    with pytest.raises(SyncError, match="refused the key"):
        own.sources.sync("work")
    [status] = own.sources.status()
    assert status.pending
    before = status.items
    assert 0 < before < 7
    assert len(indexed(own)) == before  # what came is found already
    report = own.sources.sync("work")
    assert report.resumed
    assert set(told(own)) == {work.key(number) for number in range(1, 8)}
    assert not own.sources.status()[0].pending


class CutError(BaseException):
    """The process dies here."""


def cut_at(line: int, steps: Callable[[], object]) -> bool:
    """Run something and die before the given line of ours, counted as they are run; whether it came that far."""
    count = 0

    def trace(frame: FrameType, event: str, _: object) -> Any:
        nonlocal count
        path = frame.f_code.co_filename
        if not path.endswith(("sources/sources.py", "sources/fetched.py")):
            return None
        if event == "line":
            count += 1
            if count == line:
                raise CutError
        return trace

    sys.settrace(trace)
    try:
        steps()
    except CutError:
        return True
    finally:
        sys.settrace(None)
    return False


def test_a_crash_before_any_line_loses_and_doubles_nothing(
    jira: Any, repo: Open, open_engine: Open, tmp_path: Path
) -> None:
    """Whatever line a run dies before, the next one ends with the same items, and counts as the whole run would."""
    place = repo()
    for number in range(1, 5):
        jira.put(number)
    line, cuts = 1, 0
    while True:
        with open_engine(place, home=tmp_path / f"home{line}") as own:
            was_cut = cut_at(line, lambda own=own: own.sources.sync("work"))
        with open_engine(place, home=tmp_path / f"home{line}") as own:
            report = own.sources.sync("work")
            assert set(told(own)) == {f"ABC-{number}" for number in range(1, 5)}, line
            assert len(indexed(own)) == 4
            assert report.items == 4
            assert not own.sources.status()[0].pending
        if not was_cut:
            break
        cuts += 1
        line += 7  # every line would take minutes; the offsets differ as pages repeat
    assert cuts > 20


def test_a_killed_process_goes_on(jira: Any, repo: Open, engine: Open) -> None:
    """The same with a real process and a real kill, in the middle of a page."""
    for number in range(1, 8):
        jira.put(number)
    place = repo()
    jira.server.fault_after, jira.server.faults = 2, ["slow"]
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    process = subprocess.Popen(
        [sys.executable, "-m", "vademecum", "sync", "work"],
        cwd=place.path,
        env=environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    while len(jira.server.asked) < 3:
        assert process.poll() is None, process.stderr and process.stderr.read()
        threading.Event().wait(0.01)
    process.kill()
    process.communicate()
    own = engine(place, embedder="static")
    assert own.sources.status()[0].items == 4
    report = own.sources.sync("work")
    assert (report.resumed, report.items, report.added) == (True, 7, 7)


def test_a_cursor_that_expired_meanwhile_begins_again(jira: Any, repo: Open, engine: Open) -> None:
    for number in range(1, 8):
        jira.put(number)
    own = engine(repo())
    jira.server.fault_after, jira.server.faults = 2, [401]
    with pytest.raises(SyncError):
        own.sources.sync("work")
    jira.server.tokens.clear()
    jira.drop(1)
    report = own.sources.sync("work")
    assert (report.resumed, report.items) == (True, 7)
    assert own.sources.sync("work", full=True).items == 6


def test_a_server_that_refuses_what_it_just_gave_is_not_asked_for_ever(jira: Any, repo: Open, engine: Open) -> None:
    for number in range(1, 8):
        jira.put(number)
    search = jira.server._search

    def forgetful(body: Any) -> Any:
        jira.server.tokens.clear()
        return search(body)

    jira.server._search = forgetful
    own = engine(repo())
    for _ in range(2):
        jira.server.asked.clear()
        with pytest.raises(SyncError, match="begins again"):
            own.sources.sync("work")
        assert len(jira.server.asked) <= 3


class Changing:
    """A backlog that changes under the eyes of who reads it, and fails when it is told to; a page holds two items."""

    name, remote = "changing", False

    def __init__(self) -> None:
        self.items: dict[int, tuple[float, str]] = {}
        self.now = 1000.0
        self.fail_at = 0

    def page(self, since: float, cursor: str) -> Any:
        self.now += 1
        self.fail_at -= 1
        if self.fail_at == 0:
            return Err(SyncError("down"))
        found = [n for n, (at, _) in sorted(self.items.items()) if at >= since and n > int(cursor or -1)]
        items = [Item(str(n), f"A-{n}", self.items[n][1], updated=self.items[n][0]) for n in found[:2]]
        return Ok(Page(tuple(items), cursor=str(found[1]) if len(found) > 2 else "", at=self.now))


steps = st.lists(
    st.one_of(
        st.tuples(st.just("put"), st.integers(0, 7), st.text("abc", min_size=1, max_size=3)),
        st.tuples(st.just("drop"), st.integers(0, 7), st.just("")),
        st.tuples(st.sampled_from(["sync", "full"]), st.integers(0, 4), st.just("")),
    ),
    max_size=25,
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps)
@example([*(("put", n, "a") for n in (0, 2, 3)), ("sync", 2, ""), ("put", 0, "b"), ("put", 1, "c")])  # behind its back
def test_however_it_came_about_it_is_what_there_is(
    open_engine: Open, tmp_path_factory: Any, what: list[tuple[str, int, str]]
) -> None:
    """Any run of changes, runs and failures, then a last run: every item as it is, and with everything asked for no other."""
    place = tmp_path_factory.mktemp("any")
    with open_engine(place, home=place / "home") as own:
        backlog = Changing()
        parts = Parts(with_source(own.settings), embedder="hashing", clock=lambda: backlog.now)
        source = replace(parts.source("work"), provider=lambda: backlog)
        for step, number, text in what:
            backlog.now += 400
            if step == "put":
                backlog.items[number] = (backlog.now, text)
            elif step == "drop":
                backlog.items.pop(number, None)
            else:
                backlog.fail_at = number
                with suppress(SyncError):
                    sync(source, lambda *_: None, full=step == "full")
        backlog.fail_at = 0
        with suppress(SyncError):  # one that tells of nothing is not believed
            sync(source, lambda *_: None)
        kept = {entry.path: entry.blob for entry in source.repo.items.listing()}
        for number, (_, text) in backlog.items.items():
            assert kept[f"A-{number}.md"] == blob_id(f"# A-{number}: {text}\n".encode())
        if backlog.items:
            sync(source, lambda *_: None, full=True)
            kept = {entry.path: entry.blob for entry in source.repo.items.listing()}
            assert set(kept) == {f"A-{number}.md" for number in backlog.items}
            loaded = source.repo.catalogue.load(*source.repo.place)
            assert {row.path: row.hash for row in file_rows(loaded[1].files)} == kept
        parts.close()


def with_source(settings: Any) -> Any:
    return replace(settings, sources={"work": SourceSettings("changing")})


def test_asking_somewhere_else_asks_for_everything(jira: Any, set_up: Any, repo: Open, engine: Open) -> None:
    jira.put(1)
    jira.server.put("XYZ-2")
    own = engine(repo())
    own.sources.sync("work")
    set_up(work={"provider": "jira", **jira.options, "project": "ABC,XYZ"})
    report = engine(repo()).sources.sync("work")
    assert (report.full, report.added, report.items) == (True, 1, 2)
    set_up(work={"provider": "jira", **jira.options, "project": "ABC,XYZ", "timeout_s": 5})
    assert not engine(repo()).sources.sync("work").full


def test_another_project_takes_the_place_of_the_one_before(jira: Any, set_up: Any, repo: Open, engine: Open) -> None:
    jira.put(1)
    jira.server.put("XYZ-2")
    engine(repo()).sources.sync("work")
    set_up(work={"provider": "jira", **jira.options, "project": "XYZ"})
    own = engine(repo())
    report = own.sources.sync("work")
    assert (report.full, report.added, report.removed) == (True, 1, 1)
    assert set(told(own)) == {"XYZ-2"}


def test_a_dry_run_says_and_keeps_nothing(jira: Any, repo: Open, engine: Open) -> None:
    for number in range(1, 4):
        jira.put(number)
    own = engine(repo())
    report = own.sources.sync("work", dry_run=True)
    assert (report.added, report.items, report.dry_run) == (3, 0, True)
    assert own.sources.status()[0].items == 0
    own.sources.sync("work")
    jira.drop(1)
    jira.put(2, "Changed")
    report = own.sources.sync("work", full=True, dry_run=True)
    assert (report.added, report.changed, report.unchanged, report.removed, report.items) == (0, 1, 1, 1, 3)
    assert "Changed" not in told(own)["ABC-2"]


def test_two_runs_of_one_source_do_not_meet(jira: Any, repo: Open, engine: Open) -> None:
    jira.put(1)
    own, other = engine(repo()), engine(repo())
    search, outcome = jira.server._search, []

    def meeting(body: Any) -> Any:
        if not outcome:
            try:
                other.sources.sync("work")
            except StoreBusyError as error:
                outcome.append(str(error))
        return search(body)

    jira.server._search = meeting
    own.sources.sync("work")
    assert len(outcome) == 1
    assert "fetching" in outcome[0]


def test_two_items_of_one_title_stand_apart(make_case: Any, set_up: Any, repo: Open, engine: Open) -> None:
    case = make_case("confluence-cloud")
    set_up(work={"provider": case.provider, **case.options})
    case.put(1, "Release")
    case.put(2, "Release")
    own = engine(repo())
    own.sources.sync("work")
    assert len(indexed(own)) == 2
    assert "TEAM/Release.md" in indexed(own)
    own.sources.sync("work", full=True)
    assert own.sources.status()[0].items == 2


def test_another_machine_is_not_asked_without_consent(set_up: Any, repo: Open, engine: Open) -> None:
    set_up(work={"provider": "jira", "url": "https://jira.example.org", "token": "t", "project": "ABC"})
    own = engine(repo())
    with pytest.raises(ConsentError, match=r"privacy\.allow_remote"):
        own.sources.sync("work")
    [check] = own.sources.doctor()
    assert check.ok
    assert (check.name, check.ok) == ("source work", True)
    assert (
        "jira at https://jira.example.org, asked in `vade sync` alone; not yet: set privacy.allow_remote"
        in check.detail
    )


@pytest.mark.parametrize(
    "text", ['[sources.work]\nurl = "https://evil.example"\n', '[sources.new]\nprovider = "folder"\npath = "/"\n']
)
def test_a_repository_cannot_turn_on_or_move_a_source(jira: Any, repo: Open, text: str) -> None:
    place = repo()
    place.write(".vade.toml", text)
    with pytest.raises(ConfigError, match="own file cannot turn on or move a source"):
        config.load(place.path)


def test_a_key_comes_from_the_environment_and_is_never_shown(
    jira: Any, set_up: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = {name: value for name, value in jira.options.items() if name != "token"}
    set_up(team_work={"provider": "jira", **options})
    monkeypatch.setenv("VADE_SOURCES__TEAM_WORK__TOKEN", "t0ken")
    settings = config.load()
    assert settings.sources["team-work"].options["token"] == "t0ken"
    shown = {key: value for key, value, _ in settings.items()}
    assert shown["sources.team-work.token"] == config.HIDDEN
    assert shown["sources.team-work.project"] == "ABC"
    assert "t0ken" not in repr(settings)


@pytest.mark.parametrize(
    ("options", "error", "said"),
    [
        ({"provider": "jria"}, UnknownProviderError, "did you mean 'jira'"),
        ({"url": "https://x"}, ConfigError, "has no provider"),
        ({"provider": "jira", "url": "https://x"}, ConfigError, "sources.work.token is not set"),
        ({"provider": "jira", "url": "https://x", "token": "t", "projekt": "A"}, ConfigError, "did you mean 'project'"),
        ({"provider": "jira", "url": "https://x", "token": "t", "project": 5}, ConfigError, "must be text"),
        ({"provider": "folder", "path": "/nowhere/at/all"}, ConfigError, "no directory"),
        ({"provider": "folder", "path": "x", "repos": 5}, ConfigError, "repos"),
    ],
)
def test_what_is_set_wrongly_is_said(
    set_up: Any, repo: Open, engine: Open, options: dict[str, Any], error: type, said: str
) -> None:
    set_up(work=options)
    with pytest.raises(error, match=said):
        engine(repo()).sources.sync("work")


def test_there_is_no_such_source(jira: Any, repo: Open, engine: Open) -> None:
    with pytest.raises(UsageError, match="choose among work"):
        engine(repo()).sources.sync("wrok")


def test_a_text_of_any_kind_becomes_a_document(make_case: Any, set_up: Any, repo: Open, engine: Open) -> None:
    case = make_case("jira-dc")
    set_up(work={"provider": case.provider, **case.options})
    case.put(1, "NUL \0 and \ud800 lone", description="# Top\n\ntext \0\r\nmore")
    case.put(2, "", description=None)
    case.put(3, "x" * 100_000, description="y " * 900_000)
    own = engine(repo())
    own.sources.sync("work")
    found = told(own)
    assert "\0" not in found["ABC-1"]
    assert "## Top" in found["ABC-1"]
    assert found["ABC-3"].endswith("/browse/ABC-3)\n")
    assert own.codebase.search("lone", sources=["work"]).evidence


def test_what_people_pasted_is_not_kept(jira: Any, repo: Open, engine: Open) -> None:
    key = f"ghp_{'a1B2' * 9}"
    jira.put(1, f"Key {key}", description=f"It is {key}, use it.", comments=[("Bea", f"or {key}")])
    own = engine(repo())
    own.sources.sync("work")
    assert key not in told(own)["ABC-1"]
    assert told(own)["ABC-1"].count("[redacted:github-token]") == 3
    database = next((own.settings.home / "sources" / "work").glob("index.db"))
    own.close()
    assert key.encode() not in database.read_bytes()


hostile = st.text(max_size=40) | st.sampled_from(
    ["../../etc/passwd", "/abs", "a//b", "CON", ".", "..", "\0", "a\nb", "x" * 500, "~"]
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(hostile, hostile, hostile)
def test_no_path_climbs(key: str, path: str, title: str) -> None:
    made = path_of(Item("1", key, title, path=path))
    parts = made.split("/")
    assert made.endswith(".md")
    assert not made.startswith("/")
    assert (
        all(part not in {"", ".", ".."} and not part.startswith(".") and part.isprintable() for part in parts)
        or not made.isprintable()
    )
    assert all(len(part) <= 110 for part in parts)


@given(hostile, st.text(), st.text())
def test_every_document_is_text(title: str, body: str, said: str) -> None:
    text = document_of(readable(Item("1", "A-1", title, body, comments=(Comment(said, 1.0, body),))))
    assert text.encode().decode() == text
    assert "\0" not in text
    assert text.startswith("# ")


def test_the_command(jira: Any, repo: Open, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    from vademecum.cli import main

    jira.put(1)
    monkeypatch.chdir(repo().path)

    def vade(*arguments: str) -> tuple[int, str, str]:
        code = main(arguments)
        return code, *capfd.readouterr()

    code, out, _ = vade("sync")
    assert code == 0
    assert "work  jira" in out
    assert "synced never" in out
    code, out, _ = vade("sync", "work", "--dry-run")
    assert "would have 1 new" in out
    code, out, _ = vade("sync", "--all", "--json")
    [report] = json.loads(out)
    assert (code, report["added"], report["source"]) == (0, 1, "work")
    code, out, _ = vade("sync", "--json")
    assert json.loads(out)[0]["items"] == 1
    jira.server.authorization = "another"
    code, _, problem = vade("sync", "work")
    assert code == 3
    assert "sources.work.token" in problem
    code, _, problem = vade("sync", "--all")
    assert code == 3
    assert "refused the key" in problem
    code, _, problem = vade("sync", "wrok")
    assert code == 2
    code, out, _ = vade("doctor")
    assert "source work" in out


def test_the_command_without_sources(
    repo: Open, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from vademecum.cli import main

    monkeypatch.chdir(repo().path)
    assert main(["sync"]) == 0
    assert "no source is set" in capfd.readouterr().out
    assert main(["sync", "--all"]) == 2
