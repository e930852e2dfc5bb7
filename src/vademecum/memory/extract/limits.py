"""Limits of a statement: some files, a programming language, or every project.

"in src/api"            → src/api/**          "in *.ts files"    → **/*.ts
"for Python code"       → language:python     "in all projects"  → *
"in this repository"    → ""                  (nothing said)     → ""
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

# As people write them → as the index calls them.
_SAME = "python javascript typescript rust java ruby php kotlin scala swift lua bash elixir haskell sql markdown html css yaml json toml tsx"
_SHORTER_TEXT = "golang:go c++:cpp c#:csharp js:javascript ts:typescript shell:bash py:python"
LANGUAGES: Mapping[str, str] = {name: name for name in _SAME.split()} | dict(
    pair.split(":") for pair in _SHORTER_TEXT.split()
)
_NAMES = "|".join(sorted(map(re.escape, LANGUAGES), key=len, reverse=True))
_PATH = r"`?(?P<name>(?:\.{0,2}/)?(?:[\w.*-]+/)+[\w.*-]*|\*\*?[\w./*-]*\.\w+|[\w-]+\.(?:py|js|ts|tsx|go|rs|java|rb|md|sql|sh|c|h|cpp|toml|json|ya?ml|css|html))`?"


def _path(match: re.Match[str]) -> str:
    """Return a glob for a written path; a directory covers everything below."""
    path = match["name"].removeprefix("./").rstrip(".")
    if path.startswith("*."):
        return f"**/{path}"
    if "*" in path:
        return path
    return f"{path.rstrip('/')}/**" if path.endswith("/") or "." not in path.rsplit("/", 1)[-1] else path


def _directory(match: re.Match[str]) -> str:
    return f"{match['name'].strip('/')}/**"


def _language(match: re.Match[str]) -> str:
    return f"language:{LANGUAGES.get(match['name'].lower(), match['name'].lower())}"


def _everywhere(_: re.Match[str]) -> str:
    return "*"


# Patterns, each with the function that turns its match into a limit
_LIMITS: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], str]], ...] = (
    (re.compile(r"(?i)\b(?:everywhere|globally|in every(?:thing)?(?: project| repo(?:sitory)?| codebase)|(?:in|for|across) (?:all|any)(?: of)?(?: my| our| the)? (?:projects|repos|repositories|codebases)|in any project)\b"), _everywhere),
    (re.compile(rf"(?i)\b(?:in|under|inside|within|for|below|of)\s+(?:the |all |any |every )?(?:files? (?:in|under|matching) )?{_PATH}"), _path),
    (re.compile(r"(?i)\b(?:in|under|inside|within)\s+(?:the |our )?`?(?P<name>[\w-]+)`?/?\s+(?:folder|directory|dir|package|module)\b"), _directory),
    (re.compile(rf"(?i)\b(?:in|for|when writing|when editing|writing|with)\s+(?:the |our |all |any )?(?P<name>{_NAMES}|(?-i:Go|C))(?![\w-])(?!\s+\d)(?:\s+(?:code|files?|modules?|scripts?|projects?|tests?))?(?=\s*(?:[,.;:!]|$|\s(?:and|use|always|never|i|we|prefer|please|not|rather|over|instead|because)\b))"), _language),
    (re.compile(rf"(?i)(?<!\w)(?P<name>{_NAMES}) (?:code|files|modules|scripts)\b"), _language),
    (re.compile(r"(?i)\b(?:partout|globalement|(?:dans|pour) (?:tous|toutes) (?:mes |nos |les )?(?:projets|dépôts|repos))\b"), _everywhere),
    (re.compile(rf"(?i)\b(?:dans|sous|pour)\s+(?:les? |la |tous les )?(?:fichiers? )?{_PATH}"), _path),
    (re.compile(r"(?i)\bdans\s+(?:le |la )?(?:dossier|répertoire|module|paquet)\s+`?(?P<name>[\w/-]+)`?"), _directory),
    (re.compile(rf"(?i)\b(?:en|pour le code|pour du code|dans le code|code|fichiers?)\s+(?P<name>{_NAMES}|(?-i:Go|C))(?![\w-])"), _language),
)  # fmt: skip


def where(sentence: str) -> str:
    """Return the limit that a sentence names, "" where it names none.

    >>> where("In src/api/ never log request bodies."), where("For Python, use ruff")
    ('src/api/**', 'language:python')
    """
    found = ((pattern.search(sentence), name) for pattern, name in _LIMITS)
    return next((name(match) for match, name in found if match is not None), "")
