"""Fast notes for hooks, at the moments of a session.

    opening      what holds and what is left open
    answering    the facts that concern a message
    about        the facts about files, before these are edited
    after_error  the last fix of an error, after a command failed with it
    surviving    the facts of a session, before its context is compacted

`recall` loads arrays and vectors of every event, which takes longer than a hook may take. This module reads a few columns of
the table of facts, and of events only those of an error or of a session. A fact concerns a message by the telling words that
both have: rare words weigh more than common ones, counted over these facts (inverse document frequency). It is about a file if
it is limited to it, names it, or names a symbol that is declared in it.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import islice, pairwise
from typing import TYPE_CHECKING

from vademecum.index.tokenize import estimated_tokens
from vademecum.memory.active import ALWAYS_ON, Outline, applies, by_sentence, surest, told, words_of
from vademecum.memory.episodes import Episode, error_lines, past_fix
from vademecum.memory.kinds import FactKind, Role
from vademecum.memory.labels import Wording, against, date_of, hint, names_in, time_of, with_topic
from vademecum.memory.passages import fitted, one_line
from vademecum.memory.words import ASKS_PAST, asked_for, asked_terms, fold, other_forms, terms

if TYPE_CHECKING:
    from vademecum.protocols import Clock, Condition, Store

LEAST_CONFIDENCE = 0.6
MOST_TOLD = 3
MOST_TOLD_TOKENS = 250  # of a hook's answer to a message, an edit or a failed command
MOST_SURVIVING, MOST_SURVIVING_TOKENS = 12, 500
MOST_LINE = 120  # characters of a command or an error
LEAST_PROBABLE = 0.25  # that a fact concerns a message; below, the hook is silent
# Weights of the log-odds: of the share of the message in words that the fact has too, weighted by rarity; of their summed
# rarity, where a word that one fact has weighs 1; of two of them side by side; of all of its subject; and of a rule. Logistic
# regression on the questions of twenty chats and three talks, where a fact of the right event is right. TOOL, for a tool or
# code that both name, is set, not fitted: people in chats hardly name these.
BIAS, OF_MESSAGE, RARITY, BESIDE, SUBJECT, LASTING, TOOL = -4.99, 3.3, 0.6, 0.75, 0.57, 0.82, 2.1
SHORT = 5  # words that ask: in longer messages "day" or "port" is seldom what is asked for
MOST_FACTS = 5_000  # the newest; a hook has no time to search more
MOST_CHARACTERS = 2_000  # of a message; a longer message is mostly a paste
_STEM_LETTERS = 4  # first letters of a stem, which every form of its word has
_COLUMNS = ("valid_to", *Outline._fields)
_PATH = re.compile(r"[\w@.+-]+(?:[\\/][\w@.+-]+)*\.\w+")
_FOLDER = re.compile(r"[\w@.+-]+(?:/[\w@.+-]+)+|[\w@.+-]+/(?![\w@.+-])")
# Code, in marks or by its looks, and the name of a file, in a fact; words of a message
_CODE = re.compile(r"`([\w.+-]+)(?:\(\))?`|(?<![\w-])([\w-]+\w(?:\.[a-z]{1,5}\b|_\w+))|\b(\w*[a-z](?:\d|[A-Z])\w*)")
_WRITTEN = re.compile(r"[\w.+-]*\w")
_LASTING = (FactKind.DECISION, FactKind.FACT)
_KNOWLEDGE = (*_LASTING, FactKind.FIX, FactKind.TODO)


class Brief:
    """Summarises the facts of some databases for hooks."""

    def __init__(
        self,
        stores: Sequence[Store],
        wording: Wording,
        clock: Clock,
        budget_tokens: int,
        count: Callable[[str], int] = estimated_tokens,
    ) -> None:
        """Take the databases, the wording and the budget.

        Args:
            stores: Databases, that of the nearest scope first.
            wording: The language of headings and hints.
            clock: Returns the current time.
            budget_tokens: Most tokens of a result.
            count: Counts the tokens of a text.
        """
        self._stores = tuple(stores)
        self._wording = wording
        self._clock = clock
        self._budget = budget_tokens
        self._count = count

    def opening(self) -> str:
        """Return preferences, latest decisions and open work for a new session."""
        active = told(surest([_standing(store, ALWAYS_ON) for store in self._stores]))
        said = {each.text for each in active}
        known = [each for each in self._known((FactKind.DECISION, FactKind.TODO)) if each.text not in said]
        decided = [each for each in known if each.kind == FactKind.DECISION]
        left = [each for each in known if each.kind == FactKind.TODO]
        w = self._wording
        always = [f"- {with_topic(each.topic, self._preference(each))}" for each in active]
        sections = [(w.preferences, always), (w.knowledge, self._lines(decided)), (w.open_work, self._lines(left))]
        return fitted(sections, self._budget, self._count)

    def answering(self, message: str) -> str:
        """Return the facts that concern a message as Markdown, or ""."""
        lasting = surest([_standing(store, ALWAYS_ON) for store in self._stores])
        lines = self._lines(relevant(message, [*lasting, *self._known(_KNOWLEDGE)]))
        return fitted([(self._wording.knowledge, lines)], min(self._budget, MOST_TOLD_TOKENS), self._count)

    def about(self, paths: Sequence[str]) -> str:
        """Return the facts about files as Markdown, or "".

        `paths` are relative to the repository.
        """
        found = [each for store in self._stores for each in _about(store, paths)]
        return fitted([(self._wording.about.format(path=", ".join(paths)), self._lines(found))],
                      min(self._budget, MOST_TOLD_TOKENS), self._count)  # fmt: skip

    def after_error(self, output: str) -> str:
        """Return the last fix of an error as Markdown, or "".

        `output` is that of the failed command. Facts that state a fix of such an error follow.
        """
        fix = past_fix(self._stores, output)
        said = " ".join(error_lines(output).values())
        lines = [f"- {self._ended(fix)}"] if fix is not None else []
        lines += self._lines(relevant(said, self._known((FactKind.FIX,)))) if said else []
        return fitted([(self._wording.seen_before, lines)], min(self._budget, MOST_TOLD_TOKENS), self._count)

    def surviving(self, session: str) -> str:
        """Return the current facts of a session as Markdown, or ""."""
        found = [each for store in self._stores for each in _said_in(store, session)] if session else []
        newest = by_sentence(sorted(found, key=lambda each: -each.last_at))[:MOST_SURVIVING]
        lines = [f"- {one_line(each.text)}" for each in reversed(newest)]
        return fitted([(self._wording.in_session, lines)], min(self._budget, MOST_SURVIVING_TOKENS), self._count)

    def _ended(self, fix: Episode) -> str:
        """Return an episode as a sentence."""
        w, now = self._wording, self._clock()
        moment = w.at_time.format(date=date_of(w, fix.at, now), time=time_of(w, fix.at))
        command, line = one_line(fix.command, MOST_LINE), one_line(fix.line, MOST_LINE)
        steps = ", ".join(f"`{one_line(each, MOST_LINE)}`" for each in fix.paths[:MOST_TOLD] or fix.commands)
        if fix.paths:
            steps = w.edited.format(paths=steps) + (f" ({one_line(fix.change)})" if fix.change else "")
        said = w.ended.format(moment=moment, command=command, line=line, steps=steps)
        said += w.helped.format(helped=fix.helped, times=fix.times) if fix.times > 1 else ""
        return said + (w.committed.format(title=one_line(fix.commit, MOST_LINE)) if fix.commit else "")

    def _known(self, kinds: Sequence[FactKind]) -> list[Outline]:
        """Return confident facts of all databases, the newest first."""
        held = [_standing(store, kinds) for store in self._stores]
        found = [each for own in held for each in own if each.confidence >= LEAST_CONFIDENCE]
        return sorted(found, key=lambda each: -each.last_at)[:MOST_FACTS]

    def _preference(self, one: Outline) -> str:
        """Return a preference's sentence, with a rival one where disputed."""
        if not one.disputed:
            return one_line(one.text)
        where: list[Condition] = [("key", "=", one.key), ("disputed", "=", 1)]
        rows = [row for store in self._stores for row in store.scan("facts", where, _COLUMNS).unwrap()]
        others = (other for other in (Outline._make(row[1:]) for row in rows) if other.id != one.id)
        w, now = self._wording, self._clock()
        stands = [against(w, one_line(other.text), other.last_at, now) for other in islice(others, 1)]
        return f"{one_line(one.text)} ({'; '.join([hint(w, one.mentions, one.first_at, now), *stands])})"

    def _lines(self, facts: Sequence[Outline]) -> list[str]:
        """Return the sentences of the first facts, each with its age."""
        w, now, chosen = self._wording, self._clock(), by_sentence(facts)[:MOST_TOLD]
        return [f"- {one_line(each.text)} ({hint(w, each.mentions, each.first_at, now)})" for each in chosen]


