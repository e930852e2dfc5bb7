"""The tools that are compared, behind one interface: `index(directory)`, then `search(query, k)`.

Nothing of a peer is changed but what its adapter says; each runs with its own defaults and without a network.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import logging
import os
import re
import shutil
import subprocess
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from metrics import Hit
from vademecum.bench.systems import WINDOW, Bm25

MAX_BYTES = 1_000_000  # files above this are skipped by the baselines, as the engines skip them
_STOPWORDS = (
    "a about after all also an and any are as at be because been before being but by can could did do does doing each "
    "for from had has have having how i if in into is it its itself just me might more most must my no not of off on "
    "only or other our out over own same she he should so some such than that the their them then there these they "
    "this those to too under until up use used uses using very was we were what when where which while who whom why "
    "will with would you your"
)
STOPWORDS = frozenset(_STOPWORDS.split())
_SUFFIXES = (
    ".py .pyi .pyx .js .jsx .mjs .cjs .ts .tsx .mts .vue .svelte .go .rs .java .kt .kts .scala .swift .c .h .cc .cpp .cxx "
    ".hh .hpp .m .mm .cs .fs .rb .php .lua .sh .bash .zsh .bats .ex .exs .erl .hs .ml .clj .zig .nim .dart .jl .r .pl .pm .sql"
)
CODE = frozenset(_SUFFIXES.split())
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*|[0-9]+")


class Peer(Protocol):
    """One tool: indexes a directory, then answers queries about it."""

    def index(self, directory: Path) -> None:
        """Index the directory; paths in answers are relative to it."""

    def search(self, query: str, k: int) -> list[Hit]:
        """Return at most `k` chunks, best first."""

    def chunks(self) -> int:
        """Say how many chunks are indexed, 0 where there is no index."""

    def close(self) -> None:
        """Drop the index and its files."""


def code_files(directory: Path) -> list[tuple[str, str]]:
    """Read every code file that is neither hidden nor large: (relative path, content), by path."""
    found = []
    for folder, folders, names in os.walk(directory):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name != "node_modules")
        for name in sorted(names):
            file = Path(folder, name)
            if file.suffix.lower() not in CODE or file.is_symlink() or file.stat().st_size > MAX_BYTES:
                continue
            data = file.read_bytes()
            if b"\0" not in data[:8192]:
                found.append((file.relative_to(directory).as_posix(), data.decode("utf-8", "replace")))
    return found


def keywords_of(query: str) -> list[str]:
    """List the distinct words of a query that a person would grep for, as written.

    >>> keywords_of("How does the HTTPClient retry a request?")
    ['HTTPClient', 'retry', 'request']
    """
    words = _WORD.findall(query)
    kept = [word for word in words if len(word) > 1 and word.lower() not in STOPWORDS]
    return list(dict.fromkeys(kept or words))


class RipgrepKeywords:
    """What an agent does without an index: `rg` for the query's words, files with the most distinct words first.

    Each file is answered by its best window of 40 lines: most distinct words, then most matches.
    """

    def index(self, directory: Path) -> None:
        """Remember the directory: ripgrep reads it at every query."""
        self.directory = directory

    def search(self, query: str, k: int) -> list[Hit]:
        """Rank files by distinct keywords, then by the number of matches."""
        words = keywords_of(query)
        if not words:
            return []
        patterns = [argument for word in words for argument in ("-e", word)]
        command = [
            "rg",
            "-i",
            "-F",
            "-o",
            "-n",
            "-0",
            "--no-heading",
            "--no-messages",
            "--max-filesize",
            str(MAX_BYTES),
        ]
        run = subprocess.run([*command, *patterns, "."], cwd=self.directory, capture_output=True, check=False)
        matches: dict[str, list[tuple[int, str]]] = defaultdict(list)
        for row in run.stdout.decode("utf-8", "replace").splitlines():
            path, _, rest = row.partition("\0")
            line, _, match = rest.partition(":")
            if line.isdigit():
                matches[path.removeprefix("./")].append((int(line), match.lower()))
        ranked = sorted(matches, key=lambda path: (-len({m for _, m in matches[path]}), -len(matches[path]), path))
        return [self._window(path, matches[path]) for path in ranked[:k]]

    def _window(self, path: str, matches: list[tuple[int, str]]) -> Hit:
        start, end = best_window(matches)
        size = (self.directory / path).read_bytes().count(b"\n") + 1
        return Hit(path, start, max(start, min(end, size)))

    def chunks(self) -> int:
        """There is no index."""
        return 0

    def close(self) -> None:
        """Nothing is kept."""


def best_window(matches: list[tuple[int, str]]) -> tuple[int, int]:
    """Pick the 40 lines, starting at a match, with the most distinct words, then the most matches.

    >>> best_window([(3, "a"), (100, "a"), (110, "b"), (139, "b"), (140, "c")])
    (100, 139)
    """
    matches = sorted(matches)
    counts: Counter[str] = Counter()
    best, start, last = (0, 0), matches[0][0], 0
    for line, word in matches:
        while last < len(matches) and matches[last][0] < line + WINDOW:
            counts[matches[last][1]] += 1
            last += 1
        score = (sum(1 for count in counts.values() if count), counts.total())
        if score > best:
            best, start = score, line
        counts[word] -= 1
    return start, start + WINDOW - 1


class Bm25Windows:
    """Plain BM25 (k1 1.5, b .75) over windows of 40 lines of code files, the path's words counted with each window."""

    def index(self, directory: Path) -> None:
        """Cut every code file into windows and count their words."""
        self.built = Bm25(code_files(directory), k1=1.5)

    def search(self, query: str, k: int) -> list[Hit]:
        """Score the windows that hold a word of the query."""
        return self.built.search(query, k)

    def chunks(self) -> int:
        """Count the windows."""
        return len(self.built.windows)

    def close(self) -> None:
        """Nothing is kept on disk."""


