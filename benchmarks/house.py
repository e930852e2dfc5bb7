"""Count what a reader of this package has to hold: lines, files, hops of a question, words of docstrings.

    python benchmarks/house.py REPOSITORY [--query TEXT] [--into FOLDER]

REPOSITORY is any checkout: it is indexed into a folder of its own, and a question, a message and a process are traced there.
A function counts once however often it runs; bodies of classes and comprehensions do not count.
"""

from __future__ import annotations

import argparse
import ast
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median, quantiles
from types import FrameType
from typing import Any

import report

PACKAGE = Path(__file__).parents[1] / "src" / "vademecum"
QUESTION_WORDS = re.compile(r"(?:What|Where|Which|How|Whether|Who|Whose|When|Why)\b")
NO_FUNCTION = {"<module>", "<listcomp>", "<dictcomp>", "<setcomp>", "<genexpr>", "<lambda>"}
IMPORTED = "import sys; from vademecum.cli import main; main(['search', {!r}]); print(*sys.modules, file=sys.stderr)"


def sizes() -> dict[str, int]:
    """Return lines and files of Python, and lines of C."""
    python = list(PACKAGE.rglob("*.py"))
    lines = {suffix: sum(map(_lines, PACKAGE.rglob(f"*.{suffix}"))) for suffix in ("py", "c", "h")}
    return {"python lines": lines["py"], "python files": len(python), "C lines": lines["c"] + lines["h"]}


def _lines(path: Path) -> int:
    return path.read_text(encoding="utf-8").count("\n")


def docstrings() -> dict[str, float]:
    """Return figures about the first lines of docstrings."""
    first = [line for path in PACKAGE.rglob("*.py") for line in _first_lines(path)]
    words = [len(re.findall(r"[\w`'./\[\]-]+", line)) for line in first]
    return {
        "docstrings": len(first),
        "words, median": median(words),
        "words, 90 %": quantiles(words, n=10)[-1],
        "words, most": max(words),
        "share with what": round(sum("what" in line.lower().split() for line in first) / len(first), 3),
        "opening with a question word": sum(bool(QUESTION_WORDS.match(line)) for line in first),
    }


def _first_lines(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            text = ast.get_docstring(node)
            if text:
                yield text.partition("\n")[0]


def names() -> dict[str, int]:
    """Return how many module names stand in more than one folder.

    The name of a folder does not count: the command, the routes and the flow of `memory` are all called so.
    """
    doors = {"__init__", *(path.name for path in PACKAGE.rglob("*") if path.is_dir())}
    counts = Counter(path.stem for path in PACKAGE.rglob("*.py") if path.stem not in doors)
    return {"module names used twice": sum(count > 1 for count in counts.values())}


def traced(act: Callable[[], Any]) -> dict[str, int]:
    """Return how many functions and files of this package run during an act, and how deep they nest."""
    functions: set[tuple[str, str, int]] = set()
    depth = deepest = 0

    def watch(frame: FrameType, event: str, _: Any) -> None:
        nonlocal depth, deepest
        code = frame.f_code
        if event not in {"call", "return"} or not code.co_filename.startswith(str(PACKAGE)):
            return
        if code.co_name in NO_FUNCTION:
            return
        depth += 1 if event == "call" else -1
        deepest = max(deepest, depth)
        functions.add((code.co_filename, code.co_name, code.co_firstlineno))

    sys.setprofile(watch)
    try:
        act()
    finally:
        sys.setprofile(None)
    return {"functions": len(functions), "files": len({file for file, _, _ in functions}), "deepest": deepest}


def trips(repository: Path, query: str) -> dict[str, Any]:
    """Return the trips of a warm question, a warm answer and a recorded message, and the modules of a new process."""
    from vademecum import Engine, config

    with Engine.open(str(repository), settings=config.load(repository)) as engine:
        engine.codebase.index()
        engine.memory.record("We always use ruff here.", role="user")
        for _ in range(2):
            engine.codebase.search(query, refresh=False)
            engine.search(query)
        found: dict[str, Any] = {
            "codebase.search, warm": traced(lambda: engine.codebase.search(query, refresh=False)),
            "engine.search, warm": traced(lambda: engine.search(query)),
            "memory.record": traced(lambda: engine.memory.record("Never commit to main without a test.", role="user")),
        }
    done = subprocess.run(
        [sys.executable, "-c", IMPORTED.format(query)], cwd=repository, capture_output=True, text=True, check=True
    )
    ours = [name for name in done.stderr.split() if name.split(".")[0] == "vademecum"]
    return found | {"modules that vade search imports": len(ours)}


def main() -> None:
    """Count, print and write a result."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("repository", type=Path)
    parser.add_argument("--query", default="where is the timeout of a request set")
    parser.add_argument("--into", type=Path, default=report.RESULTS)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        os.environ["VADE_HOME"] = home
        result = sizes() | docstrings() | names() | trips(options.repository.resolve(), options.query)
    print(report.table(["count", "value"], [[name, str(value)] for name, value in result.items()]))
    print("written:", report.write("house", result, options.into).name)


if __name__ == "__main__":
    main()
