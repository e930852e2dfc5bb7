"""Checks of `vade doctor`: providers that answer, data that leaves.

Each configured provider gets a small task. Each destination outside of this machine is listed with the consent for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from vademecum.config import Settings
from vademecum.errors import ConsentError, Error
from vademecum.plugins import WITHOUT_PROVIDER
from vademecum.result import Ok, Result
from vademecum.sources.sources import open_provider
from vademecum.types import Check, Passage
from vademecum.wiring.consent import CHOSEN_BY, consented
from vademecum.wiring.parts import Parts
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
    """Return each configured provider's loader and small task, by kind."""
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
    found = [*_store_out(settings), *_ways_out(settings, loaders), *_sources_out(settings)]
    if settings.embedding.download:
        origin = settings.origin("embedding.download")
        found.append(
            Check(LEAVES, ok=True, detail=f"names of models, to a hub that they are fetched from (agreed in {origin})")
        )
    return found or [Check(LEAVES, ok=True, detail=f"nothing (looked at: {', '.join(loaders)})")]


def _store_out(settings: Settings) -> Iterator[Check]:
    """Yield a check for a shared database on another machine."""
    try:
        place = Stores(settings).elsewhere()
    except ConsentError as refused:
        yield Check(LEAVES, ok=True, detail=f"not yet: {refused}")
        return
    except Error:  # nothing can be stored there; the other checks say why
        return
    if place:
        yield _way_out(
            settings, "code and memory", place, f"store {settings.storage.provider}", settings.origin("storage.url")
        )


def _ways_out(settings: Settings, loaders: dict[str, Loader]) -> Iterator[Check]:
    for kind, (load, _) in loaders.items():
        setting, what = CHOSEN_BY[kind]
        try:
            provider = load()
        except ConsentError as refused:
            yield Check(LEAVES, ok=True, detail=f"not yet: {refused}")
            continue
        except Error:  # a provider that fails to load sends nothing; its own check says why
            continue
        if provider.remote:
            place, who = getattr(provider, "address", ""), f"{kind} {provider.name}"
            yield _way_out(settings, what, place, who, settings.origin(setting))


def _sources_out(settings: Settings) -> Iterator[Check]:
    """Yield a check for each source that `vade sync` asks remotely."""
    for name, own in settings.sources.items():
        try:
            kind, provider = open_provider(name, own)
            consented(kind, provider, settings, shared=False)
        except ConsentError as refused:
            yield Check(LEAVES, ok=True, detail=f"not yet: {refused}")
            continue
        except Error:  # the source's own check says what is wrong
            continue
        if provider.remote:
            place, chosen = str(own.options.get("url") or ""), own.origins.get("provider", "argument")
            yield _way_out(settings, CHOSEN_BY[kind][1], place, f"source {name} ({own.provider})", chosen)


def _way_out(settings: Settings, what: str, place: str, who: str, chosen: str) -> Check:
    agreed = settings.origin("privacy.allow_remote")
    place = place or "where its author says"
    return Check(LEAVES, ok=True, detail=f"{what} to {place}, by {who} (chosen in {chosen}, agreed in {agreed})")
