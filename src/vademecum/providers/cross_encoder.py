"""A cross-encoder: a local transformer that scores question and passage together.

`cross-encoder:DIRECTORY` is a Hugging Face sequence classifier in ONNX form (Nogueira and Cho, "Passage Re-ranking with
BERT", arXiv:1901.04085), run by ONNX Runtime on the CPU. Nothing is downloaded: the directory holds all files.

    tokenizer.json            required
    model.onnx                required; onnx/model.onnx and quantised ones are found too
    tokenizer_config.json     `model_max_length` limits the input, to at most 512 tokens
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from tokenizers import Encoding

from vademecum.errors import RerankError, UsageError
from vademecum.providers.embedders.onnx import FAILURES, Transformer
from vademecum.providers.post import short
from vademecum.result import Err, Ok, Result
from vademecum.types import Passage

MOST_TOKENS = 512  # the usual models' training length; time grows with the square
BATCH = 4  # pairs at once: 1 to 20 took the same time (decision 0010), and small batches need less padding


class CrossEncoderReranker:
    """Reranks with the model in directory `model`.

    Raises:
        UsageError: there is no such directory.
        PluginError: the directory holds no usable model; the message names the missing or wrong part.
    """

    remote = False

    def __init__(self, model: str = "") -> None:
        folder = Path(os.path.expanduser(model))
        if not model or not folder.is_dir():
            raise UsageError(
                f"{model!r} is no directory: write cross-encoder:DIRECTORY, one that holds model.onnx and tokenizer.json"
            )
        self.name = f"cross-encoder:{model}"
        self._model = Transformer(folder, MOST_TOKENS, "text-classification", "classifies text")

    def rerank(self, query: str, passages: Sequence[Passage]) -> Result[list[float], RerankError]:
        """Return the model's score for each passage, of any range."""
        pairs = [(query, passage.joined) for passage in passages]
        # a long pair makes its whole batch long
        alike = sorted(range(len(pairs)), key=lambda place: len(pairs[place][1]))
        scores = [0.0] * len(pairs)
        try:
            for first in range(0, len(pairs), BATCH):
                batch = alike[first : first + BATCH]
                found = self._scores(self._model.tokenizer.encode_batch([pairs[place] for place in batch]))
                for place, score in zip(batch, found, strict=True):
                    scores[place] = score
        except FAILURES as error:
            return Err(
                RerankError(f"{self.name} failed ({short(str(error))}): take another model, or another reranker")
            )
        return Ok(scores)

    def _scores(self, encoded: Sequence[Encoding]) -> list[float]:
        logits = self._model.run(encoded).reshape(len(encoded), -1)
        if logits.shape[1] > 2:
            raise ValueError(f"it sorts into {logits.shape[1]} classes, not into one or two")
        # Two classes are "no" and "yes"; their difference sorts as the probability of "yes" does.
        found: list[float] = (logits[:, -1] - (logits[:, 0] if logits.shape[1] == 2 else 0)).tolist()
        return found
