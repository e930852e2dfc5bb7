"""Whether a server can be sent requests: it follows the database it keeps its records in, and asks that seldom."""

from __future__ import annotations

import asyncio
import threading
import time

import pytest

from postgres_wire import between
from vademecum.errors import StoreAwayError
from vademecum.http import engines
from vademecum.http.engines import Readiness
from vademecum.http.problems import ProblemError
from vademecum.metrics import exposition
from vademecum.storage.postgres.connect import connections


def test_it_is_not_ready_while_postgresql_says_nothing(serve, repo, database, tmp_path, monkeypatch):
    """And is again once it answers; it lives all the while, and tells nobody where the database is."""
    monkeypatch.setattr(engines, "EVERY_S", 0.0)
    with between(database) as wire:
        storage = {"provider": "postgres", "url": wire.url, "timeout_s": 2}
        client = serve(repo(), home=str(tmp_path / "home"), storage=storage)
        assert client.get("/readyz").json == {"status": "ready"}
        assert "vademecum_http_store_ready 1" in exposition()
        wire.silent.set()
        said = client.get("/readyz")
        assert said.status == 503
        assert said.headers["retry-after"] == "1"
        assert "postgres database of storage.url" in said.json["detail"]
        assert "127.0.0.1" not in said.body.decode()
        assert "vademecum_http_store_ready 0" in exposition()
        assert client.get("/healthz").status == 200
        wire.silent.clear()
        until = time.monotonic() + 60
        while client.get("/readyz").status == 503 and time.monotonic() < until:
            connections(wire.url, 2)._failure = None  # half a minute later
            time.sleep(0.1)
        assert client.get("/readyz").json == {"status": "ready"}


def test_a_database_that_is_away_is_asked_once_however_many_want_to_know():
    """Who asks while another does waits for the same answer; an answer, also that there is none, is good for a second."""
    asked: list[None] = []

    def ask() -> None:
        asked.append(None)
        raise StoreAwayError("postgresql://db.example.org cannot be reached")

    async def many() -> list[object]:
        ready = Readiness(ask, "postgres")
        return [
            said
            for _ in range(2)
            for said in await asyncio.gather(*(ready.check() for _ in range(9)), return_exceptions=True)
        ]

    said = asyncio.run(many())
    assert len(asked) == 1
    assert len(said) == 18
    assert all(isinstance(each, ProblemError) and each.status_code == 503 for each in said)


def test_nobody_waits_for_a_database_that_hangs(monkeypatch):
    """Longer than the patience there is; and it is not asked again before the first has come back."""
    monkeypatch.setattr(engines, "EVERY_S", 0.0)
    monkeypatch.setattr(engines, "PATIENCE_S", 0.01)
    let_go, asked = threading.Event(), []

    def ask() -> None:
        asked.append(None)
        let_go.wait(60)

    async def again() -> None:
        ready = Readiness(ask, "postgres")
        for _ in range(3):
            with pytest.raises(ProblemError, match=r"storage\.url"):
                await ready.check()
        assert len(asked) == 1
        let_go.set()
        monkeypatch.setattr(engines, "PATIENCE_S", 60.0)
        await ready.check()

    asyncio.run(again())
