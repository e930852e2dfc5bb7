"""Jira Cloud (REST version 3) and Jira Data Center (version 2).

    Cloud        POST <url>/rest/api/3/search/jql   {"jql", "nextPageToken", "maxResults", "fields"} → {"issues", "nextPageToken", "isLast"}
                 GET <url>/rest/api/3/attachment/content/<id>?redirect=false    the file
    Data Center  POST <url>/rest/api/2/search       {"jql", "startAt", "maxResults", "fields"} → {"issues", "startAt", "total"}
                 GET the attachment's "content", <url>/secure/attachment/<id>/<name>

Issues come in order of creation, so an issue that changes meanwhile keeps its place.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from vademecum.errors import ConfigError, CursorError
from vademecum.items import Comment, Item, Page
from vademecum.providers.atlassian import Atlassian
from vademecum.providers.attachments import Told, attachments
from vademecum.providers.backlogs.adf import adf_markdown
from vademecum.providers.web import outcome, said_at, seconds

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
