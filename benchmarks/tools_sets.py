"""Make trace sets of public repositories that nothing was fitted or tuned on, for `tools_next.py`, `tools_plan.py`, `tools_search.py`.

    python benchmarks/tools_sets.py --clones CLONES --into TRACES

CLONES holds a clone of each repository, as `owner+name` or `owner+name/repo`, bare or not. Nothing of them is part of the project.

| set | from | what |
| --- | --- | --- |
| nestful | IBM/NESTFUL | calls whose arguments name the calls that they use |
| tau_airline | sierra-research/tau-bench | what an agent called for airline customers, turn by turn, four times the same fifty tasks |
| apibank | AlibabaResearch/DAMO-ConvAI, `api-bank` | dialogues with calls, turn by turn |
| n8n | Zie619/n8n-workflows, at 84c802cb, before its links were emptied | workflows that people drew: a title and a graph |
"""

from __future__ import annotations

import argparse
import io
import json
import re
import subprocess
import tarfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

Row = dict[str, Any]
Files = Callable[[str], Iterator[tuple[str, str]]]
N8N_COMMIT = "84c802cb"
FEWEST, MOST = 2, 25  # steps of a workflow
_UNNAMED = re.compile(r"(my )?workflow ?\d*", re.IGNORECASE)


def main() -> None:
    args = arguments(__doc__)
    for name, (repository, commit, make) in SETS.items():
        tools, tasks = make(lambda under, r=repository, c=commit: files_of(args.clones / r.replace("/", "+"), c, under))
        write(args.into / name, tools, tasks)


def arguments(description: str | None) -> argparse.Namespace:
    """Return where the clones are, and where the sets go."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clones", type=Path, required=True)
    parser.add_argument("--into", type=Path, required=True)
    return parser.parse_args()


def write(folder: Path, tools: Sequence[Row], tasks: Sequence[Row]) -> None:
    """Write a set, and say how large it is."""
    folder.mkdir(parents=True, exist_ok=True)
    for kind, rows in (("tools", tools), ("tasks", tasks)):
        text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        (folder / f"{kind}.jsonl").write_text(text, encoding="utf-8")
    print(f"{folder.name}: {len(tools)} tools, {len(tasks)} tasks, {sum(len(task['seq']) for task in tasks)} steps")


def files_of(clone: Path, commit: str, under: str) -> Iterator[tuple[str, str]]:
    """Yield (path, text) of a commit's files below a folder, by path."""
    at = clone / "repo" if (clone / "repo").exists() else clone
    done = subprocess.run(["git", "-C", str(at), "archive", commit, under], capture_output=True, check=True)
    with tarfile.open(fileobj=io.BytesIO(done.stdout)) as archive:
        for member in sorted((m for m in archive.getmembers() if m.isfile()), key=lambda m: m.name):
            found = archive.extractfile(member)
            yield member.name, found.read().decode("utf-8", "replace") if found else ""


def task(id_: str, intent: str, seq: Sequence[str], links: object = None, **more: object) -> Row:
    """A line of `tasks.jsonl`."""
    return {
        "id": id_, "intent": intent, "seq": list(seq), "links": links, "gold": sorted(set(seq)), "split": "cv", **more
    }  # fmt: skip


def talk(id_: str, turns: Sequence[Row], **more: object) -> Row:
    """A task of several turns, each with its words and its calls."""
    called = [call for turn in turns for call in turn["calls"]]
    return task(id_, " ".join(turn["user"] for turn in turns), called, turns=list(turns), **more)


def nestful(files: Files) -> tuple[list[Row], list[Row]]:
    """Calls with arguments like `$var1.id$`: what call 1 gave."""
    held = {path.rpartition("/")[2].removesuffix(".json"): json.loads(text) for path, text in files("data")}
    tools: dict[str, Row] = {}
    tasks = []
    for kind in ("executable", "non-executable-sgd", "non-executable-glaive"):
        for tool in held[f"{kind}-spec"]:
            given = tool.get("query_parameters") or tool.get("arguments") or tool.get("parameters") or {}
            tools[tool["name"]] = {
                "id": tool["name"], "name": tool["name"], "desc": tool.get("description", ""),
                "params": list(given), "outputs": list(tool.get("output_parameters") or {}),
            }  # fmt: skip
        for number, item in enumerate(held[f"{kind}-data"]):
            calls = [call for call in item["output"] if call["name"] != "var_result"]
            tasks.append(task(f"{kind}{number}", item["input"], [call["name"] for call in calls], _used(calls)))
    return _with_all(tools, tasks), tasks


def _used(calls: Sequence[Row]) -> list[tuple[str, str]]:
    by_label: dict[str, str] = {}
    links: set[tuple[str, str]] = set()
    for call in calls:
        by_label[call.get("label", "")] = call["name"]
        named = re.findall(r"\$(var_?\d+)", json.dumps(call.get("arguments", {})))
        links |= {
            (by_label[label], call["name"]) for label in named if by_label.get(label, call["name"]) != call["name"]
        }
    return sorted(links)


