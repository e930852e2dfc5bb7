"""Where a language server says that calls of PHP lead.

    python php_sites.py ROOT SERVER > found.json        SERVER: the npm package `intelephense`

Prints the items that go/main.go describes. Definitions in the server's own stubs are declarations elsewhere. Calls that
lead to a line of a comment (`@method`), which declares nothing that runs, are left out. This is a server, no compiler:
the weakest of the truths here.
"""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any
from urllib.parse import unquote, urlparse

import tree_sitter
import tree_sitter_php

CALLS = {
    "function_call_expression": "function", "member_call_expression": "name", "nullsafe_member_call_expression": "name",
    "scoped_call_expression": "name", "object_creation_expression": "",
}  # fmt: skip
NAMES = {"name", "qualified_name"}


class Server:
    """A language server over its standard streams."""

    def __init__(self, package: str, root: Path) -> None:
        command = ["node", f"{package}/lib/intelephense.js", "--stdio"]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._numbers = itertools.count(1)
        options = {"storagePath": tempfile.mkdtemp(), "clearCache": True}
        asked = {"processId": None, "rootUri": root.as_uri(), "capabilities": {}, "initializationOptions": options}
        asked["workspaceFolders"] = [{"uri": root.as_uri(), "name": root.name}]
        self.ask("initialize", asked)
        self.tell("initialized", {})
        while self._heard().get("method") != "indexingEnded":
            pass

    def tell(self, method: str, params: Any, **more: Any) -> None:
        """Send a notification, or with an id a request."""
        text = json.dumps({"jsonrpc": "2.0", "method": method, "params": params} | more).encode()
        stream = self._stream(self._process.stdin)
        stream.write(b"Content-Length: %d\r\n\r\n%s" % (len(text), text))
        stream.flush()

    def ask(self, method: str, params: Any) -> Any:
        """Return the answer to a request."""
        number = next(self._numbers)
        self.tell(method, params, id=number)
        while (heard := self._heard()).get("id") != number or "method" in heard:
            pass
        return heard.get("result")

    def end(self) -> None:
        """Stop the server."""
        self.ask("shutdown", None)
        self.tell("exit", None)
        self._process.wait(10)

    def _heard(self) -> dict[str, Any]:
        stream, length = self._stream(self._process.stdout), 0
        while line := stream.readline().strip():
            if line.lower().startswith(b"content-length:"):
                length = int(line.split(b":")[1])
        heard: dict[str, Any] = json.loads(stream.read(length))
        if "id" in heard and "method" in heard:  # the server asks for its settings
            many = len(heard.get("params", {}).get("items", ())) if heard["method"] == "workspace/configuration" else 0
            answer = json.dumps(
                {"jsonrpc": "2.0", "id": heard["id"], "result": [None] * many if many else None}
            ).encode()
            self._stream(self._process.stdin).write(b"Content-Length: %d\r\n\r\n%s" % (len(answer), answer))
            self._stream(self._process.stdin).flush()
        return heard

    @staticmethod
    def _stream(stream: IO[bytes] | None) -> IO[bytes]:
        assert stream is not None
        return stream


def calls(content: bytes) -> Iterator[tuple[int, tree_sitter.Node]]:
    """Yield the line of each called name, and the name."""
    parser = tree_sitter.Parser(tree_sitter.Language(tree_sitter_php.language_php()))
    waiting = [parser.parse(content).root_node]
    while waiting:
        node = waiting.pop()
        waiting += node.children
        if node.type in CALLS:
            field = CALLS[node.type]
            named = (
                node.child_by_field_name(field) if field else next((n for n in node.children if n.type in NAMES), None)
            )
            if named is not None and named.type in NAMES:
                last = named.children[-1] if named.type == "qualified_name" else named
                yield last.start_point.row + 1, last


def placed(told: dict[str, Any], root: Path) -> list[Any]:
    """Return path, line and kind of a definition below the root, else nothing; line 0 for one in a comment."""
    there, line = Path(unquote(urlparse(told["uri"]).path)), told["range"]["start"]["line"]
    if not there.is_relative_to(root) or "vendor" in there.relative_to(root).parts:
        return []
    lines = there.read_text(errors="replace").split("\n")
    if lines[line].lstrip().startswith("/**"):  # the comment above the declaration counts as its beginning
        line = next(at for at in range(line, len(lines)) if "*/" in lines[at]) + 1
    is_comment = lines[line].lstrip().startswith("* ")
    return [there.relative_to(root).as_posix(), 0 if is_comment else line + 1, "Func"]


def main() -> None:
    """Print all sites."""
    root = Path(sys.argv[1]).resolve()
    server, found = Server(sys.argv[2], root), []
    for path in sorted(root.rglob("*.php")):
        inside = path.relative_to(root).as_posix()
        if inside.startswith((".git/", "vendor/")):
            continue
        text = path.read_text(errors="replace")
        document = {"uri": path.as_uri()}
        server.tell(
            "textDocument/didOpen", {"textDocument": document | {"languageId": "php", "version": 1, "text": text}}
        )
        for start, name in calls(text.encode()):
            at = {"line": name.start_point.row, "character": name.start_point.column}
            told = server.ask("textDocument/definition", {"textDocument": document, "position": at}) or []
            places = [place for each in (told if isinstance(told, list) else [told]) if (place := placed(each, root))]
            written = (name.text or b"").decode()
            is_known = bool(told) and all(place[1] for place in places)
            found.append([inside, start, name.start_point.row + 1, written, places if is_known else None])
        server.tell("textDocument/didClose", {"textDocument": document})
    server.end()
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
