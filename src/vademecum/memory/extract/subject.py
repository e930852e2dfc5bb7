"""Find a statement's subject, by which a later statement replaces it.

    use pnpm, not npm        package manager · javascript · pnpm
    we use yarn              package manager · javascript · yarn
    indent with tabs         indentation · · tabs
    the API runs on :8080    api · on · :8080

A well-known tool has its kind as its subject, together with its purpose where the sentence names one: the database of the
queue and the database of billing are two subjects. Otherwise the sentence names the subject (`for the API`, `our deadline
is`), or the subject is the last noun of the value ("minimal dependencies" → dependencies).

A statement may be limited to some files or to a language: "in src/api" is `src/api/**`, "for Python code" `language:python`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from vademecum.memory.extract.values import Found
from vademecum.memory.forms import compiled, filled, table_of
from vademecum.memory.labels import CHOICE, IN_FRENCH, Subject, choice_of, is_known, without_marks
from vademecum.memory.records import FactKind

_SAID = compiled(__file__)


# Roles that identify a subject on their own: a queue in Postgres replaces a queue in Redis
_STORING = frozenset(("database", "cache"))
_PARTS_PLAYED_TEXT = """
    queue queues cache caching broker bus session sessions search jobs locks events storage messaging file
    courtier recherche tâches verrous événements stockage
