"""What ended an error before is told when the error comes back, as one that an edit or a command ended."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from vademecum.memory.brief import Brief
from vademecum.memory.episodes import error_lines, past_fix
from vademecum.memory.labels import ENGLISH, FRENCH
from vademecum.memory.records import Event, Role, event_id

ROOT = "/home/ada/app"
RED = """\
____ test_upload ____
    assert retries(upload) == 7
E   AssertionError: upload retries 5 times, not 7
FAILED tests/test_upload.py::test_upload - AssertionError: upload retries 5 times, not 7
1 failed, 3 passed in 0.31s"""
EDIT = (Role.EDIT, f"{ROOT}/src/upload.py\n-RETRIES = 5\n+RETRIES = 7", {"path": f"{ROOT}/src/upload.py"})
RUN = (Role.COMMAND, "pytest tests/test_upload.py -x", {})
FAILED = (Role.OUTPUT, RED, {"failed": True})
GREEN = [(Role.COMMAND, "pytest tests/test_upload.py", {}), (Role.OUTPUT, "4 passed in 0.28s", {})]


class Work:
    """Sessions of agents, recorded as transcripts are."""

    def __init__(self, memory: Any, clock: Any) -> None:
        self.memory, self.clock = memory, clock

    def session(self, name: str, *steps: tuple[Role, str, dict[str, Any]]) -> None:
        events = []
        for role, text, metadata in steps:
            self.clock.now += 10
            at, id_ = self.clock.now, event_id(name, role, text, self.clock.now)
            events.append(Event(id_, at, role, text, name, ROOT, metadata=metadata))
        self.memory.record_all(events)

    def commit(self, id_: str, text: str, *paths: str) -> None:
        self.session("", (Role.COMMIT, text, {"agent": "git", "commit": id_, "paths": list(paths)}))

    def told(self, output: str = RED, wording: Any = ENGLISH) -> str:
        stores = [scope.store for scope in self.memory.scopes]
        return Brief(stores, wording, self.clock, 800).after_error(output)


@pytest.fixture
def work(memory: Any, clock: Any) -> Work:
    return Work(memory, clock)


def test_an_error_that_an_edit_ended_is_told_with_the_edit(work: Work) -> None:
    """The command, the error, what was changed, and the commit that took it in; in the language that is set."""
    assert work.told() == ""
    work.session("a", RUN, FAILED, (Role.ASSISTANT, "The limit is wrong.", {}), EDIT, *GREEN)
    work.commit("1f2e3d4c5b6a", "Retry uploads seven times\n\nThe service asks for it.", "src/upload.py")
    said = work.told(RED.replace("0.31s", "4.20s").replace("____ test", "\x1b[31m____ test"))
    assert said.startswith("### This error before\n- ")
    assert "`pytest tests/test_upload.py -x` failed with `AssertionError: upload retries 5 times, not 7`" in said
    assert said.endswith(
        'after an edit of `src/upload.py` (`RETRIES = 5` → `RETRIES = 7`); committed as "Retry uploads seven times"'
    )
    assert work.told(wording=FRENCH).startswith("### Cette erreur auparavant")


def test_a_command_ends_an_error_where_nothing_was_edited(work: Work) -> None:
    """What looks and changes nothing is left out."""
    error = "Traceback (most recent call last):\nModuleNotFoundError: No module named 'yaml'"
    failed = (Role.OUTPUT, error, {"failed": True})
    run = (Role.COMMAND, "python tool.py", {})
    work.session("a", run, failed, (Role.COMMAND, "grep -r yaml .", {}), (Role.COMMAND, "pip install pyyaml", {}), run)
    assert "no longer after `pip install pyyaml`" in work.told(error)
    assert "grep" not in work.told(error)


def test_a_folder_or_a_shell_in_front_is_not_the_command(work: Work) -> None:
    """The command behind ends the error, and counts as the same with other options."""
    lead = "cd /home/ada/app && "
    failed = (Role.OUTPUT, "ModuleNotFoundError: No module named 'yaml'", {"failed": True})
    run, install = ((Role.COMMAND, f"{lead}{command}", {}) for command in ("python tool.py", "pip install pyyaml"))
    work.session("a", run, failed, install, (Role.COMMAND, "python tool.py -v", {}))
    assert "pip install pyyaml`" in work.told("ModuleNotFoundError: No module named 'yaml'")


def others() -> Iterable[tuple[str, list[tuple[Role, str, dict[str, Any]]]]]:
    """Sessions in which nothing ended the error."""
    still = (Role.OUTPUT, RED, {"failed": True})
    yield "never run again", [RUN, FAILED, EDIT]
    yield "failed again", [RUN, FAILED, EDIT, RUN, still]
    yield "nothing was done", [RUN, FAILED, *GREEN]
    yield "another command passed", [RUN, FAILED, EDIT, (Role.COMMAND, "make lint", {}), (Role.OUTPUT, "ok", {})]
    for lead in ("cd /home/ada/app && ", "bash -lc '"):
        run, other = ((Role.COMMAND, f"{lead}{command}", {}) for command in ("pytest tests", "git status"))
        yield f"another command passed behind {lead}", [run, FAILED, EDIT, other, (Role.OUTPUT, "ok", {})]


@pytest.mark.parametrize("steps", [steps for _, steps in others()], ids=[name for name, _ in others()])
def test_what_nothing_ended_is_not_told(work: Work, steps: list[tuple[Role, str, dict[str, Any]]]) -> None:
    """An edit alone is no proof: the command must run without the error."""
    work.session("a", *steps)
    assert work.told() == ""


def test_an_edit_that_was_reverted_is_no_fix(work: Work) -> None:
    """The commit that takes back the one with the edit takes the episode back."""
    work.session("a", RUN, FAILED, EDIT, *GREEN)
    work.commit("1f2e3d4c5b6a7788", "Retry seven times", "src/upload.py")
    assert work.told() != ""
    work.commit("9a9a9a9a9a9a", 'Revert "Retry seven times"\n\nThis reverts commit 1f2e3d4c5b6a7788.', "src/upload.py")
    assert work.told() == ""


def test_the_last_edit_before_the_end_is_the_one_told(work: Work) -> None:
    """Of two failures before one end, what was done after the second."""
    first = (Role.EDIT, f"{ROOT}/src/other.py\n-a = 1\n+a = 2", {"path": f"{ROOT}/src/other.py"})
    work.session("a", RUN, FAILED, first, RUN, FAILED, EDIT, *GREEN)
    assert "src/upload.py" in work.told()
    assert "src/other.py" not in work.told()


def test_an_error_that_ended_otherwise_each_time_is_told_no_more(work: Work) -> None:
    """A probability is stated, and below one half nothing is said; where the same helps again, it rises."""
    stores = [scope.store for scope in work.memory.scopes]
    probable = []
    for number in range(3):
        path = f"{ROOT}/src/part{number}.py"
        work.session(f"s{number}", RUN, FAILED, (Role.EDIT, f"{path}\n-a\n+b", {"path": path}), *GREEN)
        found = past_fix(stores, RED)
        probable.append(found.probability if found else 0.0)
    assert probable == [0.75, 0.5, 0.0]
    assert work.told() == ""
    for number in range(4):
        work.session(f"t{number}", RUN, FAILED, EDIT, *GREEN)
    assert "that helped 4 of 7 times" in work.told()


def test_two_commands_that_nothing_ended_count_as_two(work: Work) -> None:
    """In one session too, while one command that fails again and again counts once."""
    stores = [scope.store for scope in work.memory.scopes]
    for name in ("a", "b", "c"):
        work.session(name, RUN, FAILED, EDIT, *GREEN)
    work.session("d", RUN, FAILED, RUN, FAILED, (Role.COMMAND, "make check", {}), FAILED)
    found = past_fix(stores, RED)
    assert found is not None
    assert (found.times, found.helped) == (5, 3)


def test_a_line_in_common_is_not_yet_the_same_error(work: Work) -> None:
    """Most of the lines of an error must have stood in the earlier one."""
    work.session("a", RUN, FAILED, EDIT, *GREEN)
    other = "\n".join(f"E   ValueError: parser number {n} is unknown to the harbour" for n in ("one", "two", "three"))
    assert work.told(other) == ""
    assert work.told(f"{other}\n{RED.splitlines()[2]}") == ""


@pytest.mark.parametrize(
    "output",
    ["", "4 passed in 0.2s", "1 failed, 3 passed in 0.31s", "npm ERR! Test failed.  See above for more details."],
)
def test_an_output_that_names_no_error_tells_nothing(work: Work, output: str) -> None:
    """A count of failures says nothing about them."""
    assert error_lines(output) == {}
    work.session("a", RUN, (Role.OUTPUT, output or "x", {"failed": True}), EDIT, *GREEN)
    assert work.told(output) == ""


def test_a_fix_that_was_stated_is_told_with_its_error(work: Work) -> None:
    """In words, where no command was seen to fail."""
    work.memory.record("The fix was to raise the pool size because the upload pool was exhausted.", role="user")
    assert "raise the pool size" in work.told("UploadError: the upload pool is exhausted, pool size 4")
    assert work.told("ParserError: unbalanced bracket in the manual") == ""
