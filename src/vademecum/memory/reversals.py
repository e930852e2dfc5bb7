"""Pair a reversal with the fact that it ends, in other words.

    our builds run on Jenkins · no longer on Jenkins            the value is named as gone: it ends
    the beta opens Nov 3 · beta is pushed to Nov 14             another value of the same kind, of the same thing
    we target Godot 3 · we bumped to Godot 4                    another number behind the same word

What is asked, supposed or passing ("Redis is down today") ends nothing, nor does what is said of another thing ("the wiki moved
off Postgres").
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import islice, pairwise

from vademecum.memory.forms import compiled
from vademecum.memory.kinds import REPLACING
from vademecum.memory.labels import CHOICES, Subject, named, names_in, without_marks
from vademecum.memory.records import Claim, Fact, FactKind, Role
from vademecum.memory.words import is_denied, other_forms, terms

_SAID = compiled(__file__)
VALUE = _SAID["value"]


def kinds_of(value: str) -> frozenset[str]:
    """Return the kinds of a value; of a count, its noun.

    >>> [sorted(kinds_of(each)) for each in ("May 3", "80 requests", "stage.acme.dev", "pnpm")]
    [['date'], ['request'], ['address'], []]
    """
    found = {
        kind
        for match in VALUE.finditer(value.lower())
        for kind in terms(match["noun"] or "") or [match.lastgroup or ""]
    }
    return frozenset(found | ({"address"} if _SAID["address"].search(value) else set()))


_SINGLE = frozenset(("date", "clock", "version", "money"))  # kinds of which a thing has one value
_ALIKE = 0.5  # share of two things' words
_NAME = 3  # words of a value that may be a name alone
DONE = 0.6  # share of the words of a piece of work
MOST = 0.5  # share of the words of a value or a subject, which name it
# Words of a change, of a time, and of no thing
_WEAK = frozenset(
    terms(
        """
        upgrade downgrade rewrite rewritten port bump goes rise climb grow double monter monte descendre descend move switch migrate change push postpone slip delay shift raise lower cut drop extend day date night week month weekend
        yesterday today tonight morning finally decide actually new swap replace leave quit go come take stay keep live sit be run use any anymore more longer need peine besoin utiliser utilise
        put set make start redo turn get got back thought repo project code can last only forget drop skip scrap thing idea rule plan everything everyone team somebody nobody
        encore passer passe déplacer déplacée décaler décalé décalée repousser repoussée reporter reportée déménager déménagé migrer basculer changer
        repasser peux peut faut devenir devient glisser glisse version réécrire réécrit réécrite venir vient hier semaine mois jour nuit matin finalement désormais maintenant quitter abandonner aller vont part partent mettre garder
        rester chez via équipe tout prévue prévu
        """
    )
)


def may_reverse(claim: Claim) -> bool:
    """Return whether a claim may end a fact of another key."""
    if claim.speaker in (Role.ASSISTANT, Role.COMMIT) or _SAID["passing"].search(claim.text):
        return False
    sure = claim.corrects or not claim.confidence or is_denied(claim.value)
    if claim.kind not in REPLACING:
        return claim.kind is FactKind.FIX and (claim.corrects or _SAID["done"].search(claim.text) is not None)
    valued = kinds_of(claim.value) or _known(claim.value) or _SAID["bare"].search(claim.value)
    return bool(sure or valued or _SAID["from_now"].search(claim.text)) or may_retract(claim.text)


def may_retract(sentence: str) -> bool:
    """Return whether a sentence may take something back, whatever its kind."""
    signs = (_SAID[sign].search(sentence) for sign in ("retracts", "gone_after", "too_little", "done"))
    return _SAID["passing"].search(sentence) is None and any(signs)


def corrects(sentence: str) -> bool:
    """Return whether a short sentence corrects a value."""
    rest = _corrected(sentence)
    return rest != sentence.strip(" .!") and bool(
        kinds_of(rest) or _SAID["bare"].search(rest) or (len(rest.split()) == 1 and _names(rest))
    )


def _corrected(sentence: str) -> str:
    """Return a sentence without the words that announce a correction."""
    return _SAID["corrects"].sub("", sentence, count=1).strip(" .!")


def corrected(text: str, facts: Sequence[Fact]) -> list[tuple[Fact, str]]:
    """Return facts of the message before, with new values or "".

    `text` takes them back ("scratch that") or corrects them ("no sorry, 3 am").
    """
    rest = _corrected(text)
    if not corrects(text):
        return [(fact, "") for fact in facts]
    found = []
    for fact in facts:
        old, new = _other_in(fact, rest, gone=False)
        if new:
            found.append((fact, _with(fact.value, old, new)))
        elif not _valued(rest) and len(_names(fact.value)) == 1 and _known(rest) == _known(fact.value):
            found.append((fact, rest))
    return found


def _with(value: str, old: str, new: str) -> str:
    """Return a value with one of its parts replaced."""
    return re.sub(rf"(?i)(?<!\w){re.escape(old)}(?!\w)", lambda _: new, value, count=1)


def _amounts(text: str) -> set[str]:
    """Return the bare numbers of a text, dates and times left out."""
    plain = VALUE.sub(lambda match: " " if match.lastgroup in ("date", "clock") else match[0], text.lower())
    return set(_SAID["bare"].findall(plain))


def _valued(text: str) -> list[tuple[str, str]]:
    """Return the kind and the words of each value in a text."""
    return [
        (kind, text[slice(*match.span())])
        for match in VALUE.finditer(text.lower())
        for kind in kinds_of(f"{match[0]} {match['noun'] or ''}")
    ]


def ended(claim: Claim, facts: Sequence[Fact]) -> list[tuple[Fact, str]]:
    """Return the facts that a claim's sentence ends, with new values.

    The value is a denial where the sentence names no other.
    """
    if not may_reverse(claim):
        return []
    found = []
    for fact in _near(claim, facts):
        if fact.valid_from < claim.at:
            words = _gone_in(fact, claim.text) or _denied_in(fact, claim)
            old, new = _other_in(fact, claim.text, gone=bool(words))
            if new and (words or _is_alike(claim, fact, old, new)):
                found.append((fact, _with(fact.value, old, new)))
            elif words:
                found.append((fact, f"not {words}"))
    return found


def finished(claim: Claim, todos: Sequence[Fact]) -> list[Fact]:
    """Return the open work that a claim's sentence reports as done."""
    if not may_reverse(claim) or _SAID["done"].search(claim.text) is None or is_denied(claim.text):
        return []
    said, names = _in_both(claim.text), _names(claim.text)
    todos = [fact for fact in todos if _names(fact.text) <= names or names <= _names(fact.text)]  # "rotate the DHL key"
    held = [(fact, _words(_SAID["by_when"].split(fact.value)[0])) for fact in todos if fact.valid_from < claim.at]

    def is_said(word: frozenset[str]) -> bool:
        return all(not said.isdisjoint((term, *other_forms(term))) for term in word)

    def are_said(words: Sequence[frozenset[str]]) -> bool:
        return bool(words) and sum(map(is_said, words)) >= DONE * len(words)

    # "the index is done" names no act
    return [fact for fact, words in held if are_said(words) or (len(words) > 2 and are_said(words[1:]))]