def _standing(store: Store, kinds: Sequence[FactKind]) -> list[Outline]:
    """Return the current facts of some kinds."""
    return _current(store, [("kind", "in", [str(kind) for kind in kinds])])


def _current(store: Store, where: Sequence[Condition]) -> list[Outline]:
    """Return the current facts of some rows, in current words."""
    parted: list[Condition] = [("valid_to", ">", 0.0), ("kind", "in", [*ALWAYS_ON, *_LASTING])]
    past = {row[0] for row in store.scan("facts", parted, ("text",)).unwrap()}
    facts = [Outline._make(row[1:]) for row in store.scan("facts", where, _COLUMNS).unwrap() if row[0] is None]
    return [each._replace(text=words_of(each, past)) for each in facts]


def _about(store: Store, paths: Sequence[str]) -> list[Outline]:
    """Return the confident facts about files, those of a whole language last."""
    anchored = {row[0] for row in store.scan("anchors", [("path", "in", list(paths))], ("fact",)).unwrap()}
    facts = [each for each in _standing(store, tuple(FactKind)) if each.confidence >= LEAST_CONFIDENCE]
    limited = [each for each in facts if each.place not in ("", "*") and applies(each.place, paths)]
    near = [each for each in facts if each.id in anchored or _names(each.text, paths)]
    near += [each for each in limited if not each.place.startswith("language:")]
    ranked = sorted(dict.fromkeys(near), key=lambda each: (each.kind not in ALWAYS_ON, -each.last_at))
    return list(dict.fromkeys([*ranked, *limited]))


