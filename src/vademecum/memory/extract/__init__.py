"""Extract lasting statements from a message with rules, without a language model.

    prose_of        blank out code, quotations and pasted output
    read_of         split into sentences; a very long message is read at both ends
    rules           try a language's rules; the first that applies to a clause wins
    subject         name the subject, so that a later statement can replace this one
    where           find the files or the language a statement is limited to

    "From now on use pnpm, not npm."    instruction · package manager · javascript · pnpm · 0.9

Rules match forms of speech, never subjects. A form sets the confidence. Hedges ("maybe", "for now") lower it, and so does
the speaker: preferences of an assistant are ignored.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from vademecum.memory.choices import Subject, is_known, up_to_another
from vademecum.memory.extract.commits import is_decided, unwrapped
from vademecum.memory.extract.english import ENGLISH
from vademecum.memory.extract.french import FRENCH
from vademecum.memory.extract.prose import Reach, prose_of, read_of
from vademecum.memory.extract.rules import Cues, Language, Rule
from vademecum.memory.extract.scope import LANGUAGES as LANGUAGES_OF_CODE
from vademecum.memory.extract.scope import where
from vademecum.memory.extract.subject import PRONOUNS, USE, about, purpose, subject_of
from vademecum.memory.records import FactKind, Reading, Role, Statement
from vademecum.memory.redact import MARK

__all__ = ["extract", "read"]

LANGUAGES = (ENGLISH, FRENCH)
# Weight of each speaker for each kind of fact; kinds that are missing are ignored.
_SPEAKERS = {
    Role.USER: dict.fromkeys(FactKind, 1.0),
    Role.NOTE: dict.fromkeys(FactKind, 1.1),
    Role.ASSISTANT: {FactKind.DECISION: 0.6, FactKind.FACT: 0.5, FactKind.TODO: 0.6, FactKind.FIX: 0.8},
    Role.COMMIT: {FactKind.DECISION: 0.8, FactKind.INSTRUCTION: 0.8},  # said in so many words, see `commits`
}
_HEDGED = 0.5
_CHOSEN = 0.6  # confidence of a preference inferred from a choice
_LEAST = 0.3  # below it a statement is noise
_MOST_VALUE = 300
# Units of work (see `rules`) for each match, each sentence, and each cue searched in a sentence.
PER_STATEMENT, PER_SENTENCE, PER_SOUGHT = 500, 150, 2
# A person waits while a message is recorded, so reading stops after a few milliseconds; the rest is read later. Of 645
# messages to agents, all but six (each over 2,600 characters) are read whole at once.
AT_ONCE = Reach(characters=16_000, lines=400, prose=8_000, sentences=128, work=26_000)
LATER = Reach(characters=120_000, lines=4_000, prose=24_000, sentences=1_000, work=2_000_000)
_TOGETHER = 32  # sentences whose cues are searched in one pass
_FAR = 240  # characters after a clause in which its reason may stand
_SHORT = 200  # characters: a limit named in a sentence this short holds for the whole sentence
_NEAR = 16  # characters after a clause in which a hedge still belongs to the clause
_NO_MORE = re.compile(r"(?i)^([^\W\d_]+ )?plus (?:de |d')?(?=\S)")  # "on n'utilise plus de globales" denies globals
_THEN = re.compile(r"(?i),?\s+(?:then|alors|donc)$")  # "Postgres then" is Postgres
_ALWAYS = re.compile(r"(?i)^(?:toujours|always|only|uniquement|désormais|systématiquement) (?=\S)")
# After a known choice: its role, its alternative, or since when it holds
_BEYOND = re.compile(
    r"(?i),?\s+(?:now\b|nowadays\b|these days\b|from now\b|again\b|maintenant\b|désormais\b|dorénavant\b|à présent\b|as\b|comme\b|instead of\b|rather than\b|(?:au lieu|à la place) (?:de\b|du\b|des\b|d')|plutôt qu).*$",
    re.DOTALL,
)
# The alternative or the purpose of a choice
_WHAT_FOR = re.compile(
    r"(?i)\s(?:(?:over|rather than|instead of|despite|plutôt que?|au lieu d[eu]|malgré)\b"
    r"|(?<!have )(?<!need )(?<!try )(?<!want )to (?:avoid|boost|build|cut|deepen|develop|ensure|enhance|focus|gain|help|improve|increase|keep|lower|maintain|make sure"
    r"|maximi[sz]e|minimi[sz]e|optimi[sz]e|preserve|prevent|protect|reduce|reinforce|save|simplify|speed up|stay|streamline|strengthen|support)\b"
    r"|for (?:(?:added|better|cleaner|easier|faster|fewer|greater|higher|improved|less|lower|more|quicker|safer|simpler|smoother)\b|(?:[\w-]+ )?\w{3,}(?:it(?:y|ies)|ency|ness|iance|ience)\b)"
    r"|pour (?:améliorer|assurer|augmenter|économiser|éviter|gagner|garantir|garder|limiter|maximiser|minimiser|préserver|protéger|réduire|renforcer|rester|simplifier)\b)"
)
# Verbs of choosing, and choices of something to use: an act is done once, a means is used again
_CHOOSING = re.compile(
    r"(?i)\b(?:chose|chosen|decided|elected|opted|picked|selected|settled|went with|choisi|décidé|opté|retenu)\b"
)
_MEANS = re.compile(
    r"(?i)\b(?:(?:chose|chosen|decided|elected|opted) (?:to (?:use|go with|stick with|stick to|keep using|adopt|rely on)|for)|(?:choisi|décidé) (?:de |d')(?:utiliser|rester sur|garder|adopter)|opté pour)"
    r" (?!(?:the following|this|that|these|those|it|them|ça|cela|ce|cet|cette|ces)\b)"
)
_FOR_IT = re.compile(r"(?i)\s+(?:for|pour) [^,;]{1,80}$")  # the purpose of a value
_IN_FRONT = re.compile(r"(?i)(?:^|[.;]\s)(?:for|pour) [^,;:]{1,60},?\s*$")  # the purpose, before the clause
_CODE = re.compile(r"\s*`[^`\n]+`")
_TRAILING = " .,;:!?…-–—"  # noqa: RUF001 -- dashes as people type them


@dataclass
class _Effort:
    """Work that reading one message may still cost."""

    left: int

    def take(self, work: int) -> bool:
        """Spend work and return whether the budget allowed it.

        Work beyond the budget uses up all that is left.
        """
        self.left = self.left - work if work <= self.left else -1
        return self.left >= 0


@dataclass(frozen=True)
class _Said:
    """A sentence of a message."""

    prose: str
    text: str  # the characters of the message, code included
    start: int
    end: int
    corrects: bool  # the sentence, or the sentence before, opens with a correction
    before: str  # the text of the sentence before

    @cached_property
    def low(self) -> str:
        return self.prose.lower()


def extract(message: str, role: Role = Role.USER) -> list[Statement]:
    """Return the lasting statements of a message, in the message's order.

    Long messages are read in part; `read` says how many characters are left.

    Args:
        message: The text as written, with secrets already removed.
        role: The speaker. Commands, their output and edits yield no statements.

    Returns:
        At most one statement for each clause, with the start and end of its sentence.

    >>> for each in extract("Always run the tests in src/api before you commit. We use yarn, I think."):
    ...     print(each.kind, "|", each.subject, "|", each.value, "|", each.where, "|", each.confidence)
    instruction | tests | run the tests in src/api before you commit | src/api/** | 0.9
    fact | package manager | yarn |  | 0.35
    """
    return list(read(message, role).statements)


def read(message: str, role: Role = Role.USER, *, later: bool = False) -> Reading:
    """Return a message's lasting statements and the number of characters left unread.

    The cost is bounded for every message: sentences are read in order, and the rest is left when the budget is spent.

    Args:
        message: As for `extract`.
        role: As for `extract`.
        later: Nobody waits for the result, so the budget is much larger.

    >>> long = read("Never use globals. " * 1_000)
    >>> 20 < len(long.statements) < 1_000, 0 < long.left < 19_000, read("Never use globals.").left
    (True, True, 0)
    """
    heard, reach = _SPEAKERS.get(role), LATER if later else AT_ONCE
    if heard is None:
        return Reading()
    if role is Role.COMMIT:
        message = unwrapped(message)
    prose = prose_of(message, reach)
    spans, left = read_of(prose, reach)
    effort, spoken = _Effort(reach.work), list[tuple[Language, Cues]]()
    found: dict[tuple[int, str, FactKind], Statement] = {}  # one sentence may say a thing twice
    taken_back, before = False, ""
    for number, (start, end) in enumerate(spans):
        if number % _TOGETHER == 0:
            spoken = _cues_of(prose.text, spans[number : number + _TOGETHER])
        if number and start < spans[number - 1][1]:  # in a long message the end is read before the beginning
            taken_back, before = False, ""
        sentence = prose.text[start:end]
        corrects = taken_back or any(
            language.takes_something_back(sentence, sentence.lower()) for language in LANGUAGES
        )
        said = _Said(sentence, message[start:end], start, end, corrects, before)
        effort.take(PER_SENTENCE + PER_SOUGHT * sum(len(cues) for _, cues in spoken))
        here = list(_read(said, heard, spoken, effort)) if role is not Role.COMMIT or is_decided(sentence) else []
        for one in here:
            found.setdefault((one.start, one.value, one.kind), one)
        if effort.left < 0:
            left += sum(end - start for start, end in spans[number:])
            break
        taken_back = (
            not here and corrects and len(sentence) < 60
        )  # "Scratch that." makes the next sentence a correction
        before = said.text
    return Reading(sorted(found.values(), key=lambda each: each.start), left)


def _cues_of(text: str, spans: Sequence[tuple[int, int]]) -> list[tuple[Language, Cues]]:
    """Return the cues that some sentences hold, by language.

    A cue that no sentence of the group holds is not searched for in each of them.
    """
    low = "\n".join(text[start:end] for start, end in spans).lower()
    return [(language, language.cues_in(low)) for language in LANGUAGES]


def _read(
    said: _Said, heard: dict[FactKind, float], spoken: Sequence[tuple[Language, Cues]], effort: _Effort
) -> Iterator[Statement]:
    """Yield the statements of one sentence, within the effort left.

    Each rule is tried where it may apply. No two statements share words.
    """
    taken: list[tuple[int, int]] = []
    for language, cues in spoken:
        rules = [(rule, times) for rule, times in language.rules_for(said.low, cues) if rule.kind in heard]
        if not rules:
            continue
        openings = language.openings(said.prose, (rule for rule, _ in rules))
        hedges = language.hedged(said.low)
        for rule, times in rules:
            if not effort.take(rule.work(len(said.prose), times, len(openings))):
                return
            for match in rule.matches(said.prose, openings):
                if not effort.take(PER_STATEMENT):
                    return
                span = _span(match)
                start = _clause_start(said.prose, match, language)
                if any(a < span[1] and span[0] < b for a, b in taken) or not _is_said(
                    said, start, match, rule, language
                ):
                    continue
                hedged = not rule.presupposed and any(start <= a and b <= match.end() + _NEAR for a, b in hedges)
                weight = heard[rule.kind] * (_HEDGED if hedged else 1.0)
                statement = _statement(said, match, rule, language, weight)
                if statement.confidence < _LEAST or statement.value.lower() in PRONOUNS or _hides(statement):
                    continue
                taken.append(span)
                near = said.prose if len(said.prose) <= _SHORT else said.prose[start : match.end() + _NEAR]
                placed = replace(statement, where=_place(statement, where(near, language.limits)))
                yield placed
                if _is_own_choice(placed, match):
                    yield replace(placed, kind=FactKind.PREFERENCE, confidence=round(_CHOSEN * weight, 2))


def _hides(found: Statement) -> bool:
    """Return whether a statement is about a secret that was removed."""
    return MARK in f"{found.subject} {found.value}" or MARK.strip("[:") in found.subject


def _place(found: Statement, limit: str) -> str:
    """Return a statement's limit, without a language that the statement asserts.

    "The backend is in Go" is not a rule for Go code.
    """
    told = found.kind in (FactKind.FACT, FactKind.DECISION) and limit.startswith("language:")
    return "" if told and found.value.partition(" ")[0].lower() in {*LANGUAGES_OF_CODE, "go", "c"} else limit


def _is_own_choice(found: Statement, match: re.Match[str]) -> bool:
    """Return whether one person chose something for a stated reason.

    The reason is an alternative, a purpose, or a means to use again. Such a choice shows a preference.
    """
    if found.kind is not FactKind.DECISION or not re.match(r"(?i)\W*(?:i|je|j)\b", match[0]):
        return False
    said = match.groupdict()
    if said.get("other") or found.reason or _MEANS.search(match[0]):
        return True
    return _CHOOSING.search(match[0]) is not None and _WHAT_FOR.search(said.get("value") or "") is not None


def _span(match: re.Match[str]) -> tuple[int, int]:
    return match.start(), max(match.end(), match.start() + 1)


def _clause_start(sentence: str, match: re.Match[str], language: Language) -> int:
    """Return the start of the clause that a match begins in."""
    first = next((at for at in range(match.start(), match.end()) if sentence[at].isalnum()), match.start())
    ends = language.clause_ends(sentence)
    return ends[bisect_right(ends, first) - 1]


def _is_said(said: _Said, start: int, match: re.Match[str], rule: Rule, language: Language) -> bool:
    """Return whether the author asserts a match, without asking or denying."""
    asked = _is_asked(said.prose, start, match, rule, language)
    return not asked and language.is_meant(said.prose, start, match, negative=rule.negative)


def _is_asked(sentence: str, start: int, match: re.Match[str], rule: Rule, language: Language) -> bool:
    """Return whether a clause is a question or a condition.

    Either the clause opens like one, or the whole sentence is a question.
    """
    if rule.presupposed:
        return False
    whole = start == 0 and sentence.endswith("?") and len(sentence) - match.end() < 3
    said = match.groupdict()
    if said.get("topic") and said.get("value") and match.start() <= start < match.start("topic") < match.start("value"):
        return whole  # "if you are unsure, ask": the condition is part of the statement
    return (
        whole
        or language.asks.match(sentence, start) is not None
        or language.wonders.search(sentence, start, match.start("value" if said.get("value") else 0)) is not None
    )


def _statement(said_in: _Said, match: re.Match[str], rule: Rule, language: Language, weight: float) -> Statement:
    said = {name: _tidy(text) for name, text in match.groupdict().items() if text}
    value = _THEN.sub("", up_to_another(_tidy(USE.sub("", said.get("value", _tidy(match[0]))))))
    value = _NO_MORE.sub(r"\1", value) if rule.negative else value
    if value.lower() in PRONOUNS:
        value = _named_before(said_in.prose, match.start()) or value
    bare = _BEYOND.sub("", _ALWAYS.sub("", value))
    value = bare if is_known(bare) else value
    confidence = 0.0 if rule.known and not is_known(value) else rule.confidence * weight
    reason = _reason(said_in.prose, match, rule, language) or said.get("reason", "")
    if rule.kind is FactKind.FIX and reason.lower() in PRONOUNS:
        reason = _tidy(said_in.before)  # "it" refers to the sentence before
    before = _IN_FRONT.search(said_in.prose[max(0, match.start() - 80) : match.start()])
    clause = up_to_another(f"{before[0].lstrip(' .;')}{match[0]}" if before else match[0])
    subject = subject_of(rule, said, value, clause, head_first=language.head_first)
    shown = _with_code(said_in, match, value)
    return Statement(
        kind=rule.kind,
        text=said_in.text,
        subject=subject.name,
        attribute=subject.attribute,
        value=f"{language.no} {shown}" if rule.negative else _without(subject, shown),
        confidence=round(min(confidence, 0.95), 2),
        reason=reason,
        start=said_in.start,
        end=said_in.end,
        corrects=rule.corrects or said_in.corrects,
    )


def _with_code(said_in: _Said, match: re.Match[str], value: str) -> str:
    """Return a value with its blanked code put back.

    Code right after the value is added: "regenerate the types with `npm run codegen`".
    """
    start, end = match.span("value") if match.groupdict().get("value") else match.span()
    at_end = _CODE.match(said_in.text, end)
    if at_end is not None and said_in.prose[end : at_end.end()].isspace():
        end = at_end.end()
    blanked = "`" in said_in.text[start:end] and "`" not in said_in.prose[start:end]
    return _tidy(USE.sub("", said_in.text[start:end])) if blanked else value


def _without(subject: Subject, value: str) -> str:
    """Return a value without its purpose: `spaces for indentation` is `spaces`."""
    said = _FOR_IT.search(value)
    if said is None or not is_known(value[: said.start()]):
        return value
    bare = value[: said.start()]
    return bare if purpose(value) and about(value).name == subject.name else value


def _reason(sentence: str, match: re.Match[str], rule: Rule, language: Language) -> str:
    """Return the reason after a match; for some fixes, the problem before."""
    if rule.problem_before:
        return _tidy(re.split(r"[.;]\s", sentence[: match.start()])[-1])
    because = None if rule.kind is FactKind.FIX else language.reason.search(sentence, match.start(), match.end() + _FAR)
    done = match.re.groupindex.get("value", 0)
    # "to keep logs" is the decision itself, not its reason
    if because and done and because.start() == match.start(done):
        because = language.reason.search(sentence, because.start("reason"), match.end() + _FAR)
    return _tidy(because["reason"]) if because else ""


def _named_before(sentence: str, end: int) -> str:
    """Return the last name before a pronoun, which the pronoun refers to."""
    names = re.findall(r"(?<![.!?]\s)\b[A-Z][\w.+#-]*(?: v?\d[\w.]*)?|`[^`]+`", sentence[1:end])
    names = [name for name in names if name not in {"I", "I'm", "I've"}]
    return _tidy(names[-1]) if names else ""


def _tidy(text: str) -> str:
    text = " ".join(text.split()).strip(_TRAILING)
    return (text if text.count("`") % 2 == 0 and text.strip("`").count("`") else text.strip("`"))[:_MOST_VALUE]
