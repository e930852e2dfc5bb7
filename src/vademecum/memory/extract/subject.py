"""Find a statement's subject, by which a later statement replaces it.

    use pnpm, not npm        package manager · javascript · pnpm
    we use yarn              package manager · javascript · yarn
    indent with tabs         indentation · · tabs
    the API runs on :8080    api · on · :8080

A well-known tool has its kind as its subject, together with its purpose where the sentence names one: the database of the
queue and the database of billing are two subjects. Otherwise the sentence names the subject (`for the API`, `our deadline
is`), or the subject is the last noun of the value ("minimal dependencies" → dependencies).
"""

from __future__ import annotations

import re

from vademecum.memory.choices import CHOICE, Subject, choice_of, is_known, without_marks
from vademecum.memory.extract.limits import LANGUAGES
from vademecum.memory.extract.values import Found
from vademecum.memory.labels import FRENCH
from vademecum.memory.records import FactKind

_ABOUT = re.compile(
    r"(?i)\b(?:for|as (?:the|our|my|a|an)|pour|comme)\s+(?:the |our |my |all |any |a |an |le |la |les |l'|nos |notre |mon |mes )?"
    r"(?P<name>(?!(?:now|this|that|it|example|me|us|you|instance|fun|sure|ça|cela|moi|nous|le moment|je|tu|on|vous)\b)[\w-]+(?: (?:d['\u2019])?[\w-]+){0,2}?(?:\.\d+)*)"
    r"(?=\s*(?:[,;:!?)]|\.(?!\d)|$|\s(?:and|but|because|since|in|on|to|so|not|with|instead|over|rather|due|of|when|now|we|et|mais|car|parce|dans|à|au|pas|plutôt|maintenant|nous)\b))"
)
# The place of a choice: a part of the work, or an environment
_PLACED = re.compile(
    r"(?i)\b(?:in|on|dans|en|sur)\s+(?:(?:the|our|la|le|notre)\s+(?P<part>[\w-]+(?: (?:panel|app|service|site|page|module|team|server|worker|package|layer|tests?))?)"
    r"|(?P<where>production|prod|staging|development|dev|tests?|ci|recette|développement))(?=\s*(?:[,.;:!?)]|$|\s(?:and|but|because|since|so|not|instead|rather|now|we|et|mais|car|parce|pas|plutôt|nous|on)\b))"
)
# Words after `for` that name no purpose: the whole work, a time, or a benefit
_NO_PURPOSE = re.compile(
    r"(?i)(?:its|their|his|her|being|having|better|faster|easier|less|more|several|many|two|three|an?|ses|son|sa|leurs?|être|avoir)\b"
    r"|(?:.* )?(?:projects?|repos?|repository|repositories|codebase|team|app|application|company|everything|things|work|code|future|default|rule|start|standard|sake|while"
    r"|moment|seconds?|minutes?|hours?|days?|weeks?|months?|years?|time|speed|performance|reasons?|projets?|dépôts?|équipe|tout|travail|avenir|défaut|règle|instant|jours?|semaines?|mois|ans"
    r"|années?|vitesse|performances|raisons?|\w{3,}(?:ity|ness|ency|iance|ience|ité))$"
)
# Roles that identify a subject on their own: a queue in Postgres replaces a queue in Redis
_STORING = frozenset(("database", "cache"))
_PARTS_PLAYED_TEXT = """
    queue queues cache caching broker bus session sessions search jobs locks events storage messaging file
    courtier recherche tâches verrous événements stockage
"""
_PARTS_PLAYED = frozenset(_PARTS_PLAYED_TEXT.split())
_LANGUAGES = {*LANGUAGES, "go", "c"}
_SHORT_FOR = {"ci": "continuous integration", "db": "database", "bdd": "database"}
_LITTLE = re.compile(
    r"(?i)^(?:(?:the|a|an|any|all|every|each|some|my|our|your|his|her|their|its|this|that|these|those|more|less|no|to|very|as|of|(?:any|all|each|one|some|most|none|lots?|kinds?|sorts?|rid|track|care|use) of"
    r"|le|la|les|l'|un|une|des|by|par|du|de|d'|mon|ma|mes|ton|ta|tes|notre|nos|votre|vos|son|sa|ses|ce|cet|cette|ces|tous|toutes|plus|moins|\w+ly)\s+|[ld]['\u2019])"
)
_STOP = re.compile(
    r"(?i)\s+(?:with|to|for|in|on|of|from|that|which|when|at|by|as|but|because|since|into|using|without|than|over|via|before|after|while|unless|between|under|including|such as|despite"
    r"|avec|pour|dans|sur|de|du|des|que|qui|quand|lorsque|mais|car|par|sans|avant|après|en|à|au|aux|notamment|malgré)\s.*$|[;:(].*$"
)
# Adverbs and prepositions before a noun
_LEAD = re.compile(
    r"(?i)^(?:always|directement|simplement|automatiquement|manuellement|systématiquement|immédiatement|explicitement|toujours|à jour|up to date|when|that|how|quand|lorsque|que|on|onto|in|into|inside|within|at|through|via|from|with|about|against|for|under|over|across|towards?"
    r"|sur|dans|à|au|aux|vers|chez|sous|avec|contre|en|pour)\s+"
)
_TRAIL = re.compile(
    r"(?i)\s+(?:first|last|again|too|as well|instead|now|later|soon|yet|here|there|everywhere|yourself|myself|together"
    r"|d'abord|ensuite|encore|aussi|ici|là|partout|maintenant|toujours|soi-même|ensemble)$"
)
# Times and manners: the subjects of "stop after three attempts" and "commit without a message" are the verbs
_DAYS = r"(?:(?:mon|tues|wednes|thurs|fri|satur|sun)days?|weekends?|holidays|(?:lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche|week-end)s?)"
_MANNER = re.compile(
    rf"(?i)(?:after|before|by (?=\w+ing\b)|during|only|until|unless|when(?:ever)?|while|without|once|twice|at (?:once|night)|as soon"
    rf"|(?:on |the |every |each )*{_DAYS}|(?:every|each) (?:day|week|month|time|morning|evening)"
    rf"|après|avant|durant|pendant|jusqu\S*|quand|lorsqu\S*|sans|seulement|dès|en \w+ant"
    rf"|(?:le |les |chaque |tous les )?{_DAYS}|(?:chaque|tous les|toutes les) (?:jours?|semaines?|mois|fois|matins?|soirs?))(?![\w-])"
)
_IDLE_TEXT = "never always ever only also just not ne jamais toujours pas plus aussi de d'"
_IDLE = frozenset(_IDLE_TEXT.split())  # words that are never the verb
_OF = re.compile(
    r"(?i)(?P<thing>.+?)\s+(?P<link>(?:of|for|du|des|de|pour)\s+|d['\u2019](?!abord|accord|ailleurs|habitude))(?P<whole>(?!\d).+)"
)
# French adjectives that stand before their noun
_BEFORE = re.compile(
    r"petite?s?|grande?s?|gros(?:se)?s?|bon(?:ne)?s?|beaux?|belles?|nouve(?:au|aux|lle|lles)|mauvaise?s?|vraie?s?"
)
_MOST_WORDS = 4


