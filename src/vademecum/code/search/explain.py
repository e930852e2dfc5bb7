"""Explain an empty answer: filters, skipped paths, unknown words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice

import numpy as np

from vademecum.code.checkout.classify import words
from vademecum.code.languages import language_of, row
from vademecum.code.search.did_you_mean import MANY_TERMS
from vademecum.code.search.rank import Ranked
from vademecum.code.snapshot.repository import Opened
from vademecum.index.query import Plan, last_part, title_of
from vademecum.index.stopwords import STOP_WORDS, TALK
from vademecum.index.tokenize import query_terms, run_terms, runs
from vademecum.types import Query

# Why files are left out of an index that belong to the repository all the same: nobody knows what they hold.
UNSEEN = frozenset({"too large", "unreadable", "binary", "crash"})
UNREAD = 3  # files that are named at most
_FEW_WORDS = 8  # of a question that are said again
_MISSED = 4  # words that are nowhere, said at most
# What asks, beside what carries no content in talk or in a question about code.
_ASKING = (
    TALK
    | STOP_WORDS
    | words("find look show please explain comment où quand pourquoi combien fait faire sans lorsque afin")
)
_ELSEWHERE = re.compile(r"(?<![\w/.])/\S+")  # a path of a machine, as in a trace
_PART_OF_WORD = re.compile(rb"[\w$]")
_REGEX = re.compile(r"\\[wdsb.()]|\.\*|\.\+|\[[^\]]+\][*+]|\(\?|\|")


def why_not(opened: Sequence[Opened], query: Query, plan: Plan, ranked: Ranked, unknown: set[str]) -> str:
    """Say the likeliest reason why a question found nothing, and what to try."""
    return next(_reasons(opened, query, plan, ranked, unknown))


def _reasons(opened: Sequence[Opened], query: Query, plan: Plan, ranked: Ranked, unknown: set[str]) -> Iterator[str]:
    """Yield every reason that holds, the likeliest first."""
    indexed = sum(len(each.view) for each in opened)
    if not indexed:
        skipped = sum(len(each.snapshot.skipped) for each in opened)
        yield f"nothing is indexed here: no text files were found ({skipped} skipped; `vade status -v` says why)"
    if not ranked.searched:
        yield f"the filters leave nothing to search: {_filters(query)} match none of {_chunks(indexed)}"
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
    """Say which words of a short question are in no text and no path that is indexed, as they were written; "" for none.

    `unknown` are the question's terms that are nowhere. Numbers are not spoken of: most say a place or a version.

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


def _is_unknown(run: str, unknown: set[str]) -> bool:
    """Tell whether a run of word characters is nowhere as a whole; one that needs no spaces between words, none of it."""
    whole = run_terms(run)[-1:] if run.isascii() else run_terms(run)
    return bool(whole) and unknown >= set(whole)


def _words(plan: Plan) -> list[str]:
    """Return the words of a question that were looked for, as they were written: terms are stems."""
    words = dict.fromkeys(re.findall(r"\w+", plan.text))
    return [word for word in words if not {*query_terms(word)[0]}.isdisjoint(plan.terms)] or list(plan.terms)


def undefined(opened: Sequence[Opened], name: str, searched: int) -> str:
    """Say that a name is defined nowhere, and where it may be all the same: in files that a grammar did not read whole."""
    said = f"{name!r} is defined nowhere in {_chunks(searched)} searched"
    unread = list(islice(_half_read(opened, last_part(name)), UNREAD + 1))
    if unread:
        named = ", ".join(unread[:UNREAD]) + (", …" if len(unread) > UNREAD else "")
        said += f", unless in what could not be parsed: {named} {'hold' if len(unread) > 1 else 'holds'} it"
    return "; ".join(filter(None, (said, skipped_said(opened))))


def skipped_said(opened: Sequence[Opened]) -> str:
    """Say which code was left out of the index, in which anything may be defined; "" for none."""
    left_out = [
        f"{skipped.path} ({skipped.reason})"
        for each in opened
        for skipped in each.snapshot.skipped
        if skipped.reason in UNSEEN
        and (known := row(language_of(skipped.path))) is not None
        and known.module is not None
    ]
    if not left_out:
        return ""
    named = ", ".join(left_out[:UNREAD]) + (", …" if len(left_out) > UNREAD else "")
    files = "1 file was" if len(left_out) == 1 else f"{len(left_out)} files were"
    return f"{files} skipped and may hold it: {named}"


def _half_read(opened: Sequence[Opened], name: str) -> Iterator[str]:
    """Yield the files that hold a name and in which a grammar found errors."""
    plain = name.encode("utf-8", "replace")
    for each in opened:
        files, broken = each.view.files, each.repo.catalogue.with_errors()
        for number in np.flatnonzero(np.isin(files.blobs, list(broken))).tolist():
            if holds_word(each.repo.catalogue.content(int(files.blobs[number])), plain):
                yield files.paths[number]


def holds_word(content: bytes, word: bytes) -> bool:
    """Tell whether a text has a word by itself. A regular expression would look at every letter of the text.

    >>> holds_word(b"Bases of $Base, Base.", b"Base"), holds_word(b"Bases of $Base", b"Base"), holds_word(b"Base", b"Base")
    (True, False, True)
    """
    at = content.find(word)
    while at >= 0:
        end = at + len(word)
        if not (
            _PART_OF_WORD.match(content[at - 1 : at] if at else b"") or _PART_OF_WORD.match(content[end : end + 1])
        ):
            return True
        at = content.find(word, at + 1)
    return False


def _chunks(number: int) -> str:
    return "1 chunk" if number == 1 else f"{number} chunks"


def _filters(query: Query) -> str:
    given = [
        *(f"--lang {name}" for name in query.languages),
        *(f"--path {glob}" for glob in query.paths),
        *(f"--exclude {glob}" for glob in query.exclude),
        *([f"--kind {query.kind}"] if query.kind != "all" else []),
        *([f"--symbol {query.symbol}"] if query.symbol else []),
        *([f"-e {query.pattern}"] if query.pattern else []),
    ]
    return " ".join(given) or "they"


def _skipped_paths(opened: Sequence[Opened], text: str) -> Iterator[str]:
    """Yield a sentence for each file the question names that was left out of the index."""
    words = {word.strip("`'\"") for word in text.split() if "." in word or "/" in word}
    for each in opened:
        for skipped in each.snapshot.skipped:
            if skipped.path in words or skipped.path.rpartition("/")[2] in words:
                yield f"{skipped.path} is not indexed: {skipped.why}"
