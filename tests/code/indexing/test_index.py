"""From a directory to a snapshot: what is counted, what is reused, what is called what."""

from __future__ import annotations

import os
import subprocess
import sys
import time

import pytest

from vademecum.errors import GitError, StoreBusyError
from vademecum.providers.embedders.hashing import HashingEmbedder
from vademecum.testing import CountingEmbedder, FixedClock
from vademecum.types import Skipped


def test_a_first_run_counts_every_file_as_new(repo, engine):
    """All files of a first run are added, none is unchanged, and what can be searched is said."""
    report = engine(repo()).codebase.index()
    assert (report.files, report.added, report.removed, report.unchanged) == (6, 6, 0, 0)
    assert report.chunks > 6


def test_the_seconds_told_hold_those_of_the_graph(repo, engine):
    """A report counts the time of linking too, as the person who waits does."""
    linked = []

    def waits(stage, done, total):
        if stage == "linking":
            time.sleep(0.5)
            linked.append(time.perf_counter())

    codebase = engine(repo()).codebase
    codebase.symbol("nothing")  # all that is imported once is
    began = time.perf_counter()
    report = codebase.index(waits, full=True)
    assert report.seconds > linked[-1] - began - 0.3


def test_a_second_run_finds_nothing_to_do(repo, engine):
    """Running again counts every file as unchanged, although their times are too recent to be trusted."""
    codebase = engine(repo()).codebase
    codebase.index()
    report = codebase.index()
    assert (report.files, report.added, report.removed, report.unchanged) == (6, 0, 0, 6)


def test_an_interrupt_between_two_files_tells_what_the_next_run_finds(repo, engine):
    """An interrupt that comes before a file is told of still counts the file among those that are kept."""
    made = repo(files={f"src/part_{n}.py": f"def step_{n}():\n    return {n}\n" for n in range(9)})
    codebase, told = engine(made).codebase, []

    def interrupts(stage, done, total):
        if stage == "indexing" and done == 4 and not told:
            told.append("interrupt")
            raise KeyboardInterrupt
        if told:
            told.append((stage, done, total))

    with pytest.raises(KeyboardInterrupt):
        codebase.index(progress=interrupts)
    assert told[1:] == [("indexing", 4, 9)]
    assert codebase.index().added == 5


def test_an_edit_counts_as_one_new_file(repo, engine):
    """One edited file is one whose content was not known."""
    made = repo()
    codebase = engine(made).codebase
    codebase.index()
    made.write("src/budget.py", made.read("src/budget.py") + "\nLIMIT = 7\n")
    report = codebase.index()
    assert (report.added, report.removed, report.unchanged) == (1, 0, 5)


def test_a_rename_analyses_nothing(repo, engine):
    """A renamed file is known content: one path gone, none new."""
    made, embedder = repo(), CountingEmbedder(HashingEmbedder())
    codebase = engine(made, embedder=embedder).codebase
    codebase.index()
    embedder.passages = 0
    made.git("mv", "src/budget.py", "src/tokens.py")
    report = codebase.index()
    assert (report.added, report.removed, report.unchanged, embedder.passages) == (0, 1, 5, 0)
    assert codebase.search("split the token budget", refresh=False).evidence[0].path == "src/tokens.py"


def test_a_copy_analyses_nothing(repo, engine):
    """The same content at a second path is found at both, and was analysed once."""
    made = repo()
    codebase = engine(made).codebase
    codebase.index()
    made.write("copy/budget.py", made.read("src/budget.py"))
    assert codebase.index().added == 0
    assert {e.path for e in codebase.symbol("Budget.split").evidence} == {"src/budget.py", "copy/budget.py"}


def test_going_back_to_a_branch_analyses_nothing(repo, engine):
    """Switching branches back and forth embeds nothing again, however much of the tree differs."""
    made, embedder = repo(), CountingEmbedder(HashingEmbedder())
    codebase = engine(made, embedder=embedder).codebase
    codebase.index()
    made.git("checkout", "-q", "-b", "other")
    made.git("rm", "-q", "-r", "src", "web", "tests")
    for number in range(12):
        made.write(f"lib/part{number}.py", f"def part_{number}():\n    return {number}\n")
    made.commit()
    codebase.index()
    embedder.passages = 0
    for branch in ("main", "other", "main"):
        made.git("checkout", "-q", branch)
        assert codebase.index().added == 0
    assert embedder.passages == 0


