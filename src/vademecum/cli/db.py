"""The verbs for a shared database: upgrade, check and copy."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from types import ModuleType
from typing import TYPE_CHECKING

import click

from vademecum.amounts import counted
from vademecum.cli.group import Group
from vademecum.cli.progress import Progress
from vademecum.cli.render import emit, say, say_checks, table
from vademecum.cli.session import json_option, settings_for

if TYPE_CHECKING:
    from vademecum.wiring.stores import Pair, Stores


@click.group(cls=Group, meant={"migrate": "upgrade", "status": "check"})
def db() -> None:
    """Look after the shared database that `storage.url` names."""


@db.command()
@click.option("--to", default="", metavar="VERSION", show_default="the newest", help="The version to go to.")
def upgrade(to: str) -> int:
    """Bring the database up to date.

    Creates or changes its tables in one transaction; no data is lost.
    """
    migrate, shared = _migrate(), shared_stores()
    done = migrate.upgrade(shared.url, to or migrate.NEWEST)
    emit("".join(f"{line}\n" for line in done or [f"{shared.where(shared.home)} is up to date"]))
    return 0


@db.command()
@click.argument("version")
def downgrade(version: str) -> int:
    """Take the database down to VERSION.

    Drops the additions of newer versions. VERSION `base` removes all tables.
    """
    emit("".join(f"{line}\n" for line in _migrate().downgrade(shared_stores().url, version)))
    return 0


@db.command()
@json_option
def check(*, as_json: bool) -> int:
    """Check that the database answers and is intact.

    Checks its version too. Exits with 3 if something is wrong.
    """
    from vademecum.storage.postgres.check import check_database

    return say_checks(list(check_database(shared_stores().url)), as_json=as_json)


@db.command()
@click.option("--to", "target", type=click.Choice(["postgres", "sqlite"]), required=True, help="Where to copy to.")
@json_option
def copy(target: str, *, as_json: bool) -> int:
    """Copy this machine's records into the shared database, or back.

    You can interrupt at any time: the next run continues there. Every row is read back and compared; the source is not
    changed.
    """
    with Progress() as progress:
        copied = list(_copied(shared_stores(), target, progress))
    say(copied, table((each["of"], each["what"], each["said"], each["digest"]) for each in copied), as_json=as_json)
    return 0


def _copied(stores: Stores, target: str, progress: Progress) -> Iterator[dict[str, str | int]]:
    """Copy store by store, and yield a report of each."""
    from vademecum.storage.postgres.copy import copy, from_machine, to_machine

    known = stores.pairs()
    for pair in known:
        if not (pair.file.exists() if target == "postgres" else pair.space in stores.spaces(pair.space)):
            continue
        file, space = stores.both(pair)
        try:
            if target == "postgres":
                families = copy(file, space, to_machine(stores.here), progress, name=f"the database's {pair.space}")
            else:
                families = copy(space, file, from_machine(stores.here), progress, name=str(pair.file))
        finally:
            file.close()
            space.close()
        rows, written = sum(each.rows for each in families), sum(each.written for each in families)
        digest = sum(int(each.digest, 16) for each in families) % (1 << 64)
        yield _line(pair, f"{counted(rows, 'row')}, {written} written now", rows, f"{digest:016x}")
    if target == "postgres":
        files = {pair.file for pair in known}
        for path in sorted((stores.home / "repos").glob("*/*.db")):
            if path not in files:
                yield {"of": path.parent.name, "what": path.name, "rows": 0, "digest": "",
                       "said": "left: its repository is gone, or has no index yet (`vade index` there first)"}  # fmt: skip


def _line(pair: Pair, said: str, rows: int, digest: str) -> dict[str, str | int]:
    return {"of": pair.of, "what": pair.what, "said": said, "rows": rows, "digest": digest}


def shared_stores() -> Stores:
    """Return the stores of the shared database, by default PostgreSQL."""
    from vademecum.wiring.stores import Stores

    settings = settings_for(())
    provider = settings.storage.provider if settings.storage.provider != "sqlite" else "postgres"
    return Stores(replace(settings, storage=replace(settings.storage, provider=provider)))


def _migrate() -> ModuleType:
    from vademecum.plugins import find

    find("store", "postgres")  # raises an error that names the missing extra
    from vademecum.storage.postgres import migrate

    return migrate
