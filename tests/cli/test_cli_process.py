"""`vade` as a process: what it imports, how it behaves in pipes and on terminals, and when things go wrong."""

from __future__ import annotations

import json
import os
import re
import select
import signal
import subprocess
import sys
import time

import pytest

from vademecum.cli import COMMANDS

# What `vade` may load on top of click before it knows which verb was typed (`locale` is click's own, for its help).
OURS = {"vademecum", "vademecum.cli", "vademecum.errors", "vademecum.version", "locale", "_locale"}
SLOW = ("numpy", "tree_sitter", "yaml", "importlib.metadata", "asyncio", "sqlite3", "tomllib", "json", "subprocess")


def modules_after(code):
    done = subprocess.run(
        [sys.executable, "-c", f"import sys\n{code}\nprint(*sys.modules)"],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=True,
    )
    return set(done.stdout.split())


def test_importing_the_cli_pulls_in_click_and_little_else():
    plain = modules_after("import click")
    loaded = modules_after("import vademecum.cli") - plain
    assert loaded <= OURS
    assert not [name for name in SLOW if name in loaded]


@pytest.mark.parametrize("module", ["cli.code", "cli.admin", "mcp.loop"])
def test_no_verb_imports_the_engine_before_it_runs(module):
    loaded = modules_after(f"import vademecum.{module}")
    assert not loaded & {"numpy", "tree_sitter", "yaml", "asyncio", "sqlite3", "vademecum.engine", "importlib.metadata"}


def test_a_search_loads_only_what_it_uses(vade):
    """Nothing new to cut, nothing remembered, no question about the graph: none of what does these is imported."""
    vade("index")
    code = "from vademecum.cli import main; assert main(['search', 'how is the budget split']) == 0"
    loaded = modules_after(f"{code}; print(flush=True)")
    assert "vademecum.code.search.search" in loaded
    unused = (
        "memory.",
        "tools.",
        "http",
        "context.related",
        "codebase.graph",
        "code.chunking.chunk",
        "code.graph.questions",
    )
    assert not sorted(name for name in loaded if name.startswith(tuple(f"vademecum.{part}" for part in unused)))


def test_a_search_beside_a_memory_loads_no_reader_of_words(vade):
    """A memory without facts about code loads none of it; notes need facts and their code, none of what reads or ranks."""
    vade("index")
    code = "from vademecum.cli import main; assert main(['search', 'how is the budget split']) == 0; print(flush=True)"
    vade("memory", "remember", "we decided that amounts are rounded down")
    assert not [name for name in modules_after(code) if name.startswith("vademecum.memory")]
    vade("memory", "remember", "we decided that `split_budget` rounds down")
    loaded = modules_after(code)
    assert "vademecum.memory.anchors" in loaded
    assert not loaded & {f"vademecum.memory.{part}" for part in ("memory", "extract", "recall", "redact", "sync")}


def test_every_verb_has_help(vade):
    listed = vade("--help")
    assert listed.code == 0
    for name, (_, said) in COMMANDS.items():
        assert f"  {name} " in listed.out
        assert said.split(",")[0] in " ".join(listed.out.split())
        assert vade(name, "--help").code == 0


def test_typing_nothing_shows_the_verbs(vade):
    assert vade().out == vade("-h").out


def test_version(spawn):
    done = spawn("--version")
    assert done.returncode == 0
    assert done.stdout.startswith("vade ")


def test_completion_knows_verbs_and_options(spawn):
    env = {"_VADE_COMPLETE": "bash_complete", "COMP_WORDS": "vade sea", "COMP_CWORD": "1"}
    assert "search" in spawn(env=env).stdout
    env = {"_VADE_COMPLETE": "bash_complete", "COMP_WORDS": "vade search --la", "COMP_CWORD": "2"}
    assert "--lang" in spawn(env=env).stdout


def test_a_piped_result_has_no_colours_and_no_progress(spawn):
    """Nor does a question that is no text keep it from an answer."""
    done = spawn("search", "-", input=b"token budget \xff", text=False)
    assert done.returncode == 0
    assert b"budget.py" in done.stdout
    assert b"\x1b" not in done.stdout
    assert done.stderr == b""


def test_a_reader_that_leaves_early_is_no_failure(spawn, repository):
    """More is shown than standard output holds back."""
    for number in range(30):
        (repository / f"budget{number}.py").write_text("def token_budget():\n" + "    pass  # token budget\n" * 40)
    read, write = os.pipe()
    os.close(read)
    done = spawn("search", "token budget", "-k", "30", stdout=write, stderr=subprocess.PIPE, capture_output=False)
    os.close(write)
    assert done.returncode == 0
    assert done.stderr == ""


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals")
@pytest.mark.parametrize(("environ", "coloured"), [({}, True), ({"NO_COLOR": "1"}, False)])
def test_a_terminal_gets_colours_unless_told_otherwise(repository, environ, coloured):
    import pty

    main, terminal = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "vademecum", "search", "token budget"],
        stdout=terminal,
        env={k: v for k, v in os.environ.items() if k != "NO_COLOR"}
        | {"PYTHONPATH": os.pathsep.join(sys.path), "TERM": "xterm"}
        | environ,
    ) as process:
        os.close(terminal)
        shown = b""
        while chunk := read_or_nothing(main):
            shown += chunk
    os.close(main)
    assert process.returncode == 0
    assert b"budget.py:" in shown
    assert (b"\x1b[" in shown) is coloured


