"""No secret reaches the data directory, whichever way it comes, and none comes out of it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from vademecum import config
from vademecum.engine import Engine
from vademecum.hooks.inbox import keep
from vademecum.redaction.redact import redact

sys.path.insert(0, str(Path(__file__).parent))
from secrets_to_hide import SECRETS


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A repository whose commits hold a third of the secrets."""
    root = (tmp_path / "app").resolve()
    root.mkdir()
    git = ["git", "-C", str(root), "-c", "user.name=Ada", "-c", "user.email=ada@example.org"]
    subprocess.run([*git, "init", "-q", "-b", "main"], check=True)
    for text, _ in SECRETS[::3]:
        message = f"Set things up\n\nWe decided on this: {text}"
        subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", message], check=True)
    return root


@pytest.fixture
def opened(
    tmp_path: Path, root: Path, chat_server: Any, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[[], Engine]]:
    """Opens the engine on the repository, with a model that reads everything back as facts."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    arguments = {"search.embedder": "hashing", "memory.extractor": "llm:tiny:1b", "llm.base_url": chat_server.url}
    settings = config.load(environ={"VADE_HOME": str(tmp_path / "data")}, arguments=arguments)
    engines: list[Engine] = []

    def open_engine() -> Engine:
        engines.append(Engine.open(str(root), settings=settings))
        return engines[-1]

    yield open_engine
    for engine in engines:
        engine.close()


def transcript_of(home: Path, root: Path, texts: list[str]) -> None:
    """Write a transcript of Claude Code in which a user says some texts."""
    name = "".join(c if c.isalnum() and c.isascii() else "-" for c in str(root))
    folder = home / ".claude/projects" / name
    folder.mkdir(parents=True)
    lines = [
        json.dumps({
            "type": "user", "uuid": f"u{number}", "sessionId": "s1", "cwd": str(root), "timestamp": "2026-08-20T09:00:00.000Z",
            "message": {"role": "user", "content": f"Always use this: {text}"},
        })
        for number, text in enumerate(texts)
    ]  # fmt: skip
    (folder / "s1.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")


def reading_back(asked: str) -> str:
    """A model that notes the second half of every message it is shown, as a value and as a subject."""
    shown = [part.partition("] ") for part in asked.split("\n[") if "] " in part]
    items = []
    for head, _, words in shown:
        said = words.split(": ", 1)[-1].strip()
        items.append(
            {
                "event": head.strip("[").split()[0],
                "kind": "fact",
                "quote": said[:200],
                "subject": said[:80],
                "value": said[:200],
            }
        )
    return json.dumps(items)  # fmt: skip


def left_in(data: bytes) -> list[str]:
    """Return the secrets that some bytes hold."""
    return [secret for _, secret in SECRETS if secret.encode() in data]


def test_no_byte_of_the_data_directory_holds_a_secret(
    tmp_path: Path, root: Path, opened: Callable[[], Engine], chat_server: Any
) -> None:
    """Transcripts, commits, notes, names, metadata, messages of hooks, a model's notes and exports."""
    transcript_of(tmp_path / "home", root, [text for text, _ in SECRETS])
    engine = opened()
    engine.memory.sync()
    for number, (text, _) in enumerate(SECRETS):
        engine.memory.record(
            f"We decided to remember this: {text}", role="user", session=text, speaker=text, metadata={"said": text}
        )
        keep(
            {"hook_event_name": "beforeSubmitPrompt", "prompt": text, "conversation_id": f"c{number}"},
            "cursor",
            str(root),
            tmp_path / "data",
        )
    chat_server.answer = reading_back
    engine.memory.learn()
    exported = "".join(engine.memory.export())
    assert left_in(exported.encode()) == []
    files = [path for path in (tmp_path / "data").rglob("*") if path.is_file()]
    assert len(files) > len(SECRETS)
    assert {secret: path.name for path in files for secret in left_in(path.read_bytes())} == {}
    about = [fact for fact in engine.memory.facts() if "redacted" in f"{fact.subject} {fact.value}"]
    assert about == []


@pytest.mark.parametrize(("text", "secret"), SECRETS)
def test_a_secret_goes_and_the_words_around_it_stay(text: str, secret: str) -> None:
    """However it looks, after a word that names a credential or in the form of an issuer."""
    found = redact(text)
    assert secret not in found.text
    assert sum(found.counts.values()) == 1
    assert redact(found.text).text == found.text
