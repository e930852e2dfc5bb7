"""Cut a release in one step: `python release/cut.py 0.1.0`, or `make release VERSION=0.1.0`.

Writes the version everywhere, dates the changelog, commits, and tags. Pushing the tag starts the workflow that publishes.
"""

from __future__ import annotations

import argparse
import datetime as dt
import os
import re
import subprocess
import sys
from pathlib import Path

TOP = Path(__file__).resolve().parents[1]
UNRELEASED = "## [Unreleased]\n"
SHAPE = re.compile(r"\d+\.\d+\.\d+")  # which every channel takes: VS Code has no release candidates


def main() -> int:
    """Cut the release that the arguments name."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("version")
    parser.add_argument("--top", type=Path, default=TOP, help="the clone to cut it in")
    arguments = parser.parse_args()
    return cut(arguments.top, arguments.version, dt.datetime.now(tz=dt.UTC).date())


def cut(top: Path, version: str, day: dt.date) -> int:
    """Write, commit and tag a release; returns the exit code."""
    if not SHAPE.fullmatch(version):
        return refused(f"{version!r} is no version: use three numbers, such as 0.1.0")
    if git(top, "status", "--porcelain"):
        return refused("the working tree has changes: commit them first")
    if git(top, "tag", "--list", f"v{version}"):
        return refused(f"the tag v{version} is there already: choose the next version")
    changelog = top / "CHANGELOG.md"
    text = changelog.read_text(encoding="utf-8")
    if UNRELEASED not in text:
        return refused(f"CHANGELOG.md has no heading {UNRELEASED.strip()!r}: add it above what is new")
    changelog.write_text(text.replace(UNRELEASED, f"{UNRELEASED}\n## [{version}] - {day}\n", 1), encoding="utf-8")
    write(top / "src/vademecum/version.py", r'(__version__ = ")[^"]+', version)
    write(top / "editors/vscode/package.json", r'("version": ")[^"]+', version)
    subprocess.run([sys.executable, "plugins/make.py"], cwd=top, env=os.environ | {"PYTHONPATH": "src"}, check=True)
    git(top, "commit", "--quiet", "--all", "--message", f"Release {version}")
    git(top, "tag", "--annotate", f"v{version}", "--message", f"vademecum {version}")
    print(f"cut v{version}: `git push --follow-tags` publishes it")
    return 0


def write(path: Path, pattern: str, version: str) -> None:
    """Put the version into a file, in the one place that the pattern finds."""
    text, count = re.subn(pattern, rf"\g<1>{version}", path.read_text(encoding="utf-8"), count=1)
    assert count == 1, path
    path.write_text(text, encoding="utf-8")


def git(top: Path, *words: str) -> str:
    """Run git and return what it prints."""
    return subprocess.run(["git", *words], cwd=top, check=True, capture_output=True, text=True).stdout.strip()


def refused(why: str) -> int:
    """Say why nothing was done."""
    print(why, file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
