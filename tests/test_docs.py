"""The documentation tells the truth: what there is is on a page, and what a page shows runs."""

from __future__ import annotations

import json
import os
import re
import runpy
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import distribution
from pathlib import Path

import click
import pytest

import vademecum
from vademecum import config, errors, plugins
from vademecum.cli import COMMANDS, cli
from vademecum.code.codebase import SCOPES
from vademecum.code.languages import with_grammar
from vademecum.code.search.rank import RANKERS
from vademecum.mcp.gateway import Gateway
from vademecum.mcp.registry import TOOLS
from vademecum.mcp.upstream import Fleet
from vademecum.storage.sqlite import FAMILIES
from vademecum.types import KINDS, ChunkKind, FileKind, Freshness, Verdict

pytestmark = pytest.mark.once

TOP = Path(__file__).parents[1]
DOCS = TOP / "docs"
PAGES = sorted([*TOP.glob("*.md"), *DOCS.rglob("*.md"), *(TOP / "src").rglob("*.md"), *TOP.glob("benchmarks/*.md")])
PROJECT = tomllib.loads((TOP / "pyproject.toml").read_text(encoding="utf-8"))
NEWCOMER_LINES = 30
README_LINES = 80
PROSE_COLUMNS = 120
MAKE_VARIABLES = {
    "MAKEFLAGS",
    "MAKELEVEL",
    "MFLAGS",
    "MAKEOVERRIDES",
    "VENV",
    "VADE",
    "PYTHON",
}  # `make test` hands them on
SHOWN_AS = {
    "csharp": "C#",
    "cpp": "C++",
    "php": "PHP",
    "tsx": "TSX",
    "javascript": "JavaScript",
    "typescript": "TypeScript",
}

BUDGET = '''"""Shares of a token budget."""


class Budget:
    """A number of tokens to spend."""

    def split(self, total: int, ways: int) -> list[int]:
        """Split a token budget into equal shares; what is left over goes to the first."""
        share, rest = divmod(total, ways)
        return [share + rest] + [share] * (ways - 1)
'''
SETTINGS = '''"""Settings."""

import os


def load() -> dict[str, str]:
    """Read the settings from the environment."""
    return {name: value for name, value in os.environ.items() if name.startswith("APP_")}
'''
# What the last question of a page is about, where it asks one.
ASKED_FOR = {"python.md": "src/budget.py", "codebase.md": "src/budget.py"}


def page(name: str) -> str:
    return (DOCS / name).read_text(encoding="utf-8")


