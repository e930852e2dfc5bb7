"""Cut code, and questions about code, into terms.

A run of word characters is cut at camelCase, snake_case and digit borders; each part is lower-cased and stemmed, and a
run of several parts is also kept whole, so that `FileWalker`, `file_walker` and `fileWalker` share one compound term.
Queries and documents go through the same function. What is left out: numbers longer than eight digits (hashes,
timestamps) and parts longer than 40 characters (base64, minified names).

    >>> terms("class HTTPServer(fileWalkers):")
    ['class', 'http', 'server', 'httpserver', 'file', 'walker', 'filewalker']

A term is known to the index by its key, the first 64 bits of its BLAKE2b digest: with a million distinct terms the odds
of any collision are about 3 in 10^8, and keys of any two segments agree without a shared dictionary.

There are two stemmers of English: a light one for code, Porter's for prose. The light stemmer is a part of Porter's first step. A full stemmer would give different identifiers the same stem.
Source: M. F. Porter, "An algorithm for suffix stripping" (1980).

The estimate of a language model's tokens is by patterns. They follow what byte-pair tokenizers make of code: words, runs of capitals, three digits, runs of signs, and a line's
end with its indent. For nine of ten pieces of code in nine languages the estimate is 0.91-1.25 times the count of o200k_base,
and 1.05 times over all 1,485 pieces. A quarter of the characters is 0.80-1.25 times, and as low as 0.65.

A letter of two bytes in UTF-8 counts as one token, a letter of three bytes as one and a half, a letter of four as three. For
Chinese, Cyrillic, Arabic, Hindi or Thai the estimate is 1.5 to 3.5 times o200k_base; a quarter of the characters is 0.3 to 0.9.
"""

from __future__ import annotations

import math
import re
from functools import lru_cache
from itertools import chain, pairwise
from typing import TYPE_CHECKING

from vademecum.digests import blake2b

if TYPE_CHECKING:
    from vademecum.index.arrays import RunTable

_ASCII = re.compile(
    r"\n[^\S\n]{0,60}|[A-Z]?[a-z]{1,14}|[A-Z]{1,8}(?![a-z])|[A-Z]|\d{1,3}|[!-/:-@\[-`{-~]{1,12}|(?<=[^\n])[ \t]{3,60}"
    r"|[\x00-\x08\x0b-\x1f\x7f]"
)
_WIDE = re.compile(r"[^\x00-\x7f]+")
_SHARE = 0.98  # of the matches, over all chunks, that o200k_base counts
_BY_BYTES = {2: 1.0, 3: 1.5, 4: 3.0}


def estimated_tokens(text: str) -> int:
    r"""Return about how many tokens a text has; 0 for none.

    >>> estimated_tokens(""), estimated_tokens("def split(total):"), estimated_tokens("\u8a9e\u5f59")
    (0, 5, 3)
    """
    found = len(_ASCII.findall(text)) * _SHARE
    if not text.isascii():
        found += sum(_weight(run[0]) for run in _WIDE.finditer(text))
    return math.ceil(found)


def _weight(run: str) -> float:
    return sum(_BY_BYTES[len(letter.encode("utf-8", "surrogatepass"))] for letter in run)


# For questions about code. Identifiers keep these words: `is_open` keeps `is`.
STOP_WORDS = frozenset(
    """
    a an and are as at be been but by can could do does did for from had has have how i if in into is it its
    me my of on or our should so such than that the their them then there these they this those to us use used
    uses using was we were what when where which who why will with would you your all any about between each
    work works working handle handles handled happen happens get gets
    """.split()  # noqa: SIM905 -- a list of a hundred quoted words is no easier to read
)
# For talk, in English and French. A short form is looked up without its apostrophe.
TALK = frozenset(
    """
    a able about above after again all also am an and any anything are arent as at be because been before being between
    both but by can cant cannot could couldnt did didnt do does doesnt doing dont down during each either else etc ever
    every few for from further get gets getting got had hadnt has hasnt have havent having he hed her here hers herself
    hes hey hi him himself his how hows however i id if ill im in into is isnt it itd itll its itself ive just kind lets
    like likely lot may maybe me might more most much must my myself need no nor not now of off oh ok okay on once one
    only onto or other our ours out over own please really s said same say says see shall she shed shes should shouldnt
    so some something still such sure t tell than thank thanks that thats the their theirs them then there theres these
    they theyd theyll theyre theyve thing things think this those though through to too under until up upon us use
    used uses using very was wasnt way we wed well went were werent weve what whats when whens where wheres whether
    which while who whod whom whos whose why will with within without wont would wouldnt yeah yes yet you youd youll
    your youre yours youve
    au aux avec ce ces cet cette ca comme dans de des donc du elle elles en est et ete etre eux il ils je jai la le les
    leur leurs lui ma mais me mes moi mon ne nos notre nous on ont ou par pas plus pour qu que quel quelle quels qui sa
    se ses si soi son sont sur ta te tes toi ton tu un une vos votre vous y
    """.split()  # noqa: SIM905 -- a list of two hundred quoted words is no easier to read
)


