"""Which embedders were chosen: one, or one for code and one for prose, loaded when first needed, with whose consent."""

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

MODELS = "models"  # the directory, below that of all data, of models that were fetched
SCALES = "scales"  # and the one where it is kept how two embedders compare
ON_THIS_MACHINE = frozenset({"onnx", "model2vec", "sentence-transformers"})
ON_SERVERS = frozenset({"ollama", "openai", "voyage"})


@dataclass(frozen=True, slots=True)
class Chosen:
    """The embedders of an engine. Each is loaded by the first call; that raises what `plugins.load` does, and `ConsentError`.

    Attributes:
        derived: the name of the one that runs beside the parser, "" where vectors are made later and kept.
        loaded: returns the one that compares code and documents, of two parts where they have one each.
        code: returns the one for code.
        prose: returns the one for prose alone, for what tools say of themselves.
    """

    derived: str
    loaded: Callable[[], Embedder]
    code: Callable[[], Embedder]
    prose: Callable[[], Embedder]

    @property
    def steady(self) -> Callable[[], Embedder]:
        """What loads the embedder of memory: that for prose, and words alone while it fails."""

        @cache
        def loaded() -> Embedder:
            return self.prose() if self.derived else SteadyEmbedder(self.prose())

        return loaded


def embedding(settings: Settings, embedder: Embedder | str | None) -> Chosen:
    """Return what `embedder` says, which then reads everything, or else the settings."""
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
    """Return an embedder by name, with the settings that are its own. Raises what `plugins.load` does."""
    found: Embedder = load("embedder", spec, **arguments(spec.partition(":")[0], settings))
    return found


def arguments(name: str, settings: Settings) -> dict[str, Any]:
    """Return what a built-in embedder is told besides its model: {} for those that need nothing, and for others' own."""
    if name in ON_THIS_MACHINE:
        return {"settings": settings.embedding, "models": str(settings.home / MODELS)}
    return {"settings": settings.embedding} if name in ON_SERVERS else {}
