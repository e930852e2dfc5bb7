"""Secrets go, everything else stays, and saying it twice changes nothing."""

from __future__ import annotations

import keyword
import random
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vademecum.redaction.named_secrets import looks_random
from vademecum.redaction.redact import MARK, redact

ALPHANUMERIC = string.ascii_letters + string.digits


def made(length: int, alphabet: str = ALPHANUMERIC, seed: int = 7) -> str:
    """A made-up key body, the same on every run."""
    return "".join(random.Random(seed).choices(alphabet, k=length))


HEX = "0123456789abcdef"
KEYS = {
    "anthropic-key": "sk-ant-" + "api03-" + made(90),
    "openai-key": "sk-" + "proj-" + made(48),
    "github-token": "ghp_" + made(36),
    "nvidia-key": "nvapi-" + made(64),
    "meta-token": "EAA" + made(120),
    "github-pat": "github_pat_" + made(22) + "_" + made(59),
    "gitlab-token": "glpat-" + made(20),
    "aws-access-key": "AKIA" + made(16, string.ascii_uppercase + "234567"),
    "google-key": "AIza" + made(35),
    "google-oauth": "GOCSPX-" + made(28),
    "slack-token": "xoxb-" + "123456789012-123456789012-" + made(24),
    "telegram-token": "123456789:AA" + made(33),
    "discord-token": "M" + made(24) + "." + made(6) + "." + made(30),
    "stripe-key": "sk_" + "live_" + made(24),
    "npm-token": "npm_" + made(36),
    "pypi-token": "pypi-" + "AgEIcHlwaS5vcmc" + made(60),
    "huggingface-token": "hf_" + made(34),
    "sendgrid-key": "SG." + made(22) + "." + made(43),
    "twilio-key": "SK" + made(32, HEX),
    "digitalocean-token": "dop_v1_" + made(64, HEX),
    "shopify-token": "shpat_" + made(32, HEX),
    "databricks-token": "dapi" + made(32, HEX),
    "linear-key": "lin_api_" + made(40),
    "vault-token": "hvs." + made(90),
    "postman-key": "PMAK-" + made(24, HEX) + "-" + made(34, HEX),
    "grafana-token": "glsa_" + made(32) + "_" + made(8, HEX),
    "docker-token": "dckr_pat_" + made(27),
    "tailscale-key": "tskey-auth-" + made(12) + "-" + made(32),
    "terraform-token": made(14) + ".atlasv1." + made(64),
    "netlify-token": "nfp_" + made(36),
    "circleci-token": "CCIPAT_" + made(22) + "_" + made(40, HEX),
    "rubygems-key": "rubygems_" + made(48, HEX),
    "figma-token": "figd_" + made(40),
    "airtable-token": "pat" + made(14) + "." + made(64, HEX),
    "langsmith-key": "lsv2_pt_" + made(32, HEX) + "_" + made(10, HEX),
    "tavily-key": "tvly-" + "dev-" + made(32),
    "jwt": "eyJhbGciOiJIUzI1NiJ9" + ".eyJzdWIiOiIxMjM0In0." + made(43),
}
CORE = "\n".join(made(64, ALPHANUMERIC + "+/", seed) for seed in range(6))
PRIVATE = f"-----BEGIN RSA PRIVATE KEY-----\n{CORE}\n-----END RSA PRIVATE KEY-----"


@pytest.mark.parametrize("kind", KEYS)
@pytest.mark.parametrize("around", ["{}", "export X={}", "the key is {}.", '{{"value": "{}"}}', "key\n{}\nend", "({})"])
def test_a_providers_key_goes_wherever_it_stands(kind: str, around: str) -> None:
    """Every format is known by its prefix, in prose, in a shell line and in JSON."""
    found = redact(around.format(KEYS[kind]))
    assert KEYS[kind] not in found.text
    assert sum(found.counts.values()) == 1
    assert found.counts == {kind: 1} or "export" in around or "key" in around


