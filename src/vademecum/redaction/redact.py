"""Remove secrets from a text before it is stored.

    provider keys      by the prefix and length their issuers give them
    private keys       from BEGIN to END, or to the end of a cut-off key
    headers            Authorization, cookies and the like
    addresses          the password in scheme://user:password@host
    commands           the password that a command is given
    named values       what stands after a word for a credential, see `named_secrets`

Each secret is replaced by `[redacted:KIND]` and counted. The text around it stays, to show that there was a key and whose.
Redacting twice changes nothing more. Colours of a terminal go from a text that holds a secret, since they may stand inside it.

The pattern of a provider's keys is a prefix and a length, as issuers and secret scanners publish them: GitHub's token formats, the rule tables of
gitleaks and detect-secrets.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache

from vademecum.index.tokenize import lowered
from vademecum.redaction.named_secrets import is_made, is_mixed, is_placeholder, is_plain, looks_random, named_secrets

_GITLAB = ("pat", "dt", "rt", "cbt", "ptt", "ft", "imt", "agent", "soat", "ffct")

# kind → (lower-case hints without spaces, one of which a matching text must hold; the pattern)
KEYS: Mapping[str, tuple[tuple[str, ...], str]] = {
    "anthropic-key": (("sk-ant-",), r"sk-ant-[\w-]{20,}"),
    "openrouter-key": (("sk-or-",), r"sk-or-[\w-]{20,}"),
    "openai-key": (("sk-",), r"sk-(?:[0-9a-f]{32,64}(?![\w-])|(?=[\w-]{0,200}\d)(?=[\w-]{0,200}[A-Z])(?:proj-|svcacct-|admin-|None-)?[\w-]{20,})"),
    "github-token": (("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), r"gh[pousr]_[A-Za-z0-9]{30,255}"),
    "github-pat": (("github_pat_",), r"github_pat_\w{50,}"),
    "gitlab-token": (tuple(f"gl{what}-" for what in _GITLAB), rf"gl(?:{'|'.join(_GITLAB)})-[\w.-]{{20,}}"),
    "aws-access-key": (("akia", "asia", "abia", "acca"), r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}"),
    "google-key": (("aiza",), r"AIza[\w-]{35}"),
    "google-oauth": (("gocspx-", "ya29."), r"(?:GOCSPX-[\w-]{20,}|ya29\.[\w.-]{20,})"),
    "slack-token": (("xox", "xapp-"), r"(?:xox[abeoprs]|xapp)-(?:\w{1,16}-)*[\w-]{10,}"),
    "slack-webhook": (("hooks.slack.com/",), r"(?<=hooks\.slack\.com/services/)T\w+/B\w+/\w{16,}"),
    "discord-webhook": (("/api/webhooks/",), r"(?<=/api/webhooks/)\d{15,}/[\w-]{40,}"),
    "discord-token": (("m", "n", "o"), r"[MNO](?<![A-Za-z0-9_].)[A-Za-z\d]{23,27}\.[\w-]{6}\.[\w-]{27,}"),
    "telegram-token": ((":aa",), r"\d{8,10}:AA[\w-]{32,34}"),
    "stripe-key": (("sk_", "rk_", "pk_live", "whsec_"), r"(?:[sr]k_(?:live|test)_[A-Za-z0-9]{16,}|whsec_[A-Za-z0-9+/=]{24,})"),
    "npm-token": (("npm_",), r"npm_[A-Za-z0-9]{36}"),
    "pypi-token": (("pypi-",), r"pypi-(?:AgEI|AgEN)[\w-]{50,}"),
    "huggingface-token": (("hf_",), r"hf_[A-Za-z0-9]{30,}"),
    "replicate-token": (("r8_",), r"r8_[A-Za-z0-9]{37}"),
    "groq-key": (("gsk_",), r"gsk_[A-Za-z0-9]{40,}"),
    "xai-key": (("xai-",), r"xai-[A-Za-z0-9]{60,}"),
    "nvidia-key": (("nvapi-",), r"nvapi-[\w-]{60,}"),
    "meta-token": (("eaa",), r"EAA(?<![/+]...)[A-Za-z0-9]{90,}"),
    "perplexity-key": (("pplx-",), r"pplx-[A-Za-z0-9]{40,}"),
    "sendgrid-key": (("sg.",), r"SG\.[\w-]{22}\.[\w-]{43}"),
    "twilio-key": (("sk",), r"SK[0-9a-f]{32}"),
    "mailgun-key": (("key-",), r"key-[0-9a-f]{32}"),
    "digitalocean-token": (("_v1_",), r"do[opr]_v1_[0-9a-f]{64}"),
    "shopify-token": (("shp",), r"shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}"),
    "databricks-token": (("dapi",), r"dapi[0-9a-f]{32}(?:-\d)?"),
    "linear-key": (("lin_",), r"lin_(?:api|oauth)_[A-Za-z0-9]{32,}"),
    "notion-key": (("secret_", "ntn_"), r"(?:secret_[A-Za-z0-9]{43}|ntn_[A-Za-z0-9]{40,})"),
    "atlassian-token": (("atatt", "atctt"), r"AT[AC]TT3[\w=.-]{50,}"),
    "vault-token": (("hvs.", "hvb."), r"hv[sb]\.[\w-]{24,}"),
    "doppler-token": (("dp.",), r"dp\.(?:pt|st|ct|sa|scim|audit)\.(?:\w+\.)?[A-Za-z0-9]{40,}"),
    "postman-key": (("pmak-",), r"PMAK-[0-9a-f]{24}-[0-9a-f]{34}"),
    "newrelic-key": (("nrak-", "nraa-", "nrii-"), r"NR(?:AK|AA|II)-[\w-]{27,32}"),
    "grafana-token": (("glsa_", "glc_"), r"(?:glsa_[A-Za-z0-9]{32}_[0-9a-f]{8}|glc_[A-Za-z0-9+/=]{32,})"),
    "sentry-token": (("sntry",), r"sntry[su]_[\w=+/.-]{40,}"),
    "supabase-key": (("sbp_", "sb_secret_"), r"(?:sbp_[0-9a-f]{40}|sb_secret_[\w-]{20,})"),
    "planetscale-token": (("pscale_",), r"pscale_(?:tkn|pw|oauth)_[\w.-]{32,}"),
    "fly-token": (("fm1", "fm2_", "fo1_"), r"(?:fm[12][ar]?_[\w+/=]{40,}|fo1_[\w-]{40,})"),
    "age-key": (("age-secret-key-1",), r"(?i:AGE-SECRET-KEY-1[0-9A-Z]{58})"),
    "azure-storage-key": (("accountkey=",), r"(?<=AccountKey=)[A-Za-z0-9+/]{60,90}={0,2}"),
    "azure-signature": (("sig=",), r"(?<=[?&]sig=)[\w%+/-]{40,}(?:%3[dD]|=)*"),
    "docker-token": (("dckr_",), r"dckr_[po]at_[\w-]{20,}"),
    "tailscale-key": (("tskey-",), r"tskey-[a-z]+-\w{8,}(?:-\w{16,})?"),
    "terraform-token": ((".atlasv1.",), r"[A-Za-z0-9]{14}\.atlasv1\.[\w=-]{60,}"),
    "netlify-token": (("nfp_", "nfc_"), r"nf[pc]_[A-Za-z0-9]{36,}"),
    "vercel-token": (("vercel_blob_rw_",), r"vercel_blob_rw_\w{24,}"),
    "circleci-token": (("ccipat_", "ccipprj_"), r"CCIP(?:AT|RJ|PRJ)_[A-Za-z0-9]{16,}_[0-9a-f]{32,}"),
    "rubygems-key": (("rubygems_",), r"rubygems_[0-9a-f]{48}"),
    "figma-token": (("figd_",), r"figd_[\w-]{36,}"),
    "airtable-token": (("pat",), r"pat[A-Za-z0-9]{14}\.[0-9a-f]{64}"),
    "heroku-key": (("hrku-",), r"HRKU-[\w-]{36,}"),
    "langsmith-key": (("lsv2_",), r"lsv2_(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{10}"),
    "tavily-key": (("tvly-",), r"tvly-(?:dev-|prod-)?[\w-]{28,}"),
    "square-token": (("sq0",), r"sq0(?:csp|atp|idp)-[\w-]{22,}"),
    "okta-token": (("ssws",), r"(?<=(?i:SSWS ))00[\w-]{20,}"),
    "fireworks-key": (("fw_",), r"fw_(?=[A-Za-z]{0,200}\d)[A-Za-z0-9]{20,}"),
    "nuget-key": (("oy2",), r"oy2[a-z0-9]{43}(?![a-z0-9])"),
    "onepassword-token": (("ops_eyj",), r"ops_eyJ[\w-]{40,}={0,2}"),
    "sentry-dsn": ((".ingest.", "@sentry"), r"(?<=://)[0-9a-f]{32}(?=@[\w.-]{0,60}sentry)"),
    "jwt": (("eyj",), r"eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]{8,}"),
}  # fmt: skip


MARK = "[redacted:"
_ESCAPES = ("\x1b", "\\x1b", "\\u001b", "\\033", "\\e", "^[")
_COLOUR = re.compile(rf"(?:{'|'.join(map(re.escape, _ESCAPES))})\[\d{{0,3}}(?:;\d{{1,3}}){{0,5}}[mK]")  # of a terminal


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

_SENSITIVE = (
    r"passw(?:or)?d|passwd|pwd|passphrase|secret|token|credentials?|auth"
    r"|(?:api|access|secret|private|auth|encryption|signing|master|account|app|service|storage|shared|session)[_.\- ]?key"
)
_FLAG = re.compile(
    rf"(?i)(?P<name>-(?<!\w.)-?(?:[a-z]+-){{0,3}}(?:{_SENSITIVE}))(?P<between>(?:=|\s+)[\"']?)(?P<value>[^\s\"'`<>$(){{}}-][^\s\"'`<>$(){{}}]{{5,}})"
)
_CURL_USER = re.compile(
    r"(?P<name>\bcurl\b[^\n]{0,300}?\s(?:-u|--user)[ =])(?P<between>[\"']?[^\s:\"'$]{1,100}:)(?P<value>[^\s\"'$@]{3,200})"
)

_COMMANDED = re.compile(
    r"\b(?:(?:mysql|mariadb)(?:dump|admin)?\b[^\n]{0,300}?\s-p|sshpass\s+-p\s*|redis-cli\b[^\n]{0,300}?\s-a\s+"
    r"|docker\s+login\b[^\n]{0,300}?\s-p\s+|sqlcmd\b[^\n]{0,300}?\s-P\s*|ldap\w+\s[^\n]{0,300}?\s-w\s+|-pass(?:in|out)?\s+pass:"
    r"|requirepass\s+|ConvertTo-SecureString\s+(?:-String\s+)?)"
    r"[\"']?(?P<value>[^\s\"'$<>`-][^\s\"'$<>`]{3,200})"
)

_PIPED = re.compile(
    r"\becho\s+(?:-n\s+)?(?P<quote>[\"']?)(?P<value>[^\s\"'$<>`|]{3,200})(?P=quote)\s*\|\s*(?:sudo\s+-\w*S|(?:docker|podman)\s+login|chpasswd|passwd|kinit)\b"
)
_ACCOUNT = re.compile(  # "credentials: admin / …", "le compte est admin:…"
    r"(?i)\b(?:credentials?|creds|log-?in|identifiants|compte|account)s?(?:\s+(?:is|are|est|sont)|\s*[:=])\s+[\w.@-]{2,60}\s*[/:]\s*(?P<value>[^\s\"'`<>(){}]{4,200}?)(?=[.,;!?)]*(?:\s|$))"
)
_SQL = re.compile(
    r"(?i)\b(?:with\s+(?:encrypted\s+)?password|(?:user|role)\s+\S{1,100}\s+(?:encrypted\s+)?password|identified\s+(?:with\s+\S{1,60}\s+)?by(?:\s+password)?)\s*=?\s*"
    r"N?(?P<quote>['\"])(?P<value>[^'\"\s]{3,200})(?P=quote)"
)
_NETRC = re.compile(
    r"\b(?:(?P<machine>machine\s+\S{1,200}\s+)(?:login\s+\S{1,200}\s+)?|login\s+\S{1,200}\s+)password\s+(?P<value>[^\s\"'$<>]{3,200})"
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
    plain = _COLOUR.sub("", text) if any(each in text for each in _ESCAPES) else text
    if plain != text and (found := _repeatedly(plain)).counts:
        return found
    return _repeatedly(text)


def _repeatedly(text: str) -> Redacted:
    """Remove secrets until none is left: one may hide the next."""
    counts: Counter[str] = Counter()
    while (found := _once(text)).counts:
        counts.update(found.counts)
        text = found.text
    return Redacted(text, dict(counts))


def _once(text: str) -> Redacted:
    counts: Counter[str] = Counter()
    words = " ".join(set(lowered(text).split()))  # hints have no spaces, so each is inside a word
    if "-----begin" in words:
        text = _without_private_keys(text, counts)
    if there := {hint for hint in _HINTS_OF_KEYS if hint in words}:
        edge = _edge(text)
        for kind, (hints, key) in KEYS.items():
            if not there.isdisjoint(hints):
                text = _key_pattern(key, edge).sub(_mark(kind, counts), text)
    if "://" in words:
        text = _ADDRESS.sub(_value(lambda value, _: not _is_template(value), "url-password", counts), text)
    for kind, hints, pattern, judge in _PLACES:
        if any(hint in words for hint in hints):
            text = pattern.sub(_value(judge, kind, counts), text)
    return Redacted(_without_named(text, counts), dict(counts))


_HINTS_OF_KEYS = tuple(dict.fromkeys(hint for hints, _ in KEYS.values() for hint in hints))


def _without_named(text: str, counts: Counter[str]) -> str:
    out: list[str] = []
    at = 0
    for start, end in named_secrets(text, lowered(text)):
        out += [text[at:start], f"{MARK}assignment]"]
        counts["assignment"] += 1
        at = end
    return "".join([*out, text[at:]])


@cache
def _key_pattern(pattern: str, edge: str) -> re.Pattern[str]:
    return re.compile(edge + pattern)


def _edge(text: str) -> str:
    """Return the pattern of a key's left edge."""
    wide = any(each in text for each in ("%2", "%3", "\\n", "/bot"))
    return r"(?:(?<![A-Za-z0-9])|(?<=%[0-9A-Fa-f]{2})|(?<=\\[nrt])|(?<=/bot))" if wide else r"(?<![A-Za-z0-9])"


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
    if is_placeholder(value) or _CODE.search(value):
        return False
    schemed = len(match["between"].split()) > 1  # `Authorization: Bearer …`: the value is the secret
    return any(c.isdigit() for c in value) if schemed else looks_random(value)


