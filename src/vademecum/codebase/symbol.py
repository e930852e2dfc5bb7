"""Where a name is defined: exact, or not found. A look-up abstains rather than guesses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from vademecum.codebase.evidence import evidence_of, stored_chunks
from vademecum.codebase.explain import nearest_names, undefined
from vademecum.codebase.freshness import check_file
from vademecum.codebase.repository import Opened
from vademecum.codebase.search import as_it_stands, away_said, check_count
from vademecum.errors import UsageError
from vademecum.retrieval.features import definitions
from vademecum.retrieval.files import FILE_KINDS
from vademecum.retrieval.filters import below
from vademecum.retrieval.query import Plan, is_meant, last_part, split_name
from vademecum.types import Answer, Chunk, Evidence, FileKind, Symbol, Verdict

_PRODUCT_FIRST = [FileKind.PRODUCT, FileKind.CONFIG, FileKind.EXAMPLE, FileKind.TEST]


def find_symbol(opened: Sequence[Opened], name: str, k: int, *, nearest: bool = True) -> Answer:
    """Return the definitions of `name`, which may be qualified: `Class.method`, `module.function`; or the `nearest` names there are.

    Raises:
        UsageError: `name` holds no name, or `k` asks for nothing.
    """
    check_count(k)
    wanted = split_name(name)
    if not wanted:
        raise UsageError(f"{name!r} is not a name: write it as code does, `Engine.open` or `read_source`")
    found = [hit for each in opened for hit in _definitions(each, wanted)]
    found.sort(key=lambda hit: (hit[0], hit[1].path, hit[1].start_line))
    evidence = tuple(item for _, item in found)
    searched, away = sum(len(each.view) for each in opened), away_said(opened)
    if not evidence:
        plan = Plan(name, (), (last_part(name),), is_symbol=True)
        near = nearest_names(opened, plan) if nearest else ()
        reason = as_it_stands(away, undefined(opened, name, searched))
        return Answer(name, Verdict.NOT_FOUND, 0.0, (), reason, near, searched)
    count, named = _counted(evidence)
    verdict = Verdict.AMBIGUOUS if count > 1 else Verdict.RESOLVED
    advice = "; qualify the name to choose" if named > 1 else " of one name"
    reason = f"{count} definitions{advice}" if count > 1 else ""
    return Answer(name, verdict, 1 / count, evidence[:k], "; ".join(filter(None, (reason, away))), (), searched)


def _counted(evidence: Sequence[Evidence]) -> tuple[int, int]:
    """Return how many definitions there are, and under how many names; a class and constructors called like it are one."""
    names = [(item.repo, item.path, item.symbols[0]) for item in evidence]
    made = [
        item.kind == "constructor" and (repo, path, qualified.rpartition(".")[0]) in names
        for item, (repo, path, qualified) in zip(evidence, names, strict=True)
    ]
    rest = [name for name, is_made in zip(names, made, strict=True) if not is_made]
    return len(rest), len(set(rest))


def _definitions(each: Opened, wanted: list[str]) -> list[tuple[int, Evidence]]:
    """Return (how far the file is from product code, evidence) for each definition in one repository."""
    view = each.view
    exact = definitions(view, wanted[-1:])[view.row_chunk] >= 1
    if each.prefixes:
        exact &= below(view.files, each.prefixes)[view.row_file]
    hits = []
    rows = np.flatnonzero(exact).tolist()
    for row, stored in zip(rows, stored_chunks(each, rows), strict=True):
        file, chunk = int(view.row_file[row]), stored[0]
        state = check_file(each, file)
        for symbol in chunk.symbols:
            if is_meant(wanted, symbol.qualified, view.files.paths[file]) and chunk.metadata.get("part", 1) == 1:
                shown = evidence_of(each, row, stored, 1.0, {"definition": 1.0}, state)
                kind = FILE_KINDS[view.files.kinds[file]]
                distance = _PRODUCT_FIRST.index(kind) if kind in _PRODUCT_FIRST else len(_PRODUCT_FIRST)
                hits.append((distance, _as_definition(shown, chunk, symbol)))
    return hits


def _as_definition(shown: Evidence, chunk: Chunk, symbol: Symbol) -> Evidence:
    """Say of a piece of evidence what is known of the definition it holds."""
    whole = symbol.name == chunk.name
    metadata = {**chunk.metadata, "calls": list(chunk.calls)} if whole else {}
    return replace(
        shown,
        kind=symbol.kind,
        symbols=(symbol.qualified,),
        signature=symbol.signature or shown.signature,
        metadata=metadata,
    )
