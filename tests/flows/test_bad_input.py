"""Whatever lies on the disk or happens to it: a clear message, the rest goes on, nothing indexed is lost."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from vademecum.errors import Error, RootError, StoreBusyError, StoreFullError, StoreVersionError
from vademecum.storage import sqlite
from vademecum.testing import FixedClock
from vademecum.types import Freshness, Verdict


def skipped(report):
    return {item.path: item.reason for item in report.skipped}


def index_of(engine):
    return Path(engine.codebase.status()[0].database)


def test_a_missing_path_is_named(tmp_path, engine):
    """Opening what is not there says so."""
    with pytest.raises(RootError, match=r"nowhere.*does not exist"):
        engine(tmp_path / "nowhere")


def test_a_file_opens_the_repository_it_lies_in(repo, engine):
    """A file narrows the search to itself."""
    answer = engine(repo().path / "src" / "budget.py").codebase.search("token budget")
    assert {e.path for e in answer.evidence} == {"src/budget.py"}


def test_a_directory_outside_git_is_indexed(repo, engine):
    """Without git everything works."""
    made = repo("plain", {"a.py": "def alpha(): ...\n", ".gitignore": "b.py\n", "b.py": "def beta(): ...\n"}, git=False)
    codebase = engine(made).codebase
    assert codebase.search("alpha").evidence[0].path == "a.py"
    assert codebase.symbol("beta").verdict is Verdict.NOT_FOUND


@pytest.mark.parametrize("commit", [True, False])
def test_an_empty_repository_is_answered(repo, engine, commit):
    """No files, with or without a commit: every verb works and finds nothing."""
    codebase = engine(repo("empty", {}, commit=commit)).codebase
    assert codebase.index().files == 0
    assert codebase.search("anything").verdict is Verdict.NOT_FOUND
    assert codebase.symbol("anything").verdict is Verdict.NOT_FOUND
    assert codebase.status()[0].fresh
    codebase.gc()


def test_files_before_the_first_commit_are_indexed(repo, engine):
    """A repository without a commit is indexed, and none is made up for it."""
    report = engine(repo(commit=False)).codebase.index()
    assert (report.files, report.commit) == (6, "")


def test_a_repository_of_empty_files_is_indexed(repo, engine):
    """Files without a single chunk are files all the same, with any kind of embedder."""
    from vademecum.providers.embedders.hashing import HashingEmbedder

    for embedder in ("hashing", HashingEmbedder()):
        made = repo("blank", {"a.py": "", "pkg/__init__.py": "\n\n", "b.py": "def beta(): ...\n"})
        codebase = engine(made, embedder=embedder).codebase
        assert codebase.index(full=True).files == 3
        assert codebase.search("beta").evidence


def test_text_that_is_not_utf8_is_found(repo, engine):
    """Windows-1252, UTF-16 and damaged UTF-8 are read as text; lines count as in the file."""
    made = repo("old", {
        "latin.py": "# caf\xe9\ndef espresso():\n    return 'caf\xe9'\n".encode("latin-1"),
        "wide.txt": "def lungo():\r\n    pass\r\n".encode("utf-16"),
        "torn.py": "def ristretto():\n    return 'é'\n".encode() + b"# \xff\xfe\n",
    })  # fmt: skip
    codebase = engine(made).codebase
    assert codebase.symbol("espresso").evidence[0].start_line <= 2
    assert {e.path for e in codebase.search("lungo", k=9).evidence} >= {"wide.txt"}
    assert codebase.symbol("ristretto").verdict is Verdict.RESOLVED


def test_a_file_of_200_mb_is_reported_not_read(repo, engine):
    """A huge file costs a line in the report; the limit is a setting."""
    made = repo("app", {"a.py": "def alpha(): ...\n", "long.py": "x = 1\n" * 100})
    with (made.path / "huge.py").open("wb") as file:
        file.truncate(200_000_000)
    assert skipped(engine(made).codebase.index()) == {"huge.py": "too large"}
    report = engine(made, index__max_file_bytes=500).codebase.index()
    assert skipped(report) == {"huge.py": "too large", "long.py": "too large"}
    assert report.files == 1


def test_a_line_of_5_mb_is_indexed_and_found(repo, engine):
    """One endless line is cut into pieces that can be found, and does not take for ever."""
    line = "var a = [" + ",".join(f"'value{n % 500:05}'" for n in range(420_000)) + "];\n"
    made = repo("wide", {"data.js": line, "a.py": "def alpha(): ...\n"})
    codebase = engine(made, index__max_file_bytes=10_000_000).codebase
    report = codebase.index()
    assert report.files == 2
    assert codebase.search("alpha").evidence[0].path == "a.py"


HOSTILE = {
    "open": "(" * 50_000, "nested": "[" * 5_000 + "]" * 5_000, "signs": "a = " + "-" * 20_000 + "1",
    "indented": "if x:\n" + "".join(" " * n + "if x:\n" for n in range(1, 900)), "calls": "x = " + "f(" * 3_000 + ")" * 3_000,
    "continued": "\\\n" * 10_000, "quotes": "'''" * 9_999, "classes": "class A:\n" * 3_000, "decorators": "@a\n" * 5_000,
    "lambdas": "lambda: " * 5_000,
}  # fmt: skip


@pytest.mark.parametrize("ending", ["py", "ts", "cpp"])
def test_hostile_text_is_kept_and_the_rest_goes_on(repo, engine, ending):
    """Texts that drive parsers to their limits are indexed all the same, next to everything else."""
    files = {f"{name}.{ending}": text for name, text in HOSTILE.items()}
    codebase = engine(repo("hostile", {**files, "good.py": "def alpha(): ...\n"}), index__deadline_s=0.2).codebase
    assert codebase.index().files == len(HOSTILE) + 1
    assert codebase.symbol("alpha").verdict is Verdict.RESOLVED


@pytest.mark.parametrize("git", [True, False])
def test_links_are_never_followed(repo, engine, tmp_path, git):
    """Loops, links out of the root and broken links are reported; nothing behind them is read."""
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret.py").write_text("def stolen(): ...\n")
    made = repo("links", {"a.py": "def alpha(): ...\n", "d/b.py": "def beta(): ...\n"}, git=git)
    for name, target in {"loop": ".", "d/up": "..", "out": "../outside", "out.py": "../outside/secret.py", "gone.py": "nowhere",
                         "self.py": "self.py"}.items():  # fmt: skip
        (made.path / name).symlink_to(target)
    codebase = engine(made).codebase
    report = codebase.index()
    assert report.files == 2
    assert skipped(report)["out.py"] == "symlink out of the root"
    assert {"loop", "d/up", "out", "gone.py", "self.py"} <= set(skipped(report))
    assert codebase.symbol("stolen").verdict is Verdict.NOT_FOUND


def test_a_tree_that_changes_while_it_is_indexed_is_caught_up_with(repo, engine):
    """Files deleted, replaced by directories and added meanwhile: the run ends, and the next one has it right."""
    made = repo()

    def meddle(stage, done, total):
        if stage == "reading" and done == 1:
            (made.path / "web" / "log.ts").unlink()
            (made.path / "web" / "log.ts").mkdir()
            made.write("web/log.ts/inner.ts", "export const inner = 1\n")
            (made.path / "tests" / "test_budget.py").unlink()

    codebase = engine(made).codebase
    codebase.index(meddle)
    assert codebase.index().files == 5
    assert codebase.symbol("inner").verdict is Verdict.RESOLVED


def test_a_locked_database_says_to_try_again(repo, engine, monkeypatch):
    """While another program holds the database, indexing says so; reading goes on; nothing is lost."""
    monkeypatch.setattr(sqlite, "BUSY_SECONDS", 0.05)
    monkeypatch.setitem(sqlite.SqliteStore.__init__.__kwdefaults__, "busy_seconds", 0.05)
    made = repo()
    opened = engine(made)
    opened.codebase.index()
    made.write("new.py", "def newcomer(): ...\n")
    with closing(sqlite3.connect(index_of(opened), isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreBusyError, match="try again"):
            opened.codebase.index()
        assert opened.codebase.search("retry with backoff").evidence[0].path == "src/net/retry.py"
    assert opened.codebase.index().added == 1


@pytest.mark.parametrize("damage", ["garbage", "cut", "empty", "middle"])
def test_a_damaged_database_is_rebuilt(repo, engine, damage):
    """Whatever was written over the database, a full index answers as before; the damaged file is kept aside."""
    made = repo()
    first = engine(made)
    first.codebase.index()
    expected = first.codebase.search("token budget").evidence
    path = index_of(first)
    first.close()
    content = path.read_bytes()
    path.write_bytes(
        {
            "garbage": b"garbage " * 2000,
            "cut": content[:5000],
            "empty": b"",
            "middle": content[:8192] + b"\xa5" * (len(content) - 8192),
        }[damage]
    )
    again = engine(made)
    again.codebase.index(full=True)
    assert again.codebase.search("token budget").evidence == expected
    assert again.codebase.symbol("Budget.split").evidence
    assert all(check.ok for check in again.codebase.doctor() if check.name == "database")


def test_damage_met_in_a_search_says_what_to_do(repo, engine):
    """A search that runs into damage raises our error, which names the command that mends it."""
    made = repo()
    first = engine(made)
    first.codebase.index()
    path = index_of(first)
    first.close()
    with closing(sqlite3.connect(path)) as database:
        ((root, size),) = database.execute(
            "SELECT rootpage, page_size FROM sqlite_schema, pragma_page_size WHERE name = 'blobs'"
        )
    path.with_name("index.db.seal").unlink()  # as a run that was killed leaves it
    with path.open("r+b") as file:
        file.seek((root - 1) * size)
        file.write(b"\xa5" * size)
    with pytest.raises(Error, match=r"vade index --full"):
        engine(made).codebase.search("token budget")


def test_a_newer_database_is_left_alone(repo, engine):
    """An index that a newer vademecum made is neither read nor changed."""
    made = repo()
    first = engine(made)
    first.codebase.index()
    path = index_of(first)
    first.close()
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA user_version=999")
    before = path.read_bytes()
    with pytest.raises(StoreVersionError, match="999"):
        engine(made)
    assert path.read_bytes() == before


@pytest.fixture
def small_disk(tmp_path):
    """A file system of 1 MB; where none can be mounted, the limit on file sizes stands in for it (see the child below)."""
    place = tmp_path / "small"
    place.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(place)], capture_output=True, check=False
    )
    yield place, mounted.returncode == 0
    if mounted.returncode == 0:
        subprocess.run(["umount", "-l", str(place)], check=True)


FULL = """
import resource, signal, sys
from vademecum import config
from vademecum.code.indexing import index
from vademecum.engine import Engine
from vademecum.errors import StoreError
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
index.FLUSH_BYTES = 50_000
if sys.argv[3] == "limit":
    resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, 400_000))
