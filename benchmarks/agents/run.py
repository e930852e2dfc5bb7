"""Run a coding agent on tasks in arms, and measure each run.

    PYTHONPATH=benchmarks python -m agents.run --tasks tasks.jsonl --out RUNS --client claude [--confirm N]

Without --confirm the plan is printed and nothing is started. Runs cost money, and the agent runs commands of its own and of
the repository: use a container. Finished runs stand in RUNS/rows.jsonl, so a stopped run goes on where it was. The arms:

    nothing   the agent with its own tools
    offered   and with the MCP server, as `vade install` configures it
    steered   and with the plugin: its skills and hooks say when to use the server
    oracle    no server; the prompt names the right lines and shows them
    placebo   the same block with lines of other files
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from agents.clients import CLIENTS, Setup, events_in, play, without_secrets
from agents.make_tasks import Row, Task, git, read_lines
from agents.measure import billed, measured
from data import export_tree

ARMS = ("nothing", "offered", "steered", "oracle", "placebo")
PLUGIN = Path(__file__).parents[2] / "plugins" / "vademecum"
AROUND = 5  # lines that a handed place is shown with, before and after
PROMPT = """\
Change the code of the repository in the current directory so that this is done:

{question}

Edit the files in place. Do not commit. Do not look for the change outside of this directory.
"""
BLOCK = "\nThese places probably matter:\n\n{places}\n"
Run = tuple[Task, str]


def load_tasks(file: Path) -> list[Task]:
    """Read what make_tasks wrote."""
    return [Task(**row | {"marks": tuple(row["marks"])}) for row in read_lines(file)]


def plan(tasks: list[Task], arms: Sequence[str], seed: int, limit: int | None) -> list[Run]:
    """Order the runs: tasks in a random order, and the arms of each task in one of its own."""
    drawn = random.Random(seed)
    tasks = drawn.sample(tasks, len(tasks))[:limit]
    return [(task, arm) for task in tasks for arm in drawn.sample(list(arms), len(arms))]


def read_rows(out: Path) -> list[Row]:
    """Read the finished runs."""
    file = out / "rows.jsonl"
    return list(read_lines(file)) if file.exists() else []


def described(runs: list[Run], left: list[Run], rows: list[Row]) -> str:
    """Describe the plan, with an estimate from the runs that are finished."""
    lines = [f"{task.id}  {arm}" for task, arm in left]
    lines.append(f"{len(left)} of {len(runs)} runs are left.")
    told = [row for row in rows if billed(row) is not None]
    if not told:
        return "\n".join([*lines, "No estimate: run one task first (--limit 1)."])
    each = {
        "billed tokens": sum(billed(row) or 0 for row in told) / len(told),
        "USD": sum(row["cost_usd"] or 0 for row in told) / len(told),
        "hours": sum(row["seconds"] for row in told) / len(told) / 3600,
    }
    estimate = ", ".join(f"{value * len(left):,.2f} {unit}" for unit, value in each.items() if value)
    return "\n".join([*lines, f"About {estimate}, if they are like the {len(told)} that are finished."])


def lay_out(task: Task, tree: Path) -> str:
    """Write the tree before the fix as a repository of one commit, and return that commit."""
    export_tree(Path(task.mirror), task.commit, tree)
    nobody = ("-c", "user.name=nobody", "-c", "user.email=nobody@example.org")
    for words in (["init", "-q"], ["add", "-A", "-f"], ["commit", "-q", "--allow-empty", "-m", "As it is"]):
        git(tree / ".git", f"--work-tree={tree}", *nobody, *words)
    return git(tree / ".git", "rev-parse", "HEAD").strip()


def block_of(task: Task, arm: str, tree: Path) -> str:
    """Return the places that an arm hands over, with their code; "" for the arms that hand over none."""
    shown = []
    for path, spans in {"oracle": task.gold, "placebo": task.placebo}.get(arm, ()):
        lines = (tree / path).read_text(encoding="utf-8", errors="replace").splitlines()
        for first, last in spans:
            start, end = max(1, first - AROUND), min(len(lines), last + AROUND)
            shown.append("\n".join([f"{path}:{start}-{end}", *lines[start - 1 : end]]))
    return BLOCK.format(places="\n\n".join(shown)) if shown else ""


def index(setup: Setup, tree: Path) -> float:
    """Index the tree as an installed vademecum would have done before; return the seconds."""
    started = time.perf_counter()
    subprocess.run([setup.program, "index"], cwd=tree, env=setup.environment, check=True, capture_output=True)
    return round(time.perf_counter() - started, 2)


def one_run(task: Task, arm: str, arguments: argparse.Namespace, budget: float | None) -> Row:
    """Play one task in one arm: lay out, index, ask, keep the transcript, measure."""
    client = CLIENTS[arguments.client]
    with tempfile.TemporaryDirectory(prefix="agents-", ignore_cleanup_errors=True) as directory:
        tree, offered = Path(directory) / task.repo, arm in {"offered", "steered"}
        plugin = arguments.plugin.resolve() if arm == "steered" else None
        setup = Setup(Path(directory) / "home", offered, plugin, arguments.model, budget, tuple(arguments.extra))
        base = lay_out(task, tree)
        block = block_of(task, arm, tree)
        index_s = index(setup, tree) if offered else 0.0
        started = time.perf_counter()
        prompt = PROMPT.format(question=task.question) + block
        output, timed_out = play(client.command(setup), prompt, tree, setup, arguments.timeout)
        seconds = round(time.perf_counter() - started, 2)
        transcript = arguments.out / "transcripts" / f"{arguments.client}-{task.id}.{arm}.jsonl"
        transcript.parent.mkdir(exist_ok=True)
        transcript.write_text(without_secrets(output), encoding="utf-8")
        session = client.session(events_in(output))
        if session.outcome == "error" and not (session.calls or session.output or timed_out):
            raise SystemExit(f"{arguments.client} ended before the model answered: {without_secrets(session.said)}")
        session = replace(session, outcome="timeout") if timed_out else session
        found = measured(session, task, block, tree, base)
    about = {"task": task.id, "repo": task.repo, "arm": arm, "client": arguments.client, "model": arguments.model}
    return {**about, **found, "seconds": seconds, "index_s": index_s}


def run_all(left: list[Run], arguments: argparse.Namespace) -> None:
    """Do the runs in their order, until all are done or the money is spent."""
    for number, (task, arm) in enumerate(left, 1):
        spent = sum(row["cost_usd"] or 0 for row in read_rows(arguments.out))
        if arguments.max_cost is not None and spent >= arguments.max_cost:
            raise SystemExit(f"{spent:.2f} USD are spent: raise --max-cost to go on")
        budget = None if arguments.max_cost is None else arguments.max_cost - spent
        row = one_run(task, arm, arguments, budget)
        with (arguments.out / "rows.jsonl").open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")
        print(f"{number}/{len(left)} {task.id} {arm}: {row['outcome']}, solved {row['solved']}", flush=True)


def parsed(argv: Sequence[str] | None) -> argparse.Namespace:
    """Read and check the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", type=Path, required=True, help="what make_tasks wrote")
    parser.add_argument("--out", type=Path, required=True, help="folder of rows and transcripts, outside the project")
    parser.add_argument("--client", choices=list(CLIENTS), required=True)
    parser.add_argument("--model", default="", help="as the client names it; the client's own default unless given")
    parser.add_argument("--arms", type=lambda text: text.split(","), default=list(ARMS))
    parser.add_argument("--plugin", type=Path, default=PLUGIN, help="folder of the plugin for the arm `steered`")
    parser.add_argument("--limit", type=int, help="this many tasks, drawn by the seed")
    parser.add_argument("--seed", type=int, default=7, help="of the order")
    parser.add_argument("--timeout", type=float, default=1800, help="seconds of one run")
    parser.add_argument("--confirm", type=int, metavar="N", help="start the N runs that the plan says are left")
    parser.add_argument("--max-cost", type=float, metavar="USD", help="start no run once this much is spent")
    parser.add_argument(
        "--extra", action="append", default=[], metavar="ARGUMENT", help="handed to the client as it is"
    )
    arguments = parser.parse_args(argv)
    if unknown := set(arguments.arms) - set(ARMS):
        parser.error(f"there is no arm {', '.join(sorted(unknown))}: choose among {', '.join(ARMS)}")
    if "steered" in arguments.arms and not any(arguments.plugin.rglob("SKILL.md")):
        parser.error(
            f"{arguments.plugin} holds no skill: name the plugin with --plugin, or leave `steered` out of --arms"
        )
    if arguments.max_cost is not None and not CLIENTS[arguments.client].tells_cost:
        parser.error(f"{arguments.client} tells no cost: leave --max-cost out, and bound the runs with --limit")
    return arguments


def main(argv: Sequence[str] | None = None) -> None:
    """Print the plan, and do what is left of it when its size is confirmed."""
    arguments = parsed(argv)
    runs = plan(load_tasks(arguments.tasks), arguments.arms, arguments.seed, arguments.limit)
    arguments.out.mkdir(parents=True, exist_ok=True)
    rows = [
        row for row in read_rows(arguments.out) if (row["client"], row["model"]) == (arguments.client, arguments.model)
    ]
    done = {(row["task"], row["arm"]) for row in rows}
    left = [(task, arm) for task, arm in runs if (task.id, arm) not in done]
    print(described(runs, left, rows))
    if arguments.confirm is None:
        print(f"Nothing was started: add --confirm {len(left)}.")
    elif arguments.confirm != len(left):
        raise SystemExit(f"{len(left)} runs are left and {arguments.confirm} confirmed: give --confirm {len(left)}")
    else:
        run_all(left, arguments)


if __name__ == "__main__":
    main()
