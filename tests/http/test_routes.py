"""Each route answers what the command line prints, in pages, with tags that tell whether it changed."""

from __future__ import annotations

import json
from urllib.parse import quote

import pytest

from vademecum.cli import main
from vademecum.http.routes.shapes import pack
from vademecum.storage.sqlite import SqliteStore


@pytest.fixture
def client(serve, repo, monkeypatch):
    monkeypatch.setenv("VADE_SEARCH__EMBEDDER", "hashing")
    handbook = repo("handbook")
    monkeypatch.chdir(handbook.path)
    found = serve(handbook)
    found.repo = handbook
    return found


def printed(capsys, *arguments):
    """What `vade ... --json` prints."""
    main([*arguments, "--json"])
    return json.loads(capsys.readouterr().out)


def pages(client, path, **more):
    """Every item of a list, a page of two at a time."""
    items, cursor = [], ""
    while cursor is not None:
        sign = "&" if "?" in path else "?"
        said = client.get(f"{path}{sign}limit=2&cursor={cursor}").json
        assert len(said["items"]) <= 2
        items += said["items"]
        cursor = said["next"]
        assert said["total"] >= len(items)
    return items


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("/v1/search?q=x&kk=1", "'kk' is no parameter of GET /v1/search: it takes q, budget, k, "),
        ("/v1/graph/path?form=a&to=b", "'form' is no parameter of GET /v1/graph/path: it takes from, to, "),
        ("/v1/memory/recall?q=x&as-of=today", "as_of, "),
        ("/v1/tools/stats?intent=x", "'intent' is no parameter of GET /v1/tools/stats: it takes none"),
        ("/v1/index/jobs?zebra=1", "it takes limit, cursor"),
    ],
)
def test_a_parameter_that_a_route_does_not_take_is_named_with_those_it_takes(client, address, said):
    answer = client.get(address)
    assert (answer.status, answer.headers["content-type"]) == (422, "application/problem+json")
    assert said in answer.json["detail"]


def test_no_route_of_the_api_passes_over_what_it_does_not_know(client):
    """Whatever the way and the method; what lies beside the API, such as the page, is asked as browsers ask."""
    for path, operations in client.get("/openapi.json").json["paths"].items():
        for method in operations if path.startswith("/v1/") else ():
            address = path.replace("{", "").replace("}", "")
            said = client.ask(method.upper(), f"{address}?no_such_name=1", {} if method in ("post", "patch") else None)
            assert (said.status, "'no_such_name'" in said.json["detail"]) == (422, True), (method, path)
    assert client.get("/healthz?no_such_name=1").status == 200


def test_search_is_what_the_command_prints(client, capsys):
    said = client.get("/v1/search?q=split%20the%20token%20budget&k=3&snippet_lines=2").json
    assert said == printed(capsys, "search", "split the token budget", "-k", "3", "--snippet-lines", "2")
    assert said["evidence"][0]["path"] == "src/budget.py"
    assert said["evidence"][0]["signals"]
    assert said["evidence"][0]["freshness"] == "fresh"


@pytest.mark.parametrize("budget", [60, 200, 760, 4000])
def test_a_result_is_exactly_the_lines_of_its_snippet(client, capsys, budget):
    """At every budget; of a place whose code found no room there is no line, and the budget holds for the text."""
    said = client.get(f"/v1/search?q=how%20is%20the%20token%20budget%20split&budget={budget}").json
    assert said == printed(capsys, "search", "how is the token budget split", "--budget", str(budget))
    assert 0 < said["tokens"] <= budget
    for result in (result for result in said["evidence"] if result["snippet"]):
        place = f"{result['path']}:{result['start_line']}-{result['end_line']}"
        assert client.get(f"/v1/open?target={place}").json["snippet"].rstrip("\n") == result["snippet"].rstrip("\n")
        assert result["snippet_line"] == result["best_line"] == result["start_line"]


def test_with_little_room_a_result_is_a_place(client):
    """A place has everything but lines; with more room there are more lines, and fewer results are left out."""
    little, much = (client.get(f"/v1/search?q=token%20budget%20split&budget={n}").json for n in (150, 4000))
    [place, *_] = [result for result in little["evidence"] if not result["snippet"]]
    assert place["path"]
    assert place["symbols"]
    assert 0 < place["start_line"] <= place["end_line"]
    few, more = (sum(result["snippet"].count("\n") for result in each["evidence"]) for each in (little, much))
    assert few < more
    assert little["left_out"] > much["left_out"]