class StubModel:
    """Stands in for semble's embedding model, which has to be downloaded: one constant number a text."""

    dim = 1

    def encode(self, texts: list[str], **_: object) -> np.ndarray:
        """Give every text the same vector, so that only BM25 and the ranking rules decide."""
        return np.ones((len(texts), 1), dtype=np.float32)


class Semble:
    """semble with its own chunks, BM25 and ranking rules (`alpha=0`) and no embedding model.

    The missing model makes its index and its queries faster than what its users see, and its answers a little worse
    (published: .834 instead of .854). `rerank=False` leaves the rules out too.
    """

    def __init__(self, *, rerank: bool | None = None, home: Path | None = None) -> None:
        self.rerank = rerank
        self.keeps = home is not None
        self.cache = str(home or tempfile.mkdtemp(prefix="bench-semble-"))
        os.environ["SEMBLE_CACHE_LOCATION"] = self.cache
        logging.getLogger("semble").setLevel(logging.ERROR)
        importlib.import_module("semble.chunking")  # so that its import is not counted as indexing
        module = importlib.import_module("semble.index.index")

        stub: Any = StubModel()
        module.load_model = lambda _path=None: (stub, "stub")
        self.factory = module.SembleIndex

    def index(self, directory: Path) -> None:
        """Build the index in memory, from semble's cache where `save` left one."""
        self.directory = directory
        self.built = self.factory.from_path(directory, model_path="stub")

    def save(self) -> None:
        """Write the index to semble's cache, as its command line does."""
        from semble.cache import save_index_to_cache

        save_index_to_cache(self.built, str(self.directory.resolve()))

    def search(self, query: str, k: int) -> list[Hit]:
        """Ask for `k` chunks."""
        found = self.built.search(query, top_k=k, alpha=0.0, rerank=self.rerank)
        return [Hit(row.chunk.file_path, row.chunk.start_line, row.chunk.end_line) for row in found]

    def chunks(self) -> int:
        """Count semble's chunks."""
        return len(self.built.chunks)

    def close(self) -> None:
        """Remove its cache, unless the caller chose the place."""
        if not self.keeps:
            shutil.rmtree(self.cache, ignore_errors=True)


