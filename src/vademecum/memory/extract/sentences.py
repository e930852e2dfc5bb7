"""Tell a sentence's kind with a small linear model.

Features are words, pairs and triples of words, endings, and pairs of signs wherever they stand, hashed into buckets. Names of tools, paths, numbers and days count as such,
whatever they are. Beside another word, so do all but the words that many sentences have: a rarer word counts as what it is one of ("scrapped" as
what is dropped), or by its ending. `training/memory_reading` holds the sentences, these classes of words, and the program that fits the weights.
The built-in embedder's vectors as further features gained nothing.
"""

from __future__ import annotations

import math
import re
from collections.abc import Container, Iterator, Mapping
from functools import lru_cache
from itertools import combinations, islice, pairwise
from pathlib import Path
from typing import NamedTuple
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from vademecum.index.arrays import load_arrays
from vademecum.memory.kinds import FactKind
from vademecum.memory.labels import CHOICE

KINDS = ("none", "instruction", "preference", "decision", "fact", "fix", "todo", "back")
"""The kinds of a sentence: nothing to keep, six kinds of statements, and words that take back the sentence before."""

BUCKETS = 240_000
_MOST_TOKENS, _MOST_CHARACTERS = 60, 800  # of a sentence that are looked at
_USUAL = 40.0  # features of a short sentence
_TOKEN = re.compile(
    r"(?P<path>[\w.-]*/[\w./*-]*|[\w-]+\.(?:py|ts|js|go|md|toml|yaml|json|sql|dev|com|org|net|io)\b)|(?P<number>\d[\w.:,]*)"
    r"|(?P<name>(?<!\S)--?[a-z][\w-]*)|(?P<day>(?i:(?:mon|tues|wednes|thurs|fri|satur|sun)days?|lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche)\b"
    r"|(?i:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)\w*(?= \d))|(?P<quoted>\s{5,})|(?P<word>\w+)|(?P<mark>[^\w\s])"
)
_WORD = re.compile(r"[^\W\d_]{2,}")
_TODO = re.compile(r"(?i)(?:- )?(?:todo|to-do|fixme|à faire)\b(?! (?:lists?|files?|apps?)\b)\s*[:\u2013\u2014-]?\s*\w")
_CONTRACTED = re.compile(
    r"(?i)\b(?:(ca)n'?t|(ca)nnot|(wo)n'?t|(\w+)n't|(is|are|was|were|do|does|did|has|have|had)nt)\b"
)
_WHOLE = {"ca": "can", "wo": "will"}
_ELIDED = re.compile(r"(?i)\bn'(?=\w)")
_NE = re.compile(r"(?i)\bne ")
_CAPITALS = re.compile(r"\w+[A-Z_]|[A-Z](?!$)")
# Words and marks whose company tells: "if" beside "we", "the" beside "?"
_COMPANY = """not no if when while before after as that which who because since so but and or ? ! : , i we you it this my our your the a
    is was will would can could should do does did have has had want need please for to in with <name> <tool> <path> <number> <day> <quoted>
    pas ne si quand avant après que qui car donc mais et ou je on nous tu vous il ce ça mon notre le la un une est était sera peux peut veux
    voudrais pour à dans avec"""
_SIGNS = frozenset(_COMPANY.split())
_ENDINGS = ("ing", "ed", "ly", "s", "er", "ant", "é")
_TOLD = (FactKind.DECISION, FactKind.FACT)
_WEIGHTS = Path(__file__).parent / "sentences-1.safetensors"


class Kinded(NamedTuple):
    """A sentence's kind, None for nothing, and two probabilities."""

    kind: FactKind | None
    kept: float  # that it states something lasting
    back: float  # that it takes back the sentence before


def kind_of(sentence: str) -> Kinded:
    """Return a sentence's most probable kind.

    >>> kind_of("we moved off npm, everything runs on pnpm now").kind, kind_of("can you rename this?").kind
    (<FactKind.DECISION: 'decision'>, None)
    """
    if _TODO.match(sentence):
        return Kinded(FactKind.TODO, 0.9, 0.0)
    if len(_WORD.findall(sentence)) < 2:
        return Kinded(None, 0.0, _odds(sentence)[-1])
    odds = _odds(sentence)
    best = max(range(1, len(KINDS) - 1), key=odds.__getitem__)
    kept = 1 - odds[0] - odds[-1]
    return Kinded(FactKind(KINDS[best]) if kept >= odds[0] else None, kept, odds[-1])


