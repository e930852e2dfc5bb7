"""Fit text into a context: passages of events, lines, tokens.

A message is long and a context is short. So the sentence with most of the question's words is shown, and the sentences behind
it as far as they fit.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain

from vademecum.index.tokenize import key
from vademecum.memory.words import run_terms, runs, terms

READ_CHARACTERS = 6_000  # of an event
PASSAGE_CHARACTERS = 320
_END = re.compile(r"[.!?]\s+|\n+")  # end of a sentence; a look-behind at each space would be slower


class AskedFor(dict[str, tuple[int, ...]]):
    """Lazy map from runs of characters to terms of the question.

    >>> from vademecum.memory.words import query_keys
    >>> asked = AskedFor("how large is the cache?", {key: 1.0 for key in query_keys("how large is the cache?").tolist()})
    >>> [len(asked[run]) for run in ("caching", "cats", "fileCache", "Large")]
    [1, 0, 1, 1]
    """

    def __init__(self, text: str, idf: Mapping[int, float]) -> None:
        """Take a question, and the weight of each term by its key."""
        total = sum(idf.values()) or 1.0
        self.parts = {term: weight / total for term, weight in idf.items()}  # each term's share of the question
        self._keys = {term: number for term in terms(text) if (number := key(term)) in idf}

    def __missing__(self, run: str) -> tuple[int, ...]:
        found = self[run] = tuple(self._keys[term] for term in run_terms(run) if term in self._keys)
        return found


def sentences(text: str) -> Iterator[str]:
    r"""Yield the sentences and lines of a text, with their end marks.

    >>> list(sentences("Is it 3.5? Yes.\n\nGood"))
    ['Is it 3.5?', 'Yes.', 'Good']
    """
    begin = 0
    for end in _END.finditer(text):
        yield text[begin : end.start() + (text[end.start()] != "\n")]
        begin = end.end()
    yield text[begin:]


def said_in(sentence: str, asked: AskedFor) -> Mapping[int, float]:
    """Return each of the question's terms in a sentence with its share."""
    found = set(chain.from_iterable(map(asked.__getitem__, runs(sentence))))
    return {term: part for term, part in asked.parts.items() if term in found} if found else {}


def passage(text: str, asked: AskedFor, most: int = PASSAGE_CHARACTERS) -> str:
    """Return the part of a text with most of a question's words.

    It is one line, and begins at a sentence; "…" stands for what is left out. A text without any of the words is shown from its beginning.

    >>> asked = AskedFor("which port?", {key(term): 1.0 for term in terms("which port?")})
    >>> passage("Thanks a lot. The server listens on port 8080. It restarts by itself.", asked, 40)
    '… The server listens on port 8080.…'
    """
    flat = one_line(text, most)
    if not flat.endswith("…"):
        return flat
    parts = [each.strip() for each in sentences(text[:READ_CHARACTERS]) if each.strip()]
    shares = [sum(said_in(each, asked).values()) for each in parts]
    best = max(range(len(parts)), key=lambda n: (shares[n], -n))
    kept, left = parts[best], most - len(parts[best])
    for each in parts[best + 1 :]:
        left -= len(each) + 1
        if left < 0:
            break
        kept = f"{kept} {each}"
    shown = one_line(kept, most)
    return f"{'… ' if best else ''}{shown}{'' if shown.endswith('…') or kept.endswith(parts[-1]) else '…'}"


SNIPPET_CHARACTERS = 240


def fitted(sections: Sequence[tuple[str, Sequence[str]]], budget: int, count: Callable[[str], int]) -> str:
    """Return the sections with as many of their lines as fit.

    A line that does not fit is skipped. A section without lines is left out.
    """
    parts: list[str] = []
    left = budget
    for heading, lines in sections:
        head = f"### {heading}"
        left_here = left - count(head + "\n\n")
        kept: list[str] = []
        for line in lines:
            cost = count(line + "\n")
            if cost <= left_here:
                kept.append(line)
                left_here -= cost
        if kept:
            parts.append("\n".join([head, *kept]))
            left = left_here
    return "\n\n".join(parts)


def one_line(text: str, most: int = SNIPPET_CHARACTERS) -> str:
    r"""Return a text on one line, cut at a word.

    >>> one_line("a  b\n c", 80), one_line("alpha beta gamma", 12)
    ('a b c', 'alpha beta…')
    """
    flat = " ".join(text.split())
    if len(flat) <= most:
        return flat
    return flat[: most - 1].rsplit(" ", 1)[0].rstrip(" ,;:") + "…"
