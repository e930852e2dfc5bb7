"""Lay out the trees that quality.py and speed.py index, from bare mirrors on this machine.

    python benchmarks/checkout.py --data BENCH/code --mirrors MIRRORS --repos CHECKOUTS

`semble/<name>/` holds the root folder of each repository at its commit, at its path from the top, and `cosqa/` one file
for each function. Issues need no layout: issues.py exports one commit at a time.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from data import export_functions, export_tree, load_repositories, mirror_of


def main() -> None:
    """Write every tree that is not there yet."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with repos.json")
    parser.add_argument(
        "--mirrors", type=Path, required=True, help="git directories: owner+name/repo or owner/name.git"
    )
    parser.add_argument("--repos", type=Path, required=True, help="folder to write to")
    arguments = parser.parse_args()
    for repo in load_repositories(arguments.data):
        into = arguments.repos / "cosqa" if repo.suite == "cosqa" else arguments.repos / repo.suite / repo.name
        if repo.suite == "swebench" or into.exists():
            continue
        mirror = mirror_of(arguments.mirrors, repo.snapshot)
        if repo.suite == "cosqa":
            export_functions(mirror, repo.commit, into)
        else:
            export_tree(mirror, repo.commit, into, repo.root)
        print(repo.name)


if __name__ == "__main__":
    main()
