"""Entries in a JSON text: insertion and removal.

Comments, order, indentation and line ends stay. An insertion is a comma after the last item, and our item on separate
lines, indented like its neighbours. The hint holds the facts for removal that the text alone does not show:

    rooted      the text was empty, and the object around everything is ours
    opened      objects and lists that we created, outermost first, as lists of keys
    inside      the object or list that was empty before, and the text between its brackets
    shared      a plain value that the whole text needs: removed only if nothing else is left beside it
    replaced    the text of an earlier entry of the same name
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple, NoReturn

from vademecum.install.part import MEND, EditError, Hint, Part, contains, newline_of, value_at, without

_TOKEN = re.compile(
    r"""(?P<space>[ \t\r\n]+)|(?P<comment>//[^\r\n]*|/\*.*?\*/)|(?P<string>"(?:[^"\\]|\\.)*")
    |(?P<punctuation>[{}\[\],:])|(?P<word>[^\s{}\[\],:"/]+)|(?P<other>.)""",
    re.DOTALL | re.VERBOSE,
)


@dataclass(slots=True)
class Node:
    """A value with its places; objects and lists have items."""

    begin: int  # of its key, if it has one
    start: int
    end: int
    kind: str  # "{", "[" or "" for a plain value
    key: str | None = None
    comma: int | None = None  # after the value
    items: list[Node] = field(default_factory=list)

    @property
    def stop(self) -> int:
        """The end, including the comma after the value."""
        return self.end if self.comma is None else self.comma + 1

    def find(self, key: str) -> Node | None:
        """Return the last member with this name, as JSON readers do."""
        return next((item for item in reversed(self.items) if item.key == key), None)


def tokens(text: str) -> Iterator[tuple[str, int, int]]:
    """Yield kind, start and end of each token."""
    for match in _TOKEN.finditer(text):
        yield str(match.lastgroup), match.start(), match.end()


def bare(text: str) -> str:
    r"""Replace comments and trailing commas by spaces, keeping all places.

    >>> bare('{"a": 1, // one\n}')
    '{"a": 1        \n}'
    """
    pieces: list[str] = []
    comma = -1  # index of the last comma, while only space follows it
    for kind, start, end in tokens(text):
        word = text[start:end]
        if kind == "comment":
            word = re.sub(r"[^\r\n]", " ", word)
        elif kind == "punctuation" and word in "}]" and comma >= 0:
            pieces[comma] = " "
        if kind not in {"space", "comment"}:
            comma = len(pieces) if word == "," else -1
        pieces.append(word)
    return "".join(pieces)


def value_of(text: str, *, comments: bool) -> Any:
    """Parse a text. Raises `EditError` for invalid or too deep JSON."""
    try:
        return json.loads(bare(text) if comments else text, parse_constant=_no_constant)
    except RecursionError as error:
        raise EditError("it is nested too deeply") from error
    except ValueError as error:
        if not comments and _is_json(bare(text)):
            raise EditError(
                f"it is not valid JSON, which has no comments and no trailing commas: {error}: {MEND}"
            ) from error
        raise EditError(f"it is not valid JSON: {error}: {MEND}") from error


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


def tree_of(text: str) -> Node:
    """Return the tree of a text that `value_of` accepts."""
    top = Node(0, 0, len(text), "[")
    stack, key, begin = [top], None, -1
    for kind, start, end in tokens(text):
        word = text[start:end]
        if kind in {"space", "comment"} or word == ":":
            continue
        inside = stack[-1]
        if word == ",":
            inside.items[-1].comma = start
        elif word in {"}", "]"}:
            stack.pop().end = end
        elif inside.kind == "{" and key is None:
            key, begin = json.loads(word) if "\\" in word else word[1:-1], start
        else:
            node = Node(start if key is None else begin, start, end, word if word in {"{", "["} else "", key)
            inside.items.append(node)
            key = None
            if node.kind:
                stack.append(node)
    return top.items[0]


class Step(NamedTuple):
    """One step on the path to a part."""

    path: tuple[str, ...]  # the keys of an object or list
    inside: Node
    item: Node  # continues the path


def upsert(text: str, part: Part) -> tuple[str, Hint]:
    """Insert the entry, as `formats.upsert` does."""
    comments = part.format == "jsonc"
    if not _says_something(text, comments=comments):
        glue = "" if not text or text.endswith("\n") else newline_of(text)
        text, hint = upsert(f"{text}{glue}{{}}{newline_of(text)}", part)
        return text, hint | {"rooted": True, "glue": glue}
    before = value_of(text, comments=comments)
    new, hint = _placed(text, part)
    after = value_of(new, comments=comments)
    if not _says(after, part) or _without(after, part) != _without(before, part):
        raise EditError(f"{_shown(part.path)} cannot be added without changing something else")
    return new, hint


def remove(text: str, part: Part, hint: Hint) -> str:
    """Remove the entry, as `formats.remove` does."""
    comments = part.format == "jsonc"
    if not _says_something(text, comments=comments):
        return text
    value_of(text, comments=comments)
    steps = _steps(text, part)
    if len(steps) < len(part.path) + bool(part.mark):
        return text
    if "replaced" in hint:
        node = steps[-1].item
        return text[: node.start] + str(hint["replaced"]) + text[node.end :]
    if hint.get("shared") and len(steps[-1].inside.items) > 1:
        return text
    text = _cut(text, steps[-1], hint)
    for path in reversed(hint.get("opened", ())):
        text = _cut_if_empty(text, tuple(path), hint)
    return _unrooted(text, hint) if hint.get("rooted") else text


def _says_something(text: str, *, comments: bool) -> bool:
    """Return whether a text has more than space and allowed comments."""
    silent = {"space", "comment"} if comments else {"space"}
    return any(kind not in silent for kind, _, _ in tokens(text))


def _part_of(value: Any, part: Part) -> Any:
    """Return the value in the part's place, or None."""
    value = value_at(value, part.path)
    if not part.mark:
        return value
    return next((each for each in value if _holds(each, part)), None) if isinstance(value, list) else None


def _holds(value: Any, part: Part) -> bool:
    return part.mark in json.dumps(value, ensure_ascii=False)


def _says(value: Any, part: Part) -> bool:
    """Return whether the value holds the part, also beside others' hooks."""
    there = _part_of(value, part)
    if not part.mark or contains(there, part.value):
        return contains(there, part.value)
    return isinstance(there, dict) and all(
        isinstance(there.get(key), list) and all(each in there[key] for each in ours)
        for key, ours in part.value.items()
    )


def _without(value: Any, part: Part) -> Any:
    """Return the value without the part, and without emptied parents."""
    if not part.mark:
        return without(value, part.path)
    if _part_of(value, part) is not None:
        value = json.loads(json.dumps(value))
        element = _part_of(value, part)
        for key, each in list(element.items()) if isinstance(element, dict) else ():
            if isinstance(each, list) and len(each) > 1:
                element[key] = [one for one in each if not _holds(one, part)]
        if _holds(element, part):
            value_at(value, part.path).remove(element)
    return value if value_at(value, part.path) else without(value, part.path)


def _steps(text: str, part: Part, root: Node | None = None) -> list[Step]:
    """Return the existing steps on the path to a part.

    `root` is the text's tree, if known.

    Raises:
        EditError: a value on the path is no object, or no list.
    """
    inside = root or tree_of(text)
    steps: list[Step] = []
    for depth, key in enumerate(part.path):
        if inside.kind != "{":
            raise EditError(f"{_shown(part.path[:depth])} is no object")
        item = inside.find(key)
        if item is None:
            return steps
        steps.append(Step(part.path[:depth], inside, item))
        inside = item
    if part.mark:
        if inside.kind != "[":
            raise EditError(f"{_shown(part.path)} is no list")
        if (ours := _marked(text, inside, part.mark)) is not None:
            steps.append(Step(part.path, inside, ours))
            for member in ours.items:  # others may have added hooks to our element
                among = _marked(text, member, part.mark) if len(member.items) > 1 else None
                if member.kind == "[" and among is not None:
                    steps[-1] = Step((*part.path, part.mark), member, among)
    return steps


def _marked(text: str, inside: Node, mark: str) -> Node | None:
    return next((item for item in inside.items if mark in text[item.begin : item.end]), None)


def _placed(text: str, part: Part) -> tuple[str, Hint]:
    root = tree_of(text)
    steps = _steps(text, part, root)
    known = len(steps)
    if known == len(part.path) + bool(part.mark):
        return _merged(text, steps[-1].item, part)
    inside = steps[-1].item if steps else root
    if inside.kind not in {"{", "["}:
        raise EditError("it is no object")
    keys = part.path[known:]
    value = [part.value] if part.mark and keys else part.value
    for key in reversed(keys[1:]):
        value = {key: value}
    hint: Hint = {"added": True} if isinstance(part.value, (dict, list)) else {"added": True, "shared": True}
    if opened := [list(part.path[:depth]) for depth in range(known + 1, len(part.path) + bool(part.mark))]:
        hint["opened"] = opened
    if not inside.items:
        hint["inside"] = [list(part.path[:known]), text[inside.start + 1 : inside.end - 1]]
    return _pasted(text, inside, keys[0] if keys else None, value), hint


def _merged(text: str, node: Node, part: Part) -> tuple[str, Hint]:
    """Update an existing entry; others' additions stay."""
    original = text[node.start : node.end]
    there, wanted = json.loads(bare(original)), part.value
    if part.mark and isinstance(there, dict) and not there.keys() & wanted.keys():
        wanted = next(iter(wanted.values()))[0]  # our hook in an element with others' hooks
    if contains(there, wanted):
        return text, {}
    if not isinstance(wanted, (dict, list)):
        raise EditError(f"{_shown(part.path)} is {original[:20]}, and only {wanted} is known here")
    if part.mark or node.kind != "{" or not isinstance(wanted, dict):
        return _with_value(text, node, wanted), {"replaced": original}
    for key, value in part.value.items():
        current = _steps(text, part)[-1].item
        item = current.find(key)
        if item is None:
            text = _pasted(text, current, key, value)
        elif json.loads(bare(text[item.start : item.end])) != value:
            text = _with_value(text, item, value)
    return text, {"replaced": original}


def _with_value(text: str, node: Node, value: Any) -> str:
    said = _lines(value, _unit(text), _margin(text, node.start), newline_of(text))
    return text[: node.start] + said + text[node.end :]


def _pasted(text: str, inside: Node, key: str | None, value: Any) -> str:
    """Insert an item after the last one of an object or list."""
    unit, newline = _unit(text), newline_of(text)
    name = "" if key is None else f"{json.dumps(key, ensure_ascii=False)}: "
    outer = _margin(text, inside.start)
    if not inside.items:
        place = _end_of_comments(text, inside.start + 1, inside.end - 1)
        rest = text[place : inside.end - 1]
        if place == inside.start + 1 or "\n" not in rest:
            rest = newline + outer
        said = f"{newline}{outer}{unit}{name}{_lines(value, unit, outer + unit, newline)}"
        return text[:place] + said + rest + text[inside.end - 1 :]
    last = inside.items[-1]
    if "\n" not in text[inside.start : inside.end]:  # the text is on one line, so our item is too
        said = f" {name}{json.dumps(value, ensure_ascii=False)}"
    else:
        margin = _margin(text, last.begin) if _begins_line(text, last.begin) else outer + unit
        said = f"{newline}{margin}{name}{_lines(value, unit, margin, newline)}"
    if last.comma is not None:
        place = _end_of_comments(text, last.comma + 1, inside.end - 1)
        return text[:place] + said + "," + text[place:]
    place = _end_of_comments(text, last.end, inside.end - 1)
    return text[: last.end] + "," + text[last.end : place] + said + text[place:]


def _end_of_comments(text: str, start: int, end: int) -> int:
    """Return the end of the last comment, or `start` without comments."""
    ends = [start + stop for kind, _, stop in tokens(text[start:end]) if kind == "comment"]
    return ends[-1] if ends else start


def _cut(text: str, step: Step, hint: Hint) -> str:
    """Remove an item, with its comma and the space before it."""
    path, inside, item = step
    index = next(number for number, each in enumerate(inside.items) if each is item)
    end = item.stop
    lower = inside.items[index - 1].stop if index else inside.start + 1
    start = _end_of_comments(text, lower, item.begin)
    if text[:start].rpartition("\n")[2].lstrip().startswith("//") and not text[end:].lstrip(" \t\r").startswith("\n"):
        start = item.begin  # a line comment needs its line end
    cut = text[:start] + text[end:]
    if item.comma is None and index:
        comma = inside.items[index - 1].comma
        assert comma is not None
        cut = cut[:comma] + cut[comma + 1 :]
    place, was = hint.get("inside", (None, ""))
    if len(inside.items) == 1 and place == list(path):
        close = inside.end - 1 - (len(text) - len(cut))
        if cut[inside.start + 1 : close].split() == was.split():
            return f"{cut[: inside.start + 1]}{was}{cut[close:]}"
    return cut


def _cut_if_empty(text: str, path: tuple[str, ...], hint: Hint) -> str:
    """Remove our object or list if it is empty, without comments."""
    steps = _steps(text, Part("", "", None, path))
    if len(steps) < len(path):
        return text
    node = steps[-1].item
    if not node.kind or text[node.start + 1 : node.end - 1].strip():
        return text
    return _cut(text, steps[-1], hint)


def _unrooted(text: str, hint: Hint) -> str:
    root = tree_of(text)
    if text[root.start + 1 : root.end - 1].strip():
        return text
    line_end = re.compile(r"\r?\n|").match(text, root.end)
    assert line_end is not None
    return text[: root.start].removesuffix(str(hint.get("glue", ""))) + text[line_end.end() :]


def _lines(value: Any, unit: str, margin: str, newline: str) -> str:
    return json.dumps(value, indent=unit, ensure_ascii=False).replace("\n", newline + margin)


def _unit(text: str) -> str:
    """Return a text's indentation, two spaces by default."""
    found = re.search(r"\n([ \t]+)[\"{\[]", text)
    return found[1] if found else "  "


def _margin(text: str, place: int) -> str:
    line = text[text.rfind("\n", 0, place) + 1 : place]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _begins_line(text: str, place: int) -> bool:
    return "\n" in text[:place] and not text[text.rfind("\n", 0, place) + 1 : place].strip(" \t")


def _shown(path: tuple[str, ...]) -> str:
    return ".".join(path) or "what is in it"
