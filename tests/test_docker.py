"""The image and the compose file, held against the code: there is no engine here that could run them."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import click
import pytest
import yaml

from vademecum import config
from vademecum.cli import COMMANDS, cli

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
    assert all(re.match(r"python:3\.\d+-slim\b", image) for image in those("FROM"))
    assert those("USER") == ["vade"]
    for name in ("VOLUME", "ENTRYPOINT", "CMD"):
        assert all(isinstance(json.loads(said), list) for said in those(name))


def test_what_is_copied_is_there_and_is_not_ignored() -> None:
    """Each source of a COPY is in the repository and let through by .dockerignore; the wheel needs all of them."""
    sources = {word for said in those("COPY") for word in said.split()[:-1]}
    let_through = {line[1:] for line in (TOP / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    assert sources == let_through
    assert all((TOP / source).exists() for source in sources)
    built_from = {PROJECT["readme"], *PROJECT["license-files"], "pyproject.toml", "src", "docs"}
    assert built_from <= sources


def test_the_image_installs_extras_that_exist_and_runs_what_exists() -> None:
    """The extras, the command, the port, the place of data and the address of the health check are the code's."""
    extras = re.search(r"\[([\w,-]+)\]", " ".join(those("RUN")))
    assert extras
    assert set(extras[1].split(",")) <= set(PROJECT["optional-dependencies"])
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
def test_the_wheel_is_built_from_what_is_copied(tmp_path: Path) -> None:
    """The files that the first stage copies, and no others, make the wheel."""
    for said in those("COPY"):
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
    environ = {name: re.sub(r"\$\{[^}]*\}", "", value) for name, value in service["environment"].items()}
    settings = config.load(None, environ={"VADE_HOME": "/data", **environ})
    assert settings.warnings == ()
    assert settings.storage.provider == "postgres"
    assert settings.search.vectors == "qdrant"
    if "command" in service:
        check(service["command"])


def test_the_services_name_each_other() -> None:
    """The addresses in the settings are those of services, and the databases are waited for."""
    server = COMPOSE["services"]["server"]
    environ, database = server["environment"], COMPOSE["services"]["postgres"]["environment"]
    user, name = database["POSTGRES_USER"], database["POSTGRES_DB"]
    assert environ["VADE_STORAGE__URL"] == f"postgresql://{user}:${{POSTGRES_PASSWORD:-}}@postgres/{name}"
    assert environ["VADE_QDRANT__URL"] == "http://qdrant:6333"
    assert server["depends_on"]["upgrade"]["condition"] == "service_completed_successfully"
    assert "qdrant" in server["depends_on"]
    port = config.Settings().server.port
    assert COMPOSE["services"]["server"]["ports"] == [f"127.0.0.1:{port}:{port}"]


def test_the_page_shows_commands_that_exist() -> None:
    """What docs/docker.md types after the image's name is a verb of ours."""
    page = (TOP / "docs" / "docker.md").read_text(encoding="utf-8")
    lines = re.findall(r"^\$ docker (?:run|compose run).* (?:vademecum|server) (serve .*)$", page, re.MULTILINE)
    assert lines
    for line in lines:
        check(line.split())