def test_agents_and_programs_are_shown_the_same(client):
    """The tool `search` over MCP and the route give the same places with the same lines."""
    told = client.post(
        "/mcp",
        {"jsonrpc": "2.0", "id": 1, "method": "tools/call",
         "params": {"name": "search", "arguments": {"query": "token budget split", "budget": 300}}},
        Accept="application/json, text/event-stream",
    )  # fmt: skip
    text = told.body.decode()
    for result in client.get("/v1/search?q=token%20budget%20split&budget=300").json["evidence"]:
        assert result["path"] in text
        assert all(json.dumps(line)[1:-1] in text for line in result["snippet"].splitlines())


@pytest.mark.parametrize(
    ("narrowed", "options"),
    [
        ("lang=python&lang=typescript", ["--lang", "python", "--lang", "typescript"]),
        ("path=tests/**", ["--path", "tests/**"]),
        ("exclude=src", ["--exclude", "src"]),
        ("kind=test", ["--kind", "test"]),
        ("regex=Budget%5C(", ["-e", r"Budget\("]),
        ("symbol=split", ["--symbol", "split"]),
        ("commit=HEAD", ["--commit", "HEAD"]),
        ("repo=handbook&ranker=rrf&reranker=none", ["--ranker", "rrf", "--reranker", "none"]),
    ],
)
def test_every_filter_narrows(client, capsys, narrowed, options):
    assert client.get(f"/v1/search?q=budget&{narrowed}").json == printed(capsys, "search", "budget", *options)


def test_open_symbol_and_graph_are_what_the_command_prints(client, capsys):
    assert client.get("/v1/open?target=src/budget.py:4-6").json == printed(capsys, "open", "src/budget.py:4-6")
    assert client.get("/v1/symbols/Budget.split").json == printed(capsys, "symbol", "Budget.split")
    assert client.get("/v1/symbols/split/callers").json == printed(capsys, "callers", "split")
    assert client.get("/v1/symbols/test_split_leaves_the_rest/callees?depth=1").json == printed(
        capsys, "callees", "test_split_leaves_the_rest", "--depth", "1"
    )
    assert client.get("/v1/symbols/Budget/impact").json == printed(capsys, "impact", "Budget")
    related = client.get("/v1/symbols/" + quote("src/budget.py:11", safe="") + "/related?question=rest").json
    assert related == printed(capsys, "related", "src/budget.py:11", "-q", "rest")
    asked = "from=test_split_leaves_the_rest&to=split"
    assert client.get(f"/v1/graph/path?{asked}").json == printed(capsys, "path", "test_split_leaves_the_rest", "split")
    assert client.get("/v1/symbols/test_split_leaves_the_rest/path?to=split").json["found"]
    assert client.get("/v1/symbols/split/path").status == 400


def test_a_path_says_where_a_name_is_declared(client, capsys):
    for path, relation in (("src", ""), ("src/budget.py", "/callers"), ("tests", "/callers"), ("src", "/impact")):
        verb = relation.removeprefix("/") or "symbol"
        assert client.get(f"/v1/symbols/split{relation}?path={path}").json == printed(capsys, verb, "split", path)
    assert client.get("/v1/symbols/split/callers?path=tests&path=src").json["verdict"] == "found"
    assert client.get("/v1/symbols/split/callers?path=../x").status == 400


def test_a_context_by_address_and_by_body(client, capsys):
    task = "split the budget"
    by_address = client.get("/v1/context?task=split%20the%20budget&budget=400").json
    assert by_address == printed(capsys, "context", task, "--budget", "400")
    assert client.post("/v1/context", {"task": task, "budget": 400}).json == by_address
    assert client.get("/v1/context?task=split%20the%20budget&budget_tokens=400").json == by_address
    assert client.post("/v1/context", {"task": task, "budget_tokens": 400}).json == by_address
    first = client.post("/v1/context", {"task": task, "session": "s"}).json
    again = client.post("/v1/context", {"task": task, "session": "s"}).json
    assert first["sections"]
    assert again["sections"] == []
    assert client.post("/v1/context", {"task": task, "budget": 1}).json["sections"] == []


