"""`vade install` and `vade uninstall`: what is written is what was shown, and what was there comes back."""

from __future__ import annotations

import asyncio
import errno
import json
import os
import shlex
import stat
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from joining import WORDS, Done, Machine

import mcp
from vademecum import __version__
from vademecum.errors import UsageError
from vademecum.install.agents import AGENTS, Agent, Command, command, places
from vademecum.install.json_text import bare

Vade = Callable[..., Done]
GOLDEN = Path(__file__).parent / "golden"
HOMES = Path(__file__).parent / "existing"
IDS = [agent.id for agent in AGENTS]
# Settings as people have them: each agent's own format, with its comments, order and odd indentation.
EXISTING = sorted(path.relative_to(HOMES).as_posix() for path in HOMES.rglob("*") if path.is_file())


def settle(machine: Machine) -> None:
    """Put the existing settings into home and repository."""
    for name in EXISTING:
        machine.write(name, (HOMES / name).read_bytes())


@pytest.mark.parametrize("agent", IDS)
def test_what_would_be_written_is_what_we_say_it_is(machine: Machine, vade: Vade, agent: str) -> None:
    """The diff for every agent, in both scopes, beside settings that are there already; `GOLDEN=write` writes it anew."""
    settle(machine)
    said = ""
    for scope in ("user", "project"):
        done = vade("install", agent, "--scope", scope, "--command", WORDS, "--dry-run")
        assert done.code == 0, done.err
        said += f"== {scope}\n{done.out}{done.err}".replace(str(machine.home.parent), "")
    golden = GOLDEN / f"{agent}.diff"
    if os.environ.get("GOLDEN") == "write":
        golden.write_text(said, encoding="utf-8")
    assert said == golden.read_text(encoding="utf-8")
    assert machine.tree() == {name: content for name, content in machine.tree().items() if "vademecum" not in name}


@pytest.mark.parametrize("scope", ["user", "project"])
@pytest.mark.parametrize("existing", [True, False])
def test_in_and_out_leaves_everything_as_it_was(machine: Machine, vade: Vade, scope: str, existing: bool) -> None:
    """All agents at once: a second install changes nothing, and leaving restores every byte, link and directory."""
    if existing:
        settle(machine)
    before = machine.tree()
    done = vade("install", *IDS, "--scope", scope, "--command", WORDS, "--yes")
    assert done.code == 0, done.err
    after = machine.tree()
    assert len(after) > len(before)
    again = vade("install", *IDS, "--scope", scope, "--command", WORDS, "--yes")
    assert (again.code, again.out) == (0, "")
    assert "nothing to do" in again.err
    assert machine.tree() == after
    assert vade("uninstall", "--yes").code == 0
    assert machine.tree() == before
    assert json.loads((machine.data / "installs" / "journal.json").read_text())["files"] == {}
    assert list((machine.data / "installs").glob("backups/*")) == []


def test_one_agent_after_the_other_in_any_order(machine: Machine, vade: Vade) -> None:
    """Agents that share a file come and go by themselves; the file is as it was when the last one left."""
    machine.write("repo/AGENTS.md", "# Rules")
    before = machine.tree()
    for agent in ("codex", "zed", "opencode"):
        assert vade("install", agent, "--scope", "project", "--command", WORDS, "--yes").code == 0
    for agent, there in (("zed", True), ("codex", True), ("opencode", False)):
        assert vade("uninstall", agent, "--yes").code == 0
        assert (b"vademecum" in (machine.project / "AGENTS.md").read_bytes()) is there
    assert machine.tree() == before


def test_agents_can_read_what_was_written(machine: Machine, vade: Vade) -> None:
    """Every settings file parses, and names the command and its arguments where its agent looks for them."""
    settle(machine)
    assert vade("install", *IDS, "--command", WORDS, "--yes").code == 0
    for agent in AGENTS:
        assert words_of(agent, machine)[:3] == ["uvx", "vademecum==0.1.0", "mcp"], agent.id


def words_of(agent: Agent, machine: Machine) -> list[str]:
    """The command and its arguments, from where an agent looks for them."""
    config = agent.user.config
    assert config
    text = places(os.environ, machine.project).first(config.files).read_text(encoding="utf-8-sig")
    readers = {"toml": tomllib.loads, "yaml": yaml.safe_load, "yaml-file": yaml.safe_load}
    parsed = readers.get(config.format, lambda text: json.loads(bare(text)))(text)
    for key in (*config.path, "vademecum") if config.path else ("mcpServers", 0):
        parsed = parsed[key]
    words = parsed.get("command") or parsed.get("cmd")
    return words if isinstance(words, list) else [words, *parsed["args"]]