def _denied_in(fact: Fact, claim: Claim) -> str:
    """Return the words of a claim that deny a fact, "" for none."""
    if not is_denied(claim.value):
        return ""
    core, said = _terms(claim.value) - _WEAK, _in_both(fact.text) | _terms(fact.subject) | _WEAK
    of_it = not core.isdisjoint(_terms(fact.value)) and core <= said and _terms(_clause_of(claim)) <= said
    return _SAID["denial"].sub("", claim.value, count=1) if of_it else ""


def states(claim: Claim, fact: Fact) -> bool:
    """Return whether a claim itself repeats or replaces a fact."""
    if claim.key != fact.key or is_denied(claim.value):
        return False
    return claim.digest == fact.digest or not ((names := _names(fact.value)) and names <= _names(claim.value))


def is_about_past(claim: Claim, gone: Sequence[Fact], taken: Sequence[Claim]) -> bool:
    """Return whether a claim only tells of gone things.

    An example is "YAML was a mistake".
    """
    said, about = _terms(claim.value), _terms(claim.subject)
    names = {name for fact in gone if fact.key != claim.key for name in _names(fact.value) | _values(fact.value)}
    olds = set(map(_terms, names))
    olds |= {_terms(_SAID["denial"].sub("", each.value)) for each in taken if is_denied(each.value)}
    return not is_denied(claim.value) and any(
        old and (old <= said or (old <= about and not _names(claim.value))) for old in olds
    )


