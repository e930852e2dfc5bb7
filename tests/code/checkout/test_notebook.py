"""Notebooks: cells are code and prose in their places, and outputs are nothing."""

from __future__ import annotations

import json

import pytest

OUTPUT = [
    {
        "data": {"image/png": "iVBORw0KGgoAAAA", "text/html": ["<td>harvest_table</td>\n"] * 30},
        "output_type": "display_data",
    }
]
LIBRARY = "def prune(tree):\n    '''Cut a tree back.'''\n    return tree\n"


def notebook(*cells, language="python", **layout):
    """Write a notebook of pairs of kind and text."""
    written = [
        {
            "cell_type": kind,
            "metadata": {},
            **({"outputs": OUTPUT} if kind == "code" else {}),
            "source": text.splitlines(keepends=True),
        }
        for kind, text in cells
    ]
    kernel = {"kernelspec": {"display_name": "k", "language": language, "name": "k"}}
    return json.dumps({"cells": written, "metadata": kernel, "nbformat": 4}, **{"indent": 1, **layout})


ORCHARD = notebook(
    ("markdown", "# Orchard\nEvery winter the branches are shortened.\n"),
    (
        "code",
        '%matplotlib inline\nfrom garden import prune\n\ndef tidy(trees):\n    """Say "done"."""\n    return [prune(t) for t in trees]',
    ),
    ("code", "%%bash\nprune --all"),
)


def line_of(text: str, part: str) -> int:
    return next(number for number, line in enumerate(text.split("\n"), 1) if part in line)


def test_a_cell_is_found_and_shown_as_it_reads(repo, engine):
    opened = engine(repo("app", {"a.ipynb": ORCHARD, "garden.py": LIBRARY}))
    found = opened.codebase.search("tidy").evidence[0]
    assert (found.path, found.language, found.symbols) == ("a.ipynb", "python", ("tidy",))
    assert found.end_line == line_of(ORCHARD, "return [prune")
    assert found.snippet.endswith('def tidy(trees):\n    """Say "done"."""\n    return [prune(t) for t in trees]')
    prose = opened.codebase.search("shortened branches in winter").evidence[0]
    assert "# %% [markdown]\n# # Orchard\n# Every winter" in prose.snippet
    assert "# %matplotlib inline" in opened.context("inline matplotlib", 600).text


def test_outputs_are_not_searched(repo, engine):
    code = engine(repo("app", {"a.ipynb": ORCHARD, "b.py": "x = 1\n"})).codebase
    assert code.search("harvest_table").verdict == "not_found"
    assert code.search("iVBORw0KGgoAAAA").verdict == "not_found"


def test_a_function_is_called_from_a_notebook(repo, engine):
    code = engine(repo("app", {"a.ipynb": ORCHARD, "garden.py": LIBRARY})).codebase
    answer = code.callers("prune")
    assert [(each.path, each.name) for each in answer.found] == [("a.ipynb", "tidy")]
    assert answer.uncovered == ()


def test_a_large_notebook_is_read(repo, engine):
    large = notebook(("code", "def ripen(fruit):\n    return fruit"))
    large = large.replace("iVBORw0KGgo", "iVBORw0KGgo" * 1000)
    code = engine(repo("app", {"a.ipynb": large}), index__max_file_bytes=5_000).codebase
    assert code.search("ripen").evidence[0].symbols == ("ripen",)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (notebook(("code", "function ripen(fruit) {\n  return fruit;\n}"), language="javascript"), "javascript"),
        (notebook(("code", "ripen <- function(fruit) fruit"), language="R"), "r"),
        (notebook(("code", "def ripen(fruit):\n    return fruit"), indent=None), "json"),
        (notebook(language="python"), "json"),
    ],
)
def test_the_kernel_tells_the_language(content, said, repo, engine):
    """A notebook without line breaks or without cells is data."""
    opened = engine(repo("app", {"a.ipynb": content, "b.py": "def other(): ...\n"}))
    found = {
        each.language
        for each in opened.codebase.search("ripen fruit metadata kernelspec").evidence
        if each.path == "a.ipynb"
    }
    assert found == {said}
