"""The tools: few, cheap to list, strict about arguments, and never outside the root."""

from __future__ import annotations

import json
import re
import subprocess

import pytest

from vademecum.config import Settings
from vademecum.errors import Error, UnknownError, UsageError
from vademecum.mcp.registry import INSTRUCTIONS, OPEN_LINES, TOOLS, front_for
from vademecum.settings import McpSettings

TOKEN = re.compile(r"\n\s*|[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d{1,3}|[^\sA-Za-z\d]+")


@pytest.fixture
def engine(repository):
    """The engine on the small repository."""
    from vademecum.engine import Engine

    with Engine.open(str(repository)) as engine:
        yield engine


CODE_TOOLS = {"search", "context", "open", "symbol", "status"}


def test_the_whole_list_is_cheap():
    """Five tools by default, and their list with the instructions stays under 800 tokens."""
    front = front_for(Settings())
    assert set(TOOLS) == CODE_TOOLS | {"recall", "remember", "correct", "forget"} | {
        "search_tools",
        "predict_tool",
        "suggest_plan",
    }
    assert list(front.tools) == ["search", "context", "symbol", "recall", "remember"]
    listed = json.dumps({"tools": [tool.declaration() for tool in front.tools.values()]}, separators=(",", ":"))
    assert len(TOKEN.findall(listed + INSTRUCTIONS)) * 0.98 < 800


def test_a_setting_lists_further_tools_and_names_what_is_none():
    """`open` and `status` are for those who switch them on; a wrong name is named."""
    assert "open" in front_for(Settings(mcp=McpSettings(tools="open, status"))).tools
    with pytest.raises(UsageError, match="names no tool 'opn': there are search"):
        front_for(Settings(mcp=McpSettings(tools="opn")))


def test_descriptions_say_what_an_agent_would_ask():
    """Words for the moment before a change stand in the descriptions and in the instructions."""
    for said in ("who calls it", "what may break", "which tests to run"):
        assert said in TOOLS["symbol"].description
        assert said in INSTRUCTIONS
    assert "grep" in INSTRUCTIONS


def test_search_answers_in_text_and_in_data(engine):
    outcome = TOOLS["search"].call(engine, {"query": "split the token budget"})
    assert outcome.text.splitlines()[0].endswith(" | fresh")
    assert "### src/budget.py:1-" in outcome.text
    top = outcome.data["sections"][0]["chunks"][0]
    assert (top["path"], top["start_line"], top["freshness"]) == ("src/budget.py", 1, "fresh")
    assert "split_budget" in top["text"]


def test_a_search_keeps_to_its_budget(engine):
    """More is shown for more tokens, and never more than was asked for."""
    small, large = (TOOLS["search"].call(engine, {"query": "token budget", "budget": n}) for n in (100, 2000))
    assert small.data["tokens"] <= 100
    assert small.data["tokens"] <= large.data["tokens"] <= 2000


def test_search_narrows(engine):
    found = TOOLS["search"].call(engine, {"query": "token budget handbook", "kind": "doc"})
    assert "src/" not in found.text
    found = TOOLS["search"].call(engine, {"query": "token budget handbook", "path": "src/*", "lang": "python"})
    assert "README" not in found.text
    found = TOOLS["search"].call(engine, {"query": "token budget handbook", "regex": r"60 // \d+"})
    assert "README" not in found.text


def test_not_found_is_an_answer(engine):
    outcome = TOOLS["search"].call(engine, {"query": "xylophone quantum marmalade"})
    assert outcome.text.startswith("not found")
    assert outcome.data["verdict"] == "not_found"


@pytest.mark.parametrize(("tool", "asked"), [("search", "query"), ("context", "task")])
def test_a_question_that_finds_nothing_is_told_the_next_step(engine, tool, asked):
    """Words of another language, or of none of the code, say nothing about what is here; a name or a filter does."""
    said = "ask once more in words that the code may use, most often English; an overview: `context` with mode map"
    missed = TOOLS[tool].call(engine, {asked: "où est vérifié le jeton expiré"}).text.splitlines()
    assert missed[0].startswith("not found")
    assert missed[-1] == said
    assert TOOLS[tool].call(engine, {asked: "仮想環境を再作成する"}).text.endswith(said)  # words without spaces between
    for arguments in ({asked: "xylophoneQuantum"}, {asked: "token budget", "path": "none/**"}):
        assert said not in TOOLS[tool].call(engine, arguments).text


def test_a_text_given_as_a_name_is_not_repeated_to_the_model(engine):
    for relation in ("definition", "callers"):
        with pytest.raises(UsageError, match="is not a name") as refused:
            TOOLS["symbol"].call(engine, {"name": "unfold" * 5_000, "relation": relation})
        assert len(str(refused.value)) < 200