def test_a_context_is_narrowed_as_the_command_narrows_it(client, capsys):
    task = "split the budget"
    narrowed = client.get("/v1/context?task=split%20the%20budget&path=src&exclude=*.ts&commit=HEAD").json
    assert narrowed == printed(capsys, "context", task, "--path", "src", "--exclude", "*.ts", "--commit", "HEAD")
    body = {"task": task, "path": ["src"], "exclude": ["*.ts"], "commit": "HEAD"}
    assert client.post("/v1/context", body).json == narrowed


def test_what_to_draw(client):
    around = client.get("/v1/graph/neighbourhood?symbol=Budget.split&depth=1").json
    names = {node["id"]: node["name"] for node in around["nodes"]}
    assert {names[edge["from"]] for edge in around["edges"]} >= {"test_split_leaves_the_rest"}
    assert {names[number] for number in around["centre"]} == {"Budget.split"}
    assert client.get("/v1/graph/neighbourhood?path=src/budget.py").json["title"] == "src/budget.py"
    assert client.get("/v1/graph/neighbourhood").json["nodes"]
    assert client.get("/v1/graph/neighbourhood?symbol=nowhere").status == 404
    assert client.get("/v1/graph/neighbourhood?symbol=a&path=b").status == 400
    drawn = client.get("/v1/graph/map?tokens=200&task=budget").json
    assert drawn["markdown"].startswith("# Map of handbook")
    assert drawn["tokens"] <= 200
    assert "src/budget.py" in {entry["path"] for entry in drawn["entries"]}


def test_files_for_a_treemap(client):
    first = client.get("/v1/graph/files?limit=2").json
    assert [len(first["items"]), first["total"]] == [2, 6]
    items = {item["path"]: item for item in pages(client, "/v1/graph/files")}
    assert sorted(items) == sorted(
        ["README.md", "pyproject.toml", "src/budget.py", "src/net/retry.py", "tests/test_budget.py", "web/log.ts"]
    )
    retry = items["src/net/retry.py"]
    assert (retry["language"], retry["file_kind"], retry["freshness"]) == ("python", "product", "fresh")
    assert retry["complexity"] == 3  # a loop and a handler
    committed = client.repo.git("log", "-1", "--format=%ct")
    assert retry["modified_at"] == int(committed)
    assert retry["bytes"] == len(client.repo.read("src/net/retry.py"))
    client.repo.write("README.md", "# Other\n\nNot what it was.\n")
    (client.repo.path / "web/log.ts").unlink()
    states = {item["path"]: item["freshness"] for item in client.get("/v1/graph/files").json["items"]}
    assert states["src/net/retry.py"] == "fresh"
    assert states.get("README.md") in {"edited", "fresh"}  # as looked at before the second is over, or after
    assert states.get("web/log.ts") in {"stale", None}


def test_symbols_in_pages(client):
    everything = pages(client, "/v1/symbols")
    names = [item["qualified"] for item in everything]
    assert names == sorted(names)
    assert {"Budget", "Budget.split", "retry_with_backoff", "LogReader"} <= set(names)
    assert [item["qualified"] for item in pages(client, "/v1/symbols?prefix=retry")] == ["retry_with_backoff"]
    in_file = pages(client, "/v1/symbols?path=src/budget.py")
    assert [item["qualified"] for item in in_file] == ["Budget", "Budget.__init__", "Budget.split"]
    assert pages(client, "/v1/symbols?path=src/none.py") == []
    assert client.get("/v1/symbols?cursor=zzz").status == 400
    assert client.get("/v1/symbols?cursor=WzFd").status == 400  # of another list


def test_a_tag_tells_what_is_known(client):
    for path in (
        "/v1/search?q=budget",
        "/v1/symbols",
        "/v1/graph/neighbourhood",
        "/v1/open?target=README.md",
        "/v1/settings",
    ):
        first = client.get(path)
        assert first.status == 200, path
        again = client.get(path, If_None_Match=f'W/"x", {first.headers["etag"]}')
        assert (again.status, again.body) == (304, b""), path
        assert again.headers["etag"] == first.headers["etag"]
        assert client.get(path, If_None_Match='"other"').status == 200
    before = client.get("/v1/symbols").headers["etag"]
    client.repo.write("src/more.py", "def more():\n    return 1\n")
    client.done(client.post("/v1/index").json)
    assert client.get("/v1/symbols", If_None_Match=before).status == 200


