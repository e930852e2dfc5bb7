"""Coverage data as evidence of which tests run a change."""

from __future__ import annotations

import json
import os
import sqlite3

import pytest

from vademecum.answers.neighbours import neighbours_text

STORE = "def put(store, key):\n    store[key] = 1\n    return store\n\n\ndef drop(store, key):\n    del store[key]\n    return store\n"
FILES = {
    "pyproject.toml": "[project]\nname = 'app'\n",
    "app/store.py": STORE,
    "tests/test_put.py": "def test_it(stores):\n    stores.run('put')\n",
    "tests/test_drop.py": "from app.store import drop\n\n\ndef test_it():\n    drop({1: 1}, 1)\n",
    "tests/test_old.py": "from app.store import put\n\n\ndef test_it():\n    put({}, 1) if False else None\n",
}
SCHEMA = """
CREATE TABLE meta (key text, value text, unique (key));
CREATE TABLE file (id integer primary key, path text, unique (path));
CREATE TABLE context (id integer primary key, context text, unique (context));
CREATE TABLE line_bits (file_id integer, context_id integer, numbits blob, unique (file_id, context_id));
CREATE TABLE arc (file_id integer, context_id integer, fromno integer, tono integer, unique (file_id, context_id, fromno, tono));
"""
HOUR = 3600


