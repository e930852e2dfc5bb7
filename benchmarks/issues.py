"""From the text of an issue to the files and lines that its fix changed (SWE-bench), in the whole tree at that commit.

    python benchmarks/issues.py --data BENCH/code --mirrors MIRRORS --state rows.jsonl [--peers a,b] [--limit 20] [--kept FOLDER]

Every issue is asked twice: its first line, and all of it. Finished rows are kept in --state, so a stopped run goes on
where it was; issues are taken one from each repository in turn, or with --sample as a fixed seed draws them, so that each part
of a run is a fair sample. With --kept, the tree and the index of each repository stay there between issues, the next commit is
written over the last, and what it changed is indexed as an edit. The peer
`vademecum-history` is asked in a checkout that knows the commits before it, as a user's does, and none after.

`file_acc` and `function_acc` are Acc@k: the share of issues whose files, or functions, are all among the first k. Functions
are those that the lines of the first fifty results share a line with, result by result, from the top of each.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import zip_longest
from pathlib import Path
from typing import Any

import report
from data import Question, borrow_history, checkout, load_questions, mirror_of, move_tree
from metrics import Hit, accuracy, files_of, functions_in, mean_over_repositories
from peers import PEERS, make
from quality import DEPTH, differences, grouped, measure

SHOWN = ("file_ndcg", "file_hit1", "file_recall", "file_ndcg_of10", "span_recall", "lines")
ACCURACIES = ("file_acc1", "file_acc5", "file_acc10", "function_acc5", "function_acc10")
COMPARED = ("file_ndcg", "span_recall", "file_acc10", "function_acc10")
HISTORY = "vademecum-history"
SEED = 2026
QUERIES = {"first line": lambda question: question.first_line, "whole text": lambda question: question.query}
Row = dict[str, Any]


def in_turn(questions: list[Question]) -> list[Question]:
    """Order the issues so that each repository's first comes first, then each one's second, and so on."""
    by_repo: dict[str, list[Question]] = defaultdict(list)
    for question in questions:
        by_repo[question.repo].append(question)
    rounds = zip_longest(*by_repo.values())
    return [question for row in rounds for question in row if question]


def drawn(questions: Sequence[Question], sample: int) -> list[Question]:
    """Return so many issues, drawn by a fixed seed: each beginning of the list is a fair sample of all."""
    shuffled = sorted(questions, key=lambda question: question.id)
    random.Random(SEED).shuffle(shuffled)
    return shuffled[:sample]


def functions_of(hits: Sequence[Hit], tree: Path) -> list[str]:
    """List the Python functions that the hits touch, as path:Class.name, in the order in which a reader meets them."""
    of_file = {
        path: functions_in((tree / path).read_text(encoding="utf-8", errors="replace"))
        for path in files_of(hits)
        if path.endswith(".py")
    }
    met = (
        f"{hit.path}:{name}"
        for hit in hits
        for name, (first, last) in of_file.get(hit.path, ())
        if first <= hit.end and hit.start <= last
    )
    return list(dict.fromkeys(met))


def accuracies(hits: Sequence[Hit], question: Question, tree: Path) -> Row:
    """Whether all right files, and functions where they are known, are among the first few."""
    files, wanted = files_of(hits), {target.path for target in question.targets}
    row: Row = {f"file_acc{k}": accuracy(files, wanted, k) for k in (1, 5, 10)}
    if question.functions:
        functions = functions_of(hits, tree)
        row |= {f"function_acc{k}": accuracy(functions, question.functions, k) for k in (5, 10)}
    return row


def ask(peer_name: str, question: Question, tree: Path, home: Path) -> Iterator[Row]:
    """Index the tree with a fresh peer and ask both queries."""
    peer = make("vademecum" if peer_name == HISTORY else peer_name, home)
    try:
        started = time.perf_counter()
        peer.index(tree)
        facts = {"index_s": round(time.perf_counter() - started, 3), "chunks": peer.chunks()}
        for kind, text_of in QUERIES.items():
            text = text_of(question)
            found = measure(peer, question, text) | accuracies(peer.search(text, DEPTH), question, tree)
            yield {"peer": peer_name, "query": kind, **found, **facts}
    finally:
        peer.close()


def read_state(state: Path) -> list[Row]:
    """Read the finished rows; a last line that was cut off is dropped."""
    rows = []
    for line in state.read_text(encoding="utf-8").splitlines() if state.exists() else []:
        try:
            rows.append(json.loads(line))
        except json.JSONDecodeError:
            continue
    return rows


@contextmanager
def tree_of(question: Question, mirrors: Path, kept: Path | None) -> Iterator[Path]:
    """Give the tree that an issue is asked of, in a place of its own or in its repository's."""
    git_dir = mirror_of(mirrors, question.snapshot)
    if kept is None:
        with checkout(git_dir, question.commit) as tree:
            yield tree
    else:
        tree = kept / question.repo.replace("/", "+") / "tree"
        shutil.rmtree(tree / ".git", ignore_errors=True)  # the history of the issue before
        move_tree(git_dir, question.commit, tree)
        yield tree


