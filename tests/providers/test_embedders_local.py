"""Embedders of models on this machine: real ones, made here, small enough to know their vectors by heart."""

from __future__ import annotations

import json
import os
import sys
from http.server import ThreadingHTTPServer

import numpy as np
import pytest
from onnx import TensorProto, checker, helper, numpy_helper, save
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

from loopback import Handler, running
from vademecum.errors import MissingExtraError, PluginError, UsageError
from vademecum.plugins import load
from vademecum.providers.embedders.batches import fingerprint
from vademecum.settings import EmbeddingSettings
from vademecum.testing import check_embedder
from vademecum.types import Passage

DIM = 64
WORDS = [
    *("[PAD]", "[UNK]", "[CLS]", "[SEP]", "def", "read", "path", "return", "open", "where", "is", "a", "file", "the"),
    *("colour", "of", "button", "paint", "files", "write", "budget", "split", "query", "search_query", "document"),
]
TABLE = np.random.default_rng(7).standard_normal((len(WORDS), DIM)).astype(np.float32)
SAYS_LITTLE = [0, 1, 2, 3, *map(WORDS.index, ("a", "the", "of", "is"))]
TABLE[SAYS_LITTLE] *= 0.3


def make_tokenizer(*, special=True):
    """A tokenizer of words, between [CLS] and [SEP] unless it is for a static model."""
    made = Tokenizer(models.WordLevel({word: number for number, word in enumerate(WORDS)}, "[UNK]"))
    made.normalizer = normalizers.Lowercase()
    made.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Whitespace(), pre_tokenizers.Punctuation()])
    if special:
        made.post_processor = processors.TemplateProcessing("[CLS] $A [SEP]", None, [("[CLS]", 2), ("[SEP]", 3)])
    return made


def make_model(*, pools=False):
    """A transformer without layers: the hidden state of a token is its row of TABLE; with `pools`, their masked mean."""
    nodes = [helper.make_node("Gather", ["table", "input_ids"], ["last_hidden_state"])]
    outputs = [helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT, ["batch", "length", DIM])]
    constants = [numpy_helper.from_array(TABLE, "table")]
    if pools:
        nodes += [
            helper.make_node("Cast", ["attention_mask"], ["mask"], to=TensorProto.FLOAT),
            helper.make_node("Unsqueeze", ["mask", "two"], ["column"]),
            helper.make_node("Mul", ["last_hidden_state", "column"], ["kept"]),
            helper.make_node("ReduceSum", ["kept", "one"], ["sum"], keepdims=0),
            helper.make_node("ReduceSum", ["column", "one"], ["count"], keepdims=0),
            helper.make_node("Div", ["sum", "count"], ["sentence_embedding"]),
        ]
        outputs.append(helper.make_tensor_value_info("sentence_embedding", TensorProto.FLOAT, ["batch", DIM]))
        constants += [numpy_helper.from_array(np.array([1]), "one"), numpy_helper.from_array(np.array([2]), "two")]
    inputs = [
        helper.make_tensor_value_info(n, TensorProto.INT64, ["batch", "length"])
        for n in ("input_ids", "attention_mask")
    ]
    graph = helper.make_graph(nodes, "table", inputs, outputs, constants)
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    checker.check_model(made, full_check=True)
    return made


def write_onnx(folder, *, pools=False, place="model.onnx", pooling="", prompts=None):
    """Write a directory as one gets it from a hub."""
    (folder / place).parent.mkdir(parents=True, exist_ok=True)
    save(make_model(pools=pools), folder / place)
    make_tokenizer().save(str(folder / "tokenizer.json"))
    if pooling:
        (folder / "1_Pooling").mkdir()
        (folder / "1_Pooling" / "config.json").write_text(json.dumps({pooling: True}))
    if prompts:
        (folder / "config_sentence_transformers.json").write_text(json.dumps({"prompts": prompts}))
    return folder


def expected(words, pooling="mean"):
    """The vector of a text of known words."""
    rows = TABLE[[2, *map(WORDS.index, words.split()), 3]].astype(np.float64)
    vector = {"mean": rows.mean(axis=0), "cls": rows[0], "last": rows[-1]}[pooling]
    return vector / np.linalg.norm(vector)


def embedded(embedder, text, kind="document"):
    return embedder.embed([Passage(text)], kind).unwrap()[0]


