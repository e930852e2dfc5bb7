"""ClickUp: tasks, by REST version 2.

    GET <url>/team/<team>/task?page=…&date_updated_gt=…    {"tasks": […], "last_page": true}      100 tasks a page
    GET <url>/task/<id>                                    {"attachments": [{"title", "url", "size"}]}; they lie elsewhere and need no key
    GET <url>/task/<id>/comment?start=…&start_id=…         {"comments": […]}                      25 a page, the newest first

Tasks come in order of creation. A workspace allows a hundred requests a minute, and each task's comments need a
request of their own: `comments = "no"` leaves them out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from vademecum.errors import ConfigError
from vademecum.items import Comment, Item, Page
from vademecum.providers.markup import Told, attachments
from vademecum.providers.web import ServerSource, outcome, said_at

ADDRESS = "https://api.clickup.com/api/v2"
AT_ONCE = 100
COMMENTS_AT_ONCE = 25
MOST_COMMENTS = 500  # of one task


@dataclass(kw_only=True, eq=False, repr=False)
class ClickUp(ServerSource):
    """The tasks of one workspace, or of its lists, folders or spaces.

    Attributes:
        team: the workspace's number.
        token: a personal token, `pk_…`.
        lists: numbers of lists that the tasks are narrowed to, separated by commas.
        folders: the same of folders.
        spaces: the same of spaces.
        comments: "no" leaves comments out.
        attachments: "yes" fetches text files too, with one more request for each task.
        url: the API's address.
    """

    name: str = "clickup"
    url: str = ADDRESS
    team: str
    lists: str = ""
    folders: str = ""
    spaces: str = ""
    comments: str = "yes"
    attachments: str = "no"

    def __post_init__(self) -> None:
        """Check the options."""
        super().__post_init__()
        if not self.team.isdigit():
            raise ConfigError(
                f"sources.{self.name}.team is {self.team!r}: it must be the workspace's number, in the address after app.clickup.com/"
            )
        self._path = f"/team/{self.team}/task"
        self._comments, self._attachments = self.wants("comments"), self.wants("attachments")
        narrowed = {"list_ids[]": "lists", "project_ids[]": "folders", "space_ids[]": "spaces"}
        self._narrowed = {key: ids for key, option in narrowed.items() if (ids := self.keys(option))}

    def authorization(self) -> str:
        """Return the header that carries the token."""
        return self.token

    @outcome
    def page(self, since: float, cursor: str) -> Page:
        """Return the tasks changed since a time."""
        number = int(cursor or 0)
        asked: dict[str, str | int | list[str]] = {
            "page": number, "order_by": "created", "reverse": "true", "subtasks": "true", "include_closed": "true",
            "include_markdown_description": "true", **self._narrowed,
        }  # fmt: skip
        if since:
            asked["date_updated_gt"] = max(0, int(since * 1000) - 1)
        found, reply = self.web.get(self._path, asked)
        tasks = found["tasks"]
        last = found.get("last_page", len(tasks) < AT_ONCE) or not tasks
        return Page(tuple(map(self._item, tasks)), cursor="" if last else str(number + 1), at=said_at(reply))

    def _item(self, task: Mapping[str, Any]) -> Item:
        number = task["id"]
        body = task.get("markdown_description") or task.get("text_content") or task.get("description") or ""
        links = [f"part of CU-{task['parent']}"] if task.get("parent") else []
        links += [
            f"linked to CU-{each['link_id'] if each.get('task_id') == number else each['task_id']}"
            for each in task.get("linked_tasks") or ()
        ]
        links += [
            f"waits for CU-{each['depends_on']}"
            for each in task.get("dependencies") or ()
            if each.get("task_id") == number
        ]
        return Item(
            id=number, key=task.get("custom_id") or f"CU-{number}", title=task.get("name") or "", body=body, kind="task",
            state=(task.get("status") or {}).get("status") or "", url=task.get("url") or f"https://app.clickup.com/t/{number}",
            updated=_moment(task.get("date_updated")), labels=tuple(each["name"] for each in task.get("tags") or ()),
            links=tuple(links), comments=self._said(number) if self._comments else (),
            attachments=attachments(self.web, self._files(number)) if self._attachments else (),
        )  # fmt: skip

    def _files(self, number: str) -> list[Told]:
        """Return a task's attachments, which only a single task lists."""
        task, _ = self.web.get(f"/task/{number}")
        told = (each for each in task.get("attachments") or () if not each.get("deleted"))
        return [Told(each["title"], each["url"], int(each.get("size") or 0)) for each in told]

    def _said(self, number: str) -> tuple[Comment, ...]:
        """Return the comments of a task, oldest first."""
        found: list[Comment] = []
        asked: dict[str, str | int | list[str]] = {}
        while len(found) < MOST_COMMENTS:
            told, _ = self.web.get(f"/task/{number}/comment", asked)
            some = told["comments"]
            for each in some:
                author = (each.get("user") or {}).get("username") or ""
                found.append(Comment(author, _moment(each.get("date")), each.get("comment_text") or ""))
            if len(some) < COMMENTS_AT_ONCE:
                break
            asked = {"start": str(some[-1]["date"]), "start_id": str(some[-1]["id"])}
        return tuple(found[::-1])


def _moment(milliseconds: str | int | None) -> float:
    """Return seconds since the epoch, from milliseconds as text."""
    return int(milliseconds or 0) / 1000
