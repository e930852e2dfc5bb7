"""Tools from JSON and OpenAPI, in the shapes that people have.

An array, an object with `tools`, one tool, or a tool a line, written as MCP's `tools/list` does or as function calling
does; `server` may stand beside the name, and `server_description` beside that.

    >>> tools, rejected = read_tools('{"tools": [{"name": "read", "description": "Read a file."}, {"title": "?"}]}', "files")
    >>> [tool.id for tool in tools], rejected[0].place
    (['files/read'], 'tools[1]')
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

from vademecum.errors import UsageError
from vademecum.protocols import ToolServer
from vademecum.tools.records import Rejected, Tool

T = TypeVar("T")

# What would change how the rest of a line reads, or begin another: control characters, and those that turn the direction of text.
_CONTROL = r"\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069"
_IN_TEXT, _IN_NAME = re.compile(f"[{_CONTROL}]"), re.compile(rf"[\t\n{_CONTROL}]")
_LONGEST_NAME = 256
_LONGEST_DESCRIPTION = 20_000  # characters kept; what an agent would be shown is shorter by far


def read_tools(text: str, server: str = "") -> tuple[list[Tool], list[Rejected]]:
    """Return the tools of a JSON text, and the items refused."""
    return read_items(text, "tools", lambda item: tool_of(item, server))


def tool_of(item: Any, server: str = "") -> Tool:
    """Return the tool of a JSON value, or raise `UsageError`."""
    if not isinstance(item, Mapping):
        raise UsageError("a tool is an object with a name and a description")
    if "name" not in item and ("openapi" in item or "swagger" in item):
        raise UsageError("this is an OpenAPI document: register it with --openapi, or by register_openapi")
    body = item["function"] if isinstance(item.get("function"), Mapping) else item
    name = body.get("name")
    if not isinstance(name, str) or not name.strip() or len(name) > _LONGEST_NAME:
        raise UsageError(f"a tool needs a name of 1 to {_LONGEST_NAME} characters")
    if _IN_NAME.search(name.strip()):
        raise UsageError(f"the name {name[:80]!r} has characters that no line can show: give it another")
    owner = item.get("server", server)
    if not isinstance(owner, str) or "/" in owner:
        raise UsageError(f"the server of {name!r} is text without a slash")
    return Tool.of(
        owner or server,
        name.strip(),
        _said(body.get("description") or body.get("title")),
        about=_said(item.get("server_description")),
        input_schema=_schema(body, "inputSchema", "input_schema", "parameters"),
        output_schema=_schema(body, "outputSchema", "output_schema"),
        annotations=_schema(body, "annotations"),
    )


def listed(server: ToolServer) -> tuple[list[Tool], list[Rejected]]:
    """Return tools and refused items of a server, or raise `ToolServerError`."""
    tools: dict[str, Tool] = {}
    rejected: list[Rejected] = []
    own = {"server": server.name, "server_description": server.about}  # a server speaks for itself alone
    for number, item in enumerate(server.tools().unwrap()):
        place = f"{server.name} tools[{number}]"
        try:
            tool = tool_of({**item, **own}, server.name)
        except UsageError as error:
            rejected.append(Rejected(place, str(error)))
            continue
        if tools.setdefault(tool.id, tool) is not tool:
            rejected.append(Rejected(place, f"it lists {tool.name!r} twice: the first counts"))
    return list(tools.values()), rejected


def _said(text: Any) -> str:
    return _IN_TEXT.sub("", text[:_LONGEST_DESCRIPTION]) if isinstance(text, str) else ""


def read_items(text: str, key: str, read: Callable[[Any], T]) -> tuple[list[T], list[Rejected]]:
    """Return items read and refused of a JSON text, or raise `UsageError`."""
    found: list[T] = []
    rejected: list[Rejected] = []
    for place, item in _items(text, key):
        try:
            found.append(read(item))
        except UsageError as error:
            rejected.append(Rejected(place, str(error)))
    return found, rejected


def _items(text: str, key: str) -> Iterator[tuple[str, Any]]:
    """Yield (place, value) of each item; None for no JSON."""
    whole = parsed(text)
    if isinstance(whole, Mapping) and isinstance(whole.get(key), list):
        whole = whole[key]
    if isinstance(whole, list):
        yield from ((f"{key}[{number}]", item) for number, item in enumerate(whole))
    elif whole is not None:
        yield key, whole
    else:
        read = [(f"line {n}", parsed(line)) for n, line in enumerate(text.splitlines(), 1) if line.strip()]
        if read and not any(isinstance(value, Mapping | list) for _, value in read):  # a number stands in any file
            raise UsageError(f"this is neither JSON nor JSON lines: give an array of {key}, or one a line")
        yield from read


def parsed(text: str) -> Any:
    """Return the value of a JSON text; None for another text."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _schema(body: Mapping[str, Any], *names: str) -> Mapping[str, Any]:
    found: Mapping[str, Any] = next((body[name] for name in names if isinstance(body.get(name), Mapping)), {})
    return dict(found)


METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace")
_LONGEST_ABOUT = 4_000  # characters of what a document says of itself
MOST_NESTED = 100  # levels of the document
MOST_DEPTH = 6  # of schemas within schemas
MOST_PARTS = 500  # of one operation's schemas, references written out
_IMPLIED = frozenset({"accept", "content-type", "authorization"})  # headers that are no arguments, by the specification
_UNTOLD = frozenset({"example", "examples", "xml", "externalDocs", "discriminator"})  # of a schema: no part of it
_SAYS_SO = re.compile(r"""^["']?(?:openapi|swagger)["']?[ \t]*:""", re.MULTILINE)  # at the top of a document in YAML
_NO_WORD = re.compile(r"[^A-Za-z0-9]+")
_BESIDE = ("type", "items", "enum", "format", "default", "minimum", "maximum")  # a parameter's name, in Swagger 2.0

Table = Mapping[str, Any]


def is_openapi(text: str) -> bool:
    r"""Return whether a JSON or YAML text declares itself OpenAPI.

    >>> is_openapi("openapi: 3.1.0\npaths: {}"), is_openapi('{"swagger": "2.0"}'), is_openapi('{"name": "openapi"}')
    (True, True, False)
    """
    document = parsed(text)
    if document is None:
        return not text.lstrip().startswith(("{", "[")) and _SAYS_SO.search(text) is not None
    return isinstance(document, Mapping) and "name" not in document and not {"openapi", "swagger"}.isdisjoint(document)


def read_openapi(text: str, server: str = "") -> tuple[list[Tool], list[Rejected]]:
    """Return the tools of an OpenAPI document, and the operations refused.

    `server` is the document's title unless given.
    """
    document = parsed(text)
    document = _yaml(text) if document is None else document
    if not isinstance(document, Mapping):
        raise UsageError("this is no OpenAPI document: it is neither a JSON object nor a YAML mapping")
    version = str(document.get("openapi") or document.get("swagger") or "")
    if not version.startswith(("3.", "2.")) or not isinstance(document.get("paths"), Mapping):
        raise UsageError("this is no OpenAPI document: it needs `openapi: 3.x` (or `swagger: 2.0`) and `paths`")
    info = _table(document.get("info"))
    owner = server or _slug(str(info.get("title") or "api"), "-").lower()
    about = " ".join(str(info[key]) for key in ("title", "description") if info.get(key))[:_LONGEST_ABOUT]
    tools: dict[str, Tool] = {}
    rejected: list[Rejected] = []
    for path, method, shared, operation in _operations(document):
        schemas, place = _Schemas(document), f"{method.upper()} {path}"
        by_path = f"{method}_{_slug(path, '_')}".rstrip("_")
        name = str(operation.get("operationId") or by_path).strip()[:200]
        name = f"{name}_{by_path}" if any(tool.name == name for tool in tools.values()) else name
        said = [str(operation[key]).strip() for key in ("summary", "description") if operation.get(key)]
        said = ["[Deprecated]", *said] if operation.get("deprecated") is True else said
        inputs, output = _inputs(schemas, shared, operation), _output(schemas, operation)
        words = "\n".join(dict.fromkeys(said)) or place
        tool = Tool.of(owner, name, words, input_schema=inputs, output_schema=output, about=about)
        tools[tool.id] = tool
        rejected += [Rejected(place, reason) for reason in schemas.problems]
    return list(tools.values()), rejected


def _yaml(text: str) -> Any:
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # ten times as fast, where it was built
    try:
        depth = 0
        for event in yaml.parse(text, Loader=loader):  # building something deep would crash the interpreter
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if depth > MOST_NESTED:
                raise UsageError(f"this is no OpenAPI document: it is nested more than {MOST_NESTED} deep")
        return yaml.load(text, Loader=loader)  # noqa: S506 -- both make plain values only
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        if isinstance(error, UsageError):
            raise
        raise UsageError(f"this is neither JSON nor YAML: {' '.join(str(error).split())}") from error


def _operations(document: Table) -> Iterator[tuple[str, str, Any, Table]]:
    """Yield (path, method, parameters of the path, operation)."""
    for path, given in document["paths"].items():
        item = _Schemas(document).target(given)
        for method in METHODS:
            if isinstance(item.get(method), Mapping):
                yield str(path), method, item.get("parameters"), item[method]


def _slug(text: str, joint: str) -> str:
    return _NO_WORD.sub(joint, text).strip(joint) or "api"


def _inputs(schemas: _Schemas, shared: Any, operation: Table) -> Table:
    """One object schema of all parameters and the body's fields."""
    properties: dict[str, Any] = {}
    required: list[str] = []
    for key, body, needed in _arguments(schemas, shared, operation):
        name = key if key not in properties else f"{key}_2"
        properties[name] = body
        required += [name] if needed else []
    return {"type": "object", "properties": properties} | ({"required": required} if required else {})


