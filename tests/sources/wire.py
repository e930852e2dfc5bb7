"""Servers of backlogs and documents on loopback, as they speak: each checks what it is asked as strictly as the real one.

`faults` are taken one for each request, the next first: a status, ("retry", seconds) for 429 with `Retry-After`, ("closed", seconds) for 503, "slow", "garbage",
"hangs up", "half" (a body that is cut short), "" for none.
"""

from __future__ import annotations

import base64
import json
import re
import threading
from datetime import UTC, datetime
from http.server import ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from loopback import Handler

NOW = 1_700_000_000.0  # what the servers' clocks say
DAY = 86_400.0


def iso(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%S.000+0000")


class RefusalError(Exception):
    """What a server says to a request it does not take."""

    def __init__(self, status: int, said: Any, headers: dict[str, str] | None = None) -> None:
        self.status, self.said, self.headers = status, said, headers or {}


class WireServer(ThreadingHTTPServer):
    """What they have in common."""

    daemon_threads = True
    authorization = ""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), WireHandler)
        self.faults: list[Any] = []
        self.fault_after = 0  # requests that are answered before the first fault
        self.asked: list[tuple[str, str, dict[str, list[str]], Any]] = []
        self.closing = threading.Event()
        self.now = NOW

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def answer(self, method: str, path: str, query: dict[str, list[str]], body: Any, headers: Any) -> Any:
        raise NotImplementedError

    def check(self, headers: Any) -> None:
        if headers.get("Authorization") != self.authorization:
            raise RefusalError(401, {"message": "Client must be authenticated to access this resource."})
        if headers.get("Accept") != "application/json":
            raise RefusalError(406, {"message": "not acceptable"})


class WireHandler(Handler):
    """Answers one request, or fails as it is told to."""

    server: WireServer

    def date_time_string(self, timestamp: float | None = None) -> str:
        return super().date_time_string(int(self.server.now))

    def do_GET(self) -> None:
        self._do("GET", None)

    def do_POST(self) -> None:
        content = self.rfile.read(int(self.headers["Content-Length"]))
        is_json = self.headers.get("Content-Type") == "application/json"
        self._do("POST", json.loads(content) if is_json else parse_qs(content.decode()))

    def _do(self, method: str, body: Any) -> None:
        server, parts = self.server, urlsplit(self.path)
        query = parse_qs(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query))
        server.asked.append((method, unquote(parts.path), query, body))
        fault = ""
        if server.fault_after:
            server.fault_after -= 1
        elif server.faults:
            fault = server.faults.pop(0)
        if fault:
            return self._fail(fault)
        try:
            said = server.answer(method, unquote(parts.path), query, body, self.headers)
        except RefusalError as refusal:
            return self.reply(refusal.status, refusal.said, more=refusal.headers)
        return self.reply(200, said)

    def _fail(self, fault: Any) -> None:
        if isinstance(fault, tuple):
            status = {"retry": 429, "closed": 503}[fault[0]]
            return self.reply(status, {"error": "Rate limit exceeded"}, more={"Retry-After": str(fault[1])})
        if isinstance(fault, int):
            return self.reply(fault, {"error": "Internal failure"})
        if fault == "garbage":
            return self.reply(200, b"<html>welcome</html>")
        if fault == "other JSON":
            return self.reply(200, {"hello": ["world"]})
        if fault == "half":
            self.send_response(200)
            self.send_header("Content-Length", "1000")
            self.end_headers()
            self.wfile.write(b'{"issues": [')
        if fault == "elsewhere":
            return self.reply(302, b"", more={"Location": "http://192.0.2.1/login"})
        if fault == "slow":
            self.server.closing.wait()
        return None  # the connection is closed


def only(query: dict[str, list[str]], *names: str) -> None:
    unknown = set(query) - set(names)
    if unknown:
        raise RefusalError(400, {"errorMessages": [f"unknown parameters {sorted(unknown)}"]})


