"""Nothing that a repository says is ever run: by any verb, tool, route, hook or process, in any layout of git.

The repositories here set every key of git's settings that names a program, each to a trap that leaves a file of the key's
name. One kind sets the keys known to name programs, and is otherwise a repository that git can read. The other sets every key
that the git at hand documents, whatever its type: a git that obeyed one of them would run a trap or refuse to go on, and so
would a later git that knows more keys.
"""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from contextlib import suppress
from pathlib import Path

import pytest

import vademecum
from handbook import GIT, make_repository
from served import Served
from vademecum import Engine
from vademecum.cli import COMMANDS, main
from vademecum.cli.db import cloned
from vademecum.code.checkout.root import find_root
from vademecum.code.documented_codebase import writers
from vademecum.errors import GitError, RootError
from vademecum.mcp.registry import TOOLS
from verbs import ASKED, ASKED_OTHERWISE

FILES = {
    "src/total.py": "from src.price import price\n\n\ndef total(items):\n    return sum(map(price, items))\n",
    "src/price.py": '"""Prices."""\n\n\ndef price(item):\n    """Return the price of an item."""\n    return item.cost\n',
    "tests/test_total.py": "from src.total import total\n\n\ndef test_total():\n    assert total([]) == 0\n",
    "README.md": "# Shop\n\nThe total is the sum of all prices.\n",
    ".gitattributes": "*.py filter=evil diff=evil merge=evil\n*.md filter=long diff=cached\n",
    ".mailmap": "Ada <ada@example.org> <other@example.org>\n",
}
# Keys that name a program, or what makes one run, with what is set: {} is the trap. git's manual, sections git-config,
# gitattributes, git-submodule, git-interpret-trailers, git-difftool, git-send-email; the undocumented ones from its source.
PROGRAMS = {
    **dict.fromkeys(
        [
            "core.fsmonitor",
            "core.pager",
            "core.editor",
            "core.sshCommand",
            "core.gitProxy",
            "core.askPass",
            "core.alternateRefsCommand",
            "sequence.editor",
            "filter.evil.clean",
            "filter.evil.smudge",
            "filter.long.clean",
            "filter.long.process",
            "diff.external",
            "diff.evil.command",
            "diff.evil.textconv",
            "diff.cached.textconv",
            "merge.evil.driver",
            "difftool.evil.cmd",
            "difftool.evil.path",
            "mergetool.evil.cmd",
            "mergetool.evil.path",
            "gpg.program",
            "gpg.openpgp.program",
            "gpg.x509.program",
            "gpg.ssh.program",
            "gpg.ssh.defaultKeyCommand",
            "credential.helper",
            "interactive.diffFilter",
            "uploadpack.packObjectsHook",
            "remote.origin.vcs",
            "remote.origin.uploadpack",
            "remote.origin.receivepack",
            "trailer.evil.command",
            "trailer.evil.cmd",
            "browser.evil.cmd",
            "browser.evil.path",
            "man.evil.cmd",
            "man.evil.path",
            "instaweb.httpd",
            "sendemail.toCmd",
            "sendemail.ccCmd",
            "sendemail.headerCmd",
            "sendemail.sendmailCmd",
            "sendemail.smtpServer",
            "guitool.evil.cmd",
            "imap.tunnel",
            "tar.evil.command",
            "receive.procReceiveRefs",
            "diff.tool",
            "merge.tool",
            "web.browser",
        ],
        "{}",
    ),
    **{
        f"pager.{verb}": "{}"
        for verb in ["log", "diff", "blame", "show", "ls-files", "ls-tree", "cat-file", "rev-list", "config"]
    },
    **{
        f"alias.{verb}": "!{}"
        for verb in ["log", "diff", "blame", "show", "ls-files", "ls-tree", "cat-file", "rev-parse", "rev-list"]
    },
    "submodule.inner.update": "!{}",
    "remote.origin.url": "ext::{}",
    "remote.origin.pushurl": "ext::{}",
    "url.ext::evil.insteadOf": "https://",
}
WITH_THEM = {  # what makes some of those above count
    "protocol.allow": "always", "protocol.ext.allow": "always", "remote.origin.promisor": "true",
    "filter.evil.required": "true", "filter.long.required": "true", "diff.cached.cachetextconv": "true",
    "log.showSignature": "true", "core.fsmonitorHookVersion": "2", "mailmap.blob": "HEAD:.mailmap", "diff.algorithm": "patience",
    "core.untrackedCache": "true", "diff.submodule": "diff", "status.submoduleSummary": "true", "log.diffMerges": "on",
    "submodule.recurse": "true", "commit.gpgSign": "true", "merge.verifySignatures": "true", "gc.auto": "1",
    "maintenance.auto": "true", "fetch.recurseSubmodules": "true", "core.logAllRefUpdates": "always",
}  # fmt: skip
HOOKS = [
    "applypatch-msg",
    "pre-applypatch",
    "post-applypatch",
    "pre-commit",
    "pre-merge-commit",
    "prepare-commit-msg",
    "commit-msg",
    "post-commit",
    "pre-rebase",
    "post-checkout",
    "post-merge",
    "pre-push",
    "pre-receive",
    "update",
    "proc-receive",
    "post-receive",
    "post-update",
    "reference-transaction",
    "push-to-checkout",
    "pre-auto-gc",
    "post-rewrite",
    "sendemail-validate",
    "fsmonitor-watchman",
    "post-index-change",
]


