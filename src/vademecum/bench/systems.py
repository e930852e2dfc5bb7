"""The compared systems: the engine, plain BM25, and a grep reader.

All search the same files. Each answers a question with a *reading*: the returned pieces in reading order, with their
costs. An agent asks the engine, or BM25, for ten results, and for more if they do not suffice. If the engine says that
there is nothing, the reading is empty. With grep the reader first reads the list of matching lines, then windows around
them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from vademecum.bench.bm25 import Bm25
from vademecum.bench.grep import Grep
from vademecum.bench.measures import Hit, Piece, Reading, tokens_in
from vademecum.bench.trees import Tree
from vademecum.types import Evidence

OURS, BM25, GREP = "vademecum", "bm25", "grep"
SYSTEMS: Mapping[str, str] = {OURS: "vademecum", BM25: "BM25", GREP: "grep"}  # with their names in the table
TEN = 10  # results of the first request
DEPTH = 100  # results to read at most


class Systems:
    """The compared systems, over one tree."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._lines = {path: text.split("\n") for path, text in tree.files.items()}
        self._bm25 = Bm25(tree.files.items())
        self._grep = Grep(tree.files.items())

    def readings(self, question: str) -> dict[str, Reading]:
        """Return every system's reading of a question."""
        windows = tuple(map(self._piece, self._bm25.search(question, DEPTH)))
        around = tuple(map(self._piece, self._grep.search(question, DEPTH)))
        return {
            OURS: Reading(self._engine(question)),
            BM25: Reading(windows),
            GREP: Reading(around, before=tokens_in(self._grep.listing(question))),
        }

    def _engine(self, question: str) -> tuple[Piece, ...]:
        """Read ten results, then further ones not among them."""
        first = self._tree.ask(question, TEN)
        if not first:
            return ()
        more = self._tree.ask(question, DEPTH)
        return pieces_of([*first, *more])

    def _piece(self, hit: Hit) -> Piece:
        text = "\n".join(self._lines[hit.path][hit.start - 1 : hit.end])
        return Piece(hit, tokens_in(f"{hit.path}:{hit.start}-{hit.end}\n{text}\n"))


def pieces_of(evidence: Sequence[Evidence]) -> tuple[Piece, ...]:
    """Return the pieces to read in an answer, each place once."""
    found: dict[Hit, Piece] = {}
    for item in evidence:
        hit = Hit(item.path, item.start_line, item.end_line)
        shown = f"{hit.path}:{hit.start}-{hit.end}\n{item.snippet}\n"
        found.setdefault(hit, Piece(hit, tokens_in(shown)))
    return tuple(found.values())
