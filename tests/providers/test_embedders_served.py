"""Embedders on servers, over the wires of Ollama, OpenAI and Voyage: what is sent, what is read, what each fault becomes."""

from __future__ import annotations

import re
import socket
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from loopback import running
from vademecum.errors import EmbedError, UsageError
from vademecum.plugins import load
from vademecum.providers.embedders.batches import Limits, batches
from vademecum.providers.post import Patience
from vademecum.result import Err, Ok
from vademecum.settings import EmbeddingSettings
from vademecum.testing import check_embedder
from vademecum.types import Passage

sys.path.insert(0, str(Path(__file__).parent))
from embedding_server import WIDTH, EmbeddingServer, vectors

KINDS = {"ollama": "", "openai": "/v1", "voyage": "/voyage/v1"}
TEXTS = [Passage(f"def step_{n}(): return {n}", f"step_{n}", "Steps") for n in range(10)]
PROVIDERS = Path(__file__).parents[2] / "docs" / "providers.md"


@pytest.fixture
def server():
    """A server of vectors."""
    with running(EmbeddingServer()) as made:
        yield made


class Clocks:
    """A patience that waits by nobody's clock, and remembers how long it would have waited."""

    def __init__(self, chance=1.0, **options):
        self.pauses = []
        self.patience = Patience(
            sleep=self.pauses.append, clock=lambda: 1_000_000_000.0, chance=lambda: chance, **options
        )


@pytest.fixture(params=sorted(KINDS))
def make(request, server):
    """Make embedders that talk to the server, over each wire."""

    def make(model="tiny-embed", patience=None, **options):
        name = request.param
        own = {f"{name}_url": server.url + KINDS[name]} | options
        key = own.pop("key", "")
        own |= {f"{name}_key": key} if key else {}
        return load(
            "embedder", f"{name}:{model}", settings=EmbeddingSettings(**own), patience=patience or Clocks().patience
        )

    make.api = request.param
    return make


def test_they_keep_the_promises_of_an_embedder(make):
    """Over every wire, a batch at a time."""
    check_embedder(make())
    check_embedder(make(batch_texts=2, batch_tokens=40))


def test_vectors_are_those_of_their_texts_whatever_the_batches(make, server):
    """However texts are batched and in whatever order a server writes the rows, each gets its own, of unit length."""
    expected = np.array(vectors([passage.joined for passage in TEXTS]), np.float32)
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    for texts, tokens in ((64, 8_192), (3, 8_192), (64, 30), (1, 16)):
        found = make(batch_texts=texts, batch_tokens=tokens).embed(TEXTS, "document").unwrap()
        assert np.allclose(found, expected, atol=1e-6)
        sizes = [len(body["input"]) for _, body, _ in server.requests]
        assert sum(sizes) == len(TEXTS)
        assert max(sizes) <= texts
        server.requests.clear()


def test_questions_and_documents_are_told_apart(make, server):
    """Voyage is told which it is; to a model that wants a sentence before each, the others' requests hold it."""
    server.model = "nomic-embed-text"
    embedder = make("nomic-embed-text")
    embedder.embed([Passage("where")], "query").unwrap()
    embedder.embed([Passage("here")], "document").unwrap()
    (_, asked, _), (_, told, _) = server.requests
    if make.api == "voyage":
        assert (asked["input_type"], told["input_type"]) == ("query", "document")
        assert (asked["input"], told["input"]) == (["where"], ["here"])
    else:
        assert (asked["input"], told["input"]) == (["search_query: where"], ["search_document: here"])


def test_empty_texts_are_not_sent(make, server):
    """They have the zero vector; where there is nothing else, one short text tells how wide that is."""
    found = make().embed([Passage(""), Passage("x"), Passage(" \n")], "document").unwrap()
    assert [len(body["input"]) for _, body, _ in server.requests] == [1]
    assert not found[[0, 2]].any()
    assert make().embed([Passage("")], "document").unwrap().shape == (1, WIDTH)


def test_a_text_that_utf8_cannot_hold_is_sent_all_the_same(make):
    """Half a character is replaced."""
    assert make().embed([Passage("caf\udce9")], "document").unwrap().any()


def test_a_key_is_sent_and_never_shown(make, server):
    """The right key opens the server; a wrong one is refused without being quoted, nor is it in any text of ours."""
    if make.api == "ollama":
        return
    server.key = "sk-right"
    assert make(key="sk-right").embed(TEXTS, "query").unwrap().any()
    embedder = make(key="sk-wrong-12345")
    failed = embedder.embed(TEXTS, "query")
    assert f"refused the key: set embedding.{make.api}_key in your user file" in str(failed.error)
    assert (
        "sk-wrong" not in f"{failed} {failed.error!r} {embedder._server!r} {EmbeddingSettings(openai_key='sk-wrong')!r}"
    )
    assert len(server.requests) == 2  # a key does not become right by asking again