def documented() -> dict[str, str]:
    """Every key that the manual of the git at hand lists, names filled in, each set to its trap."""
    listed = subprocess.run(["git", "help", "--config"], capture_output=True, text=True, check=True).stdout
    keys = re.findall(r"^[a-z][\w-]*\.\S+$", listed, re.MULTILINE | re.IGNORECASE)
    assert len(keys) > 500
    return {re.sub(r"<[^>]*>", "evil", key).replace("*", "evil"): "{}" for key in keys}


class Hostile:
    """A repository that sets traps, and what they left."""

    def __init__(self, place: Path) -> None:
        self.place, self.traps, self.sprung = place, place / "traps", place / "sprung"
        for folder in (self.traps / "hooks", self.sprung):
            folder.mkdir(parents=True)

    def trap(self, key: str, folder: str = ".") -> Path:
        """Write the program that leaves a file of the key's name."""
        name = re.sub(r"[^\w.-]", "_", key)
        program = self.traps / folder / name
        program.write_text(f"#!/bin/sh\n: > '{self.sprung}/{name}'\nexit 0\n")
        program.chmod(0o755)
        return program

    def settings(self, keys: dict[str, str]) -> str:
        """Return a file of git's settings that sets a trap for each key."""
        text = ""
        for key, value in {**keys, "core.hooksPath": f"{self.traps}/hooks"}.items():
            section, _, rest = key.partition(".")
            part, _, name = rest.rpartition(".")
            said = value.replace("{}", str(self.trap(key)))
            text += f'[{section} "{part}"]\n\t{name} = "{said}"\n' if part else f'[{section}]\n\t{name} = "{said}"\n'
        for hook in HOOKS:
            self.trap(hook, "hooks")
        return text

    def set_in(self, git_dir: Path, keys: dict[str, str]) -> None:
        """Add the traps to a git directory: its settings, those of its worktree, those that it includes, its hooks."""
        text = self.settings(keys)
        (git_dir / "included").write_text(text)
        before = re.sub(r"\turl = .*\n", "", (git_dir / "config").read_text())  # the first one of a remote counts
        included = "[include]\n\tpath = included\n[extensions]\n\tworktreeConfig = true\n"
        (git_dir / "config").write_text(f"{before}{text}{included}")
        (git_dir / "config.worktree").write_text(text)
        (git_dir / "hooks").mkdir(exist_ok=True)
        for hook in HOOKS:
            (git_dir / "hooks" / hook).write_bytes(self.trap(hook, "hooks").read_bytes())
            (git_dir / "hooks" / hook).chmod(0o755)

    def check(self, *done: object) -> None:
        """Fail if a trap was sprung, naming its key."""
        ran = sorted(os.listdir(self.sprung))
        assert not ran, f"{done} ran what these name: {', '.join(ran)}"


def edit(folder: Path) -> Path:
    """Leave edits that are not committed: a changed file, one that is gone, a new one, one that is added."""
    (folder / "src/price.py").write_text(FILES["src/price.py"].replace("item.cost", "item.cost * 2"))
    (folder / "README.md").write_text(FILES["README.md"] + "\nMore.\n")
    (folder / "tests/test_total.py").unlink()
    (folder / "new.py").write_text("def new():\n    return 1\n")
    return folder


