"""Measure how much of a fix an answer holds after N tokens.

The tokens are those of the text that the client passes on to its model.

    python benchmarks/answers.py --data BENCH/code --mirrors MIRRORS --keep FOLDER --state rows.jsonl
        [--commits commits.jsonl] [--today SRC] [--arms a,b] [--half develop|report|all] [--limit N] [--again a,b]

Two sets of tasks, each with the lines that were changed for it: issues (`issues.jsonl.gz`), and commits that mend something
(`answers_commits.py` makes them; --commits). Each is asked whole and by its first line, of the tree before the change:

    vademecum         `search` of our MCP server, nothing but the question: structured content where the result has any, as
                      Claude Code and Codex pass it on, else the text
    search            `search` of our MCP server with a budget of 500, 1,000, ... tokens, passed on in the same way
    context           `context` of our MCP server with a budget of 500, 1,000, ... tokens, passed on in the same way
    today-text        the text of `search` of another state of this package, whose sources --today names
    today-structured  the structured content of the same result
    today-context     the text of its `context`
    semble            the text of semble's MCP server, nothing but the question (no model, `alpha=0`, as in `peers.py`)
    semble-unechoed   the same without the question, which semble says again at its head
    ripgrep           the windows of `ripgrep-keywords` (`peers.py`), best first, until 8,000 tokens are full

A text is read from its head: what stands in its first N tokens has been read after N. Of `search` and
`context`, each number of tokens is a call of its own. All texts are counted by the same counter. A file counts where it is named or shown, a line where it is shown.
--half: `develop` may be looked at; it holds the 40 issues of `context.py`'s, and commits by a digest of the repository's name.
`report` holds all other issues and commits.

Trees and indexes stay in --keep, finished rows in --state; --again drops the rows of an arm first, after a change to it.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import report
import vademecum
from context import DEPTH, OURS, fill, half_arguments, tree_of
from context import half as half_of_issues
from data import Question, load_questions
from issues import QUERIES, in_turn, read_state
from metrics import mean_over_repositories, paired_interval
from peers import RipgrepKeywords, Semble
from quality import grouped
from shown import BUDGETS, Reader, in_json, in_text, in_windows, read

TODAY = ("today-text", "today-structured", "today-context")
OWN = ("vademecum", "search", OURS)
ARMS = (*OWN, *TODAY, "semble", "semble-unechoed", "ripgrep")
COMPARED = {
    "vademecum": ("today-text", "today-structured", "semble", "semble-unechoed", "ripgrep"),
    "search": ("semble", "semble-unechoed", "ripgrep"),
    OURS: ("today-context", "semble", "semble-unechoed", "ripgrep"),
}
SHARES = tuple(f"{name}@{n}" for name in ("lines", "files") for n in BUDGETS)
TIMES = ("first", "half")
OTHERS = (*TIMES, "tokens", "characters", "wrong")
SOURCES = Path(vademecum.__file__).parent.parent  # of the package that is measured
Row = dict[str, Any]
Said = dict[int, tuple[str, Reader]]  # what the client passes on, by the tokens that were asked for; 0 for no wish


class Server:
    """One `vade mcp` of the package below `sources`, in one tree."""

    def __init__(self, sources: Path, tree: Path, home: Path) -> None:
        """Bring the index up to date and start the server."""
        environment = {k: v for k, v in os.environ.items() if not k.startswith("VADE_")}
        environment |= {"PYTHONPATH": str(sources), "VADE_HOME": str(home)}
        command = [sys.executable, "-m", "vademecum"]
        place: dict[str, Any] = {"cwd": tree, "env": environment}
        subprocess.run([*command, "index"], **place, check=True, capture_output=True)
        self._process = subprocess.Popen(
            [*command, "mcp"], **place, text=True, encoding="utf-8", stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )  # fmt: skip
        self._said: dict[str, Row] = {}
        greeting = {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "bench", "version": "1"},
        }
        self._request("initialize", greeting)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._process.stdin
        self._process.stdin.close()
        self._process.wait(60)

    def call(self, tool: str, **arguments: Any) -> Row:
        """Return the result of a tool; the same call is made once."""
        key = json.dumps([tool, arguments])
        if key not in self._said:
            self._said[key] = self._request("tools/call", {"name": tool, "arguments": arguments})
        return self._said[key]

    def _request(self, method: str, params: Row) -> Row:
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(
            json.dumps({"jsonrpc": "2.0", "id": method, "method": method, "params": params}) + "\n"
        )
        self._process.stdin.flush()
        for line in self._process.stdout:
            if (message := json.loads(line)).get("id") == method:
                if "result" not in message:
                    raise RuntimeError(f"the server refused {method}: {message}")
                return message["result"]
        raise RuntimeError(f"the server went away during {method}")


def text_of(result: Row) -> tuple[str, Reader]:
    """Return the text of a result."""
    return "\n".join(part["text"] for part in result["content"]), in_text


def structured_of(result: Row) -> tuple[str, Reader]:
    """Return the structured content as `JSON.stringify` writes it, else the text."""
    data = result.get("structuredContent")
    return text_of(result) if data is None else (json.dumps(data, ensure_ascii=False, separators=(",", ":")), in_json)


def from_server(server: Server, arm: str, asked: str) -> Said:
    """Return what the client passes on of one of our own arms."""
    passed_on = text_of if arm in {"today-text", "today-context"} else structured_of
    if OURS in arm:
        return {n: passed_on(server.call("context", task=asked, budget=n)) for n in BUDGETS}
    if arm == "search":
        return {n: passed_on(server.call("search", query=asked, budget=n)) for n in BUDGETS}
    return {0: passed_on(server.call("search", query=asked))}


def from_semble(peer: Semble, arm: str, asked: str) -> Said:
    """Return the text that semble's MCP server answers without its model."""
    from semble.utils import format_results

    found = peer.built.search(asked, top_k=5, alpha=0.0, max_snippet_lines=10)
    text = json.dumps(format_results("" if arm == "semble-unechoed" else asked, found, 10, {}))
    return {0: (text if found else json.dumps({"error": "No results found."}), in_json)}