def _is_alike(claim: Claim, fact: Fact, old: str, new: str) -> bool:
    """Return whether a sentence speaks of a fact's thing.

    A number beside the value tells things apart: "pod 2 listens on 8082" says nothing of pod 1.
    """
    if not set(re.findall(r"\d+", _with(_with(claim.text, new, ""), old, ""))) <= set(re.findall(r"\d+", fact.text)):
        return False
    is_subject = claim.corrects and claim.text.lower().startswith(old.lower()) and len(claim.value.split()) > _NAME
    said, denied = (_with(claim.value, each, "") != claim.value for each in (old, new)), is_denied(claim.value)
    if tuple(said) == (not denied, denied) and not is_subject:  # "tabs over spaces" repeats tabs
        return False
    clause = _clause_of(claim) if claim.value else claim.text
    about, other = _thing(clause, claim.value, new), _thing(fact.text, fact.value) | _terms(fact.subject)
    if _with(claim.text, old, "") != claim.text:  # "we moved from Oracle to MariaDB"
        about = _thing(claim.text, claim.value, old, new)
        return is_subject or (claim.corrects and (not about or not about.isdisjoint(other)))
    return bool(about) and max(_alike(about, other), _alike(about, _terms(fact.subject))) > 0


def _other_in(fact: Fact, text: str, *, gone: bool) -> tuple[str, str]:
    """Return a part of a value, and its counterpart in a sentence."""
    pairs = _pairs(fact.value, text, gone=gone)
    return next(((old, min(others)) for old, others in pairs if len(others) == 1), ("", ""))


def _pairs(value: str, text: str, *, gone: bool) -> Iterator[tuple[str, set[str]]]:
    """Yield each part of a value with its counterparts in a text."""
    known = {match[0]: CHOICES[match[0].lower().replace("_", " ")] for match in named(without_marks(text))}
    own_names = [match[0] for match in named(without_marks(value))]
    for name in own_names:
        choice = CHOICES[name.lower().replace("_", " ")]
        yield name, {each for each, of in known.items() if of == choice and each.lower() != name.lower()}
    valued = _valued(text)
    for kind, old in _valued(value):
        yield old, {new for of, new in valued if of == kind and new.lower() != old.lower()}
    numbers, own = map(_amounts, (text, value))
    if len(own) == 1:
        yield min(own), numbers - own
    for match in islice(_SAID["name"].finditer(value), 1 if gone and not own_names else 0):
        apart = [(start, end) for start, end in _clauses(text) if match[0] not in text[start:end]]
        named_apart = [each[0] for start, end in apart for each in _SAID["name"].finditer(text, start, end)]
        yield match[0], {*named_apart, *_SAID["towards"].findall(text)} - {match[0]}


def replaced(claim: Claim, facts: Sequence[Fact]) -> Fact | None:
    """Return the fact whose value gives way to a claim's, if any."""
    if not claim.value or claim.kind not in REPLACING or not may_reverse(claim) or is_denied(claim.value):
        return None
    said = _clause_of(claim)
    alike = [(_likeness(claim, said, fact), fact.valid_from, fact.id, fact) for fact in _near(claim, facts)]
    here = (each for each in alike if each[3].place == claim.place or "language:" in each[3].place + claim.place)
    best = max(here, default=None)
    return best[3] if best is not None and best[0] else _only_of_kind(claim, _thing(said, claim.value), facts)