def basic(user: str, token: str) -> str:
    return f"Basic {base64.b64encode(f'{user}:{token}'.encode()).decode()}"


class FileServer(WireServer):
    """Where services keep the files that hang on items: whoever has the address gets them, and nobody shows a key."""

    def __init__(self) -> None:
        super().__init__()
        self.files: dict[str, bytes] = {}

    def put(self, name: str, content: bytes) -> str:
        """Keep a file. Returns its address."""
        path = f"/{len(self.files)}/{name}"
        self.files[path] = content
        return self.url + path

    def answer(self, method: str, path: str, query: dict[str, list[str]], body: Any, headers: Any) -> Any:
        if "Authorization" in headers:
            raise RefusalError(400, {"error": "a key was shown to a stranger"})
        if method != "GET" or path not in self.files:
            raise RefusalError(404, b"<Error><Code>NoSuchKey</Code></Error>")
        return self.files[path]


def file_of(server: WireServer, files: dict[str, bytes], name: str, headers: Any) -> bytes:
    """Answer with a file that a server keeps itself, as it is, to who shows a key and takes anything."""
    if headers.get("Authorization") != server.authorization:
        raise RefusalError(401, {"message": "no key"})
    if headers.get("Accept") != "*/*":
        raise RefusalError(406, {"message": "not acceptable"})
    if name not in files:
        raise RefusalError(404, {"message": "the attachment is gone"})
    return files[name]