def from_ripgrep(peer: RipgrepKeywords, tree: Path, asked: str) -> Said:
    """Return the best windows that fit, each below its place."""
    hits = peer.search(asked, DEPTH)
    texts = {hit.path: (tree / hit.path).read_bytes().decode("utf-8", "replace").split("\n") for hit in hits}
    kept, _ = fill(hits, texts, BUDGETS[-1])
    pieces = (
        f"{hit.path}:{hit.start}-{hit.end}\n" + "\n".join(texts[hit.path][hit.start - 1 : hit.end]) for hit in kept
    )
    return {0: ("\n".join(pieces), in_windows)}


def said(
    question: Question, arms: Sequence[str], tree: Path, keep: Path, today: Path | None
) -> Iterator[tuple[str, str, Said]]:
    """Yield the arm, the form of the question, and the texts passed on."""
    forms = {name: form(question) for name, form in QUERIES.items()}
    home = keep / "homes" / question.id
    for sources, names in ((today, TODAY), (SOURCES, OWN)):
        if (own := [arm for arm in arms if arm in names]) and sources:
            with Server(sources, tree, home) as server:
                yield from (
                    (arm, form, from_server(server, arm, asked)) for arm in own for form, asked in forms.items()
                )
    if own := [arm for arm in arms if arm.startswith("semble")]:
        peer = Semble()
        peer.index(tree)
        yield from ((arm, form, from_semble(peer, arm, asked)) for arm in own for form, asked in forms.items())
        peer.close()
    if "ripgrep" in arms:
        windows = RipgrepKeywords()
        windows.index(tree)
        yield from (("ripgrep", form, from_ripgrep(windows, tree, asked)) for form, asked in forms.items())


def measured(texts: Said, question: Question, tree: Path) -> Row:
    """Return the figures of one answer, or of one for each budget."""
    rows = {wish: read(text, reader, question.targets, tree) for wish, (text, reader) in texts.items()}
    row = rows[max(rows)]
    if len(rows) > 1:  # a call of its own for each: what it holds is read whole
        row |= {name: [rows[n][name][-1] for n in BUDGETS] for name in ("lines", "files")}
    return row


def run(questions: Sequence[Question], arms: Sequence[str], options: argparse.Namespace) -> list[Row]:
    """Ask for what has no rows yet; returns all rows."""
    rows = [row for row in read_state(options.state) if row["arm"] not in options.again]
    options.state.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    done = {(row["id"], row["arm"]) for row in rows}
    for number, question in enumerate(questions, 1):
        missing = [arm for arm in arms if (question.id, arm) not in done]
        if not missing:
            continue
        tree = tree_of(question, options.mirrors, options.keep)
        facts = {"id": question.id, "repo": question.repo, "set": question.category}
        own = [
            facts | {"arm": arm, "asked": form} | measured(texts, question, tree)
            for arm, form, texts in said(question, missing, tree, options.keep, options.today)
        ]
        rows += own
        with options.state.open("a", encoding="utf-8") as file:
            file.writelines(json.dumps(row) + "\n" for row in own)
        at_thousand = {row["arm"]: round(row["lines"][1], 2) for row in own if row["asked"] == "whole text"}
        print(f"{number}/{len(questions)} {question.id} {json.dumps(at_thousand)}", flush=True)
    return rows