def test_a_change_is_seen_by_the_next_search(client, serve):
    eager = serve(client.repo, refresh_s=0)
    client.repo.write("src/more.py", 'def zebra():\n    """Count stripes."""\n    return 1\n')
    assert eager.get("/v1/search?q=count%20stripes").json["evidence"][0]["path"] == "src/more.py"


def test_an_index_is_told_of_as_a_job(client):
    client.repo.write("src/more.py", "def more():\n    return 1\n")
    said = client.post("/v1/index", {"repo": "handbook"})
    assert said.status == 202
    assert said.headers["location"] == f"/v1/index/jobs/{said.json['id']}"
    job = client.done(said.json)
    assert job["state"] == "done"
    assert job["report"]["files"] == 7
    told = client.get(f"/v1/index/jobs/{job['id']}/events")
    assert told.headers["content-type"].startswith("text/event-stream")
    events = [
        dict(line.split(": ", 1) for line in part.splitlines()) for part in told.body.decode().split("\n\n") if part
    ]
    assert events[-1]["event"] == "done"
    assert json.loads(events[-1]["data"])["report"] == job["report"]
    assert [each["id"] for each in client.get("/v1/index/jobs").json["items"]] == [job["id"]]
    failed = client.done(client.post("/v1/index", {"commit": "nowhere"}).json)
    assert (failed["state"], failed["problem"]["error"]) == ("failed", "GitError")
    assert client.get("/v1/index/jobs/none").status == 404
    status = client.get("/v1/index/status").json
    assert [(each["repo"], each["files"], each["fresh"], each["embedder"]) for each in status] == [
        ("handbook", 7, True, "hashing:64")
    ]
    assert client.post("/v1/index", {"repo": "other"}).status == 404


def test_events_are_recorded_listed_changed_and_deleted(client):
    new = client.post(
        "/v1/events", {"text": "We decided to use SQLite.", "role": "user", "session": "s1", "at": 1_700_000_000}
    )
    assert new.status == 201
    [id_] = new.json["ids"]
    assert new.headers["location"] == f"/v1/events/{id_}"
    for number in range(4):
        client.post("/v1/events", {"text": f"note {number}", "at": 1_700_000_100.0})
    assert client.get(f"/v1/events/{id_}").json["text"] == "We decided to use SQLite."
    texts = [event["text"] for event in pages(client, "/v1/events")]
    assert sorted(texts[:4]) == [f"note {number}" for number in range(4)]
    assert texts[4:] == ["We decided to use SQLite."]
    assert [e["id"] for e in client.get("/v1/events?session=s1").json["items"]] == [id_]
    assert [e["id"] for e in client.get("/v1/events?role=user").json["items"]] == [id_]
    assert client.get("/v1/events?when=last%20week").json["total"] == 0
    assert client.get("/v1/events?when=2023-11-14").json["total"] == 5
    assert client.get("/v1/events?when=whenever").status == 400
    assert [e["role"] for e in pages(client, "/v1/events?role=user&role=note")] == ["note"] * 4 + ["user"]
    assert client.get("/v1/events?role=nobody").status == 400
    for wrong in ([1, "a"], ["a", 1.0, 2], [1.5, "a", None]):
        assert client.get(f"/v1/events?cursor={pack(tuple(wrong))}").status == 400
    assert client.get("/v1/events?until=1700000050").json["total"] == 1
    changed = client.ask("PATCH", f"/v1/events/{id_}", {"metadata": {"ticket": 7}})
    assert changed.json["metadata"] == {"ticket": 7}
    found = client.get("/v1/events/search?q=decided%20SQLite").json
    assert found["evidence"][0]["event"]["id"] == id_
    assert [e["id"] for e in client.get("/v1/events?meta=ticket=7").json["items"]] == [id_]
    assert client.get("/v1/events?meta=ticket=8").json["total"] == 0
    assert client.get("/v1/events?role=nobody").status == 400
    for sought in ({"q": "note"}, {"q": "note", "by": "meaning"}, {"q": "note", "by": "words"}):
        assert len(client.post("/v1/events/search", sought).json["evidence"]) >= 4
        only = client.post("/v1/events/search", {**sought, "metadata": {"ticket": 7}}).json
        assert only["searched"] == 1
        assert {item["event"]["id"] for item in only["evidence"]} <= {id_}
    assert client.post("/v1/events/search", {"vector": [0.5, 0.5]}).status == 400
    assert client.post("/v1/events/search", {}).status == 400
    assert client.ask("DELETE", f"/v1/events/{id_}").status == 204
    assert client.get(f"/v1/events/{id_}").status == 404
    assert client.ask("DELETE", f"/v1/events/{id_}").status == 404
    assert client.ask("PATCH", f"/v1/events/{id_}", {"metadata": {}}).status == 404
    assert client.post("/v1/events", {"text": "x", "role": "nobody"}).status == 400


