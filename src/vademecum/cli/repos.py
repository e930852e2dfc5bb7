"""The verb for this machine's indexes: list or delete."""

from __future__ import annotations

import sys
import time
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from vademecum.amounts import counted, long_ago
from vademecum.answers.render import visible
from vademecum.cli.group import Group
from vademecum.cli.render import emit, say, size, table
from vademecum.cli.session import examples, json_option, settings_for
from vademecum.errors import UsageError

if TYPE_CHECKING:
    from vademecum.wiring.indexes import Kept


@click.group(cls=Group, meant={"delete": "remove", "rm": "remove", "forget": "remove"}, invoke_without_command=True)
@json_option
@click.pass_context
def repos(ctx: click.Context, *, as_json: bool) -> int:
    """List this machine's indexes: name, size, age and path.

    Indexes in a shared database are not listed. `vade repos remove` deletes one.
    """
    if ctx.invoked_subcommand is not None:
        return 0
    from vademecum.wiring.indexes import kept_indexes

    kept = kept_indexes(settings_for(()).home)
    total = f"{counted(len(kept), 'index')}, {size(sum(each.bytes for each in kept))}\n"
    say([asdict(each) for each in kept], table(map(_row, kept)) + total, as_json=as_json)
    return 0


def _row(kept: Kept) -> tuple[str, ...]:
    age = long_ago(time.time() - kept.indexed_at) if kept.indexed_at else "never"  # as `3 days ago`
    memory = f"memory {size(kept.memory_bytes)}" if kept.memory_bytes else ""
    return kept.name, size(kept.bytes), memory, age, _places(kept)


@repos.command()
@click.argument("names", nargs=-1, required=True, metavar="NAME|PATH...")
@click.option("--memory", is_flag=True, help="Delete what was remembered of the repository, too.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@examples("vade repos remove old-project", "vade repos remove ~/src/app --yes")
def remove(names: tuple[str, ...], *, memory: bool, yes: bool) -> int:
    """Delete a repository's index; keep its files and its memory.

    NAME or PATH is as `vade repos` lists it. The next search in the repository makes the index again; nothing makes a
    memory again.
    """
    from vademecum.wiring.indexes import delete_index, index_called, kept_indexes

    kept = kept_indexes(settings_for(()).home)
    for each in dict.fromkeys(index_called(kept, name) for name in names):
        what = f"the index of {visible(each.name)} ({size(each.bytes)}), {_places(each)}"
        what += f", and its memory ({size(each.memory_bytes)}), for good" if memory and each.memory_bytes else ""
        if not yes:
            _ask(what)
        freed = delete_index(each, memory=memory)
        left = f"; its memory is kept ({size(each.memory_bytes)}): --memory deletes it too"
        emit(f"deleted {what}: freed {size(freed)}{left if each.memory_bytes and not memory else ''}\n")
    return 0


def _ask(what: str) -> None:
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise UsageError(f"nothing was deleted of {what}: add --yes, there is no terminal to ask on")
    if not click.confirm(f"Delete {what}?", err=True):
        raise UsageError(f"nothing was deleted of {what}: you did not agree")


def _places(kept: Kept) -> str:
    places = (f"{path} (gone)" if path in kept.gone else path for path in kept.paths)
    return visible(", ".join(places) or kept.note) or "no files indexed"
