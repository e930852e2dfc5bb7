"""The benchmark of agents: tasks from a history, real clients on scripted models, and what is made of their streams."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from clients.clients import CLIENTS
from clients.model_server import ModelServer, estimate
from clients.wires import Call
from needed import lacking

pytestmark = pytest.mark.slow  # benchmarks belong to no wheel

TOP = Path(__file__).parents[2]
BENCHMARKS = TOP / "benchmarks"
KEY = "sk-a-key-that-no-transcript-holds"

PRICING = '''\
def discounted(total, rate):
    """Take a discount off."""
    lowered = total - total * rate / 10
    return round(lowered, 2)
'''
SHIPPING = '''\
def postage(weight):
    """Tell what a parcel costs."""
    steps = weight // 500
    return 4 + steps * 2
'''
FILES = {
    "src/pricing.py": PRICING,
    "src/shipping.py": SHIPPING,
    "src/labels.py": "".join(f"LABEL_{n} = 'label number {n}'\n" for n in range(30)),
    "src/orders.py": "".join(f"ORDER_{n} = 'order number {n}'\n" for n in range(30)),
    "README.md": "# Shop\n",
}
LOOK, FIX, SPOIL = (
    "cat src/pricing.py src/shipping.py",
    "sed -i 's#rate / 10$#rate / 100#' src/pricing.py",  # solves one of the two tasks
    "echo 'LABEL = 0' >> src/labels.py",
)
CHECK = """\
import sys
sys.path.insert(0, "src")
from pricing import discounted
sys.exit(discounted(200, 10) != 180)
"""


def module(name, *arguments, fails=False, **environment):
    """Run a script of the benchmark as its README says; returns what it printed."""
    paths = os.pathsep.join([str(BENCHMARKS), str(TOP / "src"), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, "-m", f"agents.{name}", *map(str, arguments)],
        env=os.environ | {"PYTHONPATH": paths} | environment, cwd=TOP, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode != 0) is fails, done.stdout + done.stderr
    return done.stdout + done.stderr


def lines(file):
    return [json.loads(line) for line in file.read_text().splitlines()]


@pytest.fixture
def mirror(repo, tmp_path):
    """A bare repository whose history holds two fixes that make tasks, and three commits that make none."""
    shop = repo("shop", FILES)
    shop.write("src/pricing.py", PRICING.replace("rate / 10", "rate / 100"))
    shop.write("tests/test_pricing.py", CHECK)
    shop.commit("fix: customers with a voucher pay negative amounts (#7)")
    shop.write("src/shipping.py", SHIPPING.replace("weight // 500", "-(-weight // 500)"))
    shop.commit("Parcels just above a limit travel too cheap")
    shop.write("README.md", "# The shop\n")
    shop.commit("Customers are told the name of our company")
    shop.write("src/labels.py", FILES["src/labels.py"].replace("number 3'", "number three'"))
    shop.commit("Correct the third entry among labels.py constants")  # names its file
    shop.write("src/orders.py", "ORDER_0 = 'order'\n")
    shop.commit("Bump orders from 1.2 to 1.3")
    shop.git("clone", "-q", "--bare", str(shop.path), str(tmp_path / "shop.git"))
    return tmp_path / "shop.git"


@pytest.fixture
def tasks(mirror, tmp_path):
    """The file of tasks made of that history."""
    module("make_tasks", mirror, "--out", tmp_path / "tasks.jsonl")
    return tmp_path / "tasks.jsonl"


def test_fixes_become_tasks(tasks, mirror):
    """A task is asked of the tree before the fix, in the words of the commit, and its lines count there."""
    shipping, pricing = lines(tasks)
    assert pricing["question"] == "customers with a voucher pay negative amounts"
    assert pricing["gold"] == [["src/pricing.py", [[3, 3]]]]
    assert pricing["marks"] == ["lowered = total - total * rate / 10"]
    assert shipping["gold"] == [["src/shipping.py", [[3, 3]]]]
    for task in (shipping, pricing):
        git = ["git", f"--git-dir={mirror}", "rev-parse", f"{task['fix']}^"]
        assert task["commit"] == subprocess.run(git, capture_output=True, text=True, check=True).stdout.strip()
        [[path, [[first, last]]]] = task["placebo"]
        assert (path != task["gold"][0][0], last - first) == (True, 0)


def test_issues_give_the_words_and_choose_the_commits(tasks, mirror, tmp_path):
    """With texts of issues, only their commits are asked, each in the issue's words."""
    issues = tmp_path / "issues.jsonl"
    issues.write_text(json.dumps({"fix": lines(tasks)[1]["fix"], "text": "My invoice says -1800 EUR"}) + "\n")
    module("make_tasks", mirror, "--out", tmp_path / "asked.jsonl", "--issues", issues)
    assert [task["question"] for task in lines(tmp_path / "asked.jsonl")] == ["My invoice says -1800 EUR"]


