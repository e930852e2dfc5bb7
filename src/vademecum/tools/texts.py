"""Texts of tools and past intents, compared with an intent.

Each is read by its words (BM25, and the cosine of tf-idf) and by its meaning (the embedder's vector).

    >>> texts = Texts(["read a file", "send a mail"], None)
    >>> texts.tfidf(Question.of("which tool reads files?")).astype(float).round(2).tolist()
    [0.48, 0.0]
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vademecum.index.bm25 import Postings, Schema, build, field_norms, gains, inverse_document_frequency
from vademecum.index.tokenize import STOP_WORDS, key, run_terms, runs, term_table
from vademecum.tools.records import Tool
from vademecum.types import Passage

Floats = NDArray[np.float32]

SCHEMA = Schema(("text",), (1.0,), (0.75,))  # textbook values
_TABLE = term_table()  # words are cut once per process
_CLAUSE = re.compile(r"[.,;:!?\n]+|\b(?:and|then|also|after that|finally)\b", re.IGNORECASE)
_LEAST_WORDS = 3  # of a clause that means something by itself
_MOST_CLAUSES = 16
_SENTENCE = 8  # words further on than the first is where a text ends that says things in their order
_DEPRECATED = re.compile(
    r"(?:\A|[.!?]\s)\W*deprecated(?=\s*[^\w\s]|\s+(?:since|in|as|use|by|and)\b|\s*\Z)"
    r"|\b(?:this|it|tool|method|endpoint|operation|function)\s+(?:is|was|has been)\s+(?:now\s+)?deprecated\b"
    r"|[\[(]deprecated\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Question:
    """An intent, read once: its terms and its vector."""

    text: str
    keys: NDArray[np.uint64]  # (T,), the terms
    counts: Floats  # (T,), how often each is said
    places: Floats  # (T,), where each is first said, 0 the beginning and 1 the end, or the ninth word of a shorter text
    vector: Floats | None = None  # (dim,), of unit length; None where there is no embedder
    parts: Floats | None = None  # (P, dim), the same of each of its `clauses`
    steps: tuple[Question, ...] = ()  # each of its `clauses` as a question of words alone

    @classmethod
    def of(cls, text: str, vector: Floats | None = None, parts: Floats | None = None) -> Question:
        """Read a text. Stop words are dropped unless nothing else is there."""
        terms = [(key(term), place) for place, run in _content(text) for term in run_terms(run)]
        count, first = Counter(term for term, _ in terms), dict(reversed(terms))
        return cls(
            text,
            np.array(list(count), np.uint64),
            np.array(list(count.values()), np.float32),
            np.array([first[term] / max(len(runs(text)) - 1, _SENTENCE) for term in count], np.float32),
            vector,
            parts,
            tuple(map(cls.of, clauses(text))),
        )


@dataclass(frozen=True)
class Matches:
    """The question's terms in texts: P entries, by term."""

    text: NDArray[np.int64]  # (P,), which text
    term: NDArray[np.int64]  # (P,), which term of the question
    tf: NDArray[np.uint8]  # (P, 1), how often the text says the term
    held: NDArray[np.int64]  # (T,), how many texts say each term
    idf: Floats  # (T,), of each term

    @property
    def worth(self) -> float:
        """The total weight of all terms, above 0."""
        return max(float(self.idf.sum()), 1e-9)