def test_memory_is_what_the_command_prints(client, capsys):
    client.post(
        "/v1/events", {"text": "We decided to use SQLite because it is small.", "role": "user", "session": "s1"}
    )
    client.post("/v1/events", {"text": "I prefer tabs over spaces.", "role": "user", "session": "s1"})
    recalled = client.get("/v1/memory/recall?q=what%20did%20we%20decide%20about%20SQLite").json
    assert recalled == printed(capsys, "memory", "recall", "what did we decide about SQLite")
    facts = client.get("/v1/memory/facts").json["items"]
    assert {fact["kind"]: (fact["state"], fact["scope"]) for fact in facts} == {
        "decision": ("holds", "repository"),
        "preference": ("holds", "repository"),
    }
    without = [{k: v for k, v in fact.items() if k not in {"state", "scope"}} for fact in facts]
    assert sorted(without, key=str) == sorted(printed(capsys, "memory", "prefs", "--all"), key=str)
    assert [fact["kind"] for fact in client.get("/v1/memory/facts?kind=preference").json["items"]] == ["preference"]
    assert client.get("/v1/memory/facts?state=past").json["items"] == []
    assert client.get("/v1/memory/facts?state=nonsense").status == 400
    timeline = client.get("/v1/memory/timeline").json
    assert [item["chapter"] for item in timeline["items"]] == ["today", "today"]
    assert timeline["chapters"][0]["events"] == 2
    one = client.get("/v1/memory/timeline?limit=1").json
    two = client.get(f"/v1/memory/timeline?limit=1&cursor={one['next']}").json
    assert [*one["items"], *two["items"]] == timeline["items"]
    assert (one["total"], two["total"], two["next"], two["chapters"]) == (2, 2, None, timeline["chapters"])
    assert client.get("/v1/memory/timeline?when=last%20year").json["items"] == []
    assert client.get(f"/v1/memory/timeline?cursor={two['next'] or 'nonsense'}").status == 400
    assert "tabs" in client.get("/v1/memory/context?q=indent%20the%20file").json["markdown"]
    assert "tabs" in client.post("/v1/memory/context", {"message": "indent the file"}).json["markdown"]


def test_a_fact_names_the_code_it_is_about(client):
    client.post("/v1/index")
    assert client.get("/v1/search?q=budget").json["evidence"]
    client.post(
        "/v1/events", {"text": "We decided that `Budget.split` rounds down, because tokens are whole.", "role": "user"}
    )
    [fact] = client.get("/v1/memory/facts").json["items"]
    anchors = client.get(f"/v1/memory/facts/{fact['id']}/why").json["anchors"]
    assert [(each["symbol"], each["state"]) for each in anchors] == [("Budget.split", "current")]