def test_a_task_with_tests_fails_before_its_fix(mirror, tmp_path):
    """With a command for tests, only a fix whose own tests fail before it and pass after it makes a task."""
    out = tmp_path / "tested.jsonl"
    module("make_tasks", mirror, "--out", out, "--test", f"{sys.executable} {{tests}}")
    assert [task["tests"] for task in lines(out)] == [["tests/test_pricing.py"]]
    module("make_tasks", mirror, "--out", out, "--test", "true {tests}")
    assert lines(out) == []


def test_the_plan_is_printed_and_nothing_started(tasks, tmp_path):
    """Without the number of runs no client is started; a wrong number is refused, and so is a plan that cannot be kept."""
    told = ("--tasks", tasks, "--out", tmp_path / "runs", "--client", "claude", "--arms", "nothing,oracle,placebo")
    nowhere = {"PATH": "/nonexistent"}
    said = module("run", *told, **nowhere)
    assert "6 of 6 runs are left" in said
    assert "--confirm 6" in said
    assert said == module("run", *told, **nowhere)
    assert said != module("run", *told, "--seed", 8, **nowhere)
    assert "2 of 2" not in module("run", *told, "--limit", 1)
    assert "give --confirm 6" in module("run", *told, "--confirm", 5, fails=True)
    assert "tells no cost" in module("run", *told, "--client", "codex", "--max-cost", 1, fails=True)
    assert "--plugin" in module("run", *told, "--arms", "steered", "--plugin", tmp_path / "no", fails=True)
    assert not (tmp_path / "runs" / "rows.jsonl").exists()


# Streams as the clients write them, cut down to what counts: recorded of Claude Code 2.1.197 and Codex CLI 0.169.0.