def _is_cookie(value: str, _: re.Match[str]) -> bool:
    pairs = (part.partition("=")[2].strip() for part in value.split(";"))
    return any(looks_random(each) for each in pairs)


def _is_given(value: str, _: re.Match[str]) -> bool:
    return not is_placeholder(value) and not _is_template(value)


def _is_flag_value(value: str, match: re.Match[str]) -> bool:
    word = "pass" in match["name"].lower() and is_plain(value)
    return not is_placeholder(value) and (looks_random(value) or is_made(value) or word)


_PLACES: tuple[tuple[str, tuple[str, ...], re.Pattern[str], Callable[[str, re.Match[str]], bool]], ...] = (
    ("authorization", ("authorization", "x-", "api-key", "private-token"), _HEADER, _is_header_value),
    ("authorization", ("bearer",), _BEARER, lambda value, _: not is_placeholder(value) and looks_random(value)),
    ("authorization", ("curl",), _CURL_USER, lambda value, _: not _is_template(value)),
    ("command-password", ("mysql", "mariadb", "sshpass", "redis-cli", "login", "sqlcmd", "ldap", "-pass", "requirepass", "securestring"), _COMMANDED, _is_given),
    ("command-password", ("echo",), _PIPED, _is_given),
    ("assignment", ("login", "cred", "identifiant", "compte", "account"), _ACCOUNT, lambda value, _: is_mixed(value)),
    ("cookie", ("cookie",), _COOKIE, _is_cookie),
    ("command-password", ("password", "identified"), _SQL, _is_given),
    ("netrc-password", ("login", "machine"), _NETRC, lambda value, match: match["machine"] is not None or is_made(value)),
    ("assignment", ("--", "-p"), _FLAG, _is_flag_value),
)  # fmt: skip
