"""A cross-encoder on this machine: a transformer that reads question and passage together and gives one score.

`cross-encoder:DIRECTORY` is a Hugging Face sequence classifier in ONNX form (Nogueira and Cho, "Passage Re-ranking with
BERT", arXiv:1901.04085), run by ONNX Runtime on the processor. Nothing is downloaded, now or later: what it needs lies in
the directory.

    tokenizer.json            required
    model.onnx                required; onnx/model.onnx and quantised ones are found too
    tokenizer_config.json     its `model_max_length` says how much is read, 512 tokens at most
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from tokenizers import Encoding

from vademecum.errors import RerankError, UsageError
from vademecum.providers.onnx_session import FAILURES, Transformer, short
from vademecum.result import Err, Ok, Result
from vademecum.types import Passage

MOST_TOKENS = 512  # what the usual models were trained on; time grows with the square
BATCH = 4  # pairs at once: from 1 to 20 of them took the same time (decision 0010), and few need less padding


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
        self.name = f"cross-encoder:{model}"
        self._model = Transformer(folder, MOST_TOKENS, "text-classification", "classifies text")

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
                found = self._scores(self._model.tokenizer.encode_batch([pairs[place] for place in batch]))
                for place, score in zip(batch, found, strict=True):
                    scores[place] = score
        except FAILURES as error:
            return Err(RerankError(f"{self.name} failed ({short(error)}): take another model, or another reranker"))
        return Ok(scores)

    def _scores(self, encoded: Sequence[Encoding]) -> list[float]:
        """One score per pair of a batch."""
        logits = self._model.run(encoded).reshape(len(encoded), -1)
        if logits.shape[1] > 2:
            raise ValueError(f"it sorts into {logits.shape[1]} classes, not into one or two")
        # Two classes are "no" and "yes"; their difference orders as the probability of "yes" does.
        found: list[float] = (logits[:, -1] - (logits[:, 0] if logits.shape[1] == 2 else 0)).tolist()
        return found
