"""Find values after a word for a credential, however they look.

    assigned    `password=hunter2`, `"apiKey": "…"`, `mdp : …`, `%22token%22%3A%22…%22`, `| password | … |`
    told        "the password for staging is …", "le mot de passe, c'est …", "the token for the weather API = …"
    beside      "log in with user admin and password …", where the value looks like no word
    enclosed    `<password>…</password>`, `setPassword("…")`, `name="password" value="…"`
    before      "… is the admin password"

A password may be a plain word; a token or a key is made by a machine, so a plain word after one is no secret. Source code names
credentials all the time and rarely holds one: there only a literal counts, and an unquoted name, a call or a type stays.
"""

from __future__ import annotations

import math
import re
import string
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
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


_QUOTE = r"(?:\\?[\"'`]|&quot;|&\#39;|%2[27])"
_NAMES = re.compile(
    r"""(?ix)(?:
      (?P<password>passw(?:or)?d|passwd|pass[ _-]?phrase|pass[ _-]?code|mots?[ _-]de[ _-]passe|motdepasse|mdp
        |phrase[ ](?:de[ ]passe|secr[èe]te)|code[ ](?:secret|pin|d['\u2019]acc[èe]s))
      |(?P<shell>pwd) |(?P<short>pass|pw)
      |(?P<made>secret|token|credentials?|creds|auth|identifiants|jeton(?:[ ]d['\u2019]\w+)?|cl[ée](?:[ ]d['\u2019]\w+|[ ](?:api|secr[èe]te|priv[ée]e))
        |pin(?:[ ]code)?|key))
    (?:_base|[_-]?\d{1,3})?(?![A-Za-z_])""",
)  # fmt: skip
_STEMS = (
    "pass", "pwd", "pw", "mdp", "mot de", "mots de", "mot_de", "mot-de", "motde", "phrase de", "phrase s", "code s", "code p", "code d",
    "secret", "token", "cred", "auth", "identifiant", "jeton", "cl\u00e9 ", "cle ", "pin", "key",
)  # fmt: skip
# What comes right before a word that means a credential only then
_OF_KEY = re.compile(
    r"(?i)(?:api|access|secret|private|auth|encrypt(?:ion)?|sign(?:ing|ature)|master|account|app|service|storage|shared|session|licen[sc]e|deploy|client|user|webhook|bearer|refresh|bot|consumer|admin|security|personal access|activation|subscription)[_.\- ]?$"
)
_OF_PASS = re.compile(
    r"(?i)(?<![a-z])(?:db|database|user|root|admin|my|mysql|pg|postgres(?:ql)?|redis|mongo(?:db)?|smtp|e?mail|imap|ftp|ssh|rabbit(?:mq)?|amqp|login|auth|https?|proxy|app|ldap|ssl|key|store|sudo|vnc|wifi|server|service|basic)[_.\-/]?$"
)

_NOT_KEPT = re.compile(  # names of types, and of tokens that open nothing
    r"(?i)(?:::\w*|(?:next|page|change|idempotency|continuation|pagination|cancel(?:lation)?|request|lock|sync|starting|design|syntax)[_-]?)$"
)
_IN_NAMES = string.ascii_letters + string.digits + "_.$-"
_LONGEST_TYPED = 100  # characters; what is longer is no password that somebody types
_WEAK = frozenset(("to", "à", "en", "vers", "\u2013", "—", "-"))  # signs after which a plain word is none
_UUID = re.compile(r"(?i)[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")

