"""The shared part of embedders: batches, presets, and models on disk.

    passages → texts with the model's prompt → long texts cut → batches, shortest text first → vectors, checked
    → unit length, back in the caller's order; empty texts stay zero

A batch is bounded by its number of texts, and by its tokens after padding every text to the longest. The bound limits the
memory of a local model and the size of a request to a server.

Presets are prompts, pooling and input limits of widely used models. A model that was trained with a prompt before each question finds much less without the prompt, and neither Ollama nor an
OpenAI-compatible server adds one. A directory in the layout of sentence-transformers declares its own prompts and pooling
(`1_Pooling/config.json`, `config_sentence_transformers.json`), which override this table.

Sources: the models' cards, November 2026. jina: "no instruction", mean pooling, ALiBi to 8,192 tokens
(jinaai/jina-embeddings-v2-base-code). nomic: "search_query: " and "search_document: ", mean pooling
(nomic-ai/nomic-embed-text-v1.5). CodeRankEmbed: "Represent this query for searching relevant code: " before questions
alone, first token (nomic-ai/CodeRankEmbed; its base is Snowflake's arctic-embed-m-long).

A model on disk is named by its directory. Nothing is downloaded unless `embedding.download` is set, which only the user can do. Then a model named as on the hub
(`organisation/name`, or a preset's name) is fetched once, whole, into the directory of models.
"""

from __future__ import annotations

import json
import os
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from pathlib import Path
from typing import Any, ClassVar, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from vademecum.errors import MissingExtraError, PluginError, ProviderError, UsageError
from vademecum.providers.post import short
from vademecum.result import Err, Ok, attempt
from vademecum.settings import EmbeddingSettings
from vademecum.types import EmbedKind, Passage

DEFAULTS = EmbeddingSettings()
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


Pooling = Literal["mean", "cls", "last"]


@dataclass(frozen=True, slots=True)
class Preset:
    """Facts about a model.

    Attributes:
        hub: the model's name on the hub.
        pooling: how token vectors become one vector: their mean, the first, or the last.
        query, document: the prompt before a question, and before a searched text.
        most_tokens: the longest input the model reads.
    """

    hub: str = ""
    pooling: Pooling = "mean"
    query: str = ""
    document: str = ""
    most_tokens: int = 8_192


UNKNOWN = Preset()
PRESETS: Mapping[str, Preset] = {
    "jina-embeddings-v2-base-code": Preset("jinaai/jina-embeddings-v2-base-code"),
    "nomic-embed-text": Preset("nomic-ai/nomic-embed-text-v1.5", query="search_query: ", document="search_document: "),
    "CodeRankEmbed": Preset(
        "nomic-ai/CodeRankEmbed", "cls", query="Represent this query for searching relevant code: "
    ),
}


def preset_of(model: str) -> Preset:
    """Return the preset for a model name, or `UNKNOWN`.

    The name may be spelled as on a hub, as on Ollama, or as a directory.

    >>> preset_of("nomic-embed-text:v1.5").query, preset_of("~/models/CodeRankEmbed").pooling, preset_of("all-minilm") == UNKNOWN
    ('search_query: ', 'cls', True)
    """
    said = model.lower().replace("_", "-").rstrip("/").rpartition("/")[2]
    return next((preset for name, preset in PRESETS.items() if name.lower() in said), UNKNOWN)


Matrix = NDArray[np.float32]
CHARACTERS_PER_TOKEN = 3  # of code, a low guess: 4.0 were measured over all, 3.0 in the densest twentieth of chunks


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of one batch: texts, padded tokens, and tokens per text."""

    texts: int = 64
    tokens: int = 2_048
    text_tokens: int = 1_024


LOCAL_TOKENS = 2_048  # of a local model: larger batches were slower and took more memory (benchmarks/embedders.py)
SERVED_TOKENS = 32_768  # of a request: a quarter of Voyage's limit for its code model, a tenth of OpenAI's


def limits_of(settings: EmbeddingSettings, usual: int) -> Limits:
    """Return the configured limits; `usual` is the default for batch tokens."""
    return Limits(settings.batch_texts, settings.batch_tokens or usual, settings.text_tokens)


def texts_of(passages: Sequence[Passage], kind: EmbedKind, preset: Preset, limits: Limits) -> list[str]:
    r"""Return the model's input for each passage; "" for blank ones.

    >>> texts_of([Passage("def f(): ...", "f", "Box"), Passage(" ")], "query", Preset(query="search_query: "), Limits())
    ['search_query: Box\ndef f(): ...', '']
    """
    before = preset.query if kind == "query" else preset.document
    most = min(limits.text_tokens, preset.most_tokens) * CHARACTERS_PER_TOKEN
    joined = (passage.joined[:most].encode("utf-8", "replace").decode() for passage in passages)
    return [before + text if text.strip() else "" for text in joined]


def tokens_of(text: str) -> int:
    """Return a text's estimated tokens, too many rather than too few."""
    return len(text) // CHARACTERS_PER_TOKEN + 2


def batches(lengths: Sequence[int], limits: Limits) -> Iterator[list[int]]:
    """Yield batches of text indices within `limits`, shortest texts first.

    `lengths` holds the tokens of each text.

    A text that is too long by itself is a batch of its own. Sorting by length keeps padding small: 40 % fewer tokens
    were measured on chunks of Python.

        >>> list(batches([5, 100, 5, 90], Limits(texts=3, tokens=200)))
        [[0, 2], [3, 1]]
    """
    batch: list[int] = []
    for place in sorted(range(len(lengths)), key=lambda place: lengths[place]):
        if batch and (len(batch) == limits.texts or (len(batch) + 1) * lengths[place] > limits.tokens):
            yield batch
            batch = []
        batch.append(place)
    if batch:
        yield batch


def embed_texts(
    texts: Sequence[str],
    limits: Limits,
    embed: Callable[[list[str]], Matrix],
    measure: Callable[[list[str]], Sequence[int]] | None = None,
) -> Matrix:
    """Return float32 (len(texts), dim) of unit length; empty texts are zero.

    The shape is (n, 0) if all texts are empty.

    `embed` returns a row for each text of a batch; `measure` returns the texts' tokens, which are estimated without it.
    """
    told = [place for place, text in enumerate(texts) if text]
    found = np.zeros((len(texts), 0), np.float32)
    said = [texts[place] for place in told]
    for batch in batches([tokens_of(text) for text in said] if measure is None else measure(said), limits):
        places = [told[number] for number in batch]
        rows = unit(embed([texts[place] for place in places]))
        if not found.shape[1]:
            found = np.zeros((len(texts), rows.shape[1]), np.float32)
        found[places] = rows
    return found


def unit(rows: NDArray[np.floating[Any]]) -> Matrix:
    """Return rows of unit length.

    Raises `ProviderError` for a row without a direction.

    >>> unit(np.array([[3e200, 4e200]]))
    array([[0.6, 0.8]], dtype=float32)
    """
    exact = rows.astype(np.float64)
    largest = np.abs(exact).max(axis=1, keepdims=True, initial=0.0)
    if not np.isfinite(largest).all() or not (largest > 0).all():
        raise ProviderError("a vector is zero or holds what is no number")
    exact /= largest  # so that squares of large numbers stay finite
    return np.asarray(exact / np.linalg.norm(exact, axis=1, keepdims=True), np.float32)
