"""The compiled loops of tools: equal to numpy's for any intent and chains, and no reading outside of damaged arrays."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from vademecum.kernel import compiled
from vademecum.plugins import load
from vademecum.storage.sqlite import SqliteStore
from vademecum.testing import FixedClock
from vademecum.tools import attention, chains, heads, texts
from vademecum.tools.asked import Asked
from vademecum.tools.heads import After, Taken, still
from vademecum.tools.observe import trace
from vademecum.tools.records import Call, Tool
from vademecum.tools.tools import Tools
from vademecum.tools.view import View

pytestmark = pytest.mark.skipif(compiled is None, reason="nothing was compiled: no C compiler, or VADE_KERNEL=off")
WORDS = ["read", "send", "find", "keep", "mail", "file", "page", "date", "nothing"]
N = len(WORDS)  # tools, one for each word
CALLS = st.lists(st.integers(0, N - 1), max_size=4).map(tuple)
INTENTS = st.lists(st.sampled_from([*WORDS, "unheard"]), max_size=6).map(" ".join)


@pytest.fixture(scope="module")
def view(tmp_path_factory: pytest.TempPathFactory) -> Iterator[View]:
    """Tools of a word each, the last of which no trace calls, and traces over the others, some of which call one twice."""
    random, store = np.random.default_rng(0), SqliteStore(tmp_path_factory.mktemp("tools") / "user.db")
    made = Tools(lambda: store, lambda: load("embedder", "static"), FixedClock())
    made.register([Tool.of("office", word, f"It can {word} what you name.") for word in WORDS])
    for number in range(40):
        called = [WORDS[n] for n in random.integers(0, N - 1, random.integers(1, 5))]
        intent = " ".join([*called, WORDS[random.integers(N)]])
        made.observe(
            [trace(intent, tuple(Call(f"office/{word}") for word in called), session=f"{number // 3}", at=number)]
        )
    made.settle()
    yield made._now().view
    made.close()
    store.close()


@contextmanager
def numpy_alone() -> Iterator[None]:
    """Have numpy run the loops, as where nothing is compiled."""
    with pytest.MonkeyPatch.context() as patch:
        for module in (attention, chains, heads, texts):
            patch.setattr(module, "compiled", None)
        yield


def assert_close(own: Any, their: Any) -> None:
    """Single precision, summed in another order."""
    assert own.dtype == their.dtype
    assert own.shape == their.shape
    np.testing.assert_allclose(own, their, rtol=1e-5, atol=2e-6)


def told(
    view: View, intent: str, called: list[tuple[int, ...]], earlier: tuple[int, ...], options: dict[str, Any]
) -> Any:
    """Everything about an intent and chains of calls that the kernel works out."""
    asked = Asked(view, view.read(intent), earlier=earlier, **options)
    random = np.random.default_rng(len(intent))
    after, unmoved, weights = (
        After(asked, called),
        random.random(N, np.float32),
        random.random(len(heads.HEADS), np.float32),
    )
    taken = Taken(random.random(N, np.float32), 4)
    shares = [asked.attention, asked.merged, asked.gathered, still(asked)]
    return [*shares, after._columns, after.unmet, after.scores(unmoved, weights), after.stopping(taken)]


@given(INTENTS, st.lists(CALLS, min_size=1, max_size=4), CALLS, st.booleans(), st.booleans())
def test_it_tells_what_numpy_tells(
    view: View, intent: str, called: list[tuple[int, ...]], earlier: tuple[int, ...], excluded: bool, hidden: bool
) -> None:
    """Attention, columns, scores and what it looks like to stop, also where traces do not speak or tools are hidden."""
    options: dict[str, Any] = {"excluded": np.array([0, 7])} if excluded else {}
    if hidden:
        options["hidden"] = np.arange(N) == 1
    ours = told(view, intent, called, earlier, options)
    with numpy_alone():
        theirs = told(view, intent, called, earlier, options)
    for own, their in zip(ours, theirs, strict=True):
        assert_close(own, their)


@given(st.lists(CALLS, min_size=1, max_size=4), st.floats(-9, 0), st.integers(0, 2**32 - 1))
def test_it_chooses_what_numpy_chooses(view: View, called: list[tuple[int, ...]], least: float, seed: int) -> None:
    """The same chains of one call more, in the same order, as likely."""
    random, after = np.random.default_rng(seed), After(Asked(view, view.read("mail")), called)
    scores = random.normal(0, 3, (len(called), N)).astype(np.float32)
    going_on = random.normal(-1, 1, len(called)).tolist()
    likely = (going_on + (scores - np.log(np.exp(scores.astype(np.float64)).sum(1, keepdims=True))).T).ravel()
    assume(np.diff(np.sort([*likely, least])).min() > 1e-5)  # what is as good as equal may come in either order
    ours = chains._chosen_by_kernel(scores.copy(), after, going_on, least)
    theirs = chains._chosen_by_numpy(scores.copy(), after, going_on, least)
    assert ours[0] == theirs[0]
    assert ours[1] == pytest.approx(theirs[1], rel=1e-5)
    assert ours[2] == pytest.approx(
        theirs[2], abs=1e-5
    )  # logarithms: what is a share of a probability is a difference of them


def longs(*numbers: int) -> np.ndarray:
    return np.array(numbers, np.int64)


def ones(*shape: int) -> np.ndarray:
    return np.ones(shape, np.float32)


# What fits: two tools, two traces, both of which called both tools, one term that both say, and one chain of one call.
AFTER = {
    "called": longs(0), "tool_start": longs(0, 2, 4), "tool_trace": longs(0, 1, 0, 1), "here_start": longs(0, 1, 2, 3),
    "before": longs(2, 0, 0), "then": longs(1, 2, 0), "owner": longs(0, 1, 0), "trace_start": longs(0, 2, 4),
    "member_tool": longs(0, 1, 0, 1), "attention": ones(2, 2), "given": ones(2, 2), "kept": ones(2), "text": longs(0, 1),
    "held": longs(2), "mention": ones(2), "said": ones(1), "places": ones(3), "unclear": ones(2), "session": ones(2),
}  # fmt: skip
ANYHOW = ((ones(3), ones(2), 1.0, 0.5, -0.7),)


@pytest.mark.parametrize(
    "damage",
    [
        {},
        {"called": longs(3)}, {"called": longs(-1)}, {"called": longs()}, {"tool_start": longs(0, 5, 4)},
        {"tool_start": longs(-1, 2, 4)}, {"tool_start": longs(0, 2)}, {"tool_trace": longs(0, 2, 0, 1)},
        {"tool_trace": longs(0, 0, 0, 1)}, {"here_start": longs(0, 4, 2, 3)}, {"here_start": longs(-1, 1, 2, 3)},
        {"then": longs(3, 2, 0)}, {"then": longs(1)}, {"owner": longs(2, 1, 0)}, {"owner": longs(-1, 1, 0)},
        {"before": longs(1)}, {"trace_start": longs(0, 5, 4)}, {"trace_start": longs(0)}, {"member_tool": longs(2, 1, 0, 1)},
        {"member_tool": longs(0, -1, 0, 1)}, {"attention": ones(2)}, {"given": ones(3)}, {"kept": ones(1)},
        {"text": longs(0, 2)}, {"text": longs(0, -1)}, {"held": longs(3)}, {"held": longs(-1)}, {"held": longs()},
        {"mention": ones(1)}, {"said": ones(2)}, {"places": ones(2)}, {"unclear": ones(1)}, {"session": ones(1)},
    ],
)  # fmt: skip
def test_damaged_arrays_of_chains_are_refused(damage: dict[str, np.ndarray]) -> None:
    """What points outside or is of another length is an error, never read or written."""
    arrays = tuple((AFTER | damage).values())
    if not damage:
        assert [len(each) for each in compiled.after(arrays, ANYHOW, 3.0, 1.0, 1e-4, 0.2, 1.0)] == [80, 12, 12, 4]
        return
    with pytest.raises(ValueError, match=r"fit each other|that there is not"):
        compiled.after(arrays, ANYHOW, 3.0, 1.0, 1e-4, 0.2, 1.0)


def test_what_follows_of_another_number_of_tools_is_refused() -> None:
    """Of one tool more, or of none."""
    for anyhow in ((ones(4), ones(2)), (ones(3), ones(3))):
        with pytest.raises(ValueError, match="another number of tools"):
            compiled.after(tuple(AFTER.values()), (anyhow,), 3.0, 1.0, 1e-4, 0.2, 1.0)
    with pytest.raises(TypeError):
        compiled.after(tuple(AFTER.values()), ((),), 3.0, 1.0, 1e-4, 0.2, 1.0)


FITTING: dict[str, tuple[Any, ...]] = {
    # offsets, place, value, slots, factors, norms, scale, size
    "summed": (longs(0, 2), longs(0, 1), ones(2), longs(0, 1), ones(2), ones(2), 1.0, 2),
    # kernels, weight, temperatures, capability, trace_start, member_tool, tools
    "attend": ((ones(2),), ones(2), ones(1), longs(0, 0), longs(0, 2), longs(0, 1), 2),
    # columns, still, weights, called, earlier
    "scores": (ones(10, 2), ones(2), ones(13), longs(0), longs(1)),
    # scores, live, once, called, going_on, least, nearly, most
    "grown": (ones(2), np.ones(2, bool), np.ones(2, bool), longs(0), np.zeros(1), -9.0, 0.99, 8),
    # (ends, believed, unmet, due, called, probability, likeliest), anyhow, all, backing, epsilon
    "stopping": ((ones(3), ones(3), ones(1), None, longs(0), ones(2), longs(1)), ANYHOW, 1.0, 1.0, 1e-4),
}


def changed(function: str, place: int | tuple[int, int], value: Any) -> tuple[Any, ...]:
    """The arguments that fit, with one exchanged, or one of the first's."""
    arguments = list(FITTING[function])
    if isinstance(place, tuple):
        first = list(arguments[0])
        first[place[1]] = value
        place, value = 0, tuple(first)
    arguments[place] = value
    return tuple(arguments)


