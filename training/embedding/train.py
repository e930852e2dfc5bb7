"""Train the static embedder on pairs, from random numbers or from an earlier model, and write the file that is shipped.

    python train.py BAGS.npz OUT.safetensors --vocabulary MODEL.safetensors [--from-scratch] [options]

The model is the one of `vademecum.providers.embedders.static`. The loss is InfoNCE: in a batch, made of blocks of one
repository each, every other passage is a wrong answer, except those that answer the same question.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from bags import KINDS, RUN
from numpy.typing import NDArray
from torch import nn
from torch.nn import functional

from vademecum.index.arrays import load_arrays, save_arrays
from vademecum.providers.embedders.static import CONTEXT_WEIGHT, HEAD_SCALE, TITLE_WEIGHT, WordPieces

# How often a pair of each kind is seen in an epoch.
SHARES = {
    "doc": 1.0, "para": 0.4, "name": 0.2, "comment": 0.5, "commit": 1.5, "pull": 2.0, "body": 1.5, "test": 0.5,
    "manual": 1.0, "file": 2.0,
}  # fmt: skip
# What people put before or after what they look for. It should not matter.
FRAMES = (
    "how does work", "how are", "how is", "where is", "where are", "what happens when", "how do I", "how to", "code that",
    "where does the", "which function", "python", "in python", "javascript", "java", "rust", "go", "c++", "find the code for",
    "why does", "how can I", "what is", "explain how", "implementation of", "logic for",
)  # fmt: skip
FRAMED, VARIED, TITLED, PLACED = (
    0.15,
    0.5,
    0.75,
    0.75,
)  # how often a question has a frame, is varied; a passage has a title, a scope
NAMES_TITLED = 0.4  # the same for a question that is the name: a bare name must find its declaration
DIM, HIDDEN = 256, 512


@dataclass(frozen=True)
class Settings:
    """How to train."""

    epochs: float = 1.4
    block: int = 1024
    blocks: int = 2  # of a batch
    scale: float = 20.0
    table_rate: float = 0.004
    weight_rate: float = 0.003
    head_rate: float = 5e-4
    warm_up: int = 30
    dropped: float = 0.2  # share of a passage's pieces that are hidden
    minutes: float = 15.0
    seed: int = 0
    shares: Mapping[str, float] = field(default_factory=lambda: dict(SHARES))


class Bag(torch.autograd.Function):
    """The product of a sparse matrix and a dense one; scipy does it faster than torch's bags."""

    @staticmethod
    def forward(ctx: Any, dense: torch.Tensor, sparse: sp.csr_matrix) -> torch.Tensor:
        """Return sparse @ dense."""
        ctx.sparse = sparse
        return torch.from_numpy(np.asarray(sparse @ dense.detach().numpy()))

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> tuple[torch.Tensor, None]:
        """Return the gradient of the dense matrix."""
        return torch.from_numpy(np.asarray(ctx.sparse.T @ np.ascontiguousarray(gradient.numpy()))), None


class Model(nn.Module):
    """A table of pieces, and for each side weights and a residual head."""

    def __init__(self, table: NDArray[np.float32], weights: Mapping[str, NDArray[np.float32]]) -> None:
        super().__init__()
        self.table = nn.Parameter(torch.from_numpy(table))
        self.weight = nn.ParameterDict({side: nn.Parameter(torch.from_numpy(weights[side])) for side in weights})
        dim = table.shape[1]
        self.head = nn.ModuleDict({side: _head(dim) for side in weights})

    def forward(self, bags: sp.csr_matrix, side: str) -> torch.Tensor:
        """Return unit vectors."""
        x = functional.normalize(Bag.apply(self.table * self.weight[side][:, None], bags), dim=1)
        return functional.normalize(x + self.head[side](HEAD_SCALE * x), dim=1)


