"""Watching: a save is taken in, and a failure is told and survived."""

from __future__ import annotations

import threading
import time

from vademecum import Engine


def test_a_failure_is_told_and_the_next_change_is_taken_in(repo):
    """While git cannot read the repository nothing is indexed, and afterwards everything is."""
    app = repo("app", {"a.py": "def now():\n    return 1\n"})
    reports, stop = [], threading.Event()

    def run():
        with Engine.open(app.path, embedder="hashing") as opened:
            opened.codebase.watch(reports.append, stop)

    watcher = threading.Thread(target=run)
    watcher.start()
    try:
        assert _until(lambda: reports)
        head = app.read(".git/HEAD")
        app.write(".git/HEAD", "broken")
        time.sleep(0.5)
        app.write("b.py", "def later():\n    return 2\n")
        assert _until(lambda: any(report.failures for report in reports))
        assert watcher.is_alive()
        app.write(".git/HEAD", head)
        app.write("c.py", "def last():\n    return 3\n")
        assert _until(lambda: reports[-1].files == 3)
    finally:
        stop.set()
        watcher.join(60)
    assert not watcher.is_alive()


def _until(condition, seconds=180):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.05)
    return False
