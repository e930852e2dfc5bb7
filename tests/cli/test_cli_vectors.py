"""An index of vectors outside, at the terminal."""

from __future__ import annotations

import shutil

import pytest

from needed import package

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


def test_what_a_server_lacks_is_said(vade, monkeypatch):
    """By the run that indexes, by the search that goes on without it, and by the doctor."""
    monkeypatch.setenv("VADE_SEARCH__VECTORS", "qdrant")
    monkeypatch.setenv("VADE_QDRANT__URL", "http://127.0.0.1:9")
    indexed = vade("index")
    assert indexed.code == 0
    assert "qdrant lacks 3 of 3 files: nothing answers at http://127.0.0.1:9" in indexed.out
    found = vade("search", "split the token budget")
    assert found.code == 0
    assert "src/budget.py" in found.out or "budget.py" in found.out
    assert "meaning is from this machine's own vectors" in found.out
    checked = vade("doctor")
    assert checked.code == 3
    assert "vectors: mend that, then run `vade doctor --repair`" in checked.out


@pytest.mark.slow
def test_doctor_repairs(vade, monkeypatch, tmp_path_factory):
    """What somebody removed is written again."""
    package("lancedb")
    monkeypatch.setenv("VADE_SEARCH__VECTORS", "lancedb")
    home = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("VADE_HOME", str(home))
    vade("index")
    assert vade("doctor").code == 0
    [directory] = home.glob("repos/*/lancedb")
    shutil.rmtree(directory)
    checked = vade("doctor")
    assert checked.code == 3
    assert "points missing" in checked.out
    mended = vade("doctor", "--repair")
    assert mended.code == 0
    assert "mended, there were" in mended.out
    assert vade("doctor").code == 0


def test_a_package_that_is_not_installed_is_named(vade, monkeypatch):
    """With what to type."""
    import sys

    monkeypatch.setenv("VADE_SEARCH__VECTORS", "qdrant")
    monkeypatch.setitem(sys.modules, "qdrant_client", None)
    monkeypatch.delitem(sys.modules, "vademecum.storage.qdrant", raising=False)
    done = vade("search", "split the token budget")
    assert done.code == 3
    assert "pip install 'vademecum[qdrant]'" in done.err


def test_an_index_that_does_not_exist_is_refused(vade, monkeypatch):
    """With those there are."""
    monkeypatch.setenv("VADE_SEARCH__VECTORS", "qdrnt")
    done = vade("search", "split the token budget")
    assert done.code in {2, 3}
    assert "did you mean 'qdrant'?" in done.err
