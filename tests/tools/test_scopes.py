"""Scopes: three gateways over one database, each with its own servers."""

from __future__ import annotations

from vademecum.tools.observe import trace
from vademecum.tools.records import Call, Tool

FIND = Tool.of("desk", "find", "Find an entry.", output_schema={"properties": {"entry": {"type": "string"}}})
SEND = Tool.of("desk", "send", "Send an entry.", input_schema={"properties": {"entry": {"type": "string"}}})
STAMP = Tool.of("desk", "stamp", "Stamp a parcel.")
NEWS = trace("pass on the news", (Call("desk/find"), Call("desk/send")), id_="news", session="s")
SEAL = trace("seal the parcel", (Call("desk/find"), Call("desk/stamp")), id_="seal")


def copies(server, *tools):
    return [
        Tool.of(server, t.name, t.description, input_schema=t.input_schema, output_schema=t.output_schema)
        for t in tools
    ]


def calls(tools, intent):
    return [task.call for task in tools.suggest(intent).tasks]


def test_servers_of_one_name_live_side_by_side(tools):
    post, bank, farm = (tools.within(name) for name in ("post", "bank", "farm"))
    post.register([FIND, SEND, STAMP], complete={"desk"})
    bank.register(copies("desk", STAMP), complete={"desk"})
    farm.register([Tool.of("desk", "plough", "Plough a field.")], complete={"desk"})
    listed = [[each.tool.id for each in scope.catalogue()] for scope in (post, bank, farm, tools)]
    assert listed[:3] == [["desk/find", "desk/send", "desk/stamp"], ["desk/stamp"], ["desk/plough"]]
    assert listed[3] == ["desk/find", "desk/plough", "desk/send", "desk/stamp"]
    assert [match.id for match in bank.search("stamp a parcel").matches] == ["desk/stamp"]


def test_traces_of_others_speak_for_tools_that_are_the_same(tools):
    post, bank, farm = (tools.within(name) for name in ("post", "bank", "farm"))
    post.register([FIND, SEND, STAMP])
    post.observe([NEWS, SEAL])
    bank.register(copies("copy", FIND, SEND))
    farm.register([Tool.of("desk", "find", "Find a field.", output_schema={"properties": {"field": {}}}), SEND])
    assert [trace.id for trace in post.traces()] == ["news", "seal"]
    assert [(t.id, t.session, [c.tool for c in t.calls]) for t in bank.traces()] == [("news", "s", ["copy/find", "copy/send"])]  # fmt: skip
    assert farm.traces() == []
    assert calls(bank, "pass on the news") == ["copy/find", "copy/send"]
    assert {trace.id for trace in tools.traces()} == {"news", "seal"}


def test_no_tool_is_proposed_that_is_not_there(tools):
    post = tools.within("post")
    post.register([FIND, SEND, STAMP, *copies("old", STAMP)])
    post.observe([NEWS, SEAL])
    assert calls(post, "seal the parcel") == ["desk/find", "desk/stamp"]
    post.register([FIND, SEND], complete={"desk"})
    assert post.retain({"desk"}) == 1
    assert not {"desk/stamp", "old/stamp"} & set(calls(post, "seal the parcel"))
    assert not {"desk/stamp", "old/stamp"} & {each.tool for each in post.predict("seal the parcel", k=9).candidates}


def test_what_a_user_observed_counts_where_the_tool_is_the_same_or_unknown(tools):
    tools.register([STAMP])
    tools.observe([NEWS, SEAL])
    post = tools.within("post")
    post.register([FIND, SEND, Tool.of("desk", "stamp", "Stamp a parcel.", input_schema={"properties": {"ink": {}}})])
    assert [trace.id for trace in post.traces()] == ["news"]


def test_a_pin_holds_in_every_scope(tools):
    for name in ("post", "bank"):
        tools.within(name).register([STAMP])
    tools.pin("desk/stamp")
    assert [tools.within(name).catalogue()[0].pinned for name in ("post", "bank")] == [True, True]
