"""A gateway: many tool servers behind five tools.

The agent searches, plans, predicts and calls through these tools.

    vade mcp --gateway servers.json

An agent pays for every tool schema in every session. The gateway shows five schemas, which never change, so prompt
caches stay valid; the agent looks up other schemas when needed. Each server is asked on separate threads: a slow or
broken server is reported with a fix, and the others continue. Calls are recorded as traces, without any values.

Two of the five call tools: one only those that say that they change nothing, so a client can allow this one for good. What may be
called at all is in `mcp.permissions`.
"""

from __future__ import annotations

import difflib
import json
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vademecum.errors import Error, ToolServerError, UrlElicitationError, UsageError
from vademecum.mcp.calls import PAGE_TOOL, SERVER, Chained, Pages
from vademecum.mcp.permissions import ALWAYS_ASKED, Allowed, Permissions, barred, effect, refuse
from vademecum.mcp.tool import Front, Outcome, Tool, violation
from vademecum.mcp.upstream import CAPABILITIES, Fleet, Offerings, Questions, Upstream, linked
from vademecum.protocols import OfferingServer
from vademecum.providers.servers.configured import open_server
from vademecum.tools import records
from vademecum.tools.observe import tool_id
from vademecum.tools.relations import tool_of_input
from vademecum.tools.search import LIKELY_FROM, THRESHOLD
from vademecum.tools.session_traces import Traced
from vademecum.tools.texts import is_deprecated
from vademecum.types import Verdict
from vademecum.wiring.roots import consented

if TYPE_CHECKING:
    from vademecum.config import Settings
    from vademecum.engine import Engine
    from vademecum.mcp.client import AskedClient
    from vademecum.protocols import Clock, Progress, Told, ToolServer
    from vademecum.providers.servers.configured import ServerSpec
    from vademecum.tools.records import Candidate, Match, Plan, Prediction
    from vademecum.tools.tools import Tools

INSIDE = "VADE_GATEWAY"  # set in the environment of every server behind a gateway
FOUND = 5  # tools shown by default
NEXT = 3  # tools that a prediction shows
LISTING_S = 10.0  # for servers that are still starting, at the first question
AGAIN_S = 0.5  # for servers that failed before, at later questions: the answer reports them
PAGE = 40_000  # characters of an answer that are shown at once
_WORDS = 400  # characters of a description in a list
_TOLD_FROM = 0.05  # score from which a tool in a list has its description
_ARGUMENTS = 400  # characters of a signature: a longer one says nothing of what is inside objects and lists
_CHOICES = 6  # values of an argument that a signature names
_CALLED: Mapping[str, Mapping[str, Any]] = {
    "tool": {"type": "string", "description": "Its id, server/name"},
    "arguments": {"type": "object", "description": "What its schema asks for"},
}


