"""Jira's issues and Confluence's pages.

Jira Cloud's version 3 writes descriptions and comments in the Atlassian Document Format, which becomes Markdown by way of HTML. A document is a tree of nodes:
{"type": "paragraph", "content": [{"type": "text", "text": "…", "marks": [{"type": "strong"}]}]}.
Source: Atlassian Document Format, developer.atlassian.com/cloud/jira/platform/apis/document/structure. A node of an unknown kind
is replaced by its content.

Jira Cloud (REST version 3) and Jira Data Center (version 2).

    Cloud        POST <url>/rest/api/3/search/jql   {"jql", "nextPageToken", "maxResults", "fields"} → {"issues", "nextPageToken", "isLast"}
                 GET <url>/rest/api/3/attachment/content/<id>?redirect=false    the file
    Data Center  POST <url>/rest/api/2/search       {"jql", "startAt", "maxResults", "fields"} → {"issues", "startAt", "total"}
                 GET the attachment's "content", <url>/secure/attachment/<id>/<name>

Issues come in order of creation, so an issue that changes meanwhile keeps its place.

Confluence pages: Cloud (REST version 2) and Data Center (CQL search).

    Cloud        GET <url>/api/v2/spaces?keys=…                                  {"results": [{"id", "key"}]}
                 GET <url>/api/v2/pages?space-id=…&body-format=storage&sort=…    {"results": […], "_links": {"next", "base"}}
                 GET <url>/api/v2/pages/<id>/footer-comments, …/labels, …/attachments    {"results": […], "_links": {"next"}}
    Data Center  GET <url>/rest/api/content/search?cql=…&expand=…                {"results": […], "start", "limit", "_links": {"next", "base"}}

Version 2 has no filter by time: pages come in order of last change until they are older than requested; a page that changes
meanwhile comes again with the next run.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from html import escape
from typing import Any, ClassVar
from urllib.parse import urlsplit

from vademecum.errors import ConfigError, CursorError, SyncError
from vademecum.items import Comment, Item, Page
from vademecum.providers.markup import Told, attachments, markdown_of
from vademecum.providers.web import Parameters, ServerSource, outcome, said_at, seconds, written

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


DEEPEST = 60  # depth of nodes; deeper ones are not read
_TAGS = {
    "paragraph": "p", "caption": "p", "bulletList": "ul", "taskList": "ul", "decisionList": "ul", "orderedList": "ol",
    "listItem": "li", "taskItem": "li", "decisionItem": "li", "table": "table", "tableRow": "tr", "tableHeader": "th",
    "tableCell": "td", "rule": "hr", "hardBreak": "br", "panel": "div",
    "strong": "strong", "em": "em", "code": "code", "strike": "s",
}  # fmt: skip
_SHOWN = ("text", "shortName", "url")  # the attributes of mentions, emoji and cards that are read

Node = Mapping[str, Any]


def adf_markdown(node: Any) -> str:
    """Return a document as Markdown; strings, as in version 2, stay unchanged.

    >>> said = {"type": "text", "text": "twice", "marks": [{"type": "strong"}]}
    >>> adf_markdown({"type": "doc", "content": [{"type": "paragraph", "content": [{"type": "text", "text": "Retry "}, said]}]})
    'Retry **twice**'
    """
    if isinstance(node, str):
        return node.strip()
    return markdown_of(_html(node, 0)) if isinstance(node, Mapping) else ""


def _html(node: Node, depth: int) -> str:
    kind, given = str(node.get("type")), _attributes(node)
    if kind == "text":
        return _marked(escape(str(node.get("text", ""))), node.get("marks"))
    content = node.get("content")
    nodes = [each for each in content if isinstance(each, Mapping)] if isinstance(content, list) else []
    inner = "".join(_html(each, depth + 1) for each in nodes) if depth < DEEPEST else ""
    if kind == "heading":
        level = given.get("level")
        return _tagged(f"h{level if isinstance(level, int) and 1 <= level <= 6 else 2}", inner)
    if kind == "codeBlock":
        text = "".join(str(each.get("text", "")) for each in nodes)
        language = escape(str(given.get("language") or ""))
        return f'<ac:parameter ac:name="language">{language}</ac:parameter><pre>{escape(text)}</pre>'
    if kind == "blockquote":
        return inner.replace("<p>", "<p>&gt; ")
    if kind in _TAGS:
        return _tagged(_TAGS[kind], inner)
    shown = next((str(given[name]) for name in _SHOWN if given.get(name)), "")
    return inner or escape(shown)


def _marked(text: str, marks: Any) -> str:
    for mark in marks if isinstance(marks, list) else ():
        kind = str(mark.get("type")) if isinstance(mark, Mapping) else ""
        if kind in _TAGS:
            text = _tagged(_TAGS[kind], text)
        elif kind == "link":
            text = f'<a href="{escape(str(_attributes(mark).get("href", "")))}">{text}</a>'
    return text


def _tagged(tag: str, inner: str) -> str:
    return f"<{tag}>{inner}</{tag}>"


def _attributes(node: Node) -> Node:
    given = node.get("attrs")
    return given if isinstance(given, Mapping) else {}


AT_ONCE = 100
FIELDS = [
    *("summary", "description", "status", "issuetype", "updated", "labels", "components", "issuelinks", "parent", "comment"),
    *("resolution", "priority", "attachment"),
]  # fmt: skip


@dataclass(kw_only=True, eq=False, repr=False)
class Jira(Atlassian):
    """The issues of one Jira site.

    Attributes:
        project: keys of projects, separated by commas.
    """

    product, versions, clouds = "Jira", ("3", "2"), (".atlassian.net", ".jira.com")

    name: str = "jira"
    project: str = ""

    def __post_init__(self) -> None:
        """Check the options."""
        super().__post_init__()
        if "order by" in self.query.lower():
            raise ConfigError(
                f"sources.{self.name}.query has an ORDER BY: leave it out, issues come in the order they were made"
            )
        projects = ", ".join(f'"{each}"' for each in self.keys("project"))
        self._narrowed = [f"project in ({projects})"] if projects else []
        self._narrowed += [f"({self.query})"] if self.query.strip() else []

    @outcome
    def page(self, since: float, cursor: str) -> Page:
        """Return the issues changed since a time."""
        asked = {"jql": self._jql(since), "maxResults": AT_ONCE, "fields": FIELDS}
        return self._newer(asked, cursor) if self._cloud else self._older(asked, int(cursor or 0))

    def _jql(self, since: float) -> str:
        conditions = list(self._narrowed)
        if since or not conditions:  # Cloud refuses a search without a condition
            conditions.append(f'updated >= "{self._after(since)}"')
        return f"{' AND '.join(conditions)} ORDER BY created ASC, key ASC"

    def _newer(self, asked: Mapping[str, Any], cursor: str) -> Page:
        body = {**asked, **({"nextPageToken": cursor} if cursor else {})}
        accept = (400,) if cursor else ()
        found, reply = self.web.post("/rest/api/3/search/jql", body, accept=accept)
        if reply.status == 400:  # a token expires after seven days
            raise CursorError(f"{self.web.url} has forgotten the page: the run begins again")
        issues = tuple(self._item(issue) for issue in found["issues"])
        following = found.get("nextPageToken") or ""
        return Page(issues, cursor="" if found.get("isLast") else following, at=said_at(reply))

    def _older(self, asked: Mapping[str, Any], start: int) -> Page:
        found, reply = self.web.post("/rest/api/2/search", {**asked, "startAt": start})
        issues = tuple(self._item(issue) for issue in found["issues"])
        following = int(found["startAt"]) + len(issues)
        last = not issues or following >= int(found["total"])
        return Page(issues, cursor="" if last else str(following), at=said_at(reply))

    def _item(self, issue: Mapping[str, Any]) -> Item:
        fields = issue["fields"]
        labels = [*(fields.get("labels") or ()), *(each["name"] for each in fields.get("components") or ())]
        return Item(
            id=str(issue["id"]), key=issue["key"], title=fields.get("summary") or "", body=adf_markdown(fields.get("description")),
            kind=_name(fields.get("issuetype")), state=_name(fields.get("status")), url=f"{self.web.url}/browse/{issue['key']}",
            updated=seconds(fields.get("updated")), labels=tuple(map(str, labels)), links=tuple(_links(fields)),
            comments=tuple(_comment(each) for each in self._comments(issue, fields.get("comment") or {})),
            attachments=attachments(self.web, self._files(fields)) if self._attachments else (),
        )  # fmt: skip

    def _files(self, fields: Mapping[str, Any]) -> list[Told]:
        """Return the attachments of an issue."""
        cloud = "/rest/api/3/attachment/content/{}?redirect=false"
        return [
            Told(
                each["filename"],
                cloud.format(each["id"]) if self._cloud else each["content"],
                int(each.get("size") or 0),
            )
            for each in fields.get("attachment") or ()
        ]

    def _comments(self, issue: Mapping[str, Any], known: Mapping[str, Any]) -> list[Mapping[str, Any]]:
        """Return all comments of an issue; a search returns only some."""
        told: list[Mapping[str, Any]] = list(known.get("comments") or ())
        total = int(known.get("total") or len(told))
        if len(told) >= total:
            return told
        own: list[Mapping[str, Any]] = []
        path = f"/rest/api/{3 if self._cloud else 2}/issue/{issue['id']}/comment"
        while len(own) < total:
            found, _ = self.web.get(path, {"startAt": len(own), "maxResults": AT_ONCE, "orderBy": "created"})
            if not found["comments"]:
                break
            own += found["comments"]
            total = int(found.get("total") or 0)
        return own


def _comment(told: Mapping[str, Any]) -> Comment:
    return Comment(
        (told.get("author") or {}).get("displayName") or "",
        seconds(told.get("created")),
        adf_markdown(told.get("body")),
    )


def _links(fields: Mapping[str, Any]) -> list[str]:
    """Return the links of an issue, as "blocks ABC-2"."""
    parent = fields.get("parent") or {}
    found = [f"part of {parent['key']}"] if parent.get("key") else []
    for link in fields.get("issuelinks") or ():
        kind = link.get("type") or {}
        for side, verb in (("outwardIssue", "outward"), ("inwardIssue", "inward")):
            if link.get(side):
                found.append(f"{kind.get(verb) or 'relates to'} {link[side]['key']}")
    return found


def _name(field: Mapping[str, Any] | None) -> str:
    return str((field or {}).get("name") or "")


PAGES_AT_ONCE = 50
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
                "body-format": "storage", "limit": PAGES_AT_ONCE, "status": "current", "sort": "-modified-date" if since else "id",
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
        asked: dict[str, str | int | list[str]] = {
            "limit": PAGES_AT_ONCE,
            **({"keys": self._spaces} if self._spaces else {}),
        }
        self._keys = {str(each["id"]): each["key"] for each in self._all("/api/v2/spaces", asked)}
        missing = set(self._spaces) - set(self._keys.values())
        if missing:
            raise SyncError(
                f"{self.web.url} has no space {min(missing)!r} that this key may read: check sources.{self.name}.space"
            )

    def _new_item(self, told: Mapping[str, Any], base: str) -> Item:
        number, version = str(told["id"]), told.get("version") or {}
        space = self._keys.get(str(told.get("spaceId")), "")
        labels = tuple(each["name"] for each in self._all(f"/api/v2/pages/{number}/labels", {"limit": PAGES_AT_ONCE}))
        path = f"/api/v2/pages/{number}/footer-comments"
        asked: Parameters = {"body-format": "storage", "limit": PAGES_AT_ONCE}
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
        told = self._all(f"/api/v2/pages/{number}/attachments", {"limit": PAGES_AT_ONCE, "status": "current"})
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
        asked: Parameters = {"cql": self._cql(since), "start": start, "limit": PAGES_AT_ONCE, "expand": EXPAND}
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
            tuple(_page_comment(each) for each in said), attachments(self.web, self._old_files(told)) if self._attachments else (),
        )  # fmt: skip


def _page_comment(told: Mapping[str, Any]) -> Comment:
    version = told.get("version") or {}
    return Comment((version.get("by") or {}).get("displayName") or "", seconds(version.get("when")), _body(told))


def _body(told: Mapping[str, Any]) -> str:
    return markdown_of(((told.get("body") or {}).get("storage") or {}).get("value") or "")


def _path(space: str, title: str) -> str:
    plain = title.replace("/", "-")
    return f"{space}/{plain}" if space else plain
