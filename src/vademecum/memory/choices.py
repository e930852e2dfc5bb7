"""Known tools and styles by kind; one replaces another of its kind.

pnpm  →  package manager · javascript        tabs  →  indentation
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple


class Subject(NamedTuple):
    """Subject and attribute of a statement."""

    name: str
    attribute: str = ""


def _choices(table: Mapping[str, str]) -> dict[str, Subject]:
    out: dict[str, Subject] = {}
    for subject, names in table.items():
        name, _, attribute = subject.partition("/")
        out.update({each.replace("_", " "): Subject(name, attribute) for each in names.split()})
    return out


# subject/attribute → names of the choices, with underscores for spaces
CHOICES: Mapping[str, Subject] = _choices(
    {
        "package manager/javascript": "npm yarn pnpm bun",
        "package manager/python": "pip uv poetry pipenv pdm conda mamba hatch",
        "test framework/javascript": "jest vitest mocha jasmine ava tape",
        "test framework/python": "pytest unittest nose nose2",
        "browser tests/": "playwright cypress selenium puppeteer",
        "formatter/python": "black yapf autopep8",
        "formatter/javascript": "prettier dprint biome standardjs",
        "linter/python": "ruff flake8 pylint pyflakes",
        "linter/javascript": "eslint jshint oxlint",
        "type checker/python": "mypy pyright pyre pytype",
        "indentation/": "tabs spaces two_spaces four_spaces 2_spaces 4_spaces two-space four-space 2-space 4-space tabulations espaces",
        "quotes/": "single_quotes double_quotes guillemets_simples guillemets_doubles",
        "naming/": "camelcase snake_case snake-case pascalcase kebab-case",
        "database/": "postgres postgresql mysql mariadb sqlite mongodb dynamodb cockroachdb duckdb clickhouse bigquery cassandra",
        "cache/": "redis memcached valkey",
        "task queue/": "celery dramatiq huey sidekiq resque bullmq",
        "search engine/": "elasticsearch opensearch meilisearch typesense algolia solr",
        "orm/python": "sqlalchemy peewee sqlmodel",
        "orm/javascript": "prisma drizzle typeorm sequelize knex",
        "infrastructure/": "terraform opentofu pulumi cloudformation",
        "bundler/": "webpack vite rollup esbuild parcel turbopack rspack",
        "frontend framework/": "react vue svelte angular solidjs preact htmx",
        "web framework/python": "flask django fastapi starlette litestar",
        "web framework/javascript": "express fastify koa hapi nestjs",
        "http client/python": "requests httpx aiohttp urllib3",
        "http client/javascript": "axios fetch ky superagent",
        "css framework/": "tailwind bootstrap bulma foundation",
        "hosting/": "netlify vercel heroku render github_pages cloudflare_pages fly.io",
        "continuous integration/": "github_actions gitlab_ci circleci jenkins travis",
        "containers/": "docker podman",
        "editor/": "vim neovim emacs vscode vs_code zed",
        "shell/": "bash zsh fish",
        "commit messages/": "conventional_commits",
        "merging/": "squash rebase merge_commits",
        "api style/": "rest graphql grpc trpc",
        "state management/": "redux zustand mobx jotai recoil pinia vuex",
        "logging/python": "loguru structlog",
        "logging/javascript": "pino winston bunyan",
        "validation/javascript": "zod yup joi valibot",
        "date library/javascript": "moment dayjs date-fns luxon",
        "answer language/": "english french german spanish italian portuguese français anglais allemand espagnol",
    }
)


def _any_of(names: Iterable[str]) -> str:
    """Return a pattern that matches any of some names, the longest first.

    Names are grouped by their first letter, so that each word is compared with few.
    """
    by_letter: dict[str, list[str]] = {}
    for name in sorted(names, key=len, reverse=True):
        by_letter.setdefault(name[0], []).append(re.escape(name[1:]))
    return "|".join(
        f"{re.escape(letter)}(?:{'|'.join(rest)})".replace("\\ ", "[ _]") for letter, rest in by_letter.items()
    )


CHOICE = re.compile(rf"(?i)(?<![\w.-])(?:{_any_of(CHOICES)})(?![\w-])")


@lru_cache(maxsize=1)  # compiled on first use, since hooks have no time for it
def _other() -> re.Pattern[str]:
    """Return a pattern for a comma and another name with its verb.

    The words that follow are about that other name.
    """
    return re.compile(
        rf"(?i)[,;]\s+(?:(?:but|and|since|because|mais|et|car)\s+)?{CHOICE.pattern.removeprefix('(?i)')}\s+"
        r"(?:is|are|was|were|does|do|did|has|have|had|can|could|will|would|keeps?|kept|breaks?|broke|fails?|gets?|got|\w+n't|\w+ed|(?!\w*(?:ss|us|is)\b)[a-z]{3,}s|est|était|ne|n'\w+|a|avait|\w+ait|casse|plante|échoue)\b"
    )


# Names that are also words: with an article before it, as in "at the moment", the word is no name
_IS_WORD = re.compile(
    r"(?i)\b(?:the|a|le|la|les|un|une|des|du) (?:moment|rest|requests?|fetch|render|express|black|parcel|foundation|fish|hatch|squash|react)$"
)
_ANSWERS = Subject("answer language")
# Other words beside a language: "comments in English" is not about the language of answers
_ELSE = re.compile(
    r"(?i)\b(?!(?:in|en|to|me|moi|us|nous|always|toujours|only|uniquement|all|tout|every|everything|please|answer\w*|repl\w+|respond\w*|response\w*"
    r"|speak\w*|talk\w*|write|use|using|language|langue|réponds|répondez|répondre|réponses?|parle[rz]?|parlons|écris|écrivez|utilise[rz]?|not|pas"
    r"|the|le|la|les|l|et|and|or|ou|over|than|rather|instead|of|de|que|plutôt|au|lieu|british|american|simple|plain|clear)\b)[^\W\d_]+"
)


# One name alone, perhaps with a denial before it and a purpose after it: "not Kafka for events"
_NAME = re.compile(
    r"(?:(?i:not|no|never|pas|jamais|ne pas)\s+)*(?:(?i:to|de)\s+)?(?:(?i:use|using|utiliser)\s+)?(?P<name>[A-Z][\w.+#-]*)"
    r"(?:,?\s+(?i:for|pour|as|comme|in|dans|here|ici|any ?more|either|now)\b.*)?"
)


def is_known(value: str) -> bool:
    """Return whether a value names a known choice."""
    return choice_of(value) is not None


@lru_cache(maxsize=64)  # each clause is looked up several times
def choice_of(text: str) -> Subject | None:
    """Return the kind of the first choice in a text, or None."""
    plain = without_marks(text)
    match = next(named(plain), None)
    choice = CHOICES[match[0].lower().replace("_", " ")] if match is not None else None
    if match is not None and choice == _ANSWERS and _ELSE.search(f"{plain[: match.start()]} {plain[match.end() :]}"):
        return None
    return choice


def names_in(value: str) -> frozenset[str]:
    """Return the known choices in a value, or its only name, lower-cased.

    The set is empty for any other value.

    >>> names_in("not npm either"), names_in("not Kafka for events"), names_in("not push to main")
    (frozenset({'npm'}), frozenset({'kafka'}), frozenset())
    """
    plain = without_marks(value)
    if known := frozenset(match[0].lower().replace("_", " ") for match in named(plain)):
        return known
    name = _NAME.fullmatch(plain)
    return frozenset((name["name"].lower(),)) if name else frozenset()


def up_to_another(clause: str) -> str:
    """Return a clause up to a statement about another name.

    >>> up_to_another("yarn now, pnpm broke on CI"), up_to_another("pnpm, not npm, for the frontend")
    ('yarn now', 'pnpm, not npm, for the frontend')
    """
    other = _other().search(clause) if "," in clause or ";" in clause else None
    return clause[: other.start()] if other is not None else clause


def without_marks(text: str) -> str:
    """Return a text without marks of code and quotation."""
    return text.replace("`", "").replace("*", "").replace('"', "")


def named(plain: str) -> Iterator[re.Match[str]]:
    """Yield the known choices in a text, left to right."""
    return (each for each in CHOICE.finditer(plain) if not _IS_WORD.search(plain, 0, each.end()))
