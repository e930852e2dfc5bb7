"""The shape of the code: sizes, names, what an import costs, what a wheel holds, and no failure that goes unseen."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
import tokenize
import zipfile
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest

import vademecum

pytestmark = pytest.mark.once

TOP = Path(__file__).parents[1]
PACKAGE = TOP / "src" / "vademecum"
SOURCES = sorted(PACKAGE.rglob("*.py"))
MOST_LINES = 600  # of a file: twice what the packages we took as examples have at their 90th percentile
MOST_FUNCTION_LINES = 50  # without its docstring
MOST_PUBLIC_NAMES = 20
MOST_WHEEL_BYTES = 15_000_000
FORBIDDEN_NAMES = ("utils", "util", "helpers", "helper", "common", "misc", "manager", "service", "base")

# What would make a start slow or is not a dependency. The engine computes with numpy and reads with sqlite3; no more.
HEAVY = {
    *("torch", "scipy", "pandas", "sklearn", "transformers", "onnxruntime", "tokenizers", "radon", "cognitive_complexity"),
    *("mcp", "pydantic", "anyio", "httpx", "fastapi", "sqlalchemy", "watchfiles", "multiprocessing", "asyncio", "email"),
    *("yaml", "importlib.metadata", "tree_sitter_python", "tree_sitter_javascript", "tree_sitter_swift"),
}  # fmt: skip
HEAVY_FOR_A_NAME = HEAVY | {"numpy", "sqlite3", "click", "tree_sitter", "pathspec", "vademecum.engine", "vademecum.types"}  # fmt: skip


# What the project is made of. Anything else that git would take, as data laid beside it for a measurement, is not of it.
OF_THE_PROJECT = {
    *(".agents", ".ci", ".claude-plugin", ".dockerignore", ".gitignore", "AGENTS.md", "CHANGELOG.md", "CONTRIBUTING.md", "Dockerfile"),
    *("LICENSE", "Makefile", "NOTICE", "README.md", "SECURITY.md", "benchmarks", "compose.yaml", "deploy", "docs", "editors"),
    *("plugins", "pyproject.toml", "src", "tests", "training", "website", ".devcontainer", ".github", ".pre-commit-config.yaml"),
    *(".pre-commit-hooks.yaml", "llms-install.md", "release", "server.json"),
}  # fmt: skip


@cache
def trees() -> list[tuple[Path, ast.Module]]:
    return [(path.relative_to(PACKAGE), ast.parse(path.read_text(encoding="utf-8"))) for path in SOURCES]


def functions(tree: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


def test_files_are_short() -> None:
    """A file fits into one sitting."""
    counts = {str(path.relative_to(PACKAGE)): len(path.read_text(encoding="utf-8").splitlines()) for path in SOURCES}
    assert {name: count for name, count in counts.items() if count > MOST_LINES} == {}


@pytest.mark.skipif(not (TOP / ".git").exists(), reason="an archive of the project has no list of what is committed")
def test_only_the_project_is_committed() -> None:
    """No data that is measured with, no link that leads out of the project, and no archive."""
    listed = subprocess.run(["git", "ls-files", "-s", "-z"], cwd=TOP, capture_output=True, text=True, check=True).stdout
    entries = [entry.partition("\t")[::2] for entry in listed.split("\0") if entry]
    assert {path.split("/")[0] for _, path in entries} <= OF_THE_PROJECT
    assert [path for mode, path in entries if mode.startswith("120000")] == []
    assert [path for _, path in entries if path.endswith((".gz", ".zip", ".jsonl", ".parquet", ".db"))] == []


def test_functions_are_short() -> None:
    """A function fits onto one screen; its docstring does not count."""
    long = {
        f"{path}:{function.name}": lines
        for path, tree in trees()
        for function in functions(tree)
        if (lines := _lines_of_code(function)) > MOST_FUNCTION_LINES
    }
    assert long == {}


def _lines_of_code(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    assert function.end_lineno is not None
    first = function.body[0]
    documented = ast.get_docstring(function) is not None
    return function.end_lineno - function.lineno + 1 - (first.end_lineno - first.lineno + 1 if documented else 0)


def test_names_say_something() -> None:
    """No module, class or function is named after nothing in particular."""
    modules = [path.stem for path in SOURCES] + [path.parent.name for path in SOURCES]
    assert [name for name in modules if name in FORBIDDEN_NAMES] == []
    defined = [node.name for _, tree in trees() for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    assert [name for name in defined if re.search(r"(?:Manager|Service|Helper|Util)s?$", name)] == []


def test_public_names_are_documented() -> None:
    """Every module, and every public class, function and method, says what it is."""
    silent: list[str] = []
    for path, tree in trees():
        silent += [str(path)] if ast.get_docstring(tree) is None else []
        silent += [f"{path}:{name}" for name in _undocumented(tree)]
    assert silent == []


def _undocumented(scope: ast.Module | ast.ClassDef, prefix: str = "") -> Iterator[str]:
    for node in scope.body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and not node.name.startswith("_"):
            if ast.get_docstring(node) is None:
                yield prefix + node.name
            if isinstance(node, ast.ClassDef):
                yield from _undocumented(node, f"{prefix}{node.name}.")


def test_nothing_is_left_unfinished() -> None:
    """No marker of unfinished work is in the package: it belongs where work is tracked."""
    marker = re.compile(r"\b(?:TODO|FIXME|XXX|HACK)\b")
    texts = {path: path.read_text("utf-8") for path in SOURCES}
    likely = [path for path, text in texts.items() if marker.search(text)]  # to cut all into tokens takes seconds
    found = [f"{path}:{said.start[0]}" for path in likely for said in _words(path) if marker.search(said.string)]
    assert found + [str(path) for path, text in texts.items() if "raise NotImplementedError" in text] == []


def _words(path: Path) -> Iterator[tokenize.TokenInfo]:
    """The comments and strings of a file: what is said in it, and no names (a kind of fact is called so)."""
    with path.open("rb") as file:
        tokens = list(tokenize.tokenize(file.readline))
    return (token for token in tokens if token.type not in {tokenize.NAME, tokenize.OP})


def test_only_the_edges_catch_everything() -> None:
    """A blind `except` stands at the command's edge, the hook's and the server's, and nowhere else."""
    blind = [
        str(path)
        for path, tree in trees()
        if path.name != "testing.py"  # a check of a provider looks at whatever it raises
        for node in ast.walk(tree)
        if isinstance(node, ast.ExceptHandler) and (node.type is None or ast.unparse(node.type) == "Exception")
    ]
    assert sorted(blind) == ["cli/__init__.py", "hooks/hook.py", "mcp/loop.py"]


