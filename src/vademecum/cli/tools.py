"""The verbs for tools: register, observe, search, predict, suggest, stats, pin, graph."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from vademecum.amounts import between_commas
from vademecum.cli import NOT_FOUND
from vademecum.cli.session import (
    Group,
    emit,
    emit_json,
    examples,
    json_option,
    list_option,
    number_option,
    opened,
    say,
    settings_for,
    style_for,
    write_file,
)
from vademecum.errors import UsageError

if TYPE_CHECKING:
    from vademecum.protocols import ToolServer
    from vademecum.providers.servers.configured import ServerSpec
    from vademecum.tools.records import ObserveReport, RegisterReport, Rejected, Tool
    from vademecum.tools.tools import Tools

MOST_BYTES = 256_000_000  # of an input file: a larger one is a mistake
REJECTED_SHOWN = 10
SERVERS_AT_ONCE = 8  # asked in parallel: each may be a separate process


@click.group(
    cls=Group,
    aliases={"plan": "suggest"},
    meant={"list": "stats", "find": "search", "add": "register", "next": "predict"},
)
@examples(
    "vade tools register tools.json --server files",
    "vade tools observe traces.jsonl",
    'vade tools search "send the report by mail"',
    'vade tools predict "send the report by mail" --after files/read',
    'vade tools suggest "send the report by mail"',
)
def tools() -> None:
    """Find the right tool, predict the next call, suggest a plan.

    The choice is among the tools of all servers.
    """


@tools.command()
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
def allow(ids: tuple[str, ...]) -> int:
    """Let agents call the tools ID through every gateway.

    Each is allowed as the tool is at its next call. For tools on an `ask` list, and for tools that changed since they were allowed.
    """
    from difflib import get_close_matches

    from vademecum.config import load
    from vademecum.errors import UnknownError
    from vademecum.mcp.permissions import Allowed

    with _tools() as known:
        registered = [each.tool.id for each in known.catalogue()]
    for id_ in [id_ for id_ in ids if id_ not in registered]:
        close = get_close_matches(id_, registered, n=3)
        hint = f"did you mean {' or '.join(close)}?" if close else "`vade tools stats` lists the servers"
        raise UnknownError(f"no tool {id_!r} is registered: {hint}")
    allowed = Allowed(load().home)
    for id_ in ids:
        allowed.add(id_)
        emit(f"{id_} may be called\n")
    return 0


@tools.command()
@click.argument("file", default="-")
@click.option("--server", default="", metavar="NAME", help="The server of tools whose server is not given.")
@click.option(
    "--replace", "replacing", is_flag=True, help="FILE has all tools of its servers; those it lacks are gone."
)
@click.option("--openapi", is_flag=True, help="FILE is an OpenAPI document, where that is not plain from it.")
@click.option("--servers", is_flag=True, help="FILE names MCP servers (its mcpServers); each is started and asked.")
@list_option("--mcp", "commands", "COMMAND", "Start this MCP server and ask it; may be repeated.")
@list_option("--mcp-url", "urls", "URL", "Ask the MCP server at this address; may be repeated.")
@json_option
def register(file: str, server: str, **options: Any) -> int:
    """Register tools from FILE, or from MCP servers.

    FILE is JSON in the forms of MCP or of function calling, or an OpenAPI document; `-` is standard input.
    """
    from vademecum.tools.register import is_openapi

    specs = _specs(file if options["servers"] else "", options["commands"], options["urls"], server)
    with _tools() as known:
        if specs:
            return _register_servers(known, specs, as_json=options["as_json"])
        text = _read(file)
        if options["openapi"] or is_openapi(text):
            report = known.register_openapi(text, server=server)
        else:
            report = known.register_json(text, server=server, replacing=options["replacing"])
    return _registered(report, as_json=options["as_json"])


@tools.command()
@click.argument("file", default="-")
@click.option("--transcripts", is_flag=True, help="FILE is a coding agent's transcript, or a folder of them.")
@json_option
def observe(file: str, *, transcripts: bool, as_json: bool) -> int:
    """Record traces from FILE: the tools called for each intent.

    FILE is JSON, or has a trace a line; `-` is standard input.
    """
    with _tools() as known:
        if transcripts:
            report = _summed([known.observe_transcript(_read(each)) for each in _transcripts(file)])
        else:
            report = known.observe_json(_read(file))
        known.settle()  # now, so that no question has to wait for it
    counts = f"{report.added} new, {report.changed} changed, {report.unchanged} known already\n"
    say(asdict(report), counts + _rejected(report), as_json=as_json)
    return 0 if not report.rejected or report.added or report.changed or report.unchanged else NOT_FOUND


@tools.command()
@click.argument("intent")
@number_option("-k", about="How many tools.", default=5)
@click.option("--server", default="", metavar="NAME", help="Only tools of this server.")
@click.option(
    "--reliability",
    type=click.Choice(["smoothed", "step"]),
    default=None,
    help="How failures count; the setting tools.reliability by default.",
)
@click.option(
    "--min-score", type=click.FloatRange(0, 1), default=None, metavar="P", help="Least probability of a tool."
)
@click.option("--why", is_flag=True, help="Show the evidence for each.")
@json_option
def search(intent: str, k: int, server: str, **options: Any) -> int:
    """Find the few tools that fit INTENT, or have this name.

    Exits with 1 if nothing fits.
    """
    from vademecum.answers.render import record_of, tools_text

    with _tools() as known:
        answer = known.search(
            intent, k=k, server=server, reliability=options["reliability"] or "", min_score=options["min_score"]
        )
    text = tools_text(answer, why=options["why"], style=style_for())
    say(record_of(answer), text, as_json=options["as_json"])
    return NOT_FOUND if answer.verdict == "not_found" else 0


@tools.command()
@click.argument("intent")
@list_option("--after", "after", "IDS", "The tools called so far, in order, with commas.")
@list_option("--earlier", "earlier", "IDS", "Those called earlier in the session, for other intents.")
@number_option("-k", about="How many candidates.", default=3)
@click.option(
    "--threshold",
    type=click.FloatRange(0, 1),
    default=0.5,
    metavar="P",
    show_default=True,
    help="Abstain below this probability.",
)
@click.option(
    "--by",
    type=click.Choice(["attention", "goal", "shgat"]),
    default="attention",
    show_default=True,
    help="What the prediction goes by.",
)
@click.option("--why", is_flag=True, help="Show the evidence for each.")
@json_option
def predict(intent: str, after: tuple[str, ...], earlier: tuple[str, ...], **options: Any) -> int:
    """Predict the next call for INTENT, with its probability.

    Exits with 1 if nothing is likely enough.
    """
    from vademecum.answers.render import prediction_text, record_of

    with _tools() as known:
        prediction = known.predict(
            intent, after=between_commas(",".join(after)), earlier=between_commas(",".join(earlier)),
            k=options["k"], threshold=options["threshold"], by=options["by"],
        )  # fmt: skip
    text = prediction_text(prediction, why=options["why"], style=style_for())
    say(record_of(prediction), text, as_json=options["as_json"])
    return NOT_FOUND if prediction.abstained else 0


@tools.command()
@click.argument("intent")
@json_option
def suggest(intent: str, *, as_json: bool) -> int:
    """Suggest a plan for INTENT.

    Shows which tools to call, which wait for others, and which can run at once.
    """
    from vademecum.answers.render import plan_text, record_of

    with _tools() as known:
        plan = known.suggest(intent)
    say(record_of(plan), plan_text(plan, style=style_for()), as_json=as_json)
    return 0 if plan.tasks else NOT_FOUND


@tools.command()
@json_option
def stats(*, as_json: bool) -> int:
    """Show counts of tools and traces, and tools' success."""
    from vademecum.answers.render import record_of, stats_text

    with _tools() as known:
        status = known.stats()
    say(record_of(status), stats_text(status, style=style_for()), as_json=as_json)
    return 0