def _head(dim: int) -> nn.Sequential:
    head = nn.Sequential(nn.Linear(dim, HIDDEN), nn.GELU(approximate="tanh"), nn.Linear(HIDDEN, dim, bias=False))
    nn.init.zeros_(head[2].weight)
    return head


def fresh(document_frequency: NDArray[np.int64], passages: int, seed: int) -> Model:
    """Return a model of random numbers whose weights start from the rarity of the pieces."""
    torch.manual_seed(seed)
    idf = np.clip(np.log((passages + 1) / (document_frequency + 1)), 0.3, None).astype(np.float32) / 8
    table: NDArray[np.float32] = (torch.randn(len(idf), DIM) / DIM**0.5).numpy()
    return Model(table, {"query": idf.copy(), "document": idf.copy()})


def loaded(arrays: Mapping[str, NDArray[Any]]) -> Model:
    """Return the model of a file, with rows of unit length so that one rate of learning fits them all."""
    table = np.asarray(arrays["table"], np.float32)
    norm = np.maximum(np.linalg.norm(table, axis=1), 1e-6)
    model = Model(
        table / norm[:, None], {s: np.asarray(arrays[f"{s}_weight"] * norm, np.float32) for s in ("query", "document")}
    )
    with torch.no_grad():
        for side, head in model.head.items():
            for name, parameter in (("in", head[0].weight), ("bias", head[0].bias), ("out", head[2].weight)):
                parameter.copy_(torch.from_numpy(arrays[f"{side}_{name}"].astype(np.float32)))
    return model


