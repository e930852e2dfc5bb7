"""The verbs for memory: `vade memory remember`, `recall`, `context` and others."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from vademecum.amounts import counted
from vademecum.cli import FAILURE, NOT_FOUND
from vademecum.cli.session import (
    Group,
    emit,
    examples,
    json_option,
    lines_of,
    list_option,
    number_option,
    opened,
    say,
    settings_for,
    written,
)
from vademecum.memory.labels import with_topic

if TYPE_CHECKING:
    from vademecum.config import Settings
    from vademecum.memory.memory import Memory

everywhere_option = click.option(
    "--global", "everywhere", is_flag=True, help="Use the global memory, not the repository's."
)


@click.group(
    cls=Group,
    aliases={"record": "remember"},
    meant={
        "list": "timeline", "show": "timeline", "add": "remember", "save": "remember", "search": "recall",
        "find": "recall", "delete": "forget", "remove": "forget", "preferences": "prefs",
        "facts": "prefs --all",
    },
    context_settings={"help_option_names": ["-h", "--help"]},
)  # fmt: skip
def memory() -> None:
    """Record and recall actions, decisions and preferences.

    Inside a git repository, its own memory and the global one answer together; outside, the global one alone.
    """


@contextmanager
def remembering(settings: Settings | None = None) -> Iterator[Memory]:
    """Open the memory of the current directory."""
    with opened((), settings) as engine:
        yield engine.memory


@memory.command()
@click.argument("text")
@click.option(
    "--role", default="note", metavar="ROLE", show_default=True, help="What it is: note, user, assistant, command, ..."
)
@click.option("--session", default="", metavar="ID", help="The session that it belongs to.")
@click.option("--speaker", default="", metavar="NAME", help="Who says it.")
@list_option("--meta", "metadata", "NAME=VALUE", "Metadata to keep; may be repeated.")
@everywhere_option
@json_option
@examples('vade memory remember "We use pnpm because the lock file merges cleanly"')
def remember(text: str, metadata: tuple[str, ...], *, as_json: bool, **options: Any) -> int:
    """Record TEXT without its secrets, and learn its facts.

    TEXT `-` is read from standard input.
    """
    text = sys.stdin.read() if text == "-" else text
    with remembering() as kept:
        done = kept.record(text, metadata=_metadata(metadata), **options)
    notes = [counted(done.facts - done.kept_out, "fact")]
    notes += [f"{done.kept_out} forgotten or rejected before and kept out"] if done.kept_out else []
    notes += [f"{kind} taken out: {count}" for kind, count in done.redacted.items()]
    notes += [f"{done.left} characters in the middle not read for facts"] if done.left else []
    text = f"{done.ids[0]}  {', '.join(notes)}{'' if done.events else ', known already'}\n"
    say(asdict(done), text, as_json=as_json)
    return 0


@memory.command()
@click.argument("question")
@number_option("-k", about="How many results.", default=10)
@click.option("--when", default="", metavar="WORDS", help="Only from this time: 'last week', 'since Monday'.")
@click.option("--as-of", default="", metavar="WORDS", help="Answer as of this time.")
@click.option("--session", default="", metavar="ID", help="Only from this session.")
@list_option("--role", "roles", "ROLE", "Only what has this role; may be repeated.")
@list_option("--meta", "metadata", "NAME=VALUE", "Only what has this metadata; may be repeated.")
@click.option("--by", type=click.Choice(["both", "words", "meaning"]), default="both", help="What to compare by.")
@click.option("--why", is_flag=True, help="Show the signals behind each rank.")
@json_option
@examples('vade memory recall "what broke the build" --when "last week" --role user')
def recall(question: str, metadata: tuple[str, ...], as_of: str, *, why: bool, as_json: bool, **options: Any) -> int:
    """Show memory's answer to QUESTION, and which facts still hold.

    Exits with 1 if nothing is found.
    """
    with remembering() as kept:
        options |= {"as_of": kept.moment(as_of)} if as_of else {}
        found = kept.recall(question, metadata=_metadata(metadata), **options)
    from vademecum.answers.remembered import recalled_text, whole_record

    say(whole_record(found), recalled_text(found, why=why), as_json=as_json)
    return 0 if found else NOT_FOUND


@memory.command()
@click.argument("message")
@click.option("--session", default="", metavar="ID", help="The agent's session.")
@number_option("-k", "top_k", about="How many facts and events at most.", default=5)
@number_option("--budget", about="Never more than N tokens.", setting="memory.context_tokens", least=20)
@list_option("--file", "files", "PATH", "A file that is open; may be repeated.")
@examples('vade memory context "how do I indent this?" --file src/app.py')
def context(message: str, session: str, top_k: int, budget: int | None, files: tuple[str, ...]) -> int:
    """Print the memory an agent needs before answering MESSAGE.

    Prints Markdown, or nothing if memory has nothing to say.
    """
    settings = settings_for(())
    tokens = budget or settings.memory.context_tokens
    with remembering(settings) as kept:
        text = kept.build_memory_context(session, message, top_k, budget_tokens=tokens, files=files)
    emit(f"{text}\n" if text else "")
    return 0


@memory.command()
@click.argument("when", default="")
@click.option("--session", default="", metavar="ID", help="Only from this session.")
@json_option
@examples('vade memory timeline "last week"')
def timeline(when: str, session: str, *, as_json: bool) -> int:
    """Show messages and commits, the latest first.

    WHEN limits them to a period.
    """
    from vademecum.answers.remembered import timeline_text

    with remembering() as kept:
        found = kept.timeline(when, session=session)
    say([asdict(chapter) for chapter in found], timeline_text(found), as_json=as_json)
    return 0 if found else NOT_FOUND


@memory.command()
@click.option("--all", "every", is_flag=True, help="Show every fact that holds, of whatever kind and however sure.")
@click.option("--past", is_flag=True, help="With --all: what no longer holds, too.")
@list_option("--file", "files", "PATH", "A file that is open; may be repeated.")
@json_option
def prefs(files: tuple[str, ...], *, every: bool, past: bool, as_json: bool) -> int:
    """Show the preferences and instructions for agents."""
    from vademecum.answers.remembered import facts_text

    with remembering() as kept:
        found = kept.facts(past=past) if every or past else kept.preferences(files)
    say([asdict(fact) for fact in found], facts_text(found, every=every or past), as_json=as_json)
    return 0 if found else NOT_FOUND


@memory.command()
@click.argument("fact")
@json_option
def why(fact: str, *, as_json: bool) -> int:
    """Show the sources of FACT: who said it when.

    FACT is an id, as `vade memory prefs --all` shows them.
    """
    from vademecum.answers.remembered import why_text

    with remembering() as kept:
        found = kept.why(fact)
    say(asdict(found), why_text(found), as_json=as_json)
    return 0


@memory.command()
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
def forget(ids: tuple[str, ...]) -> int:
    """Delete facts or events for good, with their words.

    Reading their source again does not bring them back.
    """
    with remembering() as kept:
        for id_ in ids:
            cut = kept.forget(id_)
            emit(f"forgot {id_}, said in {counted(cut, 'event')}\n")
    return 0


@memory.command()
@click.argument("ids", nargs=-1, required=True, metavar="FACT...")
def confirm(ids: tuple[str, ...]) -> int:
    """Confirm facts: they hold against any contradiction."""
    return _marked("confirm", ids)


@memory.command()
@click.argument("ids", nargs=-1, required=True, metavar="FACT...")
def reject(ids: tuple[str, ...]) -> int:
    """Reject facts: hide them, and never learn them again."""
    return _marked("reject", ids)


@memory.command()
@click.argument("ids", nargs=-1, metavar="[FACT]...")
def restore(ids: tuple[str, ...]) -> int:
    """Undo rejections: the facts hold again.

    Without FACT, lists the rejected facts.
    """
    if ids:
        return _marked("restore", ids)
    with remembering() as kept:
        for fact in kept.rejected():
            emit(f"{fact.id} {with_topic(fact.topic, fact.text)}\n")
    return 0


@memory.command()
@click.argument("fact")
@click.argument("text")
def edit(fact: str, text: str) -> int:
    """Change the wording of FACT from now on; its history stays."""
    with remembering() as kept:
        new = kept.edit(fact, text)
    emit(f"{new.id} {with_topic(new.topic, new.text)}\n")
    return 0


@memory.command()
@click.argument("path", default="-", type=click.Path(dir_okay=False))
@everywhere_option
def export(path: str, *, everywhere: bool) -> int:
    """Write a whole memory as JSON lines to PATH.

    PATH `-`, the default, is standard output.
    """
    with remembering() as kept:
        lines = (line + "\n" for line in kept.export(everywhere=everywhere))
        if path == "-":
            for line in lines:
                emit(line)
            return 0
        with written(path) as file:
            file.writelines(lines)
    return 0


@memory.command()
@click.argument("path", default="MEMORY.md", type=click.Path(dir_okay=False, allow_dash=True))
@everywhere_option
@examples("vade memory page MEMORY.md")
def page(path: str, *, everywhere: bool) -> int:
    """Write the facts that hold to PATH, after reading it back.

    A line changed by hand is a correction, a deleted one forgets its fact, a new one is a note. PATH `-` is standard
    output.
    """
    file = Path(path)
    with remembering() as kept:
        if path == "-":
            emit(kept.page(everywhere=everywhere).text)
            return 0
        before = file.read_text(encoding="utf-8", errors="replace") if file.exists() else ""
        done = kept.page(before, str(file.resolve()), everywhere=everywhere)
        with written(path) as out:
            out.write(done.text)
    edits = done.edits
    counts = f"{len(edits.corrected)} corrected, {len(edits.forgotten)} forgotten, {len(edits.noted)} noted"
    emit(f"{path}: {counted(done.facts, 'fact')}; {counts}\n")
    return 0


@memory.command("import")
@click.argument("path", type=click.Path(exists=True, dir_okay=False, allow_dash=True))
@everywhere_option
def import_(path: str, *, everywhere: bool) -> int:
    """Import the output of `vade memory export`, or an archive.

    PATH `-` is read from standard input. Known events and facts stay unchanged.
    """
    with remembering() as kept:
        if path == "-":
            done = kept.import_lines(sys.stdin, everywhere=everywhere)
        else:
            done = kept.import_lines(lines_of(Path(path)), everywhere=everywhere)
    read = f"{counted(done.events, 'new event')}, {counted(done.claims, 'statement')}"
    emit(f"{read}, {counted(done.skipped, 'line')} passed over\n")
    return 0


@memory.command()
@list_option("--source", "sources", "NAME", "Only from this agent, or from git; may be repeated.")
@json_option
def sync(sources: tuple[str, ...], *, as_json: bool) -> int:
    """Record messages of agents and commits about this repository."""
    with remembering() as kept:
        done = kept.sync(sources)
    lines = [
        f"{name}: {counted(count, 'new event')} from {counted(done.files[name], 'file')}\n"
        for name, count in done.events.items()
        if count
    ]
    taken = [f"{kind} taken out: {count}\n" for kind, count in done.redacted.items()]
    left = [f"passed over: {counted(done.unreadable, 'line')} of another form\n"] if done.unreadable else []
    if done.packed:
        left.append(
            f"left: {counted(done.packed, 'compressed transcript')}; pip install 'vademecum[zstd]' reads them\n"
        )
    total = f"{counted(sum(done.events.values()), 'new event')}, {counted(done.facts, 'statement')}\n"
    say(asdict(done), "".join([*lines, total, *taken, *left]), as_json=as_json)
    return 0


@memory.command(context_settings={"ignore_unknown_options": True})
@click.argument("event", metavar="session-start|subagent-start|prompt|tool|compact|heard|stop|hint")
@click.argument("agent", metavar="[cursor|copilot|windsurf|opencode]", default="")
def hook(event: str, agent: str) -> int:
    """Answer a coding agent's hook; it never fails.

    Reads JSON from standard input and writes the text for the agent to standard output.
    """
    from vademecum.hooks.hook import main

    return main([event, agent])


@memory.command()
@number_option("--most", about="Read at most N events of each memory.", default=200)
@json_option
def learn(most: int, *, as_json: bool) -> int:
    """Have a language model read events for facts that were missed.

    The model is set as memory.extractor.
    """
    with remembering() as kept:
        done = kept.learn(most)
    lines = []
    for each in done:
        stopped = f"; stopped: {each.problem}" if each.problem else ""
        shortened = f" ({each.shortened} without their middle)" if each.shortened else ""
        read, stated = counted(each.read, "event"), counted(each.kept, "statement")
        lines.append(f"{each.scope}: {read} read{shortened}, {stated} kept, {each.dropped} dropped{stopped}\n")
    say([asdict(each) for each in done], "".join(lines), as_json=as_json)
    return FAILURE if any(each.problem for each in done) else 0


@memory.command()
@json_option
def consolidate(*, as_json: bool) -> int:
    """Merge equal facts, summarise sessions, archive old events."""
    settings = settings_for(())
    with remembering(settings) as kept:
        done = kept.consolidate(settings.memory.max_events)
    lines = []
    for each in done:
        archive = f" to {each.archive}" if each.archive else ""
        lines.append(
            f"{each.scope}: {counted(each.merged, 'fact')} merged, {counted(each.digests, 'session')} told, "
            f"{counted(each.archived, 'event')} archived{archive}\n"
        )
    say([asdict(each) for each in done], "".join(lines), as_json=as_json)
    return 0


def _marked(verb: str, ids: tuple[str, ...]) -> int:
    with remembering() as kept:
        for id_ in ids:
            fact = getattr(kept, verb)(id_)
            emit(f"{verb.removesuffix('e')}ed {fact.id} {with_topic(fact.topic, fact.value)}\n")
    return 0


def _metadata(given: tuple[str, ...]) -> dict[str, Any]:
    from vademecum.memory.recall import metadata_of

    return {name: value for each in given for name, value in metadata_of(each).items()}