def test_a_filter_that_fits_nothing_is_named_as_every_face_takes_it(engine):
    text = TOOLS["search"].call(engine, {"query": "token budget", "path": "none/**"}).text
    assert "match path none/**" in text
    assert "--path" not in text


def test_every_definition_of_a_name_is_named(engine, repository):
    """The first with their code, the others by place and signature."""
    for n in range(9):
        (repository / f"part{n}.py").write_text(f"class Part{n}:\n    def unfold(self, page):\n        return {n}\n")
    text = TOOLS["symbol"].call(engine, {"name": "unfold"}).text
    assert [f"part{n}.py:2-3" in text for n in range(9)] == [True] * 9
    assert [f"return {n}" in text for n in range(9)] == [True] * 4 + [False] * 5


def test_recall_shows_no_note_about_something_else(engine):
    """Each note stands for itself: those without a word of the question, and far from its meaning, only cost tokens."""
    for said in (
        "We keep amounts in cents because floats lose money.",
        "The lint job runs on Debian.",
        "Ada likes tea.",
    ):
        TOOLS["remember"].call(engine, {"text": said})
    text = TOOLS["recall"].call(engine, {"question": "Why do we keep amounts in cents?"}).text
    assert "1 of 3 events" in text.splitlines()[0]
    assert "floats lose money" in text
    assert "Debian" not in text
    assert "tea" not in text


def test_an_absolute_path_inside_the_root_is_understood(engine, repository):
    outcome = TOOLS["search"].call(engine, {"query": "token budget", "path": str(repository / "src" / "*")})
    assert "src/budget.py" in outcome.text


@pytest.mark.parametrize("path", ["../other", "/etc", "src/../../x", "/"])
def test_search_refuses_a_path_outside_the_root(engine, path):
    with pytest.raises(Error, match="outside"):
        TOOLS["search"].call(engine, {"query": "x", "path": path})


@pytest.mark.parametrize("relation", ["definition", "callers", "callees", "impact", "related"])
def test_symbol_means_what_is_declared_at_a_path(engine, repository, relation):
    (repository / "other.py").write_text("def split_budget(total):\n    return total\n")
    for path in ("src", "./src/", str(repository / "src"), "src/budget.py"):
        data = TOOLS["symbol"].call(engine, {"name": "split_budget", "relation": relation, "path": path}).data
        assert [each["path"] for each in data.get("of", data.get("evidence"))] == ["src/budget.py"]
    with pytest.raises(Error, match="leads out"):
        TOOLS["symbol"].call(engine, {"name": "split_budget", "relation": relation, "path": "/etc"})


@pytest.mark.parametrize("location", ["../../../etc/passwd", "/etc/passwd:1-3", "src/../../x:1"])
def test_open_refuses_a_path_outside_the_root(engine, location):
    with pytest.raises(UsageError):
        TOOLS["open"].call(engine, {"location": location})


def test_open_refuses_a_link_that_leads_outside(engine, repository, tmp_path):
    (tmp_path / "secret.txt").write_text("hunter2")
    (repository / "link.txt").symlink_to(tmp_path / "secret.txt")
    with pytest.raises(UsageError):
        TOOLS["open"].call(engine, {"location": "link.txt"})


def test_open_gives_numbered_lines(engine):
    outcome = TOOLS["open"].call(engine, {"location": "src/budget.py:1-2"})
    assert outcome.text.splitlines()[1:] == [
        "  1  def split_budget(total: int) -> int:",
        '  2      """Split the token budget."""',
    ]
    assert (outcome.data["start_line"], outcome.data["end_line"]) == (1, 2)


def test_a_long_file_is_cut_and_the_rest_is_pointed_at(engine, repository):
    (repository / "long.txt").write_text("line\n" * 1000)
    outcome = TOOLS["open"].call(engine, {"location": "long.txt"})
    assert len(outcome.text.splitlines()) == OPEN_LINES + 2
    assert outcome.text.endswith("open long.txt:401-1000")
    assert outcome.data["end_line"] == OPEN_LINES


def test_symbol_is_exact(engine):
    assert TOOLS["symbol"].call(engine, {"name": "split_budget"}).data["verdict"] == "resolved"
    assert TOOLS["symbol"].call(engine, {"name": "split_budge"}).data["verdict"] == "not_found"


def test_status_counts(engine):
    TOOLS["search"].call(engine, {"query": "budget"})
    outcome = TOOLS["status"].call(engine, {})
    assert outcome.text.startswith("handbook: ")
    assert outcome.data["repos"][0]["files"] == 2
    json.dumps(outcome.data)