@pytest.mark.parametrize("pools", [False, True])
def test_a_transformer_in_onnx_form_keeps_the_promises(tmp_path, pools):
    """Whether the model pools or we do, whatever the batches."""
    folder = write_onnx(tmp_path / "m", pools=pools)
    embedder = load("embedder", f"onnx:{folder}")
    assert (embedder.dim, embedder.remote) == (DIM, False)
    check_embedder(embedder)
    check_embedder(load("embedder", f"onnx:{folder}", settings=EmbeddingSettings(batch_texts=2, batch_tokens=16)))
    assert np.allclose(embedded(embedder, "read the file"), expected("read the file"), atol=1e-6)


@pytest.mark.parametrize(
    ("pooling", "how"),
    [("pooling_mode_cls_token", "cls"), ("pooling_mode_mean_tokens", "mean"), ("pooling_mode_lasttoken", "last")],
)
def test_a_directory_says_which_tokens_count(tmp_path, pooling, how):
    """As sentence-transformers writes it; padding beside longer texts changes nothing."""
    embedder = load("embedder", f"onnx:{write_onnx(tmp_path / 'm', pooling=pooling)}")
    passages = [Passage("read"), Passage("write the file where the path is open")]
    found = embedder.embed(passages, "document").unwrap()
    assert np.allclose(found[0], expected("read", how), atol=1e-6)
    assert np.allclose(found[1], expected("write the file where the path is open", how), atol=1e-6)


def test_what_a_model_wants_before_a_text_stands_there(tmp_path):
    """By the model's own word, else by what is known of its name."""
    own = load("embedder", f"onnx:{write_onnx(tmp_path / 'own', prompts={'query': 'query ', 'document': ''})}")
    assert np.allclose(embedded(own, "file", "query"), expected("query file"), atol=1e-6)
    assert np.allclose(embedded(own, "file"), expected("file"), atol=1e-6)
    known = load("embedder", f"onnx:{write_onnx(tmp_path / 'CodeRankEmbed')}")
    assert not np.allclose(embedded(known, "file", "query"), embedded(known, "write", "query"), atol=1e-3) or (
        np.allclose(embedded(known, "file", "query"), expected("file", "cls"), atol=1e-6)
    )
    assert np.allclose(embedded(known, "file"), expected("file", "cls"), atol=1e-6)  # its first token


def test_another_file_under_the_same_name_is_another_model(tmp_path):
    """Its name says so, and vectors of different names are never mixed."""
    folder = write_onnx(tmp_path / "m")
    first = load("embedder", f"onnx:{folder}").name
    assert load("embedder", f"onnx:{folder}").name == first
    save(make_model(pools=True), folder / "model.onnx")
    assert load("embedder", f"onnx:{folder}").name != first


def test_long_texts_are_cut(tmp_path):
    """To what is set: memory grows with the square of it."""
    embedder = load("embedder", f"onnx:{write_onnx(tmp_path / 'm')}", settings=EmbeddingSettings(text_tokens=16))
    # 48 characters and 16 tokens are read, of which two are [CLS] and [SEP]
    assert np.allclose(embedded(embedder, "a " * 5_000), expected("a " * 14), atol=1e-6)


def test_models_are_found_by_name_where_they_are_kept(tmp_path):
    """A preset and a name as on the hub, below the directory of models."""
    kept = tmp_path / "models"
    write_onnx(kept / "nomic-ai--CodeRankEmbed", place="onnx/model.onnx")
    for name in ("CodeRankEmbed", "nomic-ai/CodeRankEmbed"):
        assert load("embedder", f"onnx:{name}", models=str(kept)).dim == DIM


@pytest.mark.parametrize("name", ["onnx", "model2vec", "sentence-transformers"])
def test_what_is_not_there_is_not_fetched(tmp_path, name):
    """The message says where to put it, and how to agree to a download."""
    if name == "sentence-transformers":
        pytest.importorskip("sentence_transformers")
    for model, said in (
        (
            "CodeRankEmbed",
            "nomic-ai/CodeRankEmbed is not on this machine: put its files into .*VADE_EMBEDDING__DOWNLOAD=1",
        ),
        ("some/model", "some/model is not on this machine"),
        ("/no/such/place", "is no directory: write .*:DIRECTORY, or one of jina-embeddings-v2-base-code"),
        ("", "is no directory"),
    ):
        with pytest.raises(UsageError, match=said):
            load("embedder", f"{name}:{model}", models=str(tmp_path / "models"))
    assert not (tmp_path / "models").exists()