def git(folder: Path, *arguments: str) -> str:
    """Run git in a repository that is not hostile yet."""
    command = ["git", "-c", "protocol.file.allow=always", "-C", str(folder), *arguments]
    return subprocess.run(command, env=os.environ | GIT, check=True, capture_output=True, text=True).stdout.strip()


def original(place: Path) -> Path:
    """Two commits, the second of which names an item and has a signature."""
    repo = make_repository(place, {**FILES, "src/price.py": FILES["src/price.py"].replace("cost", "worth")})
    repo.write("src/price.py", FILES["src/price.py"])
    repo.commit("ABC-12 prices are costs")
    signed = repo.git("cat-file", "commit", "HEAD").replace(
        "\n\n", "\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----\n\n", 1
    )
    made = subprocess.run(
        ["git", "-C", str(place), "hash-object", "-t", "commit", "-w", "--stdin"],
        input=f"{signed}\n", capture_output=True, text=True, check=True,
    )  # fmt: skip
    repo.git("update-ref", "HEAD", made.stdout.strip())
    return place


def plain(place: Path) -> tuple[Path, Path]:
    """A repository as usual."""
    folder = edit(original(place / "shop"))
    git(folder, "add", "-N", "new.py")
    return folder, folder / ".git"


def worktree(place: Path) -> tuple[Path, Path]:
    """A linked worktree."""
    git(original(place / "shop"), "worktree", "add", "-q", "-b", "side", str(place / "side"))
    return edit(place / "side"), place / "shop/.git"


def submodule(place: Path) -> tuple[Path, Path]:
    """A submodule, checked out."""
    original(place / "shop")
    outer = make_repository(place / "outer", {"a.py": "x = 1\n"})
    outer.git("submodule", "--quiet", "add", "--name", "inner", str(place / "shop"), "inner")
    outer.commit()
    return edit(outer.path / "inner"), outer.path / ".git/modules/inner"


def partial(place: Path) -> tuple[Path, Path]:
    """A clone that lacks the contents of older commits, and would fetch them."""
    git(original(place / "shop"), "config", "uploadpack.allowFilter", "true")
    git(place, "clone", "-q", "--filter=blob:none", f"file://{place / 'shop'}", "part")
    older = git(place / "shop", "rev-parse", "HEAD~1:src/price.py")
    assert f"?{older}" in git(place / "part", "rev-list", "--objects", "--all", "--missing=print")
    return edit(place / "part"), place / "part/.git"


def bare(place: Path) -> tuple[Path, Path]:
    """A bare repository, in which there is nothing to ask about."""
    git(place, "clone", "-q", "--bare", str(original(place / "shop")), "bare.git")
    return place / "bare.git", place / "bare.git"


LAYOUTS = [plain, *(pytest.param(each, marks=pytest.mark.slow) for each in (worktree, submodule, partial, bare))]


@pytest.fixture(params=LAYOUTS, ids=lambda layout: layout.__name__)
def layout(request):
    return request.param


@pytest.fixture(params=["programs", "every key"])
def hostile(request, layout, tmp_path, monkeypatch):
    """A hostile repository of each layout, with the working directory in it."""
    monkeypatch.setenv("VADE_SEARCH__EMBEDDER", "hashing")
    found = Hostile(tmp_path / "place")
    folder, git_dir = layout(tmp_path / "place")
    keys = {**WITH_THEM, **PROGRAMS} if request.param == "programs" else {**documented(), **PROGRAMS}
    found.set_in(git_dir, keys)
    if folder.name == "side":
        (git_dir / "worktrees/side/config.worktree").write_text(found.settings(keys))
    monkeypatch.chdir(folder)
    found.folder, found.answers = folder, layout is not bare
    return found


def test_every_verb_is_asked_or_has_a_reason_not_to_be():
    assert ASKED.keys() | ASKED_OTHERWISE.keys() == COMMANDS.keys()
    assert not ASKED.keys() & ASKED_OTHERWISE.keys()


def test_one_module_starts_git():
    """The others ask that one."""
    texts = {each.stem: each.read_text(encoding="utf-8") for each in Path(vademecum.__file__).parent.rglob("*.py")}
    starts = re.compile(r'\b(?:which|Popen|run|check_output|call)\(\s*[(\[]?\s*"git"')
    assert [name for name, text in texts.items() if starts.search(text)] == ["plumbing"]


