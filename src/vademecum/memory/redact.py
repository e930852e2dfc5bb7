"""Remove secrets from a text before it is stored.

    provider keys      by the prefix and length their issuers give them
    private keys       from BEGIN to END, or to the end of a cut-off key
    headers            Authorization, cookies and the like
    addresses          the password in scheme://user:password@host
    assignments        a name that means a secret, with a value that looks like one

Each secret is replaced by `[redacted:KIND]` and counted. The text around it stays, to show that there was a key and whose.
Redacting twice changes nothing more. Ordinary code is left as it is: a value is removed only if it is a literal that nobody
would write by hand. The prefixes are those that issuers and secret scanners publish (GitHub's token formats, the rule tables
of gitleaks and detect-secrets).
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, lru_cache
from itertools import pairwise

from vademecum.memory.provider_key_patterns import KEYS

MARK = "[redacted:"
_EDGE = r"(?<![\w-])"  # a key starts where a word starts
_STOP = r"(?![\w-])"


@dataclass(frozen=True, slots=True)
class Redacted:
    """A text without its secrets.

    Attributes:
        text: The text to store.
        counts: Kind → number of secrets removed.
    """

    text: str
    counts: Mapping[str, int] = field(default_factory=dict)


_BEGIN = re.compile(r"-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----")
_END = re.compile(r"-----END (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----")
_BODY = re.compile(r"(?:[\s\"'+,>|#]|\\[nrt])*(?:[A-Za-z0-9+/=]{16,}(?:[\s\"'+,>|#]|\\[nrt])*)+")
_KEY_CHARACTERS = 20_000  # four times the longest private key

_HEADER = re.compile(
    r"""(?i)\b(?P<name>(?:proxy-)?authorization|x-(?:[a-z]+-){0,3}(?:key|token|secret)|api-key|private-token)
    (?P<between>["']?\s*[:=,]\s*(?:[bfru]?["'])?(?:(?:bearer|basic|token|digest|negotiate|apikey|key|aws4-hmac-sha256)\s+)?)
    (?P<value>[^\s"'`,;<>{}()\[\]$%|]{8,})""",
    re.VERBOSE,
)
_BEARER = re.compile(r"(?i)\b(?P<name>bearer)(?P<between>\s+)(?P<value>[\w.~+/-]{16,}=*)")
_COOKIE = re.compile(
    r"(?im)(?P<name>\b(?:set-)?cookie)(?P<between>[\"']?:\s*[\"']?)(?P<value>[^\s=;\"']+=[^\n\"']{8,4000})"
)
_ADDRESS = re.compile(
    r"(?i)\b[a-z][a-z0-9+.-]{1,20}://[^\s:/@\"'`<>{}()\[\]$]{0,200}:"
    r"(?P<value>[^\s/@\"'`<>{}()\[\]\\]{1,200}(?:@[^\s/@\"'`<>{}()\[\]\\]{1,200}){0,4}"  # up to the last @ before a slash
    r"|(?!\d{1,5}/)[^\s@\"'`<>{}()\[\]\\]{1,100})@(?=[\w\[.-])"  # or with a slash, unless a port comes first
)

# A name that ends in a word for a secret, then a literal. `tokens`, `password_field` and `keyboard` do not end in one.
_STEMS = ("passw", "pwd", "passphrase", "mot", "secret", "token", "credential", "auth")
_OF_KEYS = [
    "api",
    "access",
    "secret",
    "private",
    "auth",
    "encryption",
    "signing",
    "master",
    "account",
    "app",
    "service",
    "storage",
    "shared",
    "session",
]
_SENSITIVE = (
    r"passw(?:or)?d|passwd|pwd|passphrase|mot[_ ]de[_ ]passe|secret|token|credentials?|auth"
    rf"|(?:{'|'.join(_OF_KEYS)})[_.\- ]?key"
)
_ASSIGNMENT = re.compile(
    rf"""(?i)(?P<word>{_SENSITIVE})(?P<between>(?:_base|[_-]?\d+)?\\?["'`]?\]?
      (?:\s*(?::=|=>|==?|:)\s*|\s+(?:is|est)\s+|,\s*(?=["']))
      (?P<quote>[bfru]{{0,2}}\\?["'`])?)
    (?P<value>(?(quote)[^\s"'`<>\\]{{6,512}}(?=\\?["'`])|[^\s"'`<>,;(){{}}\[\]\\]{{7,512}}))""",
    re.VERBOSE,
)  # fmt: skip
_FLAG = re.compile(
    rf"(?i)(?P<name>-(?<!\w.)-?(?:[a-z]+-){{0,3}}(?:{_SENSITIVE}))(?P<between>(?:=|\s+)[\"']?)(?P<value>[^\s\"'`<>$(){{}}-][^\s\"'`<>$(){{}}]{{5,}})"
)
_CURL_USER = re.compile(
    r"(?P<name>\bcurl\b[^\n]{0,300}?\s(?:-u|--user)[ =])(?P<between>[\"']?[^\s:\"'$]{1,100}:)(?P<value>[^\s\"'$@]{3,200})"
)

_COMMANDED = re.compile(
    r"\b(?:(?:mysql|mariadb)(?:dump|admin)?\b[^\n]{0,300}?\s-p|sshpass\s+-p\s*|redis-cli\b[^\n]{0,300}?\s-a\s+)"
    r"[\"']?(?P<value>[^\s\"'$<>`-][^\s\"'$<>`]{3,200})"
)

_SQL = re.compile(
    r"(?i)\b(?:with\s+(?:encrypted\s+)?password|(?:user|role)\s+\S{1,100}\s+(?:encrypted\s+)?password|identified\s+(?:with\s+\S{1,60}\s+)?by(?:\s+password)?)\s*=?\s*"
    r"N?(?P<quote>['\"])(?P<value>[^'\"\s]{3,200})(?P=quote)"
)
_NETRC = re.compile(
    r"\b(?:(?P<machine>machine\s+\S{1,200}\s+)(?:login\s+\S{1,200}\s+)?|login\s+\S{1,200}\s+)password\s+(?P<value>[^\s\"'$<>]{3,200})"
)
# A password stated in a sentence: "the password for staging is …", "le mot de passe est …"
_TOLD = re.compile(
    rf"""(?i)(?P<word>{_SENSITIVE})s?(?:\s+(?:for|of|on|to|in|du|de|des|pour|sur)\s+[\w./-]{{1,60}}(?:\s+[\w./-]{{1,60}}){{0,3}}?)?\s*
      (?:(?P<told>\s(?:is|was|est|était))(?:\s+(?:now|still|maintenant|toujours|:))?|=|:)\s*(?P<quote>["'`\u201c\u00ab]?)\s?(?P<value>[^\s"'`<>\u201d\u00bb]{{6,200}}?)
      (?=\s?["'`\u201d\u00bb]|[.,;!?)]*(?:\s|$))""",
    re.VERBOSE,
)
_TELLING = re.compile(
    r"(?i)^(?:\w+(?:ed|en|able|ible|ing|al|ty|wn|ct|id|ired|é|ée|és|ées)|in\w+|un\w+|too|short|long|empty|secret|string|number|unique|root|admin|public)$"
)

_PLACEHOLDER = re.compile(
    r"(?i)[x*.•_-]+$|.*(?:your|example|placeholder|change[_-]?me|redacted|dummy|<|>|\.\.\.|…|xxxx|\*\*\*)|(?:none|null|true|false|undefined|required|optional|string|todo|.*-(?:based|encoded|encrypted|hashed|protected|signed))$"
)
_CODE = re.compile(
    r"[$%{}()\[\]|\\]|^\w+(?:\.\w+)+$|^(?:os|process|env|self|this|config|settings)[.\[]|^@|^/|^\.|^https?:|^[a-z]+://|::|->|&&"
)


def redact(text: str) -> Redacted:
    r"""Remove the secrets from a text.

    Args:
        text: Any text of any length: prose, code, a log, a header.

    Returns:
        The text with `[redacted:KIND]` in the place of each secret, and the number of secrets of each kind.

    >>> redact("curl -H 'Authorization: Bearer abcdefgh12345678' https://bob:hunter2@example.org").text
    "curl -H 'Authorization: Bearer [redacted:authorization]' https://bob:[redacted:url-password]@example.org"
    >>> dict(redact('API_KEY = "q8Zr3vN1xT7mKp2LwY5c"').counts)
    {'assignment': 1}
    >>> redact("token = next(tokens)  # the password is checked later").text
    'token = next(tokens)  # the password is checked later'
    """
    counts: Counter[str] = Counter()
    while (found := _once(text)).counts:  # removing a secret may reveal the next one beside it
        counts.update(found.counts)
        text = found.text
    return Redacted(text, dict(counts))


def _once(text: str) -> Redacted:
    counts: Counter[str] = Counter()
    words = " ".join(set(_lowered(text).split()))  # hints have no spaces, so each is inside a word
    if "-----begin" in words:
        text = _without_private_keys(text, counts)
    if there := {hint for hint in _HINTS_OF_KEYS if hint in words}:
        for kind, (hints, key) in KEYS.items():
            if not there.isdisjoint(hints):
                text = _key_pattern(key).sub(_mark(kind, counts), text)
    if "://" in words:
        text = _ADDRESS.sub(_value(lambda value, _: not _is_template(value), "url-password", counts), text)
    for kind, hints, pattern, judge in _PLACES:
        if any(hint in words for hint in hints):
            text = pattern.sub(_value(judge, kind, counts), text)
    if any(hint in words for hint in _ASSIGNED):
        text = _without_named(text, _ASSIGNMENT, _value(_is_assigned_secret, "assignment", counts))
        text = _without_named(text, _TOLD, _value(_is_told_secret, "assignment", counts))
    return Redacted(text, dict(counts))


_HINTS_OF_KEYS = tuple(dict.fromkeys(hint for hints, _ in KEYS.values() for hint in hints))


def _lowered(text: str) -> str:
    """Return a text in lower case, folding variants of i and s.

    Patterns that ignore case match these variants too.
    """
    low = text.lower()
    return low if low.isascii() else low.replace("\u0131", "i").replace("\u017f", "s").replace("i\u0307", "i")


def _without_named(text: str, pattern: re.Pattern[str], replaced: Callable[[re.Match[str]], str]) -> str:
    """Replace secrets that follow a name.

    The pattern is tried only where such a name may begin.
    """
    out: list[str] = []
    end = 0
    for place in _names_of_secrets(text):
        match = pattern.match(text, place) if place >= end else None
        if match is not None:
            out += [text[end:place], replaced(match)]
            end = match.end()
    return "".join([*out, text[end:]])


@lru_cache(maxsize=1)  # two patterns search the same text
def _names_of_secrets(text: str) -> list[int]:
    """Return the places where a name of a secret may begin, ascending.

    These are all places in a text whose lower case has another length.
    """
    low = _lowered(text)
    if len(low) != len(text):
        return list(range(len(text)))
    found = {place for stem in _STEMS for place in _places(low, stem)}
    for place in _places(low, "key"):
        found.update(start for start in (place - each for each in _BEFORE_KEY) if start >= 0 and low[start] in _FIRST)
    return sorted(found)


def _places(text: str, what: str) -> Iterator[int]:
    place = text.find(what)
    while place >= 0:
        yield place
        place = text.find(what, place + 1)


@cache
def _key_pattern(pattern: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![A-Za-z0-9_]){pattern}")


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
    kinds = [0 if c.islower() else 1 if c.isupper() else 2 for c in value if c.isalnum()]
    changes = sum(a != b and (a, b) != (1, 0) for a, b in pairwise(kinds))
    return entropy >= (2.7 if hexadecimal else 3.0) and changes >= len(kinds) / 5


def _mark(kind: str, counts: Counter[str]) -> Callable[[re.Match[str]], str]:
    def replaced(_: re.Match[str]) -> str:
        counts[kind] += 1
        return f"{MARK}{kind}]"

    return replaced


def _value(
    judge: Callable[[str, re.Match[str]], bool], kind: str, counts: Counter[str]
) -> Callable[[re.Match[str]], str]:
    """Return a replacer for the `value` of matches that `judge` accepts."""

    def replaced(match: re.Match[str]) -> str:
        value = match["value"]
        if MARK in value or not judge(value, match):
            return match[0]
        counts[kind] += 1
        start = match.start("value") - match.start()
        return f"{match[0][:start]}{MARK}{kind}]{match[0][start + len(value) :]}"

    return replaced


def _without_private_keys(text: str, counts: Counter[str]) -> str:
    out: list[str] = []
    at = 0
    for begin in _BEGIN.finditer(text):
        if begin.start() < at:
            continue
        stop = _end_of_key(text, begin.end())
        if stop is None:
            continue
        counts["private-key"] += 1
        out += [text[at : begin.start()], f"{MARK}private-key]"]
        at = stop
    return "".join([*out, text[at:]])


def _end_of_key(text: str, start: int) -> int | None:
    """Return the end of a private key, or None.

    None stands for the words alone, as in code about keys.
    """
    end = _END.search(text, start, start + _KEY_CHARACTERS)
    if end is not None:
        inside = text[start : end.start()]
        key = sum(map(len, re.findall(r"[A-Za-z0-9+/=]{16,}", inside)))
        if key >= 40 and key >= 0.6 * len(inside):  # headers such as `Proc-Type` are short beside the key
            return end.end()
    body = _BODY.match(text, start, start + _KEY_CHARACTERS)
    return body.end() if body is not None and len(body[0]) >= 40 else None


def _is_template(value: str) -> bool:
    return bool(re.match(r"(?i)[x*.•]+$|%[sdr]|:?\$|<", value)) or value.startswith(MARK)


def _is_header_value(value: str, match: re.Match[str]) -> bool:
    """Return whether a header's value is a secret, not a placeholder."""
    if _PLACEHOLDER.match(value) or _CODE.search(value):
        return False
    schemed = len(match["between"].split()) > 1  # `Authorization: Bearer …`: the value is the secret
    return any(c.isdigit() for c in value) if schemed else looks_random(value)


def _is_token(value: str, _: re.Match[str]) -> bool:
    return not _PLACEHOLDER.match(value) and looks_random(value)


def _is_cookie(value: str, _: re.Match[str]) -> bool:
    pairs = (part.partition("=")[2].strip() for part in value.split(";"))
    return any(looks_random(each) for each in pairs)


def _is_assigned_secret(value: str, match: re.Match[str]) -> bool:
    """Return whether an assigned value is a secret.

    It is a random literal, or for a password also a made-up word in quotes or in a settings file.
    """
    if looks_random(value) and (match["quote"] is not None or not _CODE.search(value)):
        return True
    if _PLACEHOLDER.match(value) or _CODE.search(value) or not re.match(r"(?i)pass|pwd|mot|secret", match["word"]):
        return False
    return _is_password(value) and (match["quote"] is not None or _is_settings_line(match))


def _is_told_secret(value: str, match: re.Match[str]) -> bool:
    """Return whether a value in a sentence is a secret.

    It mixes characters like no word or name, or is quoted as a password.
    """
    password = re.match(r"(?i)pass|pwd|mot", match["word"]) is not None
    if _PLACEHOLDER.match(value) or re.match(r"\$[\w{(]*$|\$\{|\$\(|https?:|[\w.]+\(|/|@|\.", value):
        return False
    told = match["told"] is not None
    if match["quote"] and password and told and value.isalpha():
        return _TELLING.match(value) is None
    kinds = [0 if c.islower() else 1 if c.isupper() else 2 if c.isdigit() else 3 for c in value]
    signs = any(c in ("!@#$%^&*?~+=" if told else "!@#$^&~") for c in value)
    changes = sum(a != b and (a, b) != (1, 0) for a, b in pairwise(kinds))
    mixed = {0, 1, 2} <= set(kinds) and changes >= len(kinds) / 4
    signed = signs and 2 in kinds and not {0, 1}.isdisjoint(kinds) and password
    return (told and mixed and (signs or value.isalnum())) or (signed and not re.search(r"[(){}\[\]|\\]", value))


def _is_in_netrc(value: str, match: re.Match[str]) -> bool:
    return match["machine"] is not None or _is_password(value)


def _is_password(value: str) -> bool:
    """Return whether a value has letters, and digits or signs, like passwords."""
    letters = any(c.isalpha() for c in value)
    digits = any(c.isdigit() for c in value)
    signs = any(c in "!@#^&*?~+=" for c in value)
    return letters and (digits or signs)


def _is_settings_line(match: re.Match[str]) -> bool:
    """Return whether a match is a line of settings or a statement.

    Examples: `NAME=value`, `password: value`, `password=v4lue!`, `the password is value`.
    """
    before = match.string[max(0, match.start() - 60) : match.start()]
    name = re.search(r"[\w.-]*$", before)
    whole = (name[0] if name else "") + match["word"]
    if whole.isupper() or re.search(r"\s(?:is|est)\s", match["between"]):
        return True
    if match["between"] == "=" and re.search(r"\d.*[!@#^~]|[!@#^~].*\d", match["value"]):
        return True  # names and sums in code have no such signs
    return (
        match["between"].strip() == ":" and not match["word"].lower().startswith("secret") and _is_typed(match["value"])
    )


def _is_typed(value: str) -> bool:
    """Return whether a value is a password, not a name.

    It has digits among letters, with a sign or without capitals, and is not like `password2`.
    """
    if not any(c.isdigit() for c in value) or re.match(r"(?i)pass|pwd|mot", value):
        return False
    return any(c in "!@#^&*?~+=" for c in value) or not any(c.isupper() for c in value)


_ASSIGNED = ("pass", "pwd", "secret", "token", "key", "credential", "auth")
_BEFORE_KEY = sorted({len(name) + sign for name in _OF_KEYS for sign in (0, 1)})  # characters of `api_`, `access-`, …
_FIRST = frozenset(name[0] for name in _OF_KEYS)
_PLACES: tuple[tuple[str, tuple[str, ...], re.Pattern[str], Callable[[str, re.Match[str]], bool]], ...] = (
    ("authorization", ("authorization", "x-", "api-key", "private-token"), _HEADER, _is_header_value),
    ("authorization", ("bearer",), _BEARER, _is_token),
    ("authorization", ("curl",), _CURL_USER, lambda value, _: not _is_template(value)),
    ("command-password", ("mysql", "mariadb", "sshpass", "redis-cli"), _COMMANDED, lambda value, _: not _PLACEHOLDER.match(value)),
    ("cookie", ("cookie",), _COOKIE, _is_cookie),
    ("command-password", ("password", "identified"), _SQL, lambda value, _: not _PLACEHOLDER.match(value) and not _is_template(value)),
    ("netrc-password", ("login", "machine"), _NETRC, _is_in_netrc),
    ("assignment", ("--", "-p"), _FLAG, lambda value, _: not _PLACEHOLDER.match(value) and (looks_random(value) or _is_password(value))),
)  # fmt: skip
