"""Mirroring: a repository's vectors in an external index, with consent."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from vademecum.code.snapshot.mirror import Mirror
from vademecum.code.snapshot.store import Catalogue
from vademecum.config import Settings
from vademecum.plugins import BUILT_IN, load
from vademecum.protocols import Clock, Embedder, VectorIndex
from vademecum.wiring.consent import consented

BESIDE = frozenset({"lancedb", "chroma"})  # stored as local files beside the index


def mirror_of(
    catalogue: Catalogue,
    name: str,
    settings: Settings,
    embedder: Callable[[], Embedder],
    clock: Clock,
    closing: list[Callable[[], None]],
) -> Mirror | None:
    """Return the mirror of a repository's vectors, None without one.

    None means that `search.vectors` is "exact": local arrays alone. The mirror connects at its first use; connecting
    raises the errors of `plugins.load`, and `ConsentError`.
    """
    kind = settings.search.vectors
    if kind == "exact":
        return None
    prefix = getattr(getattr(settings, kind, None), "collection", "vademecum")

    def connect(collection: str, model: str, dim: int) -> VectorIndex:
        return vector_index(settings, collection, model, dim, catalogue.directory)

    mirror = Mirror(kind, f"{prefix}-{name}", connect, catalogue=catalogue, repo=name, embedder=embedder, clock=clock)
    closing.append(mirror.close)
    return mirror


def vector_index(settings: Settings, collection: str, model: str, dim: int, directory: Path) -> VectorIndex:
    """Open the configured vector index for a collection.

    Raises the errors of `plugins.load`, and `ConsentError`.
    """
    kind = settings.search.vectors
    own: dict[str, Any] = {}
    if kind in BUILT_IN["vectors"] and hasattr(settings, kind):  # such a kind has its own section of settings
        own = asdict(getattr(settings, kind))
        own.pop("collection", None)
    if kind == "pgvector":  # the database of `storage.url`, even when records are in files
        own = {"url": settings.storage.url, "timeout_s": settings.storage.timeout_s}
    if kind in BESIDE:
        own["directory"] = directory / kind
    index: VectorIndex = load("vectors", kind, collection=collection, model=model, dim=dim, **own)
    return consented("vectors", index, settings, shared=settings.is_shared("search.vectors"))