def _names(text: str, paths: Sequence[str]) -> bool:
    """Return whether a text names one of some files.

    A name is a path, the end of one, or a folder above it.

    >>> _names("never edit `src/schema.sql` by hand", ["src/schema.sql"]), _names("see a/util.py", ["b/util.py"])
    (True, False)
    >>> _names("ask Ann before you touch app/billing", ["app/billing/vat.py"]), _names("and/or", ["or/and.py"])
    (True, False)
    """
    text = text.replace("\\", "/")
    files = {match.removeprefix("./") for match in _PATH.findall(text)} if "." in text else ()
    folders = {f"/{match.removeprefix('./').rstrip('/.')}/" for match in _FOLDER.findall(text)} if "/" in text else ()
    whole = [f"/{path}" for path in paths]
    return any(path.endswith(f"/{name}") for name in files for path in whole) or any(
        name in path for name in folders for path in whole
    )


def _said_in(store: Store, session: str) -> list[Outline]:
    """Return the current facts that a session stated."""
    where: list[Condition] = [("session", "=", session), ("role", "in", [Role.USER, Role.NOTE, Role.ASSISTANT])]
    ids = [row[0] for row in store.scan("events", where, ("id",)).unwrap()]
    said = {row[0] for row in store.scan("claims", [("event", "in", ids)], ("digest",)).unwrap()} if ids else ()
    facts = _current(store, [("digest", "in", list(said))]) if said else []
    return [each for each in facts if each.confidence >= LEAST_CONFIDENCE]


def relevant(message: str, facts: Sequence[Outline]) -> list[Outline]:
    """Return the facts that probably concern a message, best first.

    Facts of equal probability keep their order, which is the newest first.
    """
    message = message[:MOST_CHARACTERS]
    said = [term for term in asked_terms(message) if term != "work"]  # "thanks, that works"
    asked = {term: {term, *other_forms(term)} for term in said}
    holding = {fact.id: found for fact in facts if (found := _shared(asked, fact.words))}
    answers = set[str]()
    for words, says in asked_for(message) if len(asked) <= SHORT else ():  # "which day" is answered by a day
        for fact in facts:
            if fact.id in holding and says.search(fact.text):
                holding[fact.id] |= words & asked.keys()
                answers |= {fact.id} if says.search(fact.value) and _shared(asked, fact.subject) else set()
    spread = Counter(term for found in holding.values() for term in found)
    most = math.log(1 + len(facts))
    weights = {term: math.log(1 + len(facts) / (spread[term] or 0.5)) for term in asked}
    total, tools = sum(weights.values()), names_in(message) if holding else frozenset[str]()
    named_code = set(_WRITTEN.findall(message.lower())) if holding else set[str]()
    beside = set(map(frozenset, pairwise(said)))
    lasting = 0.0 if ASKS_PAST.search(message) else LASTING  # what was done is no question of how to do it
    probable = {}
    for fact in (each for each in facts if each.id in holding):
        common = sum(weights[term] for term in holding[fact.id])
        code = {each.lower() for found in _CODE.findall(fact.text) for each in found} & named_code
        named = bool(code) or bool(tools and not tools.isdisjoint(names_in(fact.text)))
        about = set(terms(fact.subject))
        odds = BIAS + OF_MESSAGE * common / total + RARITY * common / most
        odds += SUBJECT * (fact.id in answers or (len(about) > 1 and about <= holding[fact.id])) + TOOL * named
        odds += BESIDE * any(map(beside.__contains__, map(frozenset, pairwise(terms(fact.words)))))
        probable[fact.id] = 1 / (1 + math.exp(-odds - lasting * (fact.kind in ALWAYS_ON)))
    chosen = [fact for fact in facts if probable.get(fact.id, 0.0) >= LEAST_PROBABLE]
    return sorted(chosen, key=lambda fact: -probable[fact.id])


def _shared(asked: Mapping[str, set[str]], text: str) -> set[str]:
    """Return the terms whose forms occur in a text.

    Only a text that holds the first letters of a form is split into terms.
    """
    low = fold(text).lower()
    near = [term for term, forms in asked.items() if any(form[:_STEM_LETTERS] in low for form in forms)]
    held = set(terms(text)) if near else set[str]()
    return {term for term in near if not held.isdisjoint(asked[term])}