@pytest.mark.parametrize(
    ("tool", "arguments", "said"),
    [
        ("search", {}, "search: query is missing: it must be text"),
        ("search", {"query": 3}, "search: query must be text, not 3"),
        ("search", {"query": "x", "top_k": 3}, "search: there is no top_k: there is query, budget, path"),
        ("search", {"query": "x", "budget": 0}, "search: budget must be at least 100, not 0"),
        ("search", {"query": "x", "budget": True}, "search: budget must be a whole number, not True"),
        ("search", {"query": "x", "kind": "codes"}, "search: kind must be one of 'code', 'test', 'doc'"),
        ("status", {"x": 1}, "there is nothing"),
    ],
)
def test_a_wrong_argument_is_named_with_what_would_be_right(tool, arguments, said):
    with pytest.raises(UsageError, match=re.escape(said)):
        TOOLS[tool].call(None, arguments)


def test_symbol_answers_relations(repository, engine):
    (repository / "use.py").write_text(
        "from src.budget import split_budget\n\n\ndef plan():\n    return split_budget(1)\n"
    )
    symbol = TOOLS["symbol"]
    called = symbol.call(engine, {"name": "split_budget", "relation": "callers", "depth": 1})
    assert called.data["verdict"] == "found"
    assert "use.py:4-5  plan  called_by exact" in called.text
    way = symbol.call(engine, {"name": "plan", "relation": "path", "to": "split_budget"})
    assert [each["name"] for each in way.data["found"]] == ["split_budget"]
    assert symbol.call(engine, {"name": "use.py:4", "relation": "related"}).data["found"]
    assert symbol.call(engine, {"name": "plan", "relation": "impact"}).data["verdict"] == "none"
    with pytest.raises(UsageError, match="needs 'to'"):
        symbol.call(engine, {"name": "plan", "relation": "path"})
    with pytest.raises(UsageError, match="depth must be at most 3"):
        symbol.call(engine, {"name": "plan", "relation": "callers", "depth": 4})


def test_memory_is_kept_and_asked(engine, tmp_path, monkeypatch):
    """What one session keeps, another finds; what is not there is said not to be; three write, and one of them destroys."""
    kept = TOOLS["remember"].call(engine, {"text": "We decided to use SQLite because it is small"})
    assert kept.text.startswith(f"kept as {kept.data['ids'][0]}, 1 fact")
    found = TOOLS["recall"].call(engine, {"question": "which database did we decide to use"})
    assert found.data["evidence"][0]["id"] == kept.data["ids"][0]
    assert "decision" in found.data["evidence"][0]["facts"][0]
    assert TOOLS["recall"].call(engine, {"question": "zeppelin"}).data["verdict"] == "not_found"
    hints = {name: tool.declaration()["annotations"] for name, tool in TOOLS.items()}
    assert [name for name, hint in hints.items() if not hint["readOnlyHint"]] == ["remember", "correct", "forget"]
    assert [name for name, hint in hints.items() if hint.get("destructiveHint")] == ["forget"]


def test_memory_is_corrected_and_forgotten_by_id(engine, tmp_path, monkeypatch):
    """With the ids that `recall` shows; a correction keeps the past, and nothing is left of what is forgotten."""
    TOOLS["remember"].call(engine, {"text": "We decided to use SQLite because it is small"})
    question = {"question": "which database did we decide to use"}
    shown = re.search(r"▸ decision (\w+) ", TOOLS["recall"].call(engine, question).text)
    assert shown
    fact = TOOLS["correct"].call(engine, {"fact": shown[1], "text": "We use Postgres since many write"}).data["fact"]
    assert engine.memory.why(fact).history[0].text == "We decided to use SQLite because it is small"
    assert "said in 1 event" in TOOLS["forget"].call(engine, {"id": fact}).text
    assert "Postgres" not in TOOLS["recall"].call(engine, question).text
    with pytest.raises(UsageError, match="there is no fact"):
        TOOLS["correct"].call(engine, {"fact": "0000000000", "text": "x"})


def test_tools_are_found_predicted_and_planned(engine):
    engine.tools.register_json(
        '[{"name": "read", "description": "Read a file."}, {"name": "send", "description": "Send."}]'
    )
    engine.tools.observe_json('[{"intent": "send the notes", "calls": ["read", "send"], "id": "t"}]')
    found = TOOLS["search_tools"].call(engine, {"query": "read a file", "k": 1})
    assert found.data["matches"][0]["id"] == "read"
    assert "why" not in found.data["matches"][0]
    assert "read  0." in found.text
    said = TOOLS["predict_tool"].call(engine, {"intent": "send the notes", "after": "read"})
    assert said.data["candidates"][0]["tool"] == "send"
    plan = TOOLS["suggest_plan"].call(engine, {"intent": "send the notes"})
    assert [task["call"] for task in plan.data["tasks"]] == ["read", "send"]
    assert plan.data["evidence"] == ("t",)