_PRONOUNS_TEXT = "it this that them these those we i you they she he ça cela ceci on je nous il elle"
PRONOUNS = frozenset(("", *_PRONOUNS_TEXT.split()))
_ARTICLES = frozenset(("the", "a", "an", "any", "all", "le", "la", "les", "un", "une", "des", "du"))
# The person before a verb: "on écrit", "tu me montres"
_WHO = re.compile(r"(?i)^(?:(?:on|nous|tu|vous|we|you|i|je)\s+(?:(?:me|nous|us)\s+|m')?|j')(?=\S+\s)")
# A decided act with its object, in English and French. Times, places and manners are no objects: the subject of "to stop
# after three attempts" is stopping.
_ACT = re.compile(
    r"(?i)(?:to (?!use\b)(?P<verb>[a-z]+)|(?P<faire>(?!utiliser\b)[a-zà-ÿ]{2,}(?:er|ir|re))) "
    r"(?!(?:after|at|before|by|during|for|from|in|into|on|only|over|to|under|until|when|while|with|without"
    r"|après|au|aux|avant|avec|chez|dans|dès|en|jusqu|lors|par|pendant|pour|quand|sans|seulement|sous|sur|vers)\b)(?P<object>\S.*)"
)


# What was wrong, before the words that say how: "the flaky test was a timezone thing"
_TROUBLE = re.compile(
    r"(?i)((?!(?:it|that|this|ça|ce|il|on)\b)\S.{2,60}?)\s(?:was|were|is|are|came|comes|failed|broke|choked|disappeared|went|ran out"
    r"|because|c'était|était|étaient|est|sont|venait|plantait)\b"
)

# Words between an act and its tool: "run the tests with pytest", "keep our Redis"
_MEANS = re.compile(
    r"(?i)(?:.*\b(?:with|using|via|through|by|on|avec|sur|via|par)\s+)?(?:(?:the|our|my|a|an|le|la|les|notre|using|plain|pure)\s+)*(?:l')?"
)


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
    act = _ACT.match(value) if kind is FactKind.DECISION else None
    if act is None or not is_known(value):
        return is_known(value)
    named = CHOICE.search(without_marks(act["object"]))
    return named is not None and _MEANS.fullmatch(without_marks(act["object"])[: named.start()]) is not None


