"""Build a session's context: Markdown for an agent, within a token budget.

    ### Active preferences
    - indentation: I prefer tabs

    ### Relevant knowledge
    - We decided on SQLite because nothing else is everywhere (first mention: 5 Oct, 3 times)

Built as Emergence's MemoryContextBuilder specifies: active preferences from the cache, then evidence for the last message,
weighted by freshness and use, with hints on its age. A question about a stretch of time ("what did we discuss last week") gets
a timeline instead. With nothing to show, the result is the empty string. Where the message asks about the past and memory
has nothing, the context says so, to keep the agent from inventing an answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from vademecum.index.tokenize import estimated_tokens
from vademecum.memory.labels import Wording, against, date_of, hint, with_topic
from vademecum.memory.passages import AskedFor, fitted, one_line, passage
from vademecum.memory.preferences import Preferences
from vademecum.memory.question import take_apart
from vademecum.memory.records import Chapter, Evidence, Fact, FactKind, Role
from vademecum.memory.words import ASKS_PAST
from vademecum.protocols import Clock

if TYPE_CHECKING:
    from vademecum.memory.recall import Recall

LEAST_TOLD = 0.1  # probability that the evidence holds the answer; below, none is told. `recall` asks for more
MOST_READ = 15  # events; a later value may stand this far down
_BESIDE = (Role.OUTPUT, Role.EDIT)  # of events whose words are not for reading
DAY_S = 86_400.0
CHAPTER_LINES = 12  # in one chapter of a timeline


@dataclass(frozen=True)
class Ask:
    """A request for a context."""

    message: str
    top_k: int
    budget_tokens: int
    files: Sequence[str] = ()
    user_id: str = ""
    edited: Sequence[str] = ()


class ContextBuilder:
    """Builds contexts from the cached preferences and from recall."""

    def __init__(
        self,
        recall: Recall,
        preferences: Preferences,
        timeline: Callable[[str], list[Chapter] | None],
        clock: Clock,
        wording: Wording,
        count_tokens: Callable[[str], int] | None = None,
    ) -> None:
        """Take the parts a context is built from.

        Args:
            recall: Finds evidence.
            preferences: The cached preferences.
            timeline: Returns chapters if a message asks for a timeline, else None.
            clock: Returns the current time.
            wording: The language of headings and hints.
            count_tokens: Counts the tokens of a text; an estimate unless given.
        """
        self._recall = recall
        self._preferences = preferences
        self._timeline = timeline
        self._clock = clock
        self._wording = wording
        self._count = count_tokens or estimated_tokens

    def build(self, ask: Ask) -> tuple[str, list[str]]:
        """Return the context, and the ids of the facts and events shown."""
        if not ask.message.strip():
            return "", []
        preferences = self._preferences.active(ask.user_id, ask.files, ask.message, ask.edited)
        block = (
            self._wording.preferences,
            [f"- {with_topic(fact.topic, self._preference(fact))}" for fact in preferences],
        )
        chapters = self._timeline(ask.message)
        if chapters is not None:
            section, shown = self._chapters(chapters), list[str]()
        else:
            lines, shown = self._knowledge(ask, {one_line(fact.text) for fact in preferences})
            if not lines and ASKS_PAST.search(ask.message):
                lines = [self._wording.nothing]
            section = self._wording.knowledge, lines
        text = fitted([block, section], ask.budget_tokens, self._count)
        return text, [fact.id for fact in preferences] + shown

    def _knowledge(self, ask: Ask, told: set[str]) -> tuple[list[str], list[str]]:
        """Return evidence for a message as lines, best first, and its ids.

        Sentences that are `told` already are left out.
        """
        from vademecum.memory.recall import Filters

        found = self._recall.recall(ask.message, k=MOST_READ, filters=Filters())
        if found.probability < LEAST_TOLD:
            return [], []
        now, asked = self._clock(), AskedFor(ask.message, found.weights)
        lines: dict[str, tuple[str, str]] = {}
        for item in self._ordered(ask.message, found.evidence, now):
            words = passage(item.event.text, asked)
            for id_, line in self._lines(item, words, now):
                if words not in told:
                    lines.setdefault(line.partition(" (")[0], (id_, line))
            if len(lines) >= ask.top_k:
                break
        chosen = list(lines.values())[: ask.top_k]
        return [line for _, line in chosen], [id_ for id_, _ in chosen]

    def _ordered(self, message: str, evidence: Sequence[Evidence], now: float) -> list[Evidence]:
        """Return the evidence worth showing.

        Where the message asks how things stand, freshness and use raise what is about as relevant.
        """
        near = [item.event.id for item in evidence]
        held = {id_ for scope in self._recall.scopes for id_ in scope.ledger.held(near)}
        items = [item for item in evidence if item.event.role not in _BESIDE and item.event.id not in held]
        question = take_apart(message, datetime.fromtimestamp(now).astimezone())
        if not (question.asks_now or question.asks_lately):
            return items
        ids = {item.event.id: [item.event.id, *(fact.id for fact in item.facts)] for item in items}
        each = [id_ for some in ids.values() for id_ in some]
        uses = {id_: n for scope in self._recall.scopes for id_, n in scope.ledger.uses(each).items()}
        used = {id_: max(uses.get(one, 0) for one in some) for id_, some in ids.items()}
        raised = sorted(items, key=lambda i: -boosted(i.score, now - i.event.at, used[i.event.id]))
        return _newest_first(raised)

    def _lines(self, item: Evidence, words: str, now: float) -> Iterator[tuple[str, str]]:
        """Yield (id, line) for ended facts, then for the passage shown."""
        others = (*item.now, *item.against)
        ended = [fact for fact in item.facts if fact.valid_to is not None and any(o.key == fact.key for o in item.now)]
        for fact in ended:
            yield fact.id, f"- {self.fact_line(fact, others, now)}"
        if ended and any(_is_one(fact.text, words) for fact in ended):
            return
        stated = next((each for each in item.facts if _is_one(each.text, words)), None)
        if stated is not None:
            yield stated.id, f"- {self.fact_line(stated, others, now)}"
        else:
            yield item.event.id, f"- {words} ({hint(self._wording, 1, item.event.at, now)})"

    def _preference(self, fact: Fact) -> str:
        """Return a preference's sentence, with a rival one where disputed."""
        if not fact.disputed:
            return one_line(fact.text)
        said = (each for scope in self._recall.scopes for each in scope.ledger.history(fact.key))
        rivals = [each for each in said if each.disputed and each.id != fact.id]
        return self.fact_line(fact, rivals, self._clock())

    def fact_line(self, fact: Fact, others: Sequence[Fact], now: float) -> str:
        """Return a fact with its age, and with its successor or rival.

        A superseded fact reads `now X; was Y until D`.
        """
        if fact.valid_to is not None:
            new = next((each for each in others if each.key == fact.key), None)
            date = date_of(self._wording, fact.valid_to, now)
            if new is not None and fact.kind is FactKind.TODO:  # it is done, as this sentence says
                return f"{one_line(new.text)} ({hint(self._wording, 1, new.last_at, now)})"
            if new is not None:
                changed = self._wording.was_until.format(now=one_line(new.value), was=one_line(fact.value), date=date)
                return f"{fact.topic}: {changed}"
        said = hint(self._wording, fact.mentions, fact.first_at, now)
        rival = next((each for each in others if fact.disputed and each.key == fact.key), None)
        if rival is not None:
            said += f"; {against(self._wording, one_line(rival.text), rival.last_at, now)}"
        return f"{one_line(fact.text)} ({said})"

    def _chapters(self, chapters: Sequence[Chapter]) -> tuple[str, list[str]]:
        w, now = self._wording, self._clock()
        lines: list[str] = []
        for chapter in chapters:
            if not chapter.events:
                name = w.chapters.get(chapter.name, chapter.name)
                lines.append(w.nothing_then.format(period=name[:1].lower() + name[1:]))
                continue
            lines.append(f"- {w.chapters.get(chapter.name, chapter.name)}")
            lines += [f"  - {one_line(digest)}" for digest in chapter.digests]
            shown = chapter.events[-CHAPTER_LINES:]
            lines += [f"  - {one_line(e.text, 120)} ({hint(w, 1, e.at, now)})" for e in reversed(shown)]
            if len(chapter.events) > len(shown):
                lines.append(f"  - {w.earlier.format(count=len(chapter.events) - len(shown))}")
        return w.timeline, lines


def boosted(score: float, age_s: float, uses: int) -> float:
    """Return a score, raised by freshness and use.

    At most 1.56 times the score. These boosts hurt questions about the past and do not tell an update from what it replaced, so they order the context alone.

    >>> [round(boosted(1, days * DAY_S, uses), 2) for days, uses in ((6.9, 0), (7, 0), (29, 0), (30, 0), (30, 5), (30, 99))]
    [1.3, 1.15, 1.15, 1.0, 1.1, 1.2]
    """
    days = age_s / DAY_S
    return score * (1.3 if days < 7 else 1.15 if days < 30 else 1.0) * (1 + min(0.2, uses * 0.02))


def _is_one(sentence: str, words: str) -> bool:
    """Return whether a passage is a sentence and nothing else."""
    return " ".join(sentence.split()).strip(" .!…") == words.strip(" .!…")


def _newest_first(items: list[Evidence]) -> list[Evidence]:
    """Return evidence with the later of two values before the earlier again."""
    places = {item.event.id: place for place, item in enumerate(items)}
    ordered = list(items)
    for item in items:
        later = places.get(item.superseded_by)
        if later is not None and later > places[item.event.id]:
            ordered.remove(items[later])
            ordered.insert(ordered.index(item), items[later])
    return ordered
