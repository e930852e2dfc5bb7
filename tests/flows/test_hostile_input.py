"""Input made to break a reader: each is answered, reported or refused with words, in a bounded time and space."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from contextlib import suppress

import pytest

from handbook import GIT, Repo
from vademecum import config
from vademecum.cli import main
from vademecum.cli.session import emit_json
from vademecum.code.checkout.ignore import is_secret
from vademecum.code.chunking.chunk import MOST_SAID, chunk_file
from vademecum.errors import ConfigError, GitError
from vademecum.types import Verdict

ALPHA = {"a.py": "def alpha(): ...\n"}
COPIES = [
    ".env~",
    "#.env#",
    ".env_backup",
    ".env.bak",
    "id_rsa~",
    "id_ed25519.orig",
    "server.key~",
    "server.pem.old",
    "secrets.yaml.bak",
    ".netrc~",
    ".npmrc.bak",
    "kubeconfig.yaml",
    "terraform.tfvars.json",
    "application_default_credentials.json",
    "app-firebase-adminsdk-1a.json",
    ".dev.vars",
    ".pgpass_old2",
]
NO_SECRETS = ["env.py", "notes.bak", "keys.md~", "README.old", ".environment.md", "backup.py", "monkey_old.json"]


def size(place):
    return sum(path.stat().st_size for path in place.rglob("*") if path.is_file())


def test_a_tree_of_a_thousand_folders_in_each_other_is_indexed(repo, engine):
    """Git lists its path of 2 KB, and each folder on the way is looked at for links."""
    made = repo("deep", ALPHA)
    inner = os.open(made.path, os.O_RDONLY)
    for _ in range(1_050):
        os.mkdir("d", dir_fd=inner)
        inner, before = os.open("d", os.O_RDONLY, dir_fd=inner), inner
        os.close(before)
    with os.fdopen(os.open("b.py", os.O_WRONLY | os.O_CREAT, dir_fd=inner), "w") as file:
        file.write("def beta(): ...\n")
    os.close(inner)
    try:
        codebase = engine(made).codebase
        assert codebase.index().files == 2
        assert codebase.index().unchanged == 2
        assert codebase.symbol("beta").evidence[0].path.endswith("d/b.py")
    finally:
        subprocess.run(["rm", "-rf", str(made.path / "d")], check=True)  # deeper than Python's own way goes


@pytest.mark.parametrize("name", [".git", ".git/HEAD"])
def test_a_pipe_in_the_place_of_git_is_not_waited_for(repo, engine, bounded, name):
    """Nobody writes to it, so whoever reads it would wait for ever."""
    made = repo("piped", ALPHA, git=name != ".git")
    (made.path / name).unlink(missing_ok=True)
    os.mkfifo(made.path / name)
    with suppress(GitError):  # as good an end
        assert engine(made).codebase.symbol("alpha").evidence


@pytest.mark.parametrize("line", ["max_file_bytes = 99999999999", "workers = 100000", "deadline_s = 1e9"])
def test_numbers_that_a_repository_sets_have_a_ceiling(repo, line):
    """What the user sets has none."""
    made = repo("greedy", {**ALPHA, ".vade.toml": f"[index]\n{line}\n"})
    with pytest.raises(ConfigError, match="may set at most"):
        config.load(made.path)
    name, _, value = line.partition(" = ")
    assert config.load(None, arguments={f"index.{name}": float(value) if "e" in value else int(value)})


def test_a_limit_beyond_all_memory_reads_what_is_there(repo, engine):
    """The user's own limit may be any number."""
    made = repo("vast", ALPHA)
    assert engine(made, index__max_file_bytes=2**63 - 1).codebase.symbol("alpha").evidence


@pytest.mark.parametrize(("name", "text"), [(".vade.toml", "a=" + "[" * 5_000), (".coderag.yaml", "a: " + "[" * 5_000)])
def test_settings_nested_without_end_are_refused_by_name(repo, name, text):
    """The message names the file, and nothing overflows."""
    with pytest.raises(ConfigError, match=f"{name} is nested too deep"):
        config.load(repo("nested", {**ALPHA, name: text}).path)


def test_an_embedder_for_prose_that_does_not_answer_leaves_words(repo, engine):
    """A repository may choose it, and nobody has to run it."""
    made = repo("wordy", {**ALPHA, "R.md": "# Words\n\nalpha is a thing\n"})
    opened = engine(
        made,
        embedder=None,
        search__prose_embedder="ollama:nobody",
        embedding__ollama_url="http://127.0.0.1:9",
        embedding__attempts=1,
    )
    answer = opened.codebase.search("alpha thing")
    assert answer.evidence
    assert "words alone" in answer.reason
    opened.memory.record("alpha is kept in a drawer")
    recalled = opened.memory.recall("alpha drawer")
    assert recalled.evidence
    assert "words alone" in recalled.reason
    opened.tools.register_json('[{"name": "alpha_thing", "description": "Make an alpha."}]', server="s")
    found = opened.tools.search("make an alpha")
    assert found.matches
    assert "words alone" in found.reason


@pytest.mark.parametrize("name", COPIES)
def test_copies_of_secret_files_are_secret(name):
    """Editors and people leave them beside the file."""
    assert is_secret(f"deploy/{name}")


@pytest.mark.parametrize("name", NO_SECRETS)
def test_other_copies_are_not(name):
    """A copy of what may be read may be read."""
    assert not is_secret(name)