def test_the_traces_behind_an_answer_are_there_to_be_read(client):
    client.post("/v1/tools/register", [{"name": name, "description": f"Read a {name}."} for name in ("file", "mail")])
    traces = [
        {"id": "t/1", "intent": "read a file", "calls": [{"tool": "file"}], "at": 5.0},
        {"id": "t2", "intent": "read mail", "calls": [{"tool": "mail", "ok": False}, {"tool": "file"}], "at": 7.0},
    ]
    assert client.post("/v1/tools/observe", traces).json["added"] == 2
    assert [each["id"] for each in pages(client, "/v1/tools/traces")] == ["t2", "t/1"]
    assert [each["id"] for each in client.get("/v1/tools/traces?tool=mail").json["items"]] == ["t2"]
    match = client.get("/v1/tools/search?intent=read%20a%20file").json["matches"][0]
    assert "t/1" in match["traces"]
    [named] = client.get("/v1/tools/traces?id=t%2F1").json["items"]
    assert (named["intent"], named["calls"][0]["tool"]) == ("read a file", "file")
    assert client.get("/v1/tools/traces?id=nobody").json["items"] == []


def test_the_next_call_is_predicted_by_what_was_called_alone(client):
    """As elsewhere, the intent may be empty where it is said what was called; without both it says what it needs."""
    client.post("/v1/tools/register", [{"name": name, "description": f"Read a {name}."} for name in ("file", "mail")])
    calls = [{"tool": "file"}, {"tool": "mail"}]
    client.post("/v1/tools/observe", [{"id": f"t{n}", "intent": f"read {n}", "calls": calls} for n in range(3)])
    for asked in ("after=file", "intent=&after=file", "earlier=file"):
        assert client.get(f"/v1/tools/predict?{asked}").json["candidates"], asked
    nothing = client.get("/v1/tools/predict").json
    assert (nothing["candidates"], nothing["abstained"]) == ([], True)
    assert "say what is to be done" in nothing["reason"]


def test_facts_are_confirmed_edited_rejected_and_forgotten(client):
    client.post("/v1/events", {"text": "I prefer tabs over spaces.", "role": "user"})
    [fact] = client.get("/v1/memory/facts").json["items"]
    place = f"/v1/memory/facts/{fact['id']}"
    assert client.get(f"{place}/why").json["said"][0][1] == "I prefer tabs over spaces."
    assert client.post(f"{place}/confirm").json["confirmed"] is True
    assert client.get("/v1/memory/facts?state=confirmed").json["total"] == 1
    edited = client.ask("PATCH", place, {"text": "I prefer four spaces."}).json
    assert edited["text"] == "I prefer four spaces."
    assert [f["id"] for f in client.get("/v1/memory/facts").json["items"]] == [edited["id"]]
    assert client.post(f"/v1/memory/facts/{edited['id']}/reject").status == 200
    [rejected] = client.get("/v1/memory/facts?state=rejected").json["items"]
    assert (rejected["id"], rejected["state"]) == (edited["id"], "rejected")
    assert edited["id"] not in {f["id"] for f in client.get("/v1/memory/facts?state=all").json["items"]}
    assert client.get(f"/v1/memory/facts/{edited['id']}/why").json["rejected"] is True
    assert client.post(f"/v1/memory/facts/{edited['id']}/restore").json["text"] == "I prefer four spaces."
    assert client.post(f"/v1/memory/facts/{edited['id']}/restore").status == 400
    assert client.post("/v1/memory/facts/none/restore").status == 404
    assert client.post(f"{place}/forget").json["events"] == 1
    assert client.get(f"{place}/why").status == 404
    assert client.post("/v1/memory/facts/none/confirm").status == 404


def test_memory_is_exported_and_imported(client, serve, repo):
    client.post("/v1/events", {"text": "We decided to use SQLite.", "role": "user"})
    exported = client.get("/v1/memory/export")
    assert exported.headers["content-type"] == "application/x-ndjson"
    other = serve(repo("other"))
    taken = other.post("/v1/memory/import", exported.body, Content_Type="application/x-ndjson")
    assert taken.json["events"] == 1
    assert other.get("/v1/events").json["items"][0]["text"] == "We decided to use SQLite."
    again = other.post("/v1/memory/import", exported.body, Content_Type="application/x-ndjson").json
    assert again["events"] == 0
    assert client.get("/v1/memory/export?everywhere=true").body.count(b"\n") == 1  # nothing but its heading


