"""A transformer on this machine, run by ONNX Runtime on the CPU.

One directory holds the model and its tokenizer:

tokenizer.json            required
model.onnx                required; onnx/model.onnx and quantised ones are found too
tokenizer_config.json     `model_max_length` limits the input
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import onnxruntime
from numpy.typing import NDArray
from onnxruntime.capi import onnxruntime_pybind11_state as onnx_errors
from tokenizers import Encoding, Tokenizer

from vademecum.errors import PluginError
from vademecum.providers.embedders.local import loaded, read_json

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