def test_what_others_wrote_since_stays(machine: Machine, vade: Vade) -> None:
    """After an agent rewrote its settings, leaving takes our entries out and nothing else."""
    settle(machine)
    before = json.loads((machine.home / ".claude.json").read_text())
    assert vade("install", "claude", "--command", WORDS, "--yes").code == 0
    value = json.loads((machine.home / ".claude.json").read_text())
    value["numStartups"] = 99
    (machine.home / ".claude.json").write_text(json.dumps(value, indent=2))
    instructions = machine.home / ".claude" / "CLAUDE.md"
    instructions.write_text(instructions.read_text() + "\nMine.\n")
    assert vade("uninstall", "--yes").code == 0
    assert json.loads((machine.home / ".claude.json").read_text()) == before | {"numStartups": 99}
    assert (machine.home / ".claude" / "CLAUDE.md").read_text().endswith("\nMine.\n")
    assert "vademecum" not in (machine.home / ".claude" / "CLAUDE.md").read_text()


def test_an_entry_made_by_hand_comes_back(machine: Machine, vade: Vade) -> None:
    """What a person had under our name is replaced while we are there, and restored afterwards, also in a changed file."""
    text = '{\n "mcpServers": {"vademecum": {"command": "mine", "args": [1], "env": {"A": "b"}}}\n}'
    path = machine.write("home/.claude.json", text)
    assert vade("install", "claude", "--command", WORDS, "--yes").code == 0
    entry = json.loads(path.read_text())["mcpServers"]["vademecum"]
    assert (entry["command"], entry["env"]) == ("uvx", {"A": "b"})
    path.write_text(path.read_text() + "\n")
    assert vade("uninstall", "--yes").code == 0
    assert path.read_text() == text + "\n"


def test_the_same_entry_made_by_hand_stays_theirs(machine: Machine, vade: Vade) -> None:
    """Where everything is there already nothing is written, and leaving leaves it."""
    text = '{"mcpServers": {"vademecum": {"type": "stdio", "command": "uvx", "args": ["vademecum==0.1.0", "mcp"]}}}'
    path = machine.write("home/.claude.json", text)
    for verb in (("install", "claude", "--no-hooks", "--no-instructions", "--command", WORDS), ("uninstall",)):
        assert vade(*verb, "--yes").code == 0
        assert path.read_text() == text


def test_an_upgrade_replaces_what_the_older_version_wrote(machine: Machine, vade: Vade) -> None:
    """Another version, and then none: the settings end as they began, also if they changed in between."""
    settle(machine)
    before = machine.tree()
    for version in ("0.1.0", "0.2.0"):
        assert vade("install", *IDS, "--command", f"uvx vademecum=={version}", "--yes").code == 0
    text = "".join(str(content) for content in machine.tree().values())
    assert "vademecum==0.2.0" in text
    assert "vademecum==0.1.0" not in text
    assert vade("uninstall", "--yes").code == 0
    assert machine.tree() == before


def test_leaving_says_what_became_of_each_file(machine: Machine, vade: Vade) -> None:
    """Restored where it is as it was, removed where there was none, and where others wrote since, ours were taken out."""
    settle(machine)
    assert vade("install", "claude", "cursor", "--command", WORDS, "--yes").code == 0
    (machine.home / ".cursor" / "mcp.json").write_text(
        (machine.home / ".cursor" / "mcp.json").read_text().replace('"a":', '"b":')
    )
    (machine.home / ".claude" / "CLAUDE.md").unlink()
    said = vade("uninstall", "--yes").err
    for word, name in (
        ("restored", ".claude.json"),
        ("restored", ".cursor/hooks.json"),
        ("took ours out of", ".cursor/mcp.json"),
    ):
        assert f"{word} {machine.home / name}\n" in said
    assert "wrote" not in said
    assert vade("install", "windsurf", "--command", WORDS, "--yes").code == 0
    said = vade("uninstall", "--yes").err
    assert said.count("removed ") == 3
    assert "restored" not in said


def test_a_version_that_is_not_known_is_left_alone(machine: Machine, vade: Vade) -> None:
    """Cursor's file of hooks says which form it is in: of another one nothing is changed, and the rest is done."""
    path = machine.write("home/.cursor/hooks.json", '{"version": 2, "hooks": {}}')
    done = vade("install", "cursor", "--command", WORDS, "--yes")
    assert "hooks.json is left alone: version is 2, and only 1 is known here" in done.err
    assert path.read_text() == '{"version": 2, "hooks": {}}'
    assert "vademecum" in (machine.home / ".cursor" / "mcp.json").read_text()


