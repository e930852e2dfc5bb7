"""What Windows does otherwise: paths, quoting, and what its `os` lacks.

No test here runs on Windows; each holds our code against the rules of Windows, or runs it without what Windows lacks.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path, PurePosixPath, PureWindowsPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handbook import make_repository
from vademecum.beneath import from_folder, is_name, open_by_folders, open_by_name
from vademecum.hooks.hook import EVENTS
from vademecum.install.agents import Command, places
from vademecum.providers.servers.configured import split

NAMES = st.text(st.sampled_from("abZÄ19 _-.~()&$'"), min_size=1).filter(lambda name: name.strip(". ") == name)
BARE = st.text(st.sampled_from("abZÄ19_-.~"), min_size=1).filter(lambda name: name.strip(".") == name)
DRIVES = st.sampled_from(["C:\\", "d:\\", "\\\\server\\share\\"])
LETTERS = st.text(st.characters(codec="utf-8", exclude_characters="\0\n\r"), max_size=12)


def paths_of(names: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.tuples(DRIVES, st.lists(names, min_size=1, max_size=4)).map(lambda said: said[0] + "\\".join(said[1]))


def arguments(line: str) -> list[str]:
    """Split a line as a program on Windows does: by the rules of `CommandLineToArgvW` and Microsoft's C runtime."""
    words: list[str] = []
    word, quoted, begun = "", False, False
    for mark in re.findall(r'\\*"|\\+|[^\\"]', line):
        if mark in " \t" and not quoted:
            words += [word] if begun else []
            word, begun = "", False
        elif mark.endswith('"'):
            slashes = len(mark) - 1
            word += "\\" * (slashes // 2) + '"' * (slashes % 2)
            quoted, begun = quoted ^ (slashes % 2 == 0), True
        else:
            word, begun = word + mark, True
    return [*words, word] if begun else words


@given(words=st.lists(LETTERS, max_size=4))
def test_our_reading_of_a_line_is_that_of_windows(words: list[str]) -> None:
    """What Python quotes for a program of Windows comes back, so the reader above can judge."""
    assert arguments(subprocess.list2cmdline(words)) == words


@given(path=paths_of(BARE), hook=st.sampled_from(sorted(EVENTS)), agent=st.sampled_from(["", " cursor", " windsurf"]))
def test_every_shell_of_windows_runs_the_line_of_a_hook(path: str, hook: str, agent: str) -> None:
    """Git Bash, cmd.exe and PowerShell, of which an agent may use any, read the same words."""
    line = Command((path,), local=True).hook(hook + agent, "win32")
    wanted = [path.replace("\\", "/"), "memory", "hook", hook, *agent.split()]
    assert shlex.split(line) == arguments(line) == line.split(" ") == wanted
    assert not re.search(r"[\"'`$&|;<>(){}%!^@#,\\]", line), "PowerShell and cmd.exe take each of these for their own"
    assert PureWindowsPath(wanted[0]) == PureWindowsPath(path)


@given(path=paths_of(NAMES))
def test_a_path_with_spaces_is_one_word(path: str) -> None:
    """Git Bash and cmd.exe take a quoted program; neither splits it."""
    line = Command((path,), local=True).hook("stop", "win32")
    wanted = [path.replace("\\", "/"), "memory", "hook", "stop"]
    assert arguments(line) == wanted
    assert "$" in path or shlex.split(line) == wanted


def test_a_hook_ends_with_0_by_itself(tmp_path: Path) -> None:
    """The line for Windows has no `|| exit 0`, so whatever a hook is asked, its exit code stops no agent."""
    environ = os.environ | {"VADE_HOME": str(tmp_path / "data"), "HOME": str(tmp_path)}
    for words in (["stop"], ["no-such-hook"], [], ["prompt", "no-such-agent", "more"], ["--no-such-option"]):
        command = [sys.executable, "-P", "-m", "vademecum", "memory", "hook", *words]
        done = subprocess.run(command, input=b"{", cwd=tmp_path, env=environ, capture_output=True, check=False)
        assert done.returncode == 0, words


def test_pipes_are_utf8() -> None:
    """What an agent reads and sends is UTF-8, not the code page of the machine."""
    code = "from vademecum.__main__ import speak_utf8; speak_utf8('win32'); print('→', input())"
    done = subprocess.run(
        [sys.executable, "-c", code],
        input="Ā\n".encode(),
        env=os.environ | {"PYTHONIOENCODING": "cp1252"},
        capture_output=True,
        check=True,
    )
    assert done.stdout.decode().split() == ["→", "Ā"]


@given(path=paths_of(NAMES), more=st.lists(BARE, max_size=3))
def test_a_typed_command_keeps_its_backslashes(path: str, more: list[str]) -> None:
    """What a person types at `--command` is read as Windows reads it."""
    assert split(subprocess.list2cmdline([path, *more]), "win32") == [path, *more]


@given(folder=paths_of(NAMES), names=st.lists(NAMES, min_size=1, max_size=3))
def test_a_path_of_windows_is_said_from_its_folder(folder: str, names: list[str]) -> None:
    """With `/`, whatever the case of its letters, and never from a folder that only begins alike or of another drive."""
    path = "\\".join([folder, *names])
    assert from_folder(path, folder, PureWindowsPath) == "/".join(names)
    swapped = folder.swapcase()
    if swapped.lower() == folder.lower():
        assert from_folder(path, swapped, PureWindowsPath) == "/".join(names)
    assert from_folder(folder, folder, PureWindowsPath) == "."
    assert from_folder(f"{folder}x\\a", folder, PureWindowsPath) is None
    assert from_folder(path, "Q:\\", PureWindowsPath) is None
    assert from_folder("/Repo/a", "/repo", PurePosixPath) is None


@given(name=st.text(st.sampled_from("ab.:/\\"), max_size=6))
def test_a_name_of_windows_stays_in_its_folder(name: str) -> None:
    """A name with a drive, another stream or a separator is none."""
    if is_name(name, "\\"):
        folder = PureWindowsPath("C:\\repository")
        assert (folder / name).parent == folder
        assert ":" not in name


def test_agents_are_looked_for_where_windows_has_them() -> None:
    """In the user's profile, whatever `HOME` says, which Git Bash sets."""
    found = places({"USERPROFILE": "C:/Users/ada", "HOME": "/c/Users/ada"}, Path("/x"), "win32")
    assert found.claude.as_posix() == "C:/Users/ada/.claude"
    assert found.code.as_posix() == "C:/Users/ada/AppData/Roaming/Code/User"


@pytest.mark.skipif(os.open not in os.supports_dir_fd, reason="the other way needs folders that can be opened")
@pytest.mark.parametrize(
    "path", ["a.py", "in/b.py", "link.py", "folder/b.py", "in/up/a.py", "none", "in", "../a", "in//b"]
)
def test_both_ways_of_opening_say_the_same(tmp_path: Path, path: str) -> None:
    """By name, as on Windows, a link at any step is refused as it is from folder to folder."""
    (tmp_path / "in").mkdir()
    (tmp_path / "a.py").write_bytes(b"a\r\n")
    (tmp_path / "in" / "b.py").write_bytes(b"b")
    (tmp_path / "link.py").symlink_to("a.py")
    (tmp_path / "folder").symlink_to("in")
    (tmp_path / "in" / "up").symlink_to("..")

    def said(way: object) -> object:
        try:
            with os.fdopen(way(str(tmp_path), path), "rb") as file:  # type: ignore[operator]
                return file.read()
        except (OSError, ValueError) as error:
            return type(error)

    by_name, by_folders = said(open_by_name), said(open_by_folders)
    assert by_name == by_folders or {by_name, by_folders} <= {OSError, NotADirectoryError}


# Of what the documentation of Python's `os` calls "Unix", what our code might use. A folder cannot be opened, and a file
# not be linked: that is a right of few users. The link of a folder stands for the junction that takes its place.
LACKING = """
import os, sys
for name in '''O_CLOEXEC O_DIRECTORY O_NOFOLLOW O_NONBLOCK fchmod'''.split():
    if hasattr(os, name):
        delattr(os, name)
os.supports_dir_fd, os.supports_fd, os.supports_follow_symlinks = set(), set(), {os.stat}
open_as_here, link_as_here = os.open, os.symlink
def open_file(path, flags, mode=0o777, *, dir_fd=None):
    assert dir_fd is None
    if os.path.isdir(path):
        raise PermissionError(13, "Permission denied")
    return open_as_here(path, flags, mode)
def link(source, path):
    if not os.path.isdir(source):
        raise OSError(1314, "A required privilege is not held by the client")
    link_as_here(source, path)
os.open, os.symlink = open_file, link
sys.modules["resource"] = None
"""


@pytest.mark.slow
def test_it_works_without_what_windows_lacks(tmp_path: Path) -> None:
    """Index, search, callers and memory, where no folder can be opened and no link be made."""
    repository = make_repository(tmp_path / "handbook").path
    subprocess.run(["git", "pack-refs", "--all"], cwd=repository, check=True)
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "sitecustomize.py").write_text(LACKING, encoding="utf-8")
    path = os.pathsep.join([str(tmp_path / "site"), *filter(None, sys.path)])
    environ = os.environ | {"VADE_HOME": str(tmp_path / "data"), "PYTHONPATH": path, "HOME": str(tmp_path)}

    def vade(*words: str) -> str:
        command = [sys.executable, "-m", "vademecum", *words]
        done = subprocess.run(command, cwd=repository, env=environ, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    assert "retry_with_backoff" in vade("search", "call again after a pause that doubles")
    assert "test" in vade("callers", "Budget.split")
    vade("memory", "remember", "We decided to use tabs for indentation.")
    assert "tabs" in vade("memory", "recall", "what do we indent with")
    (repository / "retry.py").write_text("def three_times():\n    return 3\n", encoding="utf-8")
    assert "three_times" in vade("search", "three_times")
