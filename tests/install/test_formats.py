"""Into a text and out of it again: nothing else is touched, byte for byte, whatever the text is."""

from __future__ import annotations

import json
import tomllib

import pytest
import yaml
from hypothesis import assume, example, given
from hypothesis import strategies as st

from vademecum.install.formats import remove, upsert
from vademecum.install.json_text import bare
from vademecum.install.part import EditError, Part

SERVER = {"command": "uvx", "args": ["vademecum==0.1.0", "mcp"]}
ENTRY = Part("mcp", "json", SERVER, ("mcpServers", "vademecum"))
HOOK = Part(
    "hook stop",
    "json",
    {"hooks": [{"type": "command", "command": "vade memory hook stop || exit 0"}]},
    ("hooks", "Stop"),
    "memory hook stop",
)
COMMENTED = Part("mcp", "jsonc", SERVER, ("servers", "vademecum"))
TABLE = Part("mcp", "toml", SERVER, ("mcp_servers", "vademecum"))
EXTENSION = Part("mcp", "yaml", {"cmd": "uvx", "args": ["a"], "envs": {}}, ("extensions", "vademecum"))
BLOCK = Part("instructions", "markdown", "## vademecum\n\nUse it.", head="---\na: b\n---\n\n")

names = st.sampled_from(["mcpServers", "servers", "hooks", "Stop", "a", "é\u2028", 'q"\\', "//", "/* x", "vademecum"])
leaves = st.none() | st.booleans() | st.integers() | st.text(max_size=8)
values = st.recursive(
    leaves, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=4), max_leaves=12
)
objects = st.dictionaries(names, values, max_size=5)
spaces = st.text(alphabet=" \t\n", max_size=3)
comments = st.sampled_from(["", "", " // note }\n", "/* , ] */", "\n\t// é\n", "/**/ "])


@st.composite
def json_texts(draw: st.DrawFn, *, commented: bool) -> str:
    """A text as people write it: any space between tokens, and comments and trailing commas where they may stand."""

    def gap() -> str:
        return draw(spaces) + (draw(comments) if commented else "")

    def written(value: object) -> str:
        if isinstance(value, dict | list):
            pairs = value.items() if isinstance(value, dict) else [(None, each) for each in value]
            items = [
                gap() + (f"{json.dumps(key)}{gap()}:{gap()}" if key is not None else "") + written(each) + gap()
                for key, each in pairs
            ]
            trailing = "," + gap() if commented and items and draw(st.booleans()) else ""
            inside = ",".join(items) + trailing if items else gap()
            return "{" + inside + "}" if isinstance(value, dict) else "[" + inside + "]"
        return json.dumps(value, ensure_ascii=draw(st.booleans()))

    style = draw(st.sampled_from(["free", 2, "\t", 4, None]))
    value = draw(objects)
    if style == "free":
        text = gap() + written(value) + gap()
    else:
        text = json.dumps(value, indent=style) + draw(st.sampled_from(["", "\n"]))
    text = text.replace("\n", "\r\n") if draw(st.booleans()) else text
    return draw(st.sampled_from(["", "\ufeff"])) + text


def in_and_out(text: str, *parts: Part) -> str:
    """Put parts in one after the other, check that twice is once, and take them out again."""
    placed = []
    for part in parts:
        try:
            new, hint = upsert(text, part)
        except EditError:
            assume(False)
        again, nothing = upsert(new, part)
        assert (again, nothing) == (new, {})
        placed.append((part, hint))
        text = new
    for part, hint in reversed(placed):
        if hint:
            text = remove(text, part, hint)
    return text


@given(json_texts(commented=False))
@example('{"mcpServers":{}}')
@example("{}")
@example("")
@example(" \n{\r\n}")
@example('{"a":1}')
@example('{\n    "mcpServers": {\n        "b": {}\n    }\n}')
def test_json_is_as_it_was(text: str) -> None:
    """An entry and two hooks, in and out of any JSON."""
    assert in_and_out(text, ENTRY, HOOK) == text