def test_what_others_need_of_our_file_stays(machine: Machine, vade: Vade) -> None:
    """Hooks that somebody put into the file that we made work on without us: its version stays for as long as they do."""
    path = machine.home / ".cursor" / "hooks.json"
    assert vade("install", "cursor", "--command", WORDS, "--yes").code == 0
    value = json.loads(path.read_text())
    assert value["version"] == 1
    value["hooks"]["stop"] = [{"command": "./mine.sh"}]
    path.write_text(json.dumps(value))
    assert vade("uninstall", "cursor", "--yes").code == 0
    assert json.loads(path.read_text()) == {"version": 1, "hooks": {"stop": [{"command": "./mine.sh"}]}}


def test_hooks_that_are_wanted_no_more_go(machine: Machine, vade: Vade) -> None:
    """A second install without hooks takes out those of the first."""
    before = machine.tree()
    assert vade("install", "claude", "--command", WORDS, "--yes").code == 0
    assert "memory hook stop" in (machine.home / ".claude" / "settings.json").read_text()
    assert vade("install", "claude", "--no-hooks", "--command", WORDS, "--yes").code == 0
    assert not (machine.home / ".claude" / "settings.json").exists()
    assert vade("uninstall", "--yes").code == 0
    assert machine.tree() == before


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b'{"a": 1,', "not valid JSON"),
        (b'{"a": 1} // mine', "no comments and no trailing commas"),
        (b'{"a": 1,}', "no comments and no trailing commas"),
        (b'{"mcpServers": []}', "mcpServers is no object"),
        (b'{"a": "\xff"}', "not UTF-8"),
        ('{"a": 1}'.encode("utf-16"), "not UTF-8"),
        (b"[" * 200_000, "nested too deeply"),
        (b'{"a": 1}\x00', "not valid JSON"),
    ],
)
def test_a_file_that_is_damaged_is_left_alone(machine: Machine, vade: Vade, content: bytes, said: str) -> None:
    """It keeps every byte, the reason is given, other agents' files are written, and the exit code says so."""
    path = machine.write("home/.claude.json", content)
    done = vade("install", "claude", "codex", "--command", WORDS, "--yes")
    assert done.code == 3
    assert f"{path} is left alone" in done.err
    assert said in done.err
    assert ("mend it and run this again" in done.err) == ("not valid" in said or "trailing" in said)
    assert path.read_bytes() == content
    assert (machine.home / ".codex" / "AGENTS.md").exists()
    assert vade("uninstall", "--yes").code == 0


TEXTS = {
    "claude": ("home/.claude/skills/vademecum/SKILL.md", "home/.claude/agents/vademecum-explorer.md"),
    "codex": ("home/.codex/skills/vademecum/SKILL.md", "home/.codex/agents/vademecum-explorer.toml"),
    "gemini": ("home/.gemini/skills/vademecum/SKILL.md", "home/.gemini/agents/vademecum-explorer.md"),
}
OFFERED = {"search", "context", "symbol", "recall", "remember"}  # the tools that a server shows unless told otherwise


@pytest.mark.parametrize("agent", TEXTS)
def test_a_skill_and_an_explorer_come_along(machine: Machine, vade: Vade, agent: str) -> None:
    """They parse as the agent reads them, say who they are, and the explorer may search and read but not write."""
    assert vade("install", agent, "--command", WORDS, "--yes").code == 0
    skill, explorer = ((machine.home.parent / name).read_text(encoding="utf-8") for name in TEXTS[agent])
    front = yaml.safe_load(skill.split("---\n")[1])
    assert front["name"] == "vademecum"
    assert 100 < len(front["description"]) <= 1024
    for words in ("who calls it, what may break, which tests to run", "decided", "not_found"):
        assert words in skill
    if agent == "codex":
        told = tomllib.loads(explorer)
        assert (told["name"], told["sandbox_mode"]) == ("vademecum-explorer", "read-only")
        assert "path:start-end" in told["developer_instructions"]
    else:
        told = yaml.safe_load(explorer.split("---\n")[1])
        assert told["name"] == "vademecum-explorer"
        tools = told["tools"] if isinstance(told["tools"], list) else told["tools"].split(", ")
        ours = {tool.rpartition("_")[2] for tool in tools if "vademecum" in tool}
        assert ours == OFFERED - {"remember"}
        assert {tool for tool in tools if "vademecum" not in tool} in ({"Read", "Grep"}, {"read_file", "grep_search"})
        assert "path:start-end" in explorer
    assert vade("install", agent, "--no-instructions", "--command", WORDS, "--yes").code == 0
    assert not any((machine.home.parent / name).exists() for name in TEXTS[agent])


def test_agents_are_told_of_no_tool_that_they_may_lack(machine: Machine, vade: Vade) -> None:
    """Instructions, skill and explorer name the five tools that every server offers, and none of the others."""
    from vademecum.mcp.registry import TOOLS

    assert vade("install", "claude", "--command", WORDS, "--yes").code == 0
    names = ("CLAUDE.md", "skills/vademecum/SKILL.md", "agents/vademecum-explorer.md")
    said = "".join((machine.home / ".claude" / name).read_text(encoding="utf-8") for name in names)
    named = {name for name in TOOLS if f"`{name}`" in said}
    assert named == OFFERED
    assert "`impact`" in said