def blocks(path: Path, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", path.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


def commands() -> Iterator[tuple[str, click.Command]]:
    """Every command by the words one types for it, subcommands included."""
    context = click.Context(cli)
    for name in COMMANDS:
        command = cli.get_command(context, name)
        assert command is not None
        yield name, command
        if isinstance(command, click.Group):
            yield from ((f"{name} {sub}", each) for sub, each in command.commands.items())


ALL_COMMANDS = dict(commands())


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data directory of our own, and no settings but the defaults."""
    for variable in [name for name in os.environ if name.startswith("VADE_")]:
        monkeypatch.delenv(variable)
    monkeypatch.setenv("VADE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return tmp_path / "home"


@pytest.fixture
def small_repository(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory with one module about budgets and one about settings, and we are in it."""
    root = tmp_path / "small"
    (root / "src").mkdir(parents=True)
    (root / "src" / "budget.py").write_text(BUDGET, encoding="utf-8")
    (root / "src" / "settings.py").write_text(SETTINGS, encoding="utf-8")
    monkeypatch.chdir(root)
    return root


@pytest.fixture
def clone(tmp_path: Path, home: Path) -> Path:
    """This repository's files as a newcomer's clone would hold them."""
    root = tmp_path / "clone"
    if (TOP / ".git").exists():
        listed = _run("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", cwd=TOP).stdout.split("\0")
    else:
        listed = [str(path.relative_to(TOP)) for path in TOP.rglob("*") if "__pycache__" not in path.parts]
    for name in filter(None, listed):
        if (TOP / name).is_file():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(TOP / name, root / name)
    _run("git", "init", "--quiet", cwd=root)
    return root


def _run(*command: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    inherited = {name: value for name, value in os.environ.items() if name not in MAKE_VARIABLES}
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=300, check=False, env=inherited)
    assert done.returncode == 0, f"{shlex.join(command)}: {done.stdout}{done.stderr}"
    return done


@pytest.mark.parametrize("name", ALL_COMMANDS)
def test_every_command_and_option_is_on_its_page(name: str) -> None:
    """A verb has a section of docs/cli.md, and each of its options stands in a row of that section's table."""
    verb = name.partition(" ")[0]
    found = re.search(rf"^## vade {verb}\n(.*?)(?=^## |\Z)", page("cli.md"), re.MULTILINE | re.DOTALL)
    assert found, f"docs/cli.md has no section `## vade {verb}`"
    assert f"vade {name}" in found[0]
    for parameter in ALL_COMMANDS[name].params:
        if isinstance(parameter, click.Option):
            for flag in parameter.opts:
                assert re.search(rf"^\|.*`{re.escape(flag)}[ `]", found[1], re.MULTILINE), f"{name}: {flag}"


def test_no_option_is_on_a_page_without_existing() -> None:
    """What the tables of docs/cli.md offer, the command takes."""
    for verb, section in re.findall(r"^## vade (\w+)\n(.*?)(?=^## |\Z)", page("cli.md"), re.MULTILINE | re.DOTALL):
        known = {
            o
            for name, command in ALL_COMMANDS.items()
            if name.split()[0] == verb
            for p in command.params
            for o in p.opts
        }
        assert set(re.findall(r"^\| `(-[\w-]*)", section, re.MULTILINE)) <= known, verb


def test_the_page_tells_verbs_in_the_order_of_the_help() -> None:
    """One order for both: who has read the one finds their way in the other."""
    assert re.findall(r"^## vade (\w+)$", page("cli.md"), re.MULTILINE) == list(COMMANDS)


@pytest.mark.parametrize("name", ALL_COMMANDS)
def test_what_a_command_says_of_itself_can_be_typed(name: str) -> None:
    """Each `vade …` line of a command's help names a command and options that exist."""
    said = ALL_COMMANDS[name].get_help(click.Context(ALL_COMMANDS[name], info_name=name))
    for line in re.findall(r"^  (vade .*)", said, re.MULTILINE):
        _, verb, *words = shlex.split(line)
        if f"{verb} {words[0] if words else ''}" in ALL_COMMANDS:
            verb = f"{verb} {words.pop(0)}"
        ALL_COMMANDS[verb].make_context(verb, words, resilient_parsing=False)


@pytest.mark.parametrize("name", [name for name, each in ALL_COMMANDS.items() if isinstance(each, click.Group)])
def test_no_command_is_cut_in_a_list(name: str) -> None:
    """On 80 columns the first sentence of a command has room in the list that it stands in."""
    context = click.Context(ALL_COMMANDS[name], info_name=name, terminal_width=80)
    said = ALL_COMMANDS[name].get_help(context)
    assert [line for line in said.partition("Commands:")[2].splitlines() if line.endswith("...")] == []


def test_every_setting_is_on_its_page() -> None:
    """docs/config.md has a row for each setting with its default and its variable."""
    defaults = {key: value for key, value, _ in config.Settings().items()}
    rows = re.findall(r"^\| `(\w+\.\w+)` \| `(.*?)` \| `(\w+)` \|", page("config.md"), re.MULTILINE)
    assert {key: json.loads(default) for key, default, _ in rows} == defaults
    assert all(variable == f"VADE_{key.upper().replace('.', '__')}" for key, _, variable in rows)
    assert all(f"`{name}" in page("config.md") for name in config.RESERVED)


def test_every_mcp_tool_is_on_its_page() -> None:
    """docs/mcp.md has a row for each tool with exactly its arguments."""
    rows = dict(re.findall(r"^\| `(\w+)` \| (.*?) \|", page("mcp.md"), re.MULTILINE))
    assert set(rows) == set(TOOLS)
    assert {name: set(re.findall(r"`(\w+)`", row)) for name, row in rows.items()} == {
        name: set(tool.properties) for name, tool in TOOLS.items()
    }


def test_every_tool_of_the_gateway_is_on_its_page() -> None:
    """docs/gateway.md has a row for each tool with exactly its arguments."""
    rows = dict(re.findall(r"^\| `(\w+)` \| (.*?) \|", page("gateway.md"), re.MULTILINE))
    assert {name: set(re.findall(r"`(\w+)`", row)) for name, row in rows.items()} == {
        name: set(tool.properties) for name, tool in Gateway(Fleet(), "", Path()).front.tools.items()
    }


def test_every_error_is_on_its_page() -> None:
    """docs/errors.md has a row for each class of the hierarchy, and for no other."""
    known = {
        name for name, value in vars(errors).items() if isinstance(value, type) and issubclass(value, errors.Error)
    }
    assert set(re.findall(r"^\| `(\w+)` \|", page("errors.md"), re.MULTILINE)) == known


def test_every_provider_and_extra_is_on_its_page() -> None:
    """docs/providers.md has a row for each provider that is built in, and for each extra."""
    rows = re.findall(r"^\| `(\w+)` \| `([\w-]+)` \|", page("providers.md"), re.MULTILINE)
    assert set(rows) == {(kind, name) for kind, table in plugins.BUILT_IN.items() for name in table}
    assert all(f"`{name}`" in page("ranking.md") for name in plugins.WITHOUT_PROVIDER["reranker"])
    extras = PROJECT["project"]["optional-dependencies"]
    assert all(f"| `{extra}` |" in page("providers.md") for extra in extras)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("codebase.md", [*Verdict, *Freshness, *ChunkKind, *FileKind, *KINDS, *SCOPES]),
        ("ranking.md", RANKERS),
        ("storage.md", FAMILIES),
        ("python.md", vademecum.__all__),
    ],
)
def test_every_term_is_on_its_page(name: str, words: list[str]) -> None:
    """The values that answers, options and tables are made of are explained where one looks for them."""
    assert [str(word) for word in words if f"`{word}`" not in page(name)] == []


