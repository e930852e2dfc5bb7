"""One indexing run at a time."""

from __future__ import annotations

import subprocess
import sys

import pytest

from vademecum.errors import StoreBusyError, StoreError
from vademecum.private import exclusive


def test_the_lock_is_held_and_let_go(tmp_path):
    """A second holder is refused while the first holds, and welcome afterwards, also after an error."""
    path = tmp_path / "deep" / "index.lock"
    with exclusive(path, 0), pytest.raises(StoreBusyError, match=r"index\.lock"), exclusive(path, 0):
        pass
    with pytest.raises(KeyError), exclusive(path, 0):
        raise KeyError
    with exclusive(path, 0):
        pass


def test_whoever_waits_is_told_while_it_takes(tmp_path):
    """The callback says that there is a wait, again and again: what shows it waits a moment itself."""
    told = []
    with (
        exclusive(tmp_path / "x", 0),
        pytest.raises(StoreBusyError),
        exclusive(tmp_path / "x", 0.2, lambda: told.append(1)),
    ):
        pass
    assert len(told) > 1


def test_a_killed_holder_holds_nothing(tmp_path):
    """The system lets go of the lock of a process that was killed."""
    code = "import fcntl,sys;f=open(sys.argv[1],'a');fcntl.flock(f,fcntl.LOCK_EX);print(1,flush=True);sys.stdin.read()"
    with subprocess.Popen(
        [sys.executable, "-c", code, tmp_path / "x"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as holder:
        assert holder.stdout is not None
        holder.stdout.readline()
        with pytest.raises(StoreBusyError), exclusive(tmp_path / "x", 0):
            pass
        holder.kill()
        holder.wait()
        with exclusive(tmp_path / "x", 5):
            pass


def test_a_place_that_cannot_be_written_is_named(tmp_path):
    """A lock that cannot be made is an error of ours, with the way out."""
    (tmp_path / "taken").write_text("")
    with pytest.raises(StoreError, match="VADE_HOME"), exclusive(tmp_path / "taken" / "x", 0):
        pass