def test_broken_directories_are_named(tmp_path):
    """What is missing or damaged, and what to do."""
    folder = write_onnx(tmp_path / "m")
    (folder / "model.onnx").write_bytes(b"no model")
    with pytest.raises(PluginError, match=r"model\.onnx cannot be loaded .*: get the model again"):
        load("embedder", f"onnx:{folder}")
    (folder / "model.onnx").unlink()
    with pytest.raises(
        PluginError, match=r"holds no model\.onnx: make it with `optimum-cli export onnx --task feature-extraction"
    ):
        load("embedder", f"onnx:{folder}")
    (folder / "tokenizer.json").write_text("{}")
    with pytest.raises(PluginError, match=r"tokenizer\.json cannot be loaded"):
        load("embedder", f"onnx:{folder}")
    with pytest.raises(PluginError, match=r"holds no model\.safetensors: name a directory that model2vec saved"):
        load("embedder", f"model2vec:{folder}")


@pytest.mark.parametrize(
    ("name", "package"),
    [("onnx", "onnxruntime"), ("model2vec", "model2vec"), ("sentence-transformers", "sentence_transformers")],
)
def test_without_its_packages_the_extra_is_named(monkeypatch, tmp_path, name, package):
    """Where only the core is installed, the error says what to type."""
    monkeypatch.setitem(sys.modules, package, None)
    for module in (
        "embedders.onnx",
        "embedders.model2vec",
        "embedders.sentence_transformers",
        "embedders.onnx_session",
    ):
        monkeypatch.delitem(sys.modules, f"vademecum.providers.{module}", raising=False)
    with pytest.raises(MissingExtraError, match=rf"pip install 'vademecum\[{name}\]'"):
        load("embedder", f"{name}:{tmp_path}")


def test_a_model2vec_table_keeps_the_promises(tmp_path):
    """A table of word vectors, saved as that library saves it."""
    from model2vec import StaticModel

    StaticModel(TABLE, make_tokenizer(special=False)).save_pretrained(str(tmp_path / "m"))
    embedder = load("embedder", f"model2vec:{tmp_path / 'm'}")
    assert (embedder.dim, embedder.remote) == (DIM, False)
    check_embedder(embedder)
    rows = TABLE[[WORDS.index("read"), WORDS.index("file")]].astype(np.float64).mean(axis=0)
    assert np.allclose(embedded(embedder, "read file"), rows / np.linalg.norm(rows), atol=1e-5)


class Hub(ThreadingHTTPServer):
    """A hub that publishes one directory, as the hub's own client asks for it."""

    daemon_threads = True

    def __init__(self, folder):
        super().__init__(("127.0.0.1", 0), HubHandler)
        self.folder = folder
        self.served = []
        self.broken = False


class HubHandler(Handler):
    """Answers one request."""

    def do_GET(self):
        files = [str(p.relative_to(self.server.folder)) for p in self.server.folder.rglob("*") if p.is_file()]
        if self.path.startswith("/api/models/nomic-ai/CodeRankEmbed/tree/"):
            sizes = {name: (self.server.folder / name).stat().st_size for name in files}
            tree = [{"type": "file", "path": name, "size": size, "oid": "b" * 40} for name, size in sizes.items()]
            return self.reply(json.dumps(tree).encode())
        if self.path.startswith("/api/models/nomic-ai/CodeRankEmbed"):
            siblings = [{"rfilename": name} for name in files]
            return self.reply(
                json.dumps(
                    {"id": "nomic-ai/CodeRankEmbed", "sha": "a" * 40, "siblings": siblings, "private": False}
                ).encode()
            )
        name = self.path.partition("/resolve/")[2].partition("/")[2]
        if name in files:
            self.server.served.append(name)
            if self.server.broken and name.endswith(".onnx"):
                return self.send_error(500)
            return self.reply((self.server.folder / name).read_bytes(), name)
        return self.send_error(404)

    do_HEAD = do_GET  # noqa: N815 - its base class looks for this name

    def reply(self, content, name="x"):
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.send_header("ETag", f'"{abs(hash(name)):x}"')
        self.send_header("X-Repo-Commit", "a" * 40)
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(content)


