"""Confidence in an answer: a probability, a verdict, and reasons.

    log-odds that the results hold the answer = bias + coverage * c + dense * d + definition * s + certainty * m

Here c is the highest share of the question's idf that one of the first three results matches, d the highest cosine
among them, and s how surely one of them defines a requested name. m is how much the ranking prefers its first result:
that result's file probability under the fitted ranker, else how far its score stands above the last, as a share. The
constants were fitted by logistic regression (`training/ranking/verdicts.py`) on questions about public repositories
that no evaluation uses. Each question was asked of its own repository and of two others, which have no answer. The bias
is set for even odds between the two. Cosines of different embedders do not compare, so each embedder has its own
constants; an embedder without a fit is judged by words alone.

An empty answer is explained by reasons, unknown words and similar names. They stand beside evidence, never in its place.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import islice

import numpy as np

from vademecum.code.checkout.classify import words
from vademecum.code.languages import language_of, row
from vademecum.code.search.rank import HEAD, Ranked
from vademecum.code.search.signals import DEFINING, holding, named_files
from vademecum.code.snapshot.repository import Opened
from vademecum.index.query import Plan, last_part, names_to_make, split_name, title_of
from vademecum.index.tokenize import STOP_WORDS, TALK, parts, query_terms, run_terms, runs
from vademecum.types import Query, Verdict

NEAREST = 5
HOLDERS = 20  # classes whose members are compared
MANY_TERMS = 20  # a question with more terms is not about one or two names
_CLOSE = 0.6  # the standard library's threshold for a close match
# Reasons for skipping files whose content is then unknown.
UNSEEN = frozenset({"too large", "unreadable", "binary", "undecodable name"})
# Reasons for skipping parts of the repository, which may hold anything.
OUTSIDE = frozenset({"not checked out", "not indexed"})
WHOLE = OUTSIDE | {"another repository"}
UNREAD = 3  # the most files in a message
_FEW_WORDS = 8  # the most words of a question in a message
_MISSED = 4  # the most unknown words in a message
# Words without content: of talk, of questions about code, and of asking.
_ASKING = (
    TALK
    | STOP_WORDS
    | words("find look show please explain comment où quand pourquoi combien fait faire sans lorsque afin")
)
_IN_WORDS = frozenset(bytes([byte]) for byte in b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_$")
_ELSEWHERE = re.compile(r"(?<![\w/.])/\S+")  # an absolute path, as in a trace
_REGEX = re.compile(r"\\[wdsb.()]|\.\*|\.\+|\[[^\]]+\][*+]|\(\?|\|")


def why_not(opened: Sequence[Opened], query: Query, plan: Plan, ranked: Ranked, unknown: set[str]) -> str:
    """Return the likeliest reason for no results, and a fix."""
    return next(_reasons(opened, query, plan, ranked, unknown))


def _reasons(opened: Sequence[Opened], query: Query, plan: Plan, ranked: Ranked, unknown: set[str]) -> Iterator[str]:
    """Yield every reason that holds, the likeliest first."""
    indexed = sum(len(each.view) for each in opened)
    if not indexed:
        skipped = sum(len(each.snapshot.skipped) for each in opened)
        yield f"nothing is indexed here: no text files were found ({skipped} skipped; `vade status -v` says why)"
    if not ranked.searched:
        yield f"the filters leave nothing to search: none of {_chunks(indexed)} match {_filters(opened, query)}"
    if not plan.terms:
        yield "the question holds no words: say what to look for, in words or as a name"
    if _REGEX.search(query.text):
        yield "nothing matches; the question looks like a regular expression: give it with -e"
    yield from _skipped_paths(opened, query.text)
    missed = f"; {said}" if (said := unwritten(plan, unknown)) else ""
    if plan.is_symbol:
        yield undefined(opened, plan.text.strip().removesuffix("()"), ranked.searched) + missed
    left_out = f"; {said}" if (said := skipped_said(opened)) else ""
    if unknown >= set(plan.terms):
        looked_for = ", ".join(_words(plan)[:_FEW_WORDS])
        yield f"none of these words occur in {_chunks(ranked.searched)} searched: {looked_for}{left_out}"
    yield f"nothing in {_chunks(ranked.searched)} searched comes close enough to be an answer{missed}{left_out}"


def unwritten(plan: Plan, unknown: set[str]) -> str:
    """Return a note on a short question's unknown words, or "".

    Unknown words are in no indexed text or path; the note spells them as the question does. `unknown` are the
    question's terms that occur nowhere. Numbers are left out: most are line numbers or versions.

    >>> from vademecum.index.query import plan_query
    >>> unwritten(plan_query("where is the http client of sendEmail"), {"http", "sendemail"})
    'these words appear in no indexed file: http, sendEmail'
    """
    if not unknown or len(plan.terms) > MANY_TERMS or title_of(plan.text):
        return ""
    text = _ELSEWHERE.sub(" ", plan.text)
    said_of = [run for run in dict.fromkeys(runs(text)) if len(run) > 1 and run.lower() not in _ASKING]
    missed = [run for run in said_of if not run.isdigit() and _is_unknown(run, unknown)]
    words = "these words appear" if len(missed) > 1 else "this word appears"
    said = ", ".join(missed[:_MISSED]) + (", …" if len(missed) > _MISSED else "")
    return f"{words} in no indexed file: {said}" if missed else ""


def translation_said(opened: Sequence[Opened], ranked: Ranked) -> str:
    """Return a note on a translation that was set aside, or ""."""
    row = ranked.translation
    for each in opened:
        if 0 <= row < len(each.view):
            path = each.view.files.paths[int(each.view.row_file[row])]
            return f"{path} is a translation with such words, and no answer: ask in the language of the code"
        row -= len(each.view)
    return ""


def missing_vectors(opened: Sequence[Opened]) -> str:
    """Return a note on chunks without vectors, or ""."""
    missing, every = sum(each.view.awaiting for each in opened), sum(len(each.view) for each in opened)
    if not missing:
        return ""
    return f"{missing} of {every} chunks have no vector yet and are found by words alone: `vade index` makes them"


def _is_unknown(run: str, unknown: AbstractSet[str]) -> bool:
    """Return whether a run of word characters occurs nowhere.

    An ASCII run counts as a whole. In scripts without spaces between words, every part must be unknown.
    """
    whole = run_terms(run)[-1:] if run.isascii() else run_terms(run)
    return bool(whole) and unknown >= set(whole)


def _words(plan: Plan) -> list[str]:
    """Return the question's words that were searched, as written.

    Terms are stems.
    """
    words = dict.fromkeys(re.findall(r"\w+", plan.text))
    return [word for word in words if not {*query_terms(word)[0]}.isdisjoint(plan.terms)] or list(plan.terms)


def undefined(opened: Sequence[Opened], name: str, searched: int) -> str:
    """Return a message that a name is defined nowhere.

    The message lists files that were not parsed whole and may define the name. A file's path is said to be one.
    """
    if any(len(named_files(each.view, name)) for each in opened):
        return f"{name!r} is a file, and nothing declares such a name"
    said = f"{name!r} is defined nowhere in {_chunks(searched)} searched"
    unread = list(islice(_half_read(opened, last_part(name)), UNREAD + 1))
    if unread:
        named = ", ".join(unread[:UNREAD]) + (", …" if len(unread) > UNREAD else "")
        said += f", unless in what could not be parsed: {named} {'hold' if len(unread) > 1 else 'holds'} it"
    return "; ".join(filter(None, (said, skipped_said(opened))))


def _is_code(path: str) -> bool:
    known = row(language_of(path))
    return known is not None and known.module is not None


def skipped_said(opened: Sequence[Opened]) -> str:
    """Return a note on skipped code files, or "".

    Such files may define anything.
    """
    left_out = [
        f"{skipped.path} ({skipped.reason})"
        for each in opened
        for skipped in each.snapshot.skipped
        if skipped.reason in WHOLE or (skipped.reason in UNSEEN and _is_code(skipped.path))
    ]
    if not left_out:
        return ""
    named = ", ".join(left_out[:UNREAD]) + (", …" if len(left_out) > UNREAD else "")
    noun = "path" if any(skipped.reason in WHOLE for each in opened for skipped in each.snapshot.skipped) else "file"
    files = f"1 {noun} was" if len(left_out) == 1 else f"{len(left_out)} {noun}s were"
    return f"{files} skipped and may hold it: {named}"


def _half_read(opened: Sequence[Opened], name: str) -> Iterator[str]:
    """Yield files with parse errors that hold a name."""
    plain = name.encode("utf-8", "replace")
    for each in opened:
        files, broken = each.view.files, each.repo.catalogue.with_errors()
        for number in np.flatnonzero(np.isin(files.blobs, list(broken)) & holding(each.view, name)).tolist():
            if any(whole_words(each.repo.catalogue.content(int(files.blobs[number])), plain)):
                yield files.paths[number]


def whole_words(content: bytes, word: bytes) -> Iterator[tuple[int, int]]:
    """Yield start and end of each whole word, in bytes.

    What a search for a regular expression would find, in a tenth of its time.

    >>> list(whole_words(b"run(rerun, run_2, $run) + run", b"run"))
    [(0, 3), (26, 29)]
    """
    at = content.find(word)
    while at >= 0:
        end = at + len(word)
        is_whole = content[at - 1 : at] not in _IN_WORDS and content[end : end + 1] not in _IN_WORDS
        if is_whole:
            yield at, end
        at = content.find(word, end if is_whole else at + 1)


def _chunks(number: int) -> str:
    return "1 chunk" if number == 1 else f"{number} chunks"


def _filters(opened: Sequence[Opened], query: Query) -> str:
    given = [
        *(f"below {prefix}" for each in opened for prefix in each.prefixes),
        *(f"lang {name}" for name in query.languages),
        *(f"path {glob}" for glob in query.paths),
        *(f"exclude {glob}" for glob in query.exclude),
        *([f"kind {query.kind}"] if query.kind != "all" else []),
        *([f"symbol {query.symbol}"] if query.symbol else []),
        *([f"regex {query.pattern}"] if query.pattern else []),
    ]
    return ", ".join(given) or "them"


def _skipped_paths(opened: Sequence[Opened], text: str) -> Iterator[str]:
    """Yield a sentence for each skipped file that the question names."""
    words = {word.strip("`'\"") for word in text.split() if "." in word or "/" in word}
    for each in opened:
        for skipped in each.snapshot.skipped:
            if skipped.path in words or skipped.path.rpartition("/")[2] in words:
                yield f"{skipped.path} is not indexed: {skipped.why}"


def nearest_names(opened: Sequence[Opened], plan: Plan, unknown: AbstractSet[str] = frozenset()) -> tuple[str, ...]:
    """Return defined names similar to those in a question, best first.

    Without names, its unknown words are compared: `unknown` are terms that occur nowhere. A long text has no suggestions.
    """
    if len(plan.terms) > MANY_TERMS:
        return ()
    best: dict[str, float] = {}
    for each in opened:
        alive = set(each.view.files.blobs.tolist())  # other branches' definitions do not count
        for name in plan.names or [word for word in re.findall(r"\w{4,}", plan.text) if _is_unknown(word, unknown)]:
            compare(name, _candidates(each, name, alive) if name.lower() not in _ASKING else (), best)
    return _nearest(best)


def nearest_to(opened: Sequence[Opened], name: str) -> tuple[str, ...]:
    """Return defined names similar to an unknown name, best first.

    For a qualified name, the members of its holder and members elsewhere are compared. Only without any, names like the
    last part are returned.
    """
    own, best = last_part(name), dict[str, float]()
    wanted = ".".join(split_name(name))
    for each in opened:
        alive = set(each.view.files.blobs.tolist())
        compare(wanted, _qualified(each, split_name(name), alive), best)
    if best or not own:
        return _nearest(best)
    return nearest_names(opened, Plan(name, (), (own,), is_symbol=True))


def _qualified(each: Opened, wanted: Sequence[str], alive: set[int]) -> list[str]:
    """Return qualified names to compare with an unknown one.

    These are the members of the holder (or of similar holders), and members elsewhere with the same last part.
    """
    if len(wanted) < 2:
        return []
    holder, own = wanted[-2:]
    look = each.repo.catalogue.symbols
    columns = ("qualified", "blob")
    found = {known for known, blob in look([("name", "=", own)], columns) if blob in alive and "." in known}
    alike = dict[str, float]()
    compare(holder, _candidates(each, holder, alive), alike)
    names = [holder] if holder in alike else sorted(_nearest(alike))
    holders = {known for name in names for known, blob in look([("name", "=", name)], columns) if blob in alive}
    for each_holder in sorted(holders)[:HOLDERS]:
        members = look([("qualified", "prefix", f"{each_holder}.")], columns)
        found |= {known for known, blob in members if blob in alive}
    return sorted(found)


def compare(name: str, candidates: Sequence[str], best: dict[str, float]) -> None:
    """Add similar candidates to `best`, with likeness 0 to 1.

    >>> best = {}
    >>> compare("retry_with_backof", ["retry_with_backoff", "retreat", "Backoff"], best)
    >>> best
    {'retry_with_backoff': 0.971...}
    """
    matcher = SequenceMatcher(None, b=name.lower())
    for candidate in candidates:
        matcher.set_seq1(candidate.lower())
        if matcher.real_quick_ratio() >= _CLOSE and matcher.quick_ratio() >= _CLOSE:
            likeness = matcher.ratio()
            if likeness >= _CLOSE:
                best[candidate] = max(likeness, best.get(candidate, 0))


def _nearest(best: dict[str, float]) -> tuple[str, ...]:
    """Return the most similar names, best first."""
    return tuple(sorted(best, key=lambda name: (-best[name], name))[:NEAREST])


def _candidates(each: Opened, name: str, alive: set[int]) -> list[str]:
    """Return the defined names with a similar beginning.

    They begin like `name` or one of its parts, in any case.
    """
    beginnings = {_folded(name[:2]), *(_folded(part[:3]) for part in parts(name) if len(part) >= 3)}
    found: set[str] = set()
    for beginning in _shortest(beginnings):
        rows = each.repo.catalogue.symbols([("name", "prefix", beginning)], ("name", "blob"))
        found |= {known for known, blob in rows if blob in alive}
    return sorted(found)


def _folded(text: str) -> str:
    """Return a text as the index compares it.

    ASCII text is lower-cased.
    """
    return text.lower() if text.isascii() else text


def _shortest(beginnings: set[str]) -> list[str]:
    """Return the beginnings that extend no other beginning.

    >>> sorted(_shortest({"op", "opt", "com"}))
    ['com', 'op']
    """
    return [one for one in beginnings if not any(one != other and one.startswith(other) for other in beginnings)]


@dataclass(frozen=True, slots=True)
class Calibration:
    """The constants of the model above."""

    bias: float
    coverage: float
    dense: float
    definition: float
    certainty: float


# Area under the ROC curve on repositories outside the fit: 0.936 and 0.903. `benchmarks/verdicts.py` measures others.
CALIBRATIONS = {"static:static-2": Calibration(-5.04, 4.15, 6.28, 1.17, 1.33)}
BY_WORDS = Calibration(-3.9, 6.14, 0.0, 1.6, 1.37)

RESOLVED_FROM = 0.9
LIKELY_FROM = 0.5
FOUND_FROM = 0.1  # below, the verdict is not found


def probability(ranked: Ranked, embedder: str) -> float:
    """Return the probability, 0..1, that the results hold the answer.

    `embedder` made the dense signal.
    """
    if not len(ranked.rows):
        return 0.0
    by = CALIBRATIONS.get(embedder, BY_WORDS)
    coverage, dense, definition, certainty = indications(ranked)
    odds = by.bias + by.coverage * coverage + by.dense * dense + by.definition * definition + by.certainty * certainty
    return 1 / (1 + math.exp(-odds))


def indications(ranked: Ranked) -> tuple[float, float, float, float]:
    """Return the model's inputs: coverage, dense, definition, certainty.

    `ranked` is not empty.
    """
    first, last = float(ranked["score"][0]), float(ranked["score"][-1])
    return (
        max(ranked["coverage"][:HEAD].tolist()),
        max(ranked["dense"][:HEAD].tolist()),
        max(ranked["definition"][:HEAD].tolist()),
        float(ranked["file"][0]) if "file" in ranked.names else 1 - last / max(first, 1e-9),
    )


def verdict(plan: Plan, ranked: Ranked, probable: float, unknown: Collection[str] = ()) -> Verdict:
    """Return the verdict on ranked results.

    A bare name with one definition is `resolved`, with several `ambiguous`; the verdict is never a guess. `unknown` are
    the terms that occur nowhere. A name with an unknown part is not found, whatever its other parts match. An unsure
    answer to a question is not found when every name in the question has an unknown part, or every word that says
    something is unknown. A name that the question asks to make does not count: nothing has it yet.
    """
    if not len(ranked.rows):
        return Verdict.NOT_FOUND
    defining = int((ranked["definition"] >= 1).sum())  # a name's definitions, and what the question points at
    if plan.is_symbol:
        if defining:
            return Verdict.RESOLVED if defining == 1 else Verdict.AMBIGUOUS
        has = bool((ranked["definition"] >= DEFINING["has"]).any())  # a member of the name, or a file
        # every part of the name, and the name as a whole
        mentioned = bool((ranked["coverage"] > 0.99).any()) and not unknown
        return Verdict.LIKELY if has or mentioned else Verdict.NOT_FOUND
    if probable < FOUND_FROM or (probable < LIKELY_FROM and not defining and _names_nothing(plan, unknown)):
        return Verdict.NOT_FOUND
    if probable >= RESOLVED_FROM:
        return Verdict.RESOLVED
    return Verdict.LIKELY if probable >= LIKELY_FROM else Verdict.AMBIGUOUS


def _names_nothing(plan: Plan, unknown: Collection[str]) -> bool:
    """Return whether all names, or all words with content, are unknown."""
    if not unknown or _ASKING.issuperset(set(plan.terms).difference(unknown)):
        return bool(unknown)
    names = set(plan.names) - names_to_make(plan.text)
    return bool(names) and all(not set(run_terms(name)).isdisjoint(unknown) for name in names)
