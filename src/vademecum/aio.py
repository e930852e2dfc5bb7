"""The engine for event loops.

    async with await AsyncEngine.open(".") as engine:
        answer = await engine.call(lambda e: e.codebase.search("how are tokens counted"))

`call` runs a function of the engine on the engine's own thread and keeps the type of its result. It replaces an async
copy of every method. An engine has one thread, because a database connection belongs to the thread that made it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar

if TYPE_CHECKING:
    from vademecum.answers.pack import Context
    from vademecum.config import Settings
    from vademecum.context.map import Map
    from vademecum.engine import Engine

T = TypeVar("T")


class AsyncEngine:
    """An `Engine` whose calls are awaited. Make one with `AsyncEngine.open`."""

    def __init__(self, engine: Engine, thread: ThreadPoolExecutor) -> None:
        self._engine = engine
        self._thread = thread
        self.codebase = Awaited(self, lambda engine: engine.codebase)
        self.memory = Awaited(self, lambda engine: engine.memory)
        self.tools = Awaited(self, lambda engine: engine.tools)

    @classmethod
    async def open(cls, *paths: str, settings: Settings | None = None) -> Self:
        """Open an engine, with arguments and errors of `Engine.open`."""
        thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="vademecum")

        def opened() -> Engine:
            from vademecum.engine import Engine

            return Engine.open(*(paths or (".",)), settings=settings)

        try:
            return cls(await asyncio.get_running_loop().run_in_executor(thread, opened), thread)
        except BaseException:
            thread.shutdown(wait=False)
            raise

    async def call(self, function: Callable[[Engine], T]) -> T:
        """Run `function(engine)` on the engine's thread and return its result."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, function, self._engine)

    async def context(self, task: str, budget_tokens: int | None = None, **options: Any) -> Context:
        """Return the code and notes for a task, as `Engine.context`."""
        return await self.call(lambda engine: engine.context(task, budget_tokens, **options))

    async def map(self, paths: Sequence[str] = (), budget_tokens: int | None = None, **options: Any) -> Map:
        """Return a map of the repositories, as `Engine.map` does."""
        return await self.call(lambda engine: engine.map(paths, budget_tokens, **options))

    async def close(self) -> None:
        """Close the engine, after the calls already made."""
        await self.call(lambda engine: engine.close())
        self._thread.shutdown()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()


class Awaited:
    """A part of the engine with awaitable methods.

    Example: `await engine.codebase.search("…")`.
    """

    def __init__(self, engine: AsyncEngine, part: Callable[[Engine], Any]) -> None:
        self._engine = engine
        self._part = part

    def __getattr__(self, name: str) -> Callable[..., Any]:
        """Return an awaitable wrapper of the method called `name`."""

        async def method(*args: Any, **kwargs: Any) -> Any:
            return await self._engine.call(lambda engine: getattr(self._part(engine), name)(*args, **kwargs))

        return method
