"""An ONNX transformer on this machine: `onnx:DIRECTORY`, or a preset's name.

The directory holds a published model in ONNX form and its tokenizer. Pooling and prompts come from the directory's own files in
the layout of sentence-transformers (`1_Pooling/config.json`, `config_sentence_transformers.json`), else from the presets
(`presets`), else the vector is the mean of the tokens' vectors.

    texts → tokens → batches of about equal length → hidden states (batch, tokens, dim) → pooled → unit length

Memory: the model's weights, and for one batch about  layers' widest activation * padded tokens. The settings
`embedding.batch_tokens` and `embedding.text_tokens` bound both; docs/providers.md states the measured sizes.

The directory's files:

tokenizer.json            required
model.onnx                required; onnx/model.onnx and quantised ones are found too
tokenizer_config.json     `model_max_length` limits the input
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
from numpy.typing import NDArray
from onnxruntime.capi import onnxruntime_pybind11_state as onnx_errors
from tokenizers import Encoding, Tokenizer

from vademecum.errors import EmbedError, PluginError, ProviderError
from vademecum.providers.embedders.batches import (
    LocalEmbedder,
    Matrix,
    Pooling,
    embed_texts,
    loaded,
    read_json,
    texts_of,
)
from vademecum.providers.post import short
from vademecum.result import attempt
from vademecum.types import EmbedKind, Passage

MODELS = ("model.onnx", "onnx/model.onnx", "model_quantized.onnx", "onnx/model_quantized.onnx")
# The inputs of a transformer, by the names that exported models use.
INPUTS: Mapping[str, str] = {"input_ids": "ids", "attention_mask": "attention_mask", "token_type_ids": "type_ids"}
# ONNX Runtime's errors have no common ancestor but Exception.
FAILURES: tuple[type[Exception], ...] = (
    ValueError,
    *(each for each in vars(onnx_errors).values() if isinstance(each, type) and issubclass(each, Exception)),
)


class Transformer:
    """The model and the tokenizer of a directory.

    Raises:
        PluginError: the directory holds no usable model; the message names the missing or wrong part.
    """

    def __init__(self, folder: Path, most_tokens: int, task: str, what: str) -> None:
        export = f"make it with `optimum-cli export onnx --task {task} --model {folder} {folder}`"
        self.tokenizer = loaded(
            _file(folder, ("tokenizer.json",), "save the model's fast tokenizer there"),
            lambda path: _tokenizer(path, most_tokens),
        )
        self.path = _file(folder, MODELS, export)
        self.session = loaded(self.path, _session)
        self._types = {each.name: np.int32 if "int32" in each.type else np.int64 for each in self.session.get_inputs()}
        if unknown := sorted(set(self._types) - set(INPUTS)):
            raise PluginError(f"the model in {folder} asks for {unknown[0]!r}: take one that {what}")

    def run(self, encoded: Sequence[Encoding], output: str | None = None) -> NDArray[np.float64]:
        """Return one output, by default the first, for texts of equal length.

        Raises one of `FAILURES`.
        """
        feed = {
            name: np.array([getattr(each, INPUTS[name]) for each in encoded], dtype)
            for name, dtype in self._types.items()
        }
        return np.asarray(self.session.run(None if output is None else [output], feed)[0], np.float64)


def _file(folder: Path, names: Sequence[str], fix: str) -> Path:
    """Return the first of some files that exists."""
    for name in names:
        if (folder / name).is_file():
            return folder / name
    raise PluginError(f"{folder} holds no {names[0]}: {fix}")


def _session(path: Path) -> onnxruntime.InferenceSession:
    onnxruntime.disable_telemetry_events()
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4  # failures are raised; the library's log would mix with our one line
    options.enable_cpu_mem_arena = False  # the arena would never release the memory of the longest batch
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def _tokenizer(path: Path, most_tokens: int) -> Tokenizer:
    """Load the tokenizer, with truncation and padding on."""
    tokenizer = Tokenizer.from_file(str(path))
    longest = read_json(path.with_name("tokenizer_config.json")).get("model_max_length", most_tokens)
    tokenizer.enable_truncation(int(min(most_tokens, longest)))
    if tokenizer.padding is None:
        number = read_json(path.with_name("config.json")).get("pad_token_id") or 0
        tokenizer.enable_padding(pad_id=number, pad_token=tokenizer.id_to_token(number) or "[PAD]")
    else:
        tokenizer.enable_padding(**tokenizer.padding | {"length": None})  # to the longest of a batch
    return tokenizer


class OnnxEmbedder(LocalEmbedder):
    """Embeds with an ONNX model in a directory."""

    provider = "onnx"
    files = ("*.json", "1_Pooling/*.json", "onnx/model.onnx", "onnx/model.onnx_data", "model.onnx")

    def open(self, folder: Path) -> tuple[Path, int]:
        """Load the model; return its file, and the vectors' width."""
        most = min(self._limits.text_tokens, self._preset.most_tokens)
        self._model = Transformer(folder, most, "feature-extraction", "turns text into vectors")
        outputs = {each.name: each.shape for each in self._model.session.get_outputs()}
        self._output = "sentence_embedding" if "sentence_embedding" in outputs else next(iter(outputs))
        return self._model.path, _width(outputs[self._output], folder)

    @attempt(EmbedError, ProviderError)
    def embed(self, passages: Sequence[Passage], kind: EmbedKind) -> Matrix:
        """Return float32 (len(passages), dim) of unit length, zeros for empty text."""
        texts = texts_of(passages, kind, self._preset, self._limits)
        found = embed_texts(texts, self._limits, self._vectors, self._lengths)
        return found if found.shape[1] else np.zeros((len(passages), self.dim), np.float32)

    def _lengths(self, texts: list[str]) -> list[int]:
        """Return the number of tokens of each text, without padding."""
        return [sum(each.attention_mask) for each in self._model.tokenizer.encode_batch(texts)] if texts else []

    def _vectors(self, texts: list[str]) -> Matrix:
        """Return the vectors of one batch, not of unit length. Raises `ProviderError`."""
        try:
            encoded = self._model.tokenizer.encode_batch(texts)
            states = self._model.run(encoded, self._output)
            mask = np.array([each.attention_mask for each in encoded])
            return pooled(states, mask, self._preset.pooling)
        except FAILURES as error:
            raise ProviderError(
                f"{self.name} failed ({short(str(error))}): take another model in search.embedder"
            ) from error


