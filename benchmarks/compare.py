"""Write docs/compare.md and its pictures from the results: `python benchmarks/compare.py [--out docs]`.

Every number on the page is read from `results/*.json`; a test holds the page against what this script makes. Words that say
which is better are computed as well.
"""

from __future__ import annotations

import argparse
import json
import re
import textwrap
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

RESULTS = Path(__file__).parent / "results"
DOCS = Path(__file__).parents[1] / "docs"
OURS = "vademecum"
SHOWN = {
    "ripgrep-keywords": "ripgrep by keywords",
    "bm25-windows": "BM25 over windows of 40 lines",
    "semble-bm25-raw": "semble 0.7.0, BM25 alone",
    "semble": "semble 0.7.0, no model",
    "vademecum-bm25f": "vademecum, words alone",
    "vademecum-dense": "vademecum, meaning alone",
    "vademecum-rrf": "vademecum, both by RRF",
    OURS: "**vademecum**",
}
CONTEXTS = {"context": "`vade context`", "search": "our results, the issue asked", "search title": "our results, its title asked",
            "grep": "grep, the issue's words", "grep title": "grep, its title's"}  # fmt: skip
CHOSEN = {
    "context": "`vade context`",
    "search": "our results",
    "semble": SHOWN["semble"],
    "bm25-windows": SHOWN["bm25-windows"],
}
CHAINS = {
    "frequency": "the most frequent tool",
    "bm25": "BM25",
    "markov": "Markov",
    "markov+bm25": "their learned mix",
    OURS: SHOWN[OURS],
}
LITE = {
    "bm25-windows": SHOWN["bm25-windows"],
    "semble": SHOWN["semble"],
    OURS: "vademecum, where past commits are not known",
    "vademecum-history": SHOWN[OURS],
}
SETS = ("ultratool", "bfcl_mt_base", "tmdb")

COLUMNS = 120

HEAD = """\
# Measurements: vademecum beside other tools

Every tool was run on the same trees in the same run. To measure it in your own repository, run `vade bench`
([bench.md](bench.md)).

What one part measures alone stands on its page: [the graph](graph.md#how-true-it-is), [memory](memory.md#how-good-it-is), [tools](tools.md), [scale](scale.md).
Whether a coding agent solves tasks with fewer tokens has not been measured yet.

A script, `benchmarks/compare.py`, writes this page from the files in `benchmarks/results`, and a test holds it against them. How each figure came about, what is fair and
what is not, and on which questions constants were chosen, is in [benchmarks](../benchmarks/README.md).
"""


def main() -> None:
    """Write the page and its pictures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=DOCS)
    for name, text in made().items():
        path = parser.parse_args().out / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def made() -> dict[str, str]:
    """Return what is written: the name of each file below docs, and its text."""
    files, functions = latest("quality-files")["overall"], latest("quality-functions")["overall"]
    bars = [(SHOWN[name].strip("*"), row["semble_ndcg"]) for name, row in ordered(files, "semble_ndcg")]
    parts = [
        HEAD,
        lite(),
        chosen(),
        issues(),
        contexts(),
        finding(files, functions),
        verdicts(),
        tools(),
        memory(),
        speed(),
        read_as(),
    ]
    return {"compare.md": wrapped("\n".join(parts)), "pictures/finding.svg": chart("The right file: NDCG@10", bars)}


def wrapped(page: str) -> str:
    r"""Return a page whose paragraphs are wrapped as those of other pages are; tables and pictures stay as they are.

    >>> wrapped("# A title\n\nsome words\nand more\n")
    '# A title\n\nsome words and more\n'
    """
    blocks = page.rstrip("\n").split("\n\n")
    filled = (
        block
        if block.startswith(("|", "!", "#", "-", "`"))
        else textwrap.fill(block, COLUMNS, break_on_hyphens=False, break_long_words=False)
        for block in blocks
    )
    return "\n\n".join(filled) + "\n"


def latest(name: str) -> Any:
    """Return the newest result of a name: by its date, then by its commit's name."""
    paths = [
        path for path in RESULTS.glob(f"{name}-*.json") if re.fullmatch(r"[0-9a-f]{7,}\+?", path.stem[len(name) + 1 :])
    ]
    read = {path: json.loads(path.read_text(encoding="utf-8")) for path in paths}
    return read[max(paths, key=lambda path: (read[path]["conditions"]["date"], path.stem))]


