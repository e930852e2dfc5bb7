"""Checks of `vade doctor`: providers that answer, data that leaves.

Each configured provider gets a small task. Each destination outside of this machine is listed with the consent for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from vademecum.config import Settings
from vademecum.errors import ConsentError, Error
from vademecum.plugins import WITHOUT_PROVIDER
from vademecum.result import Ok, Result
from vademecum.settings import SourceSettings
from vademecum.sources.sources import open_provider
from vademecum.types import Check, Passage
from vademecum.wiring.parts import Parts
from vademecum.wiring.roots import CHOSEN_BY, consented
from vademecum.wiring.stores import Stores

LEAVES = "leaves this machine"
_TRIED = Passage("def open_file(path): return open(path)", "open_file", "files.py")


Loader = tuple[Callable[[], Any], Callable[[Any], Result[Any, Any]]]


def check_providers(settings: Settings) -> list[Check]:
    """Try each provider, and list the data that leaves this machine.

    Embedders are tried with their repository, not here.
    """
    loaders = _loaders(Parts(settings))
    tried = [_tried(kind, *loaders[kind]) for kind in ("reranker", "enricher", "extractor") if kind in loaders]
    return [*tried, *_leaving(settings, loaders)]


def _loaders(parts: Parts) -> dict[str, Loader]:
    settings, embedders = parts.settings, parts.embedders
    found: dict[str, Loader] = {"embedder": (lambda: embedders.code, lambda p: p.embed([_TRIED], "query"))}
    if embedders.is_dual:
        found["prose embedder"] = (lambda: embedders.prose, lambda p: p.embed([_TRIED], "query"))
    if settings.search.vectors != "exact":  # tried with the repository it mirrors, not here
        found["vectors"] = (lambda: parts.vector_index("", "", 1, settings.home), Ok)
    if settings.search.reranker not in WITHOUT_PROVIDER["reranker"]:
        found["reranker"] = (lambda: parts.reranking("").provider, lambda p: p.rerank("open a file", [_TRIED]))
    if settings.enrich.provider:
        found["enricher"] = (lambda: parts.enricher[0], lambda p: p.sentence(_TRIED))
    if settings.memory.extractor not in WITHOUT_PROVIDER["extractor"]:
        said = Passage("I always use pytest.", "1", "user")
        found["extractor"] = (parts.extractor, lambda p: p.read([said]))
    return found


def _tried(kind: str, load: Callable[[], Any], task: Callable[[Any], Result[Any, Any]]) -> Check:
    try:
        provider = load()
        task(provider).unwrap()
    except Error as error:
        return Check(
            kind, ok=False, detail=str(error), fix=f"see the message, or choose another with {CHOSEN_BY[kind][0]}"
        )
    return Check(kind, ok=True, detail=f"{provider.name} answers")


def _leaving(settings: Settings, loaders: dict[str, Loader]) -> list[Check]:
    """Return one check for each destination, or one for "nothing"."""
    agreed = settings.origin("privacy.allow_remote")
    found = []
    for way_out in _ways_out(settings, loaders):
        try:
            if way := way_out():
                what, place, who, chosen = way
                place = place or "where its author says"
                found.append(f"{what} to {place}, by {who} (chosen in {chosen}, agreed in {agreed})")
        except ConsentError as refused:
            found.append(f"not yet: {refused}")
        except Error:  # what cannot be opened sends nothing; its own check says why
            continue
    if settings.embedding.download:
        origin = settings.origin("embedding.download")
        found.append(f"names of models, to a hub that they are fetched from (agreed in {origin})")
    found = found or [f"nothing (looked at: {', '.join(loaders)})"]
    return [Check(LEAVES, ok=True, detail=said) for said in found]


Way = tuple[str, str, str, str]  # the data, its destination, the sender, and the layer that chose the sender


def _ways_out(settings: Settings, loaders: dict[str, Loader]) -> Iterator[Callable[[], Way | None]]:
    """Yield a function for each possible sender.

    It returns None for one that sends nothing to another machine.
    """
    yield partial(_store_out, settings)
    for kind, (load, _) in loaders.items():
        yield partial(_provider_out, settings, kind, load)
    for name, own in settings.sources.items():
        yield partial(_source_out, settings, name, own)


def _store_out(settings: Settings) -> Way | None:
    place = Stores(settings).elsewhere()
    sender = f"store {settings.storage.provider}"
    return ("code and memory", place, sender, settings.origin("storage.url")) if place else None


def _provider_out(settings: Settings, kind: str, load: Callable[[], Any]) -> Way | None:
    provider, (setting, what) = load(), CHOSEN_BY[kind]
    place, sender = getattr(provider, "address", ""), f"{kind} {provider.name}"
    return (what, place, sender, settings.origin(setting)) if provider.remote else None


def _source_out(settings: Settings, name: str, own: SourceSettings) -> Way | None:
    kind, provider = open_provider(name, own)
    consented(kind, provider, settings, shared=False)
    place, chosen = str(own.options.get("url") or ""), own.origins.get("provider", "argument")
    return (CHOSEN_BY[kind][1], place, f"source {name} ({own.provider})", chosen) if provider.remote else None