def test_no_python_that_is_started_looks_into_the_working_directory() -> None:
    """Which may be a repository with a module that is called as one of ours: `-P` leaves it out."""
    started = re.compile(r'sys\.executable, "(?P<listed>-\w)|\{python\} (?P<said>-\w)')
    found = [(path.name, match) for path in SOURCES for match in started.finditer(path.read_text(encoding="utf-8"))]
    assert found
    assert [name for name, match in found if "-P" not in match.groups()] == []


def test_public_names_are_what_is_there() -> None:
    """`__all__` is short, complete, and the same for a reader, a type checker and `dir`."""
    tree = ast.parse((PACKAGE / "__init__.py").read_text(encoding="utf-8"))
    typed = {alias.name for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) for alias in node.names}
    assert set(vademecum.__all__) == typed - {"annotations", "TYPE_CHECKING", "Any"} | {"__version__"}
    assert sorted(vademecum.__all__, key=str.lower) == sorted(set(vademecum.__all__), key=str.lower)
    assert len(vademecum.__all__) <= MOST_PUBLIC_NAMES
    assert set(vademecum.__all__) <= set(dir(vademecum))
    for name in vademecum.__all__:
        value = getattr(vademecum, name)
        assert name == "__version__" or value is getattr(import_module(value.__module__), name)