def test_the_readme_names_verdicts_freshness_and_tools() -> None:
    """What an answer says of itself is on the first page."""
    readme = (TOP / "README.md").read_text(encoding="utf-8")
    assert [str(word) for word in [*Verdict, *Freshness, *TOOLS] if f"`{word}`" not in readme] == []


def test_every_language_with_a_grammar_is_on_its_page() -> None:
    """docs/codebase.md names each language whose declarations are known, and the README counts them."""
    names = [SHOWN_AS.get(language, language.capitalize()) for language in with_grammar()]
    assert [name for name in names if name not in page("codebase.md")] == []
    assert f"{len(with_grammar())} languages" in (TOP / "README.md").read_text(encoding="utf-8")


def test_every_folder_is_in_the_architecture() -> None:
    """docs/architecture.md says of each folder and each module at the top what is in it, and names no other."""
    package = TOP / "src" / "vademecum"
    parts = {str(path.parent.relative_to(package)) for path in package.rglob("__init__.py")} - {"."}
    parts |= {path.stem for path in package.glob("*.py")} - {"__init__", "__main__"}
    tables = page("architecture.md").partition("## The tree")[2].partition("## Where is")[0]
    named = {name for row in re.findall(r"^\|.*\|$", tables, re.MULTILINE) for name in re.findall(r"`([\w/]+)`", row)}
    assert parts - named == set()
    steps = {name for name in named if "/" in name}
    assert {name for name in steps if not (package / name).is_dir() and not (package / f"{name}.py").is_file()} == set()


