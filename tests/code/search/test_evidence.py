"""The pieces of one file: all of them in order, whether they were indexed or the file was edited since."""

from __future__ import annotations

from vademecum import Freshness

LONG = (
    "def long(n):\n"
    + "".join(f"    n = step_{i}(n) + {i}  # step {i} of the long way\n" for i in range(400))
    + "    return n\n"
)
SAME = "def same(n):\n    total = n * 3\n    return total + len(str(total)) + n % 7 + n % 11\n"
FILES = {"a.py": f"{SAME}\n\n{LONG}\n\nclass Other:\n    {SAME.replace(chr(10), chr(10) + '    ')}"}


def test_pieces_stand_in_order_with_the_lines_that_they_show(repo, engine):
    """By place from either end, one after the other, and each with exactly its lines of the file."""
    pieces = engine(repo("app", FILES)).codebase.chunks("a.py")
    text = FILES["a.py"].split("\n")
    shown = list(pieces)
    assert len(shown) == len(pieces) > 3
    assert [(each.start_line, each.end_line) for each in shown] == sorted(pieces.lines)
    assert all(each.snippet.split("\n") == text[each.start_line - 1 : each.end_line] for each in shown)
    assert (pieces[0], pieces[-1]) == (shown[0], shown[-1])


def test_parts_of_a_long_declaration_are_numbered(repo, engine):
    """Each knows which part it is, and of how many; a declaration in one piece says nothing of parts."""
    pieces = engine(repo("app", FILES)).codebase.chunks("a.py")
    parts = [each.metadata for each in pieces if "long" in each.symbols]
    assert parts == [{"part": n, "parts": len(parts)} for n in range(1, len(parts) + 1)]
    assert len(parts) > 1
    assert [each.metadata for each in pieces if "same" in each.symbols] == [{}]


def test_equal_pieces_of_a_file_stand_at_their_own_lines(repo, engine):
    """Two functions of the same text are two pieces."""
    pieces = engine(repo("app", {"b.py": f"{SAME}\n\n{LONG}\n\n{SAME}"})).codebase.chunks("b.py")
    assert len([each for each in pieces if each.snippet == SAME.rstrip("\n")]) == 2


def test_pieces_of_an_edited_file_are_as_the_file_is_now(repo, engine):
    """Without a refresh, what stands on the disk is shown, marked as edited."""
    app = repo("app", FILES)
    code = engine(app).codebase
    code.refresh()
    app.write("a.py", FILES["a.py"].replace("n * 3", "n * 4"))
    pieces = code.chunks("a.py")
    assert pieces[0].freshness is Freshness.EDITED
    assert "n * 4" in pieces[0].snippet


def test_a_file_that_is_not_indexed_has_no_pieces(repo, engine):
    """Nor does one of a name that nothing has."""
    code = engine(repo("app", FILES)).codebase
    code.refresh()
    assert list(code.chunks("gone.py")) == []
