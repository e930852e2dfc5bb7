"""A snapshot's graph brought up to date, file by changed file.

The graph follows the snapshot: it is made of what the index holds, and names the state it was made of. A change is stored
in one transaction; a large graph is made and stored in parts, and one that was interrupted goes on from there. Searching neither reads nor makes it; `vade index` and every question about the graph make it current.

What was consulted for a file's edges is kept as tokens: a path, `:name` for a name looked up everywhere, `/part` for a
part of a module's name.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from typing import Any

from vademecum.code.chunking.analyse import Plan
from vademecum.code.graph.definitions import Definitions, File
from vademecum.code.graph.proofs import NO_PROOFS, Proofs
from vademecum.code.graph.stored_graph import UNFINISHED, Change, Files, Records, Rows
from vademecum.code.graph.terms import MANIFESTS, Node
from vademecum.code.indexing.workers import uncollected
from vademecum.code.snapshot.catalogue import Catalogue, Snapshot
from vademecum.code.snapshot.view import LEFT_OUT, View
from vademecum.protocols import Progress

VERSION = "45"  # raised when edges are made another way, so that graphs made before are made anew
AT_ONCE = 2_000  # files that are linked before what was read for them is let go of
MOST_PROCESSES = 4  # that link: each takes 0.7 to 1.7 GB
STORED_AT_ONCE = 8  # parts of that size that one transaction stores


def bring_up_to_date(
    catalogue: Catalogue,
    snapshot: Snapshot,
    view: View,
    plan: Plan,
    progress: Progress,
    proofs: Proofs = NO_PROOFS,
) -> int:
    """Make a snapshot's graph current; return how many files were linked.

    The number is 0 if the graph was current.

    Edges are made without holding the database, then written at once, unless another process was faster.

    Raises:
        StoreError: the graph stays as it was.
    """
    state = f"{VERSION}:{snapshot.tree_hash}:{proofs.key}"
    while True:
        with uncollected():  # a third of the time went into that, and what is made is let go of before it is looked at
            count = _brought(Records(catalogue, snapshot.id, plan), state, view, progress, proofs)
        if count is not None:
            return count


def _brought(records: Records, state: str, view: View, progress: Progress, proofs: Proofs) -> int | None:
    """Make a graph current once; return how many files were linked.

    Return None if another process was faster.
    """
    if records.state == state:
        return 0
    is_begun = records.state.startswith(f"{UNFINISHED}{state} ")
    made = make(records, snapshot_files(view), progress, proofs, is_begun=is_begun)
    return made.count if records.replace(made, state) else None


def make(
    records: Records,
    files: Files,
    progress: Progress,
    proofs: Proofs = NO_PROOFS,
    *,
    is_begun: bool = False,
) -> Change:
    """Return the change from the stored graph to these files' graph.

    `is_begun` tells that parts of this very graph are stored.
    """
    version, _, rest = records.state.partition(":")
    before = records.blobs() if version == VERSION or is_begun else {}
    changed = [path for path, (blob, _) in files.items() if before.get(path) != blob]
    gone = [path for path in before if path not in files]
    new = Definitions(files, records, records.content)
    is_anew = not before or rest.partition(":")[2] != proofs.key or any(map(MANIFESTS.fullmatch, (*changed, *gone)))
    if is_begun or (len(files) > AT_ONCE and (is_anew or len(changed) > AT_ONCE)):
        done = before if is_begun else {}
        return Change(len(files), _in_parts(records, new, files, done, progress, proofs), whole=False, fresh=not done)
    held = records.held([before[path] for path in changed if path in before])
    old = {path: records.file(path, before[path], files[path][1]) for path in changed if before.get(path) in held}
    records.read_ahead((files[path] for path in changed), progress)
    nodes = [node for path in changed for node in nodes_of(new.file(path))]
    records.look_through(nodes, changed, gone, fresh=not before)
    if is_anew:
        dirty = sorted(files)
    else:
        # of content that `gc` has dropped since nothing is known but its names: as if it had gone, and the new one come
        lost = [*gone, *(path for path in changed if path in before and path not in old)]
        touched = tokens_of_change(new, old, changed, lost, records.names_in(lost))
        dirty = sorted(records.consulting(touched).intersection(files).union(changed))
    rows = Rows(nodes)
    for part in _linked(records, new, files, dirty, progress, proofs):
        rows.join(part)
    return Change(len(dirty), [rows], fresh=not before, replaced=[*changed, *gone], linked=dirty)


def _in_parts(
    records: Records, new: Definitions, files: Files, done: Container[str], progress: Progress, proofs: Proofs
) -> Iterator[Rows]:
    """Yield the rows of a large graph in parts.

    All nodes come first, then the edges.

    Names are looked up among the nodes that are stored. Files in `done` are linked; once any is, all nodes are stored.
    """
    paths = sorted(files)
    if not done:
        yield from _gathered(_declared(records, new, files, paths, progress))
    left = [path for path in paths if path not in done]
    yield from _gathered(_linked(records, new, files, left, progress, proofs, are_stored=True))


def _gathered(parts: Iterator[Rows]) -> Iterator[Rows]:
    """Join parts that are stored in one transaction.

    Each transaction rewrites most pages of the indexes over names, paths and targets.
    """
    for held in parts:
        for part in islice(parts, STORED_AT_ONCE - 1):
            held.join(part)
        yield held


def _declared(
    records: Records, new: Definitions, files: Files, paths: Sequence[str], progress: Progress
) -> Iterator[Rows]:
    """Yield the rows of files' nodes, some files at once."""
    for part in _cut(paths):
        progress("linking", 0, len(paths))
        records.read_symbols(files[path][0] for path in part)
        yield Rows([node for path in part for node in nodes_of(new.file(path))])
        new.forget()
        records.forget()