@given(json_texts(commented=True))
@example('{\n  "servers": {}, // mine\n}\n')
@example("{ /* none */ }")
@example("// nothing but words\n")
@example("// no line end")
@example('{"servers": {"a": 1 // note\n}}')
def test_json_with_comments_is_as_it_was(text: str) -> None:
    """The same where there are comments and trailing commas, all of which stay where they are."""
    assert in_and_out(text, COMMENTED) == text


@given(json_texts(commented=True))
def test_comments_outlive_an_entry(text: str) -> None:
    """With the entry in, every comment is still there, in order, and everything said is said."""
    try:
        new, _ = upsert(text, COMMENTED)
    except EditError:
        return
    bare_new = json.loads(bare(new.removeprefix("\ufeff")))
    before = json.loads(bare(text.removeprefix("\ufeff"))) if bare(text.removeprefix("\ufeff")).strip() else {}
    servers = before.get("servers") or {}
    previous = servers.get("vademecum") if isinstance(servers.get("vademecum"), dict) else {}
    assert bare_new == before | {"servers": servers | {"vademecum": previous | SERVER}}
    position = -1
    for comment in ("// note }", "/* , ] */", "// é", "/**/"):
        assert new.count(comment) >= text.count(comment) or "vademecum" in text
    assert position == -1


@given(json_texts(commented=False), st.data())
def test_what_others_write_meanwhile_stays(text: str, data: st.DataObject) -> None:
    """A member added by somebody after us survives our leaving, and nothing else changes."""
    try:
        new, hint = upsert(text, ENTRY)
    except EditError:
        return
    if not hint:
        return
    where = data.draw(st.sampled_from([("other",), ("mcpServers", "other"), ("mcpServers", "vademecum", "disabled")]))
    theirs = Part("theirs", "json", True, where)
    with_theirs, their_hint = upsert(new, theirs)
    left = remove(with_theirs, ENTRY, hint)
    if where[-1] == "disabled" or not their_hint:
        return
    expected = json.loads(text.removeprefix("\ufeff").strip() or "{}")
    outer = expected
    for key in where[:-1]:
        outer = outer.setdefault(key, {})
    outer["other"] = True
    assert json.loads(left.removeprefix("\ufeff")) == expected


@pytest.mark.parametrize(
    "text",
    ["{", "[1", '{"a": 1,}', "// c\n{}", "{'a': 1}", "NaN", '{"a": NaN}', "\x00", '{"mcpServers": []}', "[]", "1",
     '{"mcpServers": null}', '{"mcpServers": "x"}', "[" * 100_000, '{"a":' * 50_000],
)  # fmt: skip
def test_what_is_no_json_for_us_is_left_alone(text: str) -> None:
    """A text that is damaged, or that says something else where we belong, is refused with the reason."""
    with pytest.raises(EditError):
        upsert(text, ENTRY)


def test_an_upgrade_changes_its_own_values_and_keeps_what_was_added() -> None:
    """The arguments change; a key that a person put into our entry stays."""
    text = '{\n  "mcpServers": {\n    "vademecum": {\n      "command": "uvx", // mine\n      "args": ["old"],\n      "disabled": true\n    }\n  }\n}\n'
    new, hint = upsert(text, Part("mcp", "jsonc", SERVER, ("mcpServers", "vademecum")))
    assert '"command": "uvx", // mine' in new
    assert '"disabled": true' in new
    assert json.loads(bare(new))["mcpServers"]["vademecum"]["args"] == SERVER["args"]
    assert remove(new, Part("mcp", "jsonc", SERVER, ("mcpServers", "vademecum")), hint) == text


