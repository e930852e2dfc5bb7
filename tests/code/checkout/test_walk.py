"""What may be indexed, what is left out and why, and how files are read without leaving the root."""

from __future__ import annotations

import contextlib
import gc
import os
import re
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pathspec  # loaded before a test becomes another user, who may not read this Python's files
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vademecum.code.checkout.ignore import IgnoreFiles, is_secret, quickened, refusal
from vademecum.code.checkout.root import Root, find_root
from vademecum.code.checkout.source import (
    FORCED_FILE_BYTES,
    Source,
    blob_id,
    contained,
    decode_source,
    printable,
    read_source,
)
from vademecum.code.checkout.walk import Walk, WalkSettings, walk, walk_commit
from vademecum.errors import OutsideRootError
from vademecum.result import Err, Ok
from vademecum.types import FileEntry, Skipped

QUIET = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}


def _listed(names: str) -> list[str]:
    return names.split()


SECRETS = _listed(
    ".env .env.local .env.production prod.env server.pem tls.key id_rsa id_rsa.pub id_ed25519 id_ed25519.old id_rsa-work"
    " cert.p12 cert.pfx app.jks release.keystore .netrc .npmrc .pypirc .htpasswd safe.kdbx terraform.tfstate"
    " terraform.tfstate.backup credentials credentials.json .git-credentials service-account.json"
    " my-service-account-prod.json serviceAccountKey.json client_secret_12.apps.googleusercontent.com.json secrets.yaml"
    " .ssh/config .ssh/known_hosts .kube/config .docker/config.json ID_RSA Server.PEM"
)
INNOCENT = _listed(
    ".env.example .env.sample .env.template example.env monkey.py keys.md keyboard.ts environment.py env.py .environment"
    " id_rsa_test.go id_rsa.md credentials.py secrets.py secret_santa.py pem.go netrc.py donkey.rs token.json key.json"
    " service_account.py tfstate.go docker/config.json src/ssh/config.go .vscode/settings.json"
)


def run(folder: Path, *arguments: str) -> None:
    options = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org", "-c", "protocol.file.allow=always")
    subprocess.run(["git", *options, "-C", str(folder), *arguments], env=os.environ | QUIET, check=True)


def write(folder: Path, path: str, content: str | bytes = "x = 1\n") -> Path:
    target = folder / path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(content.encode() if isinstance(content, str) else content)
    return target


@pytest.fixture(params=["git", "plain"])
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """An empty root, once as a repository and once outside git: the rules are the same."""
    top = tmp_path / "root"
    top.mkdir()
    if request.param == "git":
        run(top, "init", "-q")
    return top


def survey(folder: Path, **narrowed: object) -> Walk:
    return walk(find_root(folder), WalkSettings(**narrowed)).unwrap()  # type: ignore[arg-type]


def paths(found: Walk) -> list[str]:
    return [entry.path for entry in found.entries]


def reasons(found: Walk) -> dict[str, str]:
    return {skipped.path: skipped.reason for skipped in found.skipped}


# names


def test_entries_carry_their_status_and_are_sorted(folder: Path) -> None:
    for path in ("b.py", "a/z.py", "a/b/c.py", "B.py"):
        write(folder, path)
    found = survey(folder)
    assert paths(found) == ["B.py", "a/b/c.py", "a/z.py", "b.py"]
    status = (folder / "a/z.py").stat()
    assert found.entries[2] == FileEntry("a/z.py", status.st_size, status.st_mtime_ns, status.st_ino)
    assert found.skipped == []


@pytest.mark.parametrize("path", SECRETS)
def test_secrets_are_known_by_name(path: str) -> None:
    assert is_secret(path)
    assert is_secret(f"deep/down/{path}")


@pytest.mark.parametrize("path", INNOCENT)
def test_innocent_names_are_no_secrets(path: str) -> None:
    assert not is_secret(path)