def test_tools_are_registered_found_and_planned(client, capsys):
    schema = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
    tools = [
        {"name": f"{verb}_file", "description": f"{verb} a file", "inputSchema": schema}
        for verb in ("read", "copy", "drop")
    ]
    assert client.post("/v1/tools/register?server=files", tools).json["added"] == 3
    assert client.post("/v1/tools/register", b"no").status == 415
    assert client.post("/v1/tools/register", b"no", Content_Type="application/json").status == 400
    traces = [{"intent": "read it", "calls": [{"tool": "files/read_file"}, {"tool": "files/copy_file", "ok": False}]}]
    assert client.post("/v1/tools/observe", traces).json["added"] == 1
    listed = pages(client, "/v1/tools")
    assert [tool["id"] for tool in listed] == ["files/copy_file", "files/drop_file", "files/read_file"]
    assert listed[0]["usage"]["failures"] == 1
    assert listed[1]["usage"] is None
    assert [tool["id"] for tool in client.get("/v1/tools?prefix=files/read").json["items"]] == ["files/read_file"]
    for verb, path in {"search": "search?", "suggest": "suggest?", "predict": "predict?after=files/read_file&"}.items():
        said = client.get(f"/v1/tools/{path}intent=read%20a%20file").json
        after = ["--after", "files/read_file"] if verb == "predict" else []
        assert said == printed(capsys, "tools", verb, "read a file", *after), verb
    assert client.get("/v1/tools/stats").json == printed(capsys, "tools", "stats")
    graph = client.get("/v1/tools/graph").json
    assert {node["id"] for node in graph["nodes"]} >= {"files/read_file", "files/copy_file"}


def test_settings_show_origins_and_no_secret(client, serve, monkeypatch):
    monkeypatch.setenv("VADE_LLM__API_KEY", "hush-hush")
    monkeypatch.setenv("VADE_SEARCH__K", "7")
    said = serve(client.repo).get("/v1/settings")
    assert b"hush-hush" not in said.body
    about = "Results in an answer."
    assert said.json["settings"]["search.k"] == {"value": 7, "origin": "VADE_SEARCH__K", "about": about}
    assert all(each["about"] for each in said.json["settings"].values())
    assert said.json["settings"]["context.budget"]["origin"] == "default"


def test_repositories_are_listed_and_searched_together(serve, repo):
    files = {"src/zebra.py": 'def zebra():\n    """Count the stripes of a zebra."""\n    return 1\n'}
    client = serve(repo("handbook"), repo("zoo", files))
    assert [each["name"] for each in client.get("/v1/repos").json["items"]] == ["handbook", "zoo"]
    both = client.get("/v1/search?q=zebra").json["evidence"]
    assert both[0]["repo"] == "zoo"
    assert client.get("/v1/search?q=zebra&repo=handbook").json["verdict"] == "not_found"
    assert client.get("/v1/symbols?repo=zoo").json["items"][0]["name"] == "zebra"
    client.post("/v1/events?repo=zoo", {"text": "about the zoo"})
    assert client.get("/v1/events?repo=zoo").json["total"] == 1
    assert client.get("/v1/events?repo=handbook").json["total"] == 0
    wrong = client.get("/v1/events?repo=none")
    assert (wrong.status, "choose among handbook, zoo" in wrong.json["detail"]) == (404, True)


def test_errors_name_the_thing_and_the_fix(client):
    for path, status, word in (
        ("/v1/search?q=%20", 400, "empty"),
        ("/v1/search?q=a&k=0", 422, "greater than or equal to 1"),
        ("/v1/search?q=a&k=100000", 422, "less than or equal to 200"),
        ("/v1/search?q=a&regex=(", 400, "regular expression"),
        ("/v1/search?q=a&commit=nowhere", 404, "nowhere"),
        ("/v1/search?q=a&lang=pyton", 400, "did you mean 'python'"),
        ("/v1/open?target=../x", 400, "climbs"),
        ("/v1/open?target=/etc/passwd", 400, "leads out of"),
        ("/v1/open?target=none.py", 404, "none.py"),
        ("/v1/open?target=src/budget.py:999", 400, "past its end"),
        ("/v1/symbols/a/callers?depth=9", 422, "less than or equal to 3"),
        ("/v1/context?task=x&budget=0", 422, "budget"),
        ("/v1/search?q=x&budget=0", 422, "budget"),
        ("/v1/nothing", 404, "/docs"),
        ("/v1/events?meta=branch", 400, "'branch' is not NAME=VALUE"),
        ("/v1/events?meta==main", 400, "'=main' is not NAME=VALUE"),
    ):
        said = client.get(path)
        assert said.status == status, (path, said.body)
        assert said.headers["content-type"] == "application/problem+json", path
        assert word in said.json["detail"], (path, said.json)
        assert {"type", "title", "status", "detail", "instance"} <= set(said.json)
    assert client.post("/v1/repos", {}).status == 405