def test_a_name_is_looked_up_in_every_open_repository(repository, tmp_path):
    """The first that declares it answers, and the answer says which it is."""
    from vademecum.engine import Engine

    other = tmp_path / "ledger"
    other.mkdir()
    (other / "book.py").write_text("def settle(x):\n    return x\n\n\ndef close():\n    return settle(1)\n")
    subprocess.run(["git", "init", "-q", "."], cwd=other, check=True)
    with Engine.open(str(repository), str(other)) as engine:
        for asked in ({"name": "settle", "relation": "callers"}, {"name": "book.py:1", "relation": "impact"}):
            text = TOOLS["symbol"].call(engine, asked).text
            assert text.startswith(f"in ledger: {asked['relation']} of")
            assert "book.py:5-6  close" in text
        assert "not found" in TOOLS["symbol"].call(engine, {"name": "nowhere", "relation": "callers"}).text


def test_memory_of_several_repositories_is_asked_as_one_and_written_by_name(repository, tmp_path):
    """Nothing is kept in a repository that nobody named, and each thing recalled says whose it is."""
    from vademecum.engine import Engine

    other = tmp_path / "ledger"
    other.mkdir()
    subprocess.run(["git", "init", "-q", "."], cwd=other, check=True)
    remember, recall = TOOLS["remember"], TOOLS["recall"]
    with Engine.open(str(repository), str(other)) as engine:
        with pytest.raises(UsageError, match="give 'repo', one of handbook, ledger"):
            remember.call(engine, {"text": "We decided to use SQLite because it is small."})
        with pytest.raises(UnknownError, match=r"'attic'.*handbook, ledger"):
            remember.call(engine, {"text": "We decided to use SQLite.", "repo": "attic"})
        kept = remember.call(engine, {"text": "We decided to use Postgres because it is shared.", "repo": "ledger"})
        assert " in ledger, 1 fact" in kept.text
        assert kept.data["repo"] == "ledger"
        remember.call(engine, {"text": "We decided to use SQLite because it is small.", "repo": "handbook"})
        engine.memory.record("We decided to use Redis for the cache of every database.", everywhere=True)
        found = recall.call(engine, {"question": "which database did we decide to use"})
        whose = {each["text"].split()[4]: (each["repo"], each["superseded_by"]) for each in found.data["evidence"]}
        assert whose == {"Postgres": ("ledger", ""), "SQLite": ("handbook", ""), "Redis": ("", "")}
        assert "  ledger  " in found.text
        one = recall.call(engine, {"question": "which database did we decide to use", "repo": "ledger"})
        assert {each["repo"] for each in one.data["evidence"]} == {"ledger", ""}
        with pytest.raises(UnknownError, match=r"'attic'.*handbook, ledger"):
            recall.call(engine, {"question": "which database", "repo": "attic"})
    with Engine.open(str(other)) as engine:  # what was kept for it lies where it alone looks, too
        assert "Postgres" in recall.call(engine, {"question": "which database did we decide to use"}).text
        assert "SQLite" not in recall.call(engine, {"question": "which database did we decide to use"}).text


def test_a_number_of_one_repository_takes_no_place_of_another(repository, tmp_path):
    from vademecum.engine import Engine

    other = tmp_path / "ledger"
    other.mkdir()
    subprocess.run(["git", "init", "-q", "."], cwd=other, check=True)
    with Engine.open(str(repository), str(other)) as engine:
        engine.memory_of("handbook").record("The timeout of the API is 30 seconds.", role="user", at=1e9)
        engine.memory_of("ledger").record("The timeout of the API is 90 seconds.", role="user", at=1.1e9)
        found = engine.memory_of().recall("what is the timeout of the API now?")
        assert len(found.evidence) == 2
        assert not any(item.superseded_by for item in found.evidence)


def test_two_worktrees_of_one_repository_have_one_memory(repository):
    from vademecum.engine import Engine

    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b"]
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "x"], cwd=repository, check=True)
    subprocess.run([*git, "worktree", "add", "-q", "../branch"], cwd=repository, check=True)
    with Engine.open(str(repository), str(repository.parent / "branch")) as engine:
        TOOLS["remember"].call(engine, {"text": "We decided to use SQLite.", "repo": engine.roots[1].name})
        assert len(TOOLS["recall"].call(engine, {"question": "did we decide to use SQLite"}).data["evidence"]) == 1
