"""Confluence pages: Cloud (REST version 2) and Data Center (CQL search).

    Cloud        GET <url>/api/v2/spaces?keys=…                                  {"results": [{"id", "key"}]}
                 GET <url>/api/v2/pages?space-id=…&body-format=storage&sort=…    {"results": […], "_links": {"next", "base"}}
                 GET <url>/api/v2/pages/<id>/footer-comments, …/labels, …/attachments    {"results": […], "_links": {"next"}}
    Data Center  GET <url>/rest/api/content/search?cql=…&expand=…                {"results": […], "start", "limit", "_links": {"next", "base"}}

Version 2 has no filter by time: pages come in order of last change until they are older than requested; a page that changes
meanwhile comes again with the next run.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from vademecum.errors import ConfigError, SyncError
from vademecum.items import Comment, Item, Page
from vademecum.providers.atlassian import Atlassian
from vademecum.providers.attachments import Told, attachments
from vademecum.providers.markup import markdown_of
from vademecum.providers.web import Parameters, outcome, said_at, seconds

AT_ONCE = 50
EXPAND = "body.storage,version,metadata.labels,space,children.comment.body.storage,children.comment.version,children.attachment"


@dataclass(kw_only=True, eq=False, repr=False)
class Confluence(Atlassian):
    """The pages of some spaces, or of all.

    Attributes:
        url: the wiki, as https://example.atlassian.net/wiki.
        space: keys of spaces, separated by commas; "" for all that can be read.
        query: CQL that narrows the pages; Data Center only.
        comments: "no" leaves out comments, and saves Cloud a request for each page.
    """

    product, versions, clouds = "Confluence", ("2", "1"), (".atlassian.net",)

    name: str = "confluence"
    space: str = ""
    comments: str = "yes"

    def __post_init__(self) -> None:
        """Check the options."""
        super().__post_init__()
        self._comments = self.wants("comments")
        if self.query and self._cloud:
            raise ConfigError(f"sources.{self.name}.query is for Confluence Data Center: narrow Cloud by space")
        self._spaces = self.keys("space")
        self._keys: dict[str, str] = {}  # of spaces, by number

    @outcome
    def page(self, since: float, cursor: str) -> Page:
        """Return the pages changed since a time."""
        return self._newer(since, cursor) if self._cloud else self._older(since, cursor)

    def _newer(self, since: float, cursor: str) -> Page:
        if not self._keys:
            self._find_spaces()
        if cursor:
            found, reply = self.web.get(self._link(cursor))
        else:
            asked: dict[str, str | int | list[str]] = {
                "body-format": "storage", "limit": AT_ONCE, "status": "current", "sort": "-modified-date" if since else "id",
            }  # fmt: skip
            if self._spaces:
                asked["space-id"] = list(self._keys)
            found, reply = self.web.get("/api/v2/pages", asked)
        changed = [each for each in found["results"] if seconds((each.get("version") or {}).get("createdAt")) >= since]
        following = (found.get("_links") or {}).get("next") or ""
        behind = bool(since) and len(changed) < len(found["results"])  # all later ones are older
        base = (found.get("_links") or {}).get("base") or self.web.url
        items = tuple(self._new_item(each, base) for each in changed)
        return Page(items, cursor="" if behind else following, at=said_at(reply))

    def _find_spaces(self) -> None:
        asked: dict[str, str | int | list[str]] = {"limit": AT_ONCE, **({"keys": self._spaces} if self._spaces else {})}
        self._keys = {str(each["id"]): each["key"] for each in self._all("/api/v2/spaces", asked)}
        missing = set(self._spaces) - set(self._keys.values())
        if missing:
            raise SyncError(
                f"{self.web.url} has no space {min(missing)!r} that this key may read: check sources.{self.name}.space"
            )

    def _new_item(self, told: Mapping[str, Any], base: str) -> Item:
        number, version = str(told["id"]), told.get("version") or {}
        space = self._keys.get(str(told.get("spaceId")), "")
        labels = tuple(each["name"] for each in self._all(f"/api/v2/pages/{number}/labels", {"limit": AT_ONCE}))
        path = f"/api/v2/pages/{number}/footer-comments"
        asked: Parameters = {"body-format": "storage", "limit": AT_ONCE}
        said = [
            Comment("", seconds((each.get("version") or {}).get("createdAt")), _body(each))
            for each in (self._all(path, asked) if self._comments else ())
        ]
        return Item(
            number, number, told.get("title") or "", _body(told), "page", "", base + (told.get("_links") or {}).get("webui", ""),
            seconds(version.get("createdAt")), _path(space, told.get("title") or number), labels, (), tuple(said),
            attachments(self.web, self._files(number)) if self._attachments else (),
        )  # fmt: skip

    def _files(self, number: str) -> list[Told]:
        """Return the attachments of a page on Cloud."""
        told = self._all(f"/api/v2/pages/{number}/attachments", {"limit": AT_ONCE, "status": "current"})
        return [Told(each["title"], each.get("downloadLink") or "", int(each.get("fileSize") or 0)) for each in told]

    def _old_files(self, told: Mapping[str, Any]) -> list[Told]:
        """Return the attachments of a page on Data Center."""
        every = ((told.get("children") or {}).get("attachment") or {}).get("results") or ()
        return [
            Told(
                each["title"], (each.get("_links") or {}).get("download") or "",
                int((each.get("extensions") or {}).get("fileSize") or 0),
            )
            for each in every
        ]  # fmt: skip

    def _all(self, path: str, asked: Parameters) -> Iterator[Mapping[str, Any]]:
        """Return all entries of a list, page after page."""
        found, _ = self.web.get(path, asked)
        yield from found["results"]
        while following := (found.get("_links") or {}).get("next"):
            found, _ = self.web.get(self._link(following))
            yield from found["results"]

    def _link(self, following: str) -> str:
        """Return the full address of a link below the host."""
        parts = urlsplit(self.web.url)
        return following if urlsplit(following).scheme else f"{parts.scheme}://{parts.netloc}{following}"

    def _older(self, since: float, cursor: str) -> Page:
        start = int(cursor or 0)
        asked: Parameters = {"cql": self._cql(since), "start": start, "limit": AT_ONCE, "expand": EXPAND}
        found, reply = self.web.get("/rest/api/content/search", asked)
        base = (found.get("_links") or {}).get("base") or self.web.url
        items = tuple(self._old_item(each, base) for each in found["results"])
        more = bool((found.get("_links") or {}).get("next")) and bool(items)
        return Page(items, cursor=str(start + len(items)) if more else "", at=said_at(reply))

    def _cql(self, since: float) -> str:
        conditions = ["type = page"]
        if self._spaces:
            quoted = ", ".join(f'"{each}"' for each in self._spaces)
            conditions.append(f"space in ({quoted})")
        conditions += [f"({self.query})"] if self.query.strip() else []
        if since:
            conditions.append(f'lastmodified >= "{self._after(since)}"')
        return f"{' AND '.join(conditions)} ORDER BY created ASC"

    def _old_item(self, told: Mapping[str, Any], base: str) -> Item:
        number, version = str(told["id"]), told.get("version") or {}
        labels = (((told.get("metadata") or {}).get("labels") or {}).get("results")) or ()
        said = ((told.get("children") or {}).get("comment") or {}).get("results") or () if self._comments else ()
        space = (told.get("space") or {}).get("key") or ""
        return Item(
            number, number, told.get("title") or "", _body(told), "page", "", base + (told.get("_links") or {}).get("webui", ""),
            seconds(version.get("when")), _path(space, told.get("title") or number), tuple(each["name"] for each in labels), (),
            tuple(_comment(each) for each in said), attachments(self.web, self._old_files(told)) if self._attachments else (),
        )  # fmt: skip


def _comment(told: Mapping[str, Any]) -> Comment:
    version = told.get("version") or {}
    return Comment((version.get("by") or {}).get("displayName") or "", seconds(version.get("when")), _body(told))


def _body(told: Mapping[str, Any]) -> str:
    return markdown_of(((told.get("body") or {}).get("storage") or {}).get("value") or "")


def _path(space: str, title: str) -> str:
    plain = title.replace("/", "-")
    return f"{space}/{plain}" if space else plain
