"""Providers by name, imported only when chosen.

A provider is named `name[:model]`. A table lists the built-in ones; others come from installed distributions with
an entry point in the group `vademecum.<kind>`:

    [project.entry-points."vademecum.embedder"]
    mine = "my_package:MyEmbedder"

Two providers of one name are an error, never a silent replacement: only the chosen provider may see private code.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from vademecum.errors import MissingExtraError, PluginError, UnknownProviderError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

# kind → name → ("module:attribute", our extra that installs its requirements)
BUILT_IN: Mapping[str, Mapping[str, tuple[str, str]]] = {
    "backlog": {
        "azure-devops": ("vademecum.providers.azure_devops:AzureDevOps", ""),
        "clickup": ("vademecum.providers.clickup:ClickUp", ""),
        "jira": ("vademecum.providers.atlassian:Jira", ""),
    },
    "counter": {
        "pattern": ("vademecum.index.tokenize:PatternCounter", ""),
        "tokenizer": ("vademecum.providers.tokenizer_counter:FileCounter", "tokenizer"),
    },
    "documents": {
        "confluence": ("vademecum.providers.atlassian:Confluence", ""),
        "folder": ("vademecum.providers.folder:Folder", ""),
        "sharepoint": ("vademecum.providers.sharepoint:SharePoint", ""),
    },
    "embedder": {
        "static": ("vademecum.providers.embedders.static:StaticEmbedder", ""),
        "hashing": ("vademecum.providers.embedders.hashing:HashingEmbedder", ""),
        "onnx": ("vademecum.providers.embedders.onnx:OnnxEmbedder", "onnx"),
        "model2vec": ("vademecum.providers.embedders.model2vec:Model2VecEmbedder", "model2vec"),
        "sentence-transformers": (
            "vademecum.providers.embedders.sentence_transformers:SentenceTransformersEmbedder",
            "sentence-transformers",
        ),
        "ollama": ("vademecum.providers.embedders.served:OllamaEmbedder", ""),
        "openai": ("vademecum.providers.embedders.served:OpenAiEmbedder", ""),
        "voyage": ("vademecum.providers.embedders.served:VoyageEmbedder", ""),
    },
    "enricher": {
        "ollama": ("vademecum.providers.llm:OllamaEnricher", ""),
        "openai": ("vademecum.providers.llm:OpenAiEnricher", ""),
    },
    "reranker": {
        "llm": ("vademecum.providers.llm:LlmReranker", ""),
        "cross-encoder": ("vademecum.providers.cross_encoder:CrossEncoderReranker", "cross-encoder"),
    },
    "extractor": {"llm": ("vademecum.providers.llm:LlmExtractor", "")},
    "searcher": {"postgres": ("vademecum.storage.postgres.searcher:PostgresSearch", "postgres")},
    "server": {
        "stdio": ("vademecum.providers.servers.stdio:StdioServer", ""),
        "http": ("vademecum.providers.servers.http:HttpServer", "mcp"),
    },
    "store": {
        "sqlite": ("vademecum.storage.sqlite:SqliteStore", ""),
        "postgres": ("vademecum.storage.postgres.store:PostgresStore", "postgres"),
    },
    "vectors": {
        "exact": ("vademecum.storage.collection:ExactIndex", ""),
        "pgvector": ("vademecum.storage.postgres.pgvector:PgvectorIndex", "postgres"),
        "qdrant": ("vademecum.storage.qdrant:QdrantIndex", "qdrant"),
        "lancedb": ("vademecum.storage.lancedb:LanceIndex", "lancedb"),
        "chroma": ("vademecum.storage.chroma:ChromaIndex", "chroma"),
    },
}
# Fast embedders, whose vectors are recomputed instead of stored: they run beside the parser (docs/decisions/0008).
DERIVED = frozenset({"static", "hashing"})
# Names that select no provider; no provider may take them.
WITHOUT_PROVIDER: Mapping[str, tuple[str, ...]] = {"reranker": ("built-in", "none"), "extractor": ("rules",)}


def load(kind: str, spec: str, **arguments: Any) -> Any:
    """Return a new provider.

    Args:
        kind: A key of `BUILT_IN`: "embedder", "reranker", "store", …
        spec: `name` or `name:model`; the model is passed as the argument `model`.
        arguments: Passed to the provider.

    Raises:
        UnknownProviderError: No provider has this name.
        MissingExtraError: The provider needs a package that is not installed.
        PluginError: Two providers have the name, or the provider is broken.
    """
    name, _, model = spec.partition(":")
    provider = find(kind, name)
    return provider(**({"model": model} if model else {}), **arguments)


def find(kind: str, name: str) -> Any:
    """Return the provider's class or factory, uncalled. Raises as `load` does."""
    built_in = BUILT_IN.get(kind, {})
    if name in built_in:
        target, extra = built_in[name]
        return _resolve(kind, name, target, f"vademecum[{extra}]" if extra else "")
    entries = _entry_points(kind)
    if name not in entries:
        from difflib import get_close_matches

        known = sorted(_ours(kind) | {*entries})
        close = get_close_matches(name, known, n=1)
        hint = f"did you mean {close[0]!r}?" if close else f"there are {', '.join(known) or 'none'}"
        raise UnknownProviderError(f"no {kind} is called {name!r}: {hint}")
    return _resolve(kind, name, entries[name].value, "")


def names(kind: str) -> list[str]:
    """Return a kind's provider names, sorted. Raises `PluginError` for a clash."""
    entries = _entry_points(kind)
    return sorted({*BUILT_IN.get(kind, {}), *entries})


def _ours(kind: str) -> set[str]:
    """Return the names that third parties cannot have."""
    return {*BUILT_IN.get(kind, {}), *WITHOUT_PROVIDER.get(kind, ())}


def _entry_points(kind: str) -> dict[str, EntryPoint]:
    """List the providers that installed distributions declare, which is slow."""
    from importlib.metadata import entry_points

    found: dict[str, EntryPoint] = {}
    for entry in entry_points(group=f"vademecum.{kind}"):
        known = found.setdefault(entry.name, entry)
        # A distribution that is twice on sys.path gives the same value twice, which is no clash.
        if known.value != entry.value or entry.name in _ours(kind):
            rival = known.value if known.value != entry.value else "a built-in one"
            origin = entry.dist.name if entry.dist else "an unnamed distribution"
            raise PluginError(
                f"two {kind}s are called {entry.name!r}: {rival} and {entry.value} (from {origin}): uninstall one"
            )
    return found


def _resolve(kind: str, name: str, target: str, requirement: str) -> Any:
    module_name, _, attribute = target.partition(":")
    try:
        return getattr(importlib.import_module(module_name), attribute)
    except ModuleNotFoundError as error:
        missing = error.name or str(error)
        if module_name == missing or module_name.startswith(f"{missing}."):
            raise PluginError(f"{kind} {name!r} is broken: there is no module {missing!r}: reinstall it") from error
        raise MissingExtraError(
            f"{kind} {name!r} needs the package {missing!r}: pip install '{requirement or missing}'"
        ) from error
    except AttributeError as error:
        raise PluginError(f"{kind} {name!r} is broken: {module_name} has no {attribute!r}: reinstall it") from error
