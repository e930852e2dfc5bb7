"""A cross-encoder on this machine: a transformer that reads question and passage together and gives one score.

`cross-encoder:DIRECTORY` is a Hugging Face sequence classifier in ONNX form (Nogueira and Cho, "Passage Re-ranking with
BERT", arXiv:1901.04085), run by ONNX Runtime on the processor. Nothing is downloaded, now or later: what it needs lies in
the directory.

    tokenizer.json            required
    model.onnx                required; onnx/model.onnx and quantised ones are found too
    tokenizer_config.json     its `model_max_length` says how much is read, 512 tokens at most
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import onnxruntime
from onnxruntime.capi import onnxruntime_pybind11_state as onnx_errors
from tokenizers import Encoding, Tokenizer

from vademecum.errors import PluginError, RerankError, UsageError
from vademecum.result import Err, Ok, Result, attempt
from vademecum.types import Passage

T = TypeVar("T")

MODELS = ("model.onnx", "onnx/model.onnx", "model_quantized.onnx", "onnx/model_quantized.onnx")
MOST_TOKENS = 512  # what the usual models were trained on; time grows with the square
BATCH = 4  # pairs at once: from 1 to 20 of them took the same time (decision 0010), and few need less padding
# What a classifier is fed, by the names that exported models use.
INPUTS: Mapping[str, str] = {"input_ids": "ids", "attention_mask": "attention_mask", "token_type_ids": "type_ids"}
# Errors of ONNX Runtime have no common ancestor but Exception.
FAILURES: tuple[type[Exception], ...] = (
    ValueError,
    *(each for each in vars(onnx_errors).values() if isinstance(each, type) and issubclass(each, Exception)),
)


class CrossEncoderReranker:
    """Reranks with the model in directory `model`.

    Raises:
        UsageError: there is no such directory.
        PluginError: it holds no usable model; the message names what is missing or wrong.
    """

    remote = False

    def __init__(self, model: str = "") -> None:
        folder = Path(os.path.expanduser(model))
        if not model or not folder.is_dir():
            raise UsageError(
                f"{model!r} is no directory: write cross-encoder:DIRECTORY, one that holds model.onnx and tokenizer.json"
            )
        export = f"make it with `optimum-cli export onnx --task text-classification --model {folder} {folder}`"
        self.name = f"cross-encoder:{model}"
        self._tokenizer = _loaded(
            _file(folder, ("tokenizer.json",), "save the model's fast tokenizer there"), _tokenizer
        )
        self._session = _loaded(_file(folder, MODELS, export), _session)
        self._types = {each.name: np.int32 if "int32" in each.type else np.int64 for each in self._session.get_inputs()}
        if unknown := sorted(set(self._types) - set(INPUTS)):
            raise PluginError(f"the model in {folder} asks for {unknown[0]!r}: take one that classifies text")

    def rerank(self, query: str, passages: Sequence[Passage]) -> Result[list[float], RerankError]:
        """Return the model's score for each passage, as it is: of any sign and size."""
        pairs = [(query, passage.joined) for passage in passages]
        alike = sorted(
            range(len(pairs)), key=lambda place: len(pairs[place][1])
        )  # long ones make others of a batch long
        scores = [0.0] * len(pairs)
        try:
            for first in range(0, len(pairs), BATCH):
                batch = alike[first : first + BATCH]
                found = self._scores(self._tokenizer.encode_batch([pairs[place] for place in batch]))
                for place, score in zip(batch, found, strict=True):
                    scores[place] = score
        except FAILURES as error:
            return Err(RerankError(f"{self.name} failed ({_short(error)}): take another model, or another reranker"))
        return Ok(scores)

    def _scores(self, encoded: Sequence[Encoding]) -> list[float]:
        """One score per pair of a batch."""
        feed = {
            name: np.array([getattr(each, INPUTS[name]) for each in encoded], dtype)
            for name, dtype in self._types.items()
        }
        logits = np.asarray(self._session.run(None, feed)[0], np.float64).reshape(len(encoded), -1)
        if logits.shape[1] > 2:
            raise ValueError(f"it sorts into {logits.shape[1]} classes, not into one or two")
        # Two classes are "no" and "yes"; their difference orders as the probability of "yes" does.
        found: list[float] = (logits[:, -1] - (logits[:, 0] if logits.shape[1] == 2 else 0)).tolist()
        return found


def _file(folder: Path, names: Sequence[str], fix: str) -> Path:
    """The first of some files that is there."""
    for name in names:
        if (folder / name).is_file():
            return folder / name
    raise PluginError(f"{folder} holds no {names[0]}: {fix}")


def _loaded(path: Path, load: Callable[[Path], T]) -> T:
    """What a library makes of a file. Both raise plain Exception, or a child of it, where the file is not theirs."""
    match attempt(PluginError, Exception)(load)(path):
        case Ok(loaded):
            return loaded
        case Err(error):
            raise PluginError(f"{path} cannot be loaded ({_short(error)}): get the model again") from error


def _session(path: Path) -> onnxruntime.InferenceSession:
    onnxruntime.disable_telemetry_events()
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4  # what goes wrong is raised; its log would stand beside our one line
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def _tokenizer(path: Path) -> Tokenizer:
    """The tokenizer, set to cut and to pad."""
    tokenizer = Tokenizer.from_file(str(path))
    longest = _read(path.with_name("tokenizer_config.json")).get("model_max_length", MOST_TOKENS)
    tokenizer.enable_truncation(int(min(MOST_TOKENS, longest)))
    if tokenizer.padding is None:
        number = _read(path.with_name("config.json")).get("pad_token_id") or 0
        tokenizer.enable_padding(pad_id=number, pad_token=tokenizer.id_to_token(number) or "[PAD]")
    else:
        tokenizer.enable_padding(**tokenizer.padding | {"length": None})  # to the longest of a batch
    return tokenizer


def _read(path: Path) -> dict[str, Any]:
    """A JSON file, or {} where there is none."""
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    return found


def _short(error: Exception) -> str:
    return " ".join(str(error).split())[:200]