class JiraServer(WireServer):
    """Jira: Cloud by version 3, Data Center by version 2."""

    most = 2  # issues of one page, however many are asked for
    comments_told = 1  # comments of an issue in a search
    zone_s = -11 * 3600  # the user's zone, which JQL reads times in

    def __init__(self, *, cloud: bool = True) -> None:
        super().__init__()
        self.cloud = cloud
        self.authorization = basic("ada@example.org", "t0ken") if cloud else "Bearer t0ken"
        self.issues: dict[str, dict[str, Any]] = {}
        self.files: dict[str, bytes] = {}
        self.tokens: dict[str, tuple[str, int]] = {}

    def put(self, key: str, summary: str = "", updated: float = NOW - 9 * DAY, **fields: Any) -> None:
        number = fields.pop("id", str(10_000 + int(key.rpartition("-")[2])))
        said = fields.pop("description", f"About {key}.")
        attached = []
        for name, content in fields.pop("attachments", {}).items():
            self.files[file := str(20_000 + len(self.files))] = content
            address = (
                f"{self.url}/rest/api/3/attachment/content/{file}"
                if self.cloud
                else f"{self.url}/secure/attachment/{file}/{name}"
            )
            attached.append(
                {"id": file, "filename": name, "size": len(content), "mimeType": "text/plain", "content": address}
            )
        comments = [
            {"id": str(n), "author": {"displayName": who}, "created": iso(updated), "body": self._text(text)}
            for n, (who, text) in enumerate(fields.pop("comments", ()))
        ]
        self.issues[number] = {
            "id": number,
            "key": key,
            "fields": {
                "summary": summary or f"Issue {key}", "description": self._text(said), "updated": iso(updated), "labels": ["net"],
                "issuetype": {"name": "Bug"}, "status": {"name": "In Progress"}, "components": [{"name": "api"}], "resolution": None,
                "issuelinks": [], "comment": comments, "attachment": attached, **fields,
            },
        }  # fmt: skip

    def _text(self, said: Any) -> Any:
        if not self.cloud or not isinstance(said, str):
            return said
        return {
            "version": 1,
            "type": "doc",
            "content": [{"type": "paragraph", "content": [{"type": "text", "text": said}]}],
        }

    def answer(self, method: str, path: str, query: dict[str, list[str]], body: Any, headers: Any) -> Any:
        if file := re.fullmatch(
            r"/rest/api/3/attachment/content/(\d+)" if self.cloud else r"/secure/attachment/(\d+)/.+", path
        ):
            if self.cloud and query != {"redirect": ["false"]}:
                raise RefusalError(303, b"", {"Location": "http://192.0.2.1/media"})
            return file_of(self, self.files, file[1], headers)
        self.check(headers)
        version = "3" if self.cloud else "2"
        if comment := re.fullmatch(rf"/rest/api/{version}/issue/(\d+)/comment", path):
            only(query, "startAt", "maxResults", "orderBy")
            start, every = int(query["startAt"][0]), self.issues[comment[1]]["fields"]["comment"]
            return {"startAt": start, "total": len(every), "comments": every[start : start + self.comments_told]}
        if method != "POST" or path != f"/rest/api/{version}/search{'/jql' if self.cloud else ''}":
            raise RefusalError(404, {"errorMessages": ["null for uri"]})
        only(query)
        known = {"jql", "maxResults", "fields"} | ({"nextPageToken"} if self.cloud else {"startAt"})
        if unknown := set(body) - known:
            raise RefusalError(400, {"errorMessages": [f"Unrecognized field {sorted(unknown)}"]})
        return self._search(body)

    def _search(self, body: Any) -> Any:
        found = self._matching(body["jql"])
        token = body.get("nextPageToken")
        if token is not None and self.tokens.get(token, ("",))[0] != body["jql"]:
            raise RefusalError(400, {"errorMessages": ["The provided next page token is invalid or expired."]})
        start = (self.tokens[token][1] if token else 0) if self.cloud else body["startAt"]
        some = found[start : start + min(self.most, body["maxResults"])]
        issues = [self._told(issue, body["fields"]) for issue in some]
        if not self.cloud:
            return {"startAt": start, "maxResults": self.most, "total": len(found), "issues": issues}
        if start + len(some) >= len(found):
            return {"issues": issues, "isLast": True}
        self.tokens[f"token{start + len(some)}-{len(self.tokens)}"] = body["jql"], start + len(some)
        return {"issues": issues, "isLast": False, "nextPageToken": list(self.tokens)[-1]}

    def _told(self, issue: dict[str, Any], fields: list[str]) -> dict[str, Any]:
        own = {name: issue["fields"].get(name) for name in fields}
        every = issue["fields"]["comment"]
        own["comment"] = {
            "comments": every[: self.comments_told],
            "total": len(every),
            "maxResults": self.comments_told,
            "startAt": 0,
        }
        return {**issue, "fields": own}

    def _matching(self, jql: str) -> list[dict[str, Any]]:
        conditions, order, by = jql.partition(" ORDER BY ")
        if not order or by != "created ASC, key ASC":
            raise RefusalError(400, {"errorMessages": [f"the order {by!r} would move issues between pages"]})
        found = sorted(self.issues.values(), key=lambda issue: int(issue["id"]))
        for condition in conditions.split(" AND "):
            if projects := re.fullmatch(r'project in \(("[A-Z]+"(?:, "[A-Z]+")*)\)', condition):
                names = re.findall(r"[A-Z]+", projects[1])
                found = [issue for issue in found if issue["key"].partition("-")[0] in names]
            elif since := re.fullmatch(r'updated >= "(\d{4}/\d\d/\d\d \d\d:\d\d)"', condition):
                local = datetime.strptime(since[1], "%Y/%m/%d %H:%M").replace(tzinfo=UTC).timestamp()
                found = [
                    i
                    for i in found
                    if datetime.fromisoformat(i["fields"]["updated"]).timestamp() >= local - self.zone_s
                ]
            elif label := re.fullmatch(r"\(labels = (\w+)\)", condition):
                found = [issue for issue in found if label[1] in issue["fields"]["labels"]]
            else:
                raise RefusalError(
                    400,
                    {
                        "errorMessages": [
                            f"Error in the JQL Query: {condition!r}. Unbounded JQL queries are not allowed here."
                        ]
                    },
                )
        return found