def ordered(rows: dict[str, Any], measure: str) -> list[tuple[str, Any]]:
    """Return rows from the worst to the best."""
    return sorted(rows.items(), key=lambda row: row[1][measure])


def table(head: list[str], rows: list[list[str]]) -> str:
    """Return a table in Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def best(values: list[float], texts: list[str], *, least: bool = False) -> list[str]:
    """Return texts with the best one in bold."""
    top = min(values) if least else max(values)
    return [f"**{text}**" if value == top else text for value, text in zip(values, texts, strict=True)]


def finding(files: dict[str, Any], functions: dict[str, Any]) -> str:
    """Finding the right file, and the right function."""
    rows = [
        [SHOWN[name], f"{row['semble_ndcg']:.3f}", f"{row['file_hit1']:.2f}", f"{row['lines']:.0f}"]
        for name, row in ordered(files, "semble_ndcg")
    ]
    names = [name for name in SHOWN if name in functions]
    values = [functions[name]["semble_ndcg"] for name in names]
    marked = best(values, [f"{value:.3f}" for value in values])
    count, others = files[OURS]["questions"], functions[OURS]["questions"]
    return (
        f"## Finding\n\n![The right file: NDCG@10 of each tool](pictures/finding.svg)\n\n{count} short questions and symbols, 24 repositories, semble's "
        "rule; `lines` is what ten results hold. This suite is nearly saturated: the best that others report for all of its 63 repositories is 0.862, with a model of 137 million parameters.\n\n"
        + table(["tool", "NDCG@10", "first file right", "lines"], rows)
        + "\nWe could not download semble's embedding model, so semble ran without it. Its authors report an average of 0.859 with it for these repositories. "
        "The constants that find our candidates were chosen on these 24; with those set before, ours is 0.886 too.\n"
        + f"\n{others} questions from the web, each to one of 6,267 Python functions (CoSQA), labelled by people:\n\n"
        + table(["tool", "NDCG@10"], [[SHOWN[name], said] for name, said in zip(names, marked, strict=True)])
    )


def issues() -> str:
    """From issues to what their fix changed."""
    said = latest("issues")
    rows = []
    for name in [name for name in SHOWN if name in said["first line"]["means"]]:
        one, all_ = said["first line"]["means"][name], said["whole text"]["means"][name]
        rows.append(
            [
                SHOWN[name],
                f"{one['file_ndcg']:.3f}",
                f"{one['span_recall']:.3f}",
                f"{all_['file_ndcg']:.3f}",
                f"{all_['span_recall']:.3f}",
            ]
        )
    count = said["first line"]["means"][OURS]["issues"]
    whole = {name: row["file_ndcg"] for name, row in said["whole text"]["means"].items()}
    first = max(whole, key=lambda name: whole[name])
    note = (
        ""
        if first == OURS
        else f"\nAsked with the whole text of an issue, {SHOWN[first]} finds more files than we do.\n"
    )
    return (
        f"## Issues\n\n{count} issues (SWE-bench), whole trees: NDCG@10 of the files that the fix changed, and the share of changed spans that ten "
        "results touch; asked with the issue's first line, and with all of it.\n\n"
        + table(["tool", "files, first line", "spans", "files, whole text", "spans"], rows)
        + note
    )


def lite() -> str:
    """SWE-bench Lite, as others count it."""
    result = latest("lite")
    said = result["whole text"]["means"]
    columns = ("file_acc1", "file_acc5", "file_acc10", "function_acc5", "function_acc10")
    count = said["vademecum-history"]["issues"]
    how = "drawn by a fixed seed" if "seed" in result else "taken from its 12 repositories in turn"
    rows = [[shown, *(f"{said[name][c]:.2f}" for c in columns)] for name, shown in LITE.items() if name in said]
    return (
        f"## SWE-bench Lite\n\n{count} of its 300 issues, {how}, asked with all their text of the whole tree, tests and "
        "documents included: the share whose right file, and whose changed functions, are all among the first 1, 5, 10 that results name (Acc@k).\n\n"
        + table(["tool", "file @1", "@5", "@10", "function @5", "@10"], rows)
        + "\nSweRankEmbed-Small, a model of 137 million parameters trained on issues and their fixes, reports 0.909 of files and 0.745 of functions at 10 "
        "on all issues of Lite that change a function; it ranks the functions of files that are no tests.\n"
    )


def contexts() -> str:
    """What a text for a task holds."""
    said = latest("context-all")
    rows = [
        [CONTEXTS[name], f"{row['lines']:.2f}", f"{row['files']:.2f}", f"{row['named']:.2f}"]
        for name, row in said["means"].items()
        if name in CONTEXTS
    ]
    return (
        f"## Contexts\n\n{said['issues']} issues, {said['budget']:,} tokens: the share of changed lines, of files with any line shown, and of "
        "files with a line shown or named by a signature, in a text for the task.\n\n"
        + table(["text", "lines", "files", "or named"], rows)
    )


def chosen() -> str:
    """ContextBench: what people chose, beside one call's text."""
    said, priced = latest("contextbench"), latest("context-priced")
    columns = ("lines: recall", "lines: precision", "files: recall", "files: precision", "hit@3")
    rows = [
        [shown, f"{budget:,}", *(f"{row[name]:.2f}" if name in row else "" for name in columns)]
        for system, shown in CHOSEN.items()
        for budget in (2000, 4000, 8000)
        if (row := said["means"].get(f"{system} {budget}"))
    ]
    lines, precision, files, _, _ = (priced["means"]["context 8000"].get(name, 0.0) for name in columns)
    return (
        f"## ContextBench\n\n{said['tasks']} of the {said['of']} issues of its test set, those whose repositories could be had: the share of the lines, "
        "and of the files, that people chose as the context of the fix, and which share of what is shown was chosen, over all lines; and whether a "
        "file that the fix edits is among the first three.\n\n"
        + table(["text", "tokens", "lines, recall", "precision", "files, recall", "precision", "hit@3"], rows)
        + f"\nSince then a passage has to be worth its lines. Asked again, {priced['tasks']} of the issues: at 8,000 tokens a context holds {lines:.2f} of the lines "
        f"at a precision of {precision:.2f}, and {files:.2f} of the files. Other figures of those issues are on [the page on contexts](context.md#how-good-it-is).\n"
    )


