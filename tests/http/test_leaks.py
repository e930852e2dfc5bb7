"""A key for one repository tells nothing of another: by no route, in no error, no count and no tag."""

from __future__ import annotations

import asyncio
import itertools
import json
import os
from pathlib import Path
from urllib.parse import quote

import pytest
from mcp.client.streamable_http import streamable_http_client

from mcp import Client as McpClient
from vademecum.cli import main
from vademecum.mcp.registry import TOOLS

SECRET = "xylophone"  # stands in everything of the closed repository, and nowhere else
CLOSED = {
    f"src/{SECRET}.py": f'def {SECRET}_play(notes):\n    """Play the {SECRET}."""\n    return {SECRET}_tune(notes)\n\n\n'
    f"def {SECRET}_tune(notes):\n    return notes\n",
    f"docs/{SECRET}.md": f"# The {SECRET}\n\nHow the {SECRET} is played.\n",
}


@pytest.fixture
def served(serve, repo):
    """A server of two repositories, and one key for each and one for both; everything holds the word."""
    opened, closed = repo("handbook"), repo(SECRET, CLOSED)
    closed.git("checkout", "-q", "-b", f"{SECRET}-branch")
    client, one, other, both = serve(
        opened, closed, keys=[("one", "handbook"), ("other", SECRET), ("both", "*")], refresh_s=0
    )
    user = client.with_key(both)
    for name in ("handbook", SECRET):
        user.done(user.post("/v1/index", {"repo": name}).json)
    for text in (f"We decided to tune the {SECRET} on Mondays.", f"I prefer the {SECRET} to drums."):
        assert user.post(f"/v1/events?repo={SECRET}", {"text": text, "role": "user", "session": SECRET}).status == 201
        assert user.post("/v1/events", {"text": text, "role": "user", "everywhere": True}).status == 201
    schema = {"type": "object", "properties": {SECRET: {"type": "string"}}}
    user.post(
        f"/v1/tools/register?server={SECRET}",
        [{"name": "play", "description": f"Play the {SECRET}", "inputSchema": schema}],
    )
    user.post("/v1/tools/observe", [{"intent": f"play the {SECRET}", "calls": [{"tool": f"{SECRET}/play"}]}])
    user.post("/v1/context", {"task": f"tune the {SECRET}", "session": "shared"})
    return client.with_key(one), client.with_key(other), user, closed


def values(user, closed):
    """What somebody could ask for who guesses: names, places and ids of what is closed."""
    job = user.get("/v1/index/jobs").json["items"][0]["id"]
    event = user.get(f"/v1/events?repo={SECRET}").json["items"][0]["id"]
    shared = user.get("/v1/events/search?q=drums").json["evidence"][0]["event"]["id"]
    fact = user.get(f"/v1/memory/facts?repo={SECRET}").json["items"][0]["id"]
    commit, path = closed.git("rev-parse", "HEAD"), f"src/{SECRET}.py"
    above = f"../{SECRET}/{path}"
    return {
        "repo": ["", SECRET, str(closed.path), f"../{SECRET}", "*"],
        "id": [job, event, shared, fact, SECRET],
        "name": [f"{SECRET}_play", path, f"{path}:1", str(closed.path / path), above],
        "target": [path, str(closed.path / path), f"{closed.path}/{path}:1", above, f"{commit}:{path}"],
        "commit": ["", commit, f"{SECRET}-branch"],
        "path": ["", str(closed.path), f"../{SECRET}/**", path],
        "symbol": ["", f"{SECRET}_play", path],
        "relation": ["callers", "callees", "impact", "path", "related"],
        "session": ["", SECRET, "shared"],
        "everywhere": ["true", "false"],
        "server": ["", SECRET],
        "prefix": ["", SECRET[:4]],
        "scope": ["", "global"],
        "state": ["all"],
        "cursor": [""],
        "when": ["", "today"],
    }  # fmt: skip


