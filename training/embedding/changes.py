"""Which files of a repository are its product, and which lines a commit changed in them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

Span = tuple[int, int]  # first and last line, counted from 1, inclusive

_SLASH = "c cc cpp cxx h hh hpp hxx cs go java js jsx mjs cjs ts tsx mts cts kt kts scala swift rs zig php dart m mm groovy vue svelte v fs"
_HASH = "py pyx pyi rb rake sh bash zsh ex exs jl pl pm r nim cr"
_DASH = "lua hs sql elm ml mli erl clj cljs cljc"
_COMMENT = {
    **dict.fromkeys(_SLASH.split(), re.compile(r"^(?://|/\*|\*/|\*(?:\s|$)|<!--)")),
    **dict.fromkeys(_HASH.split(), re.compile(r"^(?:#(?!\[|!)|\"\"\"|''')")),
    **dict.fromkeys(_DASH.split(), re.compile(r"^(?:--|\{-|-\}|%|;|\(\*)")),
}
SOURCE_EXTENSIONS = frozenset(_COMMENT)

_BESIDE = re.compile(  # folders that hold no product wherever they lie
    r"""^(?:tests?|testing|__tests?__|__mocks__|mocks?|specs?|testdata|test[-_].*|.*[-_.]tests?|.*tests|test(?:lib|kit|fixtures|resources|util\w*|support)
      | (?:common|jvm|js|native|android|unit|integration|functional|ios|apple|linux|wasm\w*|nonjvm|nonwasm|unix|desktop)\w*Test
      | fixtures?|e2e|cypress|bench(?:es|marks?)?|jmh|fuzz(?:ers?|ing)?|examples?|samples?|demos?|playgrounds?|docs?|documentation|tutorials?
      | .*[-_](?:demos?|examples?|samples?|bench|benchmarks?|fixtures?)
      | vendor(?:ed)?|third[_-]?party|3rd[_-]?party|node_modules|bower_components|generated|__generated__|__snapshots__|\..*)$""",
    re.IGNORECASE | re.VERBOSE,
)
_BESIDE_UNLESS_ROOT = (
    re.compile(  # folders that hold no product, unless they lie under the folder that is known to be the product
        r"""^(?:dist|build|out|target|gen|scripts?|tools?|hack|ci|contrib|misc|etc|perf|it|sandbox|website|site|www|guides?|external|externals|extern|deps
      | submodules|migrations|snapshots?|locales?|i18n|translations?|packaging|release|releasing|dev)$""",
        re.IGNORECASE | re.VERBOSE,
    )
)
_NOT_PRODUCT_FILE = re.compile(
    r"""(?:^test_|^tests?\.|^conftest\.py$|_tests?\.|[._-](?:test|spec|bench|stories|story|e2e|mock)s?\.|_spec\.|_bench(?:mark)?\.
      | ^setup\.py$|^(?:gulp|grunt|rake|jake|build|webpack|rollup|vite|karma|jest|babel|eslint|prettier|tsup|vitest)(?:file)?[.\w]*\.(?:c|m)?[jt]s$
      | \.config\.[cm]?[jt]s$|^build\.(?:rs|zig|sbt|gradle\.kts|scala)$|^(?:mix|noxfile|tasks|fabfile|dangerfile)\.\w+$|\.gradle\.kts$|^package\.swift$
      | \.min\.\w+$|\.pb\.|_pb2|\.generated\.|_generated\.|\.g\.(?:cs|dart)$|\.gen\.|^zz_|^_?_?version_?_?\.|^assemblyinfo\.cs$|^bindata|^parsetab)""",
    re.IGNORECASE | re.VERBOSE,
)
_TEST_CLASS = re.compile(
    r"(?:Tests?|TestCase|Specs?|Suite|IT|Benchmark)\.(?:java|kt|kts|cs|php|swift|scala|groovy|m|mm|hs|cpp|cc|py|ts|js)$|^Test[A-Z]\w*\."
)
_IMPORT = re.compile(
    r"""^(?:import\b|from\s+\S+\s+import\b|use\s+[\w\\:{]|(?:global\s+)?using\s+[\w.=\s]+;|\#\s*(?:include|pragma\s+once)\b|require(?:_once|_relative)?\b\s*[('"]
      | (?:const|let|var|local)\s+[\w\s{},:]+=\s*require\b|export\s+(?:type\s+)?(?:\*|\{[^}]*\})\s+from|(?:pub\s+)?mod\s+\w+;|pub\s+use\b|alias\s+[A-Z]|package\s+[\w.]+;?$
      | (?:\w+\s+)?"[\w./-]+"$|const\s+\w+\s*=\s*@import|[(){}\[\],;]+$)""",
    re.VERBOSE,
)
_VERSION = re.compile(r"""version\w*["']?\s*[:=(]\s*["']?v?\d+[.,]""", re.IGNORECASE)
_INLINE_TEST = re.compile(r"^(?:test\b.*\{|(?:pub(?:\(\w+\))?\s+)?mod\s+\w*tests?\s*\{)", re.MULTILINE)
_HUNK = re.compile(r"^@@ -(\d+)(?:,(\d+))? \+\d+(?:,\d+)? @@", re.MULTILINE)


@dataclass(frozen=True)
class Hunk:
    """One run of changed lines: where it stands in the old file, what went and what came."""

    start: int
    count: int
    removed: tuple[str, ...]
    added: tuple[str, ...]

    def span(self, lines: int) -> Span:
        """Return its lines in the old file; an insertion stands between two.

        >>> Hunk(3, 2, ("a", "b"), ()).span(9), Hunk(0, 0, (), ("a",)).span(9), Hunk(9, 0, (), ("a",)).span(9)
        ((3, 4), (1, 1), (9, 9))
        """
        first, last = (self.start, self.start + 1) if self.count == 0 else (self.start, self.start + self.count - 1)
        return max(1, first), max(1, min(last, lines))


def extension_of(path: str) -> str:
    """Return what follows the last dot of the name, in lower case."""
    return path.rpartition("/")[2].rpartition(".")[2].lower()


def is_source(path: str) -> bool:
    """Say whether a path names source code of any kind, tests included."""
    return "." in path.rpartition("/")[2] and extension_of(path) in SOURCE_EXTENSIONS


def is_product(path: str, root: str = "") -> bool:
    """Say whether a path names code that users run: no tests, docs, examples, tools, copies of others' code or generated code.

    >>> is_product("src/router.go"), is_product("src/router_test.go"), is_product("docs/conf.py"), is_product("vendor/a/a.c")
    (True, False, False, False)
    >>> is_product("scripts/a.sh"), is_product("scripts/a.sh", "scripts")
    (False, True)
    """
    inside = is_under(path, root)
    *folders, name = (path.removeprefix(root).lstrip("/") if inside else path).split("/")
    if not is_source(path) or _NOT_PRODUCT_FILE.search(name) or _TEST_CLASS.search(name):
        return False
    if any(_BESIDE.match(folder) for folder in folders):
        return False
    return bool(root and inside) or not any(_BESIDE_UNLESS_ROOT.match(folder) for folder in folders)


def is_under(path: str, root: str) -> bool:
    """Say whether a path lies in a folder; everything lies in the folder without a name."""
    return not root or path.startswith(root + "/")


def parse_hunks(diff: str) -> list[Hunk]:
    r"""Read the hunks of one file's `git diff -U0`; none of a file that is binary, or had only its mode changed.

    >>> parse_hunks("old mode 100644\nnew mode 100755\n")
    []
    """
    heads = list(_HUNK.finditer(diff))
    hunks = []
    for head, following in zip(heads, [*heads[1:], None], strict=False):
        lines = diff[head.end() : following.start() if following else len(diff)].split("\n")[1:]
        removed = tuple(line[1:] for line in lines if line.startswith("-"))
        added = tuple(line[1:] for line in lines if line.startswith("+"))
        hunks.append(Hunk(int(head[1]), int(head[2] or 1), removed, added))
    return hunks


def is_trivial(hunk: Hunk, path: str) -> bool:
    """Say whether a hunk changes nothing that runs: blanks, comments, imports and version numbers."""
    if "".join("".join(hunk.removed).split()) == "".join("".join(hunk.added).split()):
        return True
    comment = _COMMENT[extension_of(path)]
    stripped = [line.strip() for line in (*hunk.removed, *hunk.added)]
    return all(not line or comment.match(line) or _IMPORT.match(line) or _VERSION.search(line) for line in stripped)


def test_ranges(text: str) -> list[Span]:
    """Find the tests inside a file of Rust or Zig: from a line that opens one to the next brace in the first column."""
    ranges = []
    for match in _INLINE_TEST.finditer(text):
        closing = text.find("\n}", match.end())
        last = len(text) if closing < 0 else closing + 1
        ranges.append((text.count("\n", 0, match.start()) + 1, text.count("\n", 0, last) + 1))
    return ranges


def answer_spans(hunks: Sequence[Hunk], path: str, text: str) -> list[Span]:
    """Return the lines of a file that a reader of the question must see, in order, joined where they touch.

    Hunks that change nothing that runs, and those inside tests, do not count.
    """
    lines = text.count("\n") + (not text.endswith("\n"))
    tests = test_ranges(text) if extension_of(path) in ("rs", "zig") else []
    spans: list[Span] = []
    for hunk in hunks:
        first, last = hunk.span(lines)
        if is_trivial(hunk, path) or any(begin <= first <= end for begin, end in tests):
            continue
        if spans and first <= spans[-1][1] + 1:
            spans[-1] = (spans[-1][0], max(last, spans[-1][1]))
        else:
            spans.append((first, last))
    return spans