GOLD = {"status": "fresh", "text": "    lowered = total - total * rate / 10"}
CLAUDE = [
    {"type": "system", "subtype": "init", "tools": ["Bash", "Edit"]},
    {"type": "assistant", "message": {"id": "m1", "content": [{"type": "text", "text": "I look."}],
     "usage": {"input_tokens": 100, "cache_creation_input_tokens": 10, "cache_read_input_tokens": 1000, "output_tokens": 1}}},
    {"type": "assistant", "message": {"id": "m1", "content": [
        {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "vade search discount"}},
        {"type": "tool_use", "id": "t2", "name": "mcp__vademecum__search", "input": {"query": "discount"}}],
     "usage": {"input_tokens": 100, "cache_creation_input_tokens": 10, "cache_read_input_tokens": 1000, "output_tokens": 1}}},
    {"type": "user", "message": {"role": "user", "content": [
        {"tool_use_id": "t2", "type": "tool_result", "content": [{"type": "text", "text": "12345678"}]}]}},
    {"type": "user", "message": {"role": "user", "content": [
        {"tool_use_id": "t1", "type": "tool_result", "content": GOLD["text"], "is_error": False}]}},
    {"type": "assistant", "message": {"id": "m2", "content": [{"type": "text", "text": "Done."}],
     "usage": {"input_tokens": 200, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 2000, "output_tokens": 1}}},
]  # fmt: skip
CLAUDE_END = {
    "type": "result", "subtype": "success", "is_error": False, "result": "Done.", "total_cost_usd": 0.25,
    "usage": {"input_tokens": 300, "output_tokens": 21},
    "modelUsage": {
        "large": {"inputTokens": 300, "cacheCreationInputTokens": 10, "cacheReadInputTokens": 3000, "outputTokens": 21},
        "small": {"inputTokens": 40, "cacheCreationInputTokens": 0, "cacheReadInputTokens": 0, "outputTokens": 2},
    },
}  # fmt: skip
CODEX = [
    {"type": "thread.started", "thread_id": "x"},
    {"type": "item.completed", "item": {"id": "i0", "type": "error", "message": "no metadata for this model"}},
    {"type": "item.started", "item": {"id": "i1", "type": "command_execution", "command": "ls", "status": "in_progress"}},
    {"type": "item.completed", "item": {"id": "i1", "type": "command_execution", "command": "/bin/bash -lc ls",
     "aggregated_output": "12345678", "exit_code": 0, "status": "completed"}},
    {"type": "item.completed", "item": {"id": "i2", "type": "mcp_tool_call", "server": "vademecum", "tool": "search",
     "arguments": {"query": "discount"}, "result": {"content": [{"type": "text", "text": "1 result"}],
     "structured_content": GOLD}, "error": None, "status": "completed"}},
    {"type": "item.completed", "item": {"id": "i3", "type": "file_change", "changes": [{"path": "a", "kind": "update"}]}},
    {"type": "item.completed", "item": {"id": "i4", "type": "agent_message", "text": "Done."}},
]  # fmt: skip
CODEX_END = {"type": "turn.completed", "usage": {
    "input_tokens": 15000, "cached_input_tokens": 1500, "cache_write_input_tokens": 0, "output_tokens": 105}}  # fmt: skip
ONE = ("--arms", "nothing", "--limit", 1, "--seed", 0)  # draws the task about pricing


@pytest.fixture
def recorded(tasks, tmp_path, monkeypatch):
    """Run with a client that writes a recorded stream and edits as told; returns what is printed."""

    def run(client, events, *options, command="true", fails=False):
        (tmp_path / "events").write_text("".join(json.dumps(event) + "\n" for event in events))
        program = tmp_path / "bin" / client
        program.parent.mkdir(exist_ok=True)
        program.write_text(f"#!/bin/sh\ncat {tmp_path / 'events'}\n{command}\n")
        program.chmod(0o755)
        monkeypatch.setenv("PATH", str(program.parent), prepend=os.pathsep)
        return module("run", "--tasks", tasks, "--out", tmp_path / "runs", "--client", client, *options, fails=fails)

    return run


def test_a_stream_of_claude_is_read(recorded, tmp_path):
    """Tokens are those of all models at the end; a message of two events counts once; answers count in their order."""
    recorded("claude", [*CLAUDE, CLAUDE_END], *ONE, "--confirm", 1, command=FIX)
    [row] = lines(tmp_path / "runs" / "rows.jsonl")
    assert row["calls"] == {"mcp__vademecum__search": 1, "Bash": 1}
    assert (row["vade_calls"], row["cost_usd"], row["outcome"], row["solved"]) == (2, 0.25, "done", True)
    assert (row["input"], row["cached"], row["output"]) == (350, 3000, 23)
    assert row["read_until_gold"] == row["read"] == 2 + 10  # 8 and 39 characters


