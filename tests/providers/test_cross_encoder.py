"""A cross-encoder from a directory: a real model, made here, that counts the words question and passage share."""

from __future__ import annotations

import json
import shutil
import sys

import numpy as np
import pytest
from onnx import TensorProto, checker, helper, numpy_helper, save
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

from vademecum.errors import MissingExtraError, PluginError, RerankError, UsageError
from vademecum.plugins import load
from vademecum.testing import check_reranker
from vademecum.types import Passage

WORDS = [
    "[PAD]",
    "[UNK]",
    "[CLS]",
    "[SEP]",
    *["read", "write", "file", "socket", "retry", "budget", "split", "token", "def", "open", "the", "a", "is"],
]
PASSAGES = [
    Passage("def write(socket): ...", "def write(socket)", "a.py"),
    Passage("def read(file): open", "def read(file)", "b.py"),
    Passage("split the budget", "", "c.py"),
]


def make_tokenizer():
    """A tokenizer of words, with the pairs of BERT: [CLS] question [SEP] passage [SEP]."""
    made = Tokenizer(models.WordLevel({word: number for number, word in enumerate(WORDS)}, "[UNK]"))
    made.normalizer = normalizers.Lowercase()
    made.pre_tokenizer = pre_tokenizers.Whitespace()
    made.post_processor = processors.TemplateProcessing(
        "[CLS] $A [SEP]", "[CLS] $A [SEP] $B:1 [SEP]:1", [("[CLS]", 2), ("[SEP]", 3)]
    )
    return made


def make_model(labels=1):
    """A classifier whose last logit is the number of equal pairs of a known word of the question and of the passage.

    The other logits are 0. Inputs are those of BERT, int64 (batch, length); the output is float32 (batch, labels).
    """
    nodes = [
        ("Greater", ["input_ids", "three"], ["word"]),  # neither special nor unknown
        ("Cast", ["word"], ["words"], {"to": TensorProto.INT64}),
        ("Mul", ["words", "attention_mask"], ["seen"]),
        ("Mul", ["seen", "token_type_ids"], ["passage"]),
        ("Sub", ["seen", "passage"], ["question"]),
        ("Unsqueeze", ["input_ids", "axis1"], ["across"]),
        ("Unsqueeze", ["input_ids", "axis2"], ["down"]),
        ("Equal", ["across", "down"], ["same"]),
        ("Cast", ["same"], ["pairs"], {"to": TensorProto.INT64}),
        ("Unsqueeze", ["question", "axis2"], ["from_question"]),
        ("Unsqueeze", ["passage", "axis1"], ["from_passage"]),
        ("Mul", ["pairs", "from_question"], ["half"]),
        ("Mul", ["half", "from_passage"], ["shared"]),
        ("ReduceSum", ["shared", "axes"], ["count"], {"keepdims": 0}),
        ("Unsqueeze", ["count", "axis1"], ["column"]),
        ("Cast", ["column"], ["score"], {"to": TensorProto.FLOAT}),
        ("MatMul", ["score", "last"], ["logits"]),
    ]
    constants = {"three": np.array(3), "axis1": np.array([1]), "axis2": np.array([2]), "axes": np.array([1, 2])}
    last = np.zeros((1, labels), np.float32)
    last[0, -1] = 1
    graph = helper.make_graph(
        [helper.make_node(op, inputs, outputs, **(more[0] if more else {})) for op, inputs, outputs, *more in nodes],
        "overlap",
        [helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "length"])
         for name in ("input_ids", "attention_mask", "token_type_ids")],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", labels])],
        [numpy_helper.from_array(value, name) for name, value in constants.items()] + [numpy_helper.from_array(last, "last")],
    )  # fmt: skip
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    checker.check_model(made, full_check=True)
    return made


def write_model(folder, *, labels=1, place="model.onnx", **tokenizer_config):
    """Write a directory as one gets it from a model hub."""
    (folder / place).parent.mkdir(parents=True, exist_ok=True)
    save(make_model(labels), folder / place)
    make_tokenizer().save(str(folder / "tokenizer.json"))
    (folder / "tokenizer_config.json").write_text(json.dumps({"model_max_length": 64} | tokenizer_config))
    (folder / "config.json").write_text(json.dumps({"model_type": "bert", "pad_token_id": 0}))
    return folder


