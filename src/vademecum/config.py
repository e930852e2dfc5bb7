"""Settings from five layers, each value with its origin.

    defaults < user file < repository file < environment < arguments

The user file is `$XDG_CONFIG_HOME/vademecum/config.toml`. The repository's is `.vade.toml`, or else the keys
of a `.coderag.yaml` that have a meaning here. An environment variable is `VADE_SECTION__KEY`; `VADE_HOME` is short for
`VADE_STORAGE__HOME`.

A repository's file is other people's input: it may tune numbers and choose among local providers, but it cannot turn
on anything that sends code away, make vademecum read a model file, or move the data. Source: CodeRAG design decisions 6
and 7.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from inspect import cleandoc
from pathlib import Path
from typing import Any, NamedTuple

from vademecum.errors import ConfigError
from vademecum.settings import (
    SOURCES,
    ContextSettings,
    EmbeddingSettings,
    EnrichSettings,
    GatewaySettings,
    IndexSettings,
    LlmSettings,
    McpSettings,
    MemorySettings,
    PrivacySettings,
    QdrantSettings,
    SavingsSettings,
    SearchSettings,
    ServerSettings,
    SourceSettings,
    StorageSettings,
    ToolsSettings,
    settled_sources,
    shown_sources,
    take_source,
)

REPOSITORY_FILE = ".vade.toml"
CODERAG_FILE = ".coderag.yaml"
PREFIX = "VADE_"
HIDDEN = "(set, not shown)"
# Variables that look like a setting and are none.
RESERVED = frozenset({"VADE_HOME", "VADE_DEBUG", "VADE_GATEWAY", "VADE_HOOK_S"})
# The keys of a `.coderag.yaml` that have a meaning here, and advice for some that have none.
FROM_CODERAG: Mapping[str, str] = {"search.topK": "search.k"}
INSTEAD: Mapping[str, str] = {
    "ingestion.exclude": "put the patterns into .vadeignore",
    "storage.path": "data lives in VADE_HOME, outside the working tree",
    "embedding.provider": "set search.embedder in .vade.toml",
    "project.languages": "every known language is indexed",
}


@dataclass(frozen=True, slots=True)
class Settings:
    """All settings, by section.

    `origins` names the layer of each value that is not a default.
    """

    index: IndexSettings = field(default_factory=IndexSettings)
    search: SearchSettings = field(default_factory=SearchSettings)
    embedding: EmbeddingSettings = field(default_factory=EmbeddingSettings)
    context: ContextSettings = field(default_factory=ContextSettings)
    enrich: EnrichSettings = field(default_factory=EnrichSettings)
    llm: LlmSettings = field(default_factory=LlmSettings)
    qdrant: QdrantSettings = field(default_factory=QdrantSettings)
    memory: MemorySettings = field(default_factory=MemorySettings)
    mcp: McpSettings = field(default_factory=McpSettings)
    gateway: GatewaySettings = field(default_factory=GatewaySettings)
    tools: ToolsSettings = field(default_factory=ToolsSettings)
    server: ServerSettings = field(default_factory=ServerSettings)
    storage: StorageSettings = field(default_factory=StorageSettings)
    privacy: PrivacySettings = field(default_factory=PrivacySettings)
    savings: SavingsSettings = field(default_factory=SavingsSettings)
    sources: Mapping[str, SourceSettings] = field(default_factory=dict)
    origins: Mapping[str, str] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()

    def origin(self, key: str) -> str:
        """Return the layer that set `section.key`.

        The layer is "default", a file's path, a variable's name or "argument".
        """
        return self.origins.get(key, "default")

    def items(self) -> Iterator[tuple[str, Any, str]]:
        """Yield `(section.key, value, origin)` for every setting, secrets masked."""
        for key, known in KNOWN.items():
            section, _, name = key.partition(".")
            value = getattr(getattr(self, section), name)
            yield key, HIDDEN if value and known.metadata.get("secret") else value, self.origin(key)
        yield from shown_sources(self.sources, HIDDEN)

    def is_shared(self, key: str) -> bool:
        """Return whether a repository's file, other people's input, set `section.key`."""
        return os.path.basename(self.origin(key)) in {REPOSITORY_FILE, CODERAG_FILE}

    @property
    def home(self) -> Path:
        """The data directory."""
        return _expanded(self.storage.home) if self.storage.home else data_directory(os.environ)


_DEFAULTS = Settings()
SECTIONS: Mapping[str, type] = {
    f.name: type(section) for f in fields(Settings) if is_dataclass(section := getattr(_DEFAULTS, f.name))
}
_MEANING = re.compile(r"^ {4}(\w+): (.+(?:\n {5,}.+)*)", re.MULTILINE)
MEANINGS: Mapping[str, str] = {  # a sentence on each setting, from its section's docstring
    f"{section}.{name}": " ".join(said.split())
    for section, cls in SECTIONS.items()
    for name, said in _MEANING.findall(cleandoc(cls.__doc__ or ""))
}
KNOWN: Mapping[str, Any] = {f"{section}.{f.name}": f for section, cls in SECTIONS.items() for f in fields(cls)}


class Given(NamedTuple):
    """One value from a layer."""

    key: str
    value: Any
    origin: str
    trusted: bool = True  # False for a repository's file
    is_text: bool = False  # True for the environment, where all values are strings


def load(
    directory: str | os.PathLike[str] | None = None,
    *,
    environ: Mapping[str, str] | None = None,
    arguments: Mapping[str, Any] | None = None,
) -> Settings:
    """Read every layer and return the resulting settings.

    Args:
        directory: The directory from which the repository's file is searched, up to the repository's top; None skips the file.
        environ: The environment; by default `os.environ`.
        arguments: `section.key` to value, the strongest layer; None values are ignored.

    Raises:
        ConfigError: A key is unknown, a value has the wrong type, or a layer may not set it.
    """
    environ = os.environ if environ is None else environ
    warnings: list[str] = []
    values: dict[str, dict[str, Any]] = {section: {} for section in SECTIONS}
    origins: dict[str, str] = {}
    sources: dict[str, dict[str, Any]] = {}
    for given in (
        *_user_file(environ),
        *_repository_file(directory, warnings),
        *_environment(environ, warnings),
        *(Given(key, value, "argument") for key, value in (arguments or {}).items() if value is not None),
    ):
        section, _, name = given.key.partition(".")
        if section == SOURCES:
            take_source(sources, given.key, given.value, given.origin, trusted=given.trusted)
            continue
        values[section][name] = _checked(given)
        origins[given.key] = given.origin
    sections = {section: cls(**values[section]) for section, cls in SECTIONS.items()}
    return Settings(
        **sections, sources=settled_sources(sources), origins=origins, warnings=tuple(warnings)
    )  # fmt: skip


def data_directory(environ: Mapping[str, str]) -> Path:
    """Return `VADE_HOME`, or the platform's default. Raises `ConfigError` without any."""
    if home := environ.get("VADE_HOME"):
        return _expanded(home)
    place = _platform_directory(environ, "XDG_DATA_HOME", "LOCALAPPDATA", ".local/share")
    if place is None:
        raise ConfigError("there is no home directory to keep data in: set VADE_HOME")
    return place


