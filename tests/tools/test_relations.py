"""Relations between tools, from schemas and traces."""

from __future__ import annotations

import math

import pytest

from vademecum.tools.hyperpath import DirectedHypergraph, Hyperpaths
from vademecum.tools.records import Call, Tool, Trace
from vademecum.tools.relations import Relations
from vademecum.tools.texts import Field, fields_of, match, words


def tool(id_: str, wants: dict[str, str] | None = None, gives: dict[str, str] | None = None) -> Tool:
    """A tool with required arguments and outputs, each by its type."""
    server, _, name = id_.partition("/")
    inputs = {"properties": {key: {"type": kind} for key, kind in (wants or {}).items()}, "required": list(wants or ())}
    return Tool(
        id_, name, server, "", inputs, {"properties": {key: {"type": kind} for key, kind in (gives or {}).items()}}
    )


def trace(number: int, *calls: str, links: tuple[tuple[int, int], ...] = ()) -> Trace:
    return Trace(f"t{number}", "", tuple(map(Call, calls)), links)


def arcs(graph: DirectedHypergraph) -> set[tuple[object, ...]]:
    return {(arc.tail, arc.head, round(arc.weight, 9), arc.kind, arc.seen) for arc in graph.arcs}


@pytest.mark.parametrize(
    ("giver", "given", "taker", "wanted", "trust"),
    [
        ("get_order", "order_id", "pay", "order_id", 1.0),
        ("get_order", "orderId", "pay", "order_id", 1.0),
        ("create_user", "id", "delete_user", "user_id", 0.5),
        ("create_user", "id", "delete_user", "id", 0.5),
        ("create_user", "id", "delete_order", "id", 0.0),
        ("create_user", "id", "delete_order", "order_id", 0.0),
        ("create_user", "name", "delete_user", "user_id", 0.0),
        ("search", "results", "show", "text", 0.0),
        ("get_file_info", "content", "write_file", "content", 0.0),
        ("send_report", "to", "send_message", "to", 0.5),
        ("read_graph", "to", "send_message", "to", 0.0),
        ("find_item", "item_id", "add_item", "item_id", 1.0),
        ("find_item", "id", "add_to_cart", "item_id", 0.5),
    ],
)
def test_what_matches(giver: str, given: str, taker: str, wanted: str, trust: float) -> None:
    """Equal names match, an id by the thing that its tool is about, and what is about anything matches nothing."""
    output, argument = Field(given, words(given), type="string"), Field(wanted, words(wanted), type="string")
    assert match(output, words(giver), argument, words(taker)) == trust


def test_types_have_to_agree() -> None:
    """Text is not a number, a whole number is one, and nothing said is no objection."""
    found = {
        kind: match(Field("age", ("age",), type=kind), (), Field("age", ("age",), type="number"), ())
        for kind in ("string", "integer", "")
    }
    assert found == {"string": 0.0, "integer": 1.0, "": 1.0}


def test_nested_fields_are_about_what_they_lie_in() -> None:
    """`user: {id}` in a list of results gives a `user_id`."""
    inner = {"type": "object", "properties": {"user": {"properties": {"id": {"type": "string"}}}}}
    (given,) = (
        field
        for field in fields_of({"properties": {"hits": {"type": "array", "items": inner}}})
        if field.name == "hits.user.id"
    )
    assert match(given, ("find",), Field("user_id", ("user", "id")), ("greet",)) == 0.8


def test_a_schema_that_never_ends_is_read_for_a_while() -> None:
    """Hostile schemas: deep, wide, and with the wrong types everywhere."""
    deep: dict[str, object] = {}
    deep["properties"] = {"again": deep}
    wide = {"properties": {f"field_{number}": {} for number in range(10_000)}}
    assert len(fields_of(deep)) < 10
    assert len(fields_of(wide)) == 200
    assert (
        fields_of({"properties": {"a": True, "": {"type": ["null", "string"]}}, "required": "a", "items": 3})[1].type
        == "string"
    )


def test_the_way_to_a_tool_goes_over_what_provides_its_inputs() -> None:
    """Every required input is reached, by another tool or as given; an optional one is not asked for."""
    pay = tool("shop/pay", {"cart_id": "string", "card": "string"})
    relations = Relations([tool("shop/make_cart", gives={"cart_id": "string"}), pay])
    assert Hyperpaths(relations.graph, []).path("shop/pay").missing == ("shop/pay?card",)
    path = Hyperpaths(relations.graph, ["shop/pay?card"]).path("shop/pay")
    assert [arc.head for arc in path.arcs] == ["shop/make_cart", "shop/pay?cart_id", "shop/pay"]
    assert path.cost == pytest.approx(2.0)


def test_traces_weigh_what_came_before() -> None:
    """The weight of a sequence is one call and how surprising it is."""
    relations = Relations([tool("a/x"), tool("a/y")], [trace(1, "a/x", "a/y"), trace(2, "a/x", "a/y"), trace(3, "a/y")])
    expected = {
        (("a/x",), "a/y", round(1 - math.log(2 / 3), 9), "sequence", 2),
        ((), "a/y", round(1 - math.log(1 / 3), 9), "sequence", 1),
        ((), "a/x", 1.0, "sequence", 2),
    }
    assert arcs(relations.graph) == expected


def test_links_say_who_used_what() -> None:
    """With links a call waits for those alone whose outcome it used, and all of them."""
    linked = trace(1, "a/x", "a/y", "a/z", "a/z", links=((0, 2), (1, 2), (2, 3)))
    relations = Relations([], [linked])
    into = {relations.graph.arcs[arc].tail for arc in relations.graph.into["a/z"]}
    assert into == {("a/x", "a/y"), ()}
    assert Hyperpaths(relations.graph, []).path("a/z").cost > 0


def test_a_capability_is_done_when_all_in_it_is() -> None:
    """Its way is the ways of its members, and those of what it contains."""
    relations = Relations([tool("a/x"), tool("a/y")], [], {"both": ["a/x", "a/y"], "more": ["both"]})
    path = Hyperpaths(relations.graph, []).path("more")
    assert [arc.head for arc in path.arcs] == ["a/x", "a/y", "both", "more"]
