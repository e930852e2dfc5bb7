"""A release: cut in one step, published by workflows that call what is here, described to each channel in its own form."""

from __future__ import annotations

import hashlib
import io
import json
import re
import runpy
import shlex
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import click
import pytest
import yaml

from vademecum import __version__
from vademecum.cli import cli

pytestmark = pytest.mark.once

TOP = Path(__file__).parents[1]
WORKFLOWS = sorted((TOP / ".github" / "workflows").glob("*.yml"))


def git(top: Path, *words: str) -> str:
    author = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"]
    done = subprocess.run(["git", *author, *words], cwd=top, check=True, capture_output=True, text=True)
    return done.stdout.strip()


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A clone of this repository with one commit."""
    for name in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{name}_NAME", "Ada")
        monkeypatch.setenv(f"GIT_{name}_EMAIL", "ada@example.org")
    top = tmp_path / "clone"
    ignored = shutil.ignore_patterns("__pycache__", "node_modules", "dist", "out")
    for name in ("src", "plugins", "release", "editors", ".claude-plugin", ".agents"):
        shutil.copytree(TOP / name, top / name, ignore=ignored)
    for name in ("CHANGELOG.md", "server.json", ".gitignore"):
        shutil.copy(TOP / name, top / name)
    git(top, "init", "--quiet")
    git(top, "add", "--all")
    git(top, "commit", "--quiet", "--message", "as it is")
    return top


def cut(top: Path, version: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(top / "release" / "cut.py"), version]
    return subprocess.run(command, cwd=top, capture_output=True, text=True, check=False)


def test_a_release_is_cut_in_one_step(clone: Path) -> None:
    """Every file states the version, the changelog its day, and the tag is on a commit that the check takes for it."""
    done = cut(clone, "9.8.7")
    assert done.returncode == 0, done.stderr
    assert git(clone, "status", "--porcelain") == ""
    assert git(clone, "describe", "--exact-match") == "v9.8.7"
    text = (clone / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.search(r"^## \[Unreleased\]\n\n## \[9\.8\.7\] - \d{4}-\d\d-\d\d\n\n\S", text, re.MULTILINE)
    versions = runpy.run_path(str(clone / "release" / "check.py"))["versions"]
    assert versions("v9.8.7") == "9.8.7"
    with pytest.raises(AssertionError, match=r"the tag is v1\.0\.0"):
        versions("v1.0.0")


def test_a_release_that_cannot_be_is_refused(clone: Path) -> None:
    """A word that is no version everywhere, a version that is there, and a tree with changes: each is said, and nothing is written."""
    before = git(clone, "rev-parse", "HEAD")
    for word in ("next", "9.8.7rc1"):
        assert f"{word!r} is no version" in cut(clone, word).stderr
    git(clone, "tag", "v9.8.7")
    assert "v9.8.7 is there already" in cut(clone, "9.8.7").stderr
    (clone / "CHANGELOG.md").write_text("# Changelog\n", encoding="utf-8")
    assert "commit them first" in cut(clone, "9.8.8").stderr
    git(clone, "commit", "--quiet", "--all", "--message", "nothing new")
    assert "no heading '## [Unreleased]'" in cut(clone, "9.8.8").stderr
    assert git(clone, "rev-parse", "HEAD~1") == before


def test_other_channels_install_the_very_files(tmp_path: Path) -> None:
    """Formula and manifests name address and digest of what is released; the notes are the changelog's."""
    wheel = tmp_path / f"vademecum-{__version__}-py3-none-any.whl"
    wheel.write_bytes(b"a wheel")
    files = runpy.run_path(str(TOP / "release" / "channels.py"))["files"]
    assert set(files(tmp_path)) == {"vademecum.rb", "notes.md"}, "no archive for Windows, no manifest for it"
    archive = tmp_path / f"vademecum-{__version__}-windows-x64.zip"
    archive.write_bytes(b"an archive")
    made = files(tmp_path)
    address = f"https://github.com/vademecum/vademecum/releases/download/v{__version__}"
    formula = made["vademecum.rb"]
    assert f'url "{address}/{wheel.name}"' in formula
    assert f'sha256 "{hashlib.sha256(b"a wheel").hexdigest()}"' in formula
    scoop = json.loads(made["vademecum.json"])
    digest = hashlib.sha256(b"an archive").hexdigest()
    # version, homepage and license are what Scoop's schema requires; `hash` without a prefix is a SHA-256.
    assert {"version", "homepage", "license", "architecture", "bin"} <= set(scoop)
    assert scoop["architecture"] == {"64bit": {"url": f"{address}/{archive.name}", "hash": digest}}
    assert len(scoop["description"]) <= 80, "Homebrew's limit"
    assert made["notes.md"].strip()