class Gateway:
    """The servers, and the five tools.

    Args:
        fleet: The servers.
        session: Distinguishes this client's traces from others'.
        home: The folder for allowed tools and long answers.
        clock: Tells the time, in seconds since the epoch.
        questions: The way to the client.
        page: Characters of an answer that are shown at once.
    """

    def __init__(
        self,
        fleet: Fleet,
        session: str,
        home: Path,
        clock: Clock = time.time,
        questions: Questions | None = None,
        page: int = PAGE,
    ) -> None:
        self._there: Mapping[str, Mapping[str, records.Tool]] = {}  # tools by server, as last registered
        self._questions = questions or Questions()
        self._fleet = fleet
        self._file = str(Path(fleet.path).resolve()) if fleet.path else ""
        self._permissions = Permissions(Allowed(home, self._file), self._questions.ask_user)
        self._pages = Pages(home, page)
        self.offerings = Offerings(fleet)
        self._traced = Traced(session, clock)
        self._groups: dict[str, records.Group] = {}  # chains that were shown, by id
        self._fresh: list[Upstream] = []  # listed again, not yet registered
        self._noted: set[str] = set()  # problems that the agent was told
        self._lock = threading.Lock()
        self._later: Callable[[Callable[[Engine], None]], None] = lambda _: None
        tools = {tool.name: tool for tool in self._tools()}
        self.front = Front(tools, self._instructions(), CAPABILITIES, self.offerings.methods)

    def start(self, later: Callable[[Callable[[Engine], None]], None], client: AskedClient | None = None) -> None:
        """Ask every server for its tools, all at once, without waiting.

        `later` runs a function with the engine, on the engine's thread.
        """
        self._later = later
        self._questions.connect(client.ask if client else None, client.offers if client else {})
        if client:
            self.offerings.connect(client.tell)
        self._refresh()

    def close(self) -> None:
        """Close every server, in parallel."""
        threads = [threading.Thread(target=upstream.close) for upstream in self._fleet.all.values()]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self._pages.close()

    # The five tools.

    def _search(self, engine: Engine, arguments: Mapping[str, Any], _: Progress | None) -> Outcome:
        query, k = arguments["query"], arguments.get("k", FOUND)
        problems = self._current(engine)
        answer = self._known(engine).search(query, k=5 * k + 20, unfinished=self._traced.calls_for(query)[0])
        found = [match for match in answer.matches if all(map(self._is_offered, match.tools or (match.id,)))]
        answer = replace(answer, nearest=tuple(filter(self._is_offered, answer.nearest)))
        if chain := self._chain(query):
            id_, tools = chain.tool.id, chain.group.tools
            found = [records.Match(id_, "capability", id_, "", "", 1.0, 1.0, 1.0, tools, exact=True)]
            answer = replace(answer, verdict=Verdict.RESOLVED, probability=1.0)
        named = [match for match in found if query.strip() in (match.id, match.name)]
        self._intend(engine, query, named=bool(named))
        shown = [match for match in named or found if match.kind == "tool" or match in named][:k]
        shown += [match for match in found if match.kind == "capability" and match.score >= LIKELY_FROM and not named]
        self._remember(self._known(engine), [match.id for match in shown if match.kind == "capability"])
        verdict = answer.verdict if shown else Verdict.NOT_FOUND
        lines = _found_lines(verdict, answer, shown, self._tool)
        lines += self._notes(problems, again=verdict is Verdict.NOT_FOUND)
        data = [_record(match, self._tool(match.id)) for match in shown]
        return Outcome("\n".join(lines), {"verdict": str(verdict), "probability": answer.probability, "tools": data})

    def _intend(self, engine: Engine, intent: str, **more: Any) -> None:
        """Note an intent, with how well each tool fits."""
        fits = self._known(engine).shares(intent, unfinished=self._traced.calls_for(intent)[0])
        self._traced.intend(intent, fits=fits, **more)

    def _suggest(self, engine: Engine, arguments: Mapping[str, Any], _: Progress | None) -> Outcome:
        problems, intent = self._current(engine), arguments["intent"]
        plan = self._known(engine).suggest(intent, unfinished=self._traced.calls_for(intent)[0])
        self._intend(engine, intent, planned=[task.call for task in plan.tasks])
        self._remember(self._known(engine), [group.id for group in plan.contains])
        lines = [*_planned(plan, self._tool), *self._notes(problems, again=not plan.tasks)]
        return Outcome("\n".join(lines), asdict(plan))

    def _predict(self, engine: Engine, arguments: Mapping[str, Any], _: Progress | None) -> Outcome:
        intent = arguments["intent"]
        own, after = self._traced.calls_for(intent)
        found = self._known(engine).predict(intent, after=after, k=2 * FOUND, unfinished=own)
        likely = [each for each in found.candidates if self._is_offered(each.tool)][:NEXT]
        if not own:
            self._intend(engine, intent)
        return Outcome(
            "\n".join(_predicted(found, likely, self._tool)), asdict(replace(found, candidates=tuple(likely)))
        )

    def _read(self, arguments: Mapping[str, Any], told: Told | None) -> Outcome:
        if arguments["tool"].strip() == PAGE_TOOL:
            return self._call(arguments, told)
        if chain := self._chain(arguments["tool"]):
            tool = chain.tool
        else:
            upstream, tool = self._find(arguments["tool"])
            refuse(tool, upstream.rules)
        if not tool.reads:
            raise UsageError(f"{tool.id} does not say that it only reads: call it by call_tool")
        return self._call(arguments, told)

    def _call(self, arguments: Mapping[str, Any], told: Told | None) -> Outcome:
        asked, given = arguments["tool"], arguments.get("arguments", {})
        intent = arguments.get("intent", "")
        if asked.strip() == PAGE_TOOL:
            return Outcome(self._pages.read(given), None)
        if chain := self._chain(asked):
            outcome = self._run(chain, given, intent, told)
        else:
            upstream, tool = self._find(asked)
            self._permissions.admit(tool, upstream.rules)
            outcome = self._ask(upstream, tool, given, intent, told)
        paged = self._pages.shown(outcome.content)
        return outcome if paged is None else replace(outcome, content=tuple(paged), data=None)

    def _run(self, chain: Chained, given: Mapping[str, Any], intent: str, told: Told | None) -> Outcome:
        """Run an allowed chain of calls, up to a failure."""
        steps = [self._find(tool.id) for tool in chain.tools]
        if wrong := violation(given, chain.tool.input_schema):
            raise UsageError(f"{chain.tool.id}: {wrong}; it takes {_signature(chain.tool) or 'nothing'}")
        for upstream, tool in steps:
            self._permissions.admit(tool, upstream.rules)
        self._permissions.admit(chain.tool, ALWAYS_ASKED)
        said, answers = list[Mapping[str, Any]](), list[Mapping[str, Any]]()
        for place, (upstream, tool) in enumerate(steps):
            head = f"[{place + 1} of {len(steps)}: {tool.id}]"
            try:
                outcome = self._ask(upstream, tool, chain.arguments(place, given, answers), intent, told)
            except Error as error:
                if not place:
                    raise
                left = ", ".join(tool.id for _, tool in steps[place + 1 :])
                failed = f"{head} failed: {error}{f'; not called: {left}' if left else ''}"
                return Outcome("", None, (*said, {"type": "text", "text": failed}), is_error=True)
            said += [{"type": "text", "text": head}, *outcome.content]
            if outcome.is_error:
                break
            answers.append({"content": outcome.content, "structuredContent": outcome.data})
        return Outcome("", None, tuple(said), outcome.is_error)

    def _ask(
        self, upstream: Upstream, tool: records.Tool, given: Mapping[str, Any], intent: str, told: Told | None
    ) -> Outcome:
        """Call an admitted tool, and note the call."""
        if wrong := violation(given, tool.input_schema):
            raise UsageError(f"{tool.id}: {wrong}; it takes {_signature(tool) or 'nothing'}")
        started = time.monotonic()
        try:
            result = upstream.call(tool.name, given, told)
        except UrlElicitationError:  # the call did nothing yet; the client repeats it
            raise
        except ToolServerError:
            self._note(tool, given, "", intent, ok=False, latency_s=time.monotonic() - started)
            raise
        outcome = _checked(tool, {**result, "content": linked(upstream.name, result.get("content") or ())})
        said = json.dumps([result.get("content"), result.get("structuredContent")], ensure_ascii=False)
        self._note(tool, given, said, intent, ok=not outcome.is_error, latency_s=time.monotonic() - started)
        return outcome

    def _note(
        self, tool: records.Tool, given: Mapping[str, Any], said: str, intent: str, *, ok: bool, latency_s: float
    ) -> None:
        traces = self._traced.called(tool.id, given, said, ok=ok, latency_s=latency_s, intent=intent)

        def observe(engine: Engine) -> None:
            self._known(engine).observe(traces)
            if empty := [trace.id for trace in traces if not trace.calls]:  # its calls were another task's
                self._known(engine).forget(empty)

        self._later(observe)

    # What there is.

    def _refresh(self) -> list[tuple[threading.Thread, float]]:
        """Ask servers that may have changed; return threads, with seconds to wait."""
        self._fleet.refresh()
        begun = list[tuple[threading.Thread, float]]()
        for one in [upstream for upstream in self._fleet.all.values() if upstream.stale]:
            thread = threading.Thread(target=self._list, args=(one,), name=f"{one.name}-list", daemon=True)
            begun.append((thread, AGAIN_S if one.problem else LISTING_S))
            thread.start()
        return begun

    def _list(self, upstream: Upstream) -> None:
        if upstream.refresh():
            with self._lock:
                self._fresh.append(upstream)
            self._later(self._register)
            self.offerings.arrived(upstream)

    def _register(self, engine: Engine) -> None:
        """Register newly listed tools once, and tools that rules no longer bar."""
        with self._lock:
            fresh, self._fresh = self._fresh, []
        known, there = self._known(engine), {u.name: _offered(u) for u in self._fleet.all.values() if u.tools}
        for name, tools in there.items():
            if tools.keys() != self._there.get(name, {}).keys() or any(name == upstream.name for upstream in fresh):
                known.register(tools.values(), complete={name})
        if there.keys() != self._there.keys():
            known.retain(there)
        self._there = there

    def _known(self, engine: Engine) -> Tools:
        """Return the tools of these servers in this project, for this gateway."""
        places = [self._file, *sorted(root.path for root in engine.roots)]
        return engine.tools.within(blake2b("\0".join(places).encode(), digest_size=8).hexdigest())

    def _current(self, engine: Engine) -> list[str]:
        """Wait a while for starting servers, register tools, and return problems."""
        began = time.monotonic()
        for thread, patience in self._refresh():
            thread.join(max(began + patience - time.monotonic(), 0.0))
        self._register(engine)
        known = self._fleet.all.values()
        slow = [f"{u.name} is still starting" for u in known if not u.listed.is_set() and not u.problem]
        return [*self._fleet.problems, *slow, *(u.problem for u in known if u.problem)]

    def _notes(self, problems: Sequence[str], *, again: bool) -> list[str]:
        """Return problems as lines: those not told yet, or `again` all."""
        keys = [problem.partition(" (failed ")[0] for problem in problems]
        told, self._noted = self._noted, set(keys)
        return [f"note: {said}" for key, said in zip(keys, problems, strict=True) if again or key not in told]

    def _find(self, asked: str) -> tuple[Upstream, records.Tool]:
        """Return a tool by its id, or by its unique bare name.

        Raises:
            UsageError: No tool matches, or several do.
            ToolServerError: The tool's server cannot be asked.
        """
        self._fleet.refresh()
        id_ = tool_id(asked.strip())
        server, _, name = id_.partition("/")
        if server in self._fleet.all and name:
            upstream = self._fleet.all[server]
            upstream.refresh()
            if tool := upstream.tools.get(name):
                return upstream, tool
            if upstream.problem and not upstream.tools:
                raise ToolServerError(upstream.problem)
        named = [(u, u.tools[id_]) for u in self._fleet.all.values() if id_ in u.tools]
        if len(named) == 1:
            return named[0]
        if named:
            raise UsageError(f"{len(named)} servers have {id_!r}: say which: {', '.join(tool.id for _, tool in named)}")
        if wrong := [problem for problem in self._fleet.problems if problem.startswith(f"{server!r} ")]:
            raise UsageError(wrong[0])
        known = [tool.id for u in self._fleet.all.values() for tool in _offered(u).values()]
        close = difflib.get_close_matches(id_, known, n=3, cutoff=0.5) or [k for k in known if k.endswith(f"/{name}")]
        hint = f"did you mean {' or '.join(close)}?" if close else "search_tools finds them"
        raise UsageError(f"there is no tool {asked!r}: {hint}")

    def _remember(self, known: Tools, ids: Iterable[str]) -> None:
        """Keep the chains that are shown, so that they can be called."""
        found = {id_: known.group(id_) for id_ in ids if id_.startswith(f"{SERVER}/")}
        self._groups |= {id_: group for id_, group in found.items() if group}

    def _chain(self, id_: str) -> Chained | None:
        """Return a shown chain, unless a tool of the chain is gone."""
        group = self._groups.get(id_.strip()) if SERVER not in self._fleet.all else None
        tools = [tool for each in group.tools if (tool := self._tool(each))] if group else []
        return Chained(group, tuple(tools)) if group and len(tools) == len(group.tools) else None

    def _tool(self, id_: str) -> records.Tool | None:
        if chain := self._chain(id_):
            return chain.tool
        server, _, name = id_.partition("/")
        upstream = self._fleet.all.get(server)
        return upstream.tools.get(name) if upstream else None

    def _is_offered(self, id_: str) -> bool:
        """Return whether a tool is behind the gateway and may be called."""
        server, _, name = id_.partition("/")
        return server in self._fleet.all and name in _offered(self._fleet.all[server])

    # What agents see.

    def _instructions(self) -> str:
        return (
            f"The tools of these servers are reached through the five here: {', '.join(self._fleet.all)}. First "
            "search_tools with what you want to do (or suggest_plan for a task of several steps), then call_reading_tool "
            "for a tool marked [reads], else call_tool, with the id it names."
        )

    def _tools(self) -> list[Tool]:
        return [
            Tool(
                "search_tools",
                "Find the few tools, of hundreds, that fit what you want to do. Returns their ids, arguments and what "
                "they do. A tool's exact name or id gives that tool with its whole schema.",
                {
                    "query": {"type": "string", "description": "What is to be done, or a tool's name"},
                    "k": {"type": "integer", "minimum": 1, "maximum": 50, "description": f"Tools, default {FOUND}"},
                },
                ("query",),
                run=self._search,
            ),
            Tool(
                "suggest_plan",
                "For a task of several steps: which tools, in which order, what can run at the same time and which inputs "
                "are missing, learned from what was done before. Follow it as far as it fits.",
                {"intent": {"type": "string", "description": "The whole task, in a sentence"}},
                ("intent",),
                run=self._suggest,
            ),
            Tool(
                "predict_tool",
                "Which tool usually comes next in a task, by past use and by what you called for it here. Abstains when unsure.",
                {"intent": {"type": "string", "description": "The task, in the words that you searched for"}},
                ("intent",),
                run=self._predict,
            ),
            Tool(
                "call_reading_tool",
                "Call a tool marked [reads], which changes nothing.",
                _CALLED,
                ("tool",),
                apart=self._read,
                reads=True,
            ),
            Tool(
                "call_tool",
                "Call any tool that search_tools or suggest_plan named; it may change things. An id capability/... is a chain "
                "of tools in one call.",
                {
                    **_CALLED,
                    "intent": {"type": "string", "description": "What the call is for, if not what was searched for"},
                },
                ("tool",),
                apart=self._call,
            ),
        ]


