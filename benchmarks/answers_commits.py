"""Make questions for answers.py from commits that mend something.

    PYTHONPATH=training/embedding python benchmarks/answers_commits.py --mirrors MIRRORS --exclude FILE... --into commits.jsonl.gz

The script takes at most ten of the newest 3,000 commits of each repository below. A commit counts if it is neither a merge nor
a robot's, modifies one to four files of the product and adds or removes none, tells of a fault, and has a subject that a
user could ask (`vademecum.bench.history`). The question is the subject and then the prose of the body. The gold is the
changed lines as they stand in the parent, and the parent's tree is asked. Commits with a body come before those without, in
the order of a digest of their ids. No two questions of a repository say the same or change the same first file.

The script refuses a repository that a file of --exclude names, by owner and name or by name alone: give every list of
repositories that anything here was fitted on or that anybody looked at.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from messages import clean_body, has_prose

from data import mirror_of
from vademecum.bench.history import may_be_asked, product_changes, question_of, targets_of
from vademecum.bench.queries import alike
from vademecum.code import languages
from vademecum.code.checkout.commits import Commit, commits, messages
from vademecum.code.checkout.git import Root

REPOSITORIES = [
    "encode/httpx",
    "encode/starlette",
    "python-poetry/poetry",
    "aio-libs/aiohttp",
    "tornadoweb/tornado",
    "expressjs/express",
    "trpc/trpc",
    "remix-run/react-router",
    "gofiber/fiber",
    "caddyserver/caddy",
    "valyala/fasthttp",
    "sharkdp/bat",
    "sharkdp/fd",
    "BurntSushi/ripgrep",
    "tokio-rs/tokio",
    "google/gson",
    "FasterXML/jackson-databind",
    "mockito/mockito",
    "sidekiq/sidekiq",
    "fluent/fluentd",
    "Homebrew/brew",
    "guzzle/guzzle",
    "Seldaek/monolog",
    "redis/redis",
    "jqlang/jq",
    "libuv/libuv",
    "App-vNext/Polly",
    "DapperLib/Dapper",
    "phoenixframework/phoenix",
    "elixir-ecto/ecto",
    "nvim-telescope/telescope.nvim",
]
NEWEST = 3_000
MOST = 10  # of a repository
_MENDS = re.compile(
    r"\b(?:fix|correct|avoid|prevent|handle|fail|broke|race\b|hang|overflow)\w*", re.IGNORECASE
)  # in a subject
_FAULT = re.compile(
    r"\b(?:bug\b|crash|wrong|incorrect|regress|leak|panic|deadlock|corrupt)\w*", re.IGNORECASE
)  # anywhere
_NAMES = re.compile(r"[\w.-]+/[\w.-]+")


def names_in(files: Sequence[Path]) -> set[str]:
    """Return every `owner/name` and `name` in the files, in lower case."""
    found = {name.lower() for file in files for name in _NAMES.findall(file.read_text(encoding="utf-8"))}
    return found | {name.partition("/")[2] for name in found}


def tasks_of(repo: str, git_dir: Path) -> Iterator[dict[str, Any]]:
    """Yield the questions of one repository."""
    root = Root(str(git_dir), str(git_dir), str(git_dir))
    said = {message.id: message.text for message in messages(root, most=NEWEST).unwrap()}
    asked: dict[Commit, str] = {}
    for commit in commits(root, NEWEST).unwrap():
        _, _, body = said.get(commit.id, "").strip().partition("\n")
        if may_be_asked(commit) and (_MENDS.search(commit.subject) or _FAULT.search(said[commit.id])):
            asked[commit] = clean_body(body) if has_prose(body) else ""
    order = sorted(asked, key=lambda c: (not asked[c], hashlib.sha256(c.id.encode()).digest()))
    taken: list[str] = []
    paths: set[str] = set()
    for commit in order:
        subject, first = question_of(commit.subject), product_changes(commit)[0].path
        if len(taken) == MOST:
            return
        if first in paths or any(alike(subject, other) for other in taken):
            continue
        if targets := targets_of(root, commit):
            taken.append(subject)
            paths.add(first)
            yield {
                "id": f"{repo.replace('/', '__')}-{commit.id[:10]}", "repo": repo, "snapshot": repo, "commit": f"{commit.id}~1",
                "language": languages.language_of(first), "category": "commits",
                "query": f"{subject}\n\n{asked[commit]}".strip(),
                "gold": [{"path": target.path, "spans": target.spans} for target in targets],
            }  # fmt: skip


def main() -> None:
    """Write the questions of every repository."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mirrors", type=Path, required=True, help="git directories of the repositories")
    parser.add_argument("--exclude", type=Path, nargs="+", required=True, help="files that name repositories")
    parser.add_argument("--into", type=Path, required=True, help="the file to write")
    arguments = parser.parse_args()
    known = names_in(arguments.exclude)
    if refused := [repo for repo in REPOSITORIES if {repo.lower(), repo.lower().partition("/")[2]} & known]:
        parser.error(f"named in a list of --exclude: {', '.join(refused)}")
    rows = []
    for repo in REPOSITORIES:
        own = list(tasks_of(repo, mirror_of(arguments.mirrors, repo)))
        print(repo, len(own), sum("\n" in row["query"] for row in own), flush=True)
        rows += own
    with gzip.open(arguments.into, "wt", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)
    print(f"{len(rows)} questions of {len({row['repo'] for row in rows})} repositories")


if __name__ == "__main__":
    main()
