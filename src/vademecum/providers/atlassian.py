"""The common part of Jira and Confluence."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import ClassVar
from urllib.parse import urlsplit

from vademecum.errors import ConfigError
from vademecum.providers.web import ServerSource, written

ZONES_S = 12 * 3600.0  # the zone farthest behind UTC


@dataclass(kw_only=True, eq=False, repr=False)
class Atlassian(ServerSource):
    """A server of Atlassian's.

    Attributes:
        url: the server's address.
        token: an API token (Cloud, with `user`), or a personal access token (Data Center).
        user: the e-mail address that the API token belongs to; "" for a personal access token.
        api: the version of the interface, that of Cloud or of Data Center; "" goes by the address.
        query: a condition that narrows the items.
        attachments: "no" leaves out text files.
    """

    product: ClassVar[str]
    versions: ClassVar[tuple[str, str]]  # of Cloud, and of Data Center
    clouds: ClassVar[tuple[str, ...]]  # ends of Cloud's host names

    user: str = ""
    query: str = ""
    api: str = ""
    attachments: str = "yes"

    def __post_init__(self) -> None:
        """Check the options."""
        super().__post_init__()
        cloud, data_center = self.versions
        if self.api not in {"", cloud, data_center}:
            raise ConfigError(
                f"sources.{self.name}.api is {self.api!r}: it must be {cloud} for {self.product} Cloud or {data_center} for "
                f"{self.product} Data Center"
            )
        usual = cloud if (urlsplit(self.web.url).hostname or "").endswith(self.clouds) else data_center
        self._cloud = (self.api or usual) == cloud
        self._attachments = self.wants("attachments")

    def authorization(self) -> str:
        """Return the header with the key: Basic for a user, else Bearer."""
        if not self.user:
            return super().authorization()
        return f"Basic {base64.b64encode(f'{self.user}:{self.token}'.encode()).decode()}"

    def _after(self, since: float) -> str:
        """Return a time as queries read it, twelve hours earlier.

        They are read in the time zone of the asking user, which is unknown. Unchanged items cost nothing more.
        """
        return written(max(0.0, since - ZONES_S), "%Y/%m/%d %H:%M")