def test_a_front_matter_that_nobody_changed_is_brought_up_to_date(machine: Machine, vade: Vade) -> None:
    """A newer version's description replaces the older one; one that a person changed stays."""
    journal = machine.data / "installs" / "journal.json"
    path = machine.home.parent / TEXTS["claude"][1]
    for mine in (False, True):
        assert vade("install", "claude", "--command", WORDS, "--yes").code == 0
        said = path.read_text(encoding="utf-8")
        older = said.replace("name: vademecum-explorer\n", "name: vademecum-explorer\nmodel: older\n", 1)
        path.write_text(older, encoding="utf-8")
        if not mine:
            record = journal.read_text(encoding="utf-8")
            was = "name: vademecum-explorer\\n"
            assert was in record
            journal.write_text(record.replace(was, was + "model: older\\n"), encoding="utf-8")
        assert vade("install", "claude", "--command", WORDS, "--yes").code == 0
        assert path.read_text(encoding="utf-8") == (older if mine else said)
        assert vade("uninstall", "--yes").code == 0


@pytest.mark.parametrize(
    ("agent", "event"), [("claude", "PreToolUse"), ("codex", "PreToolUse"), ("gemini", "AfterTool")]
)
def test_hints_are_for_those_who_ask_for_them(machine: Machine, vade: Vade, agent: str, event: str) -> None:
    """`--hints` adds a hook for tools that search text; without it there is none, and one that was there goes."""
    before = machine.tree()
    names = {"claude": ".claude/settings.json", "codex": ".codex/hooks.json", "gemini": ".gemini/settings.json"}
    for hints in ((), ("--hints",), ()):
        assert vade("install", agent, *hints, "--command", WORDS, "--yes").code == 0
        hooks = json.loads((machine.home / names[agent]).read_text())["hooks"]
        lines = {element["hooks"][0]["command"]: element["matcher"] for element in hooks[event]}
        assert set(lines) == {
            f"{WORDS} memory hook {name} || exit 0" for name in ("tool", *(["hint"] if hints else []))
        }
        if hints:
            assert "rep" in lines[f"{WORDS} memory hook hint || exit 0"]
    assert vade("uninstall", "--yes").code == 0
    assert machine.tree() == before


@pytest.mark.parametrize("scope", ["user", "project"])
def test_an_agent_without_the_server_is_not_told_to_use_it(machine: Machine, vade: Vade, scope: str) -> None:
    """Damaged settings of Kiro: nothing of ours is written for it, the reason is given, and it is not called installed."""
    place = "home" if scope == "user" else "repo"
    path = machine.write(f"{place}/.kiro/settings/mcp.json", "{broken")
    before = machine.tree()
    done = vade("install", "kiro", "--scope", scope, "--command", WORDS, "--yes")
    assert done.code == 3
    assert f"{path} is left alone" in done.err
    assert "nothing is installed for Kiro" in done.err
    assert machine.tree() == before
    said = next(line for line in vade("install", "--list").out.splitlines() if line.startswith("kiro"))
    assert "installed (" not in said
    row = next(row for row in json.loads(vade("install", "--list", "--json").out) if row["id"] == "kiro")
    assert row["installed"] == {}
    if scope == "user":
        assert f"no server: {path} is left alone: " in said
        assert row["problem"].startswith(f"{path} is left alone")


def test_settings_that_break_later_keep_what_is_there(machine: Machine, vade: Vade) -> None:
    """An agent that was joined and whose settings broke since keeps its files, and is listed with what is in the way."""
    assert vade("install", "kiro", "zed", "--scope", "project", "--command", WORDS, "--yes").code == 0
    assert vade("install", "kiro", "--command", WORDS, "--yes").code == 0
    path = machine.write("home/.kiro/settings/mcp.json", "{broken")
    before = machine.tree()
    assert vade("install", "kiro", "--command", WORDS, "--yes").code == 3
    assert machine.tree() == before
    said = next(line for line in vade("install", "--list").out.splitlines() if line.startswith("kiro"))
    assert f"no server: {path} is left alone: " in said


def test_read_only_settings_that_have_the_server_are_no_obstacle(machine: Machine, vade: Vade) -> None:
    """Settings that another tool keeps, with our server in them: the other files are written all the same."""
    settings = {"mcpServers": {"vademecum": {"type": "stdio", "command": "uvx", "args": ["vademecum==0.1.0", "mcp"]}}}
    path = machine.write("home/.claude.json", json.dumps(settings))
    path.chmod(0o444)
    (machine.home / ".claude").mkdir()
    done = vade("install", "claude", "--command", WORDS, "--yes")
    assert done.code == 3
    assert "nothing is installed" not in done.err
    assert (machine.home / ".claude" / "CLAUDE.md").exists()


