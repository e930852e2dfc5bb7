"""The image and the compose file, held against the code, and what the image does done without one: not every machine has an engine."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import sysconfig
import tomllib
import urllib.request
import venv
from pathlib import Path
from typing import Any

import click
import pytest
import yaml

from needed import lacking
from vademecum import config
from vademecum.cli import COMMANDS, cli

pytestmark = pytest.mark.once

TOP = Path(__file__).parents[1]
PROJECT = tomllib.loads((TOP / "pyproject.toml").read_text(encoding="utf-8"))["project"]
COMPOSE: dict[str, Any] = yaml.safe_load((TOP / "compose.yaml").read_text(encoding="utf-8"))
KNOWN_INSTRUCTIONS = {
    "FROM", "WORKDIR", "COPY", "RUN", "USER", "ENV", "VOLUME", "EXPOSE", "HEALTHCHECK", "ENTRYPOINT", "CMD",
}  # fmt: skip


def instructions() -> list[tuple[str, str]]:
    """The instructions of the Dockerfile, their lines joined, without comments."""
    lines = [
        line
        for line in (TOP / "Dockerfile").read_text(encoding="utf-8").splitlines()
        if not line.strip().startswith("#")
    ]
    joined = re.sub(r"\\\n\s*", "", "\n".join(lines))
    found = [tuple(line.split(None, 1)) for line in joined.splitlines() if line.strip()]
    return [(name, rest) for name, rest in found]


def those(name: str) -> list[str]:
    return [rest for each, rest in instructions() if each == name]


def copied() -> list[str]:
    """What is copied from the repository, not from another stage."""
    return [said for said in those("COPY") if not said.startswith("--from=")]


def check(words: list[str]) -> None:
    """A line of ours names a verb, and options that it takes."""
    verb, *rest = words
    assert verb in COMMANDS, verb
    command = cli.get_command(click.Context(cli), verb)
    assert command is not None
    while isinstance(command, click.Group):
        verb, *rest = rest
        command = command.commands[verb]
    command.make_context(verb, [word for word in rest if not word.startswith("/")], resilient_parsing=False)


def test_the_dockerfile_reads_as_one() -> None:
    """Known instructions only, from pinned images, as a user without privileges."""
    assert {name for name, _ in instructions()} <= KNOWN_INSTRUCTIONS
    assert instructions()[0][0] == "FROM"
    images = {image.split()[0] for image in those("FROM")}
    assert len(images) == 1, "both stages are built on one image"
    assert re.fullmatch(r"python:3\.\d+\.\d+-slim-[a-z]+", *images), "down to the release, and to Debian's"
    assert those("USER") == [uid for uid in re.findall(r"--uid (\d+)", " ".join(those("RUN"))) if uid != "0"]
    for name in ("VOLUME", "ENTRYPOINT", "CMD"):
        assert all(isinstance(json.loads(said), list) for said in those(name))


def test_what_is_copied_is_there_and_is_not_ignored() -> None:
    """Each source of a COPY is in the repository and let through by .dockerignore; the wheel needs all of them."""
    sources = {word for said in copied() for word in said.split()[:-1]}
    let_through = {line[1:] for line in (TOP / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    assert sources == let_through
    assert all((TOP / source).exists() for source in sources)
    built_from = {PROJECT["readme"], *PROJECT["license-files"], "pyproject.toml", "src", "docs"}
    assert built_from <= sources


def test_the_image_installs_extras_that_exist_and_runs_what_exists() -> None:
    """The extras, the command, the port, the place of data and the address of the health check are the code's."""
    extras = re.search(r"\[([\w,-]+)\]", those("RUN")[-1])
    assert extras
    named = set(extras[1].split(","))
    assert named <= set(PROJECT["optional-dependencies"])
    assert set(re.findall(r"--extra (\S+)", those("RUN")[0])) == named, "what is cached is what is installed"
    assert json.loads(those("ENTRYPOINT")[0]) == ["vade"]
    check(json.loads(those("CMD")[0]))
    port = str(config.Settings().server.port)
    assert those("EXPOSE") == [port]
    assert f"127.0.0.1:{port}/healthz" in those("HEALTHCHECK")[0]
    for setting in those("ENV"):
        name, _, value = setting.partition("=")
        assert name in config.RESERVED
        assert value in json.loads(those("VOLUME")[0])


