"""Sixty secrets as people type them and as issuers make them, each in the text that it comes in."""

from __future__ import annotations

import random
import string

ALPHANUMERIC = string.ascii_letters + string.digits
HEX = "0123456789abcdef"


def made(length: int, alphabet: str = ALPHANUMERIC, seed: int = 7) -> str:
    """Return a made-up key body, the same on every run."""
    return "".join(random.Random(f"{seed}{length}{alphabet}").choices(alphabet, k=length))


GITHUB, HEXADECIMAL, STRIPE = "ghp_" + made(36), made(40, HEX), "sk_" + "live_" + made(24)
TYPED = [
    ("password=hunter2", "hunter2"),
    ("admin password: Tulip-Harbor-42", "Tulip-Harbor-42"),
    ("mdp : Soleil2026!", "Soleil2026!"),
    ("le mot de passe du wifi est Cigogne-Bleue-7", "Cigogne-Bleue-7"),
    ("mot de passe Tournesol88", "Tournesol88"),
    ("le mdp c'est marmotte", "marmotte"),
    (f"the token for the weather API is {HEXADECIMAL}", HEXADECIMAL),
    ("The staging password is swordfish.", "swordfish"),
    ("DB_PASS=Ex9Tr0ub4dor!", "Ex9Tr0ub4dor!"),
    ("DB_PASSWORD=correcthorsebattery", "correcthorsebattery"),
    ("pw: gl4cier", "gl4cier"),
    ("log in with user admin and password Zebra77kite", "Zebra77kite"),
    ('ds.setPassword("Walnut-Bridge")', "Walnut-Bridge"),
    ("<password>maplesyrup</password>", "maplesyrup"),
    ('<add key="DbPassword" value="Kestrel.91"/>', "Kestrel.91"),
    ("jdbc:mysql://db:3306/app?user=root&password=Sup3rS3cret", "Sup3rS3cret"),
    ("jdbc:sqlserver://h;user=sa;password=Gr4nite;encrypt=true", "Gr4nite"),
    ("db:\n  user: app\n  password: Tr0ub4dor3x\n", "Tr0ub4dor3x"),
    ('ConvertTo-SecureString "Pineapple-12" -AsPlainText', "Pineapple-12"),
    ("otpauth://totp/a?secret=JBSWY3DPEHPK3PXP&issuer=b", "JBSWY3DPEHPK3PXP"),
    ("the passphrase is 'copper kettle violet lantern'", "copper kettle violet lantern"),
    ("password%3Dmagn0lia%26user%3Dx", "magn0lia"),
    ("{%22password%22%3A%22quartz9%22}", "quartz9"),
    ("we changed the password to Orchid!55", "Orchid!55"),
    ("Birch-Lake-19 is the admin password", "Birch-Lake-19"),
    ("**Password:** `velvet-otter`", "velvet-otter"),
    ("| password | Juniper#3 |", "Juniper#3"),
    ('export const config = { password: "nightingale" }', "nightingale"),
    ('{"name": "DB_PASSWORD", "value": "limestone8"}', "limestone8"),
    ("- name: DB_PASSWORD\n  value: basalt77\n", "basalt77"),
    ("MYSQL_PWD=ferry-boat mysql -u root", "ferry-boat"),
    ("sshpass -p cobalt12 ssh ada@host", "cobalt12"),
    ("docker login -u ada -p thistle44", "thistle44"),
    ("postgres://app:saffron@db.internal/app", "saffron"),
    ("curl -u admin:correcthorse http://localhost:9200", "correcthorse"),
    ("machine api.example.org login bob password larkspur", "larkspur"),
    ("ALTER ROLE bob WITH PASSWORD 'hazelnut'", "hazelnut"),
    ("the PIN is 482915", "482915"),
    ("clé API : " + made(24), made(24)),
    ("le jeton d'accès est " + made(20), made(20)),
]
MADE = [
    (f"\x1b[31m{GITHUB}\x1b[0m", GITHUB),
    (f"token: gh\x1b[1mp_{made(36, seed=8)}", made(36, seed=8)),
    (f"\\u001b[32m{'glpat-' + made(20)}\\u001b[0m", made(20)),
    (f"token%3D{'gho_' + made(36, seed=9)}", made(36, seed=9)),
    (f"%22{STRIPE}%22", STRIPE),
    (f"x_{'ghs_' + made(36, seed=10)}", made(36, seed=10)),
    ("sk-" + "ant-api03-" + made(90), made(90)),
    ("AKIA" + made(16, string.ascii_uppercase + "234567"), made(16, string.ascii_uppercase + "234567")),
    ("https://api.telegram.org/bot123456789:AA" + made(33) + "/getMe", made(33)),
    ("nuget push a.nupkg -k oy2" + made(43, string.ascii_lowercase + string.digits), made(43, string.ascii_lowercase + string.digits)),
    ("https://" + made(32, HEX) + "@o1.ingest.sentry.io/2", made(32, HEX)),
    ("OP_SERVICE_ACCOUNT_TOKEN=ops_eyJ" + made(60), made(60)),
    ("Authorization: Bearer " + made(28), made(28)),
    ("xoxb-" + "123456789012-123456789012-" + made(25), made(25)),
    ("AIza" + made(35), made(35)),
    ("SG." + made(22) + "." + made(44), made(44)),
    ("eyJhbGciOiJIUzI1NiJ9" + ".eyJzdWIiOiIxMjM0In0." + made(45), made(45)),
    ("npm_" + made(36, seed=11), made(36, seed=11)),
    ('"client_secret": "' + made(32, seed=12) + '",', made(32, seed=12)),
    ("secret = " + made(48, HEX), made(48, HEX)),
]  # fmt: skip
SECRETS = TYPED + MADE