"""
_PARTS_PLAYED = frozenset(_PARTS_PLAYED_TEXT.split())
_LIMITS = table_of(__file__, "limits")
LANGUAGES: Mapping[str, str] = _LIMITS["languages"]
_LANGUAGES = {*LANGUAGES, "go", "c"}
_SHORT_FOR = {"ci": "continuous integration", "db": "database", "bdd": "database"}
_IDLE_TEXT = "never always ever only also just not ne jamais toujours pas plus aussi de d'"
_IDLE = frozenset(_IDLE_TEXT.split())  # words that are never the verb
_MOST_WORDS = 4


_PRONOUNS_TEXT = "it this that them these those we i you they she he ça cela ceci on je nous il elle"
PRONOUNS = frozenset(("", *_PRONOUNS_TEXT.split()))
_ARTICLES = frozenset(("the", "a", "an", "any", "all", "le", "la", "les", "un", "une", "des", "du"))


def subject_of(kind: FactKind, found: Found, value: str, *, head_first: bool) -> Subject:
    """Return a statement's subject.

    The subject comes from the sentence, from its condition, or from the kind of choice that the value is.
    """
    said, choice = found.parts, choice_of(value)
    if "part" in said and choice is not None:
        return _used_for(choice, noun(said["part"]))
    if said.get("subject", "we").lower() not in PRONOUNS:
        return _as_named(kind, said, value)
    if "topic" in said:
        return Subject(_topic(said["topic"]), noun(_parted(value)[1]))
    done_to, other = said.get("object", ""), said.get("other", "")  # an object of marks alone is empty
    thing = done_to or value
    if done_to and not is_known(thing):
        before, found_in, _ = value.lower().partition(thing.lower())
        return acted_on(verb_in(before) if found_in else "", thing)
    chosen = kind not in (FactKind.TODO, FactKind.FIX) and (_is_choice(kind, thing) or bool(other))
    whole = kind in (FactKind.DECISION, FactKind.FACT) and found.negative
    return (None if chosen else _done_to(kind, thing)) or about(
        thing, other, found.clause, head_first=head_first, whole=whole
    )


def _as_named(kind: FactKind, said: dict[str, str], value: str) -> Subject:
    """Return the subject that the sentence itself names.

    A preferred tool keeps its own kind: a "test runner" is a test framework.
    """
    named, _, what = said["subject"].lower().partition(" for ")
    choice = choice_of(value)
    if choice is not None and _SHORT_FOR.get(noun(named)) == choice.name:
        return choice
    if choice is not None and any(_akin(one, other) for one in named.split() for other in choice.name.split()):
        return _used_for(choice, noun(what))
    if choice is not None and kind in (FactKind.FACT, FactKind.DECISION):
        return _used_for(choice, noun(named))
    done = _parted(value)[0] if kind is FactKind.INSTRUCTION else ""
    return Subject(whole_noun(said["subject"]), said.get("attribute", done).lower())


def _is_choice(kind: FactKind, value: str) -> bool:
    """Return whether a value is a choice of the tool it names.

    "To keep Vue" is one; "to postpone the migration to Vue 3" is not.
    """
    act = _SAID["act"].match(value) if kind is FactKind.DECISION else None
    if act is None or not is_known(value):
        return is_known(value)
    named = CHOICE.search(without_marks(act["object"]))
    return named is not None and _SAID["means"].fullmatch(without_marks(act["object"])[: named.start()]) is not None


def _done_to(kind: FactKind, value: str) -> Subject | None:
    """Return the object and the verb of an act as a subject.

    "Never touch X without a test" must not replace "document X".
    """
    told = value.partition(", ")[0].removesuffix(" please")
    if kind in (FactKind.TODO, FactKind.FIX):
        troubled = _SAID["trouble"].match(told) if kind is FactKind.FIX else None
        return Subject(whole_noun(troubled[1]) if troubled else acted_on(*_parted(told)).name)
    verb, rest = _parted(told)
    if kind is FactKind.INSTRUCTION:
        return acted_on(verb, rest)
    act = _SAID["act"].match(value) if kind is FactKind.DECISION else None
    return acted_on((act["verb"] or act["faire"]).lower(), act["object"]) if act else None


def _parted(predicate: str) -> tuple[str, str]:
    """Split a predicate into verb and object: `run`, `the tests`.

    A single word, or a phrase that opens with an article, has no verb.
    """
    said = _SAID["who"].sub("", predicate)
    first, _, rest = said.partition(" ")
    return (first.lower(), rest) if rest and first.lower() not in _ARTICLES else ("", said)


def _topic(condition: str) -> str:
    """Return the topic of a condition: `I ask about dependencies` → `dependencies`."""
    asked = re.search(r"(?i)\b(?:about|for|regarding|with|on|sur|de|des|du|à propos de)\s+(.+)$", condition)
    return noun(asked[1]) if asked else head(condition)


def about(value: str, other: str = "", sentence: str = "", *, head_first: bool = False, whole: bool = False) -> Subject:
    """Return the subject of choosing `value` over `other`.

    >>> about("pnpm", "npm")
    Subject(name='package manager', attribute='javascript')
    >>> about("simple, minimal dependencies with few licences").name
    'dependencies'
    >>> [about(use).name for use in ("Postgres for billing", "Redis for the queue", "SQLite as our database")]
    ['billing database', 'queue', 'database']
    """
    for text in (value, other):
        choice = choice_of(text)
        if choice is not None:
            return _used_for(choice, purpose(sentence or value))
    named = _SAID["about"].search(sentence)
    if named is not None:
        return Subject(whole_noun(named["name"]))
    value = _SAID["who"].sub("", value)
    return Subject(noun(value) if whole else head(value, first=head_first))


def purpose(clause: str) -> str:
    """Return the purpose of a choice as a key, "" for none.

    A reason, a length of time and another choice are no purposes.

    >>> [purpose(each) for each in ("Redis for the queue", "On utilise SQLite pour le cache local", "dropped npm for pnpm")]
    ['queue', 'cache local', '']
    """
    chosen = CHOICE.search(without_marks(clause))
    behind = _SAID["about"].search(clause, chosen.end()) if chosen is not None else None
    named = behind or _SAID["about"].match(clause)
    placed = _SAID["placed"].search(clause, chosen.end()) if chosen is not None and named is None else None
    if placed is not None:
        what = placed["part"] or placed["where"]
        return "" if _SAID["no_purpose"].match(what) else noun(what)
    if (
        named is None
        or _SAID["no_purpose"].match(named["name"])
        or CHOICE.match(named["name"])
        or re.match(r"\.\w", clause[named.end() :])
    ):
        return ""
    return "" if any(word in _LANGUAGES for word in named["name"].lower().split()) else whole_noun(named["name"])


def _used_for(choice: Subject, what: str) -> Subject:
    """Return a choice narrowed to its purpose.

    Words of the purpose that repeat the kind are dropped.
    """
    said, kinds = what.split(), f"{choice.name} {IN_FRENCH.get(choice.name, '')}".split()
    words = [word for word in said if not any(_akin(word, kind) for kind in kinds)]
    if not words or _SHORT_FOR.get(what) == choice.name:
        return choice
    if choice.name in _STORING and not _PARTS_PLAYED.isdisjoint((said[0], said[-1])):
        return Subject(what)
    return Subject(" ".join([*words, choice.name]), choice.attribute)


def _akin(one: str, other: str) -> bool:
    """Return whether two words roughly share a stem: `formatting` and `formatter`."""
    letters = max(3, min(4, len(one) - 2, len(other) - 2))
    return one[:letters] == other[:letters]


def acted_on(verb: str, rest: str) -> Subject:
    """Return the object and the verb of an act as a subject.

    Where only a time or a manner follows the verb, the verb is the subject.

    >>> acted_on("push", "directly to the main branch"), acted_on("toucher", "à la base de production")
    (Subject(name='main branch', attribute='push'), Subject(name='base production', attribute='toucher'))
    >>> acted_on("commit", "without a message"), acted_on("deploying", "on Fridays")
    (Subject(name='commit', attribute=''), Subject(name='deploying', attribute=''))
    """
    if _SAID["manner"].match(rest):
        return Subject(verb)
    thing = whole_noun(rest)
    return Subject(thing, verb) if thing else Subject(verb)


def verb_in(words: str) -> str:
    """Return the first verb among words: `never push` → `push`."""
    return next((word for word in words.lower().split() if word not in _IDLE), "")


def _little(text: str) -> str:
    """Return a phrase without the small words before it."""
    while (shorter := _SAID["little"].sub("", _SAID["lead"].sub("", text))) != text:
        text = shorter
    return text


def noun(phrase: str) -> str:
    """Return a noun phrase as a key of at most four words.

    Articles, marks and everything after the noun are dropped.

    >>> noun("the API's error messages in production")
    "api's error messages"
    """
    text = _SAID["stop"].sub("", _little(without_marks(phrase).strip()))
    text = _SAID["trail"].sub("", text)
    return " ".join(text.replace(",", " ").lower().split()[-_MOST_WORDS:]).strip(" .,:;!?'\"")


def whole_noun(phrase: str) -> str:
    """Return a noun phrase as a key, together with its whole.

    The timeouts of two things are two keys.

    >>> whole_noun("timeout of the worker"), whole_noun("worker timeout"), whole_noun("délai du serveur")
    ('worker timeout', 'worker timeout', 'délai serveur')
    """
    found = _SAID["of"].match(_little(without_marks(phrase).strip()))
    if found is None or _SAID["stop"].search(f"{found['thing']} "):
        return noun(phrase)
    parts = [noun(found["thing"]), noun(found["whole"])]
    return " ".join(filter(None, parts if found["link"].lower()[0] in "dp" else parts[::-1]))


def head(phrase: str, *, first: bool = False) -> str:
    """Return a noun phrase's main word: last in English, first in French."""
    words = noun(phrase).split()
    words = [word for word in words if not word.isdigit()] or words  # "port 8080" is about the port
    if first:
        words = [word for word in words if not _SAID["before"].fullmatch(word)] or words
    return words[0 if first else -1] if words else ""