def test_what_the_shell_runs_can_be_read() -> None:
    """Every RUN is what a shell takes."""
    for line in those("RUN"):
        words = re.sub(r"^(--\S+ )+", "", line)
        done = subprocess.run(["sh", "-n", "-c", words], capture_output=True, text=True, check=False, timeout=30)
        assert done.returncode == 0, f"{words}: {done.stderr}"


@pytest.mark.slow
def test_a_linter_finds_nothing() -> None:
    """Neither in the instructions nor in the shell's lines."""
    linter = shutil.which("hadolint", path=os.pathsep.join([sysconfig.get_path("scripts"), os.environ.get("PATH", "")]))
    if linter is None:
        lacking("hadolint")
    done = subprocess.run([linter, "--no-color", "Dockerfile"], cwd=TOP, capture_output=True, text=True, check=False, timeout=60)  # fmt: skip
    assert (done.returncode, done.stdout) == (0, "")


@pytest.mark.slow
def test_what_the_image_does_works_in_an_environment_of_its_own(tmp_path: Path) -> None:
    """The wheel with the image's extras, started by the image's command: refused without a key, healthy and answering with one."""
    run(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", tmp_path / "wheels", TOP)
    venv.create(tmp_path / "image", with_pip=True)
    scripts = tmp_path / "image" / "bin"
    install = re.search(r"(pip install .*)\$\{wheel\}(\[[\w,]+\])", those("RUN")[-1])
    assert install
    wheel = next((tmp_path / "wheels").glob("*.whl"))
    run(scripts / "python", "-m", *install[1].replace('"', "").split(), f"{wheel}{install[2]}", cwd=tmp_path)
    repository = tmp_path / "repository"
    repository.mkdir()
    (repository / "retry.py").write_text("def retry(call):\n    return call()\n", encoding="utf-8")
    name = those("ENV")[0].split("=")[0]
    environ = {name: str(tmp_path / "data"), "HOME": str(tmp_path), "PATH": f"{scripts}:{os.defpath}"}
    started = [str(scripts / json.loads(those("ENTRYPOINT")[0])[0]), *json.loads(those("CMD")[0])]
    refused = subprocess.run(
        started, cwd=repository, env=environ, capture_output=True, text=True, check=False, timeout=60
    )
    assert refused.returncode != 0
    assert "key" in refused.stderr
    made = run(started[0], "serve", "--new-key", "me", cwd=repository, env=environ)
    key, entry = re.findall(r": (\S+)$", made, re.MULTILINE)
    here = [word.replace("0.0.0.0", "127.0.0.1") for word in started]
    server = subprocess.Popen(
        [*here, "--port", "0"],
        cwd=repository,
        env=environ | {"VADE_SERVER__KEYS": entry},
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert server.stderr
        port = re.search(r":(\d+)/$", server.stderr.readline().strip())
        assert port
        health = those("HEALTHCHECK")[0].split("CMD ", 1)[1].replace(str(config.Settings().server.port), port[1])
        run(*json.loads(health), env=environ)
        assert json.loads(asked(port[1], "/readyz")) == {"status": "ready"}
        found = json.loads(asked(port[1], "/v1/search?q=retry", key))
        assert found["evidence"][0]["path"] == "retry.py"
    finally:
        server.terminate()
        server.communicate(timeout=60)
    assert server.returncode in {0, -signal.SIGTERM}, "it lets go of everything, and ends as it was told"


def run(*words: str | Path, cwd: Path | None = None, env: dict[str, str] | None = None) -> str:
    """Run a command that has to go well, and return what it says."""
    command = [str(word) for word in words]
    done = subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, timeout=560, check=False)
    assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
    return done.stdout


def asked(port: str, path: str, key: str = "") -> bytes:
    """What the server answers."""
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", headers=headers)
    with urllib.request.urlopen(request, timeout=120) as answer:
        return bytes(answer.read())


@pytest.mark.slow
def test_the_wheel_is_built_from_what_is_copied(tmp_path: Path) -> None:
    """The files that the first stage copies, and no others, make the wheel."""
    for said in copied():
        *sources, target = said.split()
        for source in sources:
            place = tmp_path / target / (source if target.endswith("/") else "")
            if (TOP / source).is_dir():
                shutil.copytree(TOP / source, place, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy(TOP / source, place)
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", "wheels", "."]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(list((tmp_path / "wheels").glob("vademecum-*.whl"))) == 1


def services() -> list[Any]:
    return [pytest.param(service, id=name) for name, service in COMPOSE["services"].items()]


@pytest.mark.parametrize("service", services())
def test_a_service_is_whole(service: dict[str, Any]) -> None:
    """It has an image or is built here, pinned; its volumes are declared; its ports are this machine's; what it waits for is there."""
    assert service.get("build") == "." or re.fullmatch(r"[\w/.-]+:[\w.-]*\d[\w.-]*", service["image"])
    for volume in service["volumes"]:
        source = re.sub(r"\$\{[^}]*\}", ".", volume).split(":")[0]
        assert source in COMPOSE["volumes"] or source == "."
    assert all(port.startswith("127.0.0.1:") for port in service.get("ports", ()))
    assert set(service.get("depends_on", ())) <= set(COMPOSE["services"])


@pytest.mark.parametrize("service", services())
def test_a_service_of_ours_is_set_up_by_settings_that_exist(service: dict[str, Any]) -> None:
    """Each variable is a setting's, of a value that it takes, and each command is one of ours."""
    if service.get("build") != ".":
        assert not [name for name in service.get("environment", ()) if name.startswith("VADE_")]
        return
    environ = {name: re.sub(r"\$\{[^}]*\}", "x", value) for name, value in service["environment"].items()}
    environ.pop("VADE_SERVER__KEYS")
    settings = config.load(None, environ={"VADE_HOME": "/data", **environ})
    assert settings.warnings == ()
    assert settings.storage.provider == "postgres"
    assert settings.search.vectors == "qdrant"
    if "command" in service:
        check(service["command"])


def test_no_service_starts_without_its_password() -> None:
    """A secret that is not set ends Compose with a message; the databases and the image say whether they are healthy."""
    text = (TOP / "compose.yaml").read_text(encoding="utf-8")
    secrets = re.findall(r"\$\{(\w+(?:PASSWORD|API_KEY))(.*?)\}", text)
    assert {name for name, _ in secrets} == {"POSTGRES_PASSWORD", "QDRANT_API_KEY"}
    assert all(rest.startswith(":?") for _, rest in secrets)
    assert all("healthcheck" in COMPOSE["services"][name] for name in ("postgres", "qdrant"))
    assert those("HEALTHCHECK")


def test_the_services_name_each_other() -> None:
    """The addresses in the settings are those of services, and the databases are waited for."""
    server = COMPOSE["services"]["server"]
    environ, database = server["environment"], COMPOSE["services"]["postgres"]["environment"]
    user, name = database["POSTGRES_USER"], database["POSTGRES_DB"]
    password = database["POSTGRES_PASSWORD"]
    assert environ["VADE_STORAGE__URL"] == f"postgresql://{user}:{password}@postgres/{name}"
    assert environ["VADE_QDRANT__API_KEY"] == COMPOSE["services"]["qdrant"]["environment"]["QDRANT__SERVICE__API_KEY"]
    assert environ["VADE_QDRANT__URL"] == "http://qdrant:6333"
    assert server["depends_on"]["upgrade"]["condition"] == "service_completed_successfully"
    assert server["depends_on"]["qdrant"]["condition"] == "service_healthy"
    health = COMPOSE["services"]["postgres"]["healthcheck"]["test"]
    assert [health[health.index(each) + 1] for each in ("--host", "--username", "--dbname")] == [
        "127.0.0.1",
        user,
        name,
    ]
    port = config.Settings().server.port
    assert COMPOSE["services"]["server"]["ports"] == [f"127.0.0.1:{port}:{port}"]


def test_the_page_shows_commands_that_exist() -> None:
    """What docs/docker.md types after the image's name is a verb of ours."""
    page = (TOP / "docs" / "docker.md").read_text(encoding="utf-8")
    lines = re.findall(r"^\$ docker (?:run|compose run).* (?:vademecum|server) (serve .*)$", page, re.MULTILINE)
    assert lines
    for line in lines:
        check(line.split())