@tools.command()
@click.argument("tool")
@click.option("--off", is_flag=True, help="Stop showing it.")
def pin(tool: str, *, off: bool) -> int:
    """Show TOOL, by its id, in every search."""
    with _tools() as known:
        known.pin(tool, pinned=not off)
    return 0


@tools.command()
@click.option("--html", "file", required=True, metavar="FILE", help="Where to write the page; - for standard output.")
@click.option("--plan", "intent", default="", metavar="INTENT", help="Show the plan suggested for this, too.")
def graph(file: str, intent: str) -> int:
    """Write a page that shows the graph of tools."""
    with _tools() as known:
        page = known.page(known.suggest(intent) if intent else None)
    write_file(file, page)
    return 0


@contextmanager
def _tools() -> Iterator[Tools]:
    """Open the user's tools, with the settings that hold here."""
    with opened(()) as engine:
        yield engine.tools


def _read(file: str) -> str:
    if file == "-":
        return sys.stdin.read()
    if file.startswith(("http://", "https://")):
        raise UsageError(
            f"{file!r} is an address: --mcp-url asks the MCP server there, --openapi reads a file that you fetched"
        )
    path = Path(file)
    try:
        if path.stat().st_size > MOST_BYTES:
            raise UsageError(f"{file!r} has more than {MOST_BYTES // 1_000_000} MB: cut it into several")
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise UsageError(f"cannot read {file!r}: {error.strerror}: name a file, or `-` for standard input") from error


