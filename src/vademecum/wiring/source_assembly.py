"""Assembly of sources: backlogs and documents, their stores and providers.

A source's store is opened when first asked for, and its provider only by a `sync`. Providers need consent.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

from vademecum.code.checkout.root import Root
from vademecum.code.checkout.walk import WalkSettings
from vademecum.code.chunking.analyse import path_reader
from vademecum.code.documents.named_documents import Documents, belongs
from vademecum.code.snapshot.entries import Items
from vademecum.code.snapshot.plan import Plan
from vademecum.code.snapshot.repository import Repository
from vademecum.code.snapshot.store import Catalogue
from vademecum.config import Settings
from vademecum.protocols import Backlog, Clock, DocumentSource, Embedder
from vademecum.sources.sources import Sources
from vademecum.types import FileKind
from vademecum.wiring.consent import consented
from vademecum.wiring.embedding import embedding
from vademecum.wiring.stores import INDEX, Stores

if TYPE_CHECKING:
    from vademecum.sources.sync import Source


def assemble_sources(
    settings: Settings,
    embedder: Embedder | str | None,
    clock: Clock,
    closing: list[Callable[[], None]],
    repositories: Sequence[Repository],
    *,
    personal: bool = True,
) -> tuple[Sources, Documents]:
    """Return the configured sources, and the documents to search beside repositories.

    Sources belong to the user: without `personal` there are none.
    """
    settings = settings if personal else replace(settings, sources={})

    @cache
    def opened(name: str) -> Source:
        return assemble_source(name, settings, embedder, clock, closing)

    def fetched(name: str) -> Repository | None:
        repo = opened(name).repo if Stores(settings).has_source(name) else None
        return repo if repo is not None and repo.catalogue.load(*repo.place) is not None else None

    def remote(name: str) -> tuple[bool, bool]:
        from vademecum.sources.opening import open_provider

        found = open_provider(name, settings.sources[name])[1]
        return found.remote, settings.privacy.allow_remote or not found.remote

    every = {name: own.repos for name, own in settings.sources.items()}
    repos = {name: own for name, own in every.items() if any(belongs(repo, own) for repo in repositories)}
    elsewhere = {name: own for name, own in every.items() if name not in repos}
    return Sources(settings.sources, opened, remote), Documents(fetched, repos, elsewhere)


def assemble_source(
    name: str, settings: Settings, embedder: Embedder | str | None, clock: Clock, closing: list[Callable[[], None]]
) -> Source:
    """Return one source: its store and a loader of its provider."""
    from vademecum.sources.ledger import Ledger  # imported only when a source is set: every command assembles
    from vademecum.sources.opening import digest_of, open_provider
    from vademecum.sources.sync import Source

    chosen = embedding(settings, embedder)
    loaded = chosen.loaded
    own = settings.sources[name]
    directory = settings.home / "sources" / name
    stores = Stores(settings)
    store = stores.source(name)
    closing.append(store.close)
    plan = Plan(chosen.derived, settings.index.deadline_s, settings.index.workers or os.cpu_count() or 1)
    catalogue = Catalogue(
        store, directory, lambda: loaded().name, lambda: path_reader(loaded(), lambda _: FileKind.DOC), stores.here
    )
    repo = Repository(
        name, Root(str(directory)), catalogue, loaded, plan, WalkSettings(), clock, chosen.steady,
        settings.embedding.batch_texts, items=Items(lambda: store),
        database=stores.where(directory / INDEX),
    )  # fmt: skip
    asked = digest_of(own)

    def provider() -> Backlog | DocumentSource:
        kind, found = open_provider(name, own)
        return consented(kind, found, settings, shared=False)

    return Source(name, own.provider, asked, repo, Ledger(store), provider, clock)