@pytest.fixture
def folder(tmp_path):
    """A directory with a model."""
    return write_model(tmp_path / "model")


def scores(folder, query="read the file", passages=PASSAGES):
    return load("reranker", f"cross-encoder:{folder}").rerank(query, passages).unwrap()


def test_it_keeps_the_promises_of_a_reranker(folder):
    """A score for each passage, none of them, many and long ones included."""
    reranker = load("reranker", f"cross-encoder:{folder}")
    assert reranker.remote is False
    check_reranker(reranker)


def test_question_and_passage_are_read_together(folder):
    """The scores are the model's own: shared words, the title counted where the text does not say it."""
    assert scores(folder) == [0.0, 2.0, 1.0]
    assert scores(folder, "socket", [Passage("nothing", "def open(socket)")]) == [1.0]


def test_a_score_does_not_depend_on_what_is_padded_beside_it(folder):
    """Alone or in a batch with longer ones, a passage has the same score."""
    many = [Passage("read " * n) for n in range(1, 30)]
    assert scores(folder, "read", many) == [s for each in many for s in scores(folder, "read", [each])]


def test_of_two_classes_the_second_is_yes(tmp_path):
    """A model that answers no or yes scores by how much more yes than no it says."""
    assert scores(write_model(tmp_path, labels=2)) == [0.0, 2.0, 1.0]


def test_no_more_is_read_than_the_model_takes(tmp_path):
    """A long passage is cut at `model_max_length`, as is any at 512 tokens where that is larger or absurd."""
    long = [Passage("read " * 3_000)]
    assert scores(write_model(tmp_path / "a"), "read", long) == [64.0 - 4]
    assert scores(write_model(tmp_path / "b", model_max_length=10**30), "read", long) == [512.0 - 4]


@pytest.mark.parametrize("place", ["onnx/model.onnx", "onnx/model_quantized.onnx"])
def test_the_layouts_of_hubs_are_known(tmp_path, place):
    """The model may lie in `onnx/`, or be there in a quantised form only."""
    assert scores(write_model(tmp_path, place=place)) == [0.0, 2.0, 1.0]


def test_a_tokenizer_that_pads_keeps_its_own_way(folder):
    """Padding that a tokenizer brings, to a fixed length as some do, becomes padding to the longest."""
    made = make_tokenizer()
    made.enable_padding(length=50, pad_id=0, pad_token="[PAD]")
    made.save(str(folder / "tokenizer.json"))
    assert scores(folder) == [0.0, 2.0, 1.0]


@pytest.mark.parametrize("name", ["", "/no/such/place", "cross-encoder/ms-marco-MiniLM-L6-v2"])
def test_a_name_that_is_no_directory_is_refused_and_never_fetched(name):
    """A hub's name is not a directory here: nothing is downloaded."""
    with pytest.raises(UsageError, match="is no directory: write cross-encoder:DIRECTORY"):
        load("reranker", f"cross-encoder:{name}")


@pytest.mark.parametrize(
    ("missing", "said"),
    [("model.onnx", "holds no model.onnx: make it with `optimum-cli export onnx"), ("tokenizer.json", "holds no tokenizer.json")],
)  # fmt: skip
def test_what_is_missing_is_named(folder, missing, said):
    """With how to make it."""
    (folder / missing).unlink()
    with pytest.raises(PluginError, match=said):
        load("reranker", f"cross-encoder:{folder}")


@pytest.mark.parametrize("damaged", ["model.onnx", "tokenizer.json", "tokenizer_config.json"])
@pytest.mark.parametrize("content", [b"", b"not what it should be", b'{"version": "1.0"'])
def test_a_file_that_is_damaged_is_named(folder, damaged, content, capfd):
    """In one line, with nothing beside it on any stream."""
    (folder / damaged).write_bytes(content)
    with pytest.raises(
        PluginError, match=r"model/(model.onnx|tokenizer.json) cannot be loaded \(.*\): get the model again"
    ):
        load("reranker", f"cross-encoder:{folder}")
    assert capfd.readouterr() == ("", "")


