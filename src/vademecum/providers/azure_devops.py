"""Azure DevOps work items, in the cloud or self-hosted (REST 7.1).

    POST <url>/<project>/_apis/wit/wiql?timePrecision=true&$top=…     {"query": "SELECT [System.Id] …"} → {"workItems": [{"id"}]}
    POST <url>/<project>/_apis/wit/workitemsbatch                     {"ids", "$expand": "All", "errorPolicy": "Omit"} → {"value": […]}
    GET  <url>/<project>/_apis/wit/workItems/<id>/comments            {"comments": […], "continuationToken"}
    GET  the "url" of a relation "AttachedFile", <url>/<number>/_apis/wit/attachments/<id>

A query may match at most 20,000 items, so each query continues by number: a page holds the items after the highest number
of the previous page, whatever changes meanwhile.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlencode

from vademecum.errors import ConfigError
from vademecum.items import Comment, Item, Page
from vademecum.providers.markup import Told, attachments, markdown_of
from vademecum.providers.web import Parameters, ServerSource, outcome, said_at, seconds, written

AT_ONCE = 200  # the most items of one batch
VERSION = {"api-version": "7.1"}
BODIES = {  # the long texts of an item, with a heading for all but the first
    "System.Description": "",
    "Microsoft.VSTS.TCM.ReproSteps": "Steps to reproduce",
    "Microsoft.VSTS.Common.AcceptanceCriteria": "Acceptance criteria",
}


@dataclass(kw_only=True, eq=False, repr=False)
class AzureDevOps(ServerSource):
    """The work items of one project.

    Attributes:
        url: the organisation, as https://dev.azure.com/fabrikam, or a server's collection.
        project: the project's name.
        token: a personal access token that may read work items.
        query: a condition in WIQL that narrows the items, as "[System.AreaPath] UNDER 'Web'".
        attachments: "no" leaves out text files.
    """

    name: str = "azure-devops"
    project: str
    query: str = ""
    attachments: str = "yes"

    def __post_init__(self) -> None:
        """Check the options."""
        super().__post_init__()
        if not self.project.strip():
            raise ConfigError(f"sources.{self.name}.project is empty: name the project")
        self._attachments = self.wants("attachments")
        self._below = f"/{quote(self.project.strip(), safe='')}"
        self._narrowed = f" AND ({self.query})" if self.query.strip() else ""

    def authorization(self) -> str:
        """Return the header that carries the token."""
        return f"Basic {base64.b64encode(f':{self.token}'.encode()).decode()}"

    @outcome
    def page(self, since: float, cursor: str) -> Page:
        """Return the work items changed since a time, by number."""
        changed = f" AND [System.ChangedDate] >= '{written(since)}'" if since else ""
        wiql = (
            f"SELECT [System.Id] FROM WorkItems WHERE [System.TeamProject] = @project AND [System.Id] > {int(cursor or 0)}"  # noqa: S608 - a number and what the user set
            f"{changed}{self._narrowed} ORDER BY [System.Id]"
        )
        options: Parameters = {**VERSION, "timePrecision": "true", "$top": AT_ONCE}
        found, reply = self.web.post(f"{self._below}/_apis/wit/wiql", {"query": wiql}, options)
        ids = [int(each["id"]) for each in found["workItems"]]
        if not ids:
            return Page((), at=said_at(reply))
        body = {"ids": ids, "$expand": "All", "errorPolicy": "Omit"}
        batch, _ = self.web.post(f"{self._below}/_apis/wit/workitemsbatch", body, VERSION)
        items = tuple(self._item(each) for each in batch["value"] if each)  # an item deleted meanwhile is null
        return Page(items, cursor=str(max(ids)), at=said_at(reply))

    def _item(self, told: Mapping[str, Any]) -> Item:
        fields, number = told["fields"], int(told["id"])
        parts = []
        for field, heading in BODIES.items():
            form = (told.get("multilineFieldsFormat") or {}).get(field, "html")
            text = fields.get(field) or ""
            text = text if form == "markdown" else markdown_of(text)
            parts += [f"## {heading}\n\n{text}" if heading else text] if text.strip() else []
        tags = tuple(each.strip() for each in (fields.get("System.Tags") or "").split(";") if each.strip())
        address = ((told.get("_links") or {}).get("html") or {}).get("href")
        return Item(
            id=str(number), key=f"AB#{number}", title=fields.get("System.Title") or "", body="\n\n".join(parts),
            kind=fields.get("System.WorkItemType") or "", state=fields.get("System.State") or "",
            url=address or f"{self.web.url}{self._below}/_workitems/edit/{number}",
            updated=seconds(fields.get("System.ChangedDate")), labels=tags,
            links=tuple(_link(each) for each in told.get("relations") or () if _link(each)),
            comments=self._comments(number) if fields.get("System.CommentCount") else (),
            attachments=attachments(self.web, _files(told)) if self._attachments else (),
        )  # fmt: skip

    def _comments(self, number: int) -> tuple[Comment, ...]:
        found: list[Comment] = []
        options: dict[str, str | int | list[str]] = {"api-version": "7.1-preview.4", "$top": AT_ONCE, "order": "asc"}
        while True:
            told, _ = self.web.get(f"{self._below}/_apis/wit/workItems/{number}/comments", options)
            for each in told["comments"]:
                text = each.get("text") or ""
                text = text if each.get("format") == "markdown" else markdown_of(text)
                author = (each.get("createdBy") or {}).get("displayName") or ""
                found.append(Comment(author, seconds(each.get("createdDate")), text))
            following = told.get("continuationToken")
            if not following or not told["comments"]:
                return tuple(found)
            options["continuationToken"] = str(following)


def _files(told: Mapping[str, Any]) -> list[Told]:
    found = []
    for each in told.get("relations") or ():
        own = each.get("attributes") or {}
        if each.get("rel") == "AttachedFile" and own.get("name"):
            address = (
                f"{each['url'].partition('?')[0]}?{urlencode({**VERSION, 'fileName': own['name'], 'download': 'true'})}"
            )
            found.append(Told(own["name"], address, int(own.get("resourceSize") or 0)))
    return found


def _link(relation: Mapping[str, Any]) -> str:
    """Return a relation as "Parent AB#7", "" if not to an item."""
    address = str(relation.get("url") or "")
    number = address.rpartition("/")[2]
    if "/workItems/" not in address or not number.isdigit():
        return ""
    said = (relation.get("attributes") or {}).get("name") or "Related"
    return f"{said} AB#{number}"