def _done_to(kind: FactKind, value: str) -> Subject | None:
    """Return the object and the verb of an act as a subject.

    "Never touch X without a test" must not replace "document X".
    """
    told = value.partition(", ")[0].removesuffix(" please")
    if kind in (FactKind.TODO, FactKind.FIX):
        troubled = _TROUBLE.match(told) if kind is FactKind.FIX else None
        return Subject(whole_noun(troubled[1]) if troubled else acted_on(*_parted(told)).name)
    verb, rest = _parted(told)
    if kind is FactKind.INSTRUCTION:
        return acted_on(verb, rest)
    act = _ACT.match(value) if kind is FactKind.DECISION else None
    return acted_on((act["verb"] or act["faire"]).lower(), act["object"]) if act else None


def _parted(predicate: str) -> tuple[str, str]:
    """Split a predicate into verb and object: `run`, `the tests`.

    A single word, or a phrase that opens with an article, has no verb.
    """
    said = _WHO.sub("", predicate)
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
    named = _ABOUT.search(sentence)
    if named is not None:
        return Subject(whole_noun(named["name"]))
    value = _WHO.sub("", value)
    return Subject(noun(value) if whole else head(value, first=head_first))


def purpose(clause: str) -> str:
    """Return the purpose of a choice as a key, "" for none.

    A reason, a length of time and another choice are no purposes.

    >>> [purpose(each) for each in ("Redis for the queue", "On utilise SQLite pour le cache local", "dropped npm for pnpm")]
    ['queue', 'cache local', '']
    """
    chosen = CHOICE.search(without_marks(clause))
    behind = _ABOUT.search(clause, chosen.end()) if chosen is not None else None
    named = behind or _ABOUT.match(clause)
    placed = _PLACED.search(clause, chosen.end()) if chosen is not None and named is None else None
    if placed is not None:
        what = placed["part"] or placed["where"]
        return "" if _NO_PURPOSE.match(what) else noun(what)
    if (
        named is None
        or _NO_PURPOSE.match(named["name"])
        or CHOICE.match(named["name"])
        or re.match(r"\.\w", clause[named.end() :])
    ):
        return ""
    return "" if any(word in _LANGUAGES for word in named["name"].lower().split()) else whole_noun(named["name"])


def _used_for(choice: Subject, what: str) -> Subject:
    """Return a choice narrowed to its purpose.

    Words of the purpose that repeat the kind are dropped.
    """
    said, kinds = what.split(), f"{choice.name} {FRENCH.get(choice.name, '')}".split()
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
    if _MANNER.match(rest):
        return Subject(verb)
    thing = whole_noun(rest)
    return Subject(thing, verb) if thing else Subject(verb)


def verb_in(words: str) -> str:
    """Return the first verb among words: `never push` → `push`."""
    return next((word for word in words.lower().split() if word not in _IDLE), "")


def _little(text: str) -> str:
    """Return a phrase without the small words before it."""
    while (shorter := _LITTLE.sub("", _LEAD.sub("", text))) != text:
        text = shorter
    return text


def noun(phrase: str) -> str:
    """Return a noun phrase as a key of at most four words.

    Articles, marks and everything after the noun are dropped.

    >>> noun("the API's error messages in production")
    "api's error messages"
    """
    text = _STOP.sub("", _little(without_marks(phrase).strip()))
    text = _TRAIL.sub("", text)
    return " ".join(text.replace(",", " ").lower().split()[-_MOST_WORDS:]).strip(" .,:;!?'\"")


def whole_noun(phrase: str) -> str:
    """Return a noun phrase as a key, together with its whole.

    The timeouts of two things are two keys.

    >>> whole_noun("timeout of the worker"), whole_noun("worker timeout"), whole_noun("délai du serveur")
    ('worker timeout', 'worker timeout', 'délai serveur')
    """
    found = _OF.match(_little(without_marks(phrase).strip()))
    if found is None or _STOP.search(f"{found['thing']} "):
        return noun(phrase)
    parts = [noun(found["thing"]), noun(found["whole"])]
    return " ".join(filter(None, parts if found["link"].lower()[0] in "dp" else parts[::-1]))


def head(phrase: str, *, first: bool = False) -> str:
    """Return a noun phrase's main word: last in English, first in French."""
    words = noun(phrase).split()
    words = [word for word in words if not word.isdigit()] or words  # "port 8080" is about the port
    if first:
        words = [word for word in words if not _BEFORE.fullmatch(word)] or words
    return words[0 if first else -1] if words else ""
