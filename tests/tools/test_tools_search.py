"""Active search: ADR-050's score, names first, pins, chains, and no tool buried for being new."""

from __future__ import annotations

import numpy as np
import pytest

from vademecum.answers.render import tools_text
from vademecum.engine import Engine
from vademecum.errors import EmbedError, UsageError
from vademecum.result import Err, Ok
from vademecum.testing import CountingEmbedder
from vademecum.tools.confidence import CAP, smoothed
from vademecum.tools.observe import trace
from vademecum.tools.records import Call, Tool
from vademecum.tools.texts import Question, Texts, clauses
from vademecum.types import Passage, Verdict


class Failing:
    """An embedder that is down."""

    name, dim, remote = "failing", 8, False

    def embed(self, passages, kind):
        return Err(EmbedError("down"))


class Meaning:
    """An embedder to which messages and letters are alike, and all else is different."""

    dim, remote = 2, False

    def __init__(self, name):
        self.name = name

    def embed(self, passages, kind):
        alike = [kind == "query" or "letter" in each.text for each in passages]
        return Ok(np.array([[0.9, 0.43589] if each else [-0.43589, 0.9] for each in alike], np.float32))


class Nearer:
    """An embedder of the user's own, to which any question is nearer to letters than to all else."""

    dim, remote = 2, False

    def __init__(self, name="minilm", near=0.6, far=0.3):
        self.name, self.near, self.far = name, near, far

    def embed(self, passages, kind):
        near = [1.0 if kind == "query" else self.near if "letter" in each.text else self.far for each in passages]
        return Ok(np.array([[cosine, (1 - cosine**2) ** 0.5] for cosine in near], np.float32))


def ids(answer):
    return [match.id for match in answer.matches if match.kind == "tool"]


def test_meaning_says_more_than_one_word_of_a_question(opened):
    """A word of the question in another tool counts less than the tool that is meant."""
    tools = opened(Meaning("minilm"))
    tools.register([Tool.of("post", "dispatch", "Hand over a letter."), Tool.of("log", "message", "Count messages.")])
    assert ids(tools.search("transmit a message"))[0] == "post/dispatch"


@pytest.mark.parametrize(
    ("asked", "first"),
    [("I want everything that has to do with my grandmother's birthday to be posted tomorrow", "post/dispatch"),
     ("count everything", "log/message")],
)  # fmt: skip
def test_a_word_said_in_passing_does_not_outweigh_the_meaning(opened, asked, first):
    """Beside an embedder of one's own, words weigh by how far the best tool says the whole question."""
    tools = opened(Nearer())
    tools.register(
        [Tool.of("post", "dispatch", "Hand over a letter."), Tool.of("log", "message", "Count everything there is.")]
    )
    assert ids(tools.search(asked))[0] == first


def test_no_tool_fits_where_the_nearest_is_far_in_meaning(opened):
    """Neither a word nor the meaning of a tool is near the question."""
    tools = opened(Nearer(near=0.16, far=0.0))
    tools.register([Tool.of("post", "dispatch", "Hand over a letter."), Tool.of("log", "message", "Count messages.")])
    assert tools.search("paint the garage").verdict is Verdict.NOT_FOUND


def test_everyday_words_find_a_tool_by_default(tmp_path, monkeypatch):
    """Nothing is set, and the question shares no word with the tool."""
    monkeypatch.setenv("VADE_HOME", str(tmp_path / "home"))
    with Engine.open(tmp_path) as engine:
        engine.tools.register([
            Tool.of("memory", "delete_entities", "Delete multiple entities from the knowledge graph."),
            Tool.of("memory", "open_nodes", "Open specific nodes in the knowledge graph by their names."),
            Tool.of("files", "read", "Read a file from the disk."),
        ])  # fmt: skip
        assert ids(engine.tools.search("forget all you ever kept about the supplier"))[0] == "memory/delete_entities"


def test_a_thing_said_in_other_words_is_found_by_meaning(opened):
    """In everyday words a question is less near to the right tool than in the tool's own."""
    tools = opened(Nearer(near=0.25, far=0.0))
    tools.register([Tool.of("post", "letters", "Hand over a letter."), Tool.of("log", "count", "Count messages.")])
    answer = tools.search("dispatch something")
    assert (ids(answer)[0], answer.verdict != Verdict.NOT_FOUND) == ("post/letters", True)


def test_nothing_registered_is_said(tools):
    answer = tools.search("read a file")
    assert (answer.verdict, answer.matches) == (Verdict.NOT_FOUND, ())
    assert "vade tools register" in answer.reason
    assert tools.suggest("read a file").tasks == ()
    assert tools.predict("read a file").abstained