def test_a_preview_shows_the_whole_command(machine: Machine, vade: Vade) -> None:
    """Settings on one endless line: every line of a hook is shown, on a line of its own, and nothing is cut within it."""
    machine.write(
        "home/.claude/settings.json", json.dumps({"env": {f"NAME_{n}": "x" * 20 for n in range(40)}, "hooks": {}})
    )
    words = "/opt/" + "a-long-way-to/" * 14 + "vade"
    shown = vade("install", "claude", "--command", words, "--dry-run").out
    assert len(words) > 200
    for name in ("session-start", "prompt", "stop"):
        assert f'+            "command": "{words} memory hook {name} || exit 0",\n' in shown
    assert "NAME_7" not in shown
    assert "wrapped anew to be read" in shown
    assert "…" not in shown


def test_a_preview_cuts_what_others_wrote(machine: Machine, vade: Vade) -> None:
    """A neighbour's endless value, which only gets a comma, is not printed to its end: it may be a secret."""
    machine.write("home/.claude.json", '{\n  "token": "' + "x" * 500 + '"\n}\n')
    shown = vade("install", "claude", "--command", WORDS, "--dry-run").out
    assert "x" * 300 not in shown
    assert "…" in shown
    assert '"uvx"' in shown


def test_a_bom_crlf_and_a_missing_line_end_stay(machine: Machine, vade: Vade) -> None:
    """What editors of other platforms leave in a file is there afterwards, and our lines end as theirs do."""
    path = machine.write("home/.gemini/settings.json", b'\xef\xbb\xbf{\r\n\t"a": 1\r\n}')
    assert vade("install", "gemini", "--command", WORDS, "--yes").code == 0
    content = path.read_bytes()
    assert content.startswith(b'\xef\xbb\xbf{\r\n\t"a": 1,\r\n\t"mcpServers": {\r\n')
    assert content.count(b"\n") == content.count(b"\r\n")
    assert vade("uninstall", "--yes").code == 0
    assert path.read_bytes() == b'\xef\xbb\xbf{\r\n\t"a": 1\r\n}'


def test_a_link_stays_a_link(machine: Machine, vade: Vade) -> None:
    """Settings kept elsewhere and linked to are written where they are."""
    real = machine.write("home/dotfiles/claude.json", "{}\n")
    (machine.home / ".claude.json").symlink_to(real)
    before = machine.tree()
    assert vade("install", "claude", "--command", WORDS, "--yes").code == 0
    assert (machine.home / ".claude.json").is_symlink()
    assert "vademecum" in real.read_text()
    assert vade("uninstall", "--yes").code == 0
    assert machine.tree() == before


def test_a_repository_cannot_lead_us_out(machine: Machine, vade: Vade) -> None:
    """A link in a repository to a file outside of it, or a loop, a pipe, a directory in place of a file, is not written."""
    secret = machine.write("home/secret.json", "{}")
    (machine.project / ".mcp.json").symlink_to(secret)
    (machine.project / ".cursor").symlink_to(machine.home)
    (machine.project / "CLAUDE.md").symlink_to("CLAUDE.md")
    (machine.project / ".claude").mkdir()
    os.mkfifo(machine.project / ".claude" / "settings.json")
    (machine.project / "AGENTS.md").mkdir()
    before = {name: content for name, content in machine.tree().items() if "settings" not in name}
    done = vade("install", "claude", "cursor", "goose", "--scope", "project", "--command", WORDS, "--yes")
    assert done.code == 3
    assert done.err.count("leads out of the repository") == 4
    for said in ("no plain file", "leads nowhere"):
        assert said in done.err
    assert {name: content for name, content in machine.tree().items() if "settings" not in name} == before


def test_permissions_are_kept_and_a_read_only_file_is_left_alone(machine: Machine, vade: Vade) -> None:
    """A private file stays private; one that its owner may not write is not replaced behind his back."""
    private = machine.write("home/.claude.json", "{}")
    private.chmod(0o600)
    closed = machine.write("home/.claude/settings.json", "{}")
    closed.chmod(0o444)
    done = vade("install", "claude", "--command", WORDS, "--yes")
    assert done.code == 3
    assert f"{closed} is left alone: it is read-only" in done.err
    assert stat.S_IMODE(private.stat().st_mode) == 0o600
    assert closed.read_text() == "{}"


class Crash(BaseException):
    """The process died here."""


