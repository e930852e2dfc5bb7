"""Tell passwords and generated keys from names and words, by their look."""

from __future__ import annotations

import math
import re
from collections import Counter
from itertools import pairwise

_PLACEHOLDER = re.compile(
    r"(?i)[x*.•_?#-]+$|.*(?:your|example\b|placeholder|change[_-]?me|redacted|dummy|\.\.\.|…|xxxx|\*\*\*)|(?:none|null|nil|true|false|undefined|todo|tbd|n/a|.*-(?:based|encoded|encrypted|hashed|protected|signed|only))$"
)
# What is said of a credential, or the type of a field for one
_SAID_TEXT = """
    a about abc access again all already also always an and any are as at auth automatically bad base64 based basic
    bearer because blank bool boolean both broken but by bytes char clear client code confirm correct current data
    default different digest either else email empty enough false field file fine for from good given gone hash hex
    hidden here her hers his how if image important in incorrect input int integer invalid it its itself jwt key
    kept known left less like line long longer lost made meant mine missing my name new nil no none not nothing null
    number object of off ok okay old on one only open optional or other our out over passwd password plain plaintext
    present private protected public read readonly ready required right root safe same scope secret secure see sent
    set short simple so some something static still str string strong such text that the their them then there these
    they this those to today token too tokens true type undefined unique unknown unset until up url used user
    username usually valid value varchar void weak what when where which who why will with without word wrong yes
    you your yours admin kind bon bonne celui celle ce cette ces chiffré comme dans de des du en est et être expiré
    faux ici inconnu invalide la le les mauvais nécessaire non nouveau obligatoire ou où oublié par pas perdu pour
    que qui requis sera si sur toujours trop un une valide vide voir
"""
_SAID = frozenset(_SAID_TEXT.split())
_SAID_LIKE = re.compile(
    r"(?i)^(?:[^\W\d_]+(?:ed|en|able|ible|ing|tion|ment|ness|ally|ately|al|ty|wn|ct|id|é|ée|és|ées|er|age)|(?:in|un)[^\W\d_]+|.*(?:passw|passe?\b|pass_|pwd|secret|token|cred|mot_?de|kennwor|passwor|contrase|senha|wachtwoord|heslo|parol|parool|şifre|hasło).*)$"
)
_CAMEL = re.compile(r"(?:[A-Z]?[a-z]{2,}|[A-Z]\d{1,2}|\d{1,2})+")
_TECHNICAL = re.compile(
    r"(?i)^(?:(?:pbkdf|argon|md|sha|hmac|base|utf|aes|rsa|v|x|oauth|rfc|http|ipv|k8|s3|ec2|p12|pkcs|win|iso|level|test|step|case|part|utf|n|no|item|line|bcrypt|scrypt|ed|ecdsa)[-_]?\d[\w./-]*|\d[\d.,:/-]*(?:[a-z]{1,6})?|\d+[-_][a-z-]+|\w+/\w[\w/]*|\d*\*\w+|[\w.]+:\d+|\w+\(.*)$"
)


def looks_random(value: str) -> bool:
    """Return whether a value looks generated: long, mixed and without a pattern.

    Three conditions hold together, since each alone mistakes names for keys: at least 16 characters with digits among letters,
    3 bits per character (Shannon; 2.7 for hexadecimal, whose alphabet is small), and a change between lower case,
    upper case and digits at a fifth of the places or more, a capital that opens a word aside. Random letters and digits
    change at more than two fifths, `Sha256HashOfTheName` at a sixth.

    >>> looks_random("wJalrXUtnFEMI/K7MDENG/bPxRfiCY"), looks_random("oauth2_client_credentials")
    (True, False)
    """
    if len(value) < 16 or not any(c.isdigit() for c in value) or not any(c.isalpha() for c in value):
        return False
    hexadecimal = all(c in "0123456789abcdefABCDEF-" for c in value)
    entropy = -sum(n / len(value) * math.log2(n / len(value)) for n in Counter(value).values())
    return entropy >= (2.7 if hexadecimal else 3.0) and changes_of(value) >= sum(map(str.isalnum, value)) / 5


def changes_of(value: str) -> int:
    """Return the number of changes between lower case, upper case and digits.

    A capital that opens a word is no change to what follows.

    >>> changes_of("Word"), changes_of("a1B2")
    (0, 3)
    """
    kinds = [0 if c.islower() else 1 if c.isupper() else 2 for c in value if c.isalnum()]
    return sum(a != b and (a, b) != (1, 0) for a, b in pairwise(kinds))


def is_made(value: str) -> bool:
    """Return whether a value has letters, and digits or signs."""
    letters = any(c.isalpha() for c in value)
    return letters and any(c.isdigit() or c in "!@#^&*?~+=$%" for c in value)


def is_mixed(value: str) -> bool:
    """Return whether six characters or more mix digits and letters."""
    return len(value) >= 6 and any(c.isdigit() for c in value) and any(c.isalpha() for c in value)


def is_coded(value: str) -> bool:
    """Return whether eight characters or more mix letters and a number."""
    return len(value) >= 8 and is_mixed(value) and re.search(r"\d\d", value) is not None


def is_name(value: str) -> bool:
    """Return whether a value may name a class or variable."""
    return is_said(value) or _CAMEL.fullmatch(value) is not None


def is_strong(value: str) -> bool:
    """Return whether a value mixes characters like no word or name."""
    if not is_mixed(value):
        return False
    signs = any(c in "!@#^&*?~+=$%" for c in value)
    cases = any(c.islower() for c in value) and any(c.isupper() for c in value)
    changed = changes_of(value) >= len(value) / 4
    parted = cases and re.fullmatch(r"\w+(?:-\w+)*-\w*\d\w*", value) is not None
    return signs or (changed and (cases or len(value) >= 8)) or parted


def is_plain(value: str) -> bool:
    """Return whether a value may be a word chosen as password."""
    return re.fullmatch(r"[a-z][a-z-]{4,40}|[A-Z][a-z]+-[A-Za-z-]{2,40}", value) is not None and not is_said(value)


def is_passphrase(value: str) -> bool:
    """Return whether a value is a few words that form no sentence."""
    words = value.split()
    return 4 <= len(words) <= 12 and all(re.fullmatch(r"[a-z]{3,9}", each) and each not in _SAID for each in words)


def is_identifier(value: str) -> bool:
    """Return whether a value is a name of several words."""
    return re.fullmatch(r"[A-Za-z]+(?:[_\-.:/][A-Za-z]+\d{0,2})*", value) is not None


def is_said(value: str) -> bool:
    """Return whether a word says something of a credential.

    >>> is_said("new_password"), is_said("password1"), is_said("password123")
    (True, True, False)
    """
    return value.lower() in _SAID or (_SAID_LIKE.match(value) is not None and not re.search(r"\d[\dA-Za-z]", value))


def is_placeholder(value: str) -> bool:
    """Return whether a value stands for one to fill in."""
    return _PLACEHOLDER.match(value) is not None


def is_technical(value: str) -> bool:
    """Return whether a value is a version, a size or an algorithm."""
    return _TECHNICAL.match(value) is not None