def _only_of_kind(claim: Claim, about: frozenset[str], facts: Sequence[Fact]) -> Fact | None:
    """Return the only choice or value of a correction's kind."""
    kinds = set[Subject]() if _thing(claim.text, claim.value) else _known(claim.value)
    of_value = kinds_of(claim.value) & _SINGLE if about else frozenset[str]()
    if not claim.corrects or not (kinds or of_value):
        return None
    held = [fact for fact in facts if not is_denied(fact.value)]
    alike = [fact for fact in held if about <= _terms(fact.subject) and of_value & kinds_of(fact.value)]
    found = alike or [fact for fact in held if kinds & _known(fact.value)]
    return found[0] if len(found) == 1 and found[0].place == claim.place else None


def _near(claim: Claim, facts: Sequence[Fact]) -> list[Fact]:
    """Return the facts with a word in common, without denials."""
    said = _terms(claim.text)
    return [fact for fact in facts if not said.isdisjoint(_terms(fact.text)) and not is_denied(fact.value)]


@lru_cache(maxsize=4096)  # the same facts meet one reversal after another
def _terms(text: str) -> frozenset[str]:
    return frozenset(terms(_SAID["released"].sub("release", text)))


@lru_cache(maxsize=4096)
def _in_both(text: str) -> frozenset[str]:
    """Return the terms of a text, in English and in French."""
    return _terms(text).union(*map(other_forms, _terms(text)))


# -- another value of the same thing ------------------------------------------------------------------------------------------


def _likeness(claim: Claim, said: str, fact: Fact) -> float:
    """Return how alike two values' things are, 0 for unlike kinds."""
    if not _is_of_kind(claim, fact):
        return 0.0
    one, other = _terms(claim.subject), _terms(fact.subject)
    same = _alike(one, other) if one == other or not _known(claim.value) else 0.0  # databases of two purposes are two
    things = _alike(_thing(said, claim.value), _thing(fact.text, fact.value))
    return max(same, things) or float(_gone_in(fact, claim.text) != "")


def _is_of_kind(claim: Claim, fact: Fact) -> bool:
    """Return whether two values are of one kind, and differ."""
    if kinds_of(claim.value) & kinds_of(fact.value):
        return not _values(claim.value) & _values(fact.value)
    if kinds_of(claim.value) and not re.search(r"\d", fact.value):
        return False
    one, other = _names(claim.value), _names(fact.value)
    if not one or not other or one & other or min(one)[0].isdigit() is not min(other)[0].isdigit():
        return False
    known = _known(claim.value), _known(fact.value)
    return not all(known) or bool(known[0] & known[1])


def _known(value: str) -> set[Subject]:
    """Return the kinds of the known choices in a value."""
    return {CHOICES[name] for name in _names(value) if name in CHOICES}


def _alike(one: frozenset[str], other: frozenset[str]) -> float:
    """Return the later thing's share of the earlier, else 0."""
    share = len(one) / max(len(other), 1) if one <= other else 0.0
    return share if share >= _ALIKE else 0.0


def _thing(text: str, *values: str) -> frozenset[str]:
    """Return the terms of a text without values and words of change."""
    found = {each for value in values for each in (*_names(value), *_values(value))}
    found |= {value for value in values if value and value != text and " " not in value}
    singles = sorted(map(re.escape, found), key=len, reverse=True)
    plain = re.sub(rf"(?<!\w)(?:{'|'.join(singles)})(?!\w)", " ", text, flags=re.IGNORECASE) if singles else text
    return frozenset(term for term in _terms(plain) if not term[0].isdigit()) - _WEAK


def _values(text: str) -> set[str]:
    return {f"{match[0]} {match['noun'] or ''}".strip() for match in VALUE.finditer(text.lower())}


@lru_cache(maxsize=4096)
def _names(text: str) -> frozenset[str]:
    """Return the names in a text, lower-cased.

    A first word is one by its looks beyond a capital, or in a text of two words.
    """
    plain = without_marks(text)
    found = set(names_in(plain)) | {match[0].lower().replace("_", " ") for match in named(plain)}
    first = len(plain.split()) <= 2
    further = (match for match in _SAID["name"].finditer(plain) if match.start() or first or not match[0].istitle())
    found |= {match[0].lower() for match in further if len(match[0]) > 1}
    alone = plain.lower() if kinds_of(plain) else _SAID["preposition"].split(plain.lower())[0]
    return frozenset(name for name in found or {alone} if not kinds_of(name) and (found or " " not in name))