@pytest.mark.slow
@pytest.mark.parametrize("verb", ["install", "uninstall"])
def test_a_crash_anywhere_is_put_right(
    machine: Machine, vade: Vade, monkeypatch: pytest.MonkeyPatch, verb: str
) -> None:
    """Killed before any single write, making of a directory or removal: uninstalling restores everything all the same."""
    machine.write("home/.claude.json", '{"a": 1}')
    machine.write("home/.codex/config.toml", "a = 1 # one")
    before = machine.tree()
    install = ("install", "claude", "codex", "cursor", "--command", WORDS, "--yes")
    calls = {name: getattr(os, name) for name in ("replace", "unlink", "mkdir", "rmdir")}
    crashes = 0
    for step in range(1000):
        if verb == "uninstall":
            assert vade(*install).code == 0
        countdown = [step]

        def crashing(name: str, countdown: list[int] = countdown) -> Callable[..., object]:
            def call(*args: object, **options: object) -> object:
                countdown[0] -= 1
                if countdown[0] < 0:
                    raise Crash
                return calls[name](*args, **options)

            return call

        with monkeypatch.context() as patched:
            for name in calls:
                patched.setattr(os, name, crashing(name))
            try:
                vade(*(install if verb == "install" else ("uninstall", "--yes")))
            except Crash:
                crashes += 1
            else:
                break
        if step % 2 and verb == "install":  # going on is as good as going back
            assert vade(*install).code == 0
        assert vade("uninstall", "--yes").code == 0
        assert machine.tree() == before, step
    assert crashes > 10


