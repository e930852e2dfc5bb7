"""What is published: a source distribution that builds, a wheel that is whole, and a command that works from anywhere."""

from __future__ import annotations

import email
import hashlib
import os
import re
import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

from vademecum import __version__
from vademecum.code.languages import every_language

TOP = Path(__file__).parents[1]
PACKAGE = TOP / "src" / "vademecum"

pytestmark = pytest.mark.slow


def run(*command: str | Path, cwd: Path, env: dict[str, str] | None = None) -> str:
    done = subprocess.run(
        [str(word) for word in command], cwd=cwd, env=env, capture_output=True, text=True, timeout=570, check=False
    )
    assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with the source distribution, and with the wheel that was built from it and nothing else."""
    out = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", out, TOP, cwd=out)
    return out


@pytest.fixture(scope="module")
def wheel(built: Path) -> Path:
    """The wheel."""
    return next(built.glob("*.whl"))


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The scripts of a fresh environment with the wheel and what it depends on, and nothing else."""
    place = tmp_path_factory.mktemp("environment")
    venv.create(place, with_pip=True)
    scripts = place / ("Scripts" if sys.platform == "win32" else "bin")
    run(scripts / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", wheel, cwd=place)
    return scripts


def test_the_wheel_pins_the_model_and_every_grammar(wheel: Path) -> None:
    """The model is the very file of the source, and each grammar's wheel has a least version and a bound."""
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        metadata = next(name for name in names if name.endswith(".dist-info/METADATA"))
        said = email.message_from_bytes(archive.read(metadata))
        for path in (PACKAGE / "providers" / "embedders" / "model").iterdir():
            content = archive.read(f"vademecum/{path.relative_to(PACKAGE).as_posix()}")
            assert hashlib.sha256(content).digest() == hashlib.sha256(path.read_bytes()).digest(), path.name
    assert said["Version"] == __version__
    required = {re.split(r"[<>=! ;]", each)[0]: each for each in said.get_all("Requires-Dist", [])}
    grammars = {language.module.replace("_", "-") for language in every_language() if language.module}
    assert grammars
    for name in ("tree-sitter", *grammars):
        assert re.search(r">=\d", required[name]), required[name]
        assert re.search(r"<\d", required[name]), required[name]


def test_the_wheel_holds_the_documentation(wheel: Path) -> None:
    """Every page and decision is in it, for `vade help`."""
    names = set(zipfile.ZipFile(wheel).namelist())
    pages = {f"vademecum/docs/{path.relative_to(TOP / 'docs').as_posix()}" for path in (TOP / "docs").rglob("*.md")}
    assert {name for name in names if "/docs/" in name} == pages, "the pages, and none of their pictures"
    assert pages - names == set()


def test_the_source_distribution_holds_what_is_needed_to_build_and_test(built: Path) -> None:
    """Sources, tests, documentation and licence; no bytecode, no build products."""
    with tarfile.open(next(built.glob("*.tar.gz"))) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"pyproject.toml", "LICENSE", "NOTICE", "README.md", "docs/index.md", "tests/test_packaging.py"} <= names
    assert not [name for name in names if "__pycache__" in name or name.startswith((".venv", "build/"))]


def test_the_command_works_from_elsewhere(installed: Path, tmp_path: Path) -> None:
    """Installed in a fresh environment and run in a directory of its own, it finds code, shows its pages, lists agents."""
    repository = tmp_path / "repository"
    repository.mkdir()
    (repository / "retry.py").write_text(
        'def retry_with_backoff(call):\n    """Call again after a pause that doubles."""\n    return call()\n'
    )
    env = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VADE_", "XDG_"))}
    env |= {"HOME": str(tmp_path / "home"), "VADE_HOME": str(tmp_path / "data")}
    vade = installed / "vade"
    assert run(vade, "--version", cwd=repository, env=env) == f"vade {__version__}\n"
    assert "retry.py:1-3" in run(vade, "search", "try again with a growing pause", cwd=repository, env=env)
    assert run(installed / "vademecum", "help", "memory", cwd=repository, env=env).startswith("# Memory")
    assert "Claude Code" in run(vade, "install", "--list", cwd=repository, env=env)
    said = run(vade, "install", "claude", "--dry-run", cwd=repository, env=env)
    assert f'"command": "{vade}"' in said