def flat(row: Row) -> Row:
    """Return a row with one value for each measure."""
    return row | {f"{name}@{n}": row[name][at] for name in ("lines", "files") for at, n in enumerate(BUDGETS)}


def summarise(rows: Sequence[Row], arms: Sequence[str]) -> Row:
    """Print and return means and differences for each set and form."""
    result: Row = {}
    for kind, form in sorted({(row["set"], row["asked"]) for row in rows}):
        by_arm: dict[str, dict[str, Row]] = {arm: {} for arm in arms}
        for row in rows:
            if (row["set"], row["asked"]) == (kind, form) and row["arm"] in by_arm:
                by_arm[row["arm"]][row["id"]] = flat(row)
        common = sorted(set.intersection(*(set(own) for own in by_arm.values())))
        of = {arm: [own[key] for key in common] for arm, own in by_arm.items()}
        means = {
            arm: {m: mean_over_repositories(grouped(own, m)) for m in [*SHARES, *OTHERS]} for arm, own in of.items()
        }
        gaps = {
            f"{ours} - {theirs}": {
                m: paired_interval(grouped(of[ours], m), grouped(of[theirs], m)) for m in [*SHARES, *TIMES]
            }
            for ours, others in COMPARED.items()
            for theirs in others
            if {ours, theirs} <= set(of) and common
        }
        print(f"\n{kind}, {form}: {len(common)} questions of {len({row['repo'] for row in of[arms[0]]})} repositories")
        show(means, gaps)
        result[f"{kind}, {form}"] = {
            "questions": len(common),
            "means": {arm: {m: round(value, 4) for m, value in own.items()} for arm, own in means.items()},
            "minus": {pair: {m: [round(v, 4) for v in gap] for m, gap in own.items()} for pair, own in gaps.items()},
        }
    return result


def show(means: Row, gaps: Row) -> None:
    """Print means and differences, shares in hundredths."""
    short = [name.replace("lines@", "L").replace("files@", "F") for name in SHARES]
    rows = [
        [a, *(f"{100 * o[m]:.1f}" for m in SHARES), *(round(o[m]) for m in OTHERS[:-1]), o["wrong"]]
        for a, o in means.items()
    ]
    print(report.table(["arm", *short, *OTHERS], rows))
    shown = [[pair, *(interval(gap, 1 if m in TIMES else 100) for m, gap in own.items())] for pair, own in gaps.items()]
    if shown:
        print(report.table(["difference [95 %]", *short, *TIMES], shown))


def interval(gap: tuple[float, float, float], scale: int) -> str:
    """Return a difference with its interval as words."""
    return "{:+.1f} [{:.0f}, {:.0f}]".format(*(scale * value for value in gap))


def chosen(options: argparse.Namespace) -> list[Question]:
    """Return the questions of a half, repositories in turn."""
    issues = load_questions(options.data / "issues.jsonl.gz")
    seen = half_of_issues(issues, "develop")
    own = {"develop": seen, "report": [q for q in issues if q not in seen], "all": issues}[options.half]
    issues = [replace(q, category="issues") for q in own]
    commits = load_questions(options.commits) if options.commits else []
    wanted = {"develop": (0,), "report": (1,), "all": (0, 1)}[options.half]
    commits = [q for q in commits if hashlib.sha256(q.repo.encode()).digest()[0] % 2 in wanted]
    return [*in_turn(issues)[: options.limit], *in_turn(commits)[: options.limit]]


def main(argv: Sequence[str] | None = None) -> None:
    """Measure one half and write the result."""
    parser = half_arguments(__doc__)
    parser.add_argument("--commits", type=Path, help="commits.jsonl.gz, made by answers_commits.py")
    parser.add_argument("--today", type=Path, help="sources of the state that is compared")
    parser.add_argument("--arms", type=lambda text: text.split(","), default=list(ARMS))
    parser.add_argument(
        "--again", type=lambda text: text.split(","), default=[], help="arms whose rows are dropped first"
    )
    parser.add_argument("--limit", type=int, default=None, help="only so many questions of each set")
    parser.add_argument("--into", type=Path, default=None, help="folder for the result; none is written without")
    options = parser.parse_args(argv)
    questions = chosen(options)
    rows = run(questions, options.arms, options)
    names = {question.id for question in questions}
    result = {"half": options.half} | summarise([row for row in rows if row["id"] in names], options.arms)
    if options.into:
        print("written:", report.write(f"answers-{options.half}", result, options.into).name)


if __name__ == "__main__":
    main()
