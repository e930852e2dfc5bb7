"""Questions from doc comments: who answers them, and that what is asked stands nowhere any more."""

from __future__ import annotations

import ast
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vademecum.bench.queries import docstring_questions, documented, without


def asked(files, most=50, seed=7):
    return docstring_questions({path: text.encode() for path, text in files.items()}, most, seed, 5.0)


def flat(text):
    return " ".join(re.findall(r"\w+", text.lower()))


def test_the_answer_is_the_declaration_that_the_comment_belonged_to(sources):
    """Each question's lines begin with the declaration it was taken from, in all three languages."""
    questions, _ = asked(sources)
    assert {question.targets[0].path.rpartition(".")[2] for question in questions} == {"py", "go", "ts"}
    for question in questions:
        (target,) = question.targets
        ((first, last),) = target.spans
        lines = sources[target.path].split("\n")[first - 1 : last]
        assert question.source.rpartition(".")[2] in lines[0]
        assert re.match(r"\s*(?:class|def|func|export function)\b", lines[0])
        above = sources[target.path].split("\n")[max(0, first - 6) : last]
        assert flat(question.text) in flat("\n".join(above))


def test_what_is_asked_is_cut_out_and_nothing_else(sources):
    """No file of the cut tree holds a question's words; every other line is where and what it was."""
    questions, cut = asked(sources)
    tree = sources | {path: content.decode() for path, content in cut.items()}
    for question in questions:
        assert not [path for path, text in tree.items() if flat(question.text) in flat(text)]
    for path, content in cut.items():
        before, after = sources[path].split("\n"), content.decode().split("\n")
        assert len(before) == len(after)
        assert all(new.strip() in {old.strip(), "", "..."} for old, new in zip(before, after, strict=True))
        if path.endswith(".py"):
            ast.parse(content)


def test_what_is_not_drawn_keeps_its_comment(sources):
    """Only comments that are asked about are cut out."""
    (question,), cut = asked(sources, most=1)
    ((path, content),) = cut.items()
    assert question.targets[0].path == path
    others = [each.text for each in asked(sources)[0] if each.targets[0].path == path and each.text != question.text]
    assert all(flat(text) in flat(content.decode()) for text in others)


def test_comments_that_ask_nothing_are_passed_over(sources):
    """Two words, a licence, a test's docstring, and what is said alike or in two places, are no questions."""
    texts = {question.text for question in asked(sources)[0]}
    assert (
        len(texts) == 6 + 2 + 1 + 1
    )  # of each module a method; one of the classes, hooks, Go and TypeScript that are alike
    assert not any("Do it" in text or "opyright" in text or "test here" in text for text in texts)
    page = sources | {"docs/page.md": "We round the amount that a customer\nowes to whole cents.\n"}
    twice = {question.text for question in asked(page)[0]}
    assert "Round the amount that a customer owes to whole cents." in texts - twice


def test_a_leading_name_is_taken_off(sources):
    """Go's comments begin with the name: as a question it would be a look-up of the name."""
    (text,) = [q.text for q in asked(sources)[0] if q.targets[0].path.endswith(".go")]
    assert text.startswith("compares signed manifests of every ")


@pytest.mark.parametrize("most", [3, 8])
def test_the_same_seed_draws_the_same_and_spreads_over_files(sources, most):
    """Drawing is repeatable, another seed draws others, and no file is asked about twice before each one is once."""
    questions, cut = asked(sources, most)
    assert (questions, cut) == asked(dict(reversed(sources.items())), most)
    assert questions != asked(sources, most, seed=8)[0]
    assert len({question.targets[0].path for question in questions}) == most


def test_a_file_that_does_not_parse_is_not_asked_about():
    """What the grammar cannot read has no declarations to trust."""
    text = 'def f(:\n    """Carry heavy boxes up narrow stairs."""\n'
    assert asked({"a.py": text}) == ([], {})
    assert asked({}) == ([], {})


WORDS = st.lists(
    st.sampled_from(["carry", "heavy", "boxes", "upstairs", "quietly", "before", "sunrise", "without", "help"]),
    min_size=6,
    max_size=9,
)


@given(st.lists(st.tuples(WORDS, st.booleans(), st.booleans()), min_size=1, max_size=6))
def test_any_python_still_compiles_on_the_same_lines(functions):
    """Cutting keeps the number of lines and leaves Python, also where the comment was all a body had."""
    parts = []
    for number, (words, is_method, is_empty) in enumerate(functions):
        indent = "    " if is_method else ""
        parts += [f"class C{number}:"] * is_method
        parts += [f"{indent}def f{number}(x):", f'{indent}    """{" ".join(words)}.', "", f'{indent}    More é."""']
        parts += [] if is_empty else [f"{indent}    return x  # ü"]
    content = "\n".join([*parts, ""]).encode()
    found = list(documented("a.py", content, 5.0))
    cut = without(content, found)
    assert cut.count(b"\n") == content.count(b"\n")
    hidden = {one.name.rpartition(".")[2] for one in found}
    defined = [node for node in ast.walk(ast.parse(cut)) if isinstance(node, ast.FunctionDef)]
    assert {node.name for node in defined if ast.get_docstring(node) is None} == hidden