def tau_airline(files: Files) -> tuple[list[Row], list[Row]]:
    """Runs of an agent; the four of a task lie in the same fold, for there are fifty tasks and five folds."""
    tools: dict[str, Row] = {}
    for _, text in files("tau_bench/envs/airline/tools"):
        name, said = re.search(r'"name":\s*"(\w+)"', text), re.search(r'"description":\s*"([^"]+)"', text)
        if name:
            given = re.findall(r'^\s{20,28}"(\w+)":\s*\{', text, re.MULTILINE)
            params = [
                each for each in dict.fromkeys(given) if each not in ("parameters", "properties", "function", "items")
            ]
            tools[name[1]] = {
                "id": name[1], "name": name[1], "desc": said[1] if said else "", "params": params, "server": "airline"
            }  # fmt: skip
    runs = json.loads(next(files("historical_trajectories/gpt-4o-airline.json"))[1])
    runs.sort(key=lambda run: (run.get("trial", 0), run["task_id"]))
    tasks = []
    for run in runs:
        turns: list[Row] = []
        for message in run["traj"]:
            if message["role"] == "user":
                turns.append({"user": message["content"] or "", "calls": []})
            called = [call["function"]["name"] for call in message.get("tool_calls") or ()]
            if called:
                turns[-1]["calls"] += [name for name in called if name in tools]
        tasks.append(talk(f"{run['task_id']}-{run.get('trial', 0)}", turns, group=run["task_id"]))
    return list(tools.values()), tasks


def apibank(files: Files) -> tuple[list[Row], list[Row]]:
    """Dialogues in which calls are lines of their own; tools as the classes describe themselves."""
    tools: dict[str, Row] = {}
    for _, text in [*files("api-bank/apis"), *files("api-bank/lv3_apis")]:
        for name, body in re.findall(r"^class (\w+)\(API\):(.*?)(?=^class |\Z)", text, re.MULTILINE | re.DOTALL):
            said = re.search(r"description = [\"'](.*)[\"']", body)
            given, gives = (
                re.findall(r"^\s{8}[\"'](\w+)[\"']:", part[1], re.MULTILINE) if part else []
                for part in (
                    re.search(rf"{kind}_parameters = \{{(.*?)\n    \}}", body, re.DOTALL)
                    for kind in ("input", "output")
                )
            )
            row = {"id": name, "name": name, "desc": said[1] if said else "", "params": given, "outputs": gives}
            tools.setdefault(name, row)
    tasks = []
    for path, text in files("api-bank/lv1-lv2-samples/level-1-given-desc"):
        turns: list[Row] = []
        for line in map(json.loads, text.splitlines()):
            if line["role"] == "User":
                turns.append({"user": line["text"], "calls": []})
            elif line["role"] == "API" and turns:
                turns[-1]["calls"].append(line["api_name"])
        if any(turn["calls"] for turn in turns):
            tasks.append(talk(path.rpartition("/")[2], turns))
    return _with_all(tools, tasks), tasks


def n8n(files: Files) -> tuple[list[Row], list[Row]]:
    """Workflows with a title of their own; a tool is a kind of node, without a description."""
    titles: set[str] = set()
    tasks = []
    for path, text in files("workflows"):
        flow = json.loads(text) if text.startswith("{") else {}
        title = (flow.get("name") or "").strip()
        kinds = {
            node.get("name"): node["type"].rpartition(".")[2]
            for node in flow.get("nodes") or ()
            if node.get("type") and not node["type"].endswith("stickyNote")
        }
        following = _following(flow.get("connections") or {}, kinds)
        seq = [kinds[node] for node in _in_order(kinds, following)]
        links = {(kinds[a], kinds[b]) for a, after in following.items() for b in after if kinds[a] != kinds[b]}
        if (
            title
            and not _UNNAMED.fullmatch(title)
            and FEWEST <= len(seq) <= MOST
            and links
            and title.lower() not in titles
        ):
            titles.add(title.lower())
            tasks.append(task(path, title, seq, sorted(links)))
    return _with_all({}, tasks), tasks


def _following(connections: Mapping[str, Any], kinds: Mapping[str, str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for node, outputs in connections.items():
        for groups in outputs.values() if isinstance(outputs, dict) else ():
            ends = [end.get("node") for group in groups or () for end in group or () if isinstance(end, dict)]
            found.setdefault(node, []).extend(end for end in ends if end in kinds)
    return {node: after for node, after in found.items() if node in kinds}


def _in_order(kinds: Mapping[str, str], following: Mapping[str, Sequence[str]]) -> list[str]:
    """The nodes that can be reached from those that nothing leads to, each branch to its end."""
    reached = {end for after in following.values() for end in after}
    todo, order = [node for node in kinds if node not in reached], dict[str, None]()
    while todo:
        node = todo.pop(0)
        if node not in order:
            order[node] = None
            todo = [*following.get(node, ()), *todo]
    return list(order)


def _with_all(tools: Mapping[str, Row], tasks: Sequence[Row]) -> list[Row]:
    """The tools, and those that are only called."""
    called = dict.fromkeys(name for each in tasks for name in each["seq"])
    missing = [{"id": name, "name": name, "desc": "", "params": []} for name in called if name not in tools]
    return [*tools.values(), *missing]


SETS: Mapping[str, tuple[str, str, Callable[[Files], tuple[list[Row], list[Row]]]]] = {
    "nestful": ("IBM/NESTFUL", "HEAD", nestful),
    "tau_airline": ("sierra-research/tau-bench", "HEAD", tau_airline),
    "apibank": ("AlibabaResearch/DAMO-ConvAI", "HEAD", apibank),
    "n8n": ("Zie619/n8n-workflows", N8N_COMMIT, n8n),
}


if __name__ == "__main__":
    main()