def test_secrets_are_never_indexed_not_even_forced(folder: Path) -> None:
    for path in SECRETS[:-2]:  # the last two differ from others by capitals alone
        write(folder, path)
    write(folder, ".vadeignore", "!*\n!.env\n!.ssh/**\n")
    found = survey(folder)
    assert paths(found) == [".vadeignore"]
    assert reasons(found) == dict.fromkeys(SECRETS[:-2], "secret")


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("logo.PNG", "binary"),
        ("x/archive.tar.gz", "binary"),
        ("model.onnx", "binary"),
        ("manual.pdf", "binary"),
        ("package-lock.json", "generated"),
        ("sub/Cargo.lock", "generated"),
        ("go.sum", "generated"),
        ("jquery.min.js", "generated"),
        ("app.bundle.css", "generated"),
        ("app.js.map", "generated"),
        ("api.pb.go", ""),  # indexed, and classified as generated
        ("package.json", ""),
        ("minutes.js", ""),
        ("png.py", ""),
        ("png", ""),
        ("Makefile", ""),
    ],
)
def test_binaries_and_generated_files_are_known_by_name(path: str, reason: str) -> None:
    assert refusal(path) == reason


def test_every_rule_reports_its_reason(folder: Path) -> None:
    for path in ("a.py", "logo.png", "yarn.lock", ".env", "out.log"):
        write(folder, path)
    write(folder, "big.json", "x" * 2000)
    write(folder, ".vadeignore", "*.log\n")
    found = survey(folder, max_file_bytes=1000)
    assert paths(found) == [".vadeignore", "a.py"]
    expected = {"logo.png": "binary", "yarn.lock": "generated", ".env": "secret", "out.log": "ignored"}
    assert reasons(found) == expected | {"big.json": "too large"}
    assert [skipped.detail for skipped in found.skipped if skipped.reason == "too large"] == [
        "2000 bytes, the limit is 1000 bytes"
    ]


def test_names_that_cannot_be_shown_are_left_out(folder: Path) -> None:
    write(folder, "übung.py")
    write(folder, os.fsdecode(b"caf\xe9.py"))
    write(folder, "two\nlines.py")
    found = survey(folder)
    assert paths(found) == ["übung.py"]
    assert reasons(found) == {"caf\\xe9.py": "undecodable name", "two\\nlines.py": "undecodable name"}


@given(st.binary(min_size=1).filter(lambda name: b"\0" not in name))
def test_any_name_can_be_spelled(name: bytes) -> None:
    spelled = printable(os.fsdecode(name))
    assert spelled.encode().decode() == spelled
    assert "\n" not in spelled


# ignore files


def test_gitignore_is_honoured_at_every_depth(folder: Path) -> None:
    write(folder, ".gitignore", "*.log\n/build/\n!keep.log\n")
    write(folder, "sub/.gitignore", "!important.log\nlocal.py\n")
    for path in ("a.log", "keep.log", "build/x.py", "sub/build/y.py", "sub/important.log", "sub/local.py", "local.py"):
        write(folder, path)
    kept = ["keep.log", "local.py", "sub/important.log"]
    expected = [".gitignore", *kept[:2], "sub/.gitignore", kept[2]]
    in_git = (folder / ".git").exists()
    assert paths(survey(folder)) == sorted(expected + (["sub/build/y.py"] if in_git else []))  # junk outside git


def test_vadeignore_forces_in_what_other_rules_leave_out(folder: Path) -> None:
    write(folder, ".gitignore", "gen/\n*.secretless\n")
    write(folder, ".vadeignore", "docs/*\n!docs/keep.md\n!gen/\n!yarn.lock\n!big.txt\n!icon.svg\n!*.secretless\n")
    write(folder, "sub/.vadeignore", "*.py\n!b.py\n")
    for path in ("docs/a.md", "docs/keep.md", "gen/deep/x.py", "gen/.env", "yarn.lock", "icon.svg", "c.secretless"):
        write(folder, path)
    for path in ("sub/a.py", "sub/b.py", "sub/c/d.py", "package-lock.json"):
        write(folder, path)
    write(folder, "big.txt", "x" * 5000)
    found = survey(folder, max_file_bytes=1000)
    assert paths(found) == [
        *(".gitignore", ".vadeignore", "big.txt", "c.secretless", "docs/keep.md", "gen/deep/x.py", "icon.svg"),
        *("sub/.vadeignore", "sub/b.py", "yarn.lock"),
    ]
    left_out = {"docs/a.md": "ignored", "sub/a.py": "ignored", "sub/c/d.py": "ignored"}
    assert reasons(found) == left_out | {"gen/.env": "secret", "package-lock.json": "generated"}


