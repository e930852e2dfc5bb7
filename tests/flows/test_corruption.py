"""Whatever is damaged in the data directory, no answer is wrong in silence, nothing crashes and nothing hangs."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import corruption

TRIES = int(os.environ.get("CORRUPTIONS", "200"))


@pytest.mark.slow
def test_damage_at_random_is_mended_or_named(tmp_path, monkeypatch):
    """Of 200 tries, or as many as CORRUPTIONS says, each ends with the right answer or with words about the damage."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    data = corruption.Data(tmp_path, Path(os.environ["VADE_HOME"]))
    ends, bad = corruption.tried(data, range(TRIES))
    if counts := os.environ.get("CORRUPTIONS_TOLD"):
        Path(counts).write_text(corruption.told(ends), encoding="utf-8")
    assert bad == []
    assert ends["named"], "nothing was damaged"