@pytest.mark.parametrize(
    ("question", "tool"),
    [
        ("a mail to my boss", "mail/send"),
        ("what does this web address show", "web/fetch"),
        ("make an appointment", "calendar/add_event"),
        ("post into the chat channel", "chat/send"),
    ],
)
def test_without_a_trace_text_finds_the_tool(tools, tools_of_office, question, tool):
    tools.register(tools_of_office)
    assert ids(tools.search(question))[0] == tool


def test_of_several_tools_of_the_name_asked_for_the_one_in_use_is_first(tools):
    """A server that nobody ever called comes behind, though its name is spelled first, and both before all others."""
    tools.register([Tool.of(server, "pay", "Pay for a cart.") for server in ("lone", "shop")])
    tools.register([Tool.of("shop", "pay_later", "Pay for a cart next month.")])
    tools.observe([trace(f"pay for cart {n}", (Call("shop/pay"),), at=float(n)) for n in range(12)])
    assert ids(tools.search("pay", k=1)) == ["shop/pay"]
    found = tools.search("pay", k=3).matches
    assert [match.id for match in found][:2] == ["shop/pay", "lone/pay"]
    assert [match.exact for match in found[:2]] == [True, True]
    assert found[0].score > found[1].score


@pytest.mark.parametrize("question", ["", "  ", "?!"])
def test_what_says_nothing_fits_nothing_but_what_is_pinned(office, question):
    office.pin("chat/send")
    answer = office.search(question)
    assert (answer.verdict, [match.id for match in answer.matches]) == (Verdict.NOT_FOUND, ["chat/send"])
    assert "nothing is asked for" in answer.reason


@pytest.mark.parametrize("question", ["xyzzy qwerty", "diagnose my tomato plants", "simulate the orbit of a comet"])
def test_a_question_that_no_tool_fits_is_not_found(office, tools_of_office, question):
    """The answer says that none fits, how to ask again, and which are nearest; nothing is called a result."""
    answer = office.search(question)
    assert answer.verdict == Verdict.NOT_FOUND
    assert answer.probability < 0.05
    assert answer.reason.startswith(f"none of {len(tools_of_office)} tools fits: ask once more")
    assert list(answer.nearest) == [match.id for match in answer.matches if match.kind == "tool"][:3]
    first, reason, *nearest = tools_text(answer).splitlines()
    assert (first, reason.strip()) == (f"not found {answer.probability:.2f}", answer.reason)
    assert nearest == ([f"  nearest: {', '.join(answer.nearest)}"] if answer.nearest else [])
    assert all(
        match.score <= answer.probability * match.reliability for match in answer.matches if match.kind == "tool"
    )


def test_a_question_in_another_language_finds_by_words_written_alike_or_says_why_not(tools, tools_of_office):
    tools.register([*tools_of_office, Tool.of("cloud", "list_containers", "List the storage containers.")])
    for question in ("Liste der Storage Container", "lister les containers de storage"):
        answer = tools.search(question)
        assert (answer.verdict != Verdict.NOT_FOUND, ids(answer)[0]) == (True, "cloud/list_containers")
    for question in ("Nachricht verschicken", "envoyer un courriel au patron"):
        answer = tools.search(question)
        assert answer.verdict == Verdict.NOT_FOUND
        assert "the language of a tool's description" in answer.reason


def test_a_deprecated_tool_stands_behind_the_one_that_took_its_place(tools):
    tools.register([Tool.of("files", "read", "Read a file. DEPRECATED: Use read_text instead."),
                    Tool.of("files", "read_text", "Read the text of a file, from the beginning or the end of it.")])  # fmt: skip
    assert ids(tools.search("read a file")) == ["files/read_text", "files/read"]
    assert ids(tools.search("files/read"))[0] == "files/read"


@pytest.mark.parametrize("question", ["write text to a file", "send a message by mail", "search the web for pages"])
def test_a_question_in_the_words_of_a_tool_is_likely(tools, tools_of_office, question):
    tools.register(tools_of_office)
    answer = tools.search(question)
    assert (answer.verdict, answer.probability > 0.5) == (Verdict.LIKELY, True)


def test_the_first_traces_make_no_answer_less_sure(tools, tools_of_office, traces_of):
    tools.register(tools_of_office)
    asked = ["write text to a file", "search the mailbox", "fetch a web page", "make an appointment"]
    before = {question: tools.search(question).probability for question in asked}
    for each in traces_of(6):
        tools.observe([each])
        assert all(tools.search(question).probability >= before[question] for question in asked)


def test_a_least_score_leaves_out_what_is_below_but_not_a_name(office):
    every = office.search("mail the report to the team", k=8).matches
    least = sorted(match.semantic for match in every if match.kind == "tool")[-2]
    assert len(ids(office.search("mail the report to the team", k=8, min_score=least))) == 2
    assert ids(office.search("chat/send", min_score=1.0)) == ["chat/send"]
    with pytest.raises(UsageError, match="the least score is 2"):
        office.search("mail", min_score=2)