def test_a_classifier_of_topics_is_no_reranker(tmp_path):
    """Many classes are a failure that is named, not an order by the first of them."""
    with pytest.raises(RerankError, match=r"sorts into 5 classes.*take another model"):
        scores(write_model(tmp_path, labels=5))


def test_a_model_of_pictures_is_no_reranker(folder):
    """What a model asks for is looked at before it is used."""
    value = helper.make_tensor_value_info("pixel_values", TensorProto.FLOAT, [1])
    out = helper.make_tensor_value_info("logits", TensorProto.FLOAT, [1])
    graph = helper.make_graph([helper.make_node("Identity", ["pixel_values"], ["logits"])], "g", [value], [out])
    save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), folder / "model.onnx")
    with pytest.raises(PluginError, match="asks for 'pixel_values': take one that classifies text"):
        load("reranker", f"cross-encoder:{folder}")


def test_a_home_directory_may_be_written_short(folder, monkeypatch):
    """`~` is the user's home."""
    shutil.copytree(folder, folder.parent / "home" / "model")
    monkeypatch.setenv("HOME", str(folder.parent / "home"))
    assert scores("~/model") == [0.0, 2.0, 1.0]


def test_inputs_are_what_the_model_asks_for(folder):
    """A model without segments, fed whole numbers of 32 bits, as some exports are."""
    inputs = [helper.make_tensor_value_info(name, TensorProto.INT32, ["batch", "length"])
              for name in ("input_ids", "attention_mask")]  # fmt: skip
    nodes = [helper.make_node("Mul", ["input_ids", "attention_mask"], ["seen"]),
             helper.make_node("Cast", ["seen"], ["numbers"], to=TensorProto.FLOAT),
             helper.make_node("ReduceMax", ["numbers"], ["logits"], axes=[1], keepdims=1)]  # fmt: skip
    out = helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", 1])
    made = helper.make_model(
        helper.make_graph(nodes, "g", inputs, [out]), opset_imports=[helper.make_opsetid("", 17)], ir_version=8
    )
    save(made, folder / "model.onnx")
    assert scores(folder) == [15.0, 14.0, 14.0]


def test_a_search_is_reranked_by_it(repo, engine, folder):
    """From a question to an answer in the model's order, loaded once for as long as the engine is open."""
    codebase = engine(repo(), search__reranker=f"cross-encoder:{folder}").codebase
    asked = "split the token budget"
    answer = codebase.search(asked, k=3)
    shutil.rmtree(folder)
    assert codebase.search(asked, k=3) == answer
    signals = [each.signals["rerank"] for each in answer.evidence]
    assert signals == sorted(signals, reverse=True)
    assert signals[0] > 0
    assert answer.reason == ""
    assert {each.id for each in answer.evidence} <= {
        e.id for e in codebase.search(asked, k=20, reranker="none").evidence
    }


def test_a_model_that_fails_leaves_the_order(repo, engine, tmp_path):
    """A failure of the model is said in the answer, which stands as ranked."""
    codebase = engine(repo()).codebase
    ranked = codebase.search("split the token budget")
    answer = codebase.search(
        "split the token budget", reranker=f"cross-encoder:{write_model(tmp_path / 'm', labels=7)}"
    )
    assert answer.reason.startswith("not reranked: cross-encoder:")
    assert answer.evidence == ranked.evidence


def test_without_its_packages_the_extra_is_named(monkeypatch, folder):
    """Where only the core is installed, the error says what to type."""
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    for module in ("cross_encoder", "embedders.onnx"):
        monkeypatch.delitem(sys.modules, f"vademecum.providers.{module}", raising=False)
    with pytest.raises(
        MissingExtraError, match=r"needs the package 'onnxruntime': pip install 'vademecum\[cross-encoder\]'"
    ):
        load("reranker", f"cross-encoder:{folder}")