def test_a_forced_file_is_read_whole(folder: Path) -> None:
    write(folder, ".vadeignore", "!big.txt\n")
    write(folder, "big.txt", "x" * 5000)
    found = survey(folder, max_file_bytes=1000)
    entry = next(entry for entry in found.entries if entry.path == "big.txt")
    source = read_source(find_root(folder), entry, 1000)
    assert isinstance(source, Source)
    assert len(source.text) == 5000


def test_no_pattern_forces_in_what_is_out_of_all_proportion(folder: Path) -> None:
    write(folder, ".vadeignore", "!huge.txt\n")
    with (folder / "huge.txt").open("wb") as file:
        file.truncate(FORCED_FILE_BYTES + 1)  # a hole: it takes no room on the disk
    found = survey(folder)
    assert reasons(found) == {"huge.txt": "too large"}
    entry = FileEntry("huge.txt", FORCED_FILE_BYTES + 1, 0)
    assert read_source(find_root(folder), entry) == Skipped(
        "huge.txt", "too large", f"more than {FORCED_FILE_BYTES >> 20} MiB"
    )


def test_settings_exclude_like_a_vadeignore_with_the_last_word(folder: Path) -> None:
    write(folder, "a.py")
    write(folder, "legacy/b.py")
    write(folder, "legacy/c.py")
    write(folder, ".vadeignore", "!legacy/c.py\n")
    assert paths(survey(folder, exclude=("legacy/*",))) == [".vadeignore", "a.py"]
    assert paths(survey(folder, exclude=("legacy/*", "!legacy/b.py"))) == [".vadeignore", "a.py", "legacy/b.py"]


def test_a_bad_line_does_not_void_an_ignore_file() -> None:
    rules = IgnoreFiles()
    rules.add("", ["!", "# comment", "", "*.log"])
    assert rules.verdict("a.log")
    assert rules.verdict("a.py") is None


@pytest.mark.parametrize(
    "line", ["**/" + "*a" * 12 + "*b", "a/" + "**/a/" * 12 + "b", "**/*a*/" * 8 + "b", "*[ab]" * 9 + "*c", "*[!c]" * 9 + "*b", "*?" * 12 + "*b"]
)  # fmt: skip
def test_a_line_of_many_stars_is_given_up_as_soon(bounded: None, line: str) -> None:
    rules = IgnoreFiles()
    rules.add("", [line])
    names = ("a" * 250, "a/" * 1000, "/".join(["a" * 250] * 8))
    assert [rules.verdict(f"{name}d") for name in names] == [None] * 3


@given(
    st.lists(st.sampled_from(["a", "b", "*", "?", "/", "**/", "/**/", "[ab]", "[!a]", "[]b]"]), min_size=1, max_size=9).map("".join),
    st.lists(st.text("ab]", min_size=1, max_size=4), min_size=1, max_size=5).map("/".join), st.sampled_from(["", "/"]),
)  # fmt: skip
def test_a_line_matches_what_it_did(line: str, path: str, end: str) -> None:
    for pattern in pathspec.GitIgnoreSpec.from_lines([line]).patterns:
        if pattern.regex is not None:
            strict = re.compile(pattern.regex.pattern.replace("[^a]", "[^a/]"))  # which is no slash to git
            found, expected = (
                regex.search(path + end) for regex in (re.compile(quickened(pattern.regex.pattern)), strict)
            )
            assert (found and found.groupdict()) == (expected and expected.groupdict())


def test_junk_directories_are_left_alone_outside_git(tmp_path: Path) -> None:
    for path in (
        "a.py",
        "node_modules/x/i.js",
        ".venv/lib/y.py",
        "src/__pycache__/z.py",
        ".git/config",
        "src/target.py",
    ):
        write(tmp_path, path)
    found = survey(tmp_path)
    assert paths(found) == ["a.py", "src/target.py"]
    junk = {".venv": "junk directory", "node_modules": "junk directory", "src/__pycache__": "junk directory"}
    assert reasons(found) == junk
    write(tmp_path, ".vadeignore", "!node_modules/x/\n")
    assert paths(survey(tmp_path)) == [".vadeignore", "a.py", "node_modules/x/i.js", "src/target.py"]


