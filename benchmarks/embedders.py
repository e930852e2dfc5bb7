"""How much memory embedders take, and how many texts they read: in a process of their own, by the settings that bound it.

    python benchmarks/embedders.py                       # needs the group `torch`, which writes the models
    python benchmarks/embedders.py --shapes minilm       # the smaller one alone

A transformer's memory depends on its shape and on what it is fed, not on what it learned: models of the shapes of MiniLM-L6 and of
BERT-base (jina-embeddings-v2-base-code and CodeRankEmbed are of the latter, with larger vocabularies) are made with random weights and exported to
ONNX. The texts are windows of forty lines of Python's own library, the longest of them far beyond what is read.

Told are: the peak of resident memory of the process after loading, and after embedding; what embedding added; texts and tokens
a second of processor time. Nothing of it says how well anything is found.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import report

# name → hidden size, layers, heads, inner size
SHAPES = {"minilm": (384, 6, 12, 1536), "base": (768, 12, 12, 3072)}
VOCABULARY = 30_000
# texts in a batch, tokens in a batch, tokens of a text
LIMITS = [
    (1, 512, 512), (64, 1_024, 512), (64, 2_048, 512), (64, 8_192, 512), (64, 1_024, 1_024), (64, 2_048, 1_024), (64, 8_192, 1_024),
    (64, 32_768, 1_024),
]  # fmt: skip
WINDOW_LINES = 40


def texts(count: int) -> list[str]:
    """Windows of Python's own library, every so many, and one long file."""
    files = sorted(Path(sysconfig.get_path("stdlib")).glob("*.py"))
    windows = []
    for path in files:
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
        windows += ["\n".join(lines[n : n + WINDOW_LINES]) for n in range(0, len(lines), WINDOW_LINES)]
    longest = max(files, key=lambda path: path.stat().st_size).read_text(encoding="utf-8", errors="replace")
    return [*windows[:: max(1, len(windows) // count)][: count - 1], longest]


def export(shape: str, folder: Path) -> None:
    """Write a model of a shape with random weights, in ONNX form, and a tokenizer of words."""
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from torch import nn

    hidden, layers, heads, inner = SHAPES[shape]

    class Layer(nn.Module):
        """A layer of BERT: attention, then a network of two products, each added to what it was given."""

        def __init__(self):
            super().__init__()
            self.qkv, self.out = nn.Linear(hidden, 3 * hidden), nn.Linear(hidden, hidden)
            self.up, self.down = nn.Linear(hidden, inner), nn.Linear(inner, hidden)
            self.first, self.second = nn.LayerNorm(hidden), nn.LayerNorm(hidden)

        def forward(self, x, mask):
            batch, length = x.shape[0], x.shape[1]
            q, k, v = self.qkv(x).reshape(batch, length, 3, heads, hidden // heads).permute(2, 0, 3, 1, 4).unbind(0)
            weight = torch.softmax(q @ k.transpose(-1, -2) / (hidden // heads) ** 0.5 + mask, -1)
            x = self.first(x + self.out((weight @ v).transpose(1, 2).reshape(batch, length, hidden)))
            return self.second(x + self.down(nn.functional.gelu(self.up(x))))

    class Hidden(nn.Module):
        """Words and places, and the layers."""

        def __init__(self):
            super().__init__()
            self.words, self.places = nn.Embedding(VOCABULARY, hidden), nn.Embedding(2_048, hidden)
            self.layers = nn.ModuleList(Layer() for _ in range(layers))

        def forward(self, input_ids, attention_mask):
            x = self.words(input_ids) + self.places(torch.arange(input_ids.shape[1]))
            mask = (1.0 - attention_mask[:, None, None, :].float()) * -1e9
            for layer in self.layers:
                x = layer(x, mask)
            return x

    model = Hidden().eval()
    sample = torch.ones((2, 8), dtype=torch.int64)
    axes = {name: {0: "batch", 1: "length"} for name in ("input_ids", "attention_mask", "last_hidden_state")}
    with torch.no_grad():
        torch.onnx.export(
            model, (sample, sample), str(folder / "model.onnx"), input_names=["input_ids", "attention_mask"],
            output_names=["last_hidden_state"], dynamic_axes=axes, opset_version=17, dynamo=False,
        )  # fmt: skip
    words = [f"w{n}" for n in range(VOCABULARY - 4)]
    made = Tokenizer(
        models.WordLevel({w: n for n, w in enumerate(["[PAD]", "[UNK]", "[CLS]", "[SEP]", *words])}, "[UNK]")
    )
    made.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Whitespace(), pre_tokenizers.Punctuation()])
    made.post_processor = processors.TemplateProcessing("[CLS] $A [SEP]", None, [("[CLS]", 2), ("[SEP]", 3)])
    made.save(str(folder / "tokenizer.json"))


def peak() -> float:
    """Most resident memory that this process had, in MiB. Linux counts it for a program; `getrusage` counts its parent's in."""
    if sys.platform == "linux":
        [line] = [line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM")]
        return int(line.split()[1]) / 1024
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform == "darwin" else 1024)


def child(spec: str, limits: tuple[int, int, int], count: int) -> None:
    """Load, embed, and print what it took: in a process that does nothing else."""
    import time

    from vademecum.plugins import load
    from vademecum.providers.embedders.batches import tokens_of
    from vademecum.settings import EmbeddingSettings
    from vademecum.types import Passage

    said = texts(count)
    started = peak()
    own = {"settings": EmbeddingSettings(batch_texts=limits[0], batch_tokens=limits[1], text_tokens=limits[2])}
    embedder = load("embedder", spec, **(own if ":" in spec else {}))
    embedder.embed([Passage("warm")], "document").unwrap()
    loaded, began = peak(), time.process_time()
    embedder.embed([Passage(text) for text in said], "document").unwrap()
    seconds = time.process_time() - began
    read = sum(min(tokens_of(text), limits[2]) for text in said)
    print(json.dumps({
        "peak_before_mib": round(started), "peak_loaded_mib": round(loaded), "peak_mib": round(peak()), "added_mib": round(peak() - loaded),
        "texts": len(said), "texts_a_second": round(len(said) / seconds, 1), "tokens_a_second": round(read / seconds),
    }))  # fmt: skip


def measured(spec: str, limits: tuple[int, int, int], count: int) -> dict[str, Any]:
    """What a process of its own took."""
    command = [sys.executable, __file__, "--child", spec, "--limits", *map(str, limits), "--texts", str(count)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stderr)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def every(shapes: Iterable[str], count: int, known: Sequence[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Measure what is not known yet: the built-in embedder, then every shape by every limit."""
    names = ("batch_texts", "batch_tokens", "text_tokens")
    if not any(row["embedder"] == "static" for row in known):
        yield {"embedder": "static", **measured("static", LIMITS[0], 2_000)}
    for shape in shapes:
        done = [tuple(row[name] for name in names) for row in known if row["embedder"] == f"onnx, {shape}"]
        wanted = [limits for limits in LIMITS if limits not in done]
        if not wanted:
            continue
        with tempfile.TemporaryDirectory() as folder:
            export(shape, Path(folder))
            weights = round((Path(folder) / "model.onnx").stat().st_size / 2**20)
            for limits in wanted:
                told = {"embedder": f"onnx, {shape}", "weights_mib": weights, **dict(zip(names, limits, strict=True))}
                yield told | measured(f"onnx:{folder}", limits, count)


def main() -> None:
    """Measure every shape by every limit, and the built-in embedder beside them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shapes", default="minilm,base")
    parser.add_argument("--texts", type=int, default=96)
    parser.add_argument("--state", help="a file of rows: a run that stops goes on from there")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    parser.add_argument("--limits", nargs=3, type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        child(options.child, tuple(options.limits), options.texts)
        return
    state = Path(options.state) if options.state else None
    rows = [json.loads(line) for line in state.read_text().splitlines()] if state and state.exists() else []
    for row in every(filter(None, options.shapes.split(",")), options.texts, rows):
        rows.append(row)
        print(row, flush=True)
        if state:
            state.write_text("".join(json.dumps(row) + "\n" for row in rows))
    print(report.write("embedders", {"rows": rows}))


if __name__ == "__main__":
    main()