GUESSED = f"{SECRET} tune drums"
# What differs between two servers whatever they serve.
OF_A_RUN = {"indexed_at", "database", "bytes", "recorded_at", "instance"}
OF_A_JOB = {"id", "created_at", "started_at", "finished_at", "state", "stage", "done", "total", "report", "problem"}


def requests(described, guesses):
    """Every route but those that end things, with every guess for each of its parameters, a few at a time."""
    for path, methods in described["paths"].items():
        for method, told in methods.items():
            known = {each["name"]: each for each in told.get("parameters", ())}
            chosen = {name: guesses.get(name) or [GUESSED if _is_text(each) else None] for name, each in known.items()}
            for given in _combinations(chosen):
                query = "&".join(
                    f"{name}={quote(str(value), safe='')}"
                    for name, value in given.items()
                    if value is not None and known[name]["in"] == "query"
                )
                place = path
                for name, value in given.items():
                    place = place.replace("{" + name + "}", quote(str(value), safe=""))
                if method != "delete" and path not in {"/metrics", "/v1/index"}:
                    yield method.upper(), f"{place}?{query}" if query else place, told.get("requestBody")


def _is_text(parameter):
    return parameter.get("required") or parameter["name"] in {"q", "task", "intent", "question", "from", "to"}


def _combinations(chosen):
    """Each value of each parameter beside the first of the others, and with each guess of a repository."""
    first = {name: found[0] for name, found in chosen.items()}
    yield first
    for name, found in chosen.items():
        yield from (first | {name: value} for value in found[1:])
    for (name, found), repo in itertools.product(chosen.items(), chosen.get("repo", ())):
        yield from (first | {name: value, "repo": repo} for value in (found[:2] if name != "repo" else ()))


def _asked(client, method, place, body):
    if body is None:
        return client.ask(method, place)
    if "application/json" not in body["content"]:
        return client.ask(method, place, b"", Content_Type="application/x-ndjson")
    own = {
        "text": "a note of one's own",
        "at": 1_700_000_000,
        "task": GUESSED,
        "message": GUESSED,
        "metadata": {"a": 1},
    }
    return client.ask(method, place, own)


def _told(said, own):
    """The JSON of an answer, or of each of its lines, without what differs between runs."""
    return [_without(json.loads(line), OF_A_RUN | own) for line in said.body.decode().split("\n") if line]


def _without(value, names):
    if isinstance(value, dict):
        return {name: _without(each, names) for name, each in value.items() if name not in names}
    return [_without(each, names) for each in value] if isinstance(value, list) else value


@pytest.mark.slow
def test_who_has_a_key_for_one_repository_cannot_tell_that_there_is_another(served, serve, repo, tmp_path):
    """Every answer is that of a server that has never heard of the other: the same status and the same words.

    Whatever is asked: names, places, commits and ids of what is closed among it.
    """
    one, _, user, closed = served
    alone, key = serve(
        tmp_path / "handbook", keys=[("one", "handbook")], refresh_s=0, home=str(tmp_path / "another home")
    )
    alone = alone.with_key(key)
    alone.done(alone.post("/v1/index").json)  # as the user did for what is open
    asked, found = 0, 0
    for method, place, body in requests(one.get("/openapi.json").json, values(user, closed)):
        said, expected = _asked(one, method, place, body), _asked(alone, method, place, body)
        asked, found = asked + 1, found + (said.status == 200)
        assert said.status == expected.status, (method, place, said.body, expected.body)
        kinds = said.headers.get("content-type", ""), expected.headers.get("content-type", "")
        assert kinds[0] == kinds[1], place
        if kinds[0].endswith("json"):
            own = OF_A_JOB if place.startswith("/v1/index/jobs?") else set()
            assert _told(said, own) == _told(expected, own), (method, place)
        elif "event-stream" not in kinds[0]:
            assert said.body == expected.body, (method, place)
    assert asked > 300
    assert found > 100


