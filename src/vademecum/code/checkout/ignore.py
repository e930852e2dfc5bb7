"""Rules that leave files out of the index.

The tables are the documentation: a lower-cased name is looked up in the tables, and no file is opened. The tables list
secrets, binaries and generated files. Secrets are never read. A `!pattern` line of a `.vadeignore` can force in any
other file.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import TYPE_CHECKING

from vademecum.code.checkout.classify import words

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

VADEIGNORE = ".vadeignore"

SECRET_NAMES = words(
    # passwords and tokens of tools
    ".netrc _netrc .npmrc .pypirc .pgpass .my.cnf .mylogin.cnf .htpasswd .git-credentials .dockercfg"
    " .dockerconfigjson .s3cfg .boto .envrc .vault-token .vault_pass .vault-password .kubeconfig kubeconfig"
    # credentials files
    " credentials .credentials credentials.json credentials.yml credentials.yaml credentials.ini credentials.toml"
    " credentials.xml credentials.csv credentials.yml.enc credentials.db"
    " secrets.json secrets.yml secrets.yaml secrets.toml secrets.ini secret.json secret.yml secret.yaml"
    " application_default_credentials.json kubeconfig.yaml kubeconfig.yml .dev.vars serviceaccount.json accesskeys.csv"
    " rootkey.csv master.key terraform.rc .terraformrc"
)
SECRET_EXTENSIONS = words(
    # keys, key stores, password safes, and Terraform's state, which holds every secret it made
    "pem key p12 pfx pkcs12 p8 jks jceks keystore bcfks kdb kdbx ppk keytab ovpn agekey tfstate tfvars"
)
SECRET_DIRECTORIES = words(".ssh .gnupg .kube")
_SECRET_PATTERNS = re.compile(
    # `.env`, `.env.production`, `prod.env`, but not templates: `.env.example`, `sample.env`
    r"(?!.*(?:example|sample|template|\bdist\b|default|schema))(?:\.env(?:[._-].*)?|[\w-]+\.env)"
    # `id_rsa`, `id_ed25519.old`, `id_rsa-work`, but not `id_rsa_test.go`
    r"|id_(?:rsa|dsa|ecdsa|ecdsa_sk|ed25519|ed25519_sk)(?:[._-][\w-]*)?(?:\.(?:pub|old|bak|backup|txt))?"
    # Google's: `service-account-prod.json`, `client_secret_123.apps.googleusercontent.com.json`
    r"|(?:.*[._-])?(?:service[_-]?account(?:[_-]?key)?|client[_-]?secrets?|(?:google|gcp|gcloud|aws)[_-]credentials)(?:[._-].*)?\.json"
    r"|.*firebase-adminsdk.*\.json|.*\.tfvars\.json|.*\.tfstate\..*|.*\.(?:pem|key)\.(?:old|bak|backup|enc)"
)
# What editors and people add to a name for a copy: `#x#`, `x~`, `x.bak`, `x_old`
_COPY = re.compile(r"#?(.+?)(?:~|#|[._-](?:bak|backup|old|orig|save|copy)\d*)+")
# The secret patterns do not apply to these extensions. `txt` is plain as well, except in `id_rsa.txt`.
_READABLE = words(
    "py pyi js mjs cjs jsx ts tsx go rs java kt scala swift rb php c h cc cpp hpp cs lua ex exs hs sh bash sql"
    " md rst html css scss vue svelte"
)
_PLAIN = _READABLE | {"txt"}

BINARY_EXTENSIONS = words(
    # images, sound, video, fonts
    "png jpg jpeg gif bmp ico icns tif tiff webp avif heic psd ai eps svg svgz xcf sketch fig raw dds tga exr hdr"
    " mp3 wav flac ogg oga opus m4a aac mid midi mp4 m4v mov avi mkv webm wmv flv mpg mpeg swf"
    " woff woff2 ttf ttc otf eot"
    # documents that are not text
    " pdf ps djvu doc docx docm xls xlsx xlsm xlsb ppt pptx odt ods odp epub mobi chm rtf pages numbers"
    # archives and packages
    " zip gz tgz bz2 tbz xz txz lzma 7z rar zst lz4 br z tar cpio ar deb rpm apk ipa dmg iso img msi cab jar war ear"
    " aar whl egg gem nupkg crate vsix xpi snap asar"
    # objects, executables, bytecode
    " o obj a lib so dylib dll exe bin elf ko pdb dsym class dex pyc pyo pyd wasm beam hi rlib rmeta gch pch"
    # data and models
    " db sqlite sqlite3 mdb accdb parquet orc avro feather arrow npy npz mat h5 hdf5 nc pkl pickle joblib rds rdata"
    " pth onnx safetensors gguf ggml tflite pb caffemodel mlmodel ckpt weights tfrecord lmdb dat idx pack"
    # 3D models, maps and other data
    " stl fbx blend glb 3ds dwg dxf shp shx dbf mbtiles gmo ds_store swp swo cer crt der p7b p7s gpg sig"
    " lockb"
)
GENERATED_NAMES = words(
    # lock files of package managers
    "package-lock.json npm-shrinkwrap.json yarn.lock pnpm-lock.yaml bun.lock deno.lock cargo.lock poetry.lock uv.lock"
    " pdm.lock pipfile.lock pixi.lock conda-lock.yml composer.lock gemfile.lock go.sum go.work.sum flake.lock mix.lock"
    " rebar.lock pubspec.lock podfile.lock package.resolved cartfile.resolved packages.lock.json paket.lock"
    " gradle.lockfile stack.yaml.lock cabal.project.freeze .terraform.lock.hcl module.bazel.lock chart.lock"
    " .pnp.cjs .pnp.loader.mjs"
)
GENERATED_EXTENSIONS = words("map po pot xlf xliff")  # source maps; translations, collected from the code by tools
_GENERATED_STEMS = (".min", ".bundle", ".chunk")  # before a plain extension: `app.min.js`, `main.bundle.css`

# Directories of tools' output. Used outside git only.
JUNK_DIRECTORIES = words(
    "node_modules bower_components jspm_packages .venv venv virtualenv .virtualenv site-packages __pycache__ .tox"
    " .nox .mypy_cache .ruff_cache .pytest_cache .hypothesis .ipynb_checkpoints .eggs htmlcov .nyc_output coverage"
    " dist build target out _build .next .nuxt .svelte-kit .turbo .parcel-cache .cache .gradle .dart_tool .terraform"
    " .serverless .aws-sam cdk.out .idea .vs .bundle .stack-work dist-newstyle deriveddata pods elm-stuff bazel-bin"
    " bazel-out bazel-testlogs"
)
# `.git`, and its counterparts in other version control systems.
REPOSITORY_DIRECTORIES = frozenset({".git", ".hg", ".svn", ".jj", ".bzr", "cvs", "_darcs", ".pijul"})


def is_secret(path: str) -> bool:
    """Return whether a file holds secrets, judged from its path.

    >>> [is_secret(path) for path in ("app/.env.local", "deploy/server.pem", "id_ed25519", ".ssh/config")]
    [True, True, True, True]
    >>> [is_secret(path) for path in (".env.example", "monkey.py", "keys.md", "src/id_rsa_test.go")]
    [False, False, False, False]
    """
    return refusal(path) == "secret"


def refusal(path: str) -> str:
    """Return the reason to leave a file out, judged from its path.

    The reasons are "secret", "binary" and "generated"; "" means the file stays.

    >>> [refusal(path) for path in ("prod.env", "logo.PNG", "web/app.min.js", "Cargo.lock", "src/map.py")]
    ['secret', 'binary', 'generated', 'generated', '']
    >>> [refusal(path) for path in ("locale/fr/django.po", "locale/messages.ru.xlf", "src/locale.ts")]
    ['generated', 'generated', '']
    """
    folder, _, name = path.rpartition("/")
    if _in_secret_directory(folder):
        return "secret"
    name = name.lower()
    stem, _, extension = name.rpartition(".")
    if extension in _PLAIN and not name.startswith("id_"):  # most files need no regular expression
        return "generated" if stem.endswith(_GENERATED_STEMS) or name in GENERATED_NAMES else ""
    if _is_secret_name(name, stem, extension) or f"{folder}/{name}".endswith(".docker/config.json"):
        return "secret"
    if extension in BINARY_EXTENSIONS and stem:
        return "binary"
    return "generated" if name in GENERATED_NAMES or extension in GENERATED_EXTENSIONS else ""


def _is_secret_name(name: str, stem: str, extension: str) -> bool:
    if copy := _COPY.fullmatch(name):
        own = copy[1]
        if _is_secret_name(own, *own.rpartition(".")[::2]):
            return True
    if name in SECRET_NAMES or (extension in SECRET_EXTENSIONS and stem):
        return True
    return extension not in _READABLE and _SECRET_PATTERNS.fullmatch(name) is not None


@lru_cache(maxsize=4096)
def _in_secret_directory(folder: str) -> bool:
    return not SECRET_DIRECTORIES.isdisjoint(folder.lower().split("/"))


# The expressions `pathspec` writes: stars inside a name, `**` between folders, the start of a line without a slash.
_STARS = re.compile(r"(?:\[\^/\]\*){2,}")
_CLASS = re.compile(r"(\\.|\[[^^][^]]*\])|(\[\^(?!/\])\]?)(?!-)([^]]*\])")
_STAR_BEFORE_STAR = re.compile(
    r"\[\^/\]\*((?:\\.|\[\^\]?/[^]\\]*\](?!\*)|\[(?!\^)\]?[^]/\\]*\]|[^][/()\\])+)(?=\[\^/\]\*)"
)
_FOLDERS, _ANYWHERE = "(?:/.+)?", "^(?:.+/)?"


class IgnoreFiles:
    """Ignore files of one kind; the deepest has the last word."""

    def __init__(self) -> None:
        # Deepest directory first. One expression for all lines settles most paths at half the cost.
        self._rules: list[tuple[str, re.Pattern[str], GitIgnoreSpec]] = []
        self.forces = False  # whether any line begins with `!`
        self.lines: list[tuple[str, list[str]]] = []  # the lines added, by directory

    def add(self, folder: str, lines: Iterable[str]) -> None:
        """Add the lines of the ignore file in `folder`, "" for the root."""
        kept = [line for line in lines if line.strip() and not line.startswith("#")]
        if not kept:
            return
        from pathspec import GitIgnoreSpec  # 20 ms to import, and most git repositories have no `.vadeignore`

        self.lines.append((folder, kept))
        self.forces = self.forces or any(line.startswith("!") for line in kept)
        prefix = f"{folder}/" if folder else ""
        spec = _compile(kept, GitIgnoreSpec)
        self._rules.append((prefix, _any_line(spec), spec))
        self._rules.sort(key=lambda rule: -rule[0].count("/"))

    def verdict(self, path: str) -> bool | None:
        """Return whether an ignore file ignores or keeps `path`.

        True: ignored. False: a `!pattern` keeps the path. None: no line matches. A directory's path ends with a slash.

        >>> rules = IgnoreFiles()
        >>> rules.add("", ["*.log", "!keep.log"])
        >>> rules.verdict("a/x.log"), rules.verdict("a/keep.log"), rules.verdict("a.py")
        (True, False, None)
        """
        for prefix, any_line, spec in self._rules:
            if path.startswith(prefix) and any_line.match(path, len(prefix)):
                verdict = spec.check_file(path[len(prefix) :]).include
                if verdict is not None:
                    return verdict
        return None

    def __bool__(self) -> bool:
        return bool(self._rules)


def _compile(lines: list[str], spec: type[GitIgnoreSpec]) -> GitIgnoreSpec:
    """Compile the lines, without those that are no valid pattern."""
    try:
        made = spec.from_lines(lines)
    except ValueError:
        made = spec.from_lines([line for line in lines if _is_pattern(line, spec)])
    return spec([
        type(each)(re.compile(quickened(each.regex.pattern)), each.include) if each.regex else each
        for each in made.patterns
    ])  # fmt: skip


def quickened(line: str) -> str:
    r"""Return an equivalent expression that fails fast.

    Where another star follows, a star inside a name takes as little as possible and never gives it back: the later star
    may take the rest. The folders of a `**` are treated the same way. Trying every way to divide a path among the stars
    would take far too long. As in git, `[!x]` never matches a slash.

    >>> quickened("^(?:.+/)?[^/]*a[^/]*b$"), quickened("^a(?:/.+)?/b(?:/.+)?/c$")
    ('^(?:.+/)?(?>[^/]*?a)[^/]*b$', '^a(?>(?:/.+?)??/b(?=/))(?:/.+)?/c$')
    """
    line = _CLASS.sub(lambda found: found[1] or f"{found[2]}/{found[3]}", line)
    line = _STAR_BEFORE_STAR.sub(r"(?>[^/]*?\1)", _STARS.sub("[^/]*", line))
    first, *inner = line.split(_FOLDERS)
    if not inner:
        return line
    begin, rest = first[: len(_ANYWHERE)], first[len(_ANYWHERE) :]
    first = rf"^(?>(?:.+?/)??{rest}(?=/))" if begin == _ANYWHERE else first
    return "".join([first, *(rf"(?>(?:/.+?)??{part}(?=/))" for part in inner[:-1]), _FOLDERS, inner[-1]])


def _any_line(spec: GitIgnoreSpec) -> re.Pattern[str]:
    """Return one expression that matches when any line matches."""
    lines = [line.regex.pattern for line in spec.patterns if line.regex is not None]
    return re.compile("|".join(re.sub(r"\(\?P<\w+>", "(?:", line).removeprefix("^") for line in lines) or r"(?!)")


def _is_pattern(line: str, spec: type[GitIgnoreSpec]) -> bool:
    try:
        spec.from_lines([line])
    except ValueError:
        return False
    return True