def _platform_directory(environ: Mapping[str, str], xdg: str, windows: str, unix: str) -> Path | None:
    if base := environ.get(xdg):
        return _expanded(base) / "vademecum"
    if sys.platform == "win32" and (base := environ.get(windows)):
        return Path(base) / "vademecum"
    home = environ.get("HOME") or os.path.expanduser("~")
    if home == "~":
        return None
    return Path(home, "Library/Application Support" if sys.platform == "darwin" else unix, "vademecum")


def _expanded(path: str) -> Path:
    return Path(os.path.expanduser(path)).absolute()


def _user_file(environ: Mapping[str, str]) -> Iterator[Given]:
    folder = _platform_directory(environ, "XDG_CONFIG_HOME", "APPDATA", ".config")
    if folder and os.path.isfile(path := folder / "config.toml"):
        yield from _flatten(_read_toml(path), path, trusted=True)


def _repository_file(directory: str | os.PathLike[str] | None, warnings: list[str]) -> Iterator[Given]:
    for folder in _up_to_top(directory):
        if os.path.isfile(path := folder / REPOSITORY_FILE):
            yield from _flatten(_read_toml(path), path, trusted=False)
            return
        if os.path.isfile(path := folder / CODERAG_FILE):
            yield from _coderag(_read_yaml(path), path, warnings)
            return


def _up_to_top(directory: str | os.PathLike[str] | None) -> Iterable[Path]:
    """Return the folders up to the repository's top, or this one alone."""
    if directory is None:
        return ()
    start = Path(directory).absolute()
    above = (start, *start.parents)
    gits = (number for number, folder in enumerate(above) if os.path.exists(folder / ".git"))
    top = next(gits, 0)
    return above[: top + 1]


def _environment(environ: Mapping[str, str], warnings: list[str]) -> Iterator[Given]:
    if home := environ.get("VADE_HOME"):
        yield Given("storage.home", home, "VADE_HOME")
    for variable in sorted(environ):
        if not variable.startswith(PREFIX) or variable in RESERVED:
            continue
        section, separator, name = variable.removeprefix(PREFIX).lower().partition("__")
        if separator:
            yield Given(f"{section}.{name}", environ[variable], variable, is_text=True)
        else:
            warnings.append(f"{variable} is not read: settings are {PREFIX}SECTION__KEY, with two underscores")


def _flatten(table: Mapping[str, Any], path: Path, *, trusted: bool) -> Iterator[Given]:
    for section, body in table.items():
        if not isinstance(body, Mapping):
            raise ConfigError(
                f"{section!r} in {path} stands outside a section: {nearest_setting(section, prefer_name=True)}"
            )
        for name, value in body.items():
            yield Given(f"{section}.{name}", value, str(path), trusted=trusted)


