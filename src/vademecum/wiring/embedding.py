"""Embedders: one for everything, or one for code and one for prose.

They are loaded when first needed, after checking consent.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

from vademecum.config import Settings
from vademecum.embedding.dual_embedder import DualEmbedder
from vademecum.embedding.fallback_embedder import SteadyEmbedder
from vademecum.plugins import DERIVED, load
from vademecum.protocols import Embedder
from vademecum.wiring.consent import consented

MODELS = "models"  # folder of downloaded models, below the home directory
SCALES = "scales"  # folder of calibrations between two embedders
ON_THIS_MACHINE = frozenset({"onnx", "model2vec", "sentence-transformers"})
ON_SERVERS = frozenset({"ollama", "openai", "voyage"})


@dataclass(frozen=True, slots=True)
class Chosen:
    """The embedders of an engine, loaded at the first call.

    That call raises the errors of `plugins.load`, and `ConsentError`.

    Attributes:
        derived: the name of the embedder that runs beside the parser, "" when vectors are computed later and stored.
        loaded: returns the embedder for code and documents, a `DualEmbedder` when code and prose have one each.
        code: returns the embedder for code.
        prose: returns the embedder for prose alone, such as descriptions of tools.
    """

    derived: str
    loaded: Callable[[], Embedder]
    code: Callable[[], Embedder]
    prose: Callable[[], Embedder]

    @property
    def steady(self) -> Callable[[], Embedder]:
        """Loader of memory's embedder, with a fallback to words alone.

        The fallback applies while the prose embedder fails.
        """

        @cache
        def loaded() -> Embedder:
            return self.prose() if self.derived else SteadyEmbedder(self.prose())

        return loaded


def embedding(settings: Settings, embedder: Embedder | str | None) -> Chosen:
    """Return the embedders: `embedder` for everything, or those of the settings."""
    spec = settings.search.embedder if embedder is None else embedder
    prose_spec = settings.search.prose_embedder if embedder is None else ""

    @cache
    def first() -> Embedder:
        shared = embedder is None and settings.is_shared("search.embedder")
        found = load_embedder(spec, settings) if isinstance(spec, str) else spec
        return consented("embedder", found, settings, shared=shared)

    if prose_spec in {"", spec}:
        derived = spec if isinstance(spec, str) and spec.partition(":")[0] in DERIVED else ""
        return Chosen(derived, first, first, first)

    @cache
    def prose() -> Embedder:
        shared = settings.is_shared("search.prose_embedder")
        return consented("prose embedder", load_embedder(prose_spec, settings), settings, shared=shared)

    @cache
    def both() -> Embedder:
        return DualEmbedder(first(), prose(), settings.home / SCALES)

    return Chosen("", both, first, prose)


def load_embedder(spec: str, settings: Settings) -> Embedder:
    """Load an embedder by name, with its settings.

    Raises the errors of `plugins.load`.
    """
    found: Embedder = load("embedder", spec, **arguments(spec.partition(":")[0], settings))
    return found


def arguments(name: str, settings: Settings) -> dict[str, Any]:
    """Return the keyword arguments of a built-in embedder besides its model.

    {} for an embedder without settings, or one that is not built in.
    """
    if name in ON_THIS_MACHINE:
        return {"settings": settings.embedding, "models": str(settings.home / MODELS)}
    return {"settings": settings.embedding} if name in ON_SERVERS else {}
