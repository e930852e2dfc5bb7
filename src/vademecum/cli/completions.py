"""The verb that writes a shell's completions."""

from __future__ import annotations

import click

from vademecum.cli.render import emit

SHELLS = ("bash", "zsh", "fish")


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
