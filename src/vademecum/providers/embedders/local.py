"""Model directories on this machine: named by path, or downloaded before.

Nothing is downloaded unless `embedding.download` is set, which only the user can do. Then a model named as on the hub
(`organisation/name`, or a preset's name) is fetched once, whole, into the directory of models.
"""

from __future__ import annotations

import json
import os
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from vademecum.errors import MissingExtraError, PluginError, UsageError
from vademecum.providers.embedders.batches import DEFAULTS, LOCAL_TOKENS, limits_of
from vademecum.providers.embedders.presets import PRESETS, Pooling, Preset, preset_of
from vademecum.providers.post import short
from vademecum.result import Err, Ok, attempt
from vademecum.settings import EmbeddingSettings

T = TypeVar("T")

_MODES: Mapping[str, Pooling] = {
    "pooling_mode_cls_token": "cls",
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_lasttoken": "last",
}
_HUB = re.compile(r"[A-Za-z0-9][\w.-]*/[\w.-]+")
_ENDS = 65_536  # bytes read at each end of a file for its fingerprint


class LocalEmbedder(ABC):
    """An embedder that runs the model of a directory.

    Attributes:
        provider: the embedder's name.
        files: patterns of the files to download.

    Raises:
        UsageError: there is no such directory.
        PluginError: the directory holds no usable model; the message names the missing or wrong part.
    """

    remote = False
    provider: ClassVar[str]
    files: ClassVar[Sequence[str]]

    def __init__(self, model: str = "", settings: EmbeddingSettings = DEFAULTS, models: str = "") -> None:
        folder = model_directory(self.provider, model, models, self.files, download=settings.download)
        self._limits = limits_of(settings, LOCAL_TOKENS)
        self._preset = described(folder, preset_of(model or folder.name))
        weights, self.dim = self.open(folder)
        self.name = f"{self.provider}:{model}" + (f"@{fingerprint(weights)}" if weights else "")

    @abstractmethod
    def open(self, folder: Path) -> tuple[Path | None, int]:
        """Load the model; return its file, and the vectors' width."""


def described(folder: Path, known: Preset) -> Preset:
    """Return a model's preset, overridden by the files of its directory.

    The files are those that sentence-transformers writes; `known` is the fallback.
    """
    modes = read_json(folder / "1_Pooling" / "config.json")
    pooling = next((mode for key, mode in _MODES.items() if modes.get(key)), known.pooling)
    prompts = read_json(folder / "config_sentence_transformers.json").get("prompts") or {}
    query = prompts.get("query", known.query)
    document = prompts.get("document", prompts.get("passage", known.document))
    return replace(known, pooling=pooling, query=query or "", document=document or "")


def loaded(path: Path, load: Callable[[Path], T]) -> T:
    """Return the object that a library loads from a file. Raises `PluginError`."""
    match attempt(PluginError, Exception)(load)(path):  # libraries raise their own errors and others'
        case Ok(found):
            return found
        case Err(error):
            raise PluginError(f"{path} cannot be loaded ({short(str(error))}): get the model again") from error


def read_json(path: Path) -> dict[str, Any]:
    """Return a JSON file's object, {} without the file. Raises ValueError if damaged."""
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    return found


def model_directory(provider: str, model: str, models: str, files: Sequence[str], *, download: bool) -> Path:
    """Return a model's directory; download the model if allowed.

    The model is a directory, a preset's name, or a name on the hub. `models` is the directory of downloaded ones; "" for none.

    Raises:
        UsageError: there is no such model here, and it may not or cannot be downloaded.
        PluginError: the download failed.
        MissingExtraError: downloading needs a package that is not installed.
    """
    named = Path(os.path.expanduser(model))
    if model and named.is_dir():
        return named
    hub = PRESETS[model].hub if model in PRESETS else model if _HUB.fullmatch(model) else ""
    if not hub or not models:
        raise UsageError(
            f"embedder {provider!r}: {model!r} is no directory: write {provider}:DIRECTORY, or one of {', '.join(PRESETS)}"
        )
    kept = Path(models, hub.replace("/", "--"))
    if kept.is_dir():
        return kept
    if not download:
        raise UsageError(
            f"embedder {provider!r}: the model {hub} is not on this machine: put its files into {kept}, or have it fetched once "
            "with VADE_EMBEDDING__DOWNLOAD=1"
        )
    return _fetched(hub, kept, files)


def _fetched(hub: str, kept: Path, files: Sequence[str]) -> Path:
    """Download a model to a partial directory, then move it into place."""
    try:
        from huggingface_hub import snapshot_download
    except ImportError as missing:
        raise MissingExtraError("fetching a model needs huggingface_hub: pip install huggingface_hub") from missing
    part = kept.with_name(f"{kept.name}.part")
    fetch = attempt(PluginError, Exception)(snapshot_download)  # its errors and httpx's have no common ancestor
    match fetch(hub, local_dir=str(part), allow_patterns=list(files)):
        case Ok():
            part.rename(kept)
            return kept
        case Err(error):
            raise PluginError(
                f"{hub} cannot be fetched ({short(str(error))}): put its files into {kept} yourself"
            ) from error


def fingerprint(path: Path) -> str:
    """Return a file's fingerprint: 8 hex digits from size and both ends."""
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        digest = blake2b(size.to_bytes(8, "little"), digest_size=4)
        for start in (0, max(0, size - _ENDS)):
            file.seek(start)
            digest.update(file.read(_ENDS))
    return digest.hexdigest()