def test_worktrees_share_what_was_analysed(repo, engine):
    """A second worktree of a repository finds all its content known, and searches its own branch."""
    made, embedder = repo(), CountingEmbedder(HashingEmbedder())
    engine(made, embedder=embedder).codebase.index()
    embedder.passages = 0
    made.git("worktree", "add", "-q", "-b", "fix", "../fix")
    report = engine(made.path.parent / "fix", embedder=embedder).codebase.index()
    assert (report.repo, report.files, report.added, embedder.passages) == ("handbook", 6, 0, 0)


def test_a_clean_worktree_is_called_by_its_commit(repo, engine):
    """Where the disk holds exactly a commit, evidence says that commit."""
    made = repo()
    assert engine(made).codebase.index().commit == made.git("rev-parse", "HEAD")


@pytest.mark.parametrize("change", ["edit", "add", "delete"])
def test_a_dirty_worktree_is_called_by_its_commit_and_tree(repo, engine, change):
    """Any uncommitted change adds the tree's hash to the label; taking it back takes the hash away."""
    made = repo()
    codebase, commit = engine(made).codebase, made.git("rev-parse", "HEAD")
    clean = codebase.index().commit
    path = "src/new.py" if change == "add" else "src/budget.py"
    (made.path / path).unlink() if change == "delete" else made.write(path, "x = 1\n")
    dirty = codebase.index().commit
    assert dirty.startswith(f"{commit}+")
    assert len(dirty) == len(commit) + 13
    made.git("stash", "-q", "-u")
    assert codebase.index().commit == clean == commit


def test_a_commit_that_changes_no_file_changes_the_label(repo, engine):
    """The label follows HEAD even when the disk stays as it is."""
    made = repo()
    codebase = engine(made).codebase
    before = codebase.index().commit
    after = made.commit("nothing at all")
    assert codebase.index().commit == after != before


def test_outside_git_a_tree_is_called_by_its_hash(repo, engine):
    """Without git the id of evidence holds the tree's hash: equal for equal content. It is no commit, and is not called one."""
    first, second = repo("one", git=False), repo("two", git=False)
    opened = [engine(each).codebase for each in (first, second)]
    assert [codebase.index().commit for codebase in opened] == ["", ""]
    [[one], [two]] = [codebase.search("split the token budget", k=1).evidence for codebase in opened]
    assert one.id.split(":")[1:] == two.id.split(":")[1:]
    assert (len(one.id.split(":")[1]), one.commit) == (12, "")


def test_a_binary_file_is_left_out_once_and_reported_every_time(repo, engine):
    """A file that turns out to be binary is not read again, but every report names it."""
    made = repo(files={"a.py": "x = 1\n", "b.txt": b"\0\1\2"})
    codebase = engine(made, clock=FixedClock(4e9)).codebase
    for _ in range(2):
        report = codebase.index()
        assert report.files == 1
        assert report.skipped == (Skipped("b.txt", "binary", "NUL bytes"),)
        assert report.commit == made.git("rev-parse", "HEAD")


def test_what_is_skipped_is_told_even_when_nothing_else_changed(repo, engine):
    """A new secret file changes no content, and the report names it all the same."""
    made = repo()
    codebase = engine(made).codebase
    codebase.index()
    made.write(".env", "TOKEN=1\n")
    assert [s.path for s in codebase.index().skipped] == [".env"]
    (made.path / ".env").unlink()
    assert codebase.index().skipped == ()


def test_a_file_written_again_within_the_clocks_tick_is_seen(repo, engine):
    """A file rewritten with the same size and time, after it was read, is read again: its time was too recent to trust."""
    made = repo(files={"a.py": "one = 1\n"})
    os.utime(made.path / "a.py", ns=(10**18, 10**18))
    clock = FixedClock(1e9 + 0.001)
    codebase = engine(made, clock=clock).codebase

    def later(stage, done, total):
        clock.now = 1e9 + 60  # storing took a minute

    codebase.index(later)
    with (made.path / "a.py").open("r+") as file:
        file.write("two = 2\n")
    os.utime(made.path / "a.py", ns=(10**18, 10**18))
    assert codebase.index().added == 1


def test_a_file_that_vanishes_while_it_is_indexed_is_reported(repo, engine):
    """What is listed and then gone is left out with its reason; the rest is indexed."""
    made = repo()
    gone = made.path / "web" / "log.ts"
    report = engine(made).codebase.index(lambda *_: gone.unlink(missing_ok=True))
    assert report.files == 5
    assert [(s.path, s.reason) for s in report.skipped] == [("web/log.ts", "unreadable")]


