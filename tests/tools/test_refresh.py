"""What was observed is worked in beside the questions: none waits for it, and none misses what it must not miss."""

from __future__ import annotations

import threading
import time
from dataclasses import replace

import pytest

from vademecum.tools import tool_arrays
from vademecum.tools import tools as refresh
from vademecum.tools.observe import trace
from vademecum.tools.records import Call, Tool


@pytest.fixture
def busy(office, monkeypatch):
    """The office, as if its traces were many, with a thread that waits until it is asked for."""
    monkeypatch.setattr(refresh, "FEW", 0)
    monkeypatch.setattr(refresh, "QUIET_S", 3600.0)
    office.predict("mail the report")
    return office


def painted(number):
    return trace("paint the fence green", (Call("paint/brush"),), id_=f"paint-{number}")


def test_the_view_before_answers_until_what_is_new_is_worked_in(busy):
    before = busy._now()
    busy.observe([painted(1)])
    assert busy._now() is before
    assert "paint/brush" not in [c.tool for c in busy.predict("paint the fence green").candidates]
    assert busy.settle() == len(before.view.traces) + 1
    assert busy.predict("paint the fence green").candidates[0].tool == "paint/brush"


def test_a_registered_tool_is_found_at_once(busy):
    busy.observe([painted(1)])
    busy.register([Tool.of("paint", "brush", "Paint a wall or a fence.")])
    assert busy.search("paint a fence").matches[0].id == "paint/brush"


def test_a_tool_whose_words_changed_is_planned_with_its_new_inputs(busy):
    brush = Tool.of("paint", "brush", "Paint a wall or a fence.", input_schema={"properties": {"colour": {}}})
    inputs = []
    for name in ("colour", "pigment"):
        busy.register([replace(brush, input_schema={"properties": {name: {}}})])
        (task,) = [task for task in busy.suggest("paint a fence").tasks if task.call == "paint/brush"]
        inputs.append(task.inputs)
    assert inputs == [("colour",), ("pigment",)]


def test_what_must_be_called_first_is_what_the_traces_say_now(office):
    def planned():
        return [task.call for task in office.suggest("walk into the zoo").tasks]

    give = {"properties": {"ticket_id": {"type": "string"}}}
    office.register([Tool.of("zoo", "enter", "Walk into the zoo.", input_schema=give | {"required": ["ticket_id"]})])
    assert planned()[0] == planned()[0] == "zoo/enter"
    office.register([Tool.of("zoo", "buy", "Buy a ticket for the zoo.", output_schema=give)])
    assert planned()[:2] == planned()[:2] == ["zoo/buy", "zoo/enter"]


def test_an_intent_is_read_once_while_it_is_asked_about(office, monkeypatch):
    office.search("mail the report")
    made, reader = [], office._reader
    embed = reader._embedder().embed
    monkeypatch.setattr(type(reader._embedder()), "embed", lambda _, what, kind: made.append(what) or embed(what, kind))
    for called in ((), ("files/read",)):
        office.predict("mail the report", after=called)
    office.suggest("mail the report")
    assert not made
    for number in range(100):
        office.search(f"mail report {number}")
    assert len(reader._questions) <= tool_arrays._QUESTIONS


def test_a_forgotten_trace_is_gone_at_once(busy):
    busy.observe([painted(1)])
    busy.settle()
    assert busy.forget(["paint-1"]) == 1
    assert all(t.id != "paint-1" for t in busy._now().view.traces)


def test_weights_are_not_fitted_within_a_question(busy, monkeypatch, traces_of):
    asking, fitting = threading.current_thread(), []

    def fitted(view, ways, prior, **_more):
        fitting.append(threading.current_thread())
        return replace(prior, traces=len(view.traces))

    monkeypatch.setattr(refresh, "fitted", fitted)
    busy.observe([painted(n) for n in range(100)])
    busy.predict("mail the report")
    assert asking not in fitting
    busy.settle()
    assert fitting


def test_few_traces_count_with_the_next_question(office):
    office.observe([painted(1)])
    assert office.predict("paint the fence green").candidates[0].tool == "paint/brush"


def test_after_closing_nothing_is_written(busy, store):
    busy.observe([painted(1)])
    thread = busy._current._thread
    assert thread is not None
    busy.close()
    assert not thread.is_alive()
    assert len(busy._current._known.view.traces) == len(store.scan("traces").unwrap()) - 1


def test_closing_ends_a_fit(office, monkeypatch):
    """A thread that goes on while the interpreter ends can abort the process."""
    monkeypatch.setattr(refresh, "QUIET_S", 0.0)
    office.predict("mail the report")
    before = threading.enumerate()
    office.observe([trace(f"paint fence {n} green", (Call("paint/brush"), Call("paint/dry"))) for n in range(300)])
    time.sleep(0.5)  # it is at work
    office.close()
    assert threading.enumerate() == before


def test_a_database_that_cannot_be_read_is_told_by_the_next_question(busy, monkeypatch):
    def broken():
        raise refresh.StoreError("the disk is gone")

    monkeypatch.setattr(busy._reader, "view", broken)
    busy.observe([painted(1)])
    busy._current._hurry.set()
    busy._current._thread.join(60)
    with pytest.raises(refresh.StoreError, match="the disk is gone"):
        busy.predict("x")
