"""Pairs of (what somebody would ask, code that answers), from one repository with its history, without any model.

    python pairs.py --repos repositories.jsonl --into DIRECTORY [--only NAME]

Each line of the list is {"name", "repo", "licence", "commit", "git_dir"}; the git directory is bare. Written is one gzipped
JSON-lines file for each repository: first its passages, cut by the project's own chunker, then the pairs, which name
passages by their number. A pair's `minus` is the text that the passage must not show, because the question came from it.

    doc       first sentence of a docstring or doc comment      → its declaration without it
    para      the same, first paragraph
    name      words of a name                                   → its declaration without the name
    comment   a comment of two lines or five words              → the function around it without it
    commit    first line of a commit message                    → the functions it changed, as they were before
    body      first sentences of the rest of the message        → the same
    pull      title of a merged pull request                    → the same
    test      words of a test's name                            → the function it calls, in the file the test is named for
    manual    a sentence of a manual that names a declaration   → that declaration
    file      what a file's head says it is for                 → the declarations in it
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import random
import subprocess
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from changes import is_product
from history_pairs import Change, changes_of
from prose import clean_sentence, comment_blocks, is_prose, manual_sentences, name_words, paragraph_of
from repository import Blobs, Entry, entries_of
from tests_of import cases_of, stem_under_test

from vademecum.code.checkout.classify import file_kind
from vademecum.code.chunking.chunk import chunk_file
from vademecum.code.chunking.enrich import first_sentence
from vademecum.code.languages import language_of, row
from vademecum.types import Chunk, FileKind

MOST_FILES, MOST_TEST_FILES, MOST_MANUALS = 350, 250, 120  # of a repository, drawn at random
MOST_BYTES = 80_000
MOST_TEXT = 6_000  # characters of a passage
MOST_COMMENTS = 2  # of a passage
MOST_OF_A_FILE = 4  # declarations that a file's head is asked for
LEAST_LINES = 3  # of a passage worth finding
NAMED = frozenset({"function", "method", "class", "interface", "type", "constant"})


@dataclass(frozen=True)
class Pair:
    """A question, the passages that answer it, and what of them must not be shown."""

    kind: str
    query: str
    passages: tuple[int, ...]
    minus: str = ""

    def line(self) -> str:
        """Return its line of JSON."""
        return json.dumps(
            {"kind": self.kind, "query": self.query, "passages": self.passages, "minus": self.minus},
            ensure_ascii=False,
        )


@dataclass
class Harvest:
    """The passages and pairs of one repository."""

    passages: list[dict[str, str]] = field(default_factory=list)
    pairs: list[Pair] = field(default_factory=list)
    known: dict[bytes, int] = field(default_factory=dict)
    by_name: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    by_file: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))

    def add(self, path: str, chunk: Chunk) -> int:
        """Return the number of a passage, the same for the same text in the same place."""
        text = chunk.text[:MOST_TEXT]
        digest = hashlib.blake2b(f"{path}\0{chunk.name}\0{text}".encode("utf-8", "replace"), digest_size=8).digest()
        if digest not in self.known:
            self.known[digest] = len(self.passages)
            self.passages.append({"path": path, "name": chunk.name, "scope": chunk.scope, "text": text})
        return self.known[digest]

    def offer(self, kind: str, query: str, passages: Iterable[int], minus: str = "") -> None:
        """Take a pair."""
        self.pairs.append(Pair(kind, query, tuple(passages), minus))


def is_code(path: str) -> bool:
    """Say whether a path is product code that a grammar reads."""
    if not is_product(path) or file_kind(path) is not FileKind.PRODUCT:
        return False
    found = row(language_of(path))
    return found is not None and found.module is not None


def cut(path: str, content: bytes) -> tuple[Chunk, ...]:
    """Return the chunks of a file; none where it is no UTF-8 or too long."""
    if len(content) > MOST_BYTES:
        return ()
    try:
        content.decode()
    except UnicodeDecodeError:
        return ()
    return chunk_file(content, language_of(path, content[:4000]), 2.0).chunks


def from_tree(harvest: Harvest, files: Iterable[tuple[str, bytes]]) -> None:
    """Add passages of the newest tree with what their authors wrote about them."""
    for path, content in files:
        chunks = cut(path, content)
        head = _head(chunks, path)
        for chunk in chunks:
            if not chunk.name or chunk.kind not in NAMED or chunk.metadata.get("part", 1) != 1:
                continue
            if chunk.text.count("\n") + 1 < LEAST_LINES and chunk.kind != "constant":
                continue
            number = harvest.add(path, chunk)
            harvest.by_name[chunk.name].append(number)
            harvest.by_file[path].append(number)
            _from_chunk(harvest, chunk, number)
        if head and harvest.by_file[path]:
            own = harvest.by_file[path]
            harvest.offer("file", head, random.sample(own, min(len(own), MOST_OF_A_FILE)))


def _head(chunks: tuple[Chunk, ...], path: str) -> str:
    """Return what the first lines of a file say about it."""
    for chunk in chunks[:2]:
        if chunk.kind == "module" and chunk.doc:
            return clean_sentence(first_sentence(chunk.doc))
        for block, _ in comment_blocks(chunk.text[:2000], path):
            sentence = clean_sentence(first_sentence(block))
            if sentence and not chunk.name:
                return sentence
    return ""


def _from_chunk(harvest: Harvest, chunk: Chunk, number: int) -> None:
    if chunk.doc:
        sentence = clean_sentence(first_sentence(chunk.doc), chunk.name)
        if sentence:
            harvest.offer("doc", sentence, [number], chunk.doc)
            paragraph = paragraph_of(chunk.doc)
            if len(paragraph) > len(sentence) + 20:
                harvest.offer("para", paragraph, [number], chunk.doc)
    words = name_words(chunk.name)
    if len(words) >= 2:
        harvest.offer("name", " ".join(words), [number], chunk.name)
    if chunk.kind in {"function", "method"}:
        documented = " ".join(chunk.doc.split())
        found = [b for b, _ in comment_blocks(chunk.text, harvest.passages[number]["path"]) if is_prose(b)]
        fresh = [block for block in found if block[:40] not in documented]
        for block in random.sample(fresh, min(len(fresh), MOST_COMMENTS)):
            harvest.offer("comment", block, [number], block)


def from_history(harvest: Harvest, changes: Iterable[Change]) -> None:
    """Add what commits say with the passages they changed, as they stood before."""
    for change in changes:
        numbers: list[int] = []
        for path, content, spans in change.files:
            for chunk in cut(path, content):
                touched = any(chunk.start_line <= last and first <= chunk.end_line for first, last in spans)
                if touched and chunk.name and chunk.kind in NAMED:
                    numbers.append(harvest.add(path, chunk))
        if 1 <= len(numbers) <= 8:
            for kind, query in change.questions:
                harvest.offer(kind, query, numbers)


def from_tests(harvest: Harvest, files: Iterable[tuple[str, bytes]]) -> None:
    """Add names of tests with the function they call, where file and test agree on which."""
    by_stem: dict[str, list[str]] = defaultdict(list)
    for path in harvest.by_file:
        by_stem[path.rpartition("/")[2].partition(".")[0].lower().replace("_", "").replace("-", "")].append(path)
    for path, content in files:
        targets = by_stem.get(stem_under_test(path), [])
        if len(targets) != 1 or len(content) > 4 * MOST_BYTES:
            continue
        cases = list(cases_of(content.decode("utf-8", "replace")))
        own = {harvest.passages[n]["name"]: n for n in harvest.by_file[targets[0]]}
        seen = Counter(name for _, names in cases for name in names & own.keys())
        for words, names in cases:
            called = sorted(names & own.keys(), key=lambda name: (seen[name], -len(name)))
            if called and len(words.split()) >= 3:
                harvest.offer("test", words, [own[called[0]]])


def from_manuals(harvest: Harvest, files: Iterable[tuple[str, bytes]]) -> None:
    """Add sentences of manuals that name exactly one declaration."""
    for _, content in files:
        for sentence, names in manual_sentences(content.decode("utf-8", "replace")):
            owners = [harvest.by_name[name] for name in names if len(harvest.by_name.get(name, ())) == 1]
            if len(owners) == 1:
                harvest.offer("manual", sentence, owners[0])


def harvest_of(git_dir: str, commit: str) -> Harvest:
    """Return the passages and pairs of one repository."""
    harvest = Harvest()
    with Blobs(git_dir) as blobs:
        entries = entries_of(git_dir, commit)
        code = [entry for entry in entries if is_code(entry.path)]
        tests = [entry for entry in entries if file_kind(entry.path) is FileKind.TEST]
        manuals = [entry for entry in entries if entry.path.lower().endswith((".md", ".mdx", ".rst"))]
        from_tree(harvest, _contents(blobs, code, MOST_FILES))
        from_tests(harvest, _contents(blobs, tests, MOST_TEST_FILES))
        from_manuals(harvest, _contents(blobs, manuals, MOST_MANUALS))
        from_history(harvest, changes_of(git_dir, commit, blobs, is_code, MOST_BYTES))
    return harvest


def _contents(blobs: Blobs, entries: list[Entry], most: int) -> Iterator[tuple[str, bytes]]:
    fitting = [entry for entry in entries if 0 < entry.size <= 4 * MOST_BYTES]
    for entry in random.sample(fitting, min(len(fitting), most)):
        yield entry.path, blobs.read(entry.blob)


def write(harvest: Harvest, path: Path) -> None:
    """Write passages and pairs, whole or not at all."""
    beside = path.with_suffix(".tmp")
    with gzip.open(beside, "wt", compresslevel=3, encoding="utf-8", errors="replace") as file:
        for passage in harvest.passages:
            file.write(json.dumps(passage, ensure_ascii=False) + "\n")
        for pair in harvest.pairs:
            file.write(pair.line() + "\n")
    beside.replace(path)


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repos", type=Path, required=True)
    parser.add_argument("--into", type=Path, required=True)
    parser.add_argument("--only", default="")
    given = parser.parse_args()
    given.into.mkdir(parents=True, exist_ok=True)
    for line in given.repos.read_text().splitlines():
        repository = json.loads(line)
        path = given.into / f"{repository['name']}.jsonl.gz"
        if path.exists() or given.only not in ("", repository["name"]):
            continue
        random.seed(repository["name"])
        start = time.monotonic()
        try:
            harvest = harvest_of(repository["git_dir"], repository["commit"])
        except subprocess.SubprocessError as error:
            print(f"{repository['name']}: passed over, {error}", file=sys.stderr, flush=True)
            continue
        write(harvest, path)
        kinds = dict(Counter(pair.kind for pair in harvest.pairs))
        print(
            f"{repository['name']} {time.monotonic() - start:.1f}s {len(harvest.passages)} {kinds}",
            file=sys.stderr,
            flush=True,
        )


if __name__ == "__main__":
    main()