@pytest.mark.parametrize("function", FITTING)
def test_what_fits_is_taken(function: str) -> None:
    """So that what is refused below is refused for what was changed."""
    assert getattr(compiled, function)(*FITTING[function])


@pytest.mark.parametrize(
    ("function", "place", "value"),
    [
        ("summed", 0, longs(0, 3)), ("summed", 0, longs(-1, 2)), ("summed", 0, longs()), ("summed", 1, longs(0, 2)),
        ("summed", 1, longs(0, -1)), ("summed", 1, longs(0)), ("summed", 2, ones(1)), ("summed", 3, longs(0, 2)),
        ("summed", 3, longs(0, -1)), ("summed", 4, ones(1)), ("summed", 5, ones(1)), ("summed", 7, -1),
        ("attend", 0, (ones(1),)), ("attend", 0, (None,)), ("attend", 0, (ones(2),) * 9), ("attend", 1, ones(1)),
        ("attend", 2, ones(2)), ("attend", 3, longs(0, 1)), ("attend", 3, longs(0, -1)), ("attend", 3, None),
        ("attend", 4, longs(0, 3)), ("attend", 4, longs(-1, 2)), ("attend", 4, longs()), ("attend", 5, longs(0, 2)),
        ("attend", 5, longs(0, -1)), ("attend", 6, -1),
        ("scores", 0, ones(10, 3)), ("scores", 0, ones(3)), ("scores", 1, ones(3)), ("scores", 2, ones(12)),
        ("scores", 3, longs(3)), ("scores", 3, longs(-1)), ("scores", 4, longs(2)), ("scores", 4, longs(-1)),
        ("grown", 0, ones(3)), ("grown", 1, np.ones(3, bool)), ("grown", 2, np.ones(1, bool)), ("grown", 3, longs(3)),
        ("grown", 3, longs(-1)), ("grown", 3, bytes(7)), ("grown", 4, np.zeros(0)), ("grown", 4, np.zeros(2)),
        ("grown", 7, 0), ("grown", 7, 65),
        ("stopping", (0, 0), ones(2)), ("stopping", (0, 1), ones(2)), ("stopping", (0, 2), ones(2)),
        ("stopping", (0, 3), ones(2)), ("stopping", (0, 4), longs(3)), ("stopping", (0, 4), longs(-1)),
        ("stopping", (0, 4), bytes(7)), ("stopping", (0, 6), longs(2)), ("stopping", (0, 6), longs(-1)),
        ("stopping", 1, ((ones(3), ones(2)),)), ("stopping", 1, ANYHOW * 2),
    ],
)  # fmt: skip
def test_damaged_arrays_are_refused(function: str, place: int | tuple[int, int], value: Any) -> None:
    """What points outside or is of another length is an error, never read or written."""
    with pytest.raises(ValueError, match=r"fit each other|that there is not|another number"):
        getattr(compiled, function)(*changed(function, place, value))


def test_no_call_is_likely_where_scores_are_no_numbers() -> None:
    """A damaged model chooses nothing, rather than anything."""
    nowhere = np.full(2, np.nan, np.float32)
    assert not any(compiled.grown(nowhere, *FITTING["grown"][1:]))