def test_every_module_that_a_page_names_is_there() -> None:
    """A path such as `index/bm25.py` is one of the package's, wherever its first folder is."""
    package = TOP / "src" / "vademecum"
    folders = "|".join(sorted(path.name for path in package.iterdir() if path.is_dir()))
    pages = [TOP / "CONTRIBUTING.md", *DOCS.rglob("*.md"), *package.rglob("*.md")]
    named = {name for path in pages for name in re.findall(rf"`((?:{folders})/[\w/]+\.py)`", path.read_text("utf-8"))}
    assert len(named) > 5
    assert sorted(name for name in named if not (package / name).is_file()) == []


@pytest.mark.parametrize("path", [TOP / "README.md", *sorted(DOCS.glob("*.md"))], ids=lambda path: path.name)
def test_prose_is_wrapped(path: Path) -> None:
    """No line of a page is wider than 120 characters, tables and code aside."""
    prose = re.sub(r"^```.*?^```", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    wide = [line for line in prose.splitlines() if len(line) > PROSE_COLUMNS and not line.startswith(("|", "    "))]
    assert wide == []


def test_links_lead_somewhere() -> None:
    """Every relative link of every page names a file or folder that exists."""
    links = [
        (path, target) for path in PAGES for target in re.findall(r"\]\(([^)#\s]+)", path.read_text(encoding="utf-8"))
    ]
    broken = [f"{p.relative_to(TOP)}: {t}" for p, t in links if "://" not in t and not (p.parent / t).exists()]
    assert broken == []


def test_every_decision_is_short_and_on_the_map() -> None:
    """A decision record is one page, and docs/index.md links it."""
    for path in sorted((DOCS / "decisions").glob("*.md")):
        assert f"](decisions/{path.name})" in page("index.md")
        assert len(path.read_text(encoding="utf-8").splitlines()) <= 50, path.name


@pytest.mark.parametrize("path", [path for path in PAGES if blocks(path, "sh")], ids=lambda path: path.name)
def test_shell_lines_are_understood(path: Path) -> None:
    """Each `vade …` line of a page names a command and options that exist."""
    for line in "\n".join(blocks(path, "sh")).splitlines():
        words = shlex.split(line, comments=True)
        if words[:1] == ["vade"]:
            ALL_COMMANDS[words[1]].make_context(words[1], words[2:], resilient_parsing=False)
        if words[:1] == ["make"]:
            assert re.search(rf"^{words[1]}:", (TOP / "Makefile").read_text(encoding="utf-8"), re.MULTILINE), line


@pytest.mark.parametrize("path", [path for path in PAGES if blocks(path, "python")], ids=lambda path: path.name)
def test_python_blocks_run(path: Path, small_repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The Python of a page runs from top to bottom, and finds what it asks for."""
    namespace: dict[str, object] = {"__name__": "page"}
    for block in blocks(path, "python"):
        exec(compile(block, str(path), "exec"), namespace)
    if path.name in ASKED_FOR:
        answer = namespace["answer"]
        assert isinstance(answer, vademecum.Answer)
        assert answer.evidence[0].path == ASKED_FOR[path.name]
    if path.name == "python.md":
        assert "src/budget.py:4-10 resolved fresh" in capsys.readouterr().out


def newcomer() -> list[str]:
    """The lines of README that a newcomer reads first."""
    readme = (TOP / "README.md").read_text(encoding="utf-8")
    found = re.search(r"^## Try it\n.*?(?=^## )", readme, re.MULTILINE | re.DOTALL)
    assert found
    return found[0].splitlines()


def test_what_a_newcomer_reads_is_short() -> None:
    """Thirty lines at most, and two commands."""
    assert len(newcomer()) <= NEWCOMER_LINES
    (commands,) = blocks(TOP / "README.md", "sh")
    assert len(commands.splitlines()) == 2


def test_names_that_a_newcomer_installs_are_ours() -> None:
    """`pipx install` names our distribution, and `uvx` a script that it brings."""
    text = "\n".join(newcomer())
    assert set(re.findall(r"pipx install\s+([\w-]+)", text)) == {PROJECT["project"]["name"]}
    scripts = {entry.name for entry in distribution("vademecum").entry_points if entry.group == "console_scripts"}
    assert {"vade", *re.findall(r"uvx (\w+)", (TOP / "README.md").read_text(encoding="utf-8"))} <= scripts


def test_the_answer_that_the_readme_shows_is_one_of_the_tutorial() -> None:
    """Another test runs the tutorial's lines, so the README shows what was answered."""
    (shown,) = blocks(TOP / "README.md", "console")
    assert shown in page("tutorial.md")


def test_the_readme_is_short_and_the_site_knows_every_page() -> None:
    """The README is read on one or two screens; each page has a place in the navigation of the site."""
    assert len((TOP / "README.md").read_text(encoding="utf-8").splitlines()) <= README_LINES
    sections = runpy.run_path(str(TOP / "website" / "build.py"))["SECTIONS"]
    assert {name for names in sections.values() for name in names} == {path.stem for path in DOCS.glob("*.md")} - {
        "index"
    }


def test_the_figures_of_the_readme_are_those_of_the_results() -> None:
    """Each row of its table says what the newest result of its kind says, rounded."""
    latest = runpy.run_path(str(TOP / "benchmarks" / "compare.py"))["latest"]
    answers = latest("answers-report")["commits, whole text"]
    lines = {arm: f"{means['lines@1000']:.0%}".replace("%", " %") for arm, means in answers["means"].items()}
    first = {
        arm: f"{row['file_hit1']:.0%}".replace("%", " %") for arm, row in latest("quality-files")["overall"].items()
    }
    cold, edited = (latest("speed")["medians"][step] for step in ("index gin", "reindex 10k files after an edit"))
    told = latest("memory-told")["beam"]["held"]
    lite, chosen = latest("lite")["whole text"]["means"], latest("contextbench")
    ours, bm25 = (
        "; ".join(f"{lite[peer][f'{unit}_acc10']:.0%}".replace("%", " %") for unit in ("file", "function"))
        for peer in ("vademecum-history", "bm25-windows")
    )
    shown = {
        system: "; ".join(
            f"{chosen['means'][f'{system} 8000'][f'lines: {share}']:.0%}".replace("%", " %")
            for share in ("recall", "precision")
        )
        for system in ("context", "bm25-windows", "semble")
    }
    rows = [
        f"{lite['bm25-windows']['issues']} issues of SWE-bench Lite | {ours} | BM25 {bm25} |",
        (
            f"{chosen['tasks']} issues of ContextBench | {shown['context']} | BM25 {shown['bm25-windows']}, "
            f"semble without its model {shown['semble']} |"
        ),
        (
            f"{answers['questions']} real fixes that one answer of 1,000 tokens holds | {lines['search']} | semble without its model "
            f"{lines['semble']}, ripgrep {lines['ripgrep']} |"
        ),
        f"| {first['vademecum']} | semble without its model {first['semble']}, ripgrep {first['ripgrep-keywords']} |",
        (
            f"| {cold['vademecum']['wall_s']:.2f} s; {edited['vademecum']['wall_s']:.2f} s "
            f"| semble {cold['semble+vectors']['wall_s']:.2f} s; {edited['semble+vectors']['wall_s']:.1f} s |"
        ),
        f"evidence told within {round(told['tokens']['context'], -1)} tokens | {told['evidence_told']['context']:.0%}".replace(
            "%", " %"
        ),
    ]
    readme = (TOP / "README.md").read_text(encoding="utf-8")
    assert [row for row in rows if row not in readme] == []


def test_the_least_precision_of_the_readme_is_that_of_the_graphs_results() -> None:
    """Of the runs that docs/graph.md names for its table, the later one counts where both judge a repository."""
    named = re.search(r"^### Against compilers\n\nResults, the latest last: ([^.]*)\.", page("graph.md"), re.MULTILINE)
    assert named
    judged: dict[tuple[str, str], float] = {}
    for name in re.findall(r"`([\w-]+)`", named[1]):
        run = json.loads((TOP / "benchmarks" / "results" / f"{name}.json").read_text(encoding="utf-8"))
        for kinds in (run["held_out"], run["tuned_on"]):
            for kind, rows in kinds.items():
                judged |= {(kind, repository): row["trusted_precision"] for repository, row in rows.items()}
    least = int(100 * min(judged.values()))  # never rounded up
    assert f"confirms, ten languages | {least} to 100 % |" in (TOP / "README.md").read_text(encoding="utf-8")


def test_the_recall_of_the_readme_is_that_of_the_graphs_table() -> None:
    """The mean of the repositories whose errors were not looked at."""
    rows = re.findall(r"^\| [^|]+ \| ([^|]+) \| \d\.\d+ \| (\d\.\d+) \| [^|]*\|$", page("graph.md"), re.MULTILINE)
    found = [float(recall) for name, recall in rows if "looked at" not in name]
    said = f"mean of {len(found)} repositories whose errors nobody looked at | {sum(found) / len(found):.0%} | |"
    assert said.replace("%", " %") in (TOP / "README.md").read_text(encoding="utf-8")


@pytest.mark.slow
def test_the_first_python_runs_as_a_script(clone: Path) -> None:
    """The first Python that we show, saved as a file with no main guard, indexes with all its processes and ends."""
    script = clone / "three_lines.py"
    script.write_text(blocks(DOCS / "python.md", "python")[0] + "\nprint(bool(answer))\n", encoding="utf-8")
    assert _run(sys.executable, script.name, cwd=clone).stdout == "True\n"


@pytest.mark.slow
def test_what_a_newcomer_types_works(clone: Path) -> None:
    """In a fresh clone every `vade` line answers, and the demo shows places, lines and verdicts for three questions."""
    vade = Path(sys.executable).with_name("vade")
    for line in "\n".join(newcomer()).splitlines():
        words = shlex.split(line, comments=True) if line.startswith(("vade", "make")) else [""]
        if words[0] == "vade":
            said = _run(str(vade), *words[1:], cwd=clone).stdout
            assert re.search(r"^(### )?[\w/.-]+:\d+-\d+", said, re.MULTILINE), line
        if words == ["make", "demo"]:
            # Installing is `make install`'s own business: here the commands we run under are used.
            said = _run("make", "demo", f"VADE={vade}", "--assume-old=.venv/.installed", cwd=clone).stdout
            assert len(re.findall(r"^(?:resolved|likely) [01]\.\d\d \| fresh", said, re.MULTILINE)) == 3, said
            assert len(re.findall(r"^[\w/.-]+:\d+-\d+", said, re.MULTILINE)) >= 3, said


def test_the_comparison_is_what_the_results_say() -> None:
    """docs/compare.md and its pictures are what `benchmarks/compare.py` makes of the results, to the last character."""
    made = runpy.run_path(str(TOP / "benchmarks" / "compare.py"))["made"]()
    assert {"compare.md"} < set(made)
    assert {name: (DOCS / name).read_text(encoding="utf-8") for name in made} == made


def test_the_pictures_show_what_the_pages_say() -> None:
    """Every picture of docs is made by a script, and is what it makes now."""
    made = runpy.run_path(str(TOP / "website" / "pictures.py"))["made"]()
    assert all("1. Find" in text or "1. Refresh" in text for text in made.values())
    made |= runpy.run_path(str(TOP / "benchmarks" / "compare.py"))["made"]()
    shown = {path.relative_to(DOCS).as_posix(): path.read_text(encoding="utf-8") for path in DOCS.rglob("*.svg")}
    assert shown == {name: text for name, text in made.items() if name.endswith(".svg")}