def test_no_verb_runs_anything(hostile, monkeypatch, capsys):
    """Each does its work all the same; in a bare repository each refuses."""
    for verb, ways in ASKED.items():
        for arguments in ways:
            monkeypatch.setattr(sys, "stdin", io.StringIO(""))
            code = main([verb, *(word.replace("{}", str(hostile.place)) for word in arguments)])
            said = capsys.readouterr()
            hostile.check(verb, arguments)
            lacks = "HEAD~1" in " ".join(arguments)  # a partial clone has no older contents
            assert code in (0, 1) or not hostile.answers or lacks, (verb, arguments, said.err)


def test_no_tool_of_mcp_runs_anything(hostile):
    """Every tool, with every argument that is required."""
    if not hostile.answers:
        with pytest.raises(RootError):
            Engine.open(str(hostile.folder))
        return
    values = {"query": "total", "task": "the total is wrong", "location": "src/total.py:1-3", "name": "price",
              "question": "prices", "text": "prices are whole", "intent": "add prices"}  # fmt: skip
    with Engine.open(str(hostile.folder)) as engine:
        engine.memory.record("I prefer tabs over spaces for indentation", role="user")
        values["fact"] = values["id"] = engine.memory.facts()[0].id
        for tool in TOOLS.values():
            required = tool.declaration()["inputSchema"].get("required", [])
            tool.call(engine, {name: values[name] for name in required})
            hostile.check(tool.name)
        for relation in ("callers", "callees", "impact", "related"):
            TOOLS["symbol"].call(engine, {"name": "price", "relation": relation})
        TOOLS["open"].call(engine, {"location": "src/total.py", "commit": "HEAD"})
        found = engine.codebase.search("price of an item").evidence
        wrote = [writers(find_root(hostile.folder), each) for each in found]
        assert {git_id for ids in wrote for git_id in ids} != set()
        hostile.check("who wrote what is found")


def test_no_process_runs_anything(hostile, tmp_path):
    """Neither those that analyse, nor one that watches, nor one that clones, nor what an agent's hook starts."""
    if hostile.answers:
        reports, stop = [], threading.Event()
        with Engine.open(str(hostile.folder)) as engine:
            watching = threading.Thread(target=engine.codebase.watch, args=(reports.append, stop))
            watching.start()
            try:
                until = time.monotonic() + 60
                while len(reports) < 2 and watching.is_alive() and time.monotonic() < until:
                    (hostile.folder / "src/total.py").write_text(f"{FILES['src/total.py']}\n\nMOMENT = {time.time()}\n")
                    time.sleep(0.3)
            finally:
                stop.set()
                watching.join(60)
            assert len(reports) >= 2
    hostile.check("watch")
    event = {"hook_event_name": "SessionStart", "session_id": "s", "cwd": str(hostile.folder), "source": "startup"}
    for name in ("SessionStart", "UserPromptSubmit", "Stop", "SessionEnd"):
        said = json.dumps(event | {"hook_event_name": name, "prompt": "what is the total"})
        command = [sys.executable, "-P", "-m", "vademecum", "memory", "hook", "--agent", "claude"]
        environ = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
        subprocess.run(command, input=said, text=True, capture_output=True, env=environ, check=False, timeout=60)
        hostile.check("hook", name)
    git_dir = find_root(hostile.folder).common_dir if hostile.answers else str(hostile.folder)
    (tmp_path / "home/clones").mkdir(parents=True)
    for _ in range(2):  # cloned, then fetched
        with suppress(GitError):  # git may refuse to serve what it cannot read
            place, _ = cloned(tmp_path / "home", f"file://{git_dir}", "main")
            main(["index", place, "--commit", "HEAD"])
        hostile.check("clone")


