"""Model directories on this machine: named by path, or downloaded before.

Nothing is downloaded unless `embedding.download` is set, which only the user can do. Then a model named as on the hub
(`organisation/name`, or a preset's name) is fetched once, whole, into the directory of models.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from hashlib import blake2b
from pathlib import Path

from vademecum.errors import MissingExtraError, PluginError, UsageError
from vademecum.providers.embedders.presets import PRESETS
from vademecum.result import Err, Ok, attempt

_HUB = re.compile(r"[A-Za-z0-9][\w.-]*/[\w.-]+")
_ENDS = 65_536  # bytes read at each end of a file for its fingerprint


def model_directory(provider: str, model: str, models: str, files: Sequence[str], *, download: bool) -> Path:
    """Return a model's directory; download the model if allowed.

    Args:
        provider: the embedder's name, for messages.
        model: a directory, a preset's name, or a name on the hub.
        models: the directory of downloaded models; "" for none.
        files: patterns of the files to download.
        download: whether downloading is allowed.

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
            said = " ".join(str(error).split())[:200]
            raise PluginError(f"{hub} cannot be fetched ({said}): put its files into {kept} yourself") from error


def fingerprint(path: Path) -> str:
    """Return a file's fingerprint: 8 hex digits from size and both ends."""
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        digest = blake2b(size.to_bytes(8, "little"), digest_size=4)
        for start in (0, max(0, size - _ENDS)):
            file.seek(start)
            digest.update(file.read(_ENDS))
    return digest.hexdigest()