def test_a_name_that_is_not_there_is_said_not_to_be() -> None:
    """A misspelled name is an AttributeError, as for any module."""
    with pytest.raises(AttributeError, match="Enigne"):
        _ = vademecum.Enigne


@pytest.mark.parametrize(
    ("module", "heavy"),
    [
        ("vademecum", HEAVY_FOR_A_NAME),
        ("vademecum.cli", HEAVY_FOR_A_NAME - {"click"}),
        ("vademecum.engine", HEAVY),
        ("vademecum.hooks.hook", HEAVY_FOR_A_NAME | {"hashlib", "shlex", "shutil"}),
        ("vademecum.mcp.loop", HEAVY_FOR_A_NAME - {"click"} | {"vademecum.answers.render", "numpy"}),
        ("vademecum.wiring.stores", HEAVY_FOR_A_NAME | {"shutil"}),
    ],
)
def test_an_import_is_light(module: str, heavy: set[str]) -> None:
    """Importing a module loads nothing that only some calls need."""
    code = f"import sys, {module}; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60).stdout
    # What the interpreter loads by itself (an editable install's hook, say) is not ours.
    bare = subprocess.run(
        [sys.executable, "-c", "import sys; print(*sys.modules)"], capture_output=True, text=True, check=True
    )
    assert heavy & (set(loaded.split()) - set(bare.stdout.split())) == set()


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel as it would be published."""
    out = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(out), str(TOP)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    return next(out.glob("*.whl"))


@pytest.mark.slow
def test_the_wheel_holds_what_the_package_needs(wheel: Path) -> None:
    """Every module and data file is in the wheel, with the licence and what the model owes, and it stays small."""
    names = set(zipfile.ZipFile(wheel).namelist())
    wanted = {f"vademecum/{path.relative_to(PACKAGE)}" for path in PACKAGE.rglob("*") if _is_ours(path)}
    assert wanted - names == set()
    for part in (
        r"model/static-\d+\.safetensors",
        r"model/CARD\.md",
        r"model/training_repositories\.json",
        r"model/training_repositories-2\.json",
        r"code/search/ranker-1\.json",
        r"code/search/ranker-1\.md",
        r"/py\.typed",
    ):
        assert any(re.search(part, name) for name in wanted), part
    assert {path.name for path in (TOP / "LICENSE", TOP / "NOTICE")} <= {name.rpartition("/")[2] for name in names}
    assert not [name for name in names if not name.startswith(("vademecum/", "vademecum-"))]
    assert wheel.name.endswith("-py3-none-any.whl")  # one for every machine: nothing is compiled
    assert wheel.stat().st_size <= MOST_WHEEL_BYTES


def _is_ours(path: Path) -> bool:
    return path.is_file() and "__pycache__" not in path.parts and not path.name.startswith(".")


@pytest.mark.slow
def test_no_result_is_dropped(tmp_path: Path) -> None:
    """A call whose Result nobody looks at would lose a failure: pyright sees each one, and a planted one too."""
    planted = tmp_path / "planted.py"
    planted.write_text(
        "from vademecum.protocols import Store\n\ndef lose(store: Store) -> None:\n    store.delete('files', [])\n    print(1)\n"
    )
    settings = {
        "include": [str(PACKAGE), str(planted)],
        "extraPaths": [str(TOP / "src")],
        "pythonVersion": "3.11",
        "typeCheckingMode": "off",
        "reportUnusedCallResult": "warning",
    }
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(settings))
    command = [
        sys.executable,
        "-m",
        "pyright",
        "--outputjson",
        "--pythonpath",
        sys.executable,
        "--project",
        str(tmp_path),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert done.stdout.startswith("{"), done.stdout + done.stderr
    dropped = [
        f"{Path(said['file']).name}:{said['range']['start']['line'] + 1}"
        for said in json.loads(done.stdout)["generalDiagnostics"]
        if re.search(r'is of type "[^"]*\b(?:Result|Ok|Err)\[', said["message"])
    ]
    assert dropped == ["planted.py:4"]