class Texts:
    """A list of texts, ready to be scored against questions.

    `vectors`, float32 (n, dim), are of unit length.
    """

    def __init__(self, texts: Sequence[str], vectors: Floats | None) -> None:
        counted = _TABLE.count([" ".join(run for _, run in _content(text)) for text in texts])
        self.size, self.vectors = len(texts), vectors
        tf = np.minimum(counted.count, 255).astype(np.uint8)[:, None]
        self.postings: Postings = build(counted.values[counted.code], counted.text.astype(np.int32), tf)
        length = np.bincount(counted.text, counted.count, self.size).astype(np.float32)
        mean = max(float(length.mean()) if self.size else 0.0, 1e-9)
        self.norms: Floats = field_norms(SCHEMA, length[:, None], np.array([mean]))

        held = np.diff(self.postings.offsets)
        weight = self.postings.tf[:, 0] * _idf(self.size, held).repeat(held).astype(np.float64)
        square = np.bincount(self.postings.docs, weight**2, self.size)
        self._lengths = np.sqrt(np.maximum(square, 1e-9)).astype(np.float32)  # of the vectors of tf-idf

    def matches(self, question: Question) -> Matches:
        """Return the places of the question's terms in the texts."""
        text, tf, term = self.postings.find(question.keys)
        held = np.bincount(term, minlength=len(question.keys))
        return Matches(text.astype(np.int64), term, tf, held, _idf(self.size, held))

    def bm25(self, question: Question, matches: Matches | None = None) -> Floats:
        """Return BM25 as a share of its maximum, float32 (n,), 0..1."""
        found = matches or self.matches(question)
        return (np.bincount(found.text, self.gained(found), self.size) / found.worth).astype(np.float32)

    def gained(self, matches: Matches) -> Floats:
        """Return each match's part of BM25, float32 (P,)."""
        idf = matches.idf.take(matches.term)
        return gains(SCHEMA, matches.tf, self.norms.take(matches.text, axis=0), idf).astype(np.float32)

    def tfidf(self, question: Question, matches: Matches | None = None) -> Floats:
        """Return float32 (n,): the cosine of tf-idf vectors, 0..1."""
        found = matches or self.matches(question)
        weight = question.counts * found.idf
        parts = (weight * found.idf).take(found.term) * found.tf[:, 0]
        total = np.bincount(found.text, parts, self.size)
        return (total / (self._lengths * max(math.sqrt(weight @ weight), 1e-9))).astype(np.float32)

    def dense(self, question: Question) -> Floats:
        """Return the cosines of meanings, float32 (n,); 0 without an embedder."""
        if self.vectors is None or question.vector is None:
            return np.zeros(self.size, np.float32)
        return np.asarray(self.vectors @ question.vector, np.float32)

    def nearest(self, question: Question) -> Floats:
        """Return the cosine with the nearest clause or question, float32 (n,).

        One vector for several needs is near to none of them.
        """
        whole = self.dense(question)
        if self.vectors is None or question.parts is None or not len(question.parts):
            return whole
        return np.maximum(whole, np.maximum.reduce([self.vectors @ each for each in question.parts]))


def clauses(text: str) -> list[str]:
    """Return the separate requests of a text; none for a single one.

    >>> clauses("Find the latest report, translate it and mail it to Ann.")
    ['Find the latest report', 'mail it to Ann']
    """
    cut = [part.strip() for part in _CLAUSE.split(text)]
    found = [part for part in cut if len(part.split()) >= _LEAST_WORDS]
    return [] if found == [text.strip()] else found[:_MOST_CLAUSES]


def _content(text: str) -> list[tuple[int, str]]:
    """Return the content words of a text by place, else all words."""
    said = list(enumerate(runs(text)))
    return [(place, run) for place, run in said if run.lower() not in STOP_WORDS] or said


def _idf(texts: int, holding: NDArray[np.integer]) -> Floats:
    return inverse_document_frequency(texts, holding.astype(np.float64)).astype(np.float32)


def document(tool: Tool) -> str:
    """Return the text that words are matched in: the name counts twice.

    >>> schema = {"properties": {"path": {"type": "string", "description": "Where it is."}}}
    >>> document(Tool.of("files", "read", "Read a file.", input_schema=schema))
    'read read Read a file. path Where it is.'
    """
    taken = [part for field in fields_of(tool.input_schema) for part in (field.own, field.said) if part]
    given = [field.own for field in fields_of(tool.output_schema)]
    return " ".join([tool.name, tool.name, tool.description, *taken, *given])


def passage(tool: Tool) -> Passage:
    """Return the text that the embedder reads."""
    taken = " ".join(field.own for field in fields_of(tool.input_schema))
    return Passage(f"{tool.description} {taken}".strip(), tool.name, tool.server)


def is_deprecated(tool: Tool) -> bool:
    """Return whether a tool says of itself that it is deprecated.

    >>> said = "[Deprecated] Use read.", "Read a file. DEPRECATED: Use read.", "It is deprecated.", "Find deprecated calls."
    >>> [is_deprecated(Tool.of("files", "cat", each)) for each in said]
    [True, True, True, False]
    """
    return _DEPRECATED.search(tool.description) is not None


