"""Calls off the event loop: room, time, and what is let go of."""

from __future__ import annotations

import asyncio
import threading

import pytest

from vademecum import config
from vademecum.errors import AccessError
from vademecum.http.engines import KEPT, Engines, Opening
from vademecum.http.problems import ProblemError


@pytest.fixture
def engines():
    made = []

    def make(**limits):
        own = {"server.threads": 1, "server.waiting": 4, "server.timeout_s": 30.0} | {
            f"server.{name}": v for name, v in limits.items()
        }
        made.append(Engines(config.load(None, arguments=own | {"search.embedder": "hashing"})))
        return made[-1]

    yield make
    for each in made:
        each.close()


def test_what_takes_too_long_is_given_up_and_the_thread_goes_on(engines, repo):
    limited, opening, until = engines(timeout_s=0.2), Opening((str(repo().path),), personal=True), threading.Event()

    async def ask():
        with pytest.raises(ProblemError, match=r"0\.2 seconds") as refused:
            await limited.call(opening, lambda _: until.wait(30))
        assert refused.value.status_code == 504
        until.set()
        for _ in range(100):  # it answers again once the thread is free
            try:
                return await limited.call(opening, lambda engine: engine.roots[0].name)
            except ProblemError:
                await asyncio.sleep(0.05)
        raise AssertionError

    assert asyncio.run(ask()) == "handbook"


def test_there_is_room_for_so_many_and_no_more(engines, repo):
    limited, opening, until = (
        engines(threads=1, waiting=2),
        Opening((str(repo().path),), personal=True),
        threading.Event(),
    )

    async def ask():
        calls = [asyncio.ensure_future(limited.call(opening, lambda _: until.wait(30))) for _ in range(3)]
        await asyncio.sleep(0)
        with pytest.raises(ProblemError, match="waiting already") as refused:
            await limited.call(opening, lambda _: None)
        until.set()
        assert await asyncio.gather(*calls) == [True, True, True]
        await asyncio.sleep(0)
        return refused.value.status_code, await limited.call(opening, lambda _: "in")

    assert asyncio.run(ask()) == (503, "in")


def test_what_a_call_raises_is_raised(engines, repo):
    opening = Opening((str(repo().path),), personal=False)
    with pytest.raises(AccessError, match="belong to the user"):
        asyncio.run(engines().call(opening, lambda engine: engine.tools.stats()))


def test_a_thread_keeps_the_engines_it_used_last(engines, repo, tmp_path):
    places = [
        Opening((str(repo(f"r{number}", {"a.py": "x = 1\n"}).path),), personal=True) for number in range(KEPT + 1)
    ]
    limited = engines()

    async def ask():
        first = await limited.call(places[0], lambda engine: engine)
        assert await limited.call(places[0], lambda engine: engine) is first
        for place in places[1:]:
            await limited.call(place, lambda engine: engine.codebase.search("x"))
        return first, await limited.call(places[0], lambda engine: engine)

    before, after = asyncio.run(ask())
    assert before is not after  # it was closed to make room