_LITERAL = rf"""(?:(?P<open>[bfruN@]{{0,2}}{_QUOTE}|[«“])[ ]?(?P<quoted>[^\n"'`<>\\«»“”]{{3,512}}?)(?=\\?["'`]|&quot;|&\#39;|%2[27]|[ ]?[»”])"""
_SIGN = r"(?::=|=>|->|→|={1,2}|:|%3[adAD])"
_ASSIGNED = re.compile(
    rf"""(?x)(?:{_QUOTE})?\]?[*_]{{0,3}}(?P<sign>[ \t]*{_SIGN}[*_]{{0,3}}[ \t]*(?:%20|\+)?(?:\n[ \t]*(?=[^\s:=]+[ \t]*(?:\n|$)))?|(?<=["'])[ \t]*,[ \t]*(?=["'`])|[ \t]*\|[ \t]*)
    {_LITERAL}|(?P<bare>[^\s"'`<>«»“”]{{3,512}}))"""
)
_OF = (
    r"(?:\s+(?:admin\w*|root|wi-?fi|ssh|ftp|smtp|prod\w*|staging|user|utilisateur))?(?:\s*\([^()\n]{1,40}\))?(?:\s+(?:(?:for|of|on|to|in|at|du|de|des|pour|sur|à)\s+|[dl]['\u2019])[\w./'\u2019-]{1,60}"
    r"(?:\s+(?!is\b|est\b|was\b)[\w./'\u2019-]{1,60}){0,4}?)?"
)
_TOLD = re.compile(
    rf"""(?ix)['\u2019]?s?{_OF}(?P<sign>,?\s+(?:(?:(?:has[ ]been|was|is|to[ ]be)[ ])?(?:changed|set|reset)[ ](?:now[ ])?to|changé[ ]en|is|was|will[ ]be|est|était|sera|c['\u2019]est|becomes)(?:\s+(?:now|still|just|maintenant|toujours|:))?[ :]*\s
      |\s+(?P<to>to|à|en|vers|\u2013|—|-)\s+|\s*:\s*|\s+=\s+)
    {_LITERAL}|(?P<bare>[^\s"'`<>«»“”]{{4,512}}))"""
)
_BESIDE = re.compile(rf"""(?x)\s+{_LITERAL}|(?P<bare>[^\s"'`<>«»“”]{{4,512}}))""")
_VALUE = r"(?P<bare>[^<>\s\"'][^<>\n\"']{1,200}?)"
_ELEMENT = re.compile(rf"(?:\s[^<>\n]{{0,100}})?>\s*{_VALUE}\s*</")
_PAIRED = re.compile(rf"[\"']?\s*,?\s*[\"']?\b(?i:value)[\"']?\s*[=:]\s*[\"']?{_VALUE}(?=[\"'\n]|\s*$)")
_CALL = re.compile(rf"\(\s*[\"']{_VALUE}[\"']\s*\)")
_REVERSED = re.compile(
    r"(?i)(?P<bare>[^\s\"'`<>]{6,200})[\"'`]?,?\s+(?:is|est|as|comme)\s+(?:the|our|my|your|a|le|la|mon|ma|notre)\s+(?:[\w-]{1,30}\s+){0,3}$"
)

_REFERENCE = re.compile(  # to where a value is kept: a variable, a template, an attribute, a call, a file, an address
    r"\$\w|[$%@#]?[{(\[]|^[$%@&*#:!<\\]+[A-Za-z_]|%[sdrvq]\b|^[A-Za-z_]\w*(?:(?:\.|->|::|\?\.)[A-Za-z_]\w*)+[(\[]?|^(?:~?/|\.{1,2}/|[a-z]+://|arn:)|&&|\|\||\\[nrt]|^[\w-]+\.(?:json|ya?ml|env|txt|md|py|js|ts|go|pem|key|crt|conf|toml|ini|xml|html?)$|^\W+$"
)
_CODE_BEFORE = re.compile(
    r"^\s*(?:return|const|var|def|func|fn|function|elif|assert|raise|throw|public|private|protected|static|final|interface|struct|await|yield|auto|char|String|std::string)\s"
    r"|\b(?:let|mut|type|class|case)\s+$|[({\[<,;?|&+!]\s*(?:[\w.*&]+\s*)?$|\w\.$"
)
_CODE_AFTER = re.compile(r"^\s*(?:[;,)}\](]|[+*/|?&<>=]|\.\w|if\b|or\b|and\b|\{|//|\|\|)")
_PROSE = r"[^\W\d_]+(?:['\u2019-][^\W\d_]+)*"
_GOES_ON = re.compile(  # "…, keep it"
    rf"\s*[,;)]\s+{_PROSE} {_PROSE}(?=[.!?]?\s*$|[.!?,]? [^\W\d_])|\s+if (?:you|we|i|they|it)\b", re.IGNORECASE
)
_CONNECTION = re.compile(
    r"(?i)\b(?:server|host|data source|user(?: ?id)?|uid|database|port|jdbc:[\w:]+)[^;\n]{0,80};\s?$"
)
_LISTED = re.compile(r"\s*(?:[\w -]{1,30}[:=] ?[\w.@/-]{1,60}, ?)+(?:and |et )?$")
_SENTENCE = re.compile(  # "log in, password: …"
    r"(?!\s*(?:let|const|var)\b)[^()\[\]{}<>=;|&\"`]*[^\W\d_]{2,}[ '\u2019-][^\W\d_]{2,}[^()\[\]{}<>=;|&\"`]*, ?$"
)
_WORDS = re.compile(
    r"(?:[a-z]{3,9}(?: [a-z]{3,9}){3,11}|[A-Z][a-z]+(?: [A-Z][a-z]+){0,3} \d{1,6})(?=[.!?]?[ ]*(?:\n|$))"
)


