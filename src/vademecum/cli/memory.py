"""The verbs about memory: `vade memory record`, `recall`, `context`, …"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from vademecum.cli.render import emit, emit_json
from vademecum.cli.session import json_option, opened, settings_for
from vademecum.context.remembered import recalled_text
from vademecum.errors import UsageError

if TYPE_CHECKING:
    from vademecum.memory.memory import Memory

NOT_FOUND = 1


@click.group()
def memory() -> None:
    """Record and recall what was done, decided and preferred.

    Inside a git repository its own memory and the global one are asked together; outside, the global one.
    """


@contextmanager
def remembering() -> Iterator[Memory]:
    """The memory of the current directory."""
    with opened((), settings_for(())) as engine:
        yield engine.memory


@memory.command()
@click.argument("text")
@click.option("--role", default="note", metavar="ROLE", help="user, assistant, command, output, edit, commit or note.")
@click.option("--session", default="", metavar="ID", help="What it belongs to.")
@click.option("--speaker", default="", metavar="NAME", help="Who says it.")
@click.option("--meta", "metadata", multiple=True, metavar="NAME=VALUE", help="Metadata; may be repeated.")
@click.option("--global", "everywhere", is_flag=True, help="Into the global memory instead of the repository's.")
@json_option
def record(text: str, metadata: tuple[str, ...], **options: Any) -> int:
    """Keep TEXT, without its secrets, and the facts it states. TEXT `-` is read from standard input."""
    from vademecum.memory.recall import metadata_of

    text = sys.stdin.read() if text == "-" else text
    if wrong := [each for each in metadata if "=" not in each]:
        raise UsageError(f"--meta {wrong[0]!r} has no value: write it as NAME=VALUE")
    given = {name: value for each in metadata for name, value in metadata_of(each).items()}
    as_json = options.pop("as_json")
    with remembering() as kept:
        done = kept.record(text, metadata=given, **options)
    if as_json:
        emit_json(asdict(done))
        return 0
    redacted = "".join(f", {n} {kind} taken out" for kind, n in done.redacted.items())
    emit(f"{done.ids[0]}  {done.facts} facts{redacted}\n")
    return 0


@memory.command()
@click.argument("question")
@click.option("-k", type=click.IntRange(1), default=10, metavar="N", help="How many results.")
@click.option("--when", default="", metavar="WORDS", help="Only of this time: 'last week', 'since Monday'.")
@click.option("--as-of", default="", metavar="WORDS", help="Answer as if it were then.")
@click.option("--session", default="", metavar="ID", help="Only of this session.")
@click.option("--role", "roles", multiple=True, metavar="ROLE", help="Only by these; may be repeated.")
@click.option("--meta", "metadata", multiple=True, metavar="NAME=VALUE", help="Only with this; may be repeated.")
@click.option("--why", is_flag=True, help="Show the signals behind each rank.")
@json_option
def recall(question: str, **options: Any) -> int:
    """Show what is remembered that answers QUESTION, with what has become of it."""
    from vademecum.memory.recall import metadata_of

    given = {name: value for each in options["metadata"] for name, value in metadata_of(each).items()}
    with remembering() as kept:
        found = kept.recall(
            question,
            k=options["k"],
            when=options["when"],
            roles=options["roles"],
            session=options["session"],
            metadata=given,
        )
    if options["as_json"]:
        emit_json(asdict(found))
    else:
        emit(recalled_text(found, why=options["why"]))
    return 0 if found else NOT_FOUND
