"""A language model that describes: what it is sent on either wire, what is read of its answer, how failures are named."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vademecum.errors import EnrichError, UsageError
from vademecum.plugins import load
from vademecum.providers.llm import CODE_CHARACTERS, SENTENCE_CHARACTERS, code_prompt, sentence_of
from vademecum.providers.post import Patience
from vademecum.result import Err, Ok
from vademecum.testing import CountingEnricher, check_enricher
from vademecum.types import Passage

CODE = Passage("def split(self, share):\n    return int(self.total * share)\n", "", "Budget")


@pytest.mark.parametrize(("api", "path"), [("ollama", "/api/chat"), ("openai", "/v1/chat/completions")])
def test_either_wire_is_spoken(chat_server, api, path):
    chat_server.answer = lambda _: "Splits a budget by weight. Really."
    base = chat_server.url + ("/v1" if api == "openai" else "")
    enricher = load("enricher", f"{api}:tiny:1b", base_url=base)
    assert (enricher.name, enricher.remote) == (f"{api}:tiny:1b", False)
    assert enricher.sentence(CODE) == Ok("Splits a budget by weight.")
    asked, body = chat_server.requests[0]
    assert asked == path
    assert body["model"] == "tiny:1b"
    assert "Budget\ndef split(self, share):" in body["messages"][1]["content"]
    if api == "ollama":
        assert body["think"] is False
        assert body["options"]["num_predict"] >= 100


def test_a_key_is_sent(chat_server):
    chat_server.key = "secret"
    chat_server.answer = lambda _: "Opens a store."
    assert (
        load("enricher", "openai:tiny:1b", base_url=chat_server.url + "/v1", api_key="secret").sentence(CODE).unwrap()
    )
    refused = load("enricher", "openai:tiny:1b", base_url=chat_server.url + "/v1", api_key="wrong").sentence(CODE)
    assert isinstance(refused, Err)
    assert "llm.api_key" in str(refused.error)


@pytest.mark.parametrize("failure", [500, 404, "hangs up", "malformed", "elsewhere", "slow", "drips"])
def test_a_failing_server_is_an_error_in_time(chat_server, failure):
    chat_server.failure = failure
    pauses = []
    patience = Patience(attempts=3, sleep=pauses.append, chance=lambda: 1.0)
    outcome = load("enricher", "ollama:tiny:1b", base_url=chat_server.url, timeout_s=0.3, patience=patience).sentence(
        CODE
    )
    assert isinstance(outcome, Err)
    assert isinstance(outcome.error, EnrichError)
    assert pauses == (
        [0.5, 1.0] if failure == 500 else []
    )  # a server that says it is busy is asked again, a silent one is not


def test_what_passes_is_waited_for(chat_server):
    """A model that is being loaded, say: asked again after what the server says, or a pause that doubles."""

    def mended(_):
        chat_server.failure = ""

    chat_server.failure, chat_server.answer = 503, lambda _: "Opens a file."
    enricher = load("enricher", "ollama:tiny:1b", base_url=chat_server.url, patience=Patience(attempts=2, sleep=mended))
    assert enricher.sentence(CODE) == Ok("Opens a file.")


def test_enrichers_keep_their_promises(chat_server):
    chat_server.answer = lambda said: said[-40:]
    check_enricher(load("enricher", "ollama:tiny:1b", base_url=chat_server.url))
    check_enricher(CountingEnricher())
    chat_server.failure = 500
    check_enricher(load("enricher", "ollama:tiny:1b", base_url=chat_server.url, patience=Patience(attempts=1)))


def test_a_check_notices_a_page_instead_of_a_sentence():
    class Talker(CountingEnricher):
        def sentence(self, passage):
            return Ok("It\nis\nlong")

    with pytest.raises(AssertionError, match="one line"):
        check_enricher(Talker())


def test_who_sends_code_away_says_so():
    assert load("enricher", "openai:gpt-5-nano").remote
    assert load("enricher", "ollama:x", base_url="http://10.0.0.1:11434").remote
    assert load("enricher", "ollama:gpt-oss:120b-cloud").remote
    assert not load("enricher", "ollama:qwen2.5-coder").remote


def test_a_model_is_needed():
    with pytest.raises(UsageError, match="ollama:MODEL"):
        load("enricher", "ollama")


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ("Splits a budget.", "Splits a budget."),
        ("Sure, here is the sentence: Splits a budget.", "Splits a budget."),
        ("<think>It might open.\n</think>\n\n- **Splits** a budget. And more.", "Splits a budget."),
        ('"Reads e.g. a file and closes it."', "Reads e.g. a file and closes it."),
        ("```\nSplits\n```", "Splits"),
        ("", ""),
        ("…!?", ""),
        ("\x1b[31mSplits a budget.\x07", "[31mSplits a budget."),
    ],
)
def test_one_sentence_is_read_however_it_is_wrapped(answer, said):
    assert sentence_of(answer) == said


@given(st.text(max_size=2_000))
def test_any_answer_gives_one_line_or_nothing(answer):
    said = sentence_of(answer)
    assert said == " ".join(said.split())
    assert len(said) <= SENTENCE_CHARACTERS
    assert said.isprintable()


@given(st.text(max_size=400))
def test_code_cannot_leave_its_marks(text):
    """What is described never holds the mark that ends it."""
    asked = code_prompt(Passage(text))
    mark = asked[1 : asked.index(">")]
    assert mark not in text
    assert asked.count(f"</{mark}>") == 2


def test_a_long_piece_is_cut():
    assert len(code_prompt(Passage("x" * 100_000))) < CODE_CHARACTERS + 500