def test_what_is_closed_is_answered_as_if_it_did_not_exist(served):
    """The same status and words for what is closed and for what there never was."""
    one, _, user, closed = served
    guesses = values(user, closed)
    job, event, shared, fact, _ = guesses["id"]
    for template, real in (
        ("/v1/index/jobs/{}", job),
        ("/v1/index/jobs/{}/events", job),
        ("/v1/events/{}", event),
        ("/v1/events/{}", shared),
        ("/v1/memory/facts/{}/why", fact),
        ("/v1/search?q=a&repo={}", SECRET),
        ("/v1/graph/files?repo={}", SECRET),
        ("/v1/graph/neighbourhood?repo={}", SECRET),
        ("/v1/symbols?repo={}", SECRET),
        ("/v1/events?repo={}", SECRET),
        ("/v1/memory/facts?repo={}", SECRET),
        ("/v1/open?target=a.py&repo={}", SECRET),
        ("/v1/index/status?repo={}", SECRET),
        ("/v1/graph/neighbourhood?symbol={}", f"{SECRET}_play"),
    ):
        never = "never-there-" + "0" * max(0, len(real) - 12)
        told, control = one.get(template.format(real)), one.get(template.format(never))
        assert (told.status, control.status) == (404, 404), template
        said, expected = told.json, control.json
        assert said["detail"].replace(real, "X") == expected["detail"].replace(never, "X"), template
    assert one.post("/v1/index", {"repo": SECRET}).status == 404
    assert one.ask("DELETE", f"/v1/index/jobs/{job}").status == 404
    assert one.ask("DELETE", f"/v1/events/{event}").status == 404
    assert one.ask("PATCH", f"/v1/events/{shared}", {"metadata": {"a": 1}}).status == 404
    assert one.post(f"/v1/memory/facts/{fact}/forget").status == 404


def test_what_is_the_users_own_takes_the_users_key(served):
    one, other, user, _ = served
    for method, place, body in (
        ("GET", "/metrics", None),
        ("GET", "/v1/settings", None),
        ("GET", "/v1/tools", None),
        ("GET", "/v1/tools/stats", None),
        ("GET", "/v1/tools/graph", None),
        ("GET", "/v1/tools/search?intent=play", None),
        ("GET", "/v1/tools/predict?intent=play", None),
        ("GET", "/v1/tools/suggest?intent=play", None),
        ("POST", "/v1/tools/register", []),
        ("POST", "/v1/tools/observe", []),
        ("POST", "/v1/events", {"text": "x", "everywhere": True}),
        ("GET", "/v1/memory/export?everywhere=true", None),
    ):
        for key in (one, other):
            assert key.ask(method, place, body).status == 403, place
        assert user.ask(method, place, body).status in {200, 201}, place


def test_counts_and_tags_are_those_of_what_is_open(served):
    """How much there is of what is closed changes no number that is told, nor any tag."""
    one, other, user, closed = served
    places = ["/v1/search?q=budget", "/v1/repos", "/v1/index/status", "/v1/events", "/v1/memory/facts", "/v1/graph/map",
              "/v1/graph/neighbourhood", "/v1/symbols", "/v1/index/jobs"]  # fmt: skip
    before = {place: one.get(place) for place in places}
    closed.write(f"src/more_{SECRET}.py", f"def more_{SECRET}():\n    return 'budget'\n")
    user.done(user.post("/v1/index", {"repo": SECRET}).json)
    other.post("/v1/events", {"text": "something else"})
    after = {place: one.get(place) for place in places}
    for place in places:
        assert after[place].body == before[place].body, place
        assert after[place].headers["etag"] == before[place].headers["etag"], place
    assert one.get("/v1/search?q=budget").json["searched"] < user.get("/v1/search?q=budget").json["searched"]
    assert one.get("/v1/repos").json["items"][0]["name"] == "handbook"
    assert len(one.get("/v1/repos").json["items"]) == 1


