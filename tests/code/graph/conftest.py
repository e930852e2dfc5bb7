"""The graph follows from files alone: these repositories are folders, unless a test asks for git."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest

from handbook import Repo


@pytest.fixture
def repo(repo: Callable[..., Repo]) -> Callable[..., Repo]:
    """Make a folder by name, a git repository where `git=True` is given."""
    return partial(repo, git=False)
