"""SharePoint documents of a site's library, by Microsoft Graph 1.0.

    GET <url>/sites/<host>:/<path>                  {"id"}
    GET <url>/sites/<site>/drives                   {"value": [{"id", "name"}]}
    GET <url>/drives/<drive>/root/delta             {"value": […], "@odata.nextLink" or "@odata.deltaLink"}
    GET <url>/drives/<drive>/items/<id>/content     302 to an address that needs no key

The last page gives a link that lists later changes and deletions: the next run begins there. If the server has forgotten the
link (410), everything is fetched again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, unquote, urlencode

from vademecum.errors import ConfigError, CursorError, SyncError
from vademecum.items import Item, Page
from vademecum.providers.markup import SUFFIXES, UnreadableError, markdown_from, most_bytes
from vademecum.providers.post import Reply
from vademecum.providers.web import ServerSource, outcome, said_at, seconds

ADDRESS = "https://graph.microsoft.com/v1.0"
SIGN_IN = "https://login.microsoftonline.com"


@dataclass(kw_only=True, eq=False, repr=False)
class SharePoint(ServerSource):
    """The documents of one library.

    The key is a token, or an application that signs in.

    Attributes:
        site: the site, as contoso.sharepoint.com/sites/team.
        library: the name of the site's library; "" for the default one.
        folder: the folder to read; "" for the whole library.
        token: an access token for Microsoft Graph, which lasts an hour.
        tenant: the directory in which the application signs in, by number or domain.
        client: the application's number.
        client_secret: the application's secret.
        url: the address of Microsoft Graph.
        sign_in: the address at which applications sign in.
    """

    name: str = "sharepoint"
    site: str
    library: str = ""
    folder: str = ""
    token: str = ""
    tenant: str = ""
    client: str = ""
    client_secret: str = ""
    url: str = ADDRESS
    sign_in: str = SIGN_IN

    def __post_init__(self) -> None:
        """Check the options."""
        super().__post_init__()
        host, _, path = self.site.removeprefix("https://").strip("/").partition("/")
        if not host:
            raise ConfigError(f"sources.{self.name}.site is empty: name it as contoso.sharepoint.com/sites/team")
        if not self.token and not (self.tenant and self.client and self.client_secret):
            raise ConfigError(f"sources.{self.name} has no key: set token, or tenant, client and client_secret")
        self._site = f"/sites/{quote(host)}:/{quote(path)}" if path else f"/sites/{quote(host)}"
        self._folder = self.folder.strip("/")
        self._signed_in = bool(self.token)
        self._folders: dict[str, str] = {}  # paths by id

    @outcome
    def page(self, since: float, cursor: str) -> Page:  # noqa: ARG002 - the cursor's link lists the changes
        """Return the documents changed since the run that gave the cursor."""
        if not self._signed_in:
            self._sign()
        found, reply = self._delta(cursor)
        items, gone = [], []
        for each in found["value"]:
            if "deleted" in each:
                gone.append(str(each["id"]))
            elif "file" in each:
                item = self._item(each)
                if item is None:
                    gone.append(str(each["id"]))  # renamed to another kind of file, or moved elsewhere
                else:
                    items.append(item)
        following = str(found.get("@odata.nextLink") or "")
        return Page(
            tuple(items), tuple(gone), following, "" if following else str(found["@odata.deltaLink"]), said_at(reply)
        )

    def _sign(self) -> None:
        """Sign in as an application (OAuth 2.0, client credentials)."""
        form = {"grant_type": "client_credentials", "client_id": self.client, "client_secret": self.client_secret}
        there = self.server(self.sign_in, {"Content-Type": "application/x-www-form-urlencoded"})
        body = urlencode({**form, "scope": "https://graph.microsoft.com/.default"}).encode()
        reply = there.ask(
            "POST", there.below(f"/{quote(self.tenant, safe='')}/oauth2/v2.0/token"), body, accept=(400, 401)
        )
        told = there.json(reply)
        if reply.status != 200:
            raise SyncError(
                f"{self.sign_in} refused the application: check sources.{self.name}.tenant, client and client_secret"
            )
        self.web = self.server(self.url, {"Authorization": f"Bearer {told['access_token']}"})
        self._signed_in = True

    def _delta(self, cursor: str) -> tuple[Any, Reply]:
        if not cursor:
            return self.web.get(f"/drives/{quote(self._drive(), safe='!')}/root/delta")
        reply = self.web.ask("GET", self.web.below(cursor), accept=(410,))
        if reply.status == 410:
            raise CursorError(f"{self.web.url} no longer knows what changed: everything is asked for again")
        return self.web.json(reply), reply

    def _drive(self) -> str:
        site, _ = self.web.get(self._site)
        if not self.library:
            return str(self.web.get(f"/sites/{quote(site['id'], safe=',')}/drive")[0]["id"])
        drives = self.web.get(f"/sites/{quote(site['id'], safe=',')}/drives")[0]["value"]
        for each in drives:
            if each["name"] == self.library:
                return str(each["id"])
        known = ", ".join(each["name"] for each in drives) or "none"
        raise SyncError(f"the site has no library {self.library!r}: set sources.{self.name}.library to one of {known}")

    def _item(self, told: Mapping[str, Any]) -> Item | None:
        """Return one document, or None if it is not wanted."""
        name = told["name"]
        if not name.lower().endswith(SUFFIXES) or int(told.get("size") or 0) > most_bytes(name):
            return None
        folder = self._folder_of(told.get("parentReference") or {})
        if self._folder and not f"{folder}/".startswith(f"{self._folder}/"):
            return None
        try:
            text = markdown_from(name, self._content(told))
        except UnreadableError:
            return None
        path = f"{folder}/{name}" if folder else name
        return Item(
            str(told["id"]), path, name, text, "document", "", told.get("webUrl") or "", seconds(told.get("lastModifiedDateTime")), path
        )  # fmt: skip

    def _folder_of(self, parent: Mapping[str, Any]) -> str:
        """Return a file's folder, from the library's top.

        The list of changes may omit paths; then the folder is asked for, once.
        """
        if "path" in parent:
            return _below_root(parent["path"])
        number = str(parent.get("id") or "")
        if number and number not in self._folders:
            drive = quote(str(parent.get("driveId") or ""), safe="!")
            found, _ = self.web.get(f"/drives/{drive}/items/{quote(number, safe='!')}")
            above = (found.get("parentReference") or {}).get("path")
            self._folders[number] = f"{_below_root(above)}/{found['name']}".strip("/") if above else ""
        return self._folders.get(number, "")

    def _content(self, told: Mapping[str, Any]) -> bytes:
        address = told.get("@microsoft.graph.downloadUrl")
        if address:
            return self.web.elsewhere(str(address)) or b""
        drive = quote(str((told.get("parentReference") or {}).get("driveId") or ""), safe="!")
        path = f"/drives/{drive}/items/{quote(str(told['id']), safe='!')}/content"
        reply = self.web.ask("GET", self.web.below(path), accept=(302,))
        return reply.body if reply.status == 200 else self.web.elsewhere(reply.headers.get("location", "")) or b""


def _below_root(path: str) -> str:
    """Return a folder's path below the library's top, from Graph's path.

    >>> _below_root("/drives/b!x/root:/Team%20A/Guides"), _below_root("/drive/root:")
    ('Team A/Guides', '')
    """
    return unquote(path.partition("root:")[2].strip("/"))
