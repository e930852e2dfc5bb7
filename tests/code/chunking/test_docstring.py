"""Docstrings taken apart, in three styles."""

from __future__ import annotations

import inspect

from hypothesis import given
from hypothesis import strategies as st

from vademecum.code.chunking.metadata import parse_docstring

EXPECTED = {
    "summary": "Move a file to another place.",
    "description": "Across file systems it is copied.\n\nExample:\n    move('a', 'b')",
    "params": {"source": "What to move, an existing file.", "target": "Where to.", "*more": "Further targets."},
    "returns": "The new path, absolute.",
    "raises": {"OSError": "It could not be moved: no room.", "ValueError": "Both are the same."},
}


def parsed(docstring: str) -> dict[str, object]:
    return parse_docstring(inspect.cleandoc(docstring))


def test_google_style() -> None:
    assert (
        parsed("""Move a file
        to another place.

        Across file systems it is copied.

        Args:
            source (str): What to move,
                an existing file.
            target (dict[str, int], optional): Where to.
            *more: Further targets.

        Returns:
            The new path,
            absolute.

        Raises:
            OSError: It could not be moved: no room.
            ValueError: Both are the same.

        Example:
            move('a', 'b')
        """)
        == EXPECTED
    )


def test_numpy_style() -> None:
    found = parsed("""Move a file to another place.

    Across file systems it is copied.

    Parameters
    ----------
    source : str
        What to move,
        an existing file.
    target : {'a', 'b'}, optional
        Where to.
    *more
        Further targets.
    x, y : int
        Both.

    Returns
    -------
    The new path,
        absolute.

    Raises
    ------
    OSError
        It could not be moved: no room.
    ValueError
        Both are the same.

    Notes
    -----
    Slow.
    """)
    params = {**EXPECTED["params"], "x": "Both.", "y": "Both."}  # type: ignore[dict-item]
    assert found == EXPECTED | {
        "description": "Across file systems it is copied.\n\nNotes\n-----\nSlow.",
        "params": params,
    }


def test_sphinx_style() -> None:
    found = parsed("""Move a file to another place.

    Across file systems it is copied.

    :param source: What to move,
        an existing file.
    :type source: str
    :param str target: Where to.
    :param *more: Further targets.
    :returns: The new path, absolute.
    :rtype: str
    :raises OSError: It could not be moved: no room.
    :raise ValueError: Both are the same.
    """)
    assert found == EXPECTED | {"description": "Across file systems it is copied."}


def test_prose_with_colons_is_prose() -> None:
    found = parsed("""Tell what follows:

    Returns: nothing special, as this is one line.

    Args:
    not indented, so prose.
    """)
    assert found["params"] == {}
    assert found["returns"] == ""
    assert "not indented" in str(found["description"])


def test_one_line_and_none() -> None:
    assert parse_docstring("Close it.")["summary"] == "Close it."
    assert parse_docstring("  ") == {"summary": "", "description": "", "params": {}, "returns": "", "raises": {}}


WORDS = [
    "Args:",
    "Returns:",
    "Raises:",
    "    x: y",
    "        more",
    ":param x: y",
    "@return z",
    "Parameters",
    "----",
    "",
    "w",
]


@given(st.lists(st.one_of(st.sampled_from(WORDS), st.text(max_size=12)), max_size=12).map("\n".join))
def test_any_text_has_the_same_shape(text: str) -> None:
    found = parse_docstring(text)
    assert list(found) == ["summary", "description", "params", "returns", "raises"]
    assert all(isinstance(value, str) for value in (*found["params"].values(), *found["raises"].values()))
    assert "\n" not in found["summary"]