@pytest.mark.parametrize("call", ["replace", "fsync", "mkdir"])
def test_a_full_disk_is_said_and_loses_nothing(
    machine: Machine, vade: Vade, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    """From any write on there is no room: the failure is named, and uninstalling leaves everything as it was."""
    machine.write("home/.claude.json", '{"a": 1}')
    before = machine.tree()
    original = getattr(os, call)
    failures = 0
    for step in range(1000):
        countdown = [step]

        def full(*args: object, countdown: list[int] = countdown, **options: object) -> object:
            countdown[0] -= 1
            if countdown[0] < 0:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            return original(*args, **options)

        with monkeypatch.context() as patched:
            patched.setattr(os, call, full)
            done = vade("install", "claude", "codex", "--command", WORDS, "--yes")
        if done.code == 0:
            break
        failures += 1
        assert done.code == 3
        assert "No space left on device" in done.err or "no room on the disk" in done.err
        assert "internal error" not in done.err
        assert vade("uninstall", "--yes").code == 0
        assert machine.tree() == before, step
    assert failures > 2


def test_two_installs_at_once(machine: Machine) -> None:
    """Several processes that write the same files: each takes its turn, and no entry or owner is lost."""
    machine.write("repo/AGENTS.md", "# Rules\n")
    before = machine.tree()
    environ = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    agents = ("codex", "opencode", "zed", "amp", "goose", "copilot")

    def start(*words: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [sys.executable, "-m", "vademecum", *words], env=environ, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
        )

    running = [start("install", each, "--scope", "project", "--command", WORDS, "--yes") for each in agents]
    for process in running:
        _, said = process.communicate(timeout=120)
        assert process.returncode == 0, said
    record = json.loads((machine.data / "installs" / "journal.json").read_text())["files"]
    assert record[str(machine.project / "AGENTS.md")]["parts"][0]["agents"] == sorted(agents)
    process = start("uninstall", "--yes")
    process.communicate(timeout=120)
    assert machine.tree() == before


def test_nothing_is_written_unasked(machine: Machine, vade: Vade) -> None:
    """Without a terminal and without --yes the plan is shown and nothing happens; a dry run the same, and is no failure."""
    before = machine.tree()
    done = vade("install", "claude", "--command", WORDS)
    assert done.code == 2
    assert "--yes" in done.err
    assert "+++ ~/.claude.json" in done.out
    assert vade("install", "claude", "--command", WORDS, "--dry-run").code == 0
    assert machine.tree() == before
    assert not (machine.data / "installs" / "journal.json").exists()


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals")
@pytest.mark.parametrize(("answer", "written"), [(b"y\n", True), (b"n\n", False)])
def test_a_terminal_is_asked(machine: Machine, answer: bytes, written: bool) -> None:
    """On a terminal a person says yes or no, and that is what happens."""
    import pty

    main, terminal = pty.openpty()
    environ = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-m", "vademecum", "install", "claude", "--command", WORDS]
    with subprocess.Popen(
        command, stdin=terminal, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environ
    ) as run:
        os.close(terminal)
        os.write(main, answer)
        said, _ = run.communicate(timeout=60)
    os.close(main)
    assert b"Write 5 files?" in said
    assert (machine.home / ".claude.json").exists() is written


def test_agents_are_found_by_what_they_leave(machine: Machine, vade: Vade) -> None:
    """A command on the path or a directory in the home; where there is nothing, the names are listed."""
    done = vade("install", "--dry-run")
    assert done.code == 1
    assert "name one of claude, codex" in done.err
    (machine.home / ".cursor").mkdir()
    (machine.home.parent / "bin" / "goose").touch(mode=0o755)
    found = {row["id"] for row in json.loads(vade("install", "--list", "--json").out) if row["found"]}
    assert found == {"cursor", "goose"}
    assert vade("install", "--command", WORDS, "--yes").code == 0
    said = vade("install", "--list").out
    assert f"installed ({__version__})\n" in said
    assert len(said.splitlines()) == len(AGENTS)
    journal = machine.data / "installs" / "journal.json"
    journal.write_text(journal.read_text().replace(f'"version": "{__version__}"', '"version": "0.0.9"'))
    assert f"installed (0.0.9): `vade install goose` brings it to {__version__}" in vade("install", "--list").out


def test_an_unknown_agent_is_named(vade: Vade) -> None:
    """A name that is none is a wrong call, and the names are listed."""
    done = vade("install", "clod", "--yes")
    assert done.code == 2
    assert "no agent 'clod': it is one of claude, codex" in done.err


def test_json_says_what_was_done(machine: Machine, vade: Vade) -> None:
    """A program can read the plan and the outcome."""
    done = json.loads(vade("install", "claude", "--command", WORDS, "--yes", "--json").out)
    assert {Path(each["path"]).name: each["action"] for each in done["changes"]} == {
        ".claude.json": "create", "CLAUDE.md": "create", "settings.json": "create", "SKILL.md": "create",
        "vademecum-explorer.md": "create",
    }  # fmt: skip
    assert len(done["written"]) == 5
    assert done["problems"] == []


def test_another_repository_keeps_its_own(machine: Machine, vade: Vade, monkeypatch: pytest.MonkeyPatch) -> None:
    """Leaving here leaves what is installed in another repository, unless everywhere is meant."""
    other = machine.home.parent / "other"
    other.mkdir()
    subprocess.run(["git", "init", "-q", "."], cwd=other, check=True)
    monkeypatch.chdir(other)
    assert vade("install", "claude", "--scope", "project", "--command", WORDS, "--yes").code == 0
    monkeypatch.chdir(machine.project)
    assert vade("uninstall", "--yes").code == 0
    assert (other / ".mcp.json").exists()
    assert vade("uninstall", "--everywhere", "--yes").code == 0
    assert not (other / ".mcp.json").exists()


def test_the_home_is_no_repository(machine: Machine, vade: Vade, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the home nothing is set up to serve all of it, and nothing is taken for a repository's own."""
    monkeypatch.chdir(machine.home)
    before = machine.tree()
    assert "is no repository" in vade("install", "claude", "--scope", "project", "--yes").err
    done = vade("install", "windsurf", "--no-instructions", "--no-hooks", "--yes")
    assert "run this in the one to be served" in done.err
    assert machine.tree() == before


def test_a_damaged_journal_is_named(machine: Machine, vade: Vade) -> None:
    """What the journal says is not guessed at; the backups beside it stay."""
    machine.write("data/installs/journal.json", "{")
    done = vade("uninstall", "--yes")
    assert done.code == 3
    assert "is damaged" in done.err


def test_a_lost_backup_is_made_up_for(machine: Machine, vade: Vade) -> None:
    """Without the file as it was, what it was is worked out from what went into it."""
    settle(machine)
    before = machine.tree()
    assert vade("install", *IDS, "--command", WORDS, "--yes").code == 0
    for path in (machine.data / "installs" / "backups").iterdir():
        path.write_bytes(b"damaged")
    assert vade("uninstall", "--yes").code == 0
    assert machine.tree() == before


def test_the_command_is_the_one_that_is_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An installed command by its path, tools of uv and pipx by how they were run, anything else as a person says."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("vade", "uvx", "pipx"):
        (folder / name).touch(mode=0o755)
    monkeypatch.setenv("PATH", str(folder))
    python = str(folder / "python")
    assert command("", python, "/opt/venv") == Command((str(folder / "vade"),), local=True)
    assert command("", python, "/c/uv/archive-v0/Ab3").words == ("uvx", "vademecum==0.1.0")
    assert command("", python, "/h/.local/pipx/.cache/f00").words == ("pipx", "run", "vademecum==0.1.0")
    (folder / "vade").unlink()
    assert command("", python, "/opt/venv").words == (python, "-P", "-m", "vademecum")
    (folder / "vade.exe").touch()
    packed = str(tmp_path / "python" / "python.exe")  # the package for Windows
    assert command("", packed, str(tmp_path / "python")).words == (str(folder / "vade.exe"),)
    assert command("a 'b c'").words == ("a", "b c")
    for wrong in ("'", " "):
        with pytest.raises(UsageError):
            command(wrong)


@pytest.mark.parametrize("script", ["exit 2", "exit 1", "kill -9 $$", None])
def test_a_hook_never_stops_an_agent(tmp_path: Path, script: str | None) -> None:
    """Whatever becomes of the command, the hook's line ends with 0 and says nothing that blocks: 2 would stop a prompt."""
    vade = tmp_path / "my tools" / "vade"
    vade.parent.mkdir()
    if script:
        vade.write_text(f"#!/bin/sh\n{script}\n")
        vade.chmod(0o755)
    line = Command((str(vade),), local=True).hook("prompt")
    assert shlex.split(line)[:4] == [str(vade), "memory", "hook", "prompt"]
    done = subprocess.run(["sh", "-c", line], capture_output=True, text=True, check=False, timeout=30)
    assert (done.returncode, done.stdout) == (0, "")


def test_a_hook_as_installed_answers(machine: Machine, vade: Vade) -> None:
    """The line that was written, run by a shell with what the agent sends: exit code 0, and JSON or nothing."""
    words = f"{sys.executable} -m vademecum"
    assert vade("install", "claude", "--command", words, "--yes").code == 0
    settings = json.loads((machine.home / ".claude" / "settings.json").read_text())
    assert set(settings["hooks"]) == {
        "SessionStart", "SubagentStart", "UserPromptSubmit", "Stop", "PreToolUse", "PostToolUseFailure", "PreCompact",
    }  # fmt: skip
    for event, elements in settings["hooks"].items():
        said = json.dumps({"hook_event_name": event, "cwd": str(machine.project), "session_id": "s", "prompt": "hello"})
        environ = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path), "PATH": os.defpath}
        line = elements[0]["hooks"][0]["command"]
        done = subprocess.run(["sh", "-c", line], input=said, capture_output=True, text=True, env=environ, timeout=60, check=False)  # fmt: skip
        assert done.returncode == 0, done.stderr
        assert not done.stdout or json.loads(done.stdout)