def test_full_reads_everything_again_and_changes_nothing(repo, engine):
    """`full` gives the same snapshot."""
    codebase = engine(repo()).codebase
    before, after = codebase.index(), codebase.index(full=True)
    assert (after.commit, after.files, after.chunks) == (before.commit, before.files, before.chunks)


def test_an_unknown_revision_is_named(repo, engine):
    """Indexing a revision that does not exist says which."""
    with pytest.raises(GitError, match="no-such-branch"):
        engine(repo()).codebase.index(commit="no-such-branch")


def test_a_revision_outside_git_is_refused(repo, engine):
    """There are no revisions where there is no git, and the error says so."""
    with pytest.raises(GitError, match="git"):
        engine(repo(git=False)).codebase.index(commit="HEAD")


def test_a_commit_is_indexed_without_touching_the_worktree(repo, engine):
    """A revision is a snapshot of its own: it leaves the worktree's as it is."""
    made = repo()
    old = made.git("rev-parse", "HEAD")
    made.write("src/budget.py", "def renamed():\n    pass\n")
    made.commit()
    codebase = engine(made).codebase
    assert codebase.index(commit="HEAD~1").commit == old
    assert codebase.status()[0].commit == ""


def test_an_index_that_another_process_builds_is_not_waited_for(repo, engine):
    """While another process indexes, a search answers from the last complete state."""
    made = repo()
    codebase = engine(made).codebase
    codebase.index()
    made.write("src/budget.py", "def changed():\n    pass\n")
    with held(_lock_of(codebase)):
        answer = codebase.search("retry with backoff")
        assert answer.evidence[0].path == "src/net/retry.py"
        assert codebase.refresh()[0].files == 6


def test_indexing_while_another_process_does_says_so(repo, engine, monkeypatch):
    """`index` itself waits, and says what for; when it has waited long enough it names the lock."""
    made = repo()
    codebase = engine(made).codebase
    codebase.index()
    made.write("src/budget.py", "def changed():\n    pass\n")
    monkeypatch.setattr("vademecum.code.indexing.index.WAIT_SECONDS", 0.1)
    stages: list[str] = []
    with held(_lock_of(codebase)), pytest.raises(StoreBusyError, match=r"index\.lock"):
        codebase.index(lambda stage, *_: stages.append(stage))
    assert set(stages) == {"waiting for another process"}


def _lock_of(codebase):
    return os.path.join(os.path.dirname(codebase.status()[0].database), "index.lock")


class held:  # noqa: N801 - used as a verb
    """Hold a lock file in another process."""

    def __init__(self, path):
        code = "import fcntl,sys;f=open(sys.argv[1],'a');fcntl.flock(f,fcntl.LOCK_EX);print('held',flush=True);sys.stdin.read()"
        self.process = subprocess.Popen(
            [sys.executable, "-c", code, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def __enter__(self):
        assert self.process.stdout.readline() == "held\n"

    def __exit__(self, *_):
        self.process.communicate()


def test_files_that_could_not_be_parsed_are_kept_and_told(repo, engine):
    """A file that takes too long is found by windows and listed; one that only Python's own parser refuses is counted."""
    made = repo("hard", {"deep.py": "x = [1, 2, (3, 4)]\n" * 50_000, "two.py": "def hello():\n    print 'hi'\n"})
    codebase = engine(made, index__deadline_s=0.05).codebase
    report = codebase.index()
    assert [(item.path, item.reason) for item in report.failures] == [("deep.py", "unparsed")]
    assert (report.files, dict(report.degraded)) == (2, {"metadata": 1})
    assert codebase.symbol("hello").evidence
    assert codebase.index().failures == ()


def test_an_edit_embeds_only_the_chunks_it_changed(repo, engine):
    """An embedder that may cost money is asked for what is new; going on after a clean-up asks for nothing either."""
    made, embedder = repo(), CountingEmbedder(HashingEmbedder())
    functions = [f"def step_{n}(value):\n" + f"    value = value * {n}\n" * 30 + "    return value\n" for n in range(6)]
    made.write("steps.py", "\n\n".join(functions))
    codebase = engine(made, embedder=embedder).codebase
    codebase.index()
    embedder.passages = 0
    made.write("steps.py", "\n\n".join([*functions[:-1], functions[-1].replace("* 5", "* 50")]))
    codebase.index()
    assert embedder.passages == 1
    codebase.gc()
    codebase.index(full=True)
    assert embedder.passages == 1
