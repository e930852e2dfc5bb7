"""The benchmark of agents: tasks from a history, real clients on scripted models, and what is made of their streams."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

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