settings = config.load(None, arguments={"index.workers": 1, "storage.home": sys.argv[2]})
with Engine.open(sys.argv[1], settings=settings, embedder="hashing") as engine:
    try:
        engine.codebase.index()
    except StoreError as error:
        print(type(error).__name__, error)
    found = engine.codebase.search("retry with backoff", refresh=False)
    print(found.evidence[0].path)
"""


@pytest.mark.parametrize("how", ["mount", "limit"])
def test_a_full_disk_loses_nothing(repo, engine, small_disk, how):
    """When no room is left the message says so, the state from before still answers, and all is well once there is room."""
    place, mounted = small_disk
    made = repo()
    home = place if how == "mount" and mounted else place.parent / "home"
    engine(made, home=home).codebase.index()
    for n in range(200):
        made.write(f"more/part{n}.py", "".join(f"def part_{n}_{m}():\n    '''Part {m}.'''\n\n" for m in range(60)))
    environ = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", FULL, str(made.path), str(home), "mount" if home == place else "limit"]
    done = subprocess.run(command, env=environ, capture_output=True, text=True, check=True, timeout=60)
    said, path = done.stdout.splitlines()
    assert path == "src/net/retry.py"
    assert said.startswith(StoreFullError.__name__)
    assert "free some space" in said
    assert not list(home.glob("repos/*/*.tmp"))
    if home == place:
        subprocess.run(["mount", "-o", "remount,size=32m", str(place)], check=True)
    opened = engine(made, home=home)
    assert opened.codebase.index().files == 206
    assert opened.codebase.status()[0].fresh
    assert opened.codebase.symbol("part_199_59").evidence


def test_a_root_whose_name_is_not_utf8_is_refused_by_name(tmp_path, engine, make_repo):
    """A path that no database could store is refused before anything is written, saying what to rename."""
    place = Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9"))
    with pytest.raises(RootError, match="UTF-8: rename"):
        engine(make_repo(place, {"a.py": "x = 1\n"}))


def test_times_far_away_are_stored(repo, engine):
    """Files from before 1970 and after 2262 are indexed."""
    made = repo()
    os.utime(made.path / "src/budget.py", (-1e9, -1e9))
    os.utime(made.path / "web/log.ts", (9.9e9, 9.9e9))
    codebase = engine(made).codebase
    codebase.index()
    assert codebase.index().unchanged == 6


def test_names_that_are_hard_to_print_are_reported(repo, engine):
    """Names that are not UTF-8 or hold control characters are left out by name; odd but printable ones are found."""
    made = repo(
        "odd",
        {"a b'\"$.py": "def alpha(): ...\n", "ünï/日本.py": "def beta(): ...\n", "-rf.py": "def gamma(): ...\n"},
        git=True,
    )
    for raw in (b"caf\xe9.py", b"new\nline.py"):
        Path(os.fsdecode(os.fsencode(made.path) + b"/" + raw)).write_text("x = 1\n")
    codebase = engine(made).codebase
    report = codebase.index()
    assert (report.files, len(report.skipped)) == (3, 2)
    for name in ("alpha", "beta", "gamma"):
        (hit,) = codebase.symbol(name).evidence
        assert codebase.open(f"{hit.path}:1").snippet == hit.snippet


def test_inodes_of_64_bits_are_stored(repo, engine, monkeypatch):
    """File systems that use all 64 bits of an inode number (overlays, network shares) are indexed, and not read twice."""
    real = os.lstat

    def wide(path, **options):
        found = real(path, **options)
        times = {name: getattr(found, name) for name in ("st_mtime_ns", "st_atime_ns", "st_ctime_ns")}
        return os.stat_result((found.st_mode, found.st_ino | 1 << 63, *found[2:]), times)

    monkeypatch.setattr(os, "lstat", wide)
    codebase = engine(repo(), clock=FixedClock(4e9)).codebase
    codebase.index()
    stages: list[str] = []
    codebase.index(lambda stage, *_: stages.append(stage))
    assert stages == []
    assert codebase.search("token budget", refresh=False).evidence[0].freshness is Freshness.FRESH
