"""A name alone is trusted only where nothing is known of what it is called on; what is written out has its own members."""

from __future__ import annotations

import pytest

from vademecum.code.graph.terms import Tier

KEPT = "export class Box {\n  minLength(n: number) { return n; }\n  refresh() { return 1; }\n}\n"


@pytest.mark.parametrize(
    ("body", "tier"),
    [
        ("export function f(x) { return x.minLength(1); }\n", Tier.UNIQUE),
        ("import * as all from './all';\nconst z = { ...all };\nexport function f() { return z.minLength(1); }\n", Tier.GUESS),
        ("const z = [1, 2];\nexport function f() { return z.minLength(1); }\n", Tier.GUESS),
        ("export function f(x: null | { minLength: Function }) { return x.minLength(1); }\n", Tier.GUESS),
        ("function made(): Promise<void> & { minLength(n: number): void } { return go(); }\nexport function f() { return made().minLength(1); }\n",
         Tier.GUESS),
        ("import { Box } from './box';\nexport function f(x: Box) { return x.minLength(1); }\n", Tier.TYPED),
    ],
)  # fmt: skip
def test_what_is_written_out_has_members_of_its_own(repo, engine, body, tier):
    """A literal, and a type that lists its members, are of no class: a member of that name elsewhere is a guess."""
    files = {"src/box.ts": KEPT, "src/use.ts": body, "src/all.ts": "export function maxLength() { return 2; }\n"}
    graph = engine(repo("boxes", files, git=False)).codebase.graph()
    names = {node.id: node.qualified for node in graph.every()}
    found = [(names[e.source], e.tier) for e in graph.every_edge(tuple(Tier)) if names[e.target] == "Box.minLength"]
    assert found == [("f", tier)]


def test_a_name_that_gos_library_has_decides_nothing(repo, engine):
    kept = "package m\n\ntype Kept struct{}\n\nfunc (k *Kept) NumIn() {}\n"
    use = "package m\n\nfunc use(xs []any) {\n\tfor _, x := range made(xs) {\n\t\tx.NumIn()\n\t}\n}\n\nfunc made[T any](xs T) T { return xs }\n"
    graph = engine(
        repo("boxes", {"go.mod": "module ex.com/m\n", "kept.go": kept, "use.go": use}, git=False)
    ).codebase.graph()
    names = {node.id: node.qualified for node in graph.every()}
    assert "Kept.NumIn" not in [names[edge.target] for edge in graph.every_edge(tuple(Tier))]