def test_a_denial_names_what_a_sparse_checkout_leaves_out(repo, engine):
    """The folder, once, and only while it is not there."""
    made = repo("sparse", {**ALPHA, "b/b.py": "def delta(): ...\n", "b/c.py": "def other(): ...\n"})
    made.git("sparse-checkout", "set", "--no-cone", "/a.py")
    denied = engine(made).codebase.symbol("delta")
    assert denied.verdict is Verdict.NOT_FOUND
    assert "1 path was skipped and may hold it: b (not checked out)" in denied.reason
    made.git("sparse-checkout", "disable")
    assert engine(made).codebase.symbol("delta").evidence
    assert "not checked out" not in engine(made).codebase.symbol("nobody").reason


def test_a_denial_names_a_submodule(repo, engine):
    """It is a repository of its own, and may hold anything."""
    inner, made = repo("inner", {"d.py": "def delta(): ...\n"}), repo("outer", ALPHA)
    made.git("submodule", "--quiet", "add", str(inner.path), "sub")
    assert "sub (another repository)" in engine(made).codebase.symbol("delta").reason


def test_json_spells_what_no_terminal_should_get(monkeypatch):
    """Signs that control, reorder or hide are written as escapes, and read back as they were."""
    text = "a\x9b31m\u202e\u2028\u200b\x7f\ufeffé\U0001f600"
    out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    monkeypatch.setattr(sys, "stdout", out)
    emit_json({"text": text})
    out.flush()
    said = out.buffer.getvalue().decode()
    assert json.loads(said) == {"text": text}
    assert not set(said) & set("\x9b\u202e\u2028\u200b\x7f\ufeff")
    assert "é\U0001f600" in said


def test_names_without_end_are_cut(repo, engine, tmp_path):
    """A heading of 1 MB and a name of 500 KB make an index a few times their size."""
    made = repo("long", {"r.md": "# " + "wörd " * 160_000, "n.py": f"def {'a' * 500_000}(): pass\n", **ALPHA})
    assert engine(made, home=tmp_path / "home").codebase.index().files == 3
    assert size(tmp_path / "home") < 15_000_000
    chunks = chunk_file(b"class " + b"A" * 5_000 + b":\n    def f(self):\n        pass\n", "python").chunks
    assert max(len(symbol.qualified) for chunk in chunks for symbol in chunk.symbols) == MOST_SAID


def test_a_repository_of_sha_256_and_a_shallow_one_are_answered(repo, engine, tmp_path):
    """Longer ids, and a history that ends early."""
    (tmp_path / "long").mkdir()
    long = Repo(tmp_path / "long")
    long.git("init", "-q", "--object-format=sha256")
    long.write("a.py", ALPHA["a.py"])
    long.commit()
    origin = repo("origin", ALPHA)
    for _ in range(3):
        origin.commit()
    shallow = tmp_path / "shallow"
    subprocess.run(
        ["git", "clone", "-q", "--depth", "1", f"file://{origin.path}", str(shallow)], env=os.environ | GIT, check=True
    )
    for place in (long.path, shallow):
        assert engine(place).codebase.symbol("alpha").evidence


def test_a_file_that_grows_while_it_is_read_is_read_to_its_limit(repo, engine):
    """Nothing waits for its end."""
    made = repo("growing", ALPHA)
    code = "import sys\nwith open(sys.argv[1], 'a') as f:\n    while True:\n        f.write('x = 1\\n' * 1000)"
    with subprocess.Popen([sys.executable, "-c", code, str(made.path / "log.py")]) as writer:
        try:
            codebase = engine(made).codebase
            for _ in range(5):
                assert codebase.search("alpha").evidence[0].path == "a.py"
        finally:
            writer.kill()


ODD = {
    "newline": "\n",
    "escape": "\x1b[2J",
    "control": "\x9b31m",
    "mark": "\u200f",
    "override": "\u202e",
    "hidden": "\u200b",
    "line": "\u2028",
}


@pytest.mark.parametrize(
    "verb", ["search", "context", "map", "symbol", "callers", "impact", "related", "graph", "status", "index", "open"]
)
def test_odd_names_reach_no_terminal(repo, monkeypatch, capsys, verb):
    """Signs in names of files, in code and in names of declarations are made visible by every verb that prints them."""
    files = {
        f"o{sign}{name}.py": f"def odd_{name}(x):  # {sign} here\n    return even(x)\n" for name, sign in ODD.items()
    }
    made = repo(
        "odd",
        {**files, f"even{ODD['mark']}.py": "def even(x):\n    return x\n", "# R.md": f"# odd {ODD['override']}\n"},
    )
    monkeypatch.chdir(made.path)
    asked = {"search": ["odd"], "context": ["odd even"], "symbol": ["even"], "callers": ["even"], "impact": ["even"], "graph": ["even"],
             "related": [f"even{ODD['mark']}.py:1"], "open": [f"even{ODD['mark']}.py"], "status": ["-v"], "index": ["-v"]}  # fmt: skip
    code = main([verb, *asked.get(verb, [])])
    said = capsys.readouterr()
    assert code in (0, 1)
    assert said.out
    bad = {sign for sign in "\x1b\x9b\u200f\u202e\u200b\u2028" if sign in said.out + said.err}
    assert bad == set()
