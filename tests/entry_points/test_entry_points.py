"""A third party adds a provider of any kind by installing a distribution: pip installs it here, and a new process uses it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from vademecum import plugins

HERE = Path(__file__).parent
DOCS = Path(__file__).parents[2] / "docs"
SOURCE = Path(plugins.__file__).parents[1]

CHECKS = """
import sys, tempfile
from vademecum import testing
from vademecum.plugins import load

limits = {"name": "sums", "timeout_s": 1.0, "answer_bytes": 1000}
CHECKS = {
    "backlog": lambda: testing.check_backlog(load("backlog", "acme-tracker", project="ZOO")),
    "counter": lambda: testing.check_counter(load("counter", "acme")),
    "documents": lambda: testing.check_document_source(load("documents", "acme-wiki")),
    "embedder": lambda: testing.check_embedder(load("embedder", "acme")),
    "enricher": lambda: testing.check_enricher(load("enricher", "acme")),
    "extractor": lambda: testing.check_extractor(load("extractor", "acme")),
    "reranker": lambda: testing.check_reranker(load("reranker", "acme")),
    "server": lambda: testing.check_tool_server(load("server", "acme", **limits)),
    "vectors": lambda: testing.check_vector_index(load("vectors", "acme", collection="c", model="m", dim=8)),
    "store": lambda: testing.check_store(load("store", "acme", path=tempfile.mkdtemp() + "/x.db")),
}
for kind in sys.argv[1:]:
    CHECKS[kind]()
print(load.__module__, sorted(CHECKS))
"""


def install(project: Path, target: Path) -> Path:
    """Have pip build and install a distribution, without a network."""
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation", "--no-index"]
    options = ["--disable-pip-version-check", "--no-compile", "--target", str(target), str(project)]
    done = subprocess.run([*command, *options], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return target


def copied(project: Path, into: Path) -> Path:
    """A copy of a project, so that nothing is built beside the original."""
    into.mkdir(parents=True)
    for file in project.iterdir():
        if file.is_file():
            (into / file.name).write_bytes(file.read_bytes())
    return into


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the distribution with one provider of every kind is installed."""
    top = tmp_path_factory.mktemp("acme")
    return install(copied(HERE / "acme", top / "project"), top / "site")


def run(site: Path, *arguments: str, cwd: Path | None = None, code: int = 0) -> str:
    """Run Python with what is installed there."""
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join([str(SOURCE), str(site)]), "VADE_DEBUG": "1"}
    done = subprocess.run(
        [sys.executable, *arguments], cwd=cwd, env=environ, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout


# a searcher is the other half of a shared store, and no seam for others
def test_a_provider_of_every_kind_is_found_and_keeps_its_promises(site: Path) -> None:
    run(site, "-c", CHECKS, *sorted(plugins.BUILT_IN.keys() - {"searcher"}))


@pytest.mark.slow
def test_everything_runs_on_what_a_third_party_brings(site: Path, repo, tmp_path: Path) -> None:
    """Indexing, searching, enriching, a context, a sync, a server of tools: each by a provider named in the user's own file."""
    place = repo()
    place.write("src/zoo.py", "def feed():\n    '''Feed the zebra, ZOO-2.'''\n    return 1\n")
    place.commit("ZOO-3 Feed them")
    user = Path(os.environ["XDG_CONFIG_HOME"]) / "vademecum"
    user.mkdir(parents=True)
    (user / "config.toml").write_text(
        '[search]\nembedder = "acme"\nreranker = "acme"\n[enrich]\nprovider = "acme"\n[context]\ncounter = "acme"\n'
        '[memory]\nextractor = "acme"\n[sources.zoo]\nprovider = "acme-tracker"\nproject = "ZOO"\n[sources.wiki]\nprovider = "acme-wiki"\n'
    )

    def vade(*arguments: str) -> str:
        return run(site, "-m", "vademecum", *arguments, cwd=place.path)

    assert "acme-letters-1" in vade("doctor")
    reports = json.loads(vade("sync", "--all", "--json"))
    assert [(report["source"], report["provider"], report["added"]) for report in reports] == [
        ("zoo", "acme-tracker", 3),
        ("wiki", "acme-wiki", 3),
    ]
    answer = json.loads(vade("search", "zebra", "--source", "zoo", "--json"))
    assert {item["metadata"]["key"] for item in answer["evidence"]} == {"ZOO-1", "ZOO-2", "ZOO-3"}
    assert "ZOO-2" in vade("symbol", "feed")
    assert re.search(r"(\d+) of \1 chunks described, \1 now, by acme", vade("enrich"))
    answer = json.loads(vade("search", "split the budget", "--json"))
    scores = [item["signals"]["rerank"] for item in answer["evidence"]]
    assert scores == sorted(scores, reverse=True)
    assert json.loads(vade("context", "split the budget", "--budget", "900", "--json"))["counter"] == "acme-words-1"
    vade("memory", "record", "Always feed the zebra first")
    vade("memory", "learn")
    servers = tmp_path / "servers.json"
    servers.write_text(json.dumps({"mcpServers": {"sums": {"provider": "acme", "options": {"unit": " kg"}}}}))
    vade("tools", "register", str(servers), "--servers")
    assert "sums/add" in vade("tools", "search", "add two numbers")


def test_a_provider_that_is_not_installed_is_named(repo) -> None:
    place = repo()
    done = run(Path("/nonexistent"), "-m", "vademecum", "search", "x", "--reranker", "acme", cwd=place.path, code=2)
    assert done == ""


def example(language: str) -> str:
    """The worked example of docs/providers.md: its block in a language."""
    section = re.search(
        r"^## A backlog of your own\n(.*?)(?=^## |\Z)", (DOCS / "providers.md").read_text(), re.MULTILINE | re.DOTALL
    )
    assert section
    [block] = re.findall(rf"^```{language}\n(.*?)^```", section[1], re.MULTILINE | re.DOTALL)
    return block


def test_the_worked_example_of_the_documentation_works(repo, tmp_path: Path) -> None:
    """What the page shows is written to files as it says, installed by pip, set in the user's file, and found by a search."""
    project = tmp_path / "project"
    project.mkdir()
    (project / "pyproject.toml").write_text(example("toml"))
    (project / "todo_backlog.py").write_text(example("python"))
    site = install(project, tmp_path / "site")
    todo = tmp_path / "todo.txt"
    todo.write_text("TODO-1 Write the manual\nTODO-2 Feed the zebra\n")
    place = repo()
    user = Path(os.environ["XDG_CONFIG_HOME"]) / "vademecum"
    user.mkdir(parents=True)
    (user / "config.toml").write_text(f'[sources.todo]\nprovider = "todo"\nfile = "{todo}"\n')
    assert "2 new" in run(site, "-m", "vademecum", "sync", "todo", cwd=place.path)
    found = run(site, "-m", "vademecum", "search", "zebra", "--source", "todo", cwd=place.path)
    assert "todo:TODO-2.md" in found
    check = f"from vademecum.testing import check_backlog; import todo_backlog; check_backlog(todo_backlog.Todo({str(todo)!r}))"
    run(site, "-c", check)