# Fault → what the message says, and how often a document is asked for: 5 where it may pass. docs/providers.md has the table.
FAULTS = {
    "slow": (r"took longer than 0\.2 s: raise embedding\.timeout_s", 5),
    "drips": (r"took longer than 0\.2 s: raise embedding\.timeout_s", 5),
    "hangs up": (r"cannot be asked .*: look at its log, or set embedding\.\w+_url", 5),
    "cut": (r"cannot be asked .*: look at its log, or set embedding\.\w+_url", 5),
    "garbage": (r"does not answer with vectors as \w+ does: check embedding\.\w+_url", 1),
    "page": (r"does not answer with vectors as \w+ does: check embedding\.\w+_url", 1),
    "nothing": (r"does not answer with vectors as \w+ does: check embedding\.\w+_url", 1),
    "words": (r"does not answer with vectors as \w+ does: check embedding\.\w+_url", 1),
    "ragged": (r"does not answer with vectors as \w+ does: check embedding\.\w+_url", 1),
    "half": (r"gave 5 vectors for 10 texts: lower embedding\.batch_texts", 1),
    "nan": (r"a vector that is no direction: take another model in search\.embedder", 1),
    "zeros": (r"a vector that is no direction: take another model in search\.embedder", 1),
    "elsewhere": (r"leads elsewhere: set embedding\.\w+_url", 1),
    "401": (r"refused the key", 1),
    "404": (r"has no model 'tiny-embed'.*(ollama pull tiny-embed|check embedding)", 1),
    "429": (r"status 429 \(the model runner has stopped\): lower embedding\.batch_texts, or wait \(5 attempts\)", 5),
    "500": (r"status 500 .*: look at its log \(5 attempts\)", 5),
    "503": (r"status 503 .*: look at its log \(5 attempts\)", 5),
}


@pytest.mark.parametrize("fault", sorted(FAULTS))
def test_a_fault_is_named_with_the_setting_to_change(make, server, fault):
    """Every way to fail is an Err that names the server, what happened and what to change; what may pass is tried again."""
    said, times = FAULTS[fault]
    server.faults, server.stuck = [int(fault) if fault.isdigit() else fault], True
    clocks = Clocks(timeout_s=0.2 if fault in {"slow", "drips"} else 30.0)
    failed = make(patience=clocks.patience).embed(TEXTS, "document")
    assert isinstance(failed, Err)
    assert isinstance(failed.error, EmbedError)
    assert re.search(said, str(failed.error)), str(failed.error)
    assert server.url in str(failed.error)
    assert len(server.requests) == times
    assert clocks.pauses == [0.5, 1.0, 2.0, 4.0][: times - 1]


@pytest.mark.parametrize("fault", [fault for fault, (_, times) in sorted(FAULTS.items()) if times > 1])
def test_what_passes_is_survived(make, server, fault):
    """Two failures and then an answer: the vectors are there, and nobody hears of it."""
    server.faults = [int(fault) if fault.isdigit() else fault] * 2
    clocks = Clocks(timeout_s=0.2 if fault in {"slow", "drips"} else 30.0)
    assert make(patience=clocks.patience).embed(TEXTS, "document").unwrap().shape == (10, WIDTH)
    assert clocks.pauses == [0.5, 1.0]


def test_pauses_are_drawn_between_half_and_all(make, server):
    """So that many clients do not come back at once."""
    server.faults = [500] * 3
    clocks = Clocks(chance=0.0)
    make(patience=clocks.patience).embed(TEXTS, "document").unwrap()
    assert clocks.pauses == [0.25, 0.5, 1.0]


@pytest.mark.parametrize(
    ("asked", "waited"), [("7", 7.0), ("Sun, 09 Sep 2001 01:46:50 GMT", 10.0), ("0", 0.0), ("soon", 0.5)]
)
def test_a_retry_after_is_kept_to(make, server, asked, waited):
    """In seconds or as a date by the clock that was given; what cannot be read is as if it were not there."""
    server.faults, server.retry_after = [429], asked
    clocks = Clocks()
    make(patience=clocks.patience).embed(TEXTS, "document").unwrap()
    assert clocks.pauses == [waited]


def test_a_server_that_wants_an_hour_is_left_alone(make, server):
    """The next run asks again."""
    server.faults, server.retry_after, server.stuck = [429], "3600", True
    clocks = Clocks()
    with pytest.raises(EmbedError, match="it asks to be left alone for 3600 s"):
        make(patience=clocks.patience).embed(TEXTS, "document").unwrap()
    assert clocks.pauses == []


def test_a_question_waits_for_little(make, server):
    """Somebody waits for the answer, and words are there: two attempts, and no long pause."""
    server.faults, server.stuck = [500], True
    clocks = Clocks()
    assert isinstance(make(patience=clocks.patience).embed(TEXTS[:1], "query"), Err)
    assert clocks.pauses == [0.5]
    server.retry_after, server.faults = "20", [429]
    assert isinstance(make(patience=clocks.patience).embed(TEXTS[:1], "query"), Err)
    assert clocks.pauses == [0.5]