DEPTH = 4  # of nested objects and arrays that is looked into
MOST_FIELDS = 200  # of one schema
SAME, WITHIN, BY_TOOL = 1.0, 0.8, 0.5  # how far a match can be trusted
# Names of whatever an answer is: where these agree, nothing agrees.
_WRAPPED = "value string text content body data item result output message description note"
# Names that are about anything: alone they match nothing.
_GENERIC = """
id ids uuid key name names title type kind values contents items results input query url uri path date time status state code
count number limit offset page size label format options params config metadata info ok success error to from by of in on at for
with
"""
_WRAPPERS = frozenset(_WRAPPED.split())
GENERIC = frozenset(_GENERIC.split()) | _WRAPPERS
_IDENTIFIERS = (("id",), ("ids",), ("uuid",), ("key",))
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_UNTOLD = frozenset(
    {"get", "set", "list", "create", "make", "add", "new", "delete", "remove", "update", "read", "write"}
)


@dataclass(frozen=True, slots=True)
class Field:
    """A place for a value in a schema."""

    name: str  # as it is written, with those of the objects around it: `user.id`
    words: tuple[str, ...]  # of its own name, in small letters, without plural
    around: frozenset[str] = frozenset()  # those of the objects around it
    type: str = ""  # JSON Schema's; "" where it is open
    required: bool = False
    said: str = ""  # its description

    @property
    def own(self) -> str:
        """The name without those of the objects around it."""
        return self.name.rpartition(".")[2]

    @property
    def telling(self) -> frozenset[str]:
        """The words of a field's own name that describe its subject."""
        telling = frozenset(self.words) - GENERIC
        return telling or (frozenset(self.words[:-1]) if self.words[-1:] in _IDENTIFIERS else telling)


def words(name: str) -> tuple[str, ...]:
    """Return the words of a name in small letters, without plural.

    >>> words("listOpenIssues_v2")
    ('list', 'open', 'issue', 'v', '2')
    """
    return tuple(_singular(word.lower()) for word in _WORD.findall(name))


def fields_of(schema: Mapping[str, Any]) -> list[Field]:
    """Return the fields of a JSON Schema, outermost first, arrays included."""
    return [field for field, _ in zip(_fields(schema, "", frozenset(), 0), range(MOST_FIELDS), strict=False)]


def inputs_of(schema: Mapping[str, Any]) -> list[Field]:
    """Return the arguments of a tool: the outermost fields alone."""
    return [field for field in fields_of(schema) if "." not in field.name]


def match(given: Field, giver: tuple[str, ...], wanted: Field, taker: tuple[str, ...]) -> float:
    """Return the trust that an output serves as an input, 0..`SAME`.

    `giver` and `taker` are the words of the tools' names.
    """
    types = {given.type, wanted.type} - {""}
    if given.words[-1:] != wanted.words[-1:] or not given.words or (len(types) > 1 and types != {"integer", "number"}):
        return 0.0
    telling = wanted.telling
    if telling:
        if given.words == wanted.words:
            return SAME
        if telling <= given.around | set(given.words):
            return WITHIN
        return BY_TOOL if telling <= given.around | set(given.words) | set(giver) else 0.0
    if wanted.words[-1] in _WRAPPERS:
        return 0.0
    return BY_TOOL if about(wanted, taker) & given.around.union(given.words, giver) else 0.0


def about(wanted: Field, taker: tuple[str, ...]) -> frozenset[str]:
    """Return the words of which a giver must share one."""
    return wanted.telling or frozenset(wanted.around.union(taker) - GENERIC - _UNTOLD)


def _fields(schema: Any, prefix: str, around: frozenset[str], depth: int) -> Iterator[Field]:
    if depth > DEPTH or not isinstance(schema, Mapping):
        return
    properties = schema.get("properties")
    inner: list[tuple[Mapping[str, Any], str, frozenset[str]]] = []
    required = schema.get("required")
    for name, body in properties.items() if isinstance(properties, Mapping) else ():
        body = body if isinstance(body, Mapping) else {}  # noqa: PLW2901 -- `true` stands for anything
        own = words(name)
        needed = isinstance(required, list) and name in required and "default" not in body
        said = body.get("description")
        yield Field(prefix + name, own, around, _type(body), needed, said if isinstance(said, str) else "")
        inner.append((body, f"{prefix}{name}.", around | set(own)))
    if "items" in schema:
        inner.append((schema["items"], prefix, around))
    for body, name, above in inner:
        yield from _fields(body, name, above, depth + 1)


def _type(body: Mapping[str, Any]) -> str:
    found = body.get("type", "")
    if isinstance(found, list):
        found = next((one for one in found if one != "null"), "")
    return found if isinstance(found, str) else ""


def _singular(word: str) -> str:
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")) else word