def gateway_to(path: str, settings: Settings, session: str) -> Gateway:
    """Return a gateway to the servers of a file, none started yet.

    A server on another machine needs the user's consent.

    Raises:
        ConfigError: The file cannot be read, or no server in it is right.
    """
    own, questions = settings.gateway, Questions()
    heard: list[Gateway] = []  # holds the gateway once it is made

    def opening(spec: ServerSpec) -> Upstream:
        limits: dict[str, Any] = {"timeout_s": own.timeout_s, "answer_bytes": own.answer_bytes}
        marked = replace(spec, env={**spec.env, INSIDE: "1"})

        def opened() -> ToolServer:
            server = consented("server of tools", open_server(marked, **limits), settings, shared=False)
            questions.serve(server)
            if isinstance(server, OfferingServer):
                server.tell(lambda method, params: heard[0].offerings.hear(spec.name, method, params))
            return server

        return Upstream(spec.name, opened, time.monotonic)

    fleet, home = Fleet.of_file(path, opening), Path(settings.home)
    heard.append(Gateway(fleet, session, home, questions=questions, page=own.page))
    return heard[0]


def _offered(upstream: Upstream) -> dict[str, records.Tool]:
    """Return a server's tools by name, but those that rules bar."""
    return {name: tool for name, tool in upstream.tools.items() if not barred(tool, upstream.rules)}