def _linked(
    records: Records,
    definitions: Definitions,
    files: Files,
    paths: Sequence[str],
    progress: Progress,
    proofs: Proofs,
    *,
    are_stored: bool = False,
) -> Iterator[Rows]:
    """Yield the rows of files' edges, some files at once.

    Where all nodes `are_stored` and there are several parts, several processes link them.
    """
    from vademecum.code.graph.linkers import Linker, link_apart

    linker = Linker(records, files, definitions)
    parts = ({path: proofs.of(path) for path in part} for part in _cut(paths))
    processes = min(records.plan.processes, MOST_PROCESSES, -(-len(paths) // AT_ONCE)) if are_stored else 1
    if processes < 2:
        for number, part in enumerate(parts):
            yield linker.link(part, partial(_told, progress, number * AT_ONCE, len(paths)))
        return
    done = 0
    for rows in link_apart(linker, parts, processes):
        done += len(rows.resolved)
        progress("linking", done, len(paths))
        yield rows


def _cut(paths: Sequence[str]) -> Iterator[Sequence[str]]:
    return (paths[first : first + AT_ONCE] for first in range(0, len(paths), AT_ONCE))


def _told(progress: Progress, before: int, total: int, step: str, done: int, _: int) -> None:
    """Tell the progress in a part as progress in the whole."""
    progress(step, before + done, total)


def snapshot_files(view: View) -> Files:
    """Return path → (blob, language) of a snapshot's files."""
    table = view.files
    return {
        path: (blob, table.language(number))
        for number, (path, blob) in enumerate(zip(table.paths, table.blobs.tolist(), strict=True))
        if blob != LEFT_OUT
    }


def nodes_of(file: File) -> list[Node]:
    """Return a file's own node and those of its declarations."""
    return [file.itself, *file.nodes.values()]


def tokens_of_change(
    new: Definitions, old: Mapping[str, File], changed: Iterable[str], gone: Iterable[str], names_gone: Iterable[str]
) -> set[str]:
    """Return the tokens of a change that other files may have consulted."""
    tokens: set[str] = set(gone)
    names = set(names_gone)
    for path in changed:
        file = new.file(path)
        if path not in old:
            names |= {node.name for node in file.nodes.values()}
            tokens |= {f"/{part}" for part in parts_of(path)}
        elif interface(old[path]) != interface(file):
            tokens.add(path)
            declared = [{(n.qualified, n.kind) for n in each.nodes.values()} for each in (old[path], file)]
            differing = (
                declared[0] ^ declared[1] if old[path].refs.package == file.refs.package else declared[0] | declared[1]
            )
            names |= {qualified.rpartition(".")[2] for qualified, _ in differing}
            names |= {
                n.name for each in (old[path], file) for n in each.nodes.values() if (n.qualified, n.kind) in differing
            }
    for path in gone:
        tokens |= {f"/{part}" for part in parts_of(path)}
    return tokens | {f":{name}" for name in names}


def parts_of(path: str) -> set[str]:
    """Return the parts of a path that a module's name can hold.

    >>> sorted(parts_of("src/net/retry.test.ts"))
    ['net', 'retry', 'retry.test', 'retry.test.ts', 'src', 'test', 'ts']
    """
    *folders, last = path.split("/")
    return {*folders, last, last.rpartition(".")[0], *last.split(".")} - {""}


def interface(file: File) -> tuple[Any, ...]:
    """Return the parts of a file that affect other files' edges.

    Calls and line numbers do not.
    """
    refs = file.refs
    return (
        refs.package,
        sorted((node.qualified, node.kind) for node in file.nodes.values()),
        [row[2:] for row in (*refs.imports, *refs.exports)],
        sorted((refs.owners[row[0]], *row[2:5], refs.owners[row[5]]) for row in refs.bindings),
        sorted((refs.owners[row[0]], *row[2:]) for row in refs.returns),
        sorted((refs.owners[row[0]], *row[2:]) for row in refs.takes),
        [(refs.owners[row[0]], *row[2:]) for row in refs.bases],
        sorted(file.properties),
        sorted(file.several),
        sorted(file.statics),
        sorted(file.conditional),
        sorted((refs.owners[row[0]], *row[2:]) for row in refs.aliases),
    )