class AzureServer(WireServer):
    """Azure DevOps."""

    most = 2

    def __init__(self) -> None:
        super().__init__()
        self.authorization = basic("", "t0ken")
        self.work: dict[int, dict[str, Any]] = {}
        self.files: dict[str, bytes] = {}
        self.vanished: set[int] = set()
        self.comments: dict[int, list[dict[str, Any]]] = {}

    def put(self, number: int, title: str = "", changed: float = NOW - 9 * DAY, **more: Any) -> None:
        comments = more.pop("comments", ())
        self.comments[number] = [
            {"id": n, "text": text, "createdBy": {"displayName": who}, "createdDate": iso(changed)}
            for n, (who, text) in enumerate(comments)
        ]
        relations = more.pop("relations", [])
        for name, content in more.pop("attachments", {}).items():
            self.files[file := f"0ab{len(self.files)}"] = content
            address = f"{self.url}/fabrikam/1f2e/_apis/wit/attachments/{file}?fileName=x"
            own = {"name": name, "resourceSize": len(content), "authorizedDate": iso(changed)}
            relations = [*relations, {"rel": "AttachedFile", "url": address, "attributes": own}]
        fields = {
            "System.Id": number, "System.Title": title or f"Item {number}", "System.State": "Active", "System.WorkItemType": "Bug",
            "System.ChangedDate": iso(changed), "System.CommentCount": len(comments), "System.Description": f"<p>About <b>{number}</b></p>",
            "System.Tags": "net; api", **more,
        }  # fmt: skip
        self.work[number] = {"id": number, "rev": 3, "fields": fields, "relations": relations}

    def check(self, headers: Any) -> None:
        if headers.get("Authorization") != self.authorization:
            raise RefusalError(203, b"<html><head><title>Azure DevOps Services | Sign In</title></head></html>")

    def answer(self, method: str, path: str, query: dict[str, list[str]], body: Any, headers: Any) -> Any:
        self.check(headers)
        below = "/fabrikam/Web Shop/_apis/wit"
        if file := re.fullmatch(r"/fabrikam/1f2e/_apis/wit/attachments/(\w+)", path):
            only(query, "api-version", "fileName", "download")
            return file_of(self, self.files, file[1], headers)
        if method == "POST" and path == f"{below}/wiql":
            only(query, "api-version", "timePrecision", "$top")
            if query["api-version"] != ["7.1"] or query["timePrecision"] != ["true"]:
                raise RefusalError(400, {"message": "TF51540: you must not supply a time with the date"})
            return self._wiql(body["query"], min(int(query["$top"][0]), self.most))
        if method == "POST" and path == f"{below}/workitemsbatch":
            only(query, "api-version")
            if set(body) != {"ids", "$expand", "errorPolicy"} or body["$expand"] != "All" or len(body["ids"]) > 200:
                raise RefusalError(400, {"message": "VS403474: bad batch"})
            return {
                "count": len(body["ids"]),
                "value": [None if number in self.vanished else self.work[number] for number in body["ids"]],
            }
        if comments := re.fullmatch(rf"{below}/workItems/(\d+)/comments", path):
            only(query, "api-version", "$top", "order", "continuationToken")
            start, every = int(query.get("continuationToken", ["0"])[0]), self.comments[int(comments[1])]
            more = {"continuationToken": str(start + 1)} if start + 1 < len(every) else {}
            return {"totalCount": len(every), "comments": every[start : start + 1], **more}
        raise RefusalError(404, {"message": "TF200016: The following project does not exist"})

    def _wiql(self, query: str, top: int) -> Any:
        form = (
            r"SELECT \[System\.Id\] FROM WorkItems WHERE \[System\.TeamProject\] = @project AND \[System\.Id\] > (\d+)"
            r"(?: AND \[System\.ChangedDate\] >= '([^']+)')?(?: AND \(\[System\.State\] = '(\w+)'\))? ORDER BY \[System\.Id\]"
        )
        asked = re.fullmatch(form, query)
        if asked is None:
            raise RefusalError(400, {"message": f"TF51005: The query {query!r} references a field that does not exist"})
        since = datetime.fromisoformat(asked[2]).timestamp() if asked[2] else 0.0
        found = [
            number
            for number, item in sorted(self.work.items())
            if number > int(asked[1])
            and datetime.fromisoformat(item["fields"]["System.ChangedDate"]).timestamp() >= since
            and asked[3] in {None, item["fields"]["System.State"]}
        ]
        return {
            "queryType": "flat",
            "workItems": [{"id": number, "url": f"{self.url}/_apis/wit/workItems/{number}"} for number in found[:top]],
        }