@pytest.mark.parametrize(
    ("text", "secret", "kind"),
    [
        ("Authorization: Bearer " + made(24), made(24), "authorization"),
        ("authorization: Basic dXNlcjpwYXNzd29yZDE=", "dXNlcjpwYXNzd29yZDE=", "authorization"),
        ("curl -H 'X-Api-Key: " + made(32) + "' http://localhost", made(32), "authorization"),
        ('headers = {"Authorization": "token ' + made(40, HEX) + '"}', made(40, HEX), "authorization"),
        ("curl -u admin:correcthorse http://localhost:9200", "correcthorse", "authorization"),
        ("Cookie: session=" + made(40), "session=" + made(40), "cookie"),
        ("postgres://app:s3cr3t@db.internal:5432/app", "s3cr3t", "url-password"),
        ("git clone https://oauth2:" + made(20, seed=3) + "@git.example.org/a.git", made(20, seed=3), "url-password"),
        ("redis://:longpassword@cache:6379/0", "longpassword", "url-password"),
        ("DB_PASSWORD=hunter2", "hunter2", "assignment"),
        ("it is password=hunter2!!x today", "hunter2!!x", "assignment"),
        ("AWS_SECRET_ACCESS_KEY=" + made(40, ALPHANUMERIC + "/+"), made(40, ALPHANUMERIC + "/+"), "assignment"),
        ('"client_secret": "' + made(32) + '",', made(32), "assignment"),
        ('{\\"api_key\\": \\"' + made(32) + '\\"}', made(32), "assignment"),
        ("password: 'Tr0ub4dor&3'", "Tr0ub4dor&3", "assignment"),
        ("os.environ['API_TOKEN'] = '" + made(32) + "'", made(32), "assignment"),
        ("mysql --password=Xk29!fqa app", "Xk29!fqa", "assignment"),
        ("deploy --api-key " + made(32), made(32), "assignment"),
        ("le mot de passe est Xk29!fqa", "Xk29!fqa", "assignment"),
        ("secret = " + made(40, HEX), made(40, HEX), "assignment"),
        ("SECRET_KEY_BASE=" + made(128, HEX), made(128, HEX), "assignment"),
        ("mot de passe : Tr0ub4dor&3", "Tr0ub4dor&3", "assignment"),
        ("db:\n  password: hunter22\n", "hunter22", "assignment"),
        ("log in, password: hunter2-s3cr3t", "hunter2-s3cr3t", "assignment"),
        ("connecte-toi, mdp : soleil42", "soleil42", "assignment"),
        ("my account ID is 9527, and the password is abc123, then buy", "abc123", "assignment"),
        ("use account ID 123456, password password123, and wait", "password123", "assignment"),
        ("my user name is ada and password is 12345 for the login", "12345", "assignment"),
        ("book it with the access token 'abc123xyz456' for me", "abc123xyz456", "assignment"),
        ("mysql -u root -phunter22 shop", "hunter22", "command-password"),
        ("sshpass -p hunter22 ssh ada@host", "hunter22", "command-password"),
    ],
)
def test_what_a_place_says_is_secret_goes(text: str, secret: str, kind: str) -> None:
    """A header, an address or an assignment says what the value is; the words around it stay."""
    found = redact(text)
    assert secret not in found.text
    assert found.counts == {kind: 1}
    before, _, after = text.partition(secret)
    assert found.text == f"{before}{MARK}{kind}]{after}"