def _specs(file: str, commands: tuple[str, ...], urls: tuple[str, ...], name: str) -> list[ServerSpec]:
    """Return the MCP servers to ask, a single one called `name`."""
    if not (file or commands or urls):
        return []
    from vademecum.providers.servers.configured import ServerSpec, read_servers

    called = name if len(commands) + len(urls) == 1 else ""
    specs = [ServerSpec.of_command(command, called) for command in commands]
    specs += [ServerSpec.of_url(url, called) for url in urls]
    problems: list[str] = []
    specs += read_servers(file, problems=problems) if file else []
    for problem in problems:
        click.echo(f"{problem}; the other servers count", err=True)
    return specs


def _register_servers(known: Tools, specs: list[ServerSpec], *, as_json: bool) -> int:
    """Register the tools of servers, asked in parallel; report failed ones.

    They are reported in order, each when it has answered or failed.
    """
    from concurrent.futures import ThreadPoolExecutor

    from vademecum.errors import ConsentError, ToolServerError
    from vademecum.providers.servers.configured import open_server
    from vademecum.tools.register import listed
    from vademecum.wiring.roots import consented

    settings, code = settings_for(()), 0
    limits = settings.gateway

    def ask(server: ToolServer) -> tuple[list[Tool], list[Rejected]]:
        with closing(server):
            return listed(consented("server of tools", server, settings, shared=False))

    servers = [open_server(spec, timeout_s=limits.timeout_s, answer_bytes=limits.answer_bytes) for spec in specs]
    with ThreadPoolExecutor(min(len(servers), SERVERS_AT_ONCE), "vademecum-server") as pool:
        asked = [(server, pool.submit(ask, server)) for server in servers]
        try:
            for server, answer in asked:
                try:
                    tools, rejected = answer.result()
                    report = known.register(tools, complete={server.name})
                except (ConsentError, ToolServerError) as error:
                    click.echo(f"vade: {error}", err=True)
                    code = NOT_FOUND
                else:
                    _registered(replace(report, rejected=tuple(rejected)), as_json=as_json, name=server.name)
        finally:  # also when interrupted: no server that has not answered is waited for
            pool.shutdown(wait=False, cancel_futures=True)
            for server, answer in asked:
                if not answer.done():
                    server.close()
    return code


def _transcripts(file: str) -> list[str]:
    """Return one file, or all transcripts of a folder."""
    path = Path(file)
    if not path.is_dir():
        return [file]
    return [str(found) for found in sorted(path.rglob("*")) if found.suffix in {".json", ".jsonl"} and found.is_file()]


def _summed(reports: list[ObserveReport]) -> ObserveReport:
    from vademecum.tools.records import ObserveReport

    added, changed = sum(one.added for one in reports), sum(one.changed for one in reports)
    return ObserveReport(added, changed, sum(one.unchanged for one in reports))


def _registered(report: RegisterReport, *, as_json: bool, name: str = "") -> int:
    some = report.added or report.changed or report.unchanged or report.removed
    if as_json:
        emit_json(asdict(report) | ({"server": name} if name else {}))
    else:
        said = f"{report.added} new, {report.changed} changed, {report.unchanged} known already, {report.removed} gone"
        emit(f"{name + ': ' if name else ''}{said}\n{_rejected(report)}")
        if not (some or report.rejected):
            emit(f"  {'it lists no tool' if name else 'nothing is in it: give an array of tools, or one a line'}\n")
    return 0 if some else NOT_FOUND


def _rejected(report: RegisterReport | ObserveReport) -> str:
    from vademecum.answers.render import visible

    lines = [f"  not taken: {item.place}: {visible(item.reason)}\n" for item in report.rejected[:REJECTED_SHOWN]]
    more = len(report.rejected) - len(lines)
    return "".join(lines) + (f"  … and {more} more: --json lists all\n" if more > 0 else "")
