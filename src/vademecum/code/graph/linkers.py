"""Linking of files in parts, in this process or in several.

Each process reads the declarations from the store and links a part as if there were no other, so the edges are the same.
"""

from __future__ import annotations

import pickle
import queue
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from itertools import islice

from vademecum.code.graph.definitions import Definitions, File
from vademecum.code.graph.edges import FileEdges, Found
from vademecum.code.graph.links import document_edges
from vademecum.code.graph.names import Names
from vademecum.code.graph.proven_edges import Proven
from vademecum.code.graph.scip_names import Proof
from vademecum.code.graph.stored_graph import Files, Records, Rows
from vademecum.code.graph.terms import Tier
from vademecum.code.indexing.workers import Answering, Child, uncollected
from vademecum.code.languages import has_references
from vademecum.code.languages.modules import Modules
from vademecum.protocols import Progress, silent

AHEAD = 2  # parts for each process that may be linked before the first of them is stored
READ_AHEAD = 250  # files of a part that are read by one statement
MOST_LOADED = 6_000  # files whose references a process holds, some 50 kB each, before it lets go of all

Part = Mapping[str, Sequence[Proof]]  # path → a compiler's answers, in the order in which files are linked


class Linker:
    """Links files in parts.

    All that was read for a part is let go of before the next, so that memory does not grow with the repository.
    """

    def __init__(self, records: Records, files: Files, definitions: Definitions | None = None) -> None:
        """Take records, and path → (blob, language).

        `definitions` hold all that was read of the records so far.
        """
        self._records, self._files = records, files
        self._definitions = definitions or Definitions(files, records, records.content)
        self._names = Names(self._definitions, Modules(self._definitions))

    def __reduce__(self) -> tuple[type[Linker], tuple[Records, Files]]:
        """Pickle as the records alone: another process reads for itself."""
        return Linker, (self._records, self._files)

    def link(self, part: Part, progress: Progress = silent) -> Rows:
        """Return the edges of files, with the tokens each consulted."""
        rows, paths = Rows(), list(part)
        for done, path in enumerate(paths):
            if not done % READ_AHEAD:
                if self._records.loaded > MOST_LOADED:
                    self._forget()
                self._records.read_ahead((self._files[each] for each in paths[done : done + READ_AHEAD]), progress)
            file = self._definitions.file(path)
            self._definitions.consulted = set()
            found = self._edges(file, part[path])
            rows.link(file, found, self._definitions.consulted - {path})
            if done % 50 == 0:
                progress("linking", done + 1, len(part))
        self._forget()
        return rows

    def _forget(self) -> None:
        self._names.forget()
        self._records.forget()

    def _edges(self, file: File, proofs: Sequence[Proof]) -> Found:
        """Return the edges that start in one file."""
        proven = Proven(self._definitions, file, proofs) if proofs else None
        if has_references(file.language):
            found = FileEdges(self._names, file, proven).make()
        else:
            found = document_edges(self._definitions, file) if file.rules.is_document else Found()
        for source, relation, target, line in proven.edges() if proven else ():
            found.add(source, relation, target, Tier.PROVEN, line)
        return found


def link_apart(linker: Linker, parts: Iterator[Part], processes: int) -> Iterator[Rows]:
    """Yield the edges of each part in order, linked by several processes.

    A part whose process ended is linked here, and so are all parts where no other process can open the store.
    """
    try:
        given = pickle.dumps(linker, pickle.HIGHEST_PROTOCOL)
    except (TypeError, AttributeError, pickle.PicklingError):
        yield from map(linker.link, parts)
        return
    free: queue.SimpleQueue[Child] = queue.SimpleQueue()

    def begin(child: Child) -> None:
        with suppress(EOFError):
            child.start()
        free.put(child)

    def linked(part: Part) -> Rows | None:
        child = free.get()
        try:
            rows: Rows = child.ask(part)
        except EOFError:
            return None
        finally:
            free.put(child)
        return rows

    with ThreadPoolExecutor(processes) as pool, ExitStack() as children:
        for _ in range(processes):
            child = Child(_answering, given)
            children.callback(child.stop)
            pool.submit(begin, child)
        left = ((part, pool.submit(linked, part)) for part in parts)
        waiting = deque(islice(left, AHEAD * processes))
        while waiting:
            part, rows = waiting.popleft()
            yield rows.result() or linker.link(part)
            waiting.extend(islice(left, 1))


def _answering(given: bytes) -> Answering:
    linker: Linker = pickle.loads(given)  # noqa: S301 - our own parent wrote it
    return uncollected()(linker.link)