def test_a_batch_that_is_too_much_is_sent_in_parts(make, server):
    """Too many texts are halved until they fit; one that is too long is cut until it does."""
    server.most_texts = 3
    found = make().embed(TEXTS, "document").unwrap()
    assert found.shape == (10, WIDTH)
    assert sorted(server.embedded) == sorted(passage.joined for passage in TEXTS)
    server.most_characters = 500
    assert make().embed([Passage("word " * 400), TEXTS[0]], "document").unwrap().any(axis=1).all()
    server.most_characters = 10
    with pytest.raises(EmbedError, match=r"status 400 .*maximum context length.*: check search.embedder"):
        make().embed(TEXTS[:1], "document").unwrap()


def test_a_model_that_changed_its_width_is_named(make, server):
    """A server that gives other dimensions than before is another model under the same name."""
    embedder = make()
    embedder.embed(TEXTS, "document").unwrap()
    server.faults = ["wider"]
    with pytest.raises(
        EmbedError, match=f"vectors of {WIDTH * 2} dimensions where they had {WIDTH}.*vade index --full"
    ):
        embedder.embed(TEXTS, "document").unwrap()


def test_a_server_that_is_down_is_named(make):
    """Where nothing listens, the message says what to start; it is not asked again."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
    clocks = Clocks()
    embedder = make(patience=clocks.patience, **{f"{make.api}_url": url})
    with pytest.raises(EmbedError, match=f"nothing answers at {url}: start it.*or set embedding.{make.api}_url"):
        embedder.embed(TEXTS, "document").unwrap()
    with pytest.raises(EmbedError, match="nothing answers"):
        _ = embedder.dim
    assert clocks.pauses == []


@pytest.mark.parametrize(
    "url", ["127.0.0.1:11434", "ftp://x.org", "http://", "http://me:secret@x.org", "http://x.org/?k=secret"]
)
def test_an_address_that_is_none_is_refused(make, url):
    """Without being shown: it may hold a key."""
    with pytest.raises(UsageError, match=f"embedding.{make.api}_url is not an address") as caught:
        make(**{f"{make.api}_url": url})
    assert "secret" not in str(caught.value)


def test_a_model_is_needed(make):
    """The message says how to name one."""
    with pytest.raises(UsageError, match=f"needs a model: write {make.api}:MODEL, as in {make.api}:"):
        make("")


@pytest.mark.parametrize(
    ("name", "options", "remote"),
    [("ollama:m", {}, False), ("ollama:m", {"ollama_url": "http://gpu.example.org:11434"}, True),
     ("ollama:qwen3-embedding:cloud", {}, True), ("ollama:m:120b-cloud", {}, True), ("ollama:m", {"ollama_url": "http://[::1]:1"}, False),
     ("openai:m", {}, True), ("openai:m", {"openai_url": "http://localhost:8080/v1"}, False), ("voyage:m", {}, True)],
)  # fmt: skip
def test_remote_says_whether_text_leaves_the_machine(name, options, remote):
    """By the address, and for what Ollama hands on to its maker by the model's name."""
    assert load("embedder", name, settings=EmbeddingSettings(**options)).remote is remote


@given(st.lists(st.integers(1, 500), max_size=60), st.integers(1, 20), st.integers(16, 2_000))
@settings(suppress_health_check=[HealthCheck.too_slow])
def test_batches_hold_every_text_once_within_their_limits(lengths, texts, tokens):
    """Sorted by length, no larger than allowed unless a text is so alone."""
    found = list(batches(lengths, Limits(texts, tokens)))
    assert sorted(place for batch in found for place in batch) == list(range(len(lengths)))
    flat = [lengths[place] for batch in found for place in batch]
    assert flat == sorted(lengths)
    for batch in found:
        assert len(batch) <= texts
        assert len(batch) == 1 or len(batch) * max(lengths[place] for place in batch) <= tokens


def test_the_table_of_faults_is_the_documented_one():
    """docs/providers.md names every fault that is injected here, and how often it is tried."""
    section = PROVIDERS.read_text(encoding="utf-8").partition("### When a server fails")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (.+?) \| (.+?) \| (.+?) \| `(.+?)` \|$", section, re.MULTILINE)
    documented = {name: tried for _, tried, _, names in rows for name in names.split("`, `")}
    tested = {fault: "again" if times > 1 else "once" for fault, (_, times) in FAULTS.items()}
    assert documented == tested | {"refused": "once", "wider": "once", "too much": "in halves"}


def test_ok_is_what_comes_back(make):
    """No texts, no request."""
    match make().embed([], "document"):
        case Ok(found):
            assert found.shape == (0, WIDTH)
        case Err(error):
            raise error