def _clause_of(claim: Claim) -> str:
    """Return the clause of a claim's sentence with its value's end."""
    at = claim.text.find(claim.value.split()[-1]) if claim.value else -1
    return next((claim.text[start:end] for start, end in _clauses(claim.text) if start <= at < end), claim.text)


def _clauses(text: str) -> Iterator[tuple[int, int]]:
    cuts = [(0, 0), *(cut.span() for cut in _SAID["clause"].finditer(text)), (len(text), len(text))]
    return ((start, end) for (_, start), (end, _) in pairwise(cuts))


# -- named as gone ------------------------------------------------------------------------------------------------------------


def _gone_in(fact: Fact, text: str) -> str:
    """Return a sentence's words that name a fact as gone, "" for none."""
    called = [each for name in (*_names(fact.value), fact.subject) if (each := _terms(name)) <= _terms(text) and each]
    amounts = {each for each in (*_values(fact.value), *_SAID["bare"].findall(fact.value)) if each in text.lower()}
    said = _in_both(fact.text) | _terms(fact.subject)
    parts = [part for part in map(_words, (fact.value, fact.subject)) if any(one <= _terms(text) for one in part)]
    for start, end in _clauses(text) if called or amounts or parts else ():
        clause = _terms(text[start:end])
        of_it = clause <= said | _WEAK and any(each <= clause for each in called)
        if of_it and _SAID["no_more"].search(text, start, end):
            return text[start:end].strip()
        for first, last in _runs(text, start, end, said):
            words = text[first:last]
            purpose = _SAID["purpose"].match(text, last, end)
            here = {*terms(words), *terms(purpose["what"] if purpose else "")}
            amount = any(each in words.lower() for each in amounts)
            if amount and _SAID["too_little"].match(text, last):
                return words
            most = any(MOST * len(part) <= sum(one <= here for one in part) for part in parts)
            if (amount or most or any(each <= here for each in called)) and _is_gone(
                text, (start, first, last, end), said
            ):
                return words
    return ""


@lru_cache(maxsize=4096)
def _words(text: str) -> tuple[frozenset[str], ...]:
    """Return the terms of each telling word of a text."""
    found = (frozenset(terms(match[0])) for match in _SAID["word"].finditer(text))
    return tuple(each for each in found if each and not each <= _WEAK and not min(each)[0].isdigit())


def _runs(text: str, start: int, end: int, said: frozenset[str]) -> Iterator[tuple[int, int]]:
    """Yield the stretches of a clause whose words a fact has too."""
    first = last = -1
    for match in _SAID["word"].finditer(text, start, end):
        own = terms(match[0])
        if own and said.issuperset(own):
            first, last = (match.start() if first < 0 else first), match.end()
        elif first >= 0:
            yield first, last
            first = -1
    if first >= 0:
        yield first, last


def _is_gone(text: str, at: tuple[int, int, int, int], said: frozenset[str]) -> bool:
    """Return whether the words around a stretch say that it is gone.

    They do not where they name another thing: another purpose, or who dropped it.
    """
    start, first, last, end = at
    purpose = _SAID["purpose"].match(text, last, end)
    if purpose is not None and not _names(f"for {purpose['what']}") and said.isdisjoint(terms(purpose["what"])):
        return False
    if _SAID["gone_after"].match(text, last):
        return True
    sign = _SAID["gone_before"].search(text[start:first])
    if sign is None or _SAID["ends"].match(text, last) is None:
        return False
    before = _SAID["helping"].sub("", text[start : start + sign.start()])
    who = before.split()[-1:]  # who dropped it
    others = {*terms(" ".join(who)), *terms(sign["what"] or "")} - _WEAK - said
    return not others or (bool(who) and who[0][0].isupper() and not sign["what"])
