"""What counts as this machine: consent to what leaves it is judged by this, for every provider and store."""

from __future__ import annotations

import pytest

from vademecum.addresses import is_elsewhere


@pytest.mark.parametrize(
    ("url", "remote"),
    [
        ("http://127.0.0.1:6333", False),
        ("http://localhost", False),
        ("http://[::1]:6333", False),
        ("http://qdrant:6333", True),
        ("https://x.cloud.qdrant.io", True),
        ("http://127.0.0.1.evil.org", True),
        ("http://localhost.evil.org", True),
        ("http://0.0.0.0:6333", True),
        ("", True),
    ],
)
def test_another_machine_is_remote(url, remote):
    """Only loopback is this machine: a name that begins like it may lead anywhere."""
    assert is_elsewhere(url) is remote