def test_a_hook_beside_ours_in_the_same_element_stays() -> None:
    """Somebody put a hook of theirs into our element: it is there after an upgrade, and after we left."""
    text, hint = upsert("{}", HOOK)
    value = json.loads(text)
    value["hooks"]["Stop"][0]["hooks"].append({"type": "command", "command": "say done"})
    shared = json.dumps(value, indent=2)
    newer = Part("hook stop", "json", {"hooks": [{"type": "command", "command": "uvx vademecum==9 memory hook stop"}]},
                 ("hooks", "Stop"), "memory hook stop")  # fmt: skip
    upgraded, _ = upsert(shared, newer)
    assert [each["command"] for each in json.loads(upgraded)["hooks"]["Stop"][0]["hooks"]] == [
        "uvx vademecum==9 memory hook stop", "say done",
    ]  # fmt: skip
    assert json.loads(remove(upgraded, newer, hint)) == {
        "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "say done"}]}]}
    }


toml_keys = st.sampled_from(["a", "b-c", '"d e"', "'f.g'", "model", "h.i"])
toml_values = st.sampled_from(
    ["1", "true", '"x # y"', "'[t]'", '"""\n[mcp_servers.vademecum]\n"""', "'''\n[u]\n'''", "[1, # c ]\n 2]",
     '{ k = "v" }', "1979-05-27", '["a]", "b"]', '"\\"[x]"']
)  # fmt: skip


@st.composite
def toml_texts(draw: st.DrawFn) -> str:
    lines: list[str] = []
    tables = draw(st.lists(st.sampled_from(["t", "mcp_servers.other", "mcp_servers", "'q.r'", "z.y"]), unique=True))
    for table in ["", *tables]:
        lines += [f"[{table}]" + draw(st.sampled_from(["", " # note"]))] if table else []
        for key in draw(st.lists(toml_keys, unique=True, max_size=3)):
            lines.append(f"{key} = {draw(toml_values)}" + draw(st.sampled_from(["", "  # why"])))
        lines += draw(st.lists(st.sampled_from(["", "# [x]", "  "]), max_size=2))
    text = "\n".join(lines) + draw(st.sampled_from(["", "\n", "\n\n"]))
    text = text.replace("\n", "\r\n") if draw(st.booleans()) else text
    return draw(st.sampled_from(["", "\ufeff"])) + text


@given(toml_texts())
@example("")
@example("a = 1")
@example("[mcp_servers.x]\ncommand = 'y'\n# end")
def test_toml_is_as_it_was(text: str) -> None:
    """A table, in and out of any TOML."""
    try:
        tomllib.loads(text.removeprefix("\ufeff"))
    except tomllib.TOMLDecodeError:
        assume(False)
    assert in_and_out(text, TABLE) == text


def test_a_table_of_ours_is_brought_up_to_date_in_place() -> None:
    """Values change where they stand, what a person added stays, and all of it goes when we go."""
    text = '# mine\n[mcp_servers.vademecum]\ncommand = "uvx"\nargs = [\n  "old", # x\n]\nstartup_timeout_sec = 20\n\n[mcp_servers.vademecum.env]\nA = "b"\n\n# of b\n[b]\nc = 1\n'
    new, hint = upsert(text, TABLE)
    assert 'args = ["vademecum==0.1.0", "mcp"]\nstartup_timeout_sec = 20\n' in new
    assert remove(new, TABLE, hint) == text
    assert remove(new, TABLE, {"glue": ""}) == "# mine\n\n# of b\n[b]\nc = 1\n"


def test_what_is_written_behind_a_table_stays() -> None:
    """A line after ours does not run into the line before ours."""
    new, hint = upsert("a = 1", TABLE)
    assert tomllib.loads(remove(new + "[b]\n", TABLE, hint)) == {"a": 1, "b": {}}


@pytest.mark.parametrize(
    "text", ["a = ", "mcp_servers = { x = { command = 'y' } }", "mcp_servers = 1", "[[mcp_servers]]"]
)
def test_what_toml_cannot_take_is_left_alone(text: str) -> None:
    """Damaged TOML, and tables written in a way that cannot be added to."""
    with pytest.raises(EditError):
        upsert(text, TABLE)