def test_a_stream_of_codex_is_read(recorded, tmp_path):
    """Cached tokens are taken out of those that came in; structured content counts in the place of the text."""
    recorded("codex", [*CODEX, CODEX_END], *ONE, "--confirm", 1)
    [row] = lines(tmp_path / "runs" / "rows.jsonl")
    assert row["calls"] == {"shell": 1, "vademecum/search": 1, "apply_patch": 1}
    assert (row["vade_calls"], row["cost_usd"], row["outcome"], row["solved"]) == (1, None, "done", False)
    assert (row["input"], row["cached"], row["output"]) == (13500, 1500, 105)
    assert row["read_until_gold"] == row["read"] == 2 + -(-len(json.dumps(GOLD)) // 4)


@pytest.mark.parametrize(
    ("client", "events", "tokens"), [("claude", CLAUDE, (310, 3000, 2)), ("codex", CODEX, (None,) * 3)]
)
def test_what_is_cut_off_counts_as_a_failure(recorded, tmp_path, client, events, tokens):
    """A run whose time is over has solved nothing, whatever it edited; it and an error keep the tokens that were told."""
    recorded(client, events, *ONE, "--confirm", 1, "--timeout", 5, command=f"{FIX}; sleep 600")
    recorded(client, events, *ONE, "--confirm", 1, "--model", "other", command=FIX)
    rows = lines(tmp_path / "runs" / "rows.jsonl")
    assert [(row["outcome"], row["solved"], row["gold_edited"]) for row in rows] == [
        ("timeout", False, 1),
        ("error", False, 1),
    ]
    assert [(row["input"], row["cached"], row["output"]) for row in rows] == [tokens, tokens]


def test_a_client_that_cannot_start_is_not_counted(recorded, tmp_path):
    """A client without an account ends the benchmark with what it said, and its run is left to do."""
    refused = {"type": "result", "subtype": "success", "is_error": True, "result": "Invalid API key", "modelUsage": {}}
    assert "Invalid API key" in recorded("claude", [refused], *ONE, "--confirm", 1, fails=True)
    assert "1 of 1 runs are left" in recorded("claude", [refused], *ONE)


def test_runs_end_when_the_money_is_spent(recorded, tmp_path):
    """No run begins once the finished ones cost --max-cost, and the plan goes on where it was, with an estimate."""
    two = ("--arms", "nothing,placebo", "--limit", 1)
    said = recorded("claude", [*CLAUDE, CLAUDE_END], *two, "--confirm", 2, "--max-cost", 0.2, fails=True)
    assert "0.25 USD are spent" in said
    said = recorded("claude", [*CLAUDE, CLAUDE_END], *two)
    assert "1 of 2 runs are left" in said
    assert "0.25 USD" in said


def is_running(process: int) -> bool:
    """Return whether a process is there."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def test_a_stopped_benchmark_stops_its_client(recorded, tasks, tmp_path):
    """Ctrl-C ends the client too, which would go on and be billed; the run is left to do."""
    recorded(
        "claude",
        [],
        *ONE,
        command=f"echo $$ > {tmp_path / 'pid'}.new; mv {tmp_path / 'pid'}.new {tmp_path / 'pid'}; sleep 600",
    )
    options = ("--tasks", tasks, "--out", tmp_path / "runs", "--client", "claude", *ONE, "--confirm", 1)
    paths = os.pathsep.join([str(BENCHMARKS), str(TOP / "src")])
    running = subprocess.Popen(
        [sys.executable, "-m", "agents.run", *map(str, options)],
        env=os.environ | {"PYTHONPATH": paths}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    while not (tmp_path / "pid").exists():
        assert running.poll() is None
        time.sleep(0.05)
    running.send_signal(signal.SIGINT)
    assert running.wait(60) != 0
    client, tries = int((tmp_path / "pid").read_text()), 600
    while is_running(client) and (tries := tries - 1):  # it was told to end, and a busy machine lets it end later
        time.sleep(0.1)
    assert tries
    assert not (tmp_path / "runs" / "rows.jsonl").exists()


def test_no_key_is_kept(recorded, tmp_path, monkeypatch):
    """A key of the environment, and what looks like one, are in no file of the runs even if the agent prints them."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    found = {"type": "tool_result", "tool_use_id": "t1", "content": f"{KEY} and ghp_{'a1B2' * 9}"}
    recorded("claude", [*CLAUDE, {"type": "user", "message": {"content": [found]}}, CLAUDE_END], *ONE, "--confirm", 1)
    kept = "".join(file.read_text() for file in (tmp_path / "runs").rglob("*") if file.is_file())
    assert "[redacted]" in kept
    assert KEY not in kept
    assert "a1B2a1B2" not in kept


def test_the_report_compares_what_all_arms_have_finished(tmp_path):
    """Failures' tokens count, the untold counts as the most of its task, and a task without all its arms is left out."""

    def row(task, arm, tokens, until, *, solved=True):
        return {
            "task": task, "repo": "shop", "arm": arm, "client": "codex", "model": "", "solved": solved, "outcome": "done",
            "calls": {"shell": 2}, "vade_calls": 0, "input": tokens, "cached": tokens and 1000, "output": tokens and 0,
            "cost_usd": None, "read": 80, "read_until_gold": until, "seconds": 1.0, "index_s": 0.0,
        }  # fmt: skip

    rows = [row(name, "nothing", 300, 80) for name in "abcd"] + [row(name, "oracle", 100, 20) for name in "ab"]
    rows += [row("c", "oracle", None, None, solved=False)]  # billed 400 and read 80, as the other arm of its task
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(one) + "\n" for one in rows))
    said = module("report", tmp_path)
    [written] = tmp_path.glob("agents-codex-*.json")
    told = json.loads(written.read_text())
    oracle = told["arms"]["oracle"]
    assert (oracle["tasks"], oracle["solved"], oracle["saw gold"]) == (3, 2, 2)
    assert told["arms"]["nothing"]["billed/solved"] == 400  # 300 and a tenth of 1,000
    assert (oracle["billed/solved"], oracle["until gold"]) == (400, 40)  # (200 + 200 + 400) / 2 and (20 + 20 + 80) / 3
    gaps = told["differences"]["oracle"]
    assert (gaps["billed/solved, ratio"][0], gaps["until gold, ratio"][0]) == (1.0, 0.5)
    low, high = gaps["until gold, ratio"][1:]
    assert (low, high) == (0.25, 1.0)  # every draw of three tasks lies between: all seen at once, none seen
    assert "until gold, ratio 0.500 [0.250, 1.000]" in said