def pooled(states: NDArray[np.float64], mask: NDArray[np.int64], pooling: Pooling) -> Matrix:
    """Return one vector for each text: float32 (batch, dim).

    Args:
        states: (batch, tokens, dim) with a vector for each token, or (batch, dim) if the model pools by itself.
        mask: (batch, tokens), 1 for tokens and 0 for padding; every text has a token.
        pooling: the tokens that count.

    >>> states = np.array([[[1.0, 0.0], [0.0, 1.0], [9.0, 9.0]]])
    >>> [pooled(states, np.array([[1, 1, 0]]), pooling).tolist() for pooling in ("mean", "cls", "last")]
    [[[0.5, 0.5]], [[1.0, 0.0]], [[0.0, 1.0]]]
    """
    if states.ndim == 2:
        return states.astype(np.float32)
    if pooling == "mean":
        weight = mask[:, :, None].astype(np.float64)
        return np.asarray((states * weight).sum(axis=1) / weight.sum(axis=1), np.float32)
    # Padding may be on either side: find the first and the last real token.
    first = mask.argmax(axis=1)
    last = mask.shape[1] - 1 - mask[:, ::-1].argmax(axis=1)
    chosen = first if pooling == "cls" else last
    return np.asarray(states[np.arange(len(states)), chosen], np.float32)


def _width(shape: Sequence[Any], folder: Path) -> int:
    if len(shape) not in {2, 3} or not isinstance(shape[-1], int):
        raise PluginError(
            f"the model in {folder} does not say how wide its vectors are: export it for feature-extraction"
        )
    return shape[-1]