def _arguments(schemas: _Schemas, shared: Any, operation: Table) -> Iterator[tuple[str, Table, bool]]:
    """Yield (name, schema, whether it is required)."""
    found: dict[tuple[str, str], Table] = {}  # an operation's own parameter stands before its path's
    for given in (*_listed(shared), *_listed(operation.get("parameters"))):
        parameter = schemas.target(given)
        found[str(parameter.get("name", "")), str(parameter.get("in", ""))] = parameter
    for (name, where), parameter in found.items():
        if where == "body":  # Swagger 2.0
            yield from _body(schemas, parameter.get("schema"), needed=parameter.get("required") is True)
        elif name and not (where == "header" and name.lower() in _IMPLIED):
            schema = parameter.get("schema") or _json_schema(parameter.get("content"))
            beside = {key: parameter[key] for key in _BESIDE if key in parameter}
            whole = schemas.written_out(beside if schema is None else schema)
            said = {"description": parameter["description"]} if parameter.get("description") else {}
            yield name, {**whole, **said}, parameter.get("required") is True or where == "path"
    body = schemas.target(operation.get("requestBody"))
    if body:
        yield from _body(schemas, _json_schema(body.get("content")), needed=body.get("required") is True)


def _body(schemas: _Schemas, schema: Any, *, needed: bool) -> Iterator[tuple[str, Table, bool]]:
    """The fields of an object body; any other is the argument `body`."""
    whole = schemas.written_out(schema)
    fields, required = _table(whole.get("properties")), _listed(whole.get("required"))
    if not fields:
        yield "body", whole, needed
    for name, field in fields.items():
        if not _table(field).get("readOnly"):
            yield str(name), _table(field), needed and name in required


def _output(schemas: _Schemas, operation: Table) -> Table:
    """The schema of a successful response."""
    responses = {str(code): given for code, given in _table(operation.get("responses")).items()}
    good = sorted(code for code in responses if code.upper() == "2XX" or re.fullmatch(r"2\d\d", code))
    for code in good or [code for code in ("default",) if code in responses]:
        response = schemas.target(responses[code])
        schema = response.get("schema") or _json_schema(response.get("content"))
        if schema is not None:
            return schemas.written_out(schema)
    return {}


def _json_schema(content: Any) -> Any:
    """The schema of the JSON form, or of the first."""
    forms = {str(kind): body for kind, body in _table(content).items()}
    chosen = next((kind for kind in forms if "json" in kind), next(iter(forms), ""))
    return _table(forms.get(chosen)).get("schema")


class _Schemas:
    """References of one document, written out where they stand."""

    def __init__(self, document: Table) -> None:
        self.problems: dict[str, None] = {}  # each once
        self._document = document
        self._left = MOST_PARTS

    def target(self, given: Any) -> Table:
        """Return the object that is meant, following references to others."""
        for _ in range(MOST_DEPTH):
            if not isinstance(given, Mapping) or "$ref" not in given:
                break
            given = self._look_up(given["$ref"])
        return _table(given)

    def written_out(self, schema: Any, depth: int = 0) -> dict[str, Any]:
        """Return a schema without references, open where too deep or too large."""
        self._left -= 1
        if depth > MOST_DEPTH or self._left < 0:
            return {}
        whole: dict[str, Any] = {}
        own = self.target(schema)
        for part in (*(self.target(part) for part in _listed(own.get("allOf"))[:20]), own):
            for key, value in part.items():
                if not (key in _UNTOLD or str(key).startswith("x-") or (part is own and key == "allOf")):
                    whole[key] = self._merged(whole.get(key), self._inner(key, value, depth))
        return whole

    def _inner(self, key: str, value: Any, depth: int) -> Any:
        if key == "properties" and isinstance(value, Mapping):
            return {str(name): self.written_out(body, depth + 1) for name, body in value.items()}
        if key in {"anyOf", "oneOf"} and isinstance(value, list):
            return [self.written_out(body, depth + 1) for body in value]
        if key in {"items", "additionalProperties", "not"} and isinstance(value, Mapping):
            return self.written_out(value, depth + 1)
        if isinstance(value, list):
            return [self._inner("", one, depth) for one in value[: MOST_DEPTH * 100]]
        return value if isinstance(value, str | int | float | bool) or value is None else str(value)[:200]

    @staticmethod
    def _merged(before: Any, value: Any) -> Any:
        if isinstance(before, dict) and isinstance(value, dict):
            return before | value
        if isinstance(before, list) and isinstance(value, list):
            return [*before, *(one for one in value if one not in before)]
        return value

    def _look_up(self, reference: Any) -> Any:
        found: Any = self._document
        if not isinstance(reference, str) or not reference.startswith("#"):
            self.problems[f"it refers to {reference!r}, which is outside the document and is not fetched"] = None
            return {}
        for part in reference.removeprefix("#").strip("/").split("/"):
            key = part.replace("~1", "/").replace("~0", "~")
            if not isinstance(found, Mapping) or key not in found:
                self.problems[f"it refers to {reference!r}, which is not in the document"] = None
                return {}
            found = found[key]
        return found


def _table(value: Any) -> Table:
    return value if isinstance(value, Mapping) else {}


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