def test_a_body_that_cannot_be_read_is_said_to_be_the_body(client):
    for body, word in (
        (b"{not json", "the body is not JSON: Expecting property name enclosed in double quotes, at character 1"),
        (b"", "the body: Field required"),
        (b"[]", "the body: Input should be a valid dictionary"),
        (b'{"task": 5}', "task: Input should be a valid string"),
    ):
        said = client.post("/v1/context", body, Content_Type="application/json")
        assert (said.status, said.json["detail"].startswith(word)) == (422, True), said.json


@pytest.mark.parametrize("path", ["/", "/page/main.js", "/healthz", "/v1/search?q=budget", "/v1/open?target=none.py"])
def test_who_asks_for_the_head_alone_is_told_what_get_would_tell(client, path):
    """Probes and proxies ask so: the same status and headers, and no body."""
    whole, head = client.get(path), client.ask("HEAD", path)
    kept = {"content-length", "content-type", "etag", "cache-control", "content-security-policy"}
    assert (head.status, head.body) == (whole.status, b"")
    assert {n: v for n, v in head.headers.items() if n in kept} == {n: v for n, v in whole.headers.items() if n in kept}


def test_the_head_of_what_goes_on_is_not_given(client):
    """A stream's head would hold a place until its end."""
    job = client.done(client.post("/v1/index", {}).json)
    for path in ("/mcp", f"/v1/index/jobs/{job['id']}/events"):
        assert client.ask("HEAD", path, Accept="text/event-stream").status in {405, 406}


def test_the_api_describes_itself_without_asking_elsewhere(client):
    described = client.get("/openapi.json").json
    page = client.get("/docs").body.decode()
    for path, methods in described["paths"].items():
        for method in methods:
            assert f"<code>{method.upper()} {path}</code>" in page
    assert "http://" not in page
    assert "https://" not in page
    assert "<script" not in page


def test_too_much_at_once_is_told_to_come_back(serve, repo):
    """With one thread and room for one more, most of many requests at once are refused, and later ones answered."""
    import threading

    client = serve(repo(), threads=1, waiting=1, refresh_s=0)
    found = []
    askers = [threading.Thread(target=lambda: found.append(client.get("/v1/search?q=budget"))) for _ in range(24)]
    for asker in askers:
        asker.start()
    for asker in askers:
        asker.join()
    statuses = {said.status for said in found}
    assert statuses <= {200, 503}
    assert 200 in statuses
    refused = [said for said in found if said.status == 503]
    assert refused
    assert all(said.headers["retry-after"] == "2" for said in refused)
    assert client.get("/v1/search?q=budget").status == 200


def test_a_page_of_the_timeline_reads_no_more_than_itself(client, monkeypatch):
    """However many events there are, the rows of events that leave the database are those of the page."""
    for n in range(12):
        client.post("/v1/events", {"text": f"note {n}", "role": "note", "at": 1e9 + n})
    first = client.get("/v1/memory/timeline?limit=2").json
    read = []

    def counting(name):
        inner = getattr(SqliteStore, name)

        def counted(store, family, *arguments):
            found = inner(store, family, *arguments)
            read.append(len(found.unwrap()) if family == "events" else 0)
            return found

        monkeypatch.setattr(SqliteStore, name, counted)

    for name in ("scan", "newest", "get"):
        counting(name)
    page = client.get(f"/v1/memory/timeline?limit=2&cursor={first['next']}").json
    assert [item["text"] for item in page["items"]] == ["note 9", "note 8"]
    assert (page["total"], page["chapters"][0]["events"]) == (12, 12)
    assert (
        0 < sum(read) <= 2 * 2 * 3
    )  # in each scope the page, one more to see whether there is another, and those of the same time
