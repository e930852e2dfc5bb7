"""Facade of memory: `engine.memory`, over a repository's scope and the global one."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any

from vademecum.errors import ConfigError, StoreError, UsageError
from vademecum.memory.anchors import Anchoring, LookUp, no_code
from vademecum.memory.consolidate import Consolidated, consolidate, hold_back, is_our_turn
from vademecum.memory.context import Ask, ContextBuilder
from vademecum.memory.corrections import Corrections
from vademecum.memory.event_segment import Reader
from vademecum.memory.labels import LANGUAGES
from vademecum.memory.learn import MOST_EVENTS, Learned, learn
from vademecum.memory.ledger import Scope, topics_of
from vademecum.memory.portable import Edits, Imported, Page, edits_of, exported, imported, written
from vademecum.memory.preferences import Preferences
from vademecum.memory.question import asks_for_timeline
from vademecum.memory.recall import Filters, Recall
from vademecum.memory.record import Extract, Recording, record_all, without_secrets
from vademecum.memory.records import Chapter, Event, Fact, FactKind, Recalled, Recorded, Role, event_id, member_of
from vademecum.memory.scoring import By
from vademecum.memory.segment_store import Sharing
from vademecum.memory.sync import Outside, Synced, sync
from vademecum.memory.timeline import chapters
from vademecum.memory.when import find_time, time_named
from vademecum.protocols import Clock, Embedder

CONTEXT_TOKENS = 800
MAX_EVENTS = 500_000
FILES_IN_HAND = 5  # edited last
MOST_UNWRITTEN = 500  # shown items whose count is still unwritten; writing waits for the disk


class Memory(Corrections):
    """Records events, recalls them as evidence, and keeps facts up to date.

    Args:
        scopes: The repository's scope, then the global one; outside a repository the global one alone.
        embedder: Returns the embedder; called on first use.
        extract: Reads statements in a text.
        look_up: Finds the definitions of names in the code, see `anchors.LookUp`.
        clock: Returns the current time.
        language: The language of headings and hints, a key of `wording.LANGUAGES`.
        count_tokens: Counts the tokens of a text; an estimate unless given.
        outside: The places of transcripts, the source of commits and the optional extractor; nothing unless given.
        sharing: Shares array layouts with other engines of this process; none unless given.
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
        super().__init__(scopes, Anchoring(look_up), extract, clock)
        self._outside = outside or Outside()
        self._reader: Reader | None = None
        self._embedder = embedder
        self._recall = Recall(scopes, self._reads, clock, sharing)
        self._preferences = Preferences(scopes, clock, lambda: self._reads().embedder)
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
        """Record an event without its secrets, and the facts it states.

        Args:
            text: The words.
            role: The source, a value of `Role`.
            session: The session it belongs to.
            speaker: The speaker's name, if known.
            at: The time, in seconds since the epoch; now unless given.
            metadata: Any JSON values; plain values can be filtered by.
            everywhere: Record into the global memory instead of the repository's.

        Raises:
            UsageError: the text is empty, or there is no such role.
            StoreError: it could not be written; nothing was kept.
        """
        if not text.strip():
            raise UsageError("there is nothing to record: give some text")
        kind, when = member_of(Role, role, "role"), self._clock() if at is None else at
        event = Event(event_id(session, kind, text, when), when, kind, text, session, self._chosen(everywhere=everywhere).repo,
                      speaker, dict(metadata or {}))  # fmt: skip
        return self.record_all([event], everywhere=everywhere)

    def record_all(self, events: Iterable[Event], *, everywhere: bool = False) -> Recorded:
        """Record many events, without those already known.

        Raises `StoreError`; the events recorded before the error are kept.
        """
        scope = self._chosen(everywhere=everywhere)
        return record_all(events, Recording(scope, self._scopes[-1], self._extract, self._anchoring), self._clock)

    def get(self, id_: str) -> Event:
        """Return an event by its id. Raises `UsageError` for an unknown id."""
        return self._held(id_)[1]

    def patch(self, id_: str, changes: Mapping[str, Any]) -> Event:
        """Change an event's metadata; None removes a key. Raises `UsageError`, `StoreError`."""
        return self._held(id_)[0].journal.patch(id_, without_secrets(changes))

    def events(
        self,
        *,
        since: float = 0.0,
        until: float = float("inf"),
        session: str = "",
        roles: Sequence[str] = (),
        metadata: Mapping[str, Any] | None = None,
    ) -> list[Event]:
        """Return the events from `since` to before `until`, in order of time.

        The filters are those of `recall`. Raises `UsageError`.
        """
        chosen = {member_of(Role, role, "role") for role in roles}
        found = [event for scope in self._scopes for event in scope.journal.between(since, until, session, metadata)]
        return sorted((event for event in found if not chosen or event.role in chosen), key=lambda event: event.at)

    def sync(self, sources: Collection[str] = (), told: Callable[[str, int], None] | None = None) -> Synced:
        """Record new transcripts and commits that concern the repository.

        Args:
            sources: Some of `sync.SOURCES`; all if empty.
            told: Called with each source and the number of its new events.

        Raises:
            UsageError: there is no such source.
            StoreError: the database cannot be written; the events recorded before are kept.
        """
        store, outside, told = self._scopes[0].store, self._outside, told or (lambda *_: None)
        done = sync(outside, self.record_all, store, self._clock, sources=sources, told=told)
        if not sources and hold_back(self._scopes, self._clock()):  # a note is judged once, when all texts are here
            self.invalidate_preferences_cache()
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
        """Return the best evidence for a question, with facts and a verdict.

        Args:
            question: The question in words.
            k: Most pieces of evidence.
            roles: Only events of these roles.
            session: Only events of this session.
            when: Only events of this time, in words: "last week".
            since: Only events from this time on, in seconds since the epoch.
            until: Only events before this time.
            metadata: Only events whose metadata has all these values.
            as_of: Answer as if it were this time.
            by: "words", "meaning" (exact search over all vectors), or "both".
            vector: A vector of the current embedder to search by instead of words; the question may be empty then.

        Raises:
            UsageError: the question is empty, `k` is below 1, `when` names no time, or the vector has another length.
            StoreError, EmbedError: memory cannot be read.
        """
        if not question.strip() and vector is None:
            raise UsageError("the question is empty: say what to recall")
        if k < 1:
            raise UsageError(f"k is {k}: ask for at least 1")
        if when:
            since, until = self.period(when)
        chosen = tuple(member_of(Role, role, "role") for role in roles)
        filters = Filters(chosen, session, since, until, metadata or {}, as_of)
        kind = member_of(By, by, "search by") if vector is None else By.MEANING
        found = self._recall.recall(question, k=k, filters=filters, by=kind, vector=vector, standing=True)
        self._count([item.event.id for item in found.evidence])
        return self._anchoring.anchored(self._scopes, found)

    def moment(self, words: str) -> float:
        """Return the end of a time in words, at most now.

        Raises `UsageError`.
        """
        return min(self.period(words)[1], self._clock())

    def period(self, words: str) -> tuple[float, float]:
        """Return a time in words as a half-open period. Raises `UsageError`.

        Both ends are in seconds since the epoch.
        """
        period = time_named(words, self._now())
        if period is None:
            raise UsageError(f"{words!r} names no time: write it as `last week`, `since Monday` or `2025-10-05`")
        return period.seconds

    def sessions(self, question: str, *, k: int = 5) -> list[tuple[str, str, float]]:
        """Return (scope, session, score) of the best sessions for a question."""
        return self._recall.sessions(question, k=k, filters=Filters())

    def preferences(self, files: Sequence[str] = ()) -> list[Fact]:
        """Return the most confident current preferences and instructions, at most five.

        `files` are the paths that are open.
        """
        return self._preferences.active("", files)

    def invalidate_preferences_cache(self, user_id: str = "") -> None:
        """Drop the cached preferences of a user, "" for all users.

        Writes through this object do so by themselves.
        """
        self._preferences.invalidate(user_id)

    def build_memory_context(
        self,
        session_id: str,
        last_user_message: str,
        top_k: int = 5,
        *,
        budget_tokens: int = CONTEXT_TOKENS,
        files: Sequence[str] = (),
        user_id: str = "",
    ) -> str:
        """Return the context for a message as Markdown, "" for none.

        Args:
            session_id: The current session; preferences limited to the files it edited last count as near.
            last_user_message: The latest message of the user.
            top_k: Most pieces of knowledge.
            budget_tokens: Most tokens of the result.
            files: Open paths, which preferences may be limited to.
            user_id: The name of the speaker whose preferences are told; "" for all.

        Raises:
            StoreError, EmbedError: memory cannot be read.
        """
        ask = Ask(last_user_message, top_k, budget_tokens, files, user_id, self._edited(session_id))
        text, shown = self._context.build(ask)
        self._count(shown)
        return text

    def _edited(self, session: str) -> list[str]:
        """Return the paths that a session edited last, relative to the repository."""
        found = [path for scope in self._scopes for path in scope.journal.edited(session)] if session else []
        return list(dict.fromkeys(found))[:FILES_IN_HAND]

    def warm_up(self) -> None:
        """Load preferences, arrays and the embedder before the first question."""
        self._preferences.active()
        self._recall.view().lay_out()

    def timeline(self, when: str = "", *, session: str = "") -> list[Chapter]:
        """Return events by chapters, the latest first.

        Raises `UsageError` where `when` names no time.
        """
        since, until = self.period(when) if when else (0.0, float("inf"))
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
        """Return current facts, facts at `as_of`, or with `past` all facts."""
        chosen = [member_of(FactKind, kind, "kind of fact") for kind in kinds]
        return [f for scope in self._scopes for f in scope.ledger.facts(chosen, standing=not past, as_of=as_of)]

    def export(self, *, everywhere: bool = False) -> Iterator[str]:
        """Yield a scope as JSON lines with full provenance. Raises `StoreError`.

        The scope is the repository's, or with `everywhere` the global one.
        """
        return exported(self._chosen(everywhere=everywhere))

    def import_lines(self, lines: Iterable[str], *, everywhere: bool = False) -> Imported:
        """Import the output of `export`, or an archive.

        Known events stay as they are. Raises `UsageError`, `StoreError`.
        """
        done = imported(lines, self._chosen(everywhere=everywhere), self._clock())
        self.invalidate_preferences_cache()
        return done

    def page(self, before: str = "", name: str = "", *, everywhere: bool = False) -> Page:
        """Read an edited page back, and return the current one as Markdown.

        Args:
            before: The page as it is in its file now, "" for none.
            name: The file's path; "" for a page that is not read back.
            everywhere: Of the global memory instead of the repository's.

        Raises:
            UsageError: `before` is not the page that was written last to this file.
            StoreError: memory cannot be read or written; the edits made before stand.
        """
        scope, edits = self._chosen(everywhere=everywhere), Edits({})
        if before.strip():
            edits = edits_of(before, scope, name)
            self._apply(scope, edits)
        text, facts = written(scope, self._wording, self._clock(), name)
        return Page(text, facts, edits)

    def consolidate(self, max_events: int = MAX_EVENTS, *, when_due: bool = False) -> list[Consolidated]:
        """Merge duplicates, digest sessions and archive old events, scope by scope.

        Facts learned before an index existed are anchored to code.

        Args:
            max_events: Events that may stay in a scope's database.
            when_due: Skip scopes that were consolidated within a day.

        Raises:
            StoreError: a database cannot be written.
        """
        now = self._clock()
        chosen = [scope for scope in self._scopes if not when_due or is_our_turn(scope, now)]
        for scope in chosen:
            self._anchoring.catch_up(scope)
        return [consolidate(scope, now, max_events) for scope in chosen]

    def learn(self, most: int = MOST_EVENTS) -> list[Learned]:
        """Let the configured extractor read new events, scope by scope.

        At most `most` events of each scope are read. Raises `UsageError` where no extractor is set, `ConsentError` where it would
        send text elsewhere without consent, `StoreError`.
        """
        extractor = self._outside.extractor()
        if extractor is None:
            said = "memory.extractor is 'rules': set it to llm:MODEL in your user file to have a model read too"
            raise UsageError(said)
        return [learn(scope, extractor, self._clock, most) for scope in self._scopes]

    def close(self) -> None:
        """Write the counts of shown items. The caller closes the stores."""
        self._flush()

    @property
    def scopes(self) -> tuple[Scope, ...]:
        """The scopes, the nearest first."""
        return self._scopes

    def _changed(self) -> None:
        self.invalidate_preferences_cache()

    def _chosen(self, *, everywhere: bool) -> Scope:
        return self._scopes[-1] if everywhere else self._scopes[0]

    def _reads(self) -> Reader:
        if self._reader is None:
            ledgers = [scope.ledger for scope in self._scopes]
            self._reader = Reader(self._embedder(), lambda events: topics_of(ledgers, events))
        return self._reader

    def _now(self) -> datetime:
        return datetime.fromtimestamp(self._clock()).astimezone()

    def _count(self, items: Sequence[str]) -> None:
        """Count shown items, and write the counts now and then.

        A lost count does no harm, but a question must not wait for the disk.
        """
        for item in items:
            self._shown[item] = self._shown.get(item, 0) + 1
        if len(self._shown) >= MOST_UNWRITTEN:
            self._flush()

    def _flush(self) -> None:
        if self._shown:
            with suppress(StoreError):
                self._scopes[0].ledger.count_uses(self._shown)
        self._shown = {}