def run(questions: list[Question], peer_names: list[str], mirrors: Path, state: Path, kept: Path | None) -> None:
    """Work through the issues that have no rows yet, one checkout for all peers; the one that knows its past comes last."""
    done = {(row["id"], row["peer"]) for row in read_state(state) if row["query"] == list(QUERIES)[-1]}
    for number, question in enumerate(questions, 1):
        missing = [name for name in peer_names if (question.id, name) not in done]
        if not missing:
            continue
        with tree_of(question, mirrors, kept) as tree:
            for name in sorted(missing, key=HISTORY.__eq__):
                if name == HISTORY:
                    borrow_history(mirror_of(mirrors, question.snapshot), question.commit, tree)
                rows = list(ask(name, question, tree, tree.parent / "home"))
                with state.open("a", encoding="utf-8") as file:
                    file.writelines(json.dumps(row) + "\n" for row in rows)
        print(f"{number}/{len(questions)} {question.id}", flush=True)


def common_rows(rows: list[Row], peer_names: list[str], kind: str) -> dict[str, list[Row]]:
    """Rows of each peer for one kind of query, by issue, for the issues that every peer has answered."""
    by_peer: dict[str, dict[str, Row]] = {name: {} for name in peer_names}
    for row in rows:
        if row["query"] == kind and row["peer"] in by_peer:
            by_peer[row["peer"]][row["id"]] = row
    common = sorted(set.intersection(*(set(found) for found in by_peer.values())))
    return {name: [found[key] for key in common] for name, found in by_peer.items()}


def means(rows: list[Row]) -> Row:
    """Means over issues, and over repositories for the first measure."""
    found: Row = {name: round(sum(row[name] for row in rows) / max(1, len(rows)), 4) for name in SHOWN}
    for name in ACCURACIES:
        known = [row[name] for row in rows if name in row]
        found |= {name: round(sum(known) / len(known), 4)} if known else {}
    by_repo = round(mean_over_repositories(grouped(rows, "file_ndcg")), 4)
    return found | {"file_ndcg_by_repo": by_repo, "issues": len(rows)}


def summarise(rows: list[Row], peer_names: list[str]) -> Row:
    """Tables and intervals for both queries."""
    result: Row = {}
    ours = "vademecum" if "vademecum" in peer_names else peer_names[-1]
    for kind in QUERIES:
        kept = common_rows(rows, peer_names, kind)
        found = {name: means(mine) for name, mine in kept.items()}
        columns = list(found[ours])
        print(f"\n{kind} as the query")
        print(report.table(["peer", *columns], [[name, *(row[c] for c in columns)] for name, row in found.items()]))
        gaps = {name: differences(kept, ours, name) for name in COMPARED if any(name in row for row in kept[ours])}
        print(f"{ours} minus (difference, 95 % interval): {gaps}")
        result[kind] = {"means": found, f"{ours}_minus": gaps}
    return result


def issue_arguments(description: str | None) -> argparse.ArgumentParser:
    """Return the options of every script that asks about issues."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with issues.jsonl.gz")
    parser.add_argument("--mirrors", type=Path, required=True, help="git directories of the repositories")
    parser.add_argument("--state", type=Path, required=True, help="JSON lines of finished rows, outside the project")
    return parser


def main(argv: Sequence[str] | None = None) -> None:
    """Run what is missing, then summarise everything in the state file."""
    parser = issue_arguments(__doc__)
    parser.add_argument("--peers", type=lambda text: text.split(","), default=list(PEERS))
    parser.add_argument("--limit", type=int, default=None, help="this many issues, taken from the repositories in turn")
    parser.add_argument("--sample", type=int, default=None, help="this many issues, drawn by a fixed seed")
    parser.add_argument("--only", type=lambda text: text.split(","), default=[], help="owner/name of these alone")
    parser.add_argument("--kept", type=Path, help="keep one tree and one index per repository here")
    parser.add_argument("--name", default="issues", help="what the result is called, such as lite")
    parser.add_argument("--into", type=Path, default=report.RESULTS, help="folder for the result")
    arguments = parser.parse_args(argv)
    questions = load_questions(arguments.data / "issues.jsonl.gz")
    kept = [question for question in questions if not arguments.only or question.repo in arguments.only]
    questions = drawn(kept, arguments.sample) if arguments.sample else in_turn(kept)[: arguments.limit]
    run(questions, arguments.peers, arguments.mirrors, arguments.state, arguments.kept)
    wanted = {question.id for question in questions}
    rows = [row for row in read_state(arguments.state) if row["id"] in wanted]
    result = summarise(rows, arguments.peers) | ({"seed": SEED} if arguments.sample else {})
    print("written:", report.write(arguments.name, result, arguments.into).name)


if __name__ == "__main__":
    main()