# What winget's schemas (version 1.9.0) require of each manifest, and the shapes of the values that we write.
WINGET = {
    "version": {"DefaultLocale": r"[a-zA-Z]{2,3}(-[a-zA-Z]{2})?"},
    "defaultLocale": {
        "PackageLocale": r"[a-zA-Z]{2,3}(-[a-zA-Z]{2})?",
        "Publisher": ".{2,256}",
        "PackageName": ".{2,256}",
        "License": ".{3,512}",
        "ShortDescription": ".{3,256}",
    },
    "installer": {"InstallerType": "zip", "NestedInstallerType": "portable"},
}


def test_winget_takes_the_manifests(tmp_path: Path) -> None:
    """Each manifest has what the catalogue's schema requires; together they name the programs of the archive."""
    (tmp_path / f"vademecum-{__version__}-py3-none-any.whl").write_bytes(b"a wheel")
    (tmp_path / f"vademecum-{__version__}-windows-x64.zip").write_bytes(b"an archive")
    made = runpy.run_path(str(TOP / "release" / "channels.py"))["files"](tmp_path)
    manifests = {
        said["ManifestType"]: said for name, text in made.items() if ".yaml" in name if (said := yaml.safe_load(text))
    }
    assert set(manifests) == set(WINGET)
    for kind, shapes in WINGET.items():
        said = manifests[kind]
        assert (said["PackageIdentifier"], said["PackageVersion"]) == ("vademecum.vademecum", __version__)
        assert said["ManifestVersion"] == "1.9.0"
        for key, shape in shapes.items():
            assert re.fullmatch(shape, said[key]), (kind, key)
    installer = manifests["installer"]
    assert installer["ArchiveBinariesDependOnPath"] is True
    programs = {said["RelativeFilePath"] for said in installer["NestedInstallerFiles"]}
    assert programs == {"bin\\vade.exe", "bin\\vademecum.exe"}
    (place,) = installer["Installers"]
    assert re.fullmatch("[A-F0-9]{64}", place["InstallerSha256"])
    assert place["InstallerUrl"].endswith("-windows-x64.zip")


