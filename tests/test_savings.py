"""The ledger of savings: every answer is counted once, whoever writes beside, and it tells nothing of the questions."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from datetime import date, datetime, timedelta
from pathlib import Path

import pytest

from handbook import SAMPLE, make_repository
from vademecum import config
from vademecum.cli import main
from vademecum.engine import Engine
from vademecum.errors import ConfigError
from vademecum.mcp.registry import TOOLS
from vademecum.savings import BYTES_PER_TOKEN, FOLDER, record, rows

DAY = date(2026, 11, 24)
WRITER = """
import sys
from datetime import date
from pathlib import Path
from vademecum.savings import record
for n in range(200):
    record(Path(sys.argv[1]), sys.argv[2], 10, 100, date(2026, 11, 24 + n // 100))
"""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data directory of the test's own, and no settings of the user."""
    for name in [name for name in os.environ if name.startswith("VADE_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("VADE_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return tmp_path / "data"


@pytest.fixture
def repository(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository that is the current directory."""
    root = make_repository(tmp_path / "handbook").path
    monkeypatch.chdir(root)
    return root


def today() -> str:
    return datetime.now().astimezone().date().isoformat()


def ask(root: Path, tool: str, **arguments: object) -> str:
    """Ask a tool as an agent does; returns the answer's text."""
    with Engine.open(str(root)) as engine:
        return TOOLS[tool].call(engine, arguments).text


def test_an_answer_counts_beside_the_files_it_shows(
    repository: Path, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A search, a definition, a context and an opened file: each distinct file once an answer, by its size."""
    text = ask(repository, "open", location="src/budget.py:1-3")
    (row,) = rows(home)
    assert (row.day, row.repo, row.answers) == (today(), str(repository), 1)
    assert row.answer_tokens == round(len(text.encode()) / BYTES_PER_TOKEN)
    assert row.file_tokens == round(len(SAMPLE["src/budget.py"].encode()) / BYTES_PER_TOKEN)
    for tool, arguments in (
        ("search", {"query": "split the token budget"}),
        ("symbol", {"name": "retry_with_backoff"}),
        ("context", {"task": "split the token budget"}),
    ):
        before = rows(home)[0]
        ask(repository, tool, **arguments)
        after = rows(home)[0]
        assert after.answers == before.answers + 1
        assert 0 < after.file_tokens - before.file_tokens <= sum(len(text) for text in SAMPLE.values()) / 3
    capsys.readouterr()
    assert main(["savings"]) == 0
    said = capsys.readouterr().out
    assert f"{today()}  " in said
    assert said.splitlines()[1].split()[2] == "4"
    assert "it might have read less than the whole files" in said
    assert main(["savings", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["rows"][0]["answers"] == 4
    assert told["enabled"] is True


def test_answers_that_show_no_lines_are_not_counted(
    repository: Path, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Callers, recall and a search that finds nothing stand for no file; with no answer counted, the exit code is 1."""
    ask(repository, "symbol", name="retry_with_backoff", relation="callers")
    ask(repository, "recall", question="what was decided")
    assert ask(repository, "search", query="zyzzyva quokka xylograph").startswith("not found")
    assert rows(home) == []
    capsys.readouterr()
    assert main(["savings", "--days", "3"]) == 1
    assert "no answer to an agent was counted in the last 3 days" in capsys.readouterr().err


def test_the_ledger_tells_nothing_of_the_question_and_is_the_user_s_alone(repository: Path, home: Path) -> None:
    """Four values a line, in a file of mode 0600 in a directory of mode 0700."""
    ask(repository, "search", query="split the token budget")
    (path,) = (home / FOLDER).iterdir()
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700
    (line,) = [line for line in path.read_text().splitlines() if line]
    repo, *numbers = json.loads(line)
    assert repo == str(repository)
    assert len(numbers) == 3
    assert all(isinstance(number, int) for number in numbers)


def test_a_setting_switches_it_off(
    repository: Path, home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing is written then, and the verb says why there is nothing; a repository cannot switch it on or off."""
    monkeypatch.setenv("VADE_SAVINGS__ENABLED", "false")
    ask(repository, "search", query="split the token budget")
    assert not (home / FOLDER).exists()
    capsys.readouterr()
    assert main(["savings"]) == 1
    assert "savings.enabled is false" in capsys.readouterr().err
    monkeypatch.delenv("VADE_SAVINGS__ENABLED")
    (repository / ".vade.toml").write_text("[savings]\nenabled = false\n")
    with pytest.raises(ConfigError, match=r"savings\.enabled"):
        config.load(str(repository))


def test_processes_that_write_at_once_lose_nothing(home: Path) -> None:
    """Four processes, two of them in one repository, over the turn of a day."""
    record(home, "/a", 1, 2, DAY - timedelta(1))
    record(home, "/a", 1, 2, DAY - timedelta(1))
    running = [subprocess.Popen([sys.executable, "-c", WRITER, str(home), repo]) for repo in ("/a", "/a", "/b", "/c")]
    assert [process.wait(timeout=120) for process in running] == [0] * 4
    found = {(row.day, row.repo): (row.answers, row.answer_tokens, row.file_tokens) for row in rows(home)}
    for day in ("2026-11-24", "2026-11-25"):
        of_day = {repo: found[day, repo] for repo in ("/a", "/b", "/c")}
        assert of_day == {"/a": (200, 2000, 20_000), "/b": (100, 1000, 10_000), "/c": (100, 1000, 10_000)}
    assert found["2026-11-23", "/a"] == (2, 2, 4)


def test_rows_begin_with_a_day(home: Path) -> None:
    """The latest day comes first, and days before the asked one are left out."""
    for past in range(4):
        record(home, "/a", 1, 1, DAY + timedelta(past))
    assert [row.day for row in rows(home, DAY + timedelta(2))] == ["2026-11-27", "2026-11-26"]
    assert len(rows(home)) == 4


def test_a_damaged_line_spoils_itself_alone(home: Path) -> None:
    """A write that was cut short and lines of another form are passed over, and what comes after counts."""
    record(home, "/a", 10, 100, DAY)
    path = home / FOLDER / f"{DAY}.jsonl"
    with path.open("a") as file:
        file.write('["/b", "many", 1, 2]\n7\n["/c", 1]\n[["/d"], 1, 2, 3]\n["/a", 1, 10')
    record(home, "/a", 10, 100, DAY)
    (row,) = rows(home)
    assert (row.repo, row.answers, row.answer_tokens, row.file_tokens) == ("/a", 2, 20, 200)


def test_an_answer_never_fails_for_its_ledger(repository: Path, home: Path) -> None:
    """A ledger that cannot be written, as one whose place a file holds, leaves the answer as it is."""
    home.mkdir(exist_ok=True)
    (home / FOLDER).write_text("in the way")
    assert "src/budget.py" in ask(repository, "search", query="split the token budget")