class ClickUpServer(WireServer):
    """ClickUp."""

    most = 2

    def __init__(self) -> None:
        super().__init__()
        self.authorization = "pk_1_KEY"
        self.tasks: dict[str, dict[str, Any]] = {}
        self.kept: FileServer | None = None  # where attachments lie
        self.attached: dict[str, list[dict[str, Any]]] = {}
        self.comments: dict[str, list[dict[str, Any]]] = {}

    def put(self, number: str, title: str = "", updated: float = NOW - 9 * DAY, **more: Any) -> None:
        comments = more.pop("comments", ())
        self.attached[number] = [
            {
                "id": f"{n}.txt",
                "title": name,
                "size": len(content),
                "url": self.kept.put(name, content),
                "deleted": False,
            }
            for n, (name, content) in enumerate(more.pop("attachments", {}).items())
        ]
        self.comments[number] = [
            {
                "id": str(1000 + n),
                "comment_text": text,
                "user": {"username": who},
                "date": str(int((updated + n) * 1000)),
            }
            for n, (who, text) in enumerate(comments)
        ][::-1]
        self.tasks[number] = {
            "id": number, "custom_id": None, "name": title or f"Task {number}", "text_content": "", "description": "",
            "markdown_description": f"About **{number}**.", "status": {"status": "in progress", "type": "custom"},
            "date_created": str(len(self.tasks)), "date_updated": str(int(updated * 1000)), "tags": [{"name": "net"}], "parent": None,
            "list": {"id": "77"}, "url": f"https://app.clickup.com/t/{number}", "linked_tasks": [], "dependencies": [], **more,
        }  # fmt: skip

    def answer(self, method: str, path: str, query: dict[str, list[str]], body: Any, headers: Any) -> Any:
        if headers.get("Authorization") != self.authorization:
            raise RefusalError(401, {"err": "Token invalid", "ECODE": "OAUTH_025"})
        if task := re.fullmatch(r"/api/v2/task/(task\w+)", path):
            only(query)
            return {**self.tasks[task[1]], "attachments": self.attached[task[1]]}
        if comments := re.fullmatch(r"/api/v2/task/(\w+)/comment", path):
            only(query, "start", "start_id")
            every = self.comments[comments[1]]
            first = next((n + 1 for n, each in enumerate(every) if [each["id"]] == query.get("start_id")), 0)
            return {"comments": every[first : first + 25]}
        if method != "GET" or path != "/api/v2/team/42/task":
            raise RefusalError(404, {"err": "Route not found", "ECODE": "APP_001"})
        only(
            query, "page", "order_by", "reverse", "subtasks", "include_closed", "include_markdown_description", "date_updated_gt",
            "list_ids[]", "project_ids[]", "space_ids[]",
        )  # fmt: skip
        if query["order_by"] != ["created"] or query["reverse"] != ["true"] or query["include_closed"] != ["true"]:
            raise RefusalError(400, {"err": "tasks would move between pages"})
        since = int(query.get("date_updated_gt", ["-1"])[0])
        found = [task for task in self.tasks.values() if int(task["date_updated"]) > since]
        found = [task for task in found if task["list"]["id"] in query.get("list_ids[]", [task["list"]["id"]])]
        first = int(query["page"][0]) * self.most
        return {"tasks": found[first : first + self.most], "last_page": first + self.most >= len(found)}