def _found_lines(
    verdict: Verdict, answer: records.ToolAnswer, shown: Sequence[Match], tool_of: Callable[[str], records.Tool | None]
) -> list[str]:
    """Return a search as lines: the verdict, then the tools.

    Of tools that do not fit few are named. One that no trace has used may stand before better ones, and says so.
    """
    if verdict is Verdict.NOT_FOUND:
        said = answer.reason or "no tool of these servers does this; rephrase once at most"
        head = f"not found {answer.probability if shown else 0:.2f}: {said}"
        return [head, f"nearest: {', '.join(answer.nearest)}"] if answer.nearest else [head]
    lines = [f"{str(verdict).replace('_', ' ')} {answer.probability:.2f}"]
    for place, match in enumerate(shown):
        first, *more = _described(match, tool_of(match.id))
        is_passed = any(match.score < other.score and not other.tools for other in shown[place + 1 :])
        is_new = is_passed and not (match.traces or match.exact or match.pinned or match.tools)
        lines += [f"{first} (not used yet)" if is_new else first, *more]
    return lines


def _checked(tool: records.Tool, result: Mapping[str, Any]) -> Outcome:
    """Return the server's answer, after an error if it breaks its schema."""
    content, data = tuple(result.get("content") or ()), result.get("structuredContent")
    failed = result.get("isError") is True
    if failed or not tool.output_schema or data is None:
        return Outcome("", data, content, failed)
    wrong = violation(data, tool.output_schema, shown=False)
    if not wrong:
        return Outcome("", data, content)
    said = f"{tool.id} broke its own output schema: {wrong}: do not rely on its answer, report it to its author"
    return Outcome(said, None, ({"type": "text", "text": said}, *content), is_error=True)