def probability(sentence: str, kind: FactKind) -> float:
    """Return the probability that a sentence states something of a kind.

    A decision and a fact read alike, so each counts as the other.
    """
    odds = _odds(sentence)
    return sum(odds[KINDS.index(each)] for each in (_TOLD if kind in _TOLD else (kind,)))


@lru_cache(maxsize=256)  # a sentence, its clauses and their parts are asked again and again
def _odds(sentence: str) -> tuple[float, ...]:
    weights, scale, leaning, common, classes = _model()
    places = features(sentence, common, classes)
    scores = weights[places].sum(0, dtype=np.int32) * (scale * damping(len(places)))
    scores[0] -= leaning
    powers = np.exp(scores - scores.max())
    return tuple((powers / powers.sum()).tolist())


def damping(count: float) -> float:
    """Return the factor on the summed weights of `count` features.

    Long sentences are no surer than short ones.
    """
    return math.sqrt(_USUAL / max(count, 1.0))


def features(sentence: str, common: Container[str], classes: Mapping[str, str]) -> list[int]:
    """Return a sentence's distinct feature buckets, ascending, below `BUCKETS`.

    Beside another word, `common` words count as such, and words of `classes` as what they are one of.
    """
    tokens = list(islice(_tokens(sentence), _MOST_TOKENS))
    words = ["^", *(shape for shape, _ in tokens), "$"]
    found = {*words, *(name for _, name in tokens if name), f"{min(len(tokens), 24) // 3} long"}
    found.update(f"~{word[-3:]}" for word in words if len(word) > 4)
    found.update(f"{word[:4]}~" for word in words if len(word) > 5)
    kinds = [classes.get(word, "") for word in words]
    found.update(kinds)
    signs = {kind or word for word, kind in zip(words, kinds, strict=True) if kind or word in _SIGNS}
    words = [
        word
        if word in common or not word.isalpha()
        else kind or next((f"<{end}>" for end in _ENDINGS if word.endswith(end) and len(word) > 4), "<other>")
        for word, kind in zip(words, kinds, strict=True)
    ]
    found.update(map(" ".join, pairwise(words)))
    found.update(map(" ".join, zip(words, words[1:], words[2:], strict=False)))
    found.update(f"{one} _ {other}" for one, other in zip(words, words[2:], strict=False))
    found.update(map(" & ".join, combinations(sorted({*signs, f"^{words[1]}"}), 2)))
    found.update(f"^{word}" for word in words[1:4])
    found.update(f"{word}$" for word in words[-4:-1])
    if words[-2] == "?":
        found.update([f"?{word}" for word in words])
    return sorted({crc32(each.encode("utf-8", "surrogatepass")) % BUCKETS for each in found})


def spelled_out(text: str) -> str:
    """Return a text with each denial as one word.

    >>> spelled_out("it isn't, we can't and dont"), spelled_out("on n'utilise pas npm")
    ('it is not, we can not and do not', 'on ne utilise pas npm')
    """

    def whole(found: re.Match[str]) -> str:
        verb = next(filter(None, found.groups()))
        return f"{_WHOLE.get(verb.lower(), verb)} not"

    return _ELIDED.sub("ne ", _CONTRACTED.sub(whole, text.replace("\u2019", "'")))


def _tokens(sentence: str) -> Iterator[tuple[str, str]]:
    """Yield each token's shape, and the word of a capitalised one."""
    plain = _NE.sub("", spelled_out(sentence[:_MOST_CHARACTERS].replace("`", "")))  # people leave "ne" out
    plain = CHOICE.sub("\ue000", plain)
    for found in _TOKEN.finditer(plain):
        kind, text = found.lastgroup, found[0]
        if kind == "word" and (_CAPITALS.match(text, 1) or (found.start() and text[0].isupper() and text != "I")):
            yield "<name>", text.lower()
        elif text == "\ue000":
            yield "<tool>", ""
        else:
            yield (text.lower() if kind in ("word", "mark") else f"<{kind}>"), ""


@lru_cache(maxsize=1)
def _model() -> tuple[NDArray[np.int8], NDArray[np.float32], float, frozenset[str], dict[str, str]]:
    arrays, _ = load_arrays(_WEIGHTS)
    weights, scale = np.asarray(arrays["weights"], np.int8), np.asarray(arrays["scale"], np.float32)
    common = frozenset(bytes(arrays["common"]).decode().split("\n"))
    return weights, scale, float(arrays["leaning"][0]), common, classes_of(bytes(arrays["classes"]).decode())


def classes_of(table: str) -> dict[str, str]:
    """Return each word's class, of lines with a class and its words."""
    lines = [line.partition(": ") for line in table.splitlines()]
    return {word: f"<{name}>" for name, _, words in reversed(lines) for word in words.split()}