def test_a_name_of_a_server_weighs_little_among_few_servers(tools):
    """Four servers: what a tool does counts more than the word that its server is called by."""
    described = {
        "git": "Commit staged changes with a message.",
        "http": "Fetch data from an address.",
        "db": "Insert a record.",
    }
    tools.register([Tool.of(server, f"{server}_tool", words) for server, words in described.items()])
    tools.register([Tool.of("deploy", "release", "Publish code changes to production.")])
    assert ids(tools.search("deploy the git changes of our code to production"))[0] == "deploy/release"


def test_an_id_names_one_tool_and_a_bare_name_all_that_have_it(tools, tools_of_office):
    tools.register(tools_of_office)
    exact = {text: [m.id for m in tools.search(text).matches if m.exact] for text in ("mail/send", "send")}
    assert exact == {"mail/send": ["mail/send"], "send": ["mail/send", "chat/send"]}  # the better first


def test_each_clause_of_a_question_is_compared_by_itself():
    texts = Texts(["reads", "sends"], np.eye(2, dtype=np.float32))
    half = np.full(2, 0.5**0.5, np.float32)
    both = Question.of("read the file and send it off", half, np.eye(2, dtype=np.float32))
    assert texts.dense(both) == pytest.approx(half)
    assert texts.nearest(both).tolist() == [1.0, 1.0]
    assert texts.nearest(Question.of("read", half)) == pytest.approx(half)  # one clause, or no embedder for it
    assert clauses("read the notes") == [] == clauses("")
    assert clauses("read the notes; send them to Ann, then stop") == ["read the notes", "send them to Ann"]


def test_the_score_is_semantic_times_reliability_capped(office):
    for reliability in ("smoothed", "step"):
        for match in office.search("mail the report about tax", k=8, reliability=reliability).matches:
            if match.kind == "tool":
                assert match.score == pytest.approx(min(match.semantic * match.reliability, CAP))
                assert 0 <= match.score <= CAP


def test_failures_lower_a_tool_and_the_step_is_the_decisions_own(tools):
    tools.register([Tool.of("a", "send", "Send a message."), Tool.of("b", "send", "Send a message.")])
    calls = [(Call("a/send", ok=number == 0), Call("b/send")) for number in range(10)]
    tools.observe([trace(f"message {number}", pair) for number, pair in enumerate(calls)])
    found = {match.id: match for match in tools.search("send a message", reliability="step").matches}
    assert (found["a/send"].reliability, found["b/send"].reliability) == (0.1, 1.2)
    assert tools.search("send a message").matches[0].id == "b/send"
    assert tools.search("send a message").matches[0].reliability > 1


def test_one_failure_in_one_call_is_not_the_end():
    factor = smoothed(np.array([0.0, 90.0]), np.array([1.0, 100.0]))
    assert 0.8 < factor[0] < factor[1]


@pytest.mark.parametrize("asked", ["mail/search", "MAIL/SEARCH", "add_event", "fetch", "chat/send", "add_event()"])
def test_an_exact_name_is_first_always(office, asked):
    best = office.search(asked, k=1)
    name = asked.lower().removesuffix("()").rpartition("/")[2]
    assert best.matches[0].name == name
    assert best.matches[0].exact
    assert best.verdict is Verdict.RESOLVED


def test_a_name_spelled_out_in_a_sentence_is_first(office):
    assert ids(office.search("please call add_event for the mail to the team"))[0] == "calendar/add_event"


@pytest.mark.parametrize("name", ["addEvent", "add-event", "addevent", "Add event"])
def test_a_name_written_in_another_style_is_that_name(office, name):
    best = office.search(name)
    assert (best.verdict, best.matches[0].id, best.matches[0].exact) == (Verdict.RESOLVED, "calendar/add_event", True)


def test_without_a_trace_tools_stand_in_the_order_of_their_scores(tools):
    """No place is kept for tools that nobody used where nobody used any."""
    tools.register([Tool.of("files", "read", "Read a file. DEPRECATED: Use read_text instead."),
                    Tool.of("files", "read_text", "Read a file as text."),
                    *(Tool.of("files", f"read_{kind}", f"Read a {kind} file.") for kind in ("sound", "film", "map"))])  # fmt: skip
    scores = [match.score for match in tools.search("read a file as text").matches]
    assert scores == sorted(scores, reverse=True)


def test_a_search_is_never_certain_unless_a_name_was_asked_for(office):
    assert max(office.search(f"Read a file from the disk{end}").probability for end in ("", ".", ", please")) <= CAP


def test_a_name_misspelled_has_neighbours(office):
    assert office.search("add_evnt").nearest == ("calendar/add_event",)