def _described(match: Match, tool: records.Tool | None) -> list[str]:
    """Return the lines of a tool; an exact match has its schema."""
    if tool is None:
        return [f"{match.name}: {' -> '.join(match.tools)}"]
    words, says = " ".join(tool.description.split()), effect(tool)
    says = ", ".join(filter(None, (says, "deprecated" * is_deprecated(tool))))
    lines = [f"{tool.id}({_signature(tool)}) {match.score:.2f}{f' [{says}]' if says else ''}"]
    if match.exact:
        return [
            *lines,
            *([f"  {words}"] if words else []),
            f"  schema: {json.dumps(tool.input_schema, ensure_ascii=False)}",
        ]
    words = words if len(words) <= _WORDS else f"{words[:_WORDS]}…"
    return [*lines, f"  {words}"] if words and match.score >= _TOLD_FROM else lines


def _planned(plan: Plan, tool_of: Callable[[str], records.Tool | None]) -> list[str]:
    """Return a plan as lines: each layer's tasks, with dependencies."""
    if not plan.tasks:
        return [f"no plan: {plan.reason}"]
    tasks = {task.id: task for task in plan.tasks}
    lines = [f"confidence {plan.confidence:.2f}, past tasks like it: {len(plan.evidence) or 'none'}"]
    for number, layer in enumerate(plan.layers, 1):
        lines.append(f"{number}." + (" at the same time:" if len(layer) > 1 else ""))
        for id_ in layer:
            task, known = tasks[id_], tool_of(tasks[id_].call)
            called = f"{task.call}({_signature(known) if known else ''})"
            lines.append(f"  {id_} {called}" + (f" after {', '.join(task.depends_on)}" if task.depends_on else ""))
    chains = [chain for group in plan.contains if (chain := tool_of(group.id))]
    lines += [f"as one call: {chain.id}({_signature(chain)})  {chain.description}" for chain in chains]
    inputs = [f"{name} of {tool}" for tool, name in map(tool_of_input, plan.missing)]
    return [*lines, f"nothing known gives: {', '.join(inputs)}"] if inputs else lines