def a_wheel(folder: Path) -> None:
    """Write a wheel named as ours, of one module and no dependencies."""
    name = "vademecum-9.8.7.dist-info"
    with zipfile.ZipFile(folder / "vademecum-9.8.7-py3-none-any.whl", "w") as archive:
        archive.writestr("vademecum/__init__.py", "")
        archive.writestr(f"{name}/METADATA", "Metadata-Version: 2.1\nName: vademecum\nVersion: 9.8.7\n")
        archive.writestr(
            f"{name}/WHEEL", "Wheel-Version: 1.0\nGenerator: a test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        archive.writestr(f"{name}/RECORD", "")


def test_the_archive_for_windows_brings_its_own_python(tmp_path: Path) -> None:
    """Programs start the Python beside them, which has the package and looks nowhere else; what nothing imports stays out."""
    base = tmp_path / "base"
    for name in (
        "python.exe",
        "Lib/os.py",
        "Lib/test/test_os.py",
        "Lib/site-packages/pip/__init__.py",
        "DLLs/_tkinter.pyd",
    ):
        (base / name).parent.mkdir(parents=True, exist_ok=True)
        (base / name).write_text(name, encoding="utf-8")
    a_wheel(tmp_path)
    path = runpy.run_path(str(TOP / "release" / "windows.py"))["pack"](base, tmp_path)
    assert path == tmp_path / "vademecum-9.8.7-windows-x64.zip"
    with zipfile.ZipFile(path) as archive:
        names = {name for name in archive.namelist() if not name.endswith("/") and "dist-info" not in name}
        paths = "python/python{}{}._pth".format(*sys.version_info)
        beside = {"python/python.exe", "python/Lib/os.py", "python/Lib/site-packages/vademecum/__init__.py", paths}
        assert {name for name in names if "__pycache__" not in name} == beside | {"bin/vade.exe", "bin/vademecum.exe"}
        assert archive.read(paths).decode().split("\n")[:3] == ["Lib", "DLLs", "Lib\\site-packages"]
        program = archive.read("bin/vade.exe")
    assert program.startswith(b"MZ"), "a program for Windows"
    assert b"#!<launcher_dir>\\..\\python\\python.exe\r\nPK" in program
    with zipfile.ZipFile(io.BytesIO(program)) as script:
        assert "from vademecum.__main__ import main" in script.read("__main__.py").decode()


def loaded(path: Path) -> Any:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_a_workflow_calls_what_is_here(path: Path) -> None:
    """Actions are pinned to a commit; rights are given job by job; what `make` is asked for and what is run is here."""
    flow = loaded(path)
    assert flow["permissions"] in ({}, {"contents": "read"})
    makefile = (TOP / "Makefile").read_text(encoding="utf-8")
    for name, job in flow["jobs"].items():
        assert "timeout-minutes" in job, name
        needs = job.get("needs", [])
        assert set([needs] if isinstance(needs, str) else needs) <= set(flow["jobs"])
        for step in job["steps"]:
            assert re.fullmatch(r"[\w/.-]+@[0-9a-f]{40}", step.get("uses", "a@" + "0" * 40)), name
            for line in step.get("run", "").splitlines():
                words = shlex.split(line.removesuffix("\\"))
                if words[0] == "make":
                    assert re.search(rf"^{words[1]}:", makefile, re.MULTILINE), line
                if words[0].startswith(".ci/"):
                    assert (TOP / words[0]).stat().st_mode & 0o100


def test_what_one_job_leaves_another_finds() -> None:
    """Each artifact that is fetched by name was left under that name."""
    steps = [step for job in loaded(TOP / ".github/workflows/release.yml")["jobs"].values() for step in job["steps"]]
    named = {
        kind: {
            step["with"]["name"]
            for step in steps
            if f"{kind}-artifact@" in step.get("uses", "") and "name" in step["with"]
        }
        for kind in ("actions/upload", "actions/download")
    }
    assert named["actions/download"] <= named["actions/upload"]


def test_updates_are_looked_for_where_there_is_something() -> None:
    """Every folder that dependabot reads has what its ecosystem reads."""
    wanted = {
        "pip": "pyproject.toml",
        "npm": "package.json",
        "docker": "Dockerfile",
        "github-actions": ".github/workflows",
    }
    for update in loaded(TOP / ".github" / "dependabot.yml")["updates"]:
        for folder in update.get("directories", [update.get("directory")]):
            assert (TOP / folder.strip("/") / wanted[update["package-ecosystem"]]).exists(), folder


def test_hooks_of_pre_commit_run_what_there_is() -> None:
    """Each hook has what pre-commit requires (id, name, entry, language) and runs a verb with options that it takes."""
    for hook in loaded(TOP / ".pre-commit-hooks.yaml"):
        assert {"id", "name", "entry", "language", "stages"} <= set(hook)
        assert hook["language"] == "python", "it installs the package"
        said = re.search(r"vade (\w+)([^|']*)", hook["entry"])
        assert said
        command = cli.get_command(click.Context(cli), said[1])
        assert command is not None
        command.make_context(said[1], shlex.split(said[2]), resilient_parsing=False)


def test_the_container_for_developers_sets_itself_up() -> None:
    """It names an image, and a target of the Makefile that is there."""
    container = json.loads((TOP / ".devcontainer" / "devcontainer.json").read_text(encoding="utf-8"))
    assert container["image"]
    make, target = container["postCreateCommand"].split()
    assert make == "make"
    assert re.search(rf"^{target}:", (TOP / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
