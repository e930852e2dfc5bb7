"""Every error vademecum raises or carries in an `Err`.

Messages name the thing and the fix. Catch `Error` to catch them all; docs/errors.md lists them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


class Error(Exception):
    """The root of all vademecum errors."""


class UsageError(Error, ValueError):
    """The call is wrong; the message names the argument and the fix."""


class ConfigError(UsageError):
    """A setting is unknown, mistyped, or not allowed in its layer."""


class UnknownError(UsageError):
    """Nothing has this name or id; the message names the list."""


class OutsideRootError(UsageError):
    """A path leads out of the opened root and is never read."""


class SourceError(Error):
    """Something on disk cannot be read as source."""


class RootError(SourceError):
    """The directory to open is missing, unreadable, or not a directory."""


class GitError(SourceError):
    """git failed, or does not know a revision."""


class ParseError(SourceError):
    """A file took too long to parse; windows are indexed instead."""


class PluginError(Error):
    """A provider is not available."""


class UnknownProviderError(PluginError):
    """No provider has this name; the message lists the nearest."""


class MissingExtraError(PluginError):
    """A provider needs a package; the message names the install command."""


class ProviderError(Error):
    """A provider failed at its work."""


class EmbedError(ProviderError):
    """Text could not be turned into vectors."""


class RerankError(ProviderError):
    """Results could not be reranked; they keep their order."""


class EnrichError(ProviderError):
    """A chunk of code could not be described; the offline summary stays."""


class SyncError(ProviderError):
    """A source cannot be asked, or its answer is malformed.

    The source is a backlog or a source of documents. Items fetched before stay.
    """


class CursorError(SyncError):
    """A server has forgotten a cursor: the run begins again."""


class ToolServerError(ProviderError):
    """A tool server cannot be started, is silent, or answers malformed."""


class UrlElicitationError(ToolServerError):
    """A tool server requires a visit to a page first.

    The message names the page.

    Args:
        message: The error and the fix.
        elicitations: The pages, as MCP's error -32042 names them: `url`, `message`, `elicitationId`.
    """

    def __init__(self, message: str, elicitations: Sequence[Mapping[str, Any]]) -> None:
        super().__init__(message)
        self.elicitations = tuple(elicitations)


class AccessError(Error):
    """The caller may not have this: the repository is closed to them."""


class ConsentError(Error):
    """A remote provider lacks the user's consent; nothing was sent."""


class StoreError(Error):
    """The database could not do its work."""


class StoreAwayError(StoreError):
    """The database's server cannot be reached, or is silent.

    Searches continue with this machine's part of the index.
    """


class StoreBusyError(StoreError):
    """Another process holds the database; try again when it is done."""


class StoreCorruptError(StoreError):
    """The database file is damaged; the message says how to rebuild it."""


class StoreOutdatedError(StoreCorruptError):
    """A derived file is missing, or of another version or embedder."""


class StoreVersionError(StoreError):
    """A newer vademecum wrote the database; upgrade, or change VADE_HOME."""


class StoreFullError(StoreError):
    """The disk is full; data that was already stored is intact."""


class StoreReadOnlyError(StoreError):
    """The database cannot be written; existing data stays searchable."""


class VectorIndexError(StoreError):
    """A vector index failed; searches continue without it and say so."""
