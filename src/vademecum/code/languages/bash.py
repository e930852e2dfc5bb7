"""Bash and its kin: declarations only; the graph reads no references."""

from __future__ import annotations

import re

from vademecum.code.languages.language import Language

# bats writes tests as `@test "name" {`, which is no shell: it becomes a function.
_BATS = rb"(?m)^(@test )([\"'])([^\n]*)\2 \{"


class _Bash(Language):
    def readable(self, content: bytes) -> bytes:
        """Return a file with bats tests written as functions."""
        if b"@test " not in content:
            return content
        return re.sub(_BATS, lambda test: b"_test__" + re.sub(rb"\W", b"_", test[3]) + b"(){", content)


LANGUAGE = _Bash(
    "bash",
    extensions=(".sh", ".bash", ".zsh", ".bats", ".ksh", ".ebuild", ".eclass", ".command"),
    names=(
        ".bashrc", ".bash_profile", ".bash_aliases", ".bash_logout", ".profile", ".zshrc", ".zshenv", ".zprofile", ".zlogin",
        ".kshrc", "pkgbuild", "apkbuild", "bashrc", "zshrc",
    ),
    aliases=("sh", "shell", "zsh", "shellscript", "bats", "ksh"),
    interpreters=("sh", "bash", "zsh", "dash", "ksh", "ash", "bats", "mksh"),
    module="tree_sitter_bash",
    queries=("bash",),
)  # fmt: skip