@dataclass(frozen=True, slots=True)
class _Place:
    """A value, the name of a credential before it, and their joint."""

    text: str
    start: int  # of the name
    kind: str  # password, shell, short or made
    value: str
    at: int  # of the value
    quoted: bool
    sign: str = ""

    @property
    def line_before(self) -> str:
        """The line up to the identifier that ends in the name."""
        begin = max(self.text.rfind("\n", max(0, self.start - 200), self.start) + 1, self.start - 200)
        return self.text[begin : self.start].rstrip(_IN_NAMES)

    @property
    def identifier(self) -> str:
        """The identifier that ends in the name."""
        before = self.text[max(0, self.start - 60) : self.start]
        return before[len(before.rstrip(_IN_NAMES)) :] + self.text[self.start : self.start + 3]

    @property
    def after(self) -> str:
        """The characters after the value, up to forty of its line."""
        end = self.at + len(self.value)
        return self.text[end : end + 40].partition("\n")[0]

    @property
    def in_sentence(self) -> bool:
        """Words before a comma lead to a value that is no word."""
        return is_mixed(self.value) and _SENTENCE.match(self.line_before) is not None

    @property
    def in_code(self) -> bool:
        """An unquoted value is an expression of source code."""
        if _CONNECTION.search(self.line_before):
            return False
        if _CODE_BEFORE.search(self.line_before) and not (_LISTED.match(self.line_before) or self.in_sentence):
            return True
        goes_on = _GOES_ON.match(self.after) is not None
        if not goes_on and _CODE_AFTER.match(self.after) and not re.search(r"[!@#~?]|[a-z]-\d", self.value):
            return True
        begin = self.text.rfind("\n", max(0, self.start - 200), self.start)
        above = self.text[max(0, begin - 20) : max(begin, 0)].rstrip()
        return above.endswith((",", "{", "(", "["))


