"""`vade search --reranker`: what one types, sees, and is told when it fails."""

from __future__ import annotations

import json

import pytest

QUESTION = "split the token budget or call again"


@pytest.fixture
def server(chat_server, monkeypatch):
    """A model on this machine that says the last passage is the best, set up as a user would."""
    chat_server.answer = lambda said: f"[{said.count('</passage-') - 1}]"
    monkeypatch.setenv("VADE_LLM__BASE_URL", chat_server.url)
    return chat_server


def places(done):
    return [evidence["path"] for evidence in json.loads(done.out)["evidence"]]


def test_the_order_is_the_models(vade, server):
    """The last becomes the first, `--why` says so, and the document is otherwise the same."""
    ranked = vade("search", QUESTION, "--json")
    answer = vade("search", QUESTION, "--json", "--reranker", "llm:tiny:1b")
    assert places(answer) == [places(ranked)[-1], *places(ranked)[:-1]]
    assert (answer.code, answer.err, json.loads(answer.out)["reason"]) == (0, "", "")
    assert "rerank 1" in vade("search", QUESTION, "--reranker", "llm:tiny:1b", "--why").out
    assert len(server.requests) == 2


@pytest.mark.parametrize(
    ("failure", "said"),
    [
        ("hangs up", "look at its log"),
        ("malformed", "check llm.api"),
        (500, "status 500"),
        ("slow", "raise llm.timeout_s"),
    ],
)
def test_a_failure_is_said_and_the_order_stands_byte_for_byte(vade, server, monkeypatch, failure, said):
    """The answer is there, with one line about the reranker; it is no error."""
    monkeypatch.setenv("VADE_LLM__TIMEOUT_S", "0.2")
    server.failure = failure
    ranked = vade("search", QUESTION, "--why").out
    done = vade("search", QUESTION, "--why", "--reranker", "llm:tiny:1b")
    header, reason, rest = done.out.split("\n", 2)
    assert f"{header}\n{rest}" == ranked
    assert reason.startswith("not reranked: ")
    assert said in reason
    assert (done.code, done.err) == (0, "")


def test_a_setting_of_the_repository_may_choose_a_local_model(vade, server, repository):
    """A team can share the choice; a search may do without."""
    ranked = places(vade("search", QUESTION, "--json"))
    (repository / ".vade.toml").write_text('[search]\nreranker = "llm:tiny:1b"\n')
    assert places(vade("search", QUESTION, "--json", "--exclude", "*.toml")) == [ranked[-1], *ranked[:-1]]
    assert places(vade("search", QUESTION, "--json", "--exclude", "*.toml", "--reranker", "built-in")) == ranked


@pytest.mark.parametrize(
    ("name", "code", "said"),
    [("builtin", 2, "no reranker is called 'builtin': did you mean 'built-in'?"),
     ("llm", 2, "reranker 'llm' needs a model: write llm:MODEL, as in llm:qwen3:4b"),
     ("cross-encoder:nowhere", 2, "'nowhere' is no directory: write cross-encoder:DIRECTORY"),
     ("cross-encoder:src", 3, "src holds no tokenizer.json: save the model's fast tokenizer there")],
)  # fmt: skip
def test_what_cannot_be_had_is_an_error(vade, name, code, said):
    """One line that names the thing and the fix."""
    done = vade("search", QUESTION, "--reranker", name)
    assert (done.code, done.out) == (code, "")
    assert done.err.startswith(f"vade: {said}")
    assert done.err.count("\n") == 1


def test_another_machine_needs_consent(vade, monkeypatch):
    """Nothing is sent to an address that is not this machine's before the user agreed."""
    monkeypatch.setenv("VADE_LLM__BASE_URL", "http://192.0.2.1:11434")
    done = vade("search", QUESTION, "--reranker", "llm:m")
    assert done.code == 3
    assert "reranker 'llm:m' sends code to another machine: set privacy.allow_remote" in done.err


def test_a_key_is_never_printed(vade, monkeypatch):
    """`vade config show` says that there is one."""
    monkeypatch.setenv("VADE_LLM__API_KEY", "sk-12345")
    shown = vade("config", "show").out + vade("config", "show", "--json").out
    assert "sk-12345" not in shown
    assert "(set, not shown)" in shown