# Real clients, each on a model that plays a script.

SHELL = {"claude": ("Bash", "command"), "codex": ("exec_command", "cmd")}


def turns(client, arm):
    """What the model does: `nothing` looks and mends, `offered` asks us, `oracle` mends at once, `placebo` spoils."""
    tool, argument = SHELL[client]
    look, fix, spoil = (Call(tool, {argument: command}) for command in (LOOK, FIX, SPOIL))
    ask = Call("search", {"query": "a discount on the total"})
    return {
        "nothing": [look, fix],
        "offered": [ask, fix],
        "steered": [ask, ask, fix],
        "oracle": [fix],
        "placebo": [look, look, spoil],
    }[arm] + ["All is done."]


@pytest.fixture
def plugin(tmp_path):
    """A plugin of a skill and a server, as a client loads it."""
    skill = tmp_path / "plugin" / "skills" / "find-code" / "SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text("---\nname: find-code\ndescription: Ask vademecum before you grep.\n---\nAsk `search` first.\n")
    (tmp_path / "plugin" / ".claude-plugin").mkdir()
    servers = {"mcpServers": {"vademecum": {"command": "vade", "args": ["mcp"]}}}
    (tmp_path / "plugin" / ".mcp.json").write_text(json.dumps(servers))
    (tmp_path / "plugin" / ".claude-plugin" / "plugin.json").write_text('{"name": "vademecum", "version": "1.0.0"}')
    return tmp_path / "plugin"


@pytest.fixture
def account(tmp_path, monkeypatch):
    """An account of neither vendor: every path and key that a client reads is the test's own."""
    for name in [name for name in os.environ if name.startswith(("ANTHROPIC_", "CLAUDE", "OPENAI_", "CODEX_"))]:
        monkeypatch.delenv(name)
    for name in ("HOME", "CODEX_HOME", "CLAUDE_CONFIG_DIR"):
        (tmp_path / name).mkdir()
        monkeypatch.setenv(name, str(tmp_path / name))
    for name in ("ANTHROPIC_API_KEY", "CODEX_API_KEY"):
        monkeypatch.setenv(name, KEY)
    monkeypatch.setenv("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")


@pytest.fixture
def installed(client, tmp_path, monkeypatch):
    """The client that npm brought, on the path."""
    [program] = CLIENTS[{"claude": "claude-code"}.get(client, client)].command() or [None]
    if program is None:
        lacking(client)
    (tmp_path / "npm").mkdir()
    (tmp_path / "npm" / client).symlink_to(program)
    monkeypatch.setenv("PATH", str(tmp_path / "npm"), prepend=os.pathsep)