@pytest.mark.slow
@pytest.mark.parametrize("agent", ["claude", "codex", "opencode", "goose"])
def test_the_official_client_is_served_by_what_was_written(machine: Machine, vade: Vade, agent: str) -> None:
    """Started as the agent's settings say, in the repository, the server answers a real client."""
    machine.write("repo/retry.py", 'def retry(call):\n    """Call again after a pause."""\n    return call()\n')
    assert vade("install", agent, "--command", f"{sys.executable} -m vademecum", "--yes").code == 0
    command, *arguments = words_of(next(each for each in AGENTS if each.id == agent), machine)
    environ = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    server = mcp.StdioServerParameters(command=command, args=arguments, env=environ, cwd=str(machine.project))

    async def session() -> tuple[list[str], str]:
        async with mcp.Client(server) as client:
            tools = await client.list_tools()
            found = await client.call_tool("search", {"query": "call again after a pause"})
            return [tool.name for tool in tools.tools], str(found.content[0].text)

    names, text = asyncio.run(asyncio.wait_for(session(), 120))
    assert "search" in names
    assert "### retry.py:1-3 retry" in text


def test_variables_move_the_files(machine: Machine, vade: Vade, monkeypatch: pytest.MonkeyPatch) -> None:
    """`CLAUDE_CONFIG_DIR` and `CODEX_HOME` say where these agents keep theirs."""
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(machine.home / "c"))
    monkeypatch.setenv("CODEX_HOME", str(machine.home / "x"))
    assert vade("install", "claude", "codex", "--command", WORDS, "--yes").code == 0
    assert {path.name for path in (machine.home / "c").iterdir()} == {
        ".claude.json",
        "CLAUDE.md",
        "settings.json",
        "skills",
        "agents",
    }
    assert {path.name for path in (machine.home / "x").iterdir()} == {
        "config.toml",
        "AGENTS.md",
        "hooks.json",
        "skills",
        "agents",
    }


@pytest.mark.parametrize(
    ("platform", "environ", "code"),
    [
        ("linux", {"HOME": "/h"}, "/h/.config/Code/User"),
        ("darwin", {"HOME": "/h"}, "/h/Library/Application Support/Code/User"),
        ("win32", {"USERPROFILE": "/h", "APPDATA": "/h/roaming"}, "/h/roaming/Code/User"),
    ],
)
def test_every_platform_has_its_places(platform: str, environ: dict[str, str], code: str) -> None:
    """Where VS Code keeps its settings differs; what is named from the home does not."""
    there = places(environ, Path("/p"), platform)
    assert there.code == Path(code)
    assert there.path("{home}/.cursor/mcp.json") == Path("/h/.cursor/mcp.json")