LEAST_ROOT = 5  # letters that words have in common to be kindred
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


_ENDINGS = (
    "", "e", "y", "er", "or", "ion", "ment", "al", "able", "ance", "ence", "ancy", "ency", "ant", "ent", "ive",
    "ity", "ate", "ation", "ator", "ative", "ize", "izer", "ization", "ise", "iser", "isation", "icate",
    "ication", "icator", "ify", "ifier", "ification",
)  # fmt: skip


def kindred(term: str) -> tuple[str, ...]:
    """Return terms that begin as a term does, itself left out.

    They have its Porter stem and a suffix each, so most of them are no words. The term is a light stem.

    >>> {"expir", "expiration"} <= {*kindred("expiry")}, {"serializer", "serialization"} <= {*kindred("serializ")}
    (True, True)
    """
    root = min(porter_stem(term), porter_stem(f"{term}e"), key=len).rstrip("i")
    if len(root) < LEAST_ROOT or not term.isascii():
        return ()
    forms = dict.fromkeys(light_stem(root + ending) for ending in _ENDINGS)
    return tuple(form for form in forms if form != term)


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


_RUN = re.compile(r"\w+")
_PART = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+")
MAX_PART = 40  # characters of a word that is kept
_MAX_NUMBER = 8


def parts(run: str) -> list[str]:
    """Return the lower-cased parts of one run of word characters.

    >>> parts("parseHTTPResponse2_all")
    ['parse', 'http', 'response', '2', 'all']
    """
    if run.islower() and run.isalpha() and run.isascii():
        return [run]  # most runs are one word
    if run.isascii():
        return [part.lower() for part in _PART.findall(run)]
    found: list[str] = []
    for piece in run.split("_"):
        for cjk in _CJK.findall(piece):  # no spaces between words: overlapping pairs stand in for them
            found += [cjk[i : i + 2] for i in range(max(1, len(cjk) - 1))]
        rest = _CJK.sub("", piece).lower()
        if rest:
            found.append(rest)
    return found


def kept_parts(run: str) -> list[str]:
    """Return the parts of a run without long numbers and words.

    >>> kept_parts("retry_20240131120000_limit")
    ['retry', 'limit']
    """
    return [part for part in parts(run) if len(part) <= MAX_PART and not (part.isdigit() and len(part) > _MAX_NUMBER)]


def run_terms(run: str) -> tuple[str, ...]:
    """Return the stemmed parts of one run, then their compound.

    >>> run_terms("request_handlers")
    ('request', 'handler', 'requesthandler')
    """
    found = [light_stem(part) for part in kept_parts(run)]
    if len(found) > 1:
        found.append("".join(found))
    return tuple(found)


def terms(text: str) -> list[str]:
    """Return every term of a text, in order."""
    return [term for run in _RUN.findall(text) for term in run_terms(run)]


def runs(text: str) -> list[str]:
    """Return the runs of word characters of a text, in order."""
    return _RUN.findall(text)


def key(term: str) -> int:
    """Return the 64-bit key of a term.

    >>> hex(key("walker"))
    '0x7d887cc0d0f3482b'
    """
    return int.from_bytes(blake2b(term.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")


def term_table() -> RunTable:
    """Return a table that counts terms by their keys."""
    from vademecum.index.arrays import RunTable  # brings numpy, which cutting text into terms does not need

    known = lru_cache(maxsize=1 << 15)(key)
    return RunTable(_RUN, lambda run: list(map(known, run_terms(run))))


def query_terms(text: str) -> tuple[list[str], list[str]]:
    """Return the distinct terms of a question, and compounds of adjacent words.

    Stop words are dropped.

    Code may write two words as one name, so compounds are looked for too; but nobody asked for them. If nothing but
    stop words is there, they stay: a question made of `this` and `use` is about them.

        >>> query_terms("how does the file walker work")
        (['file', 'walker'], ['filewalker'])
    """
    found = _RUN.findall(text)
    asked = [run for run in found if run.lower() not in STOP_WORDS] or found
    known = {run: run_terms(run) for run in dict.fromkeys(asked)}
    own = dict.fromkeys(chain.from_iterable(known.values()))
    last = {run: these[-1] if these else "" for run, these in known.items()}
    ends = [last[run] for run in found if run in last]
    joined = dict.fromkeys(before + after for before, after in pairwise(ends) if before and after)
    return list(own), [term for term in joined if term not in own]


def lowered(text: str) -> str:
    """Return a text in lower case, of the same length.

    A character whose lower case is two characters, like `İ`, is left as is.
    """
    low = text.lower()
    return low if len(low) == len(text) else "".join(c.lower() if len(c.lower()) == 1 else c for c in text)


class PatternCounter:
    """Counts tokens by an estimate, which needs no file and no dependency."""

    name = "pattern-1"

    def count(self, text: str) -> int:
        """Return a text's estimated tokens; 0 for empty text.

        >>> PatternCounter().count("def split(total):")
        5
        """
        return estimated_tokens(text)
