"""Every error vademecum raises or carries in an `Err`.

    Error
    ├── UsageError(ValueError)      the call itself is wrong: fix the argument
    │   ├── ConfigError             a setting is unknown or has the wrong type
    │   ├── UnknownError            nothing has this name or id
    │   └── OutsideRootError        a path leads out of the repository
    ├── SourceError                 something on disk cannot be read as source
    │   ├── RootError               the directory to index is missing or is not a directory
    │   ├── GitError                git said no
    │   └── ParseError              one file could not be parsed in time
    ├── PluginError                 a provider is not available
    │   ├── UnknownProviderError
    │   └── MissingExtraError
    ├── ProviderError               a provider failed at its work
    │   ├── EmbedError
    │   ├── RerankError
    │   ├── EnrichError
    │   ├── SyncError
    │   │   └── CursorError
    │   └── ToolServerError
    │       └── UrlElicitationError
    ├── AccessError                 whoever asks may not have this
    ├── ConsentError                something would leave the machine and nobody agreed to it
    └── StoreError                  the database said no
        ├── StoreAwayError          it is on a server that cannot be reached
        ├── StoreBusyError          another process holds it
        ├── StoreCorruptError       the file is damaged
        ├── StoreVersionError       a newer vademecum wrote it
        ├── StoreFullError          no room on the disk
        ├── StoreReadOnlyError      nothing can be written there
        └── VectorIndexError        an index of vectors is not available, or failed

Messages name the thing and the fix. Catch `Error` to catch them all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


class Error(Exception):
    """The root of all vademecum errors."""


class UsageError(Error, ValueError):
    """The call is wrong; the message says which argument and what would be right."""


class ConfigError(UsageError):
    """A setting is unknown, of the wrong type, or not allowed in the layer that sets it."""


class UnknownError(UsageError):
    """Nothing has the name or id that was given; the message says where such are listed."""


class OutsideRootError(UsageError):
    """A path leads out of the root that was opened; it is never read."""


class SourceError(Error):
    """Something on disk cannot be read as source."""


class RootError(SourceError):
    """The directory to open is missing, unreadable, or not a directory."""


class GitError(SourceError):
    """git failed, or does not know the revision asked for."""


class ParseError(SourceError):
    """One file could not be parsed within its deadline; it is indexed by windows instead."""


class PluginError(Error):
    """A provider is not available."""


class UnknownProviderError(PluginError):
    """No provider has this name; the message lists the nearest."""


class MissingExtraError(PluginError):
    """The provider needs a package that is not installed; the message says what to type."""


class ProviderError(Error):
    """A provider failed at its work."""


class EmbedError(ProviderError):
    """Text could not be turned into vectors."""


class RerankError(ProviderError):
    """Results could not be put into a new order; they keep the one they had."""


class EnrichError(ProviderError):
    """A piece of code could not be described; the offline summary stays."""


class SyncError(ProviderError):
    """A backlog or a source of documents cannot be asked, or answers with what is no answer; what it told before stays."""


class CursorError(SyncError):
    """A server knows a cursor no more: the run begins again."""


class ToolServerError(ProviderError):
    """A server of tools cannot be started, does not answer, or answers with what is no answer."""


class UrlElicitationError(ToolServerError):
    """A server of tools does nothing before the user was on a page of its own; the message says on which.

    Args:
        message: What is wrong, and what to do.
        elicitations: The pages, as MCP's error -32042 names them: `url`, `message`, `elicitationId`.
    """

    def __init__(self, message: str, elicitations: Sequence[Mapping[str, Any]]) -> None:
        super().__init__(message)
        self.elicitations = tuple(elicitations)


class AccessError(Error):
    """Whoever asks may not have this: it is not about a repository that is open to them."""


class ConsentError(Error):
    """A remote provider was asked for without consent; nothing was sent."""


class StoreError(Error):
    """The database could not do what was asked."""


class StoreAwayError(StoreError):
    """The database is on a server that cannot be reached, or says nothing; searches go on with what this machine has of the index."""


class StoreBusyError(StoreError):
    """Another process holds the database; try again when it is done."""


class StoreCorruptError(StoreError):
    """The database file is damaged; the message says how to rebuild it."""


class StoreVersionError(StoreError):
    """The database was written by a newer vademecum; upgrade, or point VADE_HOME elsewhere."""


class StoreFullError(StoreError):
    """There is no room left on the disk; what was already stored is intact."""


class StoreReadOnlyError(StoreError):
    """Nothing can be written where the database is; what is there can be searched, and stays as it is."""


class VectorIndexError(StoreError):
    """An index of vectors did not do what was asked; searches go on without it and say so."""