def _predicted(
    found: Prediction, likely: Sequence[Candidate], tool_of: Callable[[str], records.Tool | None]
) -> list[str]:
    """Return a prediction as lines: the verdict, then tools with probabilities."""
    sure = bool(likely) and likely[0].probability >= THRESHOLD
    done = f" ({found.done:.2f} that the task is done)" if found.after else ""
    lines = [f"{'next' if sure else 'not sure'}{done}, after: {', '.join(found.after) or 'nothing yet'}"]
    for each in likely:
        tool = tool_of(each.tool)
        says = effect(tool) if tool else ""
        lines.append(
            f"  {each.tool}({_signature(tool) if tool else ''}) {each.probability:.2f}{f' [{says}]' if says else ''}"
        )
    return lines


def _record(match: Match, tool: records.Tool | None) -> dict[str, Any]:
    record: dict[str, Any] = {"id": match.id, "score": round(match.score, 3)}
    if tool is None:
        return record | {"tools": list(match.tools)}
    record |= {"tools": list(match.tools)} if match.tools else {}
    return record | {"inputSchema": tool.input_schema, "annotations": tool.annotations}


def _signature(tool: records.Tool) -> str:
    """Return the arguments as text: `paths: [string], order?: "name"|"size"`."""
    whole = _fields(tool.input_schema, 4)
    return whole if len(whole) <= _ARGUMENTS else _fields(tool.input_schema, 1)


def _fields(schema: Mapping[str, Any], depth: int) -> str:
    properties, required = schema.get("properties"), schema.get("required")
    if not isinstance(properties, Mapping):
        return ""
    needed = required if isinstance(required, list) else ()
    order = sorted(properties, key=lambda name: name not in needed)
    return ", ".join(f"{name}{'' if name in needed else '?'}: {_kind(properties[name], depth)}" for name in order)


def _kind(schema: Any, depth: int) -> str:
    """Return the type of a value as text, `depth` levels deep."""
    if not isinstance(schema, Mapping):
        return "any"
    choices = schema.get("enum")
    if depth and isinstance(choices, list) and len(choices) <= _CHOICES:
        return "|".join(json.dumps(each, ensure_ascii=False) for each in choices)
    forms = schema.get("anyOf") or schema.get("oneOf")
    kind = schema.get("type") or ([_kind(each, depth) for each in forms] if isinstance(forms, list) else "any")
    if depth > 1 and kind == "array" and isinstance(schema.get("items"), Mapping):
        return f"[{_kind(schema['items'], depth - 1)}]"
    inside = _fields(schema, depth - 1) if depth > 1 and kind == "object" else ""
    return f"{{{inside}}}" if inside else "|".join(dict.fromkeys([kind] if isinstance(kind, str) else map(str, kind)))
