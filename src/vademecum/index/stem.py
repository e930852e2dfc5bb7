"""Two stemmers of English: a light one for code, Porter's for prose.

The light stemmer is a part of Porter's first step. A full stemmer would give different identifiers the same stem.
Source: M. F. Porter, "An algorithm for suffix stripping" (1980).
"""

from __future__ import annotations

from functools import lru_cache

_SINGULAR = {"alias", "atlas", "bias", "canvas", "lens"}  # no plurals, though they end as plurals do


@lru_cache(maxsize=1 << 13)  # two of three words of an identifier were in one before
def light_stem(word: str) -> str:
    """Strip plurals, -ing, -ed and a final -e.

    >>> [light_stem(w) for w in ("routes", "registered", "parsing", "queries", "class", "status", "string")]
    ['rout', 'register', 'pars', 'query', 'class', 'status', 'string']
    >>> [light_stem(w) for w in ("alias", "aliases", "aliased", "lens", "lenses", "areas")]
    ['alias', 'alias', 'alias', 'lens', 'lens', 'area']
    """
    if len(word) < 4 or not word.isalpha():
        return word
    if word.endswith("s") and word not in _SINGULAR and not word.endswith(("ss", "us", "is")):
        word = word[:-3] + "y" if word.endswith("ies") and len(word) > 4 else word[:-1]
    for suffix in ("ing", "ed"):
        base = word.removesuffix(suffix)
        if base is not word and len(base) >= 4:
            word = base[:-1] if base[-1] == base[-2] and base[-1] not in "lsz" else base
            break
    return word[:-1] if word.endswith("e") and len(word) > 4 and not word.endswith("ee") else word


def porter_stem(word: str) -> str:
    """Return the Porter stem of a lower-cased English word.

    >>> [porter_stem(word) for word in ("caresses", "ponies", "relational", "conditional", "hopefulness", "adjustment", "hiking")]
    ['caress', 'poni', 'relat', 'condit', 'hope', 'adjust', 'hike']
    """
    if len(word) <= 2 or not word.isalpha():
        return word
    word = _plural(word)
    word = _past(word)
    if word.endswith("y") and _has_vowel(word[:-1]):
        word = word[:-1] + "i"
    for rules in (_STEP_2, _STEP_3):
        word = _replaced(word, rules)
    word = _step_4(word)
    if word.endswith("e"):
        base = word[:-1]
        if _measure(base) > 1 or (_measure(base) == 1 and not _short(base)):
            word = base
    return word[:-1] if word.endswith("ll") and _measure(word[:-1]) > 1 else word


def _plural(word: str) -> str:
    if word.endswith(("sses", "ies")):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word


def _past(word: str) -> str:
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    for suffix in ("ed", "ing"):
        base = word.removesuffix(suffix)
        if base != word and _has_vowel(base):
            if base.endswith(("at", "bl", "iz")):
                return base + "e"
            if len(base) > 1 and base[-1] == base[-2] and base[-1] not in "aeioulsz":
                return base[:-1]
            return base + "e" if _measure(base) == 1 and _short(base) else base
    return word


_STEP_2 = {
    "ational": "ate", "tional": "tion", "enci": "ence", "anci": "ance", "izer": "ize", "abli": "able", "alli": "al",
    "entli": "ent", "eli": "e", "ousli": "ous", "ization": "ize", "ation": "ate", "ator": "ate", "alism": "al",
    "iveness": "ive", "fulness": "ful", "ousness": "ous", "aliti": "al", "iviti": "ive", "biliti": "ble",
}  # fmt: skip
_STEP_3 = {"icate": "ic", "ative": "", "alize": "al", "iciti": "ic", "ical": "ic", "ful": "", "ness": ""}
_STEP_4 = (
    "ement", "ance", "ence", "able", "ible", "ment", "ant", "ent", "ism", "ate", "iti", "ous", "ive", "ize", "ion",
    "al", "er", "ic", "ou",
)  # fmt: skip


def _replaced(word: str, rules: dict[str, str]) -> str:
    suffix = max(filter(word.endswith, rules), key=len, default="")
    base = word.removesuffix(suffix)
    return base + rules[suffix] if suffix and _measure(base) > 0 else word


def _step_4(word: str) -> str:
    suffix = next(filter(word.endswith, _STEP_4), "")
    base = word.removesuffix(suffix)
    return base if _measure(base) > 1 and (suffix != "ion" or base.endswith(("s", "t"))) else word


def _shape(word: str) -> str:
    """Return v for each vowel and c for each consonant."""
    shape = ""
    for i, letter in enumerate(word):
        is_vowel = letter in "aeiou" or (letter == "y" and i > 0 and shape[-1] == "c")
        shape += "v" if is_vowel else "c"
    return shape


def _measure(word: str) -> int:
    """Return m of [C](VC)^m[V]: the vowels followed by a consonant."""
    return _shape(word).count("vc")


def _has_vowel(word: str) -> bool:
    return "v" in _shape(word)


def _short(word: str) -> bool:
    """Return whether a word ends in a short syllable, as `hop` does."""
    return _shape(word).endswith("cvc") and word[-1] not in "wxy"
