"""A group of verbs with aliases, and suggestions for wrong verbs."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Any

import click


class Group(click.Group):
    """A group of verbs that suggests the right one.

    `aliases` are hidden second names; `meant` maps other words to verbs.
    """

    def __init__(
        self, *args: Any, aliases: Mapping[str, str] = {}, meant: Mapping[str, str] = {}, **options: Any
    ) -> None:
        """Take the aliases and suggestions beside click's arguments."""
        super().__init__(*args, **options)
        self.aliases, self.meant = aliases, meant

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a verb by its name or alias."""
        return super().get_command(ctx, self.aliases.get(cmd_name, cmd_name))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the verb, or suggest the likely one."""
        given = args[0]
        if self.get_command(ctx, given) is not None or given.startswith("-"):
            return super().resolve_command(ctx, args)
        verbs = self.list_commands(ctx)
        close = difflib.get_close_matches(given, [*verbs, *self.aliases], n=1)
        meant = self.meant.get(given) or (self.aliases.get(close[0], close[0]) if close else "")
        if len(verbs) == 1:
            meant = f"{verbs[0]} {given}"  # the word is the verb's argument: `vade config search.k`
        hint = f"did you mean `{ctx.command_path} {meant}`?" if meant else f"choose among {', '.join(verbs)}"
        raise click.UsageError(f"`{ctx.command_path}` has no command {given!r}: {hint}")