def played(client, arm, tasks, out, *options):
    """Run every task in one arm against its script; returns the requests that the script answered."""
    with ModelServer(turns(client, arm)) as server:
        provider = f'{{name="scripted", base_url="{server.url}/v1", wire_api="responses", env_key="CODEX_API_KEY"}}'
        settings = (f"model_providers.scripted={provider}", "model_provider=scripted") if client == "codex" else ()
        extra = [f"--extra={part}" for setting in settings for part in ("-c", setting)]
        common = ("--tasks", tasks, "--out", out, "--client", client, "--model", MODELS[client], "--arms", arm)
        outside = {"HTTPS_PROXY": server.url, "HTTP_PROXY": server.url, "NO_PROXY": "127.0.0.1,localhost"}  # refuses
        module("run", *common, *extra, *options, "--confirm", 2, ANTHROPIC_BASE_URL=server.url, **outside)
        return [request for request in server.requests if request.scripted]


MODELS = {"claude": "claude-opus-4-8", "codex": "gpt-5.1-codex"}
ARMS = ("nothing", "offered", "steered", "oracle", "placebo")


@pytest.mark.parametrize("client", ["claude", "codex"])
def test_a_client_in_every_arm(client, tasks, plugin, account, installed, tmp_path):
    """Counts, tokens, what was seen and what was solved come out as the scripts have them, and the report adds them up."""
    out = tmp_path / "runs"
    billed = {}
    for arm in ARMS:
        requests = played(client, arm, tasks, out, "--plugin", plugin)
        billed[arm] = sum(estimate(request.raw.decode()) for request in requests)
        assert (b"Ask vademecum before you grep" in requests[0].raw) is (arm == "steered")
        assert (b"These places probably matter" in requests[0].raw) is (arm in {"oracle", "placebo"})
    rows = {arm: [row for row in lines(out / "rows.jsonl") if row["arm"] == arm] for arm in ARMS}
    shell, search, steered = {
        "claude": ("Bash", "mcp__vademecum__search", "mcp__plugin_vademecum_vademecum__search"),
        "codex": ("shell", "vademecum/search", "vademecum/search"),
    }[client]
    assert {arm: [row["calls"] for row in rows[arm]] for arm in ARMS} == {
        "nothing": [{shell: 2}] * 2,
        "offered": [{search: 1, shell: 1}] * 2,
        "steered": [{steered: 2, shell: 1}] * 2,
        "oracle": [{shell: 1}] * 2,
        "placebo": [{shell: 3}] * 2,
    }
    assert {arm: sum(row["solved"] for row in rows[arm]) for arm in ARMS} == dict.fromkeys(ARMS, 1) | {"placebo": 0}
    assert {arm: sum(row["input"] for row in rows[arm]) for arm in ARMS} == billed
    seen = {arm: [row["read_until_gold"] for row in rows[arm]] for arm in ARMS}
    looked = -(-len((PRICING + SHIPPING).rstrip()) // 4)
    assert all(looked <= tokens <= looked + 1 for tokens in seen["nothing"])  # a client may take the last line's end
    assert all(handed < looked for handed in seen["oracle"])  # in the prompt, before any call
    assert all(tokens > looked for tokens in seen["placebo"])  # the wrong places were paid for
    assert all(seen["steered"])
    assert [row["vade_calls"] for row in rows["steered"]] == [2, 2]
    assert "0 of 2 runs are left" in module("run", "--tasks", tasks, "--out", out, "--client", client, "--arms", "oracle",
                                            "--model", MODELS[client])  # fmt: skip
    assert len(list((out / "transcripts").iterdir())) == 10
    assert "oracle against nothing" in module("report", out)
    [written] = out.glob(f"agents-{client}-*.json")
    told = json.loads(written.read_text())
    assert told["arms"]["nothing"]["billed/solved"] == sum(row["input"] + row["output"] for row in rows["nothing"])
    assert told["arms"]["placebo"]["billed/solved"] is None
    assert told["differences"]["placebo"]["solved, difference"][0] == -0.5
