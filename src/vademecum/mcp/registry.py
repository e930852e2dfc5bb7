"""The tools for agents: names, schemas, descriptions, functions.

Each session of each agent pays for every word here: the list and the instructions stay under 800 tokens (a test counts).
Five tools are always listed. A setting lists more, and registered tools add the three tools about tools.

Each function imports the texts of its answers itself: Codex gives a server one second, then its model has no tools in the
first turn.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from vademecum.amounts import between_commas, counted
from vademecum.errors import OutsideRootError, UsageError
from vademecum.mcp.tool import Front, Outcome, Tool

if TYPE_CHECKING:
    from vademecum.answers.pack import Context
    from vademecum.config import Settings
    from vademecum.engine import Engine
    from vademecum.items import NamedItem
    from vademecum.protocols import Progress

INSTRUCTIONS = (
    "Finds code in this repository by meaning. To find code: one `search`. Before you change a function: `symbol` with relation `impact` tells who calls it, what may "
    "break, which tests to run. For a whole task: `context`. For earlier decisions: `recall`. For an exact string: grep. "
    "On `not_found` ask once in other words, then say that it is not here."
)
NOT_FOUND = "ask once more in words that the code may use, most often English; an overview: `context` with mode map"
DEFINITIONS = 60  # of one name
QUOTED = 4  # definitions with code; the others are places
SNIPPET_LINES = 12  # of each definition
REMEMBERED = 6  # events of one `recall`
TOOLS_FOUND = 5
OPEN_LINES = 400  # of one `open`; more is asked for by range


def _search(engine: Engine, arguments: Mapping[str, Any], progress: Progress | None) -> Outcome:
    from vademecum.answers.pack import Within

    path, lang, repo = (arguments.get(name, "") for name in ("path", "lang", "repo"))
    pattern = arguments.get("regex", "")
    within = Within(
        paths=(_inside(engine, path),) if path else (), languages=(lang,) if lang else (), kind=arguments.get("kind", "all"),
        pattern=pattern, repos=(repo,) if repo else (), scope=engine.scope(pattern),
    )  # fmt: skip
    found = engine.search(arguments["query"], arguments.get("budget"), within=within, progress=progress)
    return _answered(found)


def _context(engine: Engine, arguments: Mapping[str, Any], progress: Progress | None) -> Outcome:
    paths = [_inside(engine, path) for path in (arguments.get("path", ""),) if path]
    task, budget, session = arguments["task"], arguments.get("budget"), arguments.get("session", "")
    if arguments.get("mode") == "map":
        drawn = engine.map((), budget, task=task, within=paths, session=session, progress=progress)
        return Outcome(drawn.text.rstrip("\n"), drawn.facts())
    return _answered(engine.context(task, budget, paths=paths, session=session, progress=progress))


def _answered(found: Context) -> Outcome:
    """Return code as an outcome, with the next step for none."""
    from vademecum.answers.document import context_record
    from vademecum.types import Verdict

    is_name = found.task.isascii() and " " not in found.task.strip()
    is_missed = found.verdict is Verdict.NOT_FOUND and found.searched and not is_name
    text = found.text.rstrip("\n") + (f"\n{NOT_FOUND}" if is_missed else "")
    return Outcome(text, context_record(found), shown=found.shown)


def _symbol(engine: Engine, arguments: Mapping[str, Any], _: Progress | None) -> Outcome:
    from vademecum.answers.neighbours import neighbours_record, neighbours_text
    from vademecum.answers.render import answer_record, answer_text

    name, relation = arguments["name"], arguments.get("relation", "definition")
    below = (arguments["path"],) if arguments.get("path") else ()
    if relation == "definition":
        found = engine.codebase.symbol(name, k=DEFINITIONS, below=below)
        places = (replace(item, snippet="", metadata={}) for item in found.evidence[QUOTED:])
        found = replace(found, evidence=(*found.evidence[:QUOTED], *places))
        several = len(engine.roots) > 1
        text = answer_text(found, snippet_lines=SNIPPET_LINES, name_repos=several, facts=True)
        data = answer_record(found, snippet_lines=SNIPPET_LINES, compact=True)
        said = Outcome(text.rstrip("\n"), data, shown=found.evidence)
        return _with_items(said, engine.codebase.items(found.evidence))
    depth = arguments.get("depth", 1 if relation in {"callers", "callees"} else 2)
    if relation == "path":
        if "to" not in arguments:
            raise UsageError("relation 'path' of symbol needs 'to': the name to reach")
        answer = engine.codebase.path(name, arguments["to"], depth, below=below)
    else:
        answer = getattr(engine.codebase, relation)(name, depth=depth, below=below)
    where = f"in {answer.of[0].repo}: " if answer.of and len(engine.roots) > 1 else ""
    said = Outcome(where + neighbours_text(answer).rstrip("\n"), neighbours_record(answer, compact=True))
    return _with_items(said, engine.codebase.items_at(answer))


def _with_items(said: Outcome, items: list[NamedItem]) -> Outcome:
    from vademecum.answers.neighbours import items_record, items_text

    data = {**(said.data or {}), **({"items": items_record(items)} if items else {})}
    return Outcome(f"{said.text}\n{items_text(items)}".rstrip("\n"), data, shown=said.shown)


def _open(engine: Engine, arguments: Mapping[str, Any], _: Progress | None) -> Outcome:
    from vademecum.answers.render import evidence_lines, evidence_record, first_lines

    whole = engine.codebase.open(arguments["location"], commit=arguments.get("commit", ""))
    shown = first_lines(whole, OPEN_LINES)
    text = "\n".join(evidence_lines(shown))
    if shown is not whole:
        text += f"\n... up to line {whole.end_line}: open {whole.path}:{shown.end_line + 1}-{whole.end_line}"
    return Outcome(text, evidence_record(shown, compact=True), shown=(shown,))


def _recall(engine: Engine, arguments: Mapping[str, Any], _: Progress | None) -> Outcome:
    from vademecum.answers.remembered import recalled_record, recalled_text

    memory = engine.memory_of(arguments.get("repo", ""))
    found = memory.recall(arguments["question"], k=REMEMBERED, when=arguments.get("when", ""))
    names = {root.path: root.name for root in engine.roots} if len(engine.roots) > 1 else {}
    return Outcome(recalled_text(found, names=names), recalled_record(found, names))


def _remember(engine: Engine, arguments: Mapping[str, Any], _: Progress | None) -> Outcome:
    repo, several = arguments.get("repo", ""), [root.name for root in engine.roots][1:]
    if several and not repo:
        raise UsageError(
            f"several repositories are open: give 'repo', one of {', '.join(r.name for r in engine.roots)}"
        )
    done = engine.memory_of(repo).record(arguments["text"], metadata={"by": "agent"})
    taken = "".join(f"; taken out: {count} {kind}" for kind, count in done.redacted.items())
    taken += f"; {done.left} characters in the middle not read for facts" if done.left else ""
    where = f" in {repo}" if several else ""
    said = f"kept as {done.ids[0]}{where}, {counted(done.facts - done.kept_out, 'fact')}{taken}"
    return Outcome(said, asdict(done) | ({"repo": repo} if several else {}))


def _correct(engine: Engine, arguments: Mapping[str, Any], _: Progress | None) -> Outcome:
    from vademecum.answers.remembered import fact_text

    new = engine.memory_of().edit(arguments["fact"], arguments["text"], "agent")
    return Outcome(f"corrected: {fact_text(new)}", {"fact": new.id})


def _forget(engine: Engine, arguments: Mapping[str, Any], _: Progress | None) -> Outcome:
    cut = engine.memory_of().forget(arguments["id"])
    return Outcome(f"forgot {arguments['id']}, said in {counted(cut, 'event')}", {"events": cut})


def _status(engine: Engine, _arguments: Mapping[str, Any], _: Progress | None) -> Outcome:
    repos = [asdict(repo) for repo in engine.codebase.status()]
    lines: list[str] = []
    for repo in repos:
        skipped = repo.pop("skipped")
        repo["skipped"] = len(skipped)
        lines.append(
            f"{repo['repo']}: {repo['root']} at {repo['commit'][:12] or 'no commit'}, {repo['files']} files, "
            f"{repo['chunks']} chunks, {'fresh' if repo['fresh'] else 'will be refreshed by the next search'}, "
            f"{counted(len(skipped), 'file')} skipped"
        )
        lines.append("  " + ", ".join(f"{name} {count}" for name, count in repo["languages"].items()))
    return Outcome("\n".join(lines), {"repos": repos})


def _search_tools(engine: Engine, arguments: Mapping[str, Any], _: Progress | None) -> Outcome:
    from vademecum.answers.render import record_of, tools_text

    answer = engine.tools.search(arguments["query"], k=arguments.get("k", TOOLS_FOUND))
    return Outcome(tools_text(answer).rstrip("\n"), record_of(answer, compact=True))


def _predict_tool(engine: Engine, arguments: Mapping[str, Any], _: Progress | None) -> Outcome:
    from vademecum.answers.render import prediction_text, record_of

    prediction = engine.tools.predict(arguments["intent"], after=between_commas(arguments.get("after", "")))
    return Outcome(prediction_text(prediction).rstrip("\n"), record_of(prediction, compact=True))


def _suggest_plan(engine: Engine, arguments: Mapping[str, Any], _: Progress | None) -> Outcome:
    from vademecum.answers.render import plan_text, record_of

    plan = engine.tools.suggest(arguments["intent"])
    return Outcome(plan_text(plan).rstrip("\n"), record_of(plan))


def _inside(engine: Engine, path: str) -> str:
    """Return a path or glob, absolute or not, relative to its root."""
    asked = PurePath(path)
    if not asked.is_absolute() and ".." not in asked.parts:
        return path
    for root in engine.roots:
        if asked.is_relative_to(root.path) and ".." not in asked.parts:
            return asked.relative_to(root.path).as_posix()
    roots = ", ".join(root.path for root in engine.roots)
    raise OutsideRootError(f"{path!r} is outside {roots}: give a path or glob relative to it")


def _string(description: str, **more: Any) -> dict[str, Any]:
    return {"type": "string", "description": description, **more}


def _number(description: str, low: int, high: int) -> dict[str, Any]:
    return {"type": "integer", "minimum": low, "maximum": high, "description": description}


TOOLS: Mapping[str, Tool] = {
    tool.name: tool
    for tool in (
        Tool(
            "search",
            "Find code when you don't know its words: 'where are retries limited'. Shows the likeliest code whole, then more "
            "places as path:lines symbol. One good question beats several.",
            {
                "query": _string("A question in the code's language; names from it help"),
                "budget": _number("Tokens, default 750", 100, 100_000),
                "path": _string("Glob or folder, e.g. src/**"),
                "lang": _string("E.g. python"),
                "kind": {"type": "string", "enum": ["code", "test", "doc", "config", "all"]},
                "regex": _string("Code must match this"),
                "repo": _string("If several are open"),
            },
            ("query",),
            _search,
        ),
        Tool(
            "context",
            "Everything to read before a change, in one text: a search with a larger budget, callers, tests, notes. Give the "
            "whole issue or test output.",
            {
                "task": _string("What is to be done"),
                "mode": {"type": "string", "enum": ["code", "map"], "description": "map: an overview by signatures"},
                "budget": _number("Tokens, default 8000, map 2000", 200, 100_000),
                "path": _string("Glob or folder"),
                "session": _string("Any name; leaves out what it was shown"),
            },
            ("task",),
            _context,
        ),
        Tool(
            "symbol",
            "Before you change a function: who calls it (callers), what may break and which tests to run (impact). Also where a "
            "name is defined. Exact names; says unknown rather than guess.",
            {
                "name": _string("Name, Class.method or path:line"),
                "relation": {
                    "type": "string",
                    "enum": ["definition", "callers", "callees", "impact", "path", "related"],
                },
                "to": _string("For path: the name to reach"),
                "path": _string("Folder or file that declares it"),
                "depth": _number("Steps", 1, 3),
            },
            ("name",),
            _symbol,
        ),
        Tool(
            "recall",
            "What was said, decided or preferred in earlier sessions, and what still holds. Not for code.",
            {"question": _string("In words"), "when": _string("E.g. last week"), "repo": _string("Only this one")},
            ("question",),
            _recall,
        ),
        Tool(
            "remember",
            "Keep a decision with its reason, a preference or a fix for later sessions.",
            {"text": _string("One plain sentence"), "repo": _string("If several are open")},
            ("text",),
            _remember,
            writes=True,
        ),
        Tool(
            "correct",
            "Put a remembered fact right when the user says so; its past stays.",
            {"fact": _string("Id, as recall shows it"), "text": _string("The sentence that holds")},
            ("fact", "text"),
            _correct,
            writes=True,
        ),
        Tool(
            "forget",
            "Delete a fact or an event and its words for good, only when the user asks.",
            {"id": _string("Id, as recall shows it")},
            ("id",),
            _forget,
            writes=True,
            destroys=True,
        ),
        Tool(
            "open",
            "Read lines of a file as they are on disk now.",
            {"location": _string("path, path:10 or path:10-40"), "commit": _string("Revision to read instead")},
            ("location",),
            _open,
        ),
        Tool("status", "What is indexed: repositories, commit, languages, skipped files.", {}, (), _status),
        Tool(
            "search_tools",
            "Which of the registered tools fits? Only if you don't see a fitting one.",
            {"query": _string("What is to be done, or a tool's name"), "k": _number(f"Default {TOOLS_FOUND}", 1, 50)},
            ("query",),
            _search_tools,
        ),
        Tool(
            "predict_tool",
            "Which tool is called next, by past use. Abstains when unsure.",
            {"intent": _string("The task"), "after": _string("Ids called so far, comma-separated")},
            ("intent",),
            _predict_tool,
        ),
        Tool(
            "suggest_plan",
            "Which calls a task takes, in layers that can run in parallel. Not for a task of one call.",
            {"intent": _string("The task")},
            ("intent",),
            _suggest_plan,
        ),
    )
}
ALWAYS = ("search", "context", "symbol", "recall", "remember")
ABOUT_TOOLS = ("search_tools", "predict_tool", "suggest_plan")


def front_for(settings: Settings) -> Front:
    """Return the tools to list.

    These are five by default, three about tools if any are registered, and those in `mcp.tools`.

    Raises:
        UsageError: the setting `mcp.tools` names no tool.
    """
    from vademecum.wiring.stores import Stores

    further = between_commas(settings.mcp.tools)
    if unknown := [name for name in further if name not in TOOLS]:
        raise UsageError(f"the setting mcp.tools names no tool {unknown[0]!r}: there are {', '.join(TOOLS)}")
    names = {*ALWAYS, *further, *(ABOUT_TOOLS if Stores(settings).has_tools() else ())}
    return Front({name: tool for name, tool in TOOLS.items() if name in names}, INSTRUCTIONS)
