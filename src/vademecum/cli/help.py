"""The verbs `help` and `completions`."""

from __future__ import annotations

import difflib
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from vademecum.cli.session import emit, table
from vademecum.errors import UsageError

INDEX = "index"
SHELLS = ("bash", "zsh", "fish")
PACKAGE = Path(__file__).parents[1]
# In a wheel the pages are in the package, in a clone at its top.
PLACES = (PACKAGE / "docs", PACKAGE.parents[1] / "docs")


def _topics(context: click.Context, parameter: click.Parameter, beginning: str) -> list[str]:  # noqa: ARG001 -- click's
    whole = context.find_root()
    verbs = whole.command.list_commands(whole) if isinstance(whole.command, click.Group) else []
    known = [*pages(), *verbs]
    return [name for name in dict.fromkeys(known) if name.startswith(beginning)]


@click.command(name="help")
@click.argument("topic", nargs=-1, shell_complete=_topics)
@click.option("--plain", is_flag=True, help="Print the page without a pager.")
@click.pass_context
def help_(context: click.Context, topic: tuple[str, ...], *, plain: bool) -> int:
    """Show a page of the documentation, or a command's help.

    Without TOPIC, lists the pages. TOPIC is a page, the number of a decision, or a command.
    """
    known = pages()
    if not topic:
        emit(table((name, title_of(path)) for name, path in known.items()))
        return 0
    if len(topic) > 1 or topic[0] not in known:
        click.echo(_said_by_itself(context, topic, [*known]))
        return 0
    text = known[topic[0]].read_text(encoding="utf-8")
    click.echo_via_pager(text) if sys.stdout.isatty() and not plain else click.echo(text, nl=False)
    return 0


def _said_by_itself(context: click.Context, words: Sequence[str], pages_known: Sequence[str]) -> str:
    """Return the help of a command or subcommand.

    Raises:
        UsageError: neither a command nor a page has the name.
    """
    here = context.find_root()
    for number, word in enumerate(words):
        group = here.command if isinstance(here.command, click.Group) else None
        command = group.get_command(here, word) if group else None
        if command is None:
            names = [*(pages_known if not number else ()), *(group.list_commands(here) if group else ())]
            close = difflib.get_close_matches(word, names, n=1)
            hint = f"did you mean {close[0]!r}?" if close else "`vade help` lists them"
            raise UsageError(f"there is no topic {' '.join(words[: number + 1])!r}: {hint}")
        here = click.Context(command, info_name=word, parent=here)
    return here.get_help()


def pages() -> Mapping[str, Path]:
    """Return the topics: pages by name, decisions by number.

    The index page comes first.

    Raises:
        UsageError: the package came without its documentation.
    """
    for folder in PLACES:
        if (folder / f"{INDEX}.md").exists():
            paths = sorted(folder.glob("*.md"), key=lambda path: (path.stem != INDEX, path.stem))
            decisions = sorted((folder / "decisions").glob("*.md"))
            return {path.stem: path for path in paths} | {path.stem[:4]: path for path in decisions}
    raise UsageError("this package came without its documentation: install it from a wheel")


def title_of(path: Path) -> str:
    """Return the heading of a page."""
    return path.read_text(encoding="utf-8").partition("\n")[0].lstrip("# ").replace("`", "")


@click.command()
@click.argument("shell", type=click.Choice(SHELLS))
def completions(shell: str) -> int:
    """Print a shell's completions of commands, options and names.

    \b
    bash    vade completions bash > ~/.local/share/bash-completion/completions/vade
    zsh     vade completions zsh > a directory of $fpath, as _vade
    fish    vade completions fish > ~/.config/fish/completions/vade.fish
    """  # noqa: D301 -- click reads the backspace as "leave these lines as they are"
    from click.shell_completion import get_completion_class

    from vademecum.cli import cli

    known = get_completion_class(shell)
    assert known is not None
    script = known(cli, {}, "vade", "_VADE_COMPLETE")
    # Not `script.source()`: for bash that would start a bash to check its version.
    emit(script.source_template % script.source_vars() + "\n")
    return 0