yaml_leaves = st.sampled_from(
    ["1", "text", '"q: # r"', "[a, b]", "{k: v}", "|\n{m}  block\n{m}  more", ">-\n{m}  folded"]
)


@st.composite
def yaml_texts(draw: st.DrawFn) -> str:
    lines = draw(st.lists(st.sampled_from(["# top", "GOOSE_MODEL: x", "provider: 'y' # why", ""]), unique=True))
    margin = draw(st.sampled_from(["  ", "    "]))
    form = draw(st.sampled_from(["none", "empty", "braces", "null", "block"]))
    if form == "block":
        lines.append("extensions:" + draw(st.sampled_from(["", " # note"])))
        for name in draw(st.lists(st.sampled_from(["dev", "'quoted name'", "mem"]), unique=True, min_size=1)):
            lines.append(f"{margin}{name}:")
            for key in draw(st.lists(st.sampled_from(["enabled", "cmd", "args"]), unique=True, min_size=1)):
                lines.append(f"{margin * 2}{key}: " + draw(yaml_leaves).replace("{m}", margin * 2))
            lines += draw(st.lists(st.sampled_from(["", "# between"]), max_size=1))
    elif form != "none":
        lines.append({"empty": "extensions:", "braces": "extensions: {}", "null": "extensions: null"}[form])
    lines += draw(st.lists(st.sampled_from(["after: 1", "# end"]), unique=True))
    text = "\n".join(lines) + draw(st.sampled_from(["", "\n", "\n\n"]))
    return text.replace("\n", "\r\n") if draw(st.booleans()) else text


@given(yaml_texts())
@example("")
@example("extensions: {}")
@example("extensions:\n  a:\n    b: 1")
def test_yaml_is_as_it_was(text: str) -> None:
    """An entry, in and out of any YAML."""
    try:
        yaml.safe_load(text)
    except yaml.YAMLError:
        assume(False)
    assert in_and_out(text, EXTENSION) == text


@pytest.mark.parametrize("text", ["a: [", "- 1\n", "extensions: {a: {b: c}}\n", "extensions: 3\n", "a: 1\n---\nb: 2\n"])
def test_what_yaml_cannot_take_is_left_alone(text: str) -> None:
    """Damaged YAML, and mappings written in a way that cannot be added to."""
    with pytest.raises(EditError):
        upsert(text, EXTENSION)


def test_yaml_made_to_blow_up_is_left_alone() -> None:
    """A text whose aliases name each other a thousandfold is not followed."""
    lines = ["a0: &a0 [x]"] + [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 30)]
    with pytest.raises(EditError, match="aliases"):
        upsert("\n".join(lines), EXTENSION)


@given(st.text(alphabet="ab \n\r#<!->\t", max_size=40), st.text(alphabet="c\n", max_size=5))
@example("", "")
@example("# Rules", "")
@example("# Rules\n", "more\n")
def test_a_block_goes_and_the_rest_stays(text: str, after: str) -> None:
    """Instructions in and out of any text, also when somebody wrote behind them."""
    assert in_and_out(text, BLOCK) == text
    new, hint = upsert(text, BLOCK)
    left = remove(new + after, BLOCK, hint)
    if text:
        assert left.startswith(text)
        assert left.removeprefix(text).removeprefix("\r").removeprefix("\n") in {after, after.removeprefix("\n")}


def test_a_block_that_does_not_end_is_left_alone() -> None:
    """Marks that do not pair up are somebody's to mend."""
    new, _ = upsert("", BLOCK)
    for broken in (new.replace("vademecum:end", "x"), new + new, new.replace("vademecum:begin", "x")):
        with pytest.raises(EditError, match="begin and end once"):
            upsert(broken, BLOCK)