def test_past_intents_are_evidence(office):
    answer = office.search("mail the report pottery to the team")
    assert set(ids(answer)[:2]) == {"files/read", "mail/send"}
    assert all(match.traces for match in answer.matches[:2])
    assert answer.verdict is Verdict.LIKELY


def test_learned_chains_stand_beside_tools(office):
    chains = [
        match
        for match in office.search("look up pottery on the web and keep the page").matches
        if match.kind == "capability"
    ]
    assert chains[0].tools == ("web/search", "web/fetch", "files/write")
    assert len(chains[0].traces) == 3
    assert office.search("look up pottery", server="web").matches[-1].kind == "tool"


def test_a_server_narrows(office):
    assert {match.server for match in office.search("search", server="web").matches} == {"web"}
    assert "there are calendar, chat, files, mail, web" in office.search("search", server="wb").reason


def test_a_new_tool_is_not_buried_by_history(office):
    office.register([Tool.of("pdf", "convert_pdf", "Convert a document to PDF.")])
    assert "pdf/convert_pdf" in ids(office.search("convert the report to PDF"))[:3]
    assert "pdf/convert_pdf" in [c.tool for c in office.predict("convert the document to PDF").candidates]


def test_nothing_is_embedded_twice(opened, tools_of_office, traces_of, embedder_of_tests):
    counting = CountingEmbedder(embedder_of_tests)
    tools = opened(counting)
    seen = []
    for step in (tools_of_office, tools_of_office, [Tool.of("pdf", "convert_pdf", "Convert to PDF.")]):
        tools.register(step)
        tools.search("mail")
        seen.append(counting.passages)
    assert seen == [len(tools_of_office), len(tools_of_office), len(tools_of_office) + 1]
    again = CountingEmbedder(embedder_of_tests)
    opened(again).search("mail")
    assert again.passages == 0


def test_without_an_embedder_words_do(opened, tools_of_office, traces_of):
    tools = opened(Failing())
    tools.register(tools_of_office)
    assert ids(tools.search("read a file from the disk"))[0] == "files/read"
    tools.observe(traces_of())
    assert [task.call for task in tools.suggest("mail the report pottery to the team").tasks] == [
        "files/read",
        "mail/send",
    ]


@pytest.mark.parametrize("wrong", [{"k": 0}, {"reliability": "perfect"}])
def test_wrong_arguments_are_named(office, wrong):
    with pytest.raises(UsageError):
        office.search("x", **wrong)


def test_another_process_sees_what_was_observed(office, opened, traces_of):
    other = opened()
    assert other.stats().traces == 36
    office.observe([trace("plant a tree", (Call("garden/plant"),))])
    assert other.stats().traces == 37
    assert ids(other.search("plant a tree"))[0] == "garden/plant"


class Away:
    """An embedder whose server is away, until it is back."""

    name, remote = "away", False

    def __init__(self, embedder):
        self.embedder, self.asked, self.back = embedder, 0, False

    @property
    def dim(self):
        return self.embed([Passage("width")], "query").unwrap().shape[1]

    def embed(self, passages, kind):
        self.asked += 1
        return self.embedder.embed(passages, kind) if self.back else Err(EmbedError("nothing answers: start it"))


def test_an_embedder_that_does_not_answer_leaves_words_and_is_asked_again(opened, embedder_of_tests, monkeypatch):
    """Every answer says so, none waits for the server twice within a minute, and meaning counts once it is back."""
    away = Away(embedder_of_tests)
    tools = opened(away)
    tools.register([Tool.of("mail", "send", "Send a message by mail."), Tool.of("web", "fetch", "Fetch a page.")])
    found = tools.search("send a message")
    assert found.matches[0].id == "mail/send"
    for answer in (found, tools.predict("send a message"), tools.suggest("send a message")):
        assert answer.reason.startswith("ranked by words alone: nothing answers: start it")
    assert away.asked == 1
    away.back = True
    assert "words alone" in tools.search("send a message").reason, "a minute has not passed"
    monkeypatch.setattr("vademecum.tools.tool_arrays.REST_S", 0)
    assert "words alone" not in tools.search("send a message").reason
    assert tools.search("dispatch an email").matches[0].id == "mail/send"


def test_weights_are_not_fitted_while_the_embedder_is_away(opened, embedder_of_tests, monkeypatch, traces_of):
    """They would be those of words alone, and stay when meaning is back."""
    away = Away(embedder_of_tests)
    tools = opened(away)
    tools.observe(traces_of())
    assert (tools.settle(), tools.fit(), tools._now().model.traces) == (36, 36, 0)
    away.back = True
    monkeypatch.setattr("vademecum.tools.tool_arrays.REST_S", 0)
    assert (tools.settle(), tools._now().model.traces) == (36, 36)
