"""`Ok` and `Err`: outcomes as values, at the borders of our code.

Provider and store methods, and the steps that work on one untrusted item (parsing, chunking a file), return
`Result[T, E]`. Public API methods never do: they raise, or return a report that lists failures. `Err.error` is an
instance of our one exception hierarchy, so `unwrap()` raises an exception that a caller can catch.

    >>> half = lambda n: Ok(n // 2) if n % 2 == 0 else Err(ValueError(f"{n} is odd"))
    >>> match half(4):
    ...     case Ok(value):
    ...         print(value)
    ...     case Err(error):
    ...         print("no:", error)
    2
    >>> half(3).unwrap()
    Traceback (most recent call last):
    ...
    ValueError: 3 is odd

Source: CodeRAG design decision 8 (Result over exceptions), bounded to the seams (docs/decisions/0002).
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Generic, Never, ParamSpec, TypeVar, cast

T = TypeVar("T")
E = TypeVar("E", bound=Exception)
P = ParamSpec("P")


@dataclass(frozen=True, slots=True)
class Ok(Generic[T]):
    """A success that carries its value."""

    value: T

    def unwrap(self) -> T:
        """Return the value."""
        return self.value


@dataclass(frozen=True, slots=True)
class Err(Generic[E]):
    """A failure that carries the exception it would raise."""

    error: E

    def unwrap(self) -> Never:
        """Raise the error, its cause attached."""
        raise self.error


Result = Ok[T] | Err[E]


def attempt(
    error: Callable[[str], E], *foreign: type[Exception]
) -> Callable[[Callable[P, T]], Callable[P, Ok[T] | Err[E]]]:
    """Return a decorator that turns foreign exceptions into `Err`.

    The decorated function returns `Ok`, or `Err(error(message))` for the types in `foreign`.

    An exception that already is an `error` stays as it is. Any other exception (a bug, `KeyboardInterrupt`) passes through.

        >>> @attempt(LookupError, ZeroDivisionError)
        ... def divide(a: int, b: int) -> float:
        ...     return a / b
        >>> divide(1, 0)
        Err(error=LookupError('division by zero'))
    """

    def decorate(function: Callable[P, T]) -> Callable[P, Ok[T] | Err[E]]:
        @functools.wraps(function)
        def wrapped(*args: P.args, **kwargs: P.kwargs) -> Ok[T] | Err[E]:
            try:
                return Ok(function(*args, **kwargs))
            except foreign as cause:
                if isinstance(error, type) and isinstance(cause, error):
                    return Err(cast("E", cause))  # already named, maybe more precisely
                named = error(str(cause) or type(cause).__name__)
                named.__cause__ = cause
                return Err(named)

        return wrapped

    return decorate


def outcome(
    naming: Callable[[Any], AbstractContextManager[object]], error: type[E]
) -> Callable[[Callable[P, T]], Callable[P, Ok[T] | Err[E]]]:
    """Return a decorator: methods return `Ok`, or `Err` for an `error`.

    Each runs inside of `naming(self)`, which raises our errors for those of a library.
    """

    def decorate(method: Callable[P, T]) -> Callable[P, Ok[T] | Err[E]]:
        @functools.wraps(method)
        def wrapped(*args: P.args, **kwargs: P.kwargs) -> Ok[T] | Err[E]:
            try:
                with naming(args[0]):
                    return Ok(method(*args, **kwargs))
            except error as known:
                return Err(known)

        return wrapped

    return decorate
