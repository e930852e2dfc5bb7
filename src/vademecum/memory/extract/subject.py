"""What a statement is about, so that a later one about the same can take its place.

    use pnpm, not npm        package manager · javascript · pnpm
    we use yarn              package manager · javascript · yarn
    indent with tabs         indentation · · tabs
    the API runs on :8080    api · on · :8080

A well-known tool stands for what it is a choice of, and for what it is used, where that is said: what serves the queue is
one thing, what serves billing another. Otherwise the subject is named by the sentence (`for the API`, `our deadline is`), or
it is the noun that the value ends in ("minimal dependencies" → dependencies).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import NamedTuple

from vademecum.memory.extract.scope import LANGUAGES
from vademecum.memory.labels import FRENCH


class Subject(NamedTuple):
    """What is spoken of, and what of it."""

    name: str
    attribute: str = ""


def _choices(table: Mapping[str, str]) -> dict[str, Subject]:
    out: dict[str, Subject] = {}
    for subject, names in table.items():
        name, _, attribute = subject.partition("/")
        out.update({each.replace("_", " "): Subject(name, attribute) for each in names.split()})
    return out


# subject/attribute → what one chooses among, an underscore for a space
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
        "database/": "postgres postgresql mysql mariadb sqlite mongodb dynamodb cockroachdb duckdb",
        "cache/": "redis memcached valkey",
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
        "date library/javascript": "moment dayjs date-fns luxon",
        "answer language/": "english french german spanish italian portuguese français anglais allemand espagnol",
    }
)


def _any_of(names: Iterable[str]) -> str:
    """A pattern of any of some names, the longest first; by their first letter, so that each word is compared with few."""
    by_letter: dict[str, list[str]] = {}
    for name in sorted(names, key=len, reverse=True):
        by_letter.setdefault(name[0], []).append(re.escape(name[1:]))
    return "|".join(
        f"{re.escape(letter)}(?:{'|'.join(rest)})".replace("\\ ", "[ _]") for letter, rest in by_letter.items()
    )


_CHOICE = re.compile(rf"(?i)(?<![\w.-])(?:{_any_of(CHOICES)})(?![\w-])")
# Names that are words as well are names only where no article stands before them: "at the moment" is about no library
_IS_WORD = re.compile(
    r"(?i)\b(?:the|a|le|la|les|un|une|des|du) (?:moment|rest|requests?|fetch|render|express|black|parcel|foundation|fish|hatch|squash|react)$"
)
_ANSWERS = Subject("answer language")
# A word beside a language that makes it the language of something else: "comments in English"
_ELSE = re.compile(
    r"(?i)\b(?!(?:in|en|to|me|moi|us|nous|always|toujours|only|uniquement|all|tout|every|everything|please|answer\w*|repl\w+|respond\w*|response\w*"
    r"|speak\w*|talk\w*|write|use|using|language|langue|réponds|répondez|répondre|réponses?|parle[rz]?|parlons|écris|écrivez|utilise[rz]?|not|pas"
    r"|the|le|la|les|l|et|and|or|ou|over|than|rather|instead|of|de|que|plutôt|au|lieu|british|american|simple|plain|clear)\b)[^\W\d_]+"
)
_ABOUT = re.compile(
    r"(?i)\b(?:for|as (?:the|our|my|a|an)|pour|comme)\s+(?:the |our |my |all |any |a |an |le |la |les |l'|nos |notre |mon |mes )?"
    r"(?P<name>(?!(?:now|this|that|it|example|me|us|you|instance|fun|sure|ça|cela|moi|nous|le moment|je|tu|on|vous)\b)[\w-]+(?: (?:d['\u2019])?[\w-]+){0,2}?)"
    r"(?=\s*(?:[,.;:!?)]|$|\s(?:and|but|because|since|in|on|to|so|not|with|instead|over|rather|due|of|when|now|we|et|mais|car|parce|dans|à|au|pas|plutôt|maintenant|nous)\b))"
)
# What a choice is for, behind `for`, is none where it is the whole of the work, a time, or the good it does
_NO_PURPOSE = re.compile(
    r"(?i)(?:its|their|his|her|being|having|better|faster|easier|less|more|several|many|two|three|an?|ses|son|sa|leurs?|être|avoir)\b"
    r"|(?:.* )?(?:projects?|repos?|repository|repositories|codebase|team|app|application|company|everything|things|work|code|future|default|rule|start|standard|sake|while"
    r"|moment|seconds?|minutes?|hours?|days?|weeks?|months?|years?|time|speed|performance|reasons?|projets?|dépôts?|équipe|tout|travail|avenir|défaut|règle|instant|jours?|semaines?|mois|ans"
    r"|années?|vitesse|performances|raisons?|\w{3,}(?:ity|ness|ency|iance|ience|ité))$"
)
# What plays one of these parts takes the place of what played it, of whatever kind both are: a queue in Redis, or in Postgres
_STORING = frozenset(("database", "cache"))
_PARTS_PLAYED = frozenset(
    (
        "queue",
        "queues",
        "cache",
        "caching",
        "broker",
        "bus",
        "session",
        "sessions",
        "search",
        "jobs",
        "locks",
        "events",
        "storage",
        "messaging",
        "file",
        "courtier",
        "recherche",
        "tâches",
        "verrous",
        "événements",
        "stockage",
    )
)
_LANGUAGES = {*LANGUAGES, "go", "c"}
_SHORT_FOR = {"ci": "continuous integration", "db": "database", "bdd": "database"}
_LITTLE = re.compile(
    r"(?i)^(?:(?:the|a|an|any|all|every|each|some|my|our|your|his|her|their|its|this|that|these|those|more|less|no|to|very|as|of"
    r"|le|la|les|l'|un|une|des|by|par|du|de|d'|mon|ma|mes|ton|ta|tes|notre|nos|votre|vos|son|sa|ses|ce|cet|cette|ces|tous|toutes|plus|moins|\w+ly)\s+|[ld]['\u2019])"
)
_STOP = re.compile(
    r"(?i)\s+(?:with|to|for|in|on|of|from|that|which|when|at|by|as|but|because|since|into|using|without|than|over|via|before|after|while|unless|between|under|including|such as|despite"
    r"|avec|pour|dans|sur|de|du|des|que|qui|quand|lorsque|mais|car|par|sans|avant|après|en|à|au|aux|notamment|malgré)\s.*$|[;:(].*$"
)
# Words before a thing that is gone to, used or stood on, and behind one, that say nothing of it
_LEAD = re.compile(
    r"(?i)^(?:always|toujours|à jour|up to date|when|that|how|quand|lorsque|que|on|onto|in|into|inside|within|at|through|via|from|with|about|against|for|under|over|across|towards?"
    r"|sur|dans|à|au|aux|vers|chez|sous|avec|contre|en|pour)\s+"
)
_TRAIL = re.compile(
    r"(?i)\s+(?:first|last|again|too|as well|instead|now|later|soon|yet|here|there|everywhere|yourself|myself|together"
    r"|d'abord|ensuite|encore|aussi|ici|là|partout|maintenant|toujours|soi-même|ensemble)$"
)
# What says when, how often or how: "stop after three attempts" and "commit without a message" are about stopping and committing
_DAYS = r"(?:(?:mon|tues|wednes|thurs|fri|satur|sun)days?|weekends?|holidays|(?:lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche|week-end)s?)"
_MANNER = re.compile(
    rf"(?i)(?:after|before|by (?=\w+ing\b)|during|only|until|unless|when(?:ever)?|while|without|once|twice|at (?:once|night)|as soon"
    rf"|(?:on |the |every |each )*{_DAYS}|(?:every|each) (?:day|week|month|time|morning|evening)"
    rf"|après|avant|durant|pendant|jusqu\S*|quand|lorsqu\S*|sans|seulement|dès|en \w+ant"
    rf"|(?:le |les |chaque |tous les )?{_DAYS}|(?:chaque|tous les|toutes les) (?:jours?|semaines?|mois|fois|matins?|soirs?))(?![\w-])"
)
_IDLE = frozenset(
    (
        "never",
        "always",
        "ever",
        "only",
        "also",
        "just",
        "not",
        "ne",
        "jamais",
        "toujours",
        "pas",
        "plus",
        "aussi",
        "de",
        "d'",
    )
)  # no verbs
_PARTS = re.compile(r"(?i)\s+(?:of|de|du|des)\s+(?=\S)|\s+d['\u2019](?!abord|accord|ailleurs|habitude)(?=\w)")
_ADDED = re.compile(
    r"(?i),\s+(?:and|but|or|so|despite|which|while|as|because|not|then|when|with|to|et|mais|ou|donc|malgré|puis|pas|avec)\b.*$"
)
_AMOUNTS = frozenset(
    (
        "advantage",
        "all",
        "any",
        "care",
        "each",
        "instead",
        "kind",
        "kinds",
        "lot",
        "lots",
        "most",
        "none",
        "one",
        "out",
        "plenty",
        "range",
        "rid",
        "some",
        "sort",
        "track",
        "use",
    )
)
_OF = re.compile(r"(?i)(?P<thing>.+?)\s+(?P<link>of|for|du|des|de|pour)\s+(?P<whole>.+)")
# Stand before what they describe in French
_BEFORE = re.compile(
    r"petite?s?|grande?s?|gros(?:se)?s?|bon(?:ne)?s?|beaux?|belles?|nouve(?:au|aux|lle|lles)|mauvaise?s?|vraie?s?"
)
_MOST_WORDS = 4


def about(value: str, other: str = "", sentence: str = "", *, head_first: bool = False) -> Subject:
    """Return what a choice of `value` over `other` is about.

    >>> about("pnpm", "npm")
    Subject(name='package manager', attribute='javascript')
    >>> about("simple, minimal dependencies with few licences").name
    'dependencies'
    >>> [about(use).name for use in ("Postgres for billing", "Redis for the queue", "SQLite as our database")]
    ['billing database', 'queue', 'database']
    """
    for text in (value, other):
        choice = _choice(text)
        if choice is not None:
            return _used_for(choice, purpose(sentence or value))
    named = _ABOUT.search(sentence)
    if named is not None:
        return Subject(_thing(named["name"]))
    return Subject(head(value, first=head_first))


def purpose(clause: str) -> str:
    """Return what a choice in a clause is for, as a key; "" where it says nothing of it, or only why or for how long.

    >>> [purpose(each) for each in ("Redis for the queue", "On utilise SQLite pour le cache local", "tabs for consistency")]
    ['queue', 'cache local', '']
    """
    chosen = _CHOICE.search(_without_marks(clause))
    behind = _ABOUT.search(clause, chosen.end()) if chosen is not None else None
    named = behind or _ABOUT.match(clause)
    if named is None or _NO_PURPOSE.match(named["name"]) or re.match(r"\.\w", clause[named.end() :]):
        return ""
    return "" if any(word in _LANGUAGES for word in named["name"].lower().split()) else _thing(named["name"])


def _used_for(choice: Subject, what: str) -> Subject:
    """What a choice is about that is made for something: not all of its kind, and not for what its kind says anyhow."""
    said, kinds = what.split(), f"{choice.name} {FRENCH.get(choice.name, '')}".split()
    words = [word for word in said if not any(_akin(word, kind) for kind in kinds)]
    if not words or _SHORT_FOR.get(what) == choice.name:
        return choice
    if choice.name in _STORING and not _PARTS_PLAYED.isdisjoint((said[0], said[-1])):
        return Subject(what)
    return Subject(" ".join([*words, choice.name]), choice.attribute)


def _akin(one: str, other: str) -> bool:
    """Whether two words share their stem, roughly: `names` and `naming`, `formatting` and `formatter`."""
    letters = max(3, min(4, len(one) - 2, len(other) - 2))
    return one[:letters] == other[:letters]


def acted_on(verb: str, rest: str) -> Subject:
    """Return what something is done to, and what: with what says only when or how, it is about the doing itself.

    >>> acted_on("push", "directly to the main branch"), acted_on("toucher", "à la base de production")
    (Subject(name='main branch', attribute='push'), Subject(name='base production', attribute='toucher'))
    >>> acted_on("commit", "without a message"), acted_on("deploying", "on Fridays")
    (Subject(name='commit', attribute=''), Subject(name='deploying', attribute=''))
    """
    if _MANNER.match(rest):
        return Subject(verb)
    thing = _thing(_ADDED.sub("", rest))
    return Subject(thing, verb) if thing else Subject(verb)


def verb_in(words: str) -> str:
    """Return the first word that tells what is done: `never push` → `push`."""
    return next((word for word in words.lower().split() if word not in _IDLE), "")


def _thing(phrase: str) -> str:
    """What a verb is about, as a key, with what it is a part of: "messages de commit", "order of imports"."""
    parts = _PARTS.split(_little(_without_marks(phrase).strip()), maxsplit=1)
    if len(parts) == 1 or _STOP.search(f"{parts[0]} "):
        return noun(phrase)
    if noun(parts[0]) in _AMOUNTS:
        return noun(parts[1])
    named = " ".join(filter(None, map(noun, parts[::-1] if " of " in phrase.lower() else parts)))
    return named if named.count(" ") < _MOST_WORDS else noun(phrase)


def _little(text: str) -> str:
    """A phrase without the small words before it."""
    while (shorter := _LITTLE.sub("", _LEAD.sub("", text))) != text:
        text = shorter
    return text


def noun(phrase: str) -> str:
    """Return a noun phrase as a key: without articles, what follows it, and marks; at most four words.

    >>> noun("the API's error messages in production")
    "api's error messages"
    """
    text = _TRAIL.sub("", _STOP.sub("", _little(_without_marks(phrase).strip())))
    return " ".join(text.replace(",", " ").lower().split()[-_MOST_WORDS:]).strip(" .,:;!?'\"")


def whole_noun(phrase: str) -> str:
    """Return a noun phrase as a key, with what it is of: the timeouts of two things are two things.

    >>> whole_noun("timeout of the worker"), whole_noun("worker timeout"), whole_noun("délai du serveur")
    ('worker timeout', 'worker timeout', 'délai serveur')
    """
    found = _OF.match(_without_marks(phrase).strip())
    if found is None:
        return noun(phrase)
    parts = [noun(found["thing"]), noun(found["whole"])]
    return " ".join(filter(None, parts if found["link"].lower()[0] in "dp" else parts[::-1]))


def head(phrase: str, *, first: bool = False) -> str:
    """Return the word of a noun phrase that says what it is about: the last in English, the first in French."""
    words = noun(phrase).split()
    words = [word for word in words if not word.isdigit()] or words  # "port 8080" is about the port
    if first:
        words = [word for word in words if not _BEFORE.fullmatch(word)] or words
    return words[0 if first else -1] if words else ""


def is_known(value: str) -> bool:
    """Return whether a value is one of those that are chosen among."""
    return _choice(value) is not None


@lru_cache(maxsize=64)  # what one clause is about is asked several times
def _choice(text: str) -> Subject | None:
    plain = _without_marks(text)
    match = next((each for each in _CHOICE.finditer(plain) if not _IS_WORD.search(plain, 0, each.end())), None)
    choice = CHOICES[match[0].lower().replace("_", " ")] if match is not None else None
    if match is not None and choice == _ANSWERS and _ELSE.search(f"{plain[: match.start()]} {plain[match.end() :]}"):
        return None
    return choice


def _without_marks(text: str) -> str:
    return text.replace("`", "").replace("*", "").replace('"', "")