def test_without_git_installed_a_repository_is_walked_plainly(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(folder, "a.py")
    write(folder, "b.log")
    write(folder, ".gitignore", "*.log\n")
    with_git = survey(folder)
    monkeypatch.setenv("PATH", "")
    assert survey(folder) == with_git


@settings(max_examples=15, deadline=None)
@given(st.sets(st.from_regex(r"[ab]{1,2}(/[ab]{1,2}){0,2}\.(py|log)", fullmatch=True), max_size=12))
def test_the_plain_walk_finds_what_git_finds(names: set[str]) -> None:
    with tempfile.TemporaryDirectory() as name:
        top = Path(name).resolve()
        for path in names:
            write(top, path)
        write(top, ".gitignore", "*.log\n!a.log\n/b/\na/*\n!a/ab.py\n")
        plain = walk(Root(str(top))).unwrap()
        run(top, "init", "-q")
        assert walk(find_root(top)).unwrap() == plain


# links, devices, other users' files


def test_links_are_never_followed(folder: Path, tmp_path: Path) -> None:
    write(tmp_path, "outside/secret.py")
    write(folder, "src/a.py")
    links = {
        "alias.py": "src/a.py",
        "directory": "src",
        "out.py": "../outside/secret.py",
        "out_directory": "../outside",
        "broken.py": "nothing.py",
        "loop.py": "loop.py",
        "src/up": "..",
    }
    for name, target in links.items():
        (folder / name).symlink_to(target)
    if (folder / ".git").exists():
        run(folder, "add", "-A")
    found = survey(folder)
    assert paths(found) == ["src/a.py"]
    assert reasons(found) == {
        "alias.py": "symlink",
        "directory": "symlink",
        "src/up": "symlink",
        "out.py": "symlink out of the root",
        "out_directory": "symlink out of the root",
        "broken.py": "broken symlink",
        "loop.py": "broken symlink",
    }


def test_a_directory_replaced_by_a_link_does_not_lead_out(tmp_path: Path) -> None:
    """The index still lists `src/a.py`, and a plain look at it would find the file outside."""
    folder = tmp_path / "root"
    folder.mkdir()
    run(folder, "init", "-q")
    write(folder, "src/a.py")
    run(folder, "add", "-A")
    (before,) = survey(folder).entries
    (folder / "src").rename(tmp_path / "elsewhere")
    (folder / "src").symlink_to(tmp_path / "elsewhere")
    found = survey(folder)
    assert found.entries == []
    assert reasons(found)["src/a.py"] == "symlink"
    assert read_source(find_root(folder), before) == Skipped("src/a.py", "unreadable", "Not a directory")


def test_pipes_and_sockets_are_not_opened(folder: Path) -> None:
    os.mkfifo(folder / "pipe.py")
    with socket.socket(socket.AF_UNIX) as server:
        with contextlib.chdir(folder):  # a socket's path may have 107 characters at most
            server.bind("socket.py")
        found = survey(folder)
    assert found.entries == []
    if not (folder / ".git").exists():  # git does not even list them
        assert reasons(found) == {"pipe.py": "not a regular file", "socket.py": "not a regular file"}
    entry = FileEntry("pipe.py", 0, 0)
    assert read_source(find_root(folder), entry) == Skipped("pipe.py", "not a regular file")


def test_a_link_to_a_repository_that_is_gone_is_no_source(tmp_path: Path) -> None:
    write(tmp_path, ".git", "gitdir: /nowhere\n")
    write(tmp_path, "a.py")
    assert paths(survey(tmp_path)) == ["a.py"]


def test_a_tracked_file_that_became_a_pipe_is_reported(tmp_path: Path) -> None:
    run(tmp_path, "init", "-q")
    write(tmp_path, "a.py").unlink()
    write(tmp_path, "a.py")
    run(tmp_path, "add", "-A")
    (tmp_path / "a.py").unlink()
    os.mkfifo(tmp_path / "a.py")
    assert reasons(survey(tmp_path)) == {"a.py": "not a regular file"}


@contextlib.contextmanager
def unprivileged() -> Iterator[None]:
    """Act as a user whom permissions bind: root's own do not bind root."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


def test_what_may_not_be_read_is_reported() -> None:
    with tempfile.TemporaryDirectory() as name:
        top = Path(name).resolve()
        top.chmod(0o755)
        write(top, "open.py")
        write(top, "closed.py").chmod(0o000)
        write(top, "shut/a.py")
        (top / "shut").chmod(0o000)
        root = Root(str(top))
        with unprivileged():
            found = walk(root).unwrap()
            sources = {entry.path: read_source(root, entry) for entry in found.entries}
        (top / "shut").chmod(0o755)
    assert found.skipped == [Skipped("shut", "unreadable", "Permission denied")]
    assert sources["closed.py"] == Skipped("closed.py", "unreadable", "Permission denied")
    assert isinstance(sources["open.py"], Source)


def test_submodules_and_repositories_within_are_reported(tmp_path: Path) -> None:
    inner, outer = tmp_path / "inner", tmp_path / "outer"
    for folder in (inner, outer):
        folder.mkdir()
        run(folder, "init", "-q")
        write(folder, "a.py")
        run(folder, "add", "-A")
        run(folder, "commit", "-qm", "first")
    run(outer, "submodule", "--quiet", "add", str(inner), "sub")
    run(outer, "clone", "-q", str(inner), "nested")
    found = survey(outer)
    assert paths(found) == [".gitmodules", "a.py"]
    assert reasons(found) == {"sub": "another repository", "nested": "another repository"}


def test_files_that_vanish_are_simply_not_there(tmp_path: Path) -> None:
    run(tmp_path, "init", "-q")
    for path in ("a.py", "b.py", "gone/c.py", "turned/d.py"):
        write(tmp_path, path)
    run(tmp_path, "add", "-A")
    (tmp_path / "a.py").unlink()
    for directory, file in (("gone", "c.py"), ("turned", "d.py")):
        (tmp_path / directory / file).unlink()
        (tmp_path / directory).rmdir()
    write(tmp_path, "turned")
    assert survey(tmp_path).skipped == []
    assert paths(survey(tmp_path)) == ["b.py", "turned"]


# commits


def test_a_commit_is_walked_by_the_same_rules(tmp_path: Path) -> None:
    run(tmp_path, "init", "-q")
    write(tmp_path, ".vadeignore", "old/\n!yarn.lock\n")
    for path in ("a.py", "old/b.py", "sub/c.py", "yarn.lock", ".env", "logo.png", "go.sum"):
        write(tmp_path, path)
    write(tmp_path, "sub/.vadeignore", "*.txt\n")
    write(tmp_path, "sub/d.txt")
    write(tmp_path, "twin/.vadeignore", "*.txt\n")  # the same blob rules in two places
    write(tmp_path, "twin/e.txt")
    write(tmp_path, "big.py", "x" * 2000)
    run(tmp_path, "add", "-A")
    run(tmp_path, "commit", "-qm", "first")
    root, small = find_root(tmp_path), WalkSettings(max_file_bytes=1000)
    committed = walk_commit(root, "HEAD", small).unwrap()
    present = walk(root, small).unwrap()
    expected = [".vadeignore", "a.py", "sub/.vadeignore", "sub/c.py", "twin/.vadeignore", "yarn.lock"]
    assert paths(committed) == paths(present) == expected
    assert committed.skipped == present.skipped
    assert all(entry.blob for entry in committed.entries)
    assert isinstance(walk_commit(root, "nothing"), Err)


# reading


def read(folder: Path, content: bytes, limit: int = 1 << 20) -> Source | Skipped:
    write(folder, "file.txt", content)
    return read_source(Root(str(folder)), FileEntry("file.txt", 0, 0), limit)


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("naïve\r\n".encode(), "naïve\r\n"),
        ("\ufeffnaïve".encode(), "naïve"),
        ("\ufeffnaïve 漢字".encode("utf-16-le"), "naïve 漢字"),
        ("\ufeffnaïve".encode("utf-16-be"), "naïve"),
        ("\ufeffnaïve".encode("utf-32-le"), "naïve"),
        ("\ufeffnaïve".encode("utf-32-be"), "naïve"),
        ("déjà vu".encode("latin-1"), "déjà vu"),
        ("“quoted”".encode("cp1252"), "“quoted”"),
        ("naïve ".encode() + b"\xff", "naïve \ufffd"),
        (b"", ""),
    ],
)
def test_text_is_decoded(tmp_path: Path, content: bytes, text: str) -> None:
    source = read(tmp_path, content)
    assert source == Source(text.encode(), blob_id(content))


def test_binary_content_is_recognised(tmp_path: Path) -> None:
    assert read(tmp_path, b"GIF\0\1") == Skipped("file.txt", "binary", "NUL bytes")
    assert isinstance(read(tmp_path, b"x" * 9000 + b"\0"), Source)


def test_no_more_than_the_limit_is_read(tmp_path: Path) -> None:
    assert isinstance(read(tmp_path, b"x" * 100, limit=100), Source)
    assert read(tmp_path, b"x" * 101, limit=100) == Skipped("file.txt", "too large", "more than 100 bytes")


@given(st.binary(max_size=200))
def test_whatever_is_decoded_is_utf8_and_keeps_its_lines(content: bytes) -> None:
    match decode_source("x", content):
        case Source(text):
            assert text.decode().encode() == text
            if not content.startswith((b"\xff\xfe", b"\xfe\xff", b"\0\0\xfe\xff")):
                assert text.count(b"\n") == content.count(b"\n")
        case Skipped(reason=reason):
            assert reason == "binary"


@pytest.mark.parametrize(
    "path", ["gone.py", "a/../../x", "/etc/passwd", "", "dir", "link.py", "deep/link/a.py", "a\0b"]
)
def test_nothing_but_a_file_below_the_root_is_read(tmp_path: Path, path: str) -> None:
    top = tmp_path / "root"
    write(top, "dir/a.py")
    (top / "link.py").symlink_to("dir/a.py")
    (top / "deep").mkdir()
    (top / "deep/link").symlink_to("../dir")
    assert isinstance(read_source(Root(str(top)), FileEntry(path, 0, 0)), Skipped)


def test_reading_leaves_no_descriptor_open(tmp_path: Path) -> None:
    write(tmp_path, "a/b/c.py")
    root = Root(str(tmp_path))
    gc.collect()  # what other tests left behind is closed now, and not in between
    before = len(os.listdir("/dev/fd"))
    for path in ("a/b/c.py", "a/b/none.py", "a/none/c.py", "a/b", "none", "a/../a"):
        read_source(root, FileEntry(path, 0, 0))
    assert len(os.listdir("/dev/fd")) == before


# contained


@pytest.fixture
def root(tmp_path: Path) -> Root:
    top = tmp_path / "root"
    write(top, "src/a.py")
    write(tmp_path, "root-sibling/b.py")
    (top / "alias").symlink_to("src")
    (top / "out").symlink_to("../root-sibling")
    return find_root(top)


def test_paths_inside_are_made_relative(root: Root) -> None:
    for path in ("src/a.py", "./src/a.py", "src//a.py", f"{root.path}/src/a.py", "alias/a.py"):
        assert contained(root, path) == Ok("src/a.py")
    assert contained(root, "not/yet.py") == Ok("not/yet.py")
    assert contained(root, ".") == Ok(".")
    assert contained(root, "a..b/c...py") == Ok("a..b/c...py")


@pytest.mark.parametrize(
    "path",
    ["/etc/passwd", "../x", "src/../../x", "src/..", "out/b.py", "out", "a\0b", "C:\\x", "c:/x", "\\\\server\\x", "/"],
)
def test_paths_outside_are_refused_and_named(root: Root, path: str) -> None:
    failure = contained(root, path)
    assert isinstance(failure, Err)
    assert isinstance(failure.error, OutsideRootError)
    assert repr(path.replace("\0", "\\x00")) in str(failure.error)


def test_a_sibling_with_the_same_beginning_is_outside(root: Root) -> None:
    assert isinstance(contained(root, f"{root.path}-sibling/b.py"), Err)


@given(st.text(st.sampled_from("ab./\\\0:~"), max_size=12))
def test_whatever_is_contained_lies_inside(path: str) -> None:
    with tempfile.TemporaryDirectory() as name:
        match contained(Root(os.path.realpath(name)), path):
            case Ok(relative):
                inside = os.path.realpath(os.path.join(name, relative))
                assert inside == os.path.realpath(name) or inside.startswith(os.path.realpath(name) + "/")
            case Err(error):
                assert "\0" not in str(error)
