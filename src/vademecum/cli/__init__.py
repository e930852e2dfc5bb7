"""The command `vade`: parse arguments, call the engine, print.

The commands contain no logic, and import nothing before it is needed.

Exit codes: 0 found or done, 1 not found, 2 the call is wrong, 3 failure, 130 interrupted. Only the result goes to
standard output; a problem is one line on standard error, `vade: <problem>: <fix>`.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Mapping, Sequence

import click

from vademecum.errors import Error, RootError, UnknownProviderError, UsageError
from vademecum.version import __version__

NOT_FOUND, USAGE, FAILURE, INTERRUPTED = 1, 2, 3, 130

# The verbs by purpose: verb → ("module:command", its line in `vade --help`). A module is imported when its verb is typed.
SECTIONS: Mapping[str, Mapping[str, tuple[str, str]]] = {
    "Find code": {
        "search": ("vademecum.cli.code:search", "Find code by meaning, name or pattern."),
        "symbol": ("vademecum.cli.code:symbol", "Show where a name is defined."),
        "open": ("vademecum.cli.code:open_location", "Print lines of a file as they are on disk now."),
        "context": ("vademecum.cli.code:context", "Print what to read for a task, within a budget of tokens."),
        "map": ("vademecum.cli.code:map_", "Print the repository's central declarations, within a budget."),
    },
    "Follow the graph": {
        "callers": ("vademecum.cli.code:callers", "Show who calls a name."),
        "callees": ("vademecum.cli.code:callees", "Show what a name calls."),
        "impact": ("vademecum.cli.code:impact", "Show what a change may break, and which tests to run."),
        "path": ("vademecum.cli.code:path", "Show how one name leads to another."),
        "related": ("vademecum.cli.code:related", "Show what belongs to a line."),
        "graph": ("vademecum.cli.code:graph", "Show the graph around a name, or draw it as a page."),
    },
    "Remember, and choose tools": {
        "memory": ("vademecum.cli.memory:memory", "Record and recall what was done, decided and preferred."),
        "tools": ("vademecum.cli.tools:tools", "Find the tool that fits, the next call, a whole plan."),
    },
    "Keep the index": {
        "index": ("vademecum.cli.code:index", "Bring the index up to date."),
        "status": ("vademecum.cli.admin:status", "Show what is indexed and what was skipped."),
        "repos": ("vademecum.cli.admin:repos", "List the indexes on this machine, and delete one."),
        "watch": ("vademecum.cli.admin:watch", "Keep the index up to date as files change."),
        "hooks": ("vademecum.cli.install:hooks", "Index in the background after commits, merges and checkouts."),
        "sync": ("vademecum.cli.admin:sync", "Fetch what changed in backlogs and documents."),
        "enrich": ("vademecum.cli.admin:enrich", "Have a language model describe each chunk of code."),
        "gc": ("vademecum.cli.admin:gc", "Drop what no branch or checkout needs any more."),
    },
    "Connect agents and people": {
        "install": ("vademecum.cli.install:install", "Add vademecum to the coding agents on this machine."),
        "uninstall": ("vademecum.cli.install:uninstall", "Take it out of them again."),
        "mcp": ("vademecum.mcp.loop:mcp", "Serve coding agents over MCP (stdio)."),
        "serve": ("vademecum.http.serve:serve", "Serve the API, the page, metrics and MCP over HTTP."),
    },
    "Look after it": {
        "doctor": ("vademecum.cli.admin:doctor", "Check that everything works, and say how to mend what does not."),
        "config": ("vademecum.cli.admin:config", "Show settings and where each comes from."),
        "bench": ("vademecum.cli.admin:bench", "Measure how much this helps here, beside BM25 and grep."),
        "savings": ("vademecum.cli.admin:savings", "Show how many tokens answers held, beside whole files."),
        "db": ("vademecum.cli.db:db", "Look after a shared database: upgrade, check, copy."),
        "worker": ("vademecum.cli.db:worker", "Index the repositories in a queue, beside other workers."),
        "completions": ("vademecum.cli.admin:completions", "Print a shell's completions."),
        "help": ("vademecum.cli.admin:help_", "Show a page of the documentation."),
    },
}
COMMANDS: Mapping[str, tuple[str, str]] = {verb: entry for verbs in SECTIONS.values() for verb, entry in verbs.items()}


class Verbs(click.Group):
    """A group that imports only the command that is typed."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 -- click's signature
        """Return the verbs, in the order of `vade --help`."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Import and return a command."""
        if cmd_name not in COMMANDS:
            return None
        module, _, attribute = COMMANDS[cmd_name][0].partition(":")
        command = getattr(importlib.import_module(module), attribute)
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """Write the tables of verbs from their one-line descriptions alone."""
        # Rows are padded to one width, so that the columns of all tables stand in line.
        widest = max(map(len, COMMANDS))
        for title, verbs in SECTIONS.items():
            with formatter.section(title):
                formatter.write_dl([(name.ljust(widest), said) for name, (_, said) in verbs.items()])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command, or suggest the likely one."""
        if args[0] in COMMANDS or args[0].startswith("-"):
            return super().resolve_command(ctx, args)
        import difflib

        groups = (group for group in COMMANDS if args[0] in getattr(self.get_command(ctx, group), "commands", ()))
        close = [f"vade {group} {args[0]}" for group in groups] or difflib.get_close_matches(args[0], COMMANDS, n=1)
        hint = f"did you mean {close[0]!r}?" if close else f'did you mean `vade search "{args[0]}"`?'
        raise click.UsageError(f"there is no command {args[0]!r}: {hint}", ctx=ctx)


# Options of other tools, by the option here that does the same.
USED_ELSEWHERE = {
    "-k": ("-n", "--limit", "--top", "--top-k", "--max-results", "--count"),
    "--json": ("--format", "-f", "-o", "--output"),
    "--lang": ("--language", "--type", "-l", "-t"),
    "--path": ("-g", "--glob", "--include"),
    "--budget": ("--tokens", "--max-tokens"),
    "--snippet-lines": ("-C", "--context", "--lines"),
}


@click.group(
    cls=Verbs,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, message="vade %(version)s")
@click.pass_context
def cli(ctx: click.Context) -> None:
    """Find code, remember work, choose tools: every answer with its evidence.

    \b
    vade search "how is the token budget split"
    vade search "retry with backoff" --lang python --path 'src/**'
    vade callers Engine.open
    vade context "retries stop too early" --budget 8000
    vade memory recall "why did we choose SQLite"

    `vade COMMAND --help` describes a command, `vade help` lists the pages of the documentation.
    """  # noqa: D301 -- click reads the backspace as "leave these lines as they are"
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


def main(args: Sequence[str] | None = None) -> int:
    """Run `vade` and return its exit code."""
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a character outside of the encoding must not stop the answer
            stream.reconfigure(errors="replace")
    try:
        return int(cli.main(args=args, prog_name="vade", standalone_mode=False) or 0)
    except click.ClickException as error:
        return _fail(_one_line(error), USAGE)
    except click.Abort:
        return INTERRUPTED
    except (UsageError, RootError, UnknownProviderError) as error:  # the arguments are wrong
        return _fail(str(error), USAGE)
    except Error as error:
        return _fail(str(error), FAILURE)
    except Exception as error:  # noqa: BLE001 -- one of the two marked edges: a bug becomes a line, not a traceback
        return _bug(error)


def _one_line(error: click.ClickException) -> str:
    """Return click's message on one line, with the fix."""
    if isinstance(error, click.NoSuchOption) and error.ctx is not None:
        ours = next((option for option, others in USED_ELSEWHERE.items() if error.option_name in others), "")
        if any(ours in param.opts for param in error.ctx.command.params):
            return f"no such option {error.option_name!r}: did you mean {ours!r}?"
    said = " ".join(error.format_message().split()).rstrip(".").replace(". Did you mean", ": did you mean")
    said = said[:1].lower() + said[1:]
    said += ": put several words in quotes" if "unexpected extra argument" in said else ""
    context = getattr(error, "ctx", None)
    return f"{said}: see `{context.command_path} --help`" if context and "did you mean" not in said else said


def _bug(error: Exception) -> int:
    if os.environ.get("VADE_DEBUG"):
        import traceback

        traceback.print_exception(error)
        return FAILURE
    said = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    return _fail(f"internal error: {said}: run again with VADE_DEBUG=1 and report what it prints", FAILURE)


def _fail(message: str, code: int) -> int:
    from vademecum.answers.render import visible  # a message may quote a file's name, and a name may hold anything

    print(f"vade: {visible(' '.join(message.split()))}", file=sys.stderr)  # noqa: T201 -- the one place for problems
    return code