def numbits(lines):
    """A bit for each line, as coverage.py packs them."""
    packed = bytearray(max(lines) // 8 + 1)
    for line in lines:
        packed[line // 8] |= 1 << line % 8
    return bytes(packed)


def write_coverage(file, ran, *, arcs=False):
    """Write a `.coverage`: path → context → lines."""
    with sqlite3.connect(file) as db:
        db.executescript(SCHEMA)
        db.execute("INSERT INTO meta VALUES ('has_arcs', ?)", (str(int(arcs)),))
        for number, (path, contexts) in enumerate(ran.items(), 1):
            db.execute("INSERT INTO file VALUES (?, ?)", (number, path))
            for context, lines in contexts.items():
                db.execute("INSERT OR IGNORE INTO context (context) VALUES (?)", (context,))
                (of,) = db.execute("SELECT id FROM context WHERE context = ?", (context,)).fetchone()
                if arcs:
                    steps = zip([-1, *lines], [*lines, -1], strict=True)
                    db.executemany("INSERT INTO arc VALUES (?, ?, ?, ?)", [(number, of, *step) for step in steps])
                else:
                    db.execute("INSERT INTO line_bits VALUES (?, ?, ?)", (number, of, numbits(lines)))
    db.close()


def aged(made, name, hours):
    """Make a file that many hours older than the newest."""
    then = os.stat(made.path / "app/store.py").st_mtime - hours * HOUR
    os.utime(made.path / name, (then, then))


def to_run(answer):
    return [(test.path, test.because, test.tier) for test in answer.tests]


@pytest.fixture
def made(repo):
    """A repository of which two tests ran, measured after its last change."""
    made = repo("app", FILES, git=True)
    made.write(".gitignore", ".coverage\n")
    aged(made, "app/store.py", 5)
    return made


@pytest.mark.parametrize("arcs", [False, True])
@pytest.mark.parametrize("context", ["tests/test_put.py::test_it|run", "tests.test_put.test_it"])
@pytest.mark.parametrize("top", ["", "{root}/", "/builds/app/"])
def test_a_test_that_ran_the_code_comes_first(made, engine, arcs, context, top):
    """No call leads to it; one that was measured and did not run the code is spared."""
    path = f"{top.format(root=made.path)}app/store.py"
    write_coverage(
        made.path / ".coverage", {path: {"": [1, 6], context: [2, 3], "tests/test_old.py::test_it|run": [6]}}, arcs=arcs
    )
    answer = engine(made).codebase.impact("put")
    assert to_run(answer) == [("tests/test_put.py", "ran", "exact")]
    assert answer.coverage == (".coverage, measured just now: 1 test file ran this",)


def test_the_age_of_the_data_is_told_and_that_code_changed_since(made, engine):
    """Then lines are those from before the change, and nothing is spared."""
    write_coverage(
        made.path / ".coverage",
        {"app/store.py": {"": [1, 6], "tests/test_put.py::test_it|run": [2, 3], "tests/test_drop.py::test_it": [7, 8]}},
    )
    made.write("app/store.py", "import os\nimport sys\n\n\n" + STORE.replace("store[key] = 1", "store[key] = 2"))
    aged(made, ".coverage", 3)
    answer = engine(made).codebase.impact(diff="HEAD")
    assert to_run(answer)[0] == ("tests/test_put.py", "ran", "typed")
    assert "tests/test_drop.py" not in [test.path for test in answer.tests if test.because == "ran"]
    assert "tests/test_old.py" in [test.path for test in answer.tests]
    assert answer.coverage == (".coverage, measured 3 hours ago: 1 test file ran this; app/store.py changed since",)
    text = neighbours_text(answer)
    assert "tests to run: tests/test_put.py\ntests to run, by calls: tests/test_old.py\n" in text
    assert "measured 3 hours ago" in text


LCOV = "TN:\nSF:app/store.py\nDA:1,1\nDA:2,1\nDA:3,1\nDA:6,1\nDA:7,0\nDA:8,0\nend_of_record\n"
ISTANBUL = {
    "lib/store.js": {
        "statementMap": {str(n): {"start": {"line": n, "column": 0}, "end": {"line": n, "column": 9}} for n in (2, 5)},
        "s": {"2": 4, "5": 0},
    }
}
WITHOUT_TESTS = {
    # name of the data: path, text, other files
    "lcov": ("coverage/lcov.info", LCOV, {}),
    "go": (
        "coverage.out",
        "mode: set\nexample.org/app/store.go:3.12,5.2 1 1\nexample.org/app/store.go:7.13,9.2 1 0\n",
        {"go.mod": "module example.org/app\n", "store.go": "package app\n\nfunc put() int {\n\treturn 1\n}\n\nfunc drop() int {\n\treturn 2\n}\n"},
    ),
    "istanbul": (
        "coverage/coverage-final.json",
        json.dumps(ISTANBUL),
        {"lib/store.js": "function put() {\n  return 1\n}\nfunction drop() {\n  return 2\n}\n"},
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", WITHOUT_TESTS)
def test_data_without_tests_says_what_no_test_runs(repo, engine, kind):
    name, text, others = WITHOUT_TESTS[kind]
    made = repo("app", others or FILES)
    made.write(name, text)
    code = engine(made).codebase
    assert code.impact("drop").coverage == (f"{name}, measured just now: no measured test runs drop",)
    assert code.impact("put").coverage == (f"{name}, measured just now: tests run this, the data does not say which",)


def test_data_lies_beside_a_package_too(repo, engine):
    """Its paths begin there."""
    made = repo(
        "all",
        {
            "packages/a/package.json": "{}",
            "packages/a/lib/store.js": "function put() {\n  return 1\n}\n",
            "lib/store.js": "let x\n",
        },
    )
    made.write("packages/a/coverage/lcov.info", "SF:lib/store.js\nDA:1,1\nDA:2,0\nend_of_record\n")
    assert engine(made).codebase.impact("put").coverage == (
        "packages/a/coverage/lcov.info, measured just now: no measured test runs put",
    )


DAMAGED = {
    "no database": b"SQLite format 3\0" + b"\xff" * 5000,
    "no table": b"",
    "no count": b"TN:\nSF:app/store.py\nDA:1,many\n",
    "no block": b"mode: set\nthree lines\n",
    "no statements": b'{"app/store.py": {"s": {}}}',
    "too deep": b'{"a":' + b"[" * 200_000,
    "too many lines": b"mode: set\n" + b"x/app/store.py:1.1,999999999.1 1 1\n",
    "no format": b"hello",
}


@pytest.mark.parametrize("damage", DAMAGED)
def test_damaged_data_is_named_and_left_alone(made, engine, damage):
    """The answer is the one without it."""
    made.write(".coverage", DAMAGED[damage])
    before = (made.path / ".coverage").read_bytes()
    answer = engine(made).codebase.impact("drop")
    assert to_run(answer) == [("tests/test_drop.py", "calls", "exact")]
    (said,) = answer.coverage
    assert said.startswith(".coverage was not read: ")
    assert said.endswith("; delete it, or measure again")
    assert (made.path / ".coverage").read_bytes() == before
    assert not list(made.path.glob(".coverage-*"))


def test_a_database_that_never_ends_is_given_up(made, engine):
    """A table may be a view that computes for ever."""
    with sqlite3.connect(made.path / ".coverage") as db:
        db.executescript(
            SCHEMA.replace("CREATE TABLE context (id integer primary key, context text, unique (context));", "")
        )
        db.execute(
            "CREATE VIEW context AS WITH RECURSIVE n(id, context) AS (SELECT 1, 'a' UNION ALL SELECT id + 1, 'a' FROM n) SELECT max(id) AS id, 'a' AS context FROM n"
        )
    db.close()
    (said,) = engine(made).codebase.impact("drop").coverage
    assert said == ".coverage was not read: interrupted; delete it, or measure again"


def test_a_link_to_data_elsewhere_is_not_followed(made, engine, tmp_path):
    write_coverage(tmp_path / "data", {"app/store.py": {"tests/test_put.py::test_it": [7, 8]}})
    (made.path / ".coverage").symlink_to(tmp_path / "data")
    answer = engine(made).codebase.impact("drop")
    assert to_run(answer) == [("tests/test_drop.py", "calls", "exact")]
    assert "was not read" in answer.coverage[0]