def verdicts() -> str:
    """Whether answers know when they are none."""
    said = latest("verdicts")
    low, high = said["area_interval"]
    columns = ("questions", "resolved", "own_stated", "own_true", "all_stated", "all_even")
    return (
        f"## Verdicts\n\n{said['questions']:,} questions, each also asked of repositories that cannot answer it: the area under the ROC curve of the stated "
        f"probability is {said['area']:.3f} (95 %: {low:.3f} to {high:.3f}).\n\n"
        "How often `resolved` is right beside the probability that it states, by kind of question: asked of the repository that has the answer, and "
        "with even odds between that and others.\n\n"
        + table(
            ["kind", "asked", "resolved", "states", "right", "states, even odds", "right"],
            [[kind, *(_cell(row, name) for name in columns)] for kind, row in said["resolved"].items()],
        )
        + "\nA question from the web has one labelled function of 6,267, and others that answer as well count as wrong.\n"
    )


def _cell(row: dict[str, float], name: str) -> str:
    value = row.get(name)
    return "" if value is None else f"{value:.3f}" if isinstance(value, float) else f"{value:,}"


def tools() -> str:
    """The next tool."""
    said = latest("tools-next")
    columns = [
        best([said[one][name]["hit@1"] for name in CHAINS], [f"{said[one][name]['hit@1']:.2f}" for name in CHAINS])
        for one in SETS
    ]
    rows = [[shown, *cells] for shown, *cells in zip(CHAINS.values(), *columns, strict=True)]
    return (
        "## Tools\n\nThe next tool at every step of held-out tasks, first guess right, three trace sets.\n\n"
        + table(["by", *SETS], rows)
    )


def memory() -> str:
    """What memory finds."""
    said, speeds = latest("memory-recall"), latest("memory-speed")
    locomo, beam = said["locomo"], said["beam"]
    rows = [
        [f"LoCoMo, {locomo['questions']} questions: evidence turns among ten", f"{locomo['recall_at_10']:.2f}"],
        ["the same: first session right", f"{locomo['session_hit_at_1']:.2f}"],
        [f"BEAM, {beam['questions']} questions: messages among ten", f"{beam['recall_at_10']:.2f}"],
        [
            "area under the ROC curve of the probability, LoCoMo; BEAM",
            f"{locomo['abstention_area']:.2f}; {beam['abstention_area']:.2f}",
        ],
        ["events recorded a second", f"{speeds['record_per_second']:,}"],
        [
            f"recall among {speeds['events']:,} events, median and 95th percentile",
            f"{speeds['recall_p50_ms']:.1f} and {speeds['recall_p95_ms']:.1f} ms",
        ],
    ]
    return "## Memory\n\n" + table(["", "measured"], rows)