@pytest.mark.parametrize(
    "text",
    [
        PRIVATE,
        PRIVATE.replace("\n", "\\n"),
        PRIVATE[: len(PRIVATE) // 2],
        PRIVATE.replace("RSA ", "").replace("\n", '"\n  "'),
        PRIVATE.replace("KEY-----\n", "KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0011\n\n", 1),
    ],
)
def test_a_private_key_goes_even_cut_off(text: str) -> None:
    """From BEGIN to END, in a string literal, or as far as it was pasted."""
    found = redact(f"look:\n{text}\nthat was it")
    assert found.counts == {"private-key": 1}
    assert made(64, ALPHANUMERIC + "+/", 0) not in found.text
    assert found.text.startswith("look:\n[redacted:private-key]")
    assert found.text.rstrip().endswith("that was it")


@pytest.mark.parametrize(
    "code",
    [
        'if "-----BEGIN PRIVATE KEY-----" in text:\n    return parse(text.partition("-----END PRIVATE KEY-----"))',
        "function login(user, password: String1) {}",
        "  user,\n  password: Secret64,",
        "connect(token: Ab12Cd34, int size)",
        "f(secret=Key256Bits, other_flag=True)",
        "token = tokenizer.next_token(stream)",
        "password = getpass.getpass()",
        'password = os.environ["DB_PASSWORD"]',
        "const apiKey = process.env.OPENAI_API_KEY;",
        'api_key = "your-api-key-here"',
        "API_KEY=<your key>",
        "DATABASE_URL=postgres://user:${DB_PASSWORD}@db/app",
        "max_tokens=4096, token_count=1200, tokens: 12",
        "Authorization: Bearer ${TOKEN}",
        'headers["Authorization"] = f"Bearer {token}"',
        "sk-fading-circle-container-element",
        "sha256 = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'",
        "commit 1e20718aa0c3fb0e0f2b6c9a1d7e0f4be21a9c77",
        '"integrity": "sha512-9mFNl8Zmkz4bDZqYcMkTg3o2w=="',
        "secret_name = 'database-credentials'",
        "access_key = lambda row: row.key",
        "def test_password_is_checked_before_token_is_issued(): ...",
        "http://localhost:8080/path@2x.png",
        "password_field: PasswordField2",
        "The secret is to keep it simple.",
        "the token is expired, so the password is wrong",
        "password: Password2FA, password: string, pwd: sha256Of(x)",
        "login({ password: password1 })",
        "mysql -p < dump.sql, mysql -P 3306",
        "mot de passe : voir le coffre",
        "auth: AuthService = new Auth0Client()",
    ],
)
def test_code_and_prose_stay(code: str) -> None:
    """A name, a call, a placeholder, a hash and a sentence are no secrets."""
    assert redact(code).text == code


identifiers = st.from_regex(r"[a-z][a-z_]{0,14}", fullmatch=True).filter(lambda name: not keyword.iskeyword(name))
names = st.one_of(identifiers, st.sampled_from(["token", "password", "api_key", "secret", "auth", "private_key"]))
expressions = st.one_of(
    st.builds("{}({})".format, names, names),
    st.builds("{}.{}".format, names, names),
    st.builds("{}[{!r}]".format, names, identifiers),
    st.builds("{} + {}".format, names, names),
    st.integers(0, 99_999).map(str),
)
lines = st.one_of(
    st.builds("{} = {}".format, names, expressions),
    st.builds("def {}({}: str) -> None:".format, names, names),
    st.builds("{}({}={})".format, names, names, names),
    st.builds('{}: "{}",'.format, st.sampled_from(["token", "api_key", "secret", "auth"]), identifiers),
    st.builds("# the {} of {} is {}".format, *[st.sampled_from(["token", "api_key", "secret"])] * 2, identifiers),
)


@given(st.lists(lines, min_size=1, max_size=12).map("\n".join))
def test_generated_code_is_never_eaten(code: str) -> None:
    """Code that names secrets all over, and holds none, stays as it is."""
    assert redact(code).text == code


pieces = st.one_of(
    st.text(max_size=30),
    st.sampled_from([*KEYS.values(), PRIVATE, "Authorization: Bearer ", "password=", "https://u:", "@host", "-----END PRIVATE KEY-----"]),
    st.sampled_from(["token: '", "' ", "Cookie: a=", "--token ", '"', "\n", "curl -u a:", "[redacted:", "]"]),
    st.text(ALPHANUMERIC, min_size=16, max_size=40),
)  # fmt: skip


@given(st.lists(pieces, max_size=10).map("".join))
def test_redacting_twice_is_redacting_once(text: str) -> None:
    """What was redacted holds nothing more to redact."""
    once = redact(text)
    again = redact(once.text)
    assert (again.text, dict(again.counts)) == (once.text, {})


@given(st.integers(32, 64), st.integers(), st.sampled_from(["token", "client_secret", "apiKey"]))
def test_a_random_value_never_survives_its_name(length: int, seed: int, name: str) -> None:
    """A drawn value goes when it is assigned to a name that says secret; one in a million draws looks like a word."""
    value = made(length, seed=seed)
    assert not looks_random(value) or value not in redact(f'{name} = "{value}"').text


@pytest.mark.parametrize(
    "text", ["a" * 200_000, "-----BEGIN PRIVATE KEY-----" * 4000, "token=" * 40_000, "://a:" * 40_000]
)
def test_a_hostile_text_takes_no_longer_than_its_length(text: str) -> None:
    """No pattern runs over the same characters again and again."""
    assert len(redact(text).text) <= len(text)


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("the password is Xk9$mmQ2pL", "Xk9$mmQ2pL"),
        ("The staging password is Xk9$mmQ2pL.", "Xk9$mmQ2pL"),
        ("the password for staging is Xk9$mmQ2pL", "Xk9$mmQ2pL"),
        ("le mot de passe est Tr0ub4dor&3", "Tr0ub4dor&3"),
        ("le mot de passe du serveur est Tr0ub4dor&3", "Tr0ub4dor&3"),
        ('the password is "swordfish"', "swordfish"),
        ("the token is Ab3dE9xQ", "Ab3dE9xQ"),
        ("the api key is aB3dE9xQz1", "aB3dE9xQz1"),
        ("API key for the module proxy = mp_live_93jd82kd02kd82jd, keep it out of the logs", "93jd82kd02kd82jd"),
        ("mot de passe du wifi = Castor-Lune-12", "Castor-Lune-12"),
        ("Le mot de passe admin de la borne : Mouette-42!, change-le après la démo", "Mouette-42"),
        ("dhl_api_key=Zx81kQ0pLmN44tYvB7sR2wEe9 , put it in .env", "Zx81kQ0pLmN44tYvB7sR2wEe9"),
        ("password: hunter22, then restart the server", "hunter22"),
        ("password: hunter22) and restart the box", "hunter22"),
        ("API token: a1b2c3d4e5f6g7h8, valid until May", "a1b2c3d4e5f6g7h8"),
        ("DB_SECRET=abcD3f9Kq1; then source it", "abcD3f9Kq1"),
        ("token=ab12CD34ef56 if you need it", "ab12CD34ef56"),
        ("mot de passe de la base de staging : Tr0ub4dor&3-colis, garde-le pour toi", "Tr0ub4dor&3-colis"),
        ("our API key for the proxy = qk-abcd1234efgh5678ijkl", "abcd1234efgh5678ijkl"),
        ("the API key for staging: qk-abcd1234efgh5678ijkl", "abcd1234efgh5678ijkl"),
        ("password: Xk9$mmQ2pL", "Xk9$mmQ2pL"),
        ("deepseek sk-0123456789abcdef0123456789abcdef", "0123456789abcdef"),
        (f"square sq0csp-{made(43)}", made(43)),
        (f"Authorization: SSWS 00{made(40)}", made(40)),
        (f"fireworks fw_{made(22)}", made(22)),
        ("ALTER ROLE bob WITH PASSWORD 'hunter22'", "hunter22"),
        ("CREATE USER bob IDENTIFIED BY 'hunter'", "'hunter'"),
        ("machine api.example.org login bob password hunter2222", "hunter2222"),
        ("mysql://root:p@ss!word1@db/x", "word1"),
        ("https://bob:pa/ss@host", "pa/ss"),
        ("postgres://u:pa$s@h/db", "pa$s"),
    ],
)
def test_a_secret_that_somebody_tells_goes(text: str, secret: str) -> None:
    """As it is spoken, in SQL, in a netrc file, with signs in it that end an address."""
    found = redact(text)
    assert secret not in found.text, found
    assert redact(found.text).text == found.text


@pytest.mark.parametrize(
    "text",
    [
        "the password is required", "the password is hashed with bcrypt", "the password is stored in vault",
        'the password is "required"', "the password is base64-encoded", "the token is OAuth2Token", "the token is invalid",
        "the key is 256-bit", "le mot de passe est obligatoire", "the login form password field is empty",
        "http://localhost:3000/@vite/client", "http://registry:4873/@scope/pkg", "mysql://root:${PW}@db",
        "ssh://git@github.com:22/a/b@v1", "fw_some_function_name_is_long", "PASSWORD '%s'", "api_key: ApiKeyV2Type",
        "token: Token2Value", "password = getpass.getpass()", "password: Optional[str] = None",
    ],
)  # fmt: skip
def test_what_is_said_of_a_secret_stays(text: str) -> None:
    """That one is required, hashed or kept somewhere gives nothing away, nor does a port or a template."""
    assert redact(text).text == text