@lru_cache(maxsize=1)
def _limits() -> tuple[tuple[str, re.Pattern[str]], ...]:
    """Return the kind and the pattern of each limit."""
    parts = {"path": _SAID["path"].pattern, "names": "|".join(sorted(map(re.escape, LANGUAGES), key=len, reverse=True))}
    return tuple((row["kind"], re.compile(f"(?i){filled(row['says'], parts)}")) for row in _LIMITS["limits"])


def where(sentence: str) -> str:
    """Return the limit that a sentence names, "" where it names none.

    A directory covers everything below; "*" stands for every project.

    >>> where("In src/api/ never log request bodies."), where("For Python, use ruff"), where("In all projects, use uv")
    ('src/api/**', 'language:python', '*')
    """
    found = ((kind, pattern.search(sentence)) for kind, pattern in _limits())
    kind, match = next(((kind, match) for kind, match in found if match is not None), ("", None))
    if match is None or kind in ("everywhere", "kept"):
        return "*" if kind == "everywhere" else ""
    name = match["name"]
    if kind == "directory":
        return f"{name.strip('/')}/**"
    return f"language:{LANGUAGES.get(name.lower(), name.lower())}" if kind == "language" else _glob(name)


def _glob(path: str) -> str:
    """Return a glob for a written path."""
    path = path.removeprefix("./").rstrip(".")
    if "*" in path:
        return f"**/{path}" if path.startswith("*.") else path
    return f"{path.rstrip('/')}/**" if path.endswith("/") or "." not in path.rsplit("/", 1)[-1] else path