def speed() -> str:
    """Seconds, beside semble as it is and with vectors of its model's shape."""
    said = latest("speed")
    names = {
        OURS: SHOWN[OURS],
        "semble+vectors": "semble, with vectors of its model's shape",
        "semble": "semble, without vectors",
    }
    totals = [said["total_index_s"][name] for name in names]
    rows = [
        ["cold index of everything measured, sum", *best(totals, [f"{total:.1f} s" for total in totals], least=True)]
    ]
    for what, row in said["medians"].items():
        if any(name not in row for name in names):
            continue
        if asked := asked_in(what):
            first, texts = zip(*((row[name]["p50_ms"], spread(row[name])) for name in names), strict=True)
            rows.append(
                [
                    f"{asked}, median / 95th percentile",
                    *best([*first], [*texts], least=True),
                ]
            )
        if what.startswith("queries "):
            memories = [row[name]["rss_mib"] for name in names]
            rows.append(["memory then", *best(memories, [f"{each:.0f} MiB" for each in memories], least=True)])
        elif what.startswith("reindex "):
            seconds = [row[name]["saved_s"] for name in names]
            rows.append(
                [
                    f"index again, {what.removeprefix('reindex ')}",
                    *best(seconds, [f"{each:.2f} s" for each in seconds], least=True),
                ]
            )
    return (
        "## Speed\n\nTwo shared cores, all in one run with nothing beside it; medians of rounds in turn.\n\n"
        + table(["", *names.values()], rows)
        + "\nAt the time our innermost loops were compiled. They are not any more: a warm query takes 1.5 to 1.8 times as long, a first index up to 1.1 times, "
        "the rest the same ([0004](decisions/0004-arrays-not-fts.md)). Older processors took about twice as long for every tool. semble indexes faster without "
        "vectors, a mode that it was not made for.\n"
    )


def asked_in(what: str) -> str:
    """Return what was asked in a step of questions, "" for any other step.

    >>> asked_in("10 kB 10k files")
    'a text of 10,000 characters, 10k files'
    """
    asked = {"queries": "warm query", "issues": "a whole issue", "10 kB": "a text of 10,000 characters"}
    known = (f"{said}, {what.removeprefix(kind + ' ')}" for kind, said in asked.items() if what.startswith(kind + " "))
    return next(known, "")


def spread(row: dict[str, float]) -> str:
    """Return the median and the 95th percentile of queries."""
    return f"{row['p50_ms']:.2f} / {row['p95_ms']:.2f} ms"


def read_as() -> str:
    """Where the numbers are from."""
    names = ("lite", "contextbench", "context-priced", "issues", "context-all", "quality-files", "quality-functions",
             "verdicts", "tools-next", "memory-recall", "memory-speed", "speed")  # fmt: skip
    rows = []
    for name in names:
        conditions = latest(name)["conditions"]
        load = ", ".join(f"{each:.1f}" for each in conditions["load_average"])
        rows.append([f"`{name}`", f"`{conditions['commit']}`", conditions["date"], f"{conditions['cores']}", load])
    return (
        "## Where the numbers are from\n\nA figure is of its commit, and what changed later is not in it.\n\n"
        + table(["result", "commit", "date", "cores", "load average"], rows)
    )


def chart(title: str, bars: list[tuple[str, float]]) -> str:
    """Return bars as a picture that can be read on light and on dark."""
    left, width, step = 230, 330, 26
    height = 44 + step * len(bars)
    rows = []
    for number, (name, value) in enumerate(bars):
        y = 40 + step * number
        colour = "#0f766e" if name.startswith(OURS) else "#64748b"
        rows.append(
            f'<text x="{left - 10}" y="{y + 13}" text-anchor="end">{escape(name)}</text>'
            f'<rect x="{left}" y="{y}" width="{width * value:.0f}" height="18" rx="3" fill="{colour}"/>'
            f'<text x="{left + width * value + 6:.0f}" y="{y + 13}">{value:.3f}</text>'
        )
    style = "text{font:13px system-ui,sans-serif;fill:#334155}@media(prefers-color-scheme:dark){text{fill:#cbd5e1}}"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 620 {height}" role="img" aria-label="{escape(title)}">\n<style>{style}</style>\n'
        f'<text x="{left}" y="20" font-weight="bold">{escape(title)}</text>\n' + "\n".join(rows) + "\n</svg>\n"
    )


if __name__ == "__main__":
    main()