@pytest.fixture
def hub(tmp_path):
    folder = write_onnx(tmp_path / "published", place="onnx/model.onnx")
    (folder / "pytorch_model.bin").write_bytes(b"not wanted")
    with running(Hub(folder)) as server:
        yield server


FETCH = """
import sys
from vademecum.plugins import load
from vademecum.settings import EmbeddingSettings
embedder = load("embedder", "onnx:CodeRankEmbed", settings=EmbeddingSettings(download=True), models=sys.argv[1])
print(embedder.dim)
"""


def test_a_model_is_fetched_once_when_that_was_agreed_to(hub, tmp_path):
    """With the hub's own client, what is needed and no more; a fetch that broke leaves nothing that looks whole."""
    import subprocess

    def fetch():
        place = f"http://127.0.0.1:{hub.server_port}"
        environ = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path), "HF_ENDPOINT": place, "HF_HOME": str(tmp_path / "hf"),
                                "HF_HUB_DISABLE_TELEMETRY": "1", "HF_HUB_DISABLE_XET": "1", "HF_HUB_DISABLE_PROGRESS_BARS": "1"}  # fmt: skip
        command = [sys.executable, "-c", FETCH, str(tmp_path / "models")]
        return subprocess.run(command, check=False, env=environ, capture_output=True, text=True, timeout=120)

    hub.broken = True
    failed = fetch()
    assert "nomic-ai/CodeRankEmbed cannot be fetched" in failed.stderr
    assert not (tmp_path / "models" / "nomic-ai--CodeRankEmbed").exists()
    hub.broken = False
    fetched = fetch()
    assert fetched.stdout.strip() == str(DIM), fetched.stderr
    assert "pytorch_model.bin" not in hub.served
    hub.served.clear()
    assert fetch().stdout.strip() == str(DIM)
    assert hub.served == []


def test_a_file_is_known_by_its_size_and_its_ends(tmp_path):
    """Without reading half a gigabyte at every start."""
    path = tmp_path / "x"
    path.write_bytes(bytes(300_000))
    first = fingerprint(path)
    assert fingerprint(path) == first
    for content in (bytes(300_001), b"\1" + bytes(299_999), bytes(299_999) + b"\1"):
        path.write_bytes(content)
        assert fingerprint(path) != first


# torch is half a gigabyte at least, so it has a group of its own in pyproject.toml. `.ci/run` installs it on one Python, where
# this test fails rather than being left out.
@pytest.mark.skipif(not os.environ.get("VADE_TEST_TORCH"), reason="torch is not installed: make test TORCH=1")
def test_a_sentence_transformer_keeps_the_promises(tmp_path):
    """A real BERT of one small layer, with word vectors that are known, saved and loaded as any other; its own prompts are used."""
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Pooling, Transformer
    from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

    base = tmp_path / "bert"
    config = BertConfig(
        vocab_size=len(WORDS), hidden_size=DIM, num_hidden_layers=1, num_attention_heads=2, intermediate_size=64,
        max_position_embeddings=64, initializer_range=0.02, layer_norm_eps=1.0,
    )  # fmt: skip
    bert = BertModel(config).eval()
    told = TABLE.copy()
    told[SAYS_LITTLE] *= 0.1  # little also after a layer that normalises
    bert.embeddings.word_embeddings.weight.data = torch.tensor(told)
    for other in (bert.embeddings.position_embeddings, bert.embeddings.token_type_embeddings):
        other.weight.data.zero_()
    bert.save_pretrained(base)
    names = {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
    PreTrainedTokenizerFast(tokenizer_object=make_tokenizer(), **names).save_pretrained(base)
    part = Transformer(str(base), max_seq_length=32)
    model = SentenceTransformer(
        modules=[part, Pooling(DIM, "mean")], prompts={"query": "query ", "document": ""}, device="cpu"
    )
    model.save(str(tmp_path / "m"))
    embedder = load("embedder", f"sentence-transformers:{tmp_path / 'm'}")
    assert (embedder.dim, embedder.remote) == (DIM, False)
    check_embedder(embedder)
    asked = model.encode("query where is the file", prompt="", normalize_embeddings=True)
    assert np.allclose(embedded(embedder, "where is the file", "query"), asked, atol=1e-5)