def test_a_git_that_knows_no_lazy_fetching_fetches_nothing(tmp_path, monkeypatch, capsys):
    """An old one passes over the variable that forbids it; the repository names no place to fetch from all the same."""
    found = Hostile(tmp_path / "place")
    folder, git_dir = partial(tmp_path / "place")
    found.set_in(git_dir, {**WITH_THEM, "remote.origin.url": "ext::{}"})
    old = tmp_path / "bin/git"
    old.parent.mkdir()
    old.write_text(f'#!/bin/sh\nunset GIT_NO_LAZY_FETCH\nexec "{shutil.which("git")}" "$@"\n')
    old.chmod(0o755)
    monkeypatch.setenv("PATH", f"{old.parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.chdir(folder)
    for arguments in (["search", "price", "--commit", "HEAD~1"], ["impact", "--diff", "HEAD~1..HEAD"], ["bench"]):
        main([*arguments])
        capsys.readouterr()
        found.check(arguments)


def embedded(place: Path) -> tuple[Hostile, Path]:
    """A repository whose plain clone holds the parts of another git directory, and a marker that makes it a root."""
    found = Hostile(place)
    inner = make_repository(place / "inner", FILES)
    up = make_repository(place / "up", {"a.py": "x = 1\n"})
    for name in ("objects", "refs"):
        (inner.path / ".git" / name).rename(place / name)
        target = up.path / "meta" / name
        target.parent.mkdir(exist_ok=True)
        (place / name).rename(target)
    up.write("meta/refs/heads/.keep", "")
    up.write("meta/config", f"[core]\n\trepositoryformatversion = 1\n[extensions]\n\tworktreeConfig = true\n{found.settings({**WITH_THEM, **PROGRAMS})}")  # fmt: skip
    for path, content in FILES.items():
        up.write(f"sub/{path}", content)
    up.write("sub/src/price.py", FILES["src/price.py"].replace("cost", "changed"))
    for path, text in {"HEAD": "ref: refs/heads/main\n", "commondir": "../meta\n", ".vade.toml": "",
                       "config.worktree": "[core]\n\tbare = false\n\tworktree = .\n"}.items():  # fmt: skip
        up.write(f"sub/{path}", text)
    up.write("sub/index", (inner.path / ".git/index").read_bytes())
    up.commit()
    git(place, "clone", "-q", str(up.path), "cloned")
    return found, place / "cloned"


@pytest.mark.parametrize("inside", ["sub", "sub/src", "."])
def test_a_plain_clone_runs_nothing(tmp_path, monkeypatch, capsys, inside):
    """It may hold what git takes for a repository of its own; git would go by the settings in it."""
    found, folder = embedded(tmp_path / "place")
    monkeypatch.chdir(folder / inside)
    for arguments in (["impact", "--diff", "HEAD"], ["search", "price"], ["index"], ["memory", "sync"], ["status"]):
        code = main(arguments)
        said = capsys.readouterr().err
        found.check(arguments)
        if inside == ".":
            assert code in (0, 1)
        else:
            assert (code, "is git's own data" in said) == (2, True), (arguments, said)


def asked(server: Served, path: str, method: str, operation: dict, values: dict[str, str]) -> int:
    """Ask one operation of the API with what it requires, and return the status."""
    needs = [
        each for each in operation.get("parameters", ()) if each.get("required") or each["name"] in {"commit", "diff"}
    ]
    query = {each["name"]: values.get(each["name"], "x") for each in needs if each["in"] == "query"}
    for each in needs:
        path = path.replace(f"{{{each['name']}}}", urllib.parse.quote(values.get(each["name"], "x"), safe=""))
    body = json.dumps(values).encode() if "requestBody" in operation else None
    request = urllib.request.Request(
        f"{server.url.rstrip('/')}{path}?{urllib.parse.urlencode(query)}",
        body, {"Content-Type": "application/json"}, method=method.upper(),
    )  # fmt: skip
    try:
        with urllib.request.urlopen(request, timeout=120) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        error.close()
        return error.code


@pytest.mark.slow
def test_no_route_runs_anything(hostile, tmp_path):
    """Every operation of the API's own description, its parameters filled in."""
    if not hostile.answers:
        return
    values = {"q": "total", "name": "price", "from": "test_total", "to": "price", "task": "the total", "path": "src/total.py",
              "location": "src/total.py:1-3", "place": "src/total.py:4", "message": "prices", "intent": "add prices",
              "commit": "HEAD", "diff": "HEAD", "symbol": "price"}  # fmt: skip
    server = Served(hostile.folder, tmp_path / "home", VADE_SEARCH__EMBEDDER="hashing")
    try:
        with urllib.request.urlopen(f"{server.url}openapi.json", timeout=60) as answer:
            described = json.load(answer)["paths"]
        statuses = {
            (method, path): asked(server, path, method, operation, values)
            for path, operations in described.items()
            for method, operation in operations.items()
        }
    finally:
        server.close()
    hostile.check(statuses)
    assert sum(status in (200, 202) for status in statuses.values()) > 15, statuses
    assert not any(status >= 500 for status in statuses.values()), statuses