class SembleVectors(Semble):
    """semble doing all the work its users' machines do: with a static model of its own model's shape, 256 dimensions.

    Its real weights have to be downloaded, so the vectors are random and the vocabulary is this engine's 32,000 word
    pieces (its own has 62,500): good for timing, worthless for quality, and never asked for quality.
    """

    def __init__(self, *, home: Path | None = None) -> None:
        super().__init__(home=home)
        from model2vec import StaticModel
        from tokenizers import Tokenizer
        from tokenizers.models import WordPiece
        from tokenizers.normalizers import BertNormalizer
        from tokenizers.pre_tokenizers import BertPreTokenizer

        from vademecum.index.arrays import load_arrays
        from vademecum.providers.embedders.static import MODELS

        words = load_arrays(MODELS / "static-2.safetensors")[0]["words"].tobytes().decode().split("\n")
        letters = "abcdefghijklmnopqrstuvwxyz0123456789_"
        pieces = dict.fromkeys(["[UNK]", *letters, *(f"##{letter}" for letter in letters), *words])
        tokenizer = Tokenizer(WordPiece({piece: n for n, piece in enumerate(pieces)}, unk_token="[UNK]"))
        tokenizer.normalizer, tokenizer.pre_tokenizer = BertNormalizer(), BertPreTokenizer()
        vectors = np.random.default_rng(0).standard_normal((len(pieces), 256)).astype(np.float32)
        model = StaticModel(vectors, tokenizer)
        importlib.import_module("semble.index.index").load_model = lambda _path=None: (model, "shape")

    def search(self, query: str, k: int) -> list[Hit]:
        """Ask for `k` chunks, weighing meaning as semble does by default."""
        found = self.built.search(query, top_k=k, rerank=self.rerank)
        return [Hit(row.chunk.file_path, row.chunk.start_line, row.chunk.end_line) for row in found]


class Vademecum:
    """This project's engine; `ranker` is one of default, rrf, bm25f, dense.

    `refresh=False` answers from the index as it is, as the peers do; otherwise each search first looks for edits.
    """

    def __init__(self, *, ranker: str = "default", home: Path | None = None, refresh: bool = True) -> None:
        from vademecum.engine import Engine

        self.options: dict[str, Any] = {} if ranker == "default" else {"ranker": ranker}
        self.options |= {} if refresh else {"refresh": False}
        self.keeps = home is not None
        self.home = str(home or tempfile.mkdtemp(prefix="bench-vade-"))
        self.factory, self.engine, self.size = Engine, None, 0
        self.said: dict[str, Any] = {}  # of the last answer: how sure it is of itself

    def index(self, directory: Path) -> None:
        """Index into this run's own VADE_HOME, or bring the index there up to date, until it can be searched."""
        os.environ["VADE_HOME"] = self.home
        if self.engine is None:
            self.engine = self.factory.open(directory)
        (report,) = self.engine.codebase.refresh()
        self.size = report.chunks

    def link(self) -> None:
        """Bring the graph up to date, which a search does not need and no peer has: with `index`, what `vade index` does."""
        self.engine.codebase.graph(refresh=False)

    def save(self) -> None:
        """The index is on disk already."""

    def search(self, query: str, k: int) -> list[Hit]:
        """Ask for `k` pieces of evidence."""
        answer = self.engine.codebase.search(query, k=k, **self.options)
        self.said = {"stated": answer.probability, "verdict": answer.verdict.value}
        return [Hit(row.path, row.start_line, row.end_line) for row in answer.evidence]

    def chunks(self) -> int:
        """Count the chunks, 0 where the report does not say."""
        return self.size

    def close(self) -> None:
        """Close the engine and remove its indexes, unless the caller chose the place."""
        if self.engine is not None:
            self.engine.close()
            self.engine = None
        if not self.keeps:
            shutil.rmtree(self.home, ignore_errors=True)


PEERS: dict[str, Callable[..., Peer]] = {
    "ripgrep-keywords": RipgrepKeywords,
    "bm25-windows": Bm25Windows,
    "semble-bm25-raw": partial(Semble, rerank=False),
    "semble": Semble,
    "vademecum-bm25f": partial(Vademecum, ranker="bm25f"),
    "vademecum-rrf": partial(Vademecum, ranker="rrf"),
    "vademecum-dense": partial(Vademecum, ranker="dense"),
    "vademecum": Vademecum,
}


def make(name: str, home: Path) -> Peer:
    """Build a peer; this engine's variants share the index at `home`, since they differ only in how they rank."""
    if not name.startswith("vademecum"):
        return PEERS[name]()
    home.mkdir(parents=True, exist_ok=True)
    return PEERS[name](home=home)


def versions() -> dict[str, str]:
    """Say which versions were compared."""
    found = {}
    for name in ("vademecum", "semble", "numpy", "tree-sitter"):
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            found[name] = "not installed"
    if shutil.which("rg"):
        answer = subprocess.run(["rg", "--version"], capture_output=True, text=True, check=False).stdout
        found["ripgrep"] = answer.split()[1]
    return found
