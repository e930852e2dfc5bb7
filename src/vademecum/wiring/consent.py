"""Consent: the rule for providers that send text to other machines.

Such a provider is refused unless the user chose it and set `privacy.allow_remote`.
"""

from __future__ import annotations

from typing import TypeVar

from vademecum.config import Settings
from vademecum.errors import ConsentError
from vademecum.protocols import (
    Backlog,
    DocumentSource,
    Embedder,
    Enricher,
    Extractor,
    Reranker,
    ToolServer,
    VectorIndex,
)

P = TypeVar("P", Backlog | DocumentSource, Embedder, Enricher, Extractor, Reranker, ToolServer, VectorIndex)

# By kind of provider: the setting that chooses it, and the data it receives.
CHOSEN_BY = {
    "embedder": ("search.embedder", "code"),
    "prose embedder": ("search.prose_embedder", "documents and what was said"),
    "vectors": ("search.vectors", "code"),
    "reranker": ("search.reranker", "code"),
    "enricher": ("enrich.provider", "code"),
    "extractor": ("memory.extractor", "what was said"),
    "server of tools": ("its url", "the arguments of calls"),
    "backlog": ("sources", "its key and what it asks for"),
    "documents": ("sources", "its key and what it asks for"),
}


def consented(kind: str, provider: P, settings: Settings, *, shared: bool) -> P:
    """Return the provider, or refuse it for lack of consent.

    A remote provider needs the user's consent, and a repository's own file cannot choose one.

    `kind` is a key of `CHOSEN_BY`; `shared` says that a repository's file chose the provider.

    Raises:
        ConsentError: nothing was sent; the message says how to agree.
    """
    setting, what = CHOSEN_BY[kind]
    sends = f"{kind} {provider.name!r} sends {what} to another machine"
    if provider.remote and shared:
        raise ConsentError(
            f"{sends}, and a repository's own file cannot turn it on: set {setting} in your user file or environment"
        )
    if provider.remote and not settings.privacy.allow_remote:
        raise ConsentError(
            f"{sends}: set privacy.allow_remote in your user file or VADE_PRIVACY__ALLOW_REMOTE=1 to agree"
        )
    return provider
