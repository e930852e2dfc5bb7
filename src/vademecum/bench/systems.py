"""What is compared: the engine as it is set up here, plain BM25, and grep with a careful reader, over the same files.

Each answers a question with a *reading*: the pieces that come back, in the order one reads them, with what each costs. An
agent asks the engine, or BM25, for ten results and for more when they do not do; the engine may also say that there is
nothing, and then there is nothing to read. With grep it first reads the list of matching lines, then windows around them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from vademecum.bench.bm25 import Bm25
from vademecum.bench.grep import Grep
from vademecum.bench.measures import Hit, Piece, Reading, tokens_in
from vademecum.bench.trees import Tree
from vademecum.types import Evidence

OURS, BM25, GREP = "vademecum", "bm25", "grep"
SYSTEMS: Mapping[str, str] = {OURS: "vademecum", BM25: "BM25", GREP: "grep"}  # each with what a table calls it
TEN = 10  # results that are asked for first
DEPTH = 100  # results that are read at most


class Systems:
    """Everything that is compared, over one tree."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._lines = {path: text.split("\n") for path, text in tree.files.items()}
        self._bm25 = Bm25(tree.files.items())
        self._grep = Grep(tree.files.items())

    def readings(self, question: str) -> dict[str, Reading]:
        """Ask everybody."""
        windows = tuple(map(self._piece, self._bm25.search(question, DEPTH)))
        around = tuple(map(self._piece, self._grep.search(question, DEPTH)))
        return {
            OURS: Reading(self._engine(question)),
            BM25: Reading(windows),
            GREP: Reading(around, before=tokens_in(self._grep.listing(question))),
        }

    def _engine(self, question: str) -> tuple[Piece, ...]:
        """Read ten results, then those further down that were not among them."""
        first = self._tree.ask(question, TEN)
        if not first:
            return ()
        more = self._tree.ask(question, DEPTH)
        return pieces_of([*first, *more])

    def _piece(self, hit: Hit) -> Piece:
        text = "\n".join(self._lines[hit.path][hit.start - 1 : hit.end])
        return Piece(hit, tokens_in(f"{hit.path}:{hit.start}-{hit.end}\n{text}\n"))


def pieces_of(evidence: Sequence[Evidence]) -> tuple[Piece, ...]:
    """Return what is read of an answer, each place once."""
    found: dict[Hit, Piece] = {}
    for item in evidence:
        hit = Hit(item.path, item.start_line, item.end_line)
        shown = f"{hit.path}:{hit.start}-{hit.end}\n{item.snippet}\n"
        found.setdefault(hit, Piece(hit, tokens_in(shown)))
    return tuple(found.values())
