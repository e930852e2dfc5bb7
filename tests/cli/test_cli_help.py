"""`vade help` and `vade completions`: the pages on a terminal, and what real shells make of a Tab."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from needed import program
from vademecum.cli.admin import pages

VADE = Path(sys.executable).with_name("vade")


def environ() -> dict[str, str]:
    path = f"{VADE.parent}{os.pathsep}{os.environ['PATH']}"
    return os.environ | {"PATH": path, "PYTHONPATH": os.pathsep.join(sys.path), "TERM": "dumb", "HISTFILE": os.devnull}


def test_every_page_is_a_topic(vade):
    listed = vade("help")
    assert listed.code == 0
    for path in (Path(__file__).parents[2] / "docs").glob("*.md"):
        assert re.search(rf"^{path.stem}  ", listed.out, re.MULTILINE), path.stem
    assert re.search(r"^0001  ", listed.out, re.MULTILINE)


@pytest.mark.parametrize("topic", [*pages()])
def test_every_page_can_be_read(vade, topic):
    """A page is printed as it is written, with and without `--plain`."""
    written = pages()[topic].read_text(encoding="utf-8")
    assert vade("help", topic).out == vade("help", topic, "--plain").out == written


def test_a_topic_that_is_none(vade):
    done = vade("help", "memry")
    assert done.code == 2
    assert "did you mean 'memory'?" in done.err


@pytest.mark.parametrize("words", [("search",), ("callers",), ("hooks", "install"), ("memory", "recall")])
def test_help_of_a_command_is_what_it_says_of_itself(vade, words):
    """Where no page has the name; of a command with commands of its own, any of these."""
    done = vade("help", *words)
    assert (done.code, done.out) == (0, vade(*words, "--help").out)


@pytest.mark.parametrize("group", ["memory", "tools", "db"])
def test_a_group_without_a_verb_shows_its_help(vade, group):
    done = vade(group)
    assert (done.code, done.out) == (0, vade(group, "--help").out)


@pytest.mark.parametrize(("words", "hint"), [(("serch",), "search"), (("hooks", "instal"), "install")])
def test_a_command_that_is_none_has_no_help(vade, words, hint):
    done = vade("help", *words)
    assert done.code == 2
    assert f"did you mean {hint!r}?" in done.err


@pytest.mark.slow
@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_a_tab_completes(shell, tmp_path):
    """In an interactive shell on a terminal, a Tab after the beginning of a verb writes the rest of it."""
    import pty

    flags = {"bash": ["--norc", "--noprofile", "-i"], "zsh": ["-f", "-i"]}[shell]
    first = "autoload -Uz compinit && compinit -u -D; " if shell == "zsh" else "bind 'set enable-bracketed-paste off'; "
    path = program(shell, how=f"apt install {shell}")
    main, terminal = pty.openpty()
    with subprocess.Popen(
        [path, *flags], stdin=terminal, stdout=terminal, stderr=terminal, env=environ() | {"PS1": "> "}, cwd=tmp_path,
        start_new_session=True,
    ) as process:  # fmt: skip
        os.close(terminal)
        os.write(main, f'{first}eval "$(vade completions {shell})"; echo re""ady\n'.encode())
        read_until(main, b"ready")
        os.write(main, b"vade comple\t")
        said = read_until(main, b"vade completions")
        os.write(main, b"\x03\nexit\n")
        process.wait(timeout=30)
    os.close(main)
    assert b"vade completions" in said


def read_until(descriptor, wanted, seconds=40):
    """What a terminal shows until something wanted is there."""
    said, until = b"", time.monotonic() + seconds
    os.set_blocking(descriptor, False)
    while wanted not in said:
        assert time.monotonic() < until, said
        try:
            said += os.read(descriptor, 4096)
        except BlockingIOError:
            time.sleep(0.02)
    os.set_blocking(descriptor, True)
    return said


@pytest.mark.slow
def test_fish_completes(tmp_path):
    """What fish offers for the beginning of a verb, with the verb's line beside it."""
    fish = program("fish", how="apt install fish")
    line = 'vade completions fish | source; complete -C "vade comp"; complete -C "vade install --sc"; complete -C "vade install cla"; complete -C "vade help tut"'
    done = subprocess.run(
        [fish, "--no-config", "-c", line], env=environ() | {"HOME": str(tmp_path)}, capture_output=True, text=True,
        timeout=60, check=False,
    )  # fmt: skip
    assert "completions\tPrint a shell's completions" in done.stdout, done.stderr
    assert "--scope" in done.stdout
    assert "\nclaude\n" in done.stdout
    assert "\ntutorial\n" in done.stdout


@pytest.mark.parametrize(
    ("words", "meant"),
    [("memory list", "memory timeline"), ("memory remeber", "memory remember"), ("memory recrd", "memory remember"), ("tools sugest", "tools suggest"),
     ("tools pln", "tools suggest"), ("hooks add", "hooks install"), ("db chek", "db check"), ("config search.k", "config show search.k")],
)  # fmt: skip
def test_a_wrong_verb_below_the_top_level_is_told_the_right_one(vade, words, meant):
    """By spelling, by another word for it, or by its old name."""
    done = vade(*words.split())
    assert (done.code, done.out) == (2, "")
    assert (
        done.err
        == f"vade: `vade {words.split()[0]}` has no command {words.split()[1]!r}: did you mean `vade {meant}`?\n"
    )


def test_words_without_quotes_are_told_of_quotes(vade):
    """A sentence is one argument."""
    said = "got unexpected extra argument (world): put several words in quotes: see `vade memory remember --help`"
    assert vade("memory", "remember", "hello", "world").err == f"vade: {said}\n"


def test_a_verb_like_no_other_is_told_all(vade):
    """With nothing close, the verbs there are."""
    assert "choose among install, run, status, uninstall" in vade("hooks", "zzz").err


@pytest.mark.parametrize(("alias", "name"), [("memory record", "memory remember"), ("tools plan", "tools suggest")])
def test_a_second_name_is_the_same_verb(vade, alias, name):
    """It does the same and stands in no list."""
    said = vade(*alias.split(), "--help").out
    assert said.partition("\n\n")[2] == vade(*name.split(), "--help").out.partition("\n\n")[2] != ""
    verb = alias.split()[1]
    assert f"  {verb} " not in vade(alias.split()[0], "--help").out
