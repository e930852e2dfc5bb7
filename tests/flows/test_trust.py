"""What leaves the machine: nothing by default, nothing that a repository's own file asks for, and `doctor` says what may."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from vademecum import config
from vademecum.engine import Engine
from vademecum.errors import ConfigError, ConsentError
from vademecum.plugins import BUILT_IN
from vademecum.wiring.doctor import LEAVES, check_providers

# Put where every Python process of a run finds it: notes whoever asks for a name or makes a socket of the internet's.
GUARD = """
import os, sys
def note(event, args):
    if event in {"socket.getaddrinfo", "socket.gethostbyname", "socket.connect", "socket.sendto"} or (
        event == "socket.__new__" and args[1] in {2, 10, 30}  # AF_INET, and AF_INET6 on Linux and macOS
    ):
        with open(os.environ["GUARD_LOG"], "a") as log:
            log.write(f"{event} {args[1:]!r} in {sys.argv}\\n")
sys.addaudithook(note)
"""

INITIALIZE = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "0"}}


def requests():
    """What a client sends to an MCP server: hello, and a call of every reading tool."""
    calls = [
        ("search", {"query": "token budget"}),
        ("context", {"task": "split the token budget"}),
        ("remember", {"text": "We decided to use pytest."}),
        ("recall", {"query": "what do we use"}),
    ]
    lines = [
        {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": INITIALIZE},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
    ]
    lines += [{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}]
    lines += [{"jsonrpc": "2.0", "id": n, "method": "tools/call", "params": {"name": name, "arguments": arguments}} for n, (name, arguments) in enumerate(calls, 2)]  # fmt: skip
    return "".join(json.dumps(line) + "\n" for line in lines)


@pytest.fixture
def guarded(repo, tmp_path):
    """Run `vade` in a repository with the guard in every process; return what it did and what the guard noted."""
    made = repo()
    (tmp_path / "guard").mkdir()
    (tmp_path / "guard" / "sitecustomize.py").write_text(GUARD)
    log = tmp_path / "guard.log"

    def run(*arguments, text="", code=None):
        environ = os.environ | {
            "PYTHONPATH": os.pathsep.join([str(tmp_path / "guard"), *sys.path]),
            "GUARD_LOG": str(log),
        }
        command = [sys.executable, *(("-c", code) if code else ("-m", "vademecum")), *arguments]
        done = subprocess.run(
            command, cwd=made.path, env=environ, input=text, capture_output=True, text=True, check=False, timeout=300
        )
        noted = log.read_text() if log.exists() else ""
        log.unlink(missing_ok=True)
        return done, noted

    run.repo = made
    return run


def test_the_guard_sees_a_socket(guarded):
    """Also in a child process: the test below could fail."""
    look = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'import socket; socket.socket()'])"
    _, noted = guarded(code=look)
    assert "socket.__new__" in noted
    _, noted = guarded(code="import socket; socket.getaddrinfo('localhost', 1)")
    assert "socket.getaddrinfo" in noted


DEFAULT = [
    ("index",), ("index", "--full"), ("search", "how is the token budget split"), ("search", "Budget", "--why"), ("status",), ("doctor",), ("gc",),
    ("config", "show"), ("context", "split the token budget"), ("map",), ("memory", "record", "We decided to use pytest, because it is short."),
    ("memory", "recall", "what do we use"), ("memory", "context", "how do we test"), ("memory", "sync"), ("memory", "consolidate"),
    ("tools", "search", "read a file"), ("tools", "suggest", "read a file"), ("impact", "Budget"), ("hooks", "status"), ("--version",), ("--help",),
]  # fmt: skip


@pytest.mark.slow
def test_no_default_path_opens_a_socket(guarded):
    """Indexing with workers, searching, contexts, memory, tools, looking after it: not a name is looked up."""
    guarded.repo.write(
        "src/large.py", "\n".join(f"def step_{n}():\n    return {n}\n" for n in range(20_000))
    )  # workers start
    opened = {}
    for arguments in DEFAULT:
        done, noted = guarded(*arguments)
        assert done.returncode in {0, 1, 3}, (arguments, done.stderr)
        assert "No such command" not in done.stderr
        if noted:
            opened[arguments] = noted
    assert opened == {}


def test_the_mcp_server_opens_no_socket(guarded):
    """Over standard input and output, with a call of each tool that reads or remembers."""
    done, noted = guarded("mcp", text=requests())
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert sorted(answer["id"] for answer in answers if "id" in answer) == list(range(6)), done.stderr
    assert all("result" in answer for answer in answers if "id" in answer)
    assert noted == ""


def test_the_python_way_opens_no_socket(guarded):
    """An engine as a library."""
    code = (
        "from vademecum import Engine\n"
        "with Engine.open('.') as engine:\n"
        "    assert engine.codebase.search('token budget').evidence\n"
        "    engine.memory.record('We decided to use pytest.')\n"
        "    engine.memory.recall('what do we use')\n"
        "    engine.tools.search('read a file')\n"
    )
    done, noted = guarded(code=code)
    assert (done.returncode, noted) == (0, ""), done.stderr


# What a repository's own file may say to send text elsewhere, by kind of provider: the file, and how it is refused.
TURNED_ON = {
    "embedder": ('[search]\nembedder = "ollama:embed:cloud"\n', ConsentError, "search.embedder"),
    "embedder by name": ('[search]\nembedder = "openai:text-embedding-3-small"\n', ConfigError, "may choose static, hashing, ollama only"),
    "embedder of Voyage": ('[search]\nembedder = "voyage:voyage-code-3"\n', ConfigError, "may choose static, hashing, ollama only"),
    "embedder from a file": ('[search]\nembedder = "onnx:./model"\n', ConfigError, "may choose static, hashing, ollama only"),
    "prose embedder": ('[search]\nprose_embedder = "ollama:embed:cloud"\n', ConsentError, "search.prose_embedder"),
    "prose embedder by name": ('[search]\nprose_embedder = "openai:x"\n', ConfigError, "may choose static, hashing, ollama only"),
    "address of an embedder": ('[embedding]\nollama_url = "http://evil.example.org"\n', ConfigError, "embedding.ollama_url"),
    "key of an embedder": ('[embedding]\nopenai_key = "x"\n', ConfigError, "embedding.openai_key"),
    "download": ("[embedding]\ndownload = true\n", ConfigError, "embedding.download"),
    "vectors": ('[search]\nvectors = "qdrant"\n', ConfigError, "may choose exact, lancedb, chroma only"),
    "vectors' address": ('[qdrant]\nurl = "http://evil.example.org"\n', ConfigError, "qdrant.url"),
    "reranker": ('[search]\nreranker = "llm:rank:cloud"\n', ConsentError, "search.reranker"),
    "enricher": ('[enrich]\nprovider = "openai:x"\n', ConfigError, "enrich.provider"),
    "extractor": ('[memory]\nextractor = "llm:x:cloud"\n', ConfigError, "memory.extractor"),
    "address of a language model": ('[llm]\nbase_url = "http://evil.example.org"\n', ConfigError, "llm.base_url"),
    "backlog": ('[sources.work]\nprovider = "jira"\nurl = "https://evil.example.org"\nproject = "A"\n', ConfigError, "sources"),
    "documents": ('[sources.notes]\nprovider = "confluence"\nurl = "https://evil.example.org"\nspace = "A"\n', ConfigError, "sources"),
    "counter": ('[context]\ncounter = "tokenizer:./x.json"\n', ConfigError, "may choose pattern only"),
    "consent itself": ("[privacy]\nallow_remote = true\n", ConfigError, "privacy.allow_remote"),
}  # fmt: skip


@pytest.mark.parametrize("allowed", [False, True])
@pytest.mark.parametrize("what", sorted(TURNED_ON))
def test_a_repositorys_own_file_turns_nothing_remote_on(repo, monkeypatch, what, allowed):
    """Whether or not the user allows remote providers that they choose themselves, and the message says so."""
    text, error, said = TURNED_ON[what]
    made = repo()
    made.write(".vade.toml", text)
    if allowed:
        monkeypatch.setenv("VADE_PRIVACY__ALLOW_REMOTE", "1")

    def use():
        with Engine.open(made.path) as engine:
            engine.codebase.index()
            engine.codebase.search("token budget")
            engine.memory.recall("what do we use")

    with pytest.raises(error, match=said) as refused:
        use()
    assert "a repository's own file" in str(refused.value)


def test_every_kind_that_can_be_remote_is_tried():
    """A new kind of provider, or a new name of an embedder, belongs into the table above."""
    kinds = set(BUILT_IN) - {"searcher", "server", "store"}  # no file of a repository names those
    assert {what.partition(" ")[0] for what in TURNED_ON} >= kinds


def doctor(**arguments):
    settings = config.load(arguments={key.replace("__", "."): value for key, value in arguments.items()})
    return check_providers(settings)


def test_doctor_says_that_nothing_leaves():
    """By default, and with providers on this machine."""
    assert [(check.name, check.ok, check.detail) for check in doctor()] == [
        (LEAVES, True, "nothing (looked at: embedder)")
    ]
    checks = doctor(search__embedder="hashing", search__prose_embedder="static")
    assert checks[-1].detail == "nothing (looked at: embedder, prose embedder)"


def test_doctor_lists_what_may_leave_and_who_agreed(monkeypatch, chat_server):
    """Every provider of every kind that sends text elsewhere: what, where to, chosen and agreed to by whom."""
    monkeypatch.setenv("VADE_PRIVACY__ALLOW_REMOTE", "1")
    monkeypatch.setenv("VADE_SEARCH__EMBEDDER", "voyage:voyage-code-3")
    leaving = [
        check.detail
        for check in doctor(
            search__prose_embedder="ollama:embed:cloud", search__reranker="llm:rank:cloud", enrich__provider="ollama:write:cloud",
            memory__extractor="llm:read:cloud", llm__base_url=chat_server.url, embedding__download=True,
        )
        if check.name == LEAVES
    ]  # fmt: skip
    agreed = "agreed in VADE_PRIVACY__ALLOW_REMOTE)"
    cloud = f"(chosen in argument, {agreed}"
    assert leaving == [
        f"code to https://api.voyageai.com/v1, by embedder voyage:voyage-code-3 (chosen in VADE_SEARCH__EMBEDDER, {agreed}",
        f"documents and what was said to http://127.0.0.1:11434, by prose embedder ollama:embed:cloud {cloud}",
        f"code to {chat_server.url}, by reranker llm:rank:cloud {cloud}",
        f"code to {chat_server.url}, by enricher ollama:write:cloud {cloud}",
        f"what was said to {chat_server.url}, by extractor llm:read:cloud {cloud}",
        "names of models, to a hub that they are fetched from (agreed in argument)",
    ]


def test_doctor_lists_an_index_of_vectors(monkeypatch):
    """It is sent code: where to, and who agreed; or that nobody did."""
    own = {"search__vectors": "qdrant", "qdrant__url": "https://qdrant.example.org"}
    [refused] = [check.detail for check in doctor(**own) if check.name == LEAVES]
    assert refused.startswith("not yet: vectors 'qdrant at https://qdrant.example.org' sends code to another machine")
    monkeypatch.setenv("VADE_PRIVACY__ALLOW_REMOTE", "1")
    [leaving] = [check.detail for check in doctor(**own) if check.name == LEAVES]
    assert leaving.startswith(
        "code to https://qdrant.example.org, by vectors qdrant at https://qdrant.example.org (chosen"
    )
    here = [check.detail for check in doctor(search__vectors="qdrant") if check.name == LEAVES]
    assert here == ["nothing (looked at: embedder, vectors)"]


def test_doctor_lists_a_shared_database(monkeypatch):
    """It is sent code and what was said; its password is not shown."""
    own = {"storage__provider": "postgres", "storage__url": "postgresql://ada:sesame@db.example.org/code"}
    [refused] = [check.detail for check in doctor(**own) if check.name == LEAVES]
    assert refused.startswith("not yet: postgresql://db.example.org/code keeps code and memory on another machine")
    monkeypatch.setenv("VADE_PRIVACY__ALLOW_REMOTE", "1")
    [leaving] = [check.detail for check in doctor(**own) if check.name == LEAVES]
    assert leaving == (
        "code and memory to postgresql://db.example.org/code, by store postgres "
        "(chosen in argument, agreed in VADE_PRIVACY__ALLOW_REMOTE)"
    )
    here = [check.detail for check in doctor(**own | {"storage__url": "postgresql:///code"}) if check.name == LEAVES]
    assert here == ["nothing (looked at: embedder)"]


def test_doctor_goes_on_when_the_embedder_cannot_be_had(guarded, monkeypatch):
    """Refused, or not there: every other check is made all the same, and nothing was asked."""
    for spec, said in (("voyage:voyage-code-3", "privacy.allow_remote"), ("onnx:/no/such/place", "is no directory")):
        monkeypatch.setenv("VADE_SEARCH__EMBEDDER", spec)
        done, noted = guarded("doctor")
        assert (done.returncode, noted) == (3, ""), done.stderr
        lines = {tuple(line.split()[:2]): line for line in done.stdout.splitlines()}
        assert said in lines["WRONG", "embedder"]
        assert ("ok", "git") in lines
        assert ("ok", "database") in lines


def test_doctor_lists_sources_that_are_elsewhere(monkeypatch, tmp_path):
    """What `vade sync` would ask another machine for; a folder on this one is none of it."""
    folder = tmp_path / "user" / "vademecum"
    folder.mkdir(parents=True)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "user"))
    (folder / "config.toml").write_text(
        '[sources.work]\nprovider = "jira"\nurl = "https://jira.example.org"\nproject = "ABC"\ntoken = "sk-secret"\n'
        f'[sources.notes]\nprovider = "folder"\npath = "{tmp_path}"\n'
    )
    [refused] = [check.detail for check in doctor() if check.name == LEAVES]
    assert refused.startswith("not yet: backlog 'work' sends its key and what it asks for to another machine")
    [said] = [check.detail for check in doctor(privacy__allow_remote=True) if check.name == LEAVES]
    assert said == (
        "its key and what it asks for to https://jira.example.org, by source work (jira) "
        f"(chosen in {folder / 'config.toml'}, agreed in argument)"
    )
    assert "sk-secret" not in refused + said


def test_doctor_says_what_was_refused():
    """What would leave if it were agreed to."""
    checks = doctor(search__embedder="voyage:voyage-code-3", search__reranker="llm:rank:cloud")
    refused = [check.detail for check in checks if check.name == LEAVES]
    assert refused[0].startswith(
        "not yet: embedder 'voyage:voyage-code-3' sends code to another machine: set privacy.allow_remote"
    )
    assert refused[1].startswith("not yet: reranker 'llm:rank:cloud' sends code")
    assert [check.ok for check in checks if check.name == "reranker"] == [False]


def test_doctor_tries_every_configured_provider(chat_server):
    """One small task each: that it answers, or why it does not."""
    answers = {"ranking": "[1]", "sentence": "Opens a file.", "JSON": "[]"}
    chat_server.answer = lambda said: next((answer for word, answer in answers.items() if word in said), "[1]")
    own = {"search__reranker": "llm:tiny:1b", "enrich__provider": "ollama:tiny:1b", "memory__extractor": "llm:tiny:1b", "llm__base_url": chat_server.url}  # fmt: skip
    checks = {check.name: check for check in doctor(**own)}
    assert [checks[kind].detail for kind in ("reranker", "enricher", "extractor")] == [
        "llm:tiny:1b answers", "ollama:tiny:1b answers", "llm:tiny:1b answers",
    ]  # fmt: skip
    chat_server.failure = 500
    checks = {check.name: check for check in doctor(**own)}
    assert not any(checks[kind].ok for kind in ("reranker", "enricher", "extractor"))
    assert "status 500" in checks["enricher"].detail
    assert checks["extractor"].fix == "see the message, or choose another with memory.extractor"