class ConfluenceServer(WireServer):
    """Confluence: Cloud by version 2, Data Center by content search."""

    most = 2
    zone_s = -11 * 3600

    def __init__(self, *, cloud: bool = True) -> None:
        super().__init__()
        self.cloud = cloud
        self.authorization = basic("ada@example.org", "t0ken") if cloud else "Bearer t0ken"
        self.pages: dict[str, dict[str, Any]] = {}
        self.kept: FileServer | None = None  # where Cloud keeps attachments
        self.gone: set[str] = set()  # names of files that are told of and not there

    def put(self, number: str, title: str = "", changed: float = NOW - 9 * DAY, **more: Any) -> None:
        body = more.pop("body", f"<p>About <strong>{number}</strong></p>")
        self.pages[number] = {
            "title": title or f"Page {number}", "changed": changed, "body": body, "labels": ["net"], "comments": [], "space": "TEAM",
            "attachments": {}, **more,
        }  # fmt: skip

    def answer(self, method: str, path: str, query: dict[str, list[str]], body: Any, headers: Any) -> Any:
        if file := re.fullmatch(r"/wiki/download/attachments/(\d+)/(.+)", path):
            return self._file(file[1], file[2], headers)
        self.check(headers)
        if not self.cloud and path == "/wiki/rest/api/content/search":
            return self._search(query)
        if not self.cloud or method != "GET":
            raise RefusalError(404, {"message": "No resource"})
        if path == "/wiki/api/v2/spaces":
            only(query, "limit", "keys", "cursor")
            keys = {"TEAM": "7", "OPS": "8"}
            wanted = query.get("keys", list(keys))
            return {"results": [{"id": keys[key], "key": key} for key in wanted if key in keys], "_links": {}}
        if path == "/wiki/api/v2/pages":
            return self._listed(query)
        if part := re.fullmatch(r"/wiki/api/v2/pages/(\d+)/(labels|footer-comments|attachments)", path):
            return self._part(part[1], part[2], query)
        raise RefusalError(404, {"errors": [{"status": 404, "title": "Not Found"}]})

    def _file(self, number: str, name: str, headers: Any) -> Any:
        there = {each: content for each, content in self.pages[number]["attachments"].items() if each not in self.gone}
        content = file_of(self, there, name, headers)
        if self.cloud:
            raise RefusalError(302, b"", {"Location": self.kept.put("signed", content)})
        return content

    def _part(self, number: str, part: str, query: dict[str, list[str]]) -> Any:
        own = self.pages[number]
        if part == "attachments":
            only(query, "limit", "status", "cursor")
            return {"results": [
                {"id": f"att{n}", "title": name, "fileSize": len(content), "mediaType": "text/plain",
                 "downloadLink": f"/download/attachments/{number}/{name}?version=1&api=v2"}
                for n, (name, content) in enumerate(own["attachments"].items())
            ], "_links": {}}  # fmt: skip
        if part == "labels":
            return {"results": [{"id": "1", "name": name} for name in own["labels"]], "_links": {}}
        if query.get("body-format") != ["storage"]:
            raise RefusalError(400, {"message": "no body"})
        version = {"createdAt": iso(own["changed"])}
        return {
            "results": [
                {"id": "1", "version": version, "body": {"storage": {"value": each}}} for each in own["comments"]
            ],
            "_links": {},
        }

    def _listed(self, query: dict[str, list[str]]) -> Any:
        only(query, "body-format", "limit", "status", "sort", "space-id", "cursor")
        if query["body-format"] != ["storage"] or query["status"] != ["current"]:
            raise RefusalError(400, {"errors": [{"title": "bad"}]})
        spaces = {"7": "TEAM", "8": "OPS"}
        own = {
            n: p
            for n, p in self.pages.items()
            if p["space"] in [spaces[each] for each in query.get("space-id", spaces)]
        }
        order = {"id": int, "-modified-date": lambda n: -own[n]["changed"]}[query["sort"][0]]
        found = sorted(own, key=order)
        first = int(query.get("cursor", ["0"])[0])
        results = [
            {
                "id": n, "status": "current", "title": own[n]["title"], "spaceId": next(i for i, k in spaces.items() if k == own[n]["space"]),
                "version": {"createdAt": iso(own[n]["changed"]), "number": 2}, "body": {"storage": {"value": own[n]["body"], "representation": "storage"}},
                "_links": {"webui": f"/spaces/TEAM/pages/{n}/x"},
            }
            for n in found[first : first + self.most]
        ]  # fmt: skip
        spaces_asked = "".join(f"&space-id={each}" for each in query.get("space-id", ()))
        following = f"/wiki/api/v2/pages?body-format=storage&limit=50&status=current&sort={query['sort'][0]}{spaces_asked}&cursor={first + self.most}"
        links = {"next": following} if first + self.most < len(found) else {}
        return {"results": results, "_links": {**links, "base": "https://example.atlassian.net/wiki"}}

    def _search(self, query: dict[str, list[str]]) -> Any:
        only(query, "cql", "start", "limit", "expand")
        conditions, _, order = query["cql"][0].partition(" ORDER BY ")
        if order != "created ASC":
            raise RefusalError(400, {"message": "pages would move"})
        found = sorted(self.pages, key=int)
        for condition in conditions.split(" AND "):
            if spaces := re.fullmatch(r"space in \((.+)\)", condition):
                found = [n for n in found if f'"{self.pages[n]["space"]}"' in spaces[1]]
            elif since := re.fullmatch(r'lastmodified >= "(\d{4}/\d\d/\d\d \d\d:\d\d)"', condition):
                local = datetime.strptime(since[1], "%Y/%m/%d %H:%M").replace(tzinfo=UTC).timestamp()
                found = [n for n in found if self.pages[n]["changed"] >= local - self.zone_s]
            elif condition != "type = page":
                raise RefusalError(400, {"message": f"Could not parse cql : {condition}"})
        first = int(query["start"][0])
        results = [
            {
                "id": n, "type": "page", "title": own["title"], "space": {"key": own["space"]},
                "version": {"when": iso(own["changed"]), "number": 2, "by": {"displayName": "Ada"}},
                "body": {"storage": {"value": own["body"]}}, "metadata": {"labels": {"results": [{"name": each} for each in own["labels"]]}},
                "children": {"comment": {"results": [
                    {"body": {"storage": {"value": each}}, "version": {"when": iso(own["changed"]), "by": {"displayName": "Bea"}}} for each in own["comments"]
                ]}, "attachment": {"results": [
                    {"id": f"att{m}", "title": name, "extensions": {"fileSize": len(content), "mediaType": "text/plain"},
                     "_links": {"download": f"/download/attachments/{n}/{name}?version=1"}}
                    for m, (name, content) in enumerate(own["attachments"].items())
                ]}},
                "_links": {"webui": f"/display/TEAM/{n}"},
            }
            for n in found[first : first + self.most] for own in [self.pages[n]]
        ]  # fmt: skip
        links = {"next": "/rest/api/content/search?x"} if first + self.most < len(found) else {}
        return {
            "results": results,
            "start": first,
            "limit": self.most,
            "size": len(results),
            "_links": {**links, "base": f"{self.url}/wiki"},
        }