class Data:
    """The pairs as sparse matrices, and batches of them."""

    def __init__(
        self, arrays: Mapping[str, NDArray[Any]], words: int, frames: sp.csr_matrix, settings: Settings
    ) -> None:
        self.rng = np.random.default_rng(settings.seed)
        self.settings = settings
        self.frames = frames
        self.arrays = {n: arrays[n] for n in ("repo", "kind", "first", "count", "same", "answers", "key")}
        self.matrix = {n: _csr(arrays, n, words) for n in ("text", "title", "context", "query", "variant", "minus")}
        self.matrix["context"].data[:] = 1.0
        asked = np.diff(self.matrix["query"].indptr) >= 2
        share = np.array([settings.shares[kind] for kind in KINDS])
        self.share = share[self.arrays["kind"]] * asked
        size = settings.block * settings.blocks
        self.steps = int(self.share.sum() / size * settings.epochs)

    def epoch(self) -> Iterator[NDArray[np.int64]]:
        """Yield batches of pair numbers, each of blocks of one repository (and its neighbour where it ends)."""
        times = np.floor(self.share + self.rng.random(len(self.share))).astype(np.int64)
        pairs = self.rng.permutation(np.repeat(np.arange(len(times)), times))
        order = self.rng.permutation(int(self.arrays["repo"].max()) + 1)
        pairs = pairs[np.argsort(order[self.arrays["repo"][pairs]], kind="stable")]
        block = self.settings.block
        pairs = np.roll(pairs, self.rng.integers(block))
        blocks = pairs[: len(pairs) // block * block].reshape(-1, block)
        blocks = blocks[self.rng.permutation(len(blocks))]
        for start in range(0, len(blocks) - self.settings.blocks + 1, self.settings.blocks):
            yield blocks[start : start + self.settings.blocks].ravel()

    def questions(self, pairs: NDArray[np.int64]) -> sp.csr_matrix:
        """Return the questions as counts: some varied, some framed."""
        varied = self.rng.random(len(pairs)) < VARIED
        rows = sp.vstack([self.matrix["query"][pairs], self.matrix["variant"][pairs]], format="csr")
        chosen = rows[np.arange(len(pairs)) + len(pairs) * varied]
        framed = sp.diags_array((self.rng.random(len(pairs)) < FRAMED).astype(np.float32))
        chosen = chosen + framed @ self.frames[self.rng.integers(self.frames.shape[0], size=len(pairs))]
        return sp.csr_matrix(chosen)

    def passages(self, pairs: NDArray[np.int64]) -> tuple[sp.csr_matrix, NDArray[np.int64]]:
        """Return one answer of each pair as weights, without what it must not show, and the passages' numbers."""
        first, count = self.arrays["first"][pairs], self.arrays["count"][pairs]
        numbers = self.arrays["answers"][first + (self.rng.random(len(pairs)) * count).astype(np.int64)]
        text = sp.csr_matrix(self.matrix["text"][numbers] - self.matrix["minus"][pairs])
        text.data = np.sqrt(np.maximum(text.data, 0)) * (self.rng.random(len(text.data)) >= self.settings.dropped)
        shown = np.where(self.arrays["kind"][pairs] == KINDS.index("name"), NAMES_TITLED, TITLED)
        titled = self.rng.random(len(pairs)) < shown
        placed = self.rng.random(len(pairs)) < PLACED
        title = sp.diags_array(TITLE_WEIGHT * titled.astype(np.float32)) @ self.matrix["title"][numbers]
        context = sp.diags_array(CONTEXT_WEIGHT * placed.astype(np.float32)) @ self.matrix["context"][numbers]
        return sp.csr_matrix((text + title + context).astype(np.float32)), numbers

    def also_right(self, pairs: NDArray[np.int64], numbers: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return bool (n, n): passages that answer a question too, without being its own."""
        first, count = self.arrays["first"][pairs], self.arrays["count"][pairs]
        rows = np.repeat(np.arange(len(pairs)), count)
        flat = np.repeat(first - np.concatenate([[0], np.cumsum(count)[:-1]]), count) + np.arange(int(count.sum()))
        right = self.arrays["key"][self.arrays["answers"][flat]]
        keys, column = np.unique(np.concatenate([right, self.arrays["key"][numbers]]), return_inverse=True)
        ones = np.ones(len(column), np.float32)
        wanted = sp.csr_matrix((ones[: len(rows)], (rows, column[: len(rows)])), shape=(len(pairs), len(keys)))
        held = sp.csr_matrix(
            (ones[len(rows) :], (np.arange(len(pairs)), column[len(rows) :])), shape=(len(pairs), len(keys))
        )
        same = self.arrays["same"][pairs]
        mask: NDArray[np.bool_] = ((wanted @ held.T).toarray() > 0) | (same[:, None] == same[None, :])
        np.fill_diagonal(mask, val=False)
        return mask


def _csr(arrays: Mapping[str, NDArray[Any]], name: str, words: int) -> sp.csr_matrix:
    offset = arrays[f"{name}_offset"]
    values = arrays[f"{name}_value"].astype(np.float32)
    return sp.csr_matrix((values, arrays[f"{name}_column"], offset), shape=(len(offset) - 1, words))


def frames_of(cut: WordPieces, words: int) -> sp.csr_matrix:
    """Return the frames as counts of pieces."""
    rows = [[piece for run in RUN.findall(frame) for piece in cut(run)] for frame in FRAMES]
    index = np.repeat(np.arange(len(rows)), [len(row) for row in rows])
    return sp.csr_matrix(
        (np.ones(len(index), np.float32), (index, [piece for row in rows for piece in row])), shape=(len(rows), words)
    )


def train(model: Model, data: Data, settings: Settings) -> None:
    """Train in place, to the end of the epochs or the minutes, whichever is first; the rate falls to nothing."""
    heads = [parameter for head in model.head.values() for parameter in head.parameters()]
    groups = [
        {"params": [model.table], "lr": settings.table_rate},
        {"params": list(model.weight.values()), "lr": settings.weight_rate},
        {"params": heads, "lr": settings.head_rate},
    ]
    rates = [float(group["lr"]) for group in groups]  # type: ignore[arg-type]
    optimiser = torch.optim.Adam(groups, betas=(0.9, 0.99), eps=1e-10, fused=True)
    start, step, losses = time.monotonic(), 0, []
    while step < data.steps:
        for pairs in data.epoch():
            spent = max(step / data.steps, (time.monotonic() - start) / (60 * settings.minutes))
            for group, rate in zip(optimiser.param_groups, rates, strict=True):
                group["lr"] = rate * min(1.0, (step + 1) / settings.warm_up) * max(0.02, 1 - spent)
            loss = batch_loss(model, data, pairs, settings.scale)
            optimiser.zero_grad(set_to_none=True)
            loss.backward()
            optimiser.step()
            losses.append(loss.item())
            step += 1
            if step % 25 == 0:
                print(
                    f"{step}/{data.steps} loss {np.mean(losses[-25:]):.4f} {time.monotonic() - start:.0f} s", flush=True
                )
            if step >= data.steps or spent >= 1:
                return


def batch_loss(model: Model, data: Data, pairs: NDArray[np.int64], scale: float) -> torch.Tensor:
    """Return the mean cross entropy of the right passage among all of the batch."""
    questions = model(data.questions(pairs), "query")
    bags, numbers = data.passages(pairs)
    scores = scale * questions @ model(bags, "document").T
    scores = scores.masked_fill(torch.from_numpy(data.also_right(pairs, numbers)), -1e4)
    return functional.cross_entropy(scores, torch.arange(len(pairs)))


def write(model: Model, vocabulary: Mapping[str, NDArray[Any]], path: Path, note: str) -> None:
    """Write the model as the runtime reads it: the table in 8 bits, the heads in 16."""
    table = model.table.detach().numpy()
    scale = np.maximum(np.abs(table).max(axis=1) / 127, 1e-12).astype(np.float32)
    arrays: dict[str, NDArray[Any]] = {
        "table": np.round(table / scale[:, None]).astype(np.int8),
        "words": np.asarray(vocabulary["words"]),
        "logp": np.asarray(vocabulary["logp"]),
    }
    for side, head in model.head.items():
        arrays[f"{side}_weight"] = (model.weight[side].detach().numpy() * scale).astype(np.float32)
        for name, parameter in (("in", head[0].weight), ("bias", head[0].bias), ("out", head[2].weight)):
            like = np.float32 if name == "bias" else np.float16
            arrays[f"{side}_{name}"] = parameter.detach().numpy().astype(like)
    save_arrays(path, arrays, {"name": path.stem, "dim": str(table.shape[1]), "training": note})


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bags", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--vocabulary", type=Path, required=True)
    parser.add_argument("--from-scratch", action="store_true")
    parser.add_argument("--share", nargs="*", default=[], metavar="KIND=NUMBER")
    for name in ("epochs", "scale", "table-rate", "weight-rate", "head-rate", "dropped", "minutes"):
        parser.add_argument(f"--{name}", type=float, default=getattr(Settings(), name.replace("-", "_")))
    for name in ("block", "blocks", "seed"):
        parser.add_argument(f"--{name}", type=int, default=getattr(Settings(), name))
    given = vars(parser.parse_args())
    changed = {kind: float(number) for kind, number in (item.split("=") for item in given.pop("share"))}
    bags, out, vocabulary_path, scratch = (given.pop(n) for n in ("bags", "out", "vocabulary", "from_scratch"))
    settings = Settings(shares={**SHARES, **changed}, **given)
    torch.set_num_threads(1)
    torch.manual_seed(settings.seed)
    vocabulary, _ = load_arrays(vocabulary_path)
    words = vocabulary["words"].tobytes().decode().split("\n")
    with np.load(bags) as arrays:
        data = Data(arrays, len(words), frames_of(WordPieces(words, vocabulary["logp"].tolist()), len(words)), settings)
    text = data.matrix["text"]
    model = (
        fresh(np.bincount(text.indices, minlength=len(words)), text.shape[0], settings.seed)
        if scratch
        else loaded(vocabulary)
    )
    train(model, data, settings)
    write(model, vocabulary, out, str(settings))


if __name__ == "__main__":
    main()