def named_secrets(text: str, low: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of values after a word for a credential.

    Args:
        text: Any text.
        low: The text in lower case, of the same length.
    """
    end = 0
    for start in sorted({place for stem in _STEMS for place in _places(low, stem)}):
        if start < end:
            continue
        name = _NAMES.match(text, start)
        kind = _kind(text, name) if name is not None else ""
        span = _value_of(text, name, kind) if name is not None and kind else None
        if span is not None:
            yield span
            end = span[1]


def names_credential(name: str) -> bool:
    """Return whether a field of this name holds a credential.

    >>> [names_credential(each) for each in ("apiKey", "db_passwd", "motDePasse", "max_tokens", "nextPageToken", "author")]
    [True, True, True, False, False, False]
    """
    found = (_NAMES.search(name, place) for stem in _STEMS for place in _places(name.lower(), stem))
    return any(match is not None and _kind(name, match) != "" for match in found)


def _places(text: str, what: str) -> Iterator[int]:
    place = text.find(what)
    while place >= 0:
        yield place
        place = text.find(what, place + 1)


def _kind(text: str, name: re.Match[str]) -> str:
    """Return the kind of a name that means a credential, or "".

    The kind `named` is a key or a token behind a word that says whose.
    """
    before = text[max(0, name.start() - 24) : name.start()]
    if _NOT_KEPT.search(before):
        return ""
    joined, word = before[-1:].isalnum(), name[0].lower()
    if name.lastgroup == "password":
        return "" if joined and word[0] in "mc" and not word.startswith("mot") else "password"
    if name.lastgroup == "made":
        return _kind_of_made(before, name[0], joined=joined)
    if _OF_PASS.search(before):
        return "password"
    return "shell" if name.lastgroup == "shell" else _kind_of_short(before, name[0], text[name.end() : name.end() + 1])


def _kind_of_short(before: str, name: str, after: str) -> str:
    if name[0].isupper() and before[-1:].islower():  # dbPass
        return "password"
    return "pass" if not before[-1:].isalnum() and (name.islower() or after == "=") else ""


def _kind_of_made(before: str, name: str, *, joined: bool) -> str:
    word = name.lower()
    if word.startswith("pin"):
        return "pin" if not joined and (name.startswith("PIN") or "code" in word) else ""
    if word.startswith("cl") and joined:
        return ""
    if _OF_KEY.search(before) or word.startswith(("jeton ", "cl")):
        return "named"
    return "" if word.startswith("key") else "made"


def _value_of(text: str, name: re.Match[str], kind: str) -> tuple[int, int] | None:
    """Return the span of the secret named, or None."""
    for pattern, judge in _FORMS:
        found = pattern.match(text, name.end())
        if found is None:
            continue
        place = _placed(text, name, kind, found)
        if place is not None and judge(place):
            return place.at, place.at + len(place.value)
    is_told = kind != "pin" and text[name.start() - 1 : name.start()] == " "
    found = _REVERSED.search(text, max(0, name.start() - 120), name.start()) if is_told else None
    if found is not None:
        place = _Place(text, name.start(), kind, found["bare"], found.start("bare"), quoted=False)
        if is_made(place.value) and not _REFERENCE.search(place.value) and not is_technical(place.value):
            return place.at, place.at + len(place.value)
    return None


def _placed(text: str, name: re.Match[str], kind: str, found: re.Match[str]) -> _Place | None:
    groups = found.groupdict()
    group = "quoted" if groups.get("quoted") is not None else "bare"
    value, at = found[group], found.start(group)
    if kind == "made" and _UUID.fullmatch(value):
        return None
    if group == "bare":
        value = _trimmed(text, name.start(), value, groups.get("sign") or "")
        words = _WORDS.match(text, at) if kind == "password" else None
        if words is not None and (is_passphrase(words[0]) or words[0][0].isupper()):
            return _Place(text, name.start(), kind, words[0], at, quoted=True)
    if len(value) < 3 or "[redacted:" in value or (len(value) > _LONGEST_TYPED and not looks_random(value)):
        return None
    return _Place(
        text, name.start(), kind, value, at, quoted=group == "quoted", sign=(groups.get("sign") or "").strip()
    )


def _trimmed(text: str, start: int, value: str, sign: str) -> str:
    """Return an unquoted value without the punctuation that ends it."""
    if "%3" in sign or _in_query(text, start):
        value = re.split(r"[&#;]|%26|%2[27]", value, maxsplit=1)[0]
    else:
        value = re.split(r"[,;](?=\S*=)|&quot;|(?<=\w)\\[nrt\"']", value, maxsplit=1)[0]
    return value.rstrip(".,;:!?)*|\\]}")


def _in_query(text: str, start: int) -> bool:
    return re.search(r"(?:[?&]|%26|%3[fF])[\w.\[\]-]{0,40}$", text[max(0, start - 44) : start]) is not None


def _is_assigned(place: _Place) -> bool:
    value, sign = place.value, place.sign
    if _is_elsewhere(place):
        return False
    if place.kind == "pin":
        return _is_pin(value) and not place.in_code
    if place.quoted:
        return (sign != "," or (place.kind != "pass" and is_made(value) and not is_technical(value))) and _is_literal(
            place
        )
    if sign in ("|", ",", "==") or (sign in ("->", "=>", "→") and not is_made(value)):
        return sign == "|" and is_made(value) and not is_technical(value)
    if sign in ("=", "%3D", "%3d") and _in_query(place.text, place.start):
        return not is_said(value)
    return not place.in_code and (looks_random(value) or _is_typed(place))


def _is_elsewhere(place: _Place) -> bool:
    """Return whether a value stands for a secret without being one."""
    return is_placeholder(place.value) or _is_reference(place)


def _is_pin(value: str) -> bool:
    return re.fullmatch(r"\d{4,8}", value) is not None


def _is_reference(place: _Place) -> bool:
    value = place.value
    if _REFERENCE.search(value) is None:
        return False
    if place.quoted and looks_random(value) and not value.startswith("arn:"):
        return False
    signs = sum(not c.isalnum() for c in value)
    return not (
        is_strong(value)
        and signs <= 3
        and not place.in_code
        and re.search(r"[(){}\[\]]|^\$[A-Z_]+$|^~?/|^arn:", value) is None
    )


def _is_literal(place: _Place) -> bool:
    value = place.value
    if looks_random(value):
        return True
    if " " in value:
        return place.kind == "password" and is_passphrase(value)
    if place.kind == "password":
        return is_made(value) or is_plain(value)
    if place.kind == "named":
        return (
            is_made(value)
            and not is_said(value)
            and (any(c.isdigit() for c in value) or len(value) >= 16)
            and re.fullmatch(r"[A-Za-z]+(?:[_\-.:/][A-Za-z]+\d{0,2})*", value) is None  # no name of several words
        )
    return place.kind in ("shell", "pass") and is_made(value) and any(c.isdigit() for c in value)


def _is_typed(place: _Place) -> bool:
    value, kind = place.value, place.kind
    if kind in ("password", "pass", "shell"):
        return not is_said(value) and _is_typed_password(place)
    if is_technical(value):
        return False
    if kind == "named" and place.identifier.isupper() and place.sign == "=":
        return len(value) >= 8 and not is_said(value)
    long = (
        kind == "named" and len(value) >= 8 and is_mixed(value) and re.fullmatch(r"[A-Za-z_.]+\d{0,2}", value) is None
    )
    return (long or is_strong(value)) and not is_name(value)


def _is_typed_password(place: _Place) -> bool:
    value = place.value
    if place.kind == "password" and re.fullmatch(r"\d{6,12}" if place.sign == "=" else r"\d{4,12}", value):
        return True
    if is_technical(value):
        return False
    ends = place.sign == "=" or place.after.strip(" .!?,;") == ""
    return is_made(value) or (place.kind == "password" and is_plain(value) and ends)


def _is_told(place: _Place) -> bool:
    value = place.value
    told = (place.sign[-1:].isalpha() or place.sign == "=") and any(c.isdigit() for c in value)  # "… is abc123, then …"
    if _is_elsewhere(place) or (place.in_code and not told):
        return False
    if place.kind == "pin":
        return _is_pin(value)
    return looks_random(value) or _is_told_word(place)


def _is_told_word(place: _Place) -> bool:
    value, password, verb = place.value, place.kind == "password", place.sign[-1:].isalpha()
    is_given = verb or place.sign in ("=", ":")
    if place.quoted:
        return (password and (is_made(value) or is_plain(value) or is_passphrase(value))) or is_coded(value)
    if password and verb and re.fullmatch(r"\d{4,12}", value):
        return True
    if is_technical(value) or is_said(value):
        return False
    if not password:
        return (is_strong(value) or (is_given and is_coded(value))) and not is_name(value)
    ends = place.sign not in _WEAK and place.after.strip(" .!?,;") == ""
    return is_made(value) or (ends and is_plain(value))


def _is_beside(place: _Place) -> bool:
    """Return whether a value right after a name looks like no word."""
    value, password = place.value, place.kind == "password"
    in_code = _CODE_BEFORE.search(place.line_before) and not place.in_sentence
    if _is_elsewhere(place) or in_code or place.after.lstrip()[:1] in (";", "="):
        return False
    if place.kind == "pin":
        return _is_pin(value)
    if is_technical(value) or (password and is_said(value)):
        return False
    if place.quoted:
        return " " not in value and ((password and (is_made(value) or is_plain(value))) or is_coded(value))
    return is_mixed(value) if password else looks_random(value)


def _is_element(place: _Place) -> bool:
    opened = re.search(r"<[\w.:-]*$", place.text[max(0, place.start - 60) : place.start]) is not None
    return opened and _is_enclosed(place)


def _is_enclosed(place: _Place) -> bool:
    value = place.value
    if _REFERENCE.search(value) or is_placeholder(value) or " " in value or is_said(value):
        return False
    return place.kind == "password" or (place.kind == "named" and is_made(value)) or looks_random(value)


def _is_argument(place: _Place) -> bool:
    before = place.text[max(0, place.start - 40) : place.start]
    return re.search(r"(?i)(?:\bset_?\w*|\bwith_?\w*|\.)$", before) is not None and _is_enclosed(place)


_FORMS: tuple[tuple[re.Pattern[str], Callable[[_Place], bool]], ...] = (
    (_ASSIGNED, _is_assigned),
    (_ELEMENT, _is_element),
    (_PAIRED, _is_enclosed),
    (_CALL, _is_argument),
    (_TOLD, _is_told),
    (_BESIDE, _is_beside),
)