class GraphServer(WireServer):
    """Microsoft Graph, and where applications sign in."""

    most = 2

    def __init__(self) -> None:
        super().__init__()
        self.authorization = "Bearer t0ken"
        self.files: dict[str, dict[str, Any]] = {}
        self.log: list[str] = []  # ids in the order they changed
        self.expired = False
        self.secret = "s3cret"

    def put(
        self, number: str, name: str, content: bytes, folder: str = "Guides", changed: float = NOW - 9 * DAY
    ) -> None:
        self.files[number] = {"name": name, "content": content, "folder": folder, "changed": changed}
        self.log.append(number)

    def drop(self, number: str) -> None:
        del self.files[number]
        self.log.append(number)

    def answer(self, method: str, path: str, query: dict[str, list[str]], body: Any, headers: Any) -> Any:
        if path == "/contoso.example/oauth2/v2.0/token":
            wanted = {"grant_type": ["client_credentials"], "client_id": ["app"], "client_secret": [self.secret]}
            if (
                method != "POST"
                or {name: body.get(name) for name in wanted} != wanted
                or body["scope"] != ["https://graph.microsoft.com/.default"]
            ):
                raise RefusalError(
                    401,
                    {"error": "invalid_client", "error_description": "AADSTS7000215: Invalid client secret provided."},
                )
            return {"token_type": "Bearer", "expires_in": 3599, "access_token": "t0ken"}
        if path.startswith("/download/"):
            if "Authorization" in headers:
                raise RefusalError(401, {"error": "a key was shown to a stranger"})
            return self.files[path.removeprefix("/download/")]["content"]
        if headers.get("Authorization") != self.authorization:
            raise RefusalError(
                401, {"error": {"code": "InvalidAuthenticationToken", "message": "Access token is empty."}}
            )
        return self._graph(path, query)

    def _graph(self, path: str, query: dict[str, list[str]]) -> Any:
        if path == "/v1.0/sites/contoso.sharepoint.com:/sites/team":
            return {"id": "contoso.sharepoint.com,1,2", "name": "team"}
        if path == "/v1.0/sites/contoso.sharepoint.com,1,2/drive":
            return {"id": "b!x", "name": "Documents"}
        if path == "/v1.0/sites/contoso.sharepoint.com,1,2/drives":
            return {"value": [{"id": "b!x", "name": "Documents"}, {"id": "b!y", "name": "Archive"}]}
        if path == "/v1.0/drives/b!x/root/delta":
            return self._delta(query)
        if folder := re.fullmatch(r"/v1\.0/drives/b!x/items/folder-(.+)", path):
            above, _, name = f"/{folder[1]}".rpartition("/")
            return {"id": f"folder-{folder[1]}", "name": name, "parentReference": {"path": f"/drives/b!x/root:{above}"}}
        if content := re.fullmatch(r"/v1\.0/drives/b!x/items/(\w+)/content", path):
            raise RefusalError(302, b"", {"Location": f"{self.url}/download/{content[1]}"})
        raise RefusalError(404, {"error": {"code": "itemNotFound", "message": "The resource could not be found."}})

    def _delta(self, query: dict[str, list[str]]) -> Any:
        only(query, "token", "skip")
        if self.expired and "token" in query:
            raise RefusalError(
                410,
                {"error": {"code": "resyncChangesApplyDifferences"}},
                {"Location": f"{self.url}/v1.0/drives/b!x/root/delta"},
            )
        since, skip = int(query.get("token", ["-1"])[0]), int(query.get("skip", ["0"])[0])
        found = list(dict.fromkeys(self.log[max(since, 0) :]))
        found = [number for number in found if since >= 0 or number in self.files]
        value: list[dict[str, Any]] = (
            [] if skip or since >= 0 else [{"id": "root", "name": "root", "root": {}, "folder": {"childCount": 1}}]
        )
        for number in found[skip : skip + self.most]:
            own = self.files.get(number)
            if own is None:
                value.append({"id": number, "deleted": {"state": "deleted"}})
                continue
            value.append({
                "id": number, "name": own["name"], "size": len(own["content"]), "file": {"mimeType": "text/plain"},
                "webUrl": f"https://contoso.sharepoint.com/sites/team/Shared%20Documents/{own['name']}",
                "lastModifiedDateTime": iso(own["changed"]), "parentReference": {"driveId": "b!x", "id": f"folder-{own['folder']}"},
            })  # fmt: skip
        below = f"{self.url}/v1.0/drives/b!x/root/delta"
        if skip + self.most < len(found):
            token = f"token={since}&" if since >= 0 else ""
            return {"value": value, "@odata.nextLink": f"{below}?{token}skip={skip + self.most}"}
        return {"value": value, "@odata.deltaLink": f"{below}?token={len(self.log)}"}
