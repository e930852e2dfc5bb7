"""Which index of vectors mirrors a repository's arrays, and with whose consent."""

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

BESIDE = frozenset({"lancedb", "chroma"})  # files of this machine, beside the index


def mirror_of(
    catalogue: Catalogue,
    name: str,
    settings: Settings,
    embedder: Callable[[], Embedder],
    clock: Clock,
    closing: list[Callable[[], None]],
) -> Mirror | None:
    """Return what keeps a repository's vectors in the index that is set, None for this machine's arrays alone.

    Nothing is opened yet; that raises what `plugins.load` does, and `ConsentError`.
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
    """Return the index that is set, opened for a collection. Raises what `plugins.load` does, and `ConsentError`."""
    kind = settings.search.vectors
    own: dict[str, Any] = {}
    if kind in BUILT_IN["vectors"] and hasattr(settings, kind):  # it has a section of settings
        own = asdict(getattr(settings, kind))
        own.pop("collection", None)
    if kind == "pgvector":  # the database that `storage.url` names, whatever keeps the records
        own = {"url": settings.storage.url, "timeout_s": settings.storage.timeout_s}
    if kind in BESIDE:
        own["directory"] = directory / kind
    index: VectorIndex = load("vectors", kind, collection=collection, model=model, dim=dim, **own)
    return consented("vectors", index, settings, shared=settings.is_shared("search.vectors"))