def test_a_session_of_one_key_is_not_that_of_another(served):
    """What another key was shown under the same name is not left out, which would tell that it was shown."""
    one, _, user, _ = served
    user.post("/v1/context", {"task": "split the token budget", "session": "mine"})
    shown = one.post("/v1/context", {"task": "split the token budget", "session": "mine"}).json
    assert shown["sections"]
    assert "shown_before" not in shown or not shown["shown_before"]


def test_backlogs_and_documents_are_the_users_own(serve, repo, tmp_path, monkeypatch):
    """What was fetched from elsewhere is found with the user's key, and with no other."""
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "tuning.md").write_text(f"# Tuning\n\nThe {SECRET} is tuned to the token budget.\n", encoding="utf-8")
    monkeypatch.setenv("VADE_SEARCH__EMBEDDER", "hashing")
    user_file = Path(os.environ["XDG_CONFIG_HOME"]) / "vademecum" / "config.toml"
    user_file.parent.mkdir(parents=True, exist_ok=True)
    user_file.write_text(f'[sources.guide]\nprovider = "folder"\npath = "{notes}"\n', encoding="utf-8")
    handbook = repo()
    monkeypatch.chdir(handbook.path)
    assert main(["sync", "guide"]) == 0
    client, one, everything = serve(handbook, keys=[("one", "handbook"), ("all", "*")])
    places = ["/v1/search?q=tuned&kind=doc", "/v1/search?q=tuned&source=all", "/v1/search?q=tuned&source=guide",
              "/v1/search?q=tuned&repo=guide", "/v1/open?target=guide:tuning.md", "/v1/open?target=tuning.md&repo=guide",
              "/v1/context?task=tuned%20to%20the%20token%20budget"]  # fmt: skip
    told = {key: {place: client.with_key(key).get(place) for place in places} for key in (one, everything)}
    assert all(SECRET.encode() not in said.body for said in told[one].values())
    assert sum(SECRET.encode() in said.body for said in told[everything].values()) >= 4
    assert {said.status for said in told[one].values()} <= {200, 400, 404, 422}


def test_metrics_name_no_repository(served):
    _, _, user, _ = served
    assert SECRET.encode() not in user.get("/metrics").body
    assert b"handbook" not in user.get("/metrics").body


def test_agents_are_told_nothing_of_another_repository(served):
    """Every tool over MCP, asked for what is closed."""
    import httpx2

    one, other, _, closed = served
    arguments = {
        "search": {"query": GUESSED}, "context": {"task": GUESSED}, "open": {"location": f"src/{SECRET}.py"},
        "symbol": {"name": f"{SECRET}_play", "relation": "callers"}, "recall": {"question": GUESSED},
        "remember": {"text": "a note"}, "correct": {"fact": GUESSED, "text": "a note"}, "forget": {"id": GUESSED}, "status": {}, "search_tools": {"query": "play"},
        "predict_tool": {"intent": "play"}, "suggest_plan": {"intent": "play"},
    }  # fmt: skip
    assert set(arguments) == set(TOOLS)

    async def ask(client):
        http_client = httpx2.AsyncClient(headers=client.headers, timeout=60)
        async with (
            http_client,
            McpClient(streamable_http_client(f"http://127.0.0.1:{client.port}/mcp", http_client=http_client)) as asked,
        ):
            answers = {name: await asked.call_tool(name, given) for name, given in arguments.items()}
            answers["search "] = await asked.call_tool("search", {"query": "play", "repo": SECRET})
            answers["open "] = await asked.call_tool("open", {"location": str(closed.path / f"src/{SECRET}.py")})
            return answers

    for name, answer in asyncio.run(ask(one)).items():
        text = str(answer.model_dump()).replace(GUESSED, "")
        assert f"def {SECRET}" not in text, name
        assert "Monday" not in text, name
        assert f"{SECRET}/play" not in text, name
        if name.endswith(("_tools", "_tool", "_plan")):
            assert answer.is_error, name
            assert "belong to the user" in text
    shown = asyncio.run(ask(other))
    assert f"def {SECRET}" in str(shown["search"].model_dump())
    assert "Monday" in str(shown["recall"].model_dump())
