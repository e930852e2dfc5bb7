"""The capability as one object: what `engine.memory` offers, over a repository's memory and the one for everything."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from typing import Any

from vademecum.errors import ConfigError, StoreError, UnknownError, UsageError
from vademecum.memory.anchors import Anchoring, LookUp, no_code
from vademecum.memory.consolidate import Consolidated, consolidate, is_our_turn
from vademecum.memory.context import Ask, ContextBuilder
from vademecum.memory.corrections import Corrections, Why
from vademecum.memory.facts import CONFIRMED, REJECTED
from vademecum.memory.later import read_on
from vademecum.memory.learn import MOST_EVENTS, Learned, learn
from vademecum.memory.portable import Imported, exported, imported, markdown
from vademecum.memory.preferences import Preferences
from vademecum.memory.recall import Filters, Recall
from vademecum.memory.record import Extract, Recording, record_all, without_secrets
from vademecum.memory.records import Chapter, Event, Fact, Note, Recalled, Recorded, event_id, kind_of, role_of
from vademecum.memory.scope import Scope
from vademecum.memory.scoring import By, by_of
from vademecum.memory.segment import Reader
from vademecum.memory.shared_view import Sharing
from vademecum.memory.sync import Outside, Synced, sync
from vademecum.memory.timeline import asks_for_timeline, chapters
from vademecum.memory.topics import topics_of
from vademecum.memory.when import find_time, time_named
from vademecum.memory.wording import LANGUAGES
from vademecum.protocols import Clock, Embedder

CONTEXT_TOKENS = 800
MAX_EVENTS = 500_000
MOST_UNWRITTEN = 500  # items shown whose count is not written down yet: writing waits for the disk


class Memory:
    """What was done, decided and preferred: recorded, recalled with evidence, and kept true.

    Args:
        scopes: the repository's scope, then the global one; the global one alone outside of repositories.
        embedder: returns what turns text into vectors; called when first needed.
        extract: reads statements in a text.
        look_up: where names are defined in the code, see `anchors.LookUp`.
        clock: tells the time.
        language: of headings and hints, a key of `wording.LANGUAGES`.
        count_tokens: how long a text is for an agent; an estimate unless given.
        outside: where transcripts lie, what tells of commits and what reads beside the rules; nothing unless given.
        sharing: keeps what events are laid out as for other engines of this process too; this one alone unless given.
    """

    def __init__(  # noqa: PLR0913 - what it is put together from, each by its name
        self,
        scopes: Sequence[Scope],
        embedder: Callable[[], Embedder],
        extract: Extract,
        clock: Clock,
        *,
        look_up: LookUp = no_code,
        language: str = "en",
        count_tokens: Callable[[str], int] | None = None,
        outside: Outside | None = None,
        sharing: Sharing | None = None,
    ) -> None:
        self._scopes = tuple(scopes)
        self._outside = outside or Outside()
        self._clock = clock
        self._extract = extract
        self._anchoring = Anchoring(look_up)
        self._reader: Reader | None = None
        self._embedder = embedder
        self._recall = Recall(scopes, self._reads, clock, sharing)
        self._preferences = Preferences(scopes, clock)
        self._corrections = Corrections(scopes, self._anchoring, extract, clock, self.invalidate_preferences_cache)
        self._shown: dict[str, int] = {}
        if language not in LANGUAGES:
            raise ConfigError(f"memory.language = {language!r} is not spoken here: there are {', '.join(LANGUAGES)}")
        self._wording = LANGUAGES[language]
        self._context = ContextBuilder(
            self._recall, self._preferences, self._asked_timeline, clock, self._wording, count_tokens
        )

    def record(
        self,
        text: str,
        *,
        role: str = "note",
        session: str = "",
        speaker: str = "",
        at: float | None = None,
        metadata: Mapping[str, Any] | None = None,
        everywhere: bool = False,
    ) -> Recorded:
        """Keep something that happened or was said, without its secrets, and the facts that it states.

        Args:
            text: the words.
            role: who or what says it, a value of `Role`.
            session: what it belongs to.
            speaker: a name, where one is known.
            at: when, in seconds since the epoch; now unless given.
            metadata: what JSON can hold; its plain values can be filtered by.
            everywhere: into the global memory instead of the repository's.

        Raises:
            UsageError: the text is empty, or there is no such role.
            StoreError: it could not be written; nothing was kept.
        """
        if not text.strip():
            raise UsageError("there is nothing to record: give some text")
        kind, when = role_of(role), self._clock() if at is None else at
        event = Event(event_id(session, kind, text, when), when, kind, text, session, self._chosen(everywhere=everywhere).repo,
                      speaker, dict(metadata or {}))  # fmt: skip
        return self.record_all([event], everywhere=everywhere)

    def record_all(self, events: Iterable[Event], *, everywhere: bool = False) -> Recorded:
        """Keep many events, those already known left as they are. Raises `StoreError`; what was kept before it stays kept."""
        return record_all(events, self._into(self._chosen(everywhere=everywhere)), self._clock)

    def get(self, id_: str) -> Event:
        """Return an event. Raises `UsageError` where there is none of this id."""
        for scope in self._scopes:
            if found := scope.journal.get([id_]):
                return found[0]
        raise UnknownError(f"there is no event {id_!r}: `vade memory recall` shows ids")

    def patch(self, id_: str, changes: Mapping[str, Any]) -> Event:
        """Change an event's metadata; None takes a key away. Raises `UsageError`, `StoreError`."""
        return self._corrections.holder(id_).journal.patch(id_, without_secrets(changes))

    def delete(self, id_: str) -> None:
        """Delete an event and what it says, for good: reading its source again does not bring it back.

        Raises `UsageError`, `StoreError`.
        """
        self._corrections.delete(id_)

    def events(
        self,
        *,
        since: float = 0.0,
        until: float = float("inf"),
        session: str = "",
        roles: Sequence[str] = (),
        metadata: Mapping[str, Any] | None = None,
    ) -> list[Event]:
        """Return events of a stretch of time, half-open, in order of time; filters as for `recall`. Raises `UsageError`."""
        chosen = set(map(role_of, roles))
        found = [event for scope in self._scopes for event in scope.journal.between(since, until, session, metadata)]
        return sorted((event for event in found if not chosen or event.role in chosen), key=lambda event: event.at)

    def sync(self, sources: Collection[str] = (), told: Callable[[str, int], None] | None = None) -> Synced:
        """Record what agents wrote on this machine and what commits say, as far as it is new and about the repository.

        `sources` are some of `sync.SOURCES`, none for each; `told` hears of a source and its new events. Raises
        `UsageError` for an unknown source and `StoreError`; what was recorded before it stays recorded.
        """
        store, outside, told = self._scopes[0].store, self._outside, told or (lambda *_: None)
        done = sync(outside, self.record_all, store, self._clock, sources=sources, told=told)
        done.read_on = read_on(self._into(self._scopes[0]), self._clock())
        return done

    def recall(  # noqa: PLR0913 - the filters people type, each by its name
        self,
        question: str,
        *,
        k: int = 10,
        roles: Sequence[str] = (),
        session: str = "",
        when: str = "",
        since: float | None = None,
        until: float | None = None,
        metadata: Mapping[str, Any] | None = None,
        as_of: float | None = None,
        by: str = By.BOTH,
        vector: Sequence[float] | None = None,
    ) -> Recalled:
        """Return the events that answer a question best, what they state, and whether memory holds an answer at all.

        Args:
            question: in words.
            k: at most how many pieces of evidence.
            roles: only events of these.
            session: only events of this session.
            when: only events of this time, in words: "last week".
            since: only events from then on, seconds since the epoch.
            until: only events before.
            metadata: only events whose metadata has all these values.
            as_of: answer as if it were then.
            by: "words", "meaning", exactly over every vector, or "both".
            vector: of the embedder in use, asked by in place of words; the question may be empty then.

        Raises:
            UsageError: the question is empty, `k` is below 1, `when` names no time, or the vector has another length.
            StoreError, EmbedError: memory cannot be read.
        """
        if not question.strip() and vector is None:
            raise UsageError("the question is empty: say what to recall")
        if k < 1:
            raise UsageError(f"k is {k}: ask for at least 1")
        if when:
            since, until = self._range(when)
        filters = Filters(tuple(map(role_of, roles)), session, since, until, metadata or {}, as_of)
        kind = by_of(by) if vector is None else By.MEANING
        found = self._recall.recall(question, k=k, filters=filters, by=kind, vector=vector, standing=True)
        self._count([item.event.id for item in found.evidence])
        return self._anchoring.anchored(self._scopes, found)

    def moment(self, words: str) -> float:
        """Return the end of a time in words, or now where that is still to come. Raises `UsageError`."""
        return min(self._range(words)[1], self._clock())

    def period(self, words: str) -> tuple[float, float]:
        """Return a time in words as seconds since the epoch, half-open. Raises `UsageError`."""
        return self._range(words)

    def sessions(self, question: str, *, k: int = 5) -> list[tuple[str, str, float]]:
        """Return (scope, session, score) of the sessions that answer a question best."""
        return self._recall.sessions(question, k=k, filters=Filters())

    def about(self, symbols: Mapping[str, str]) -> list[Note]:
        """Return the facts that hold and are about symbols of the code.

        Args:
            symbols: qualified name → the symbol shown that calls it, or "" where it is shown itself.
        """
        return [note for scope in self._scopes for note in self._anchoring.about(scope, symbols)]

    def preferences(self, files: Sequence[str] = ()) -> list[Fact]:
        """Return the surest preferences and instructions that hold, at most five; `files` are the paths that are open."""
        return self._preferences.active("", files)

    def invalidate_preferences_cache(self, user_id: str = "") -> None:
        """Drop what is cached of a user's preferences, "" for all; writes through this object do it by themselves."""
        self._preferences.invalidate(user_id)

    def build_memory_context(
        self,
        session_id: str,  # noqa: ARG002 -- the name Emergence gave it; a session's own events are found like all others
        last_user_message: str,
        top_k: int = 5,
        *,
        budget_tokens: int = CONTEXT_TOKENS,
        files: Sequence[str] = (),
    ) -> str:
        """Return what to know before answering a message, as Markdown; "" where there is nothing.

        Args:
            session_id: the session that is open.
            last_user_message: what was asked last.
            top_k: at most how many pieces of knowledge.
            budget_tokens: never more than so many tokens.
            files: paths that are open, which preferences may be limited to.
        """
        text, shown = self._context.build(Ask(last_user_message, top_k, budget_tokens, files))
        self._count(shown)
        return text

    def warm_up(self) -> None:
        """Load what the first question would wait for: preferences, arrays, the embedder."""
        self._preferences.active()
        self._recall.view().lay_out()

    def timeline(self, when: str = "", *, session: str = "") -> list[Chapter]:
        """Return what was said and committed, by chapters, the latest first. Raises `UsageError` where `when` names no time."""
        since, until = self._range(when) if when else (0.0, float("inf"))
        return self._chapters(since, until, session)

    def _asked_timeline(self, message: str) -> list[Chapter] | None:
        if not asks_for_timeline(message):
            return None
        mention = find_time(message, self._now())
        since, until = mention.period.seconds if mention else (0.0, float("inf"))
        found = self._chapters(since, until, "")
        return found or [Chapter(message[mention.start : mention.end] if mention else "all", since, until, ())]

    def _chapters(self, since: float, until: float, session: str) -> list[Chapter]:
        told = [text for scope in self._scopes for text in scope.journal.digests(since, until, session)]
        return chapters(self.events(since=since, until=until, session=session), told, self._clock())

    def facts(self, *, kinds: Sequence[str] = (), as_of: float | None = None, past: bool = False) -> list[Fact]:
        """Return facts: those that hold, those that held at `as_of`, or with `past` all there ever were."""
        chosen = [kind_of(kind) for kind in kinds]
        return [f for scope in self._scopes for f in scope.ledger.facts(chosen, standing=not past, as_of=as_of)]

    def why(self, id_: str) -> Why:
        """Return where a fact comes from, and its history. Raises `UsageError` where there is none of this id."""
        return self._corrections.why(id_)

    def confirm(self, id_: str) -> Fact:
        """Say that a fact holds: it is certain from now on, and decides what contradicts it. Raises `UsageError`."""
        return self._corrections.mark(id_, CONFIRMED)

    def reject(self, id_: str) -> Fact:
        """Say that a fact does not hold: it is shown no more, not learned again, until it is restored. Raises `UsageError`."""
        return self._corrections.mark(id_, REJECTED)

    def rejected(self) -> list[Fact]:
        """Return the facts that were rejected, as they would stand otherwise, oldest first."""
        return [fact for scope in self._scopes for fact in scope.ledger.rejected()]

    def restore(self, id_: str) -> Fact:
        """Take a rejection back: the fact stands as what was said makes it. Raises `UsageError`, `StoreError`."""
        return self._corrections.restore(id_)

    def forget(self, id_: str) -> int:
        """Forget a fact or an event for good, with the words that said it; returns how many events lost words.

        Reading the same transcript again does not bring it back. Raises `UsageError`, `StoreError`.
        """
        return self._corrections.forget(id_)

    def edit(self, id_: str, text: str) -> Fact:
        """Put a fact in other words from now on; what it was stays its past. Raises `UsageError`, `StoreError`."""
        return self._corrections.edit(id_, text)

    def export(self, *, everywhere: bool = False) -> Iterator[str]:
        """Yield a scope as JSON lines, with all provenance; the repository's, or the global one. Raises `StoreError`."""
        read_on(self._into(scope := self._chosen(everywhere=everywhere)), self._clock())
        return exported(scope)

    def import_lines(self, lines: Iterable[str], *, everywhere: bool = False) -> Imported:
        """Read what `export` wrote, or an archive; what is known stays as it is. Raises `UsageError`, `StoreError`."""
        done = imported(lines, self._chosen(everywhere=everywhere), self._clock())
        self.invalidate_preferences_cache()
        return done

    def markdown(self, *, everywhere: bool = False) -> str:
        """Return the facts that hold as a page to read and review."""
        return markdown(self._chosen(everywhere=everywhere), self._wording, self._clock())

    def consolidate(self, max_events: int = MAX_EVENTS, *, when_due: bool = False) -> list[Consolidated]:
        """Merge what says the same, tell sessions in a few lines, archive the oldest beyond a number; by scope.

        Facts learned before there was an index are tied to code. With `when_due` only of scopes where that was not done for a day. Raises `StoreError`.
        """
        now = self._clock()
        chosen = [scope for scope in self._scopes if not when_due or is_our_turn(scope, now)]
        for scope in chosen:
            self._anchoring.catch_up(scope)
        read = [read_on(self._into(scope), now) for scope in chosen]
        return [replace(consolidate(s, now, max_events), read_on=n) for s, n in zip(chosen, read, strict=True)]

    def learn(self, most: int = MOST_EVENTS) -> list[Learned]:
        """Have the extractor that is set read events it has not seen, at most so many in each scope; by scope.

        Raises `UsageError` where none is set, `ConsentError` where it sends text elsewhere unasked, `StoreError`.
        """
        extractor = self._outside.extractor()
        if extractor is None:
            said = "memory.extractor is 'rules': set it to llm:MODEL in your user file to have a model read too"
            raise UsageError(said)
        return [learn(scope, extractor, self._clock, most) for scope in self._scopes]

    def close(self) -> None:
        """Write down what was counted. The stores belong to whoever opened them."""
        self._flush()

    @property
    def scopes(self) -> tuple[Scope, ...]:
        """The scopes, the nearest first."""
        return self._scopes

    def _into(self, scope: Scope) -> Recording:
        return Recording(scope, self._scopes[-1], self._extract, self._anchoring)

    def _chosen(self, *, everywhere: bool) -> Scope:
        return self._scopes[-1] if everywhere else self._scopes[0]

    def _reads(self) -> Reader:
        if self._reader is None:
            ledgers = [scope.ledger for scope in self._scopes]
            self._reader = Reader(self._embedder(), lambda events: topics_of(ledgers, events))
        return self._reader

    def _now(self) -> datetime:
        return datetime.fromtimestamp(self._clock()).astimezone()

    def _range(self, when: str) -> tuple[float, float]:
        period = time_named(when, self._now())
        if period is None:
            raise UsageError(f"{when!r} names no time: write it as `last week`, `since Monday` or `2025-10-05`")
        return period.seconds

    def _count(self, items: Sequence[str]) -> None:
        """Count what was shown; written down now and then, since a count may be lost and a question may not wait."""
        for item in items:
            self._shown[item] = self._shown.get(item, 0) + 1
        if len(self._shown) >= MOST_UNWRITTEN:
            self._flush()

    def _flush(self) -> None:
        if self._shown:
            with suppress(StoreError):
                self._scopes[0].ledger.count_uses(self._shown)
        self._shown = {}