def _coderag(table: Mapping[str, Any], path: Path, warnings: list[str]) -> Iterator[Given]:
    """Yield the known settings of another tool's file, with warnings for others."""
    for section, body in table.items():
        for name, value in body.items() if isinstance(body, Mapping) else ():
            key = f"{section}.{name}"
            if key in FROM_CODERAG:
                yield Given(FROM_CODERAG[key], value, str(path), trusted=False)
            elif (key, value) != ("embedding.provider", "auto"):
                warnings.append(f"{key} in {path} is not used: {INSTEAD.get(key, 'it has no counterpart here')}")


def _read_toml(path: Path) -> Mapping[str, Any]:
    import tomllib

    table: Mapping[str, Any] = _read(path, tomllib.loads, tomllib.TOMLDecodeError, "TOML")
    return table


def _read_yaml(path: Path) -> Mapping[str, Any]:
    import yaml

    table = _read(path, yaml.safe_load, yaml.YAMLError, "YAML", f" or add a {REPOSITORY_FILE}")
    return table if isinstance(table, Mapping) else {}


def _read(path: Path, parse: Callable[[str], Any], wrong: type[Exception], form: str, otherwise: str = "") -> Any:
    try:
        return parse(path.read_text(encoding="utf-8"))
    except wrong as error:  # the message has the line and column
        said = " ".join(str(error).split())
        raise ConfigError(
            f"{path} is not valid {form}: {said}: mend that line{otherwise or ' or remove the file'}"
        ) from error
    except RecursionError as error:
        raise ConfigError(f"{path} is nested too deep: remove the file{otherwise}") from error
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} cannot be read as UTF-8 text: {error}: mend or remove the file") from error


def _checked(given: Given) -> Any:
    """Return the value after checking its type and range. Raises `ConfigError`."""
    if given.key not in KNOWN:
        raise ConfigError(f"unknown setting {given.key!r} in {given.origin}: {nearest_setting(given.key)}")
    known = KNOWN[given.key]
    if known.metadata.get("user_only") and not given.trusted:
        raise ConfigError(
            f"{given.key} in {given.origin}: a repository's own file cannot turn on or move this; "
            "set it in your user file or environment"
        )
    value = _typed(given, known.type, "its value" if known.metadata.get("secret") else repr(given.value))
    shared = known.metadata.get("shared")
    if shared and not given.trusted and value.partition(":")[0] not in shared:
        raise ConfigError(
            f"{given.key} = {value!r} in {given.origin}: a repository's own file may choose {', '.join(filter(None, shared))} only; "
            "set others in your user file or environment"
        )
    choices = known.metadata.get("choices")
    if choices and value not in choices:
        raise ConfigError(f"{given.key} = {value!r} in {given.origin} is not one of {', '.join(choices)}")
    least = known.metadata.get("least")
    if least is not None and not value >= least:  # rejects NaN too
        raise ConfigError(f"{given.key} = {given.value!r} in {given.origin} is too small: it must be at least {least}")
    most = known.metadata.get("most")
    if most is not None and not given.trusted and value > most:
        raise ConfigError(
            f"{given.key} = {given.value!r} in {given.origin}: a repository's own file may set at most {most}; "
            "set more in your user file or environment"
        )
    return value


BOOLEANS = dict.fromkeys(("1", "true", "yes", "on"), True) | dict.fromkeys(("0", "false", "no", "off"), False)


def _typed(given: Given, kind: str, shown: str) -> Any:
    """Return the value as `kind`, or raise `ConfigError`.

    `kind` is a string, because of the future import of annotations.
    """
    value = given.value
    match kind:
        case "bool" if given.is_text and value.lower() in BOOLEANS:
            return BOOLEANS[value.lower()]
        case "int" | "float" if given.is_text:
            try:
                return int(value) if kind == "int" else float(value)
            except ValueError:
                pass
        case "float" if isinstance(value, int | float) and not isinstance(value, bool):
            return float(value)
        case _ if type(value).__name__ == kind:
            return value
    said = {"bool": "true or false", "int": "a whole number", "float": "a number", "str": "text in quotes"}[kind]
    raise ConfigError(f"{given.key} = {shown} in {given.origin} has the wrong type: it must be {said}")


def nearest_setting(key: str, *, prefer_name: bool = False) -> str:
    """Return a hint that names the closest setting."""
    import difflib

    name = key.rpartition(".")[2]
    same_name = [known for known in KNOWN if known.rpartition(".")[2] == name]
    close = same_name or difflib.get_close_matches(key, KNOWN, n=1, cutoff=0.5)
    if prefer_name and close:
        section, _, known_name = close[0].partition(".")
        return f"write it as `{known_name}` under `[{section}]`"
    return f"did you mean {close[0]!r}?" if close else "`vade config show` lists them all"
