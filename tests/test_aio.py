"""The engine off the event loop."""

from __future__ import annotations

import asyncio
import threading

import pytest

from vademecum.aio import AsyncEngine
from vademecum.errors import RootError


@pytest.fixture
def repository(tmp_path, monkeypatch):
    """A folder with one file; data in a place of its own."""
    monkeypatch.setenv("VADE_HOME", str(tmp_path / "data"))
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "budget.py").write_text("def split_budget(total):\n    return total // 2\n")
    return str(tmp_path / "code")


def test_methods_are_awaited(repository):
    async def ask():
        async with await AsyncEngine.open(repository) as engine:
            await engine.codebase.index()
            return await engine.codebase.search("split budget", k=1)

    assert asyncio.run(ask()).evidence[0].path == "budget.py"


def test_any_function_of_the_engine_runs_on_one_thread_that_is_not_the_loops(repository):
    async def threads():
        async with await AsyncEngine.open(repository) as engine:
            seen = await asyncio.gather(*(engine.call(lambda _: threading.get_ident()) for _ in range(8)))
            return {threading.get_ident(), *seen}

    assert len(asyncio.run(threads())) == 2


def test_the_loop_goes_on_while_the_engine_works(repository):
    async def both():
        async with await AsyncEngine.open(repository) as engine:
            gate = threading.Event()
            waiting = asyncio.create_task(engine.call(lambda _: gate.wait(10)))
            await asyncio.sleep(0)
            gate.set()
            return await waiting

    assert asyncio.run(both())


def test_errors_come_through():
    with pytest.raises(RootError):
        asyncio.run(AsyncEngine.open("no/such/folder"))


def test_tools_are_awaited(repository):
    """The tools capability is there off the event loop as well."""

    async def asked() -> str:
        async with await AsyncEngine.open(str(repository)) as engine:
            await engine.tools.register_json('[{"name": "read", "description": "Read a file."}]')
            answer = await engine.tools.search("read a file")
            return answer.matches[0].id

    assert asyncio.run(asked()) == "read"