def read_or_nothing(descriptor):
    try:
        return os.read(descriptor, 65536)
    except OSError:  # Linux says EIO where the other end is closed
        return b""


def test_an_error_cannot_send_escapes_to_the_terminal(vade):
    done = vade("search", "x", "\x1b]0;title\x07")
    assert done.code == 2
    assert not set(done.err) & {"\x1b", "\x07"}


def test_a_bug_becomes_a_line_and_a_hint(vade, monkeypatch):
    def broken(*_args, **_kwargs):
        raise KeyError("marmalade")

    monkeypatch.setattr("vademecum.cli.admin.settings_for", broken)
    done = vade("doctor")
    assert done.code == 3
    assert done.err == (
        "vade: internal error: KeyError: 'marmalade': run again with VADE_DEBUG=1 and report what it prints\n"
    )
    monkeypatch.setenv("VADE_DEBUG", "1")
    done = vade("doctor")
    assert done.code == 3
    assert "Traceback" in done.err


def heeding_interrupts() -> None:
    """A shell has what it runs in the background ignore SIGINT, and children inherit that: not these."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.mark.skipif(sys.platform == "win32", reason="signals differ")
def test_an_interrupt_is_quiet(repository):
    for patience in (0.5, 2.0, 8.0, 30.0):  # a signal that comes before Python is up ends the process as it ends any
        with subprocess.Popen(
            [sys.executable, "-m", "vademecum", "search", "-"],
            env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=heeding_interrupts,  # noqa: PLW1509 - it resets one signal
        ) as process:
            time.sleep(patience)
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=60)
        if process.returncode != -signal.SIGINT and "Traceback" not in err:
            break
    assert process.returncode == 130
    assert out == ""
    assert "Traceback" not in err


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="signals differ")
def test_an_interrupted_index_says_what_is_kept(repository):
    """As many files as it says are kept: the next run makes new only the others."""
    for number in range(600):
        text = "".join(f"def f{number}_{n}(x):\n    return x + {n}\n\n" for n in range(15))
        (repository / f"m{number}.py").write_text(text)
    environ = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path), "PYTHONUNBUFFERED": "1"}
    main, terminal = os.openpty()  # a bar on a terminal says early that it indexes
    with subprocess.Popen(
        [sys.executable, "-m", "vademecum", "index"], env=environ, stdout=subprocess.PIPE, stderr=terminal,
        preexec_fn=heeding_interrupts,  # noqa: PLW1509 - it resets one signal
    ) as process:  # fmt: skip
        said = ""
        while " indexing " not in said:
            said += os.read(main, 10_000).decode()
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
    said = os.read(main, 100_000).decode()
    os.close(main)
    os.close(terminal)
    assert process.returncode == 130
    found = re.search(r"stopped: (\d+) of (\d+) files are kept, run again to finish", said)
    assert found is not None, said
    done = subprocess.run(
        [sys.executable, "-m", "vademecum", "index", "--json"], env=environ, capture_output=True, check=True
    )
    [report] = json.loads(done.stdout)
    assert report["added"] == int(found[2]) - int(found[1]) > 0


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="signals differ")
def test_watch_tells_of_changes_until_it_is_interrupted(repository):
    pytest.importorskip("watchfiles")
    with subprocess.Popen(
        [sys.executable, "-m", "vademecum", "watch"],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=heeding_interrupts,  # noqa: PLW1509 - it resets one signal
    ) as process:
        for number in range(40):
            (repository / f"new{number}.py").write_text(f"def marmalade{number}(): ...\n")
            if select.select([process.stdout], [], [], 0.25)[0]:
                break
        line = process.stdout.readline()
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=30)
    assert line.startswith("handbook: ")
    assert process.returncode in {0, 130}  # 0 where the watcher itself saw the signal: that is how watching ends
    assert err.rstrip() == f"watching {repository}: Ctrl-C ends it"


def test_without_the_extra_of_the_server_only_the_server_is_missing(tmp_path) -> None:
    """`vade serve` names what installs it, and a mistyped command is corrected as ever."""
    code = (
        "import sys; sys.modules |= dict.fromkeys(('uvicorn', 'fastapi', 'starlette'));"
        "from vademecum.cli import main; sys.exit(main(sys.argv[1:]))"
    )

    def vade(*args: str) -> tuple[int, str]:
        command = [sys.executable, "-c", code, *args]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        return done.returncode, done.stderr

    status, said = vade("serve")
    assert status == 3
    assert said.startswith("vade: `vade serve` needs ")
    assert "pip install 'vademecum[server]'" in said
    assert vade("serch") == (2, "vade: there is no command 'serch': did you mean 'search'?\n")
