"""Tools from OpenAPI documents and from servers' lists, whatever stands in them."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from vademecum.errors import ToolServerError, UsageError
from vademecum.result import Err, Ok, Result
from vademecum.tools.register import listed, read_openapi

PETS = """
openapi: 3.0.3
info: {title: Pet Store, version: "1"}
paths:
  /pets:
    parameters:
      - $ref: '#/components/parameters/Limit'
    get:
      operationId: listPets
      summary: List all pets.
      description: Newest first.
      parameters:
        - {name: limit, in: query, schema: {type: integer, maximum: 50}, description: How many}
        - {name: Authorization, in: header, schema: {type: string}}
        - {name: X-Trace, in: header, schema: {type: string}}
      responses:
        404: {description: none}
        200:
          content:
            application/json:
              schema: {type: array, items: {$ref: '#/components/schemas/Pet'}}
    post:
      requestBody:
        required: true
        content:
          application/json:
            schema: {$ref: '#/components/schemas/NewPet'}
      responses:
        '201': {$ref: '#/components/responses/Made'}
  /pets/{pet id}/picture:
    put:
      operationId: listPets
      parameters:
        - {name: pet id, in: path, schema: {type: string}}
      requestBody:
        content: {image/png: {schema: {type: string, format: binary}}}
      responses: {default: {description: fine}}
components:
  parameters:
    Limit: {name: limit, in: query, required: true, schema: {type: integer}}
  responses:
    Made: {content: {application/json: {schema: {$ref: '#/components/schemas/Pet'}}}}
  schemas:
    NewPet:
      required: [name]
      properties:
        name: {type: string}
        born: {type: string, format: date, example: 2020-01-02, enum: [2020-01-02]}
        parent: {$ref: '#/components/schemas/Pet'}
    Pet:
      allOf:
        - $ref: '#/components/schemas/NewPet'
        - required: [pet_id]
          properties: {pet_id: {type: integer, readOnly: true}}
"""


def test_one_tool_per_operation() -> None:
    """Names, words, parameters of path and operation, the body's fields, and what comes back."""
    tools, rejected = read_openapi(PETS)
    assert rejected == []
    listing, making, picture = tools
    assert listing.id == "pet-store/listPets"
    assert listing.description == "List all pets.\nNewest first."
    assert listing.input_schema == {
        "type": "object",
        "properties": {
            "limit": {"type": "integer", "maximum": 50, "description": "How many"},
            "X-Trace": {"type": "string"},
        },
    }
    assert listing.output_schema["items"]["properties"]["pet_id"]["type"] == "integer"
    assert listing.output_schema["items"]["required"] == ["name", "pet_id"]
    assert (making.name, making.description) == ("post_pets", "POST /pets")
    assert making.input_schema["required"] == ["limit", "name"]
    assert set(making.input_schema["properties"]) == {"limit", "name", "born", "parent"}
    assert "example" not in making.input_schema["properties"]["born"]
    assert making.output_schema["properties"]["name"] == {"type": "string"}
    assert picture.name == "listPets_put_pets_pet_id_picture"
    assert picture.input_schema["required"] == ["pet id"]
    assert "body" in picture.input_schema["properties"]
    assert picture.output_schema == {}


def test_json_and_yaml_are_the_same() -> None:
    """A document in JSON gives the same tools; all of them can be written down as JSON."""
    as_json = json.dumps(yaml.safe_load(PETS), default=str)
    assert json.dumps([tool.input_schema for tool in read_openapi(as_json)[0]])
    assert [tool.id for tool in read_openapi(as_json, "zoo")[0]] == [
        "zoo/listPets",
        "zoo/post_pets",
        "zoo/listPets_put_pets_pet_id_picture",
    ]


def test_swagger_two() -> None:
    """The older form: types beside names, a body among the parameters, a schema right in the response."""
    document = {
        "swagger": "2.0",
        "info": {"title": "Old"},
        "paths": {
            "/things/{id}": {
                "patch": {
                    "parameters": [
                        {"name": "id", "in": "path", "required": True, "type": "integer"},
                        {"name": "thing", "in": "body", "required": True, "schema": {"$ref": "#/definitions/Thing"}},
                    ],
                    "responses": {"200": {"schema": {"$ref": "#/definitions/Thing"}}},
                }
            }
        },
        "definitions": {"Thing": {"type": "object", "required": ["size"], "properties": {"size": {"type": "number"}}}},
    }
    (tool,), _ = read_openapi(json.dumps(document))
    assert tool.input_schema["properties"] == {"id": {"type": "integer"}, "size": {"type": "number"}}
    assert tool.input_schema["required"] == ["id", "size"]
    assert tool.output_schema["properties"] == {"size": {"type": "number"}}


def test_references_that_lead_nowhere_are_told_and_never_followed() -> None:
    """One out of the document is not fetched; the operation is a tool all the same."""
    body = {"content": {"application/json": {"schema": {"$ref": "https://example.org/other.yaml#/Pet"}}}}
    operation = {"requestBody": body, "parameters": [{"$ref": "#/components/parameters/gone"}], "responses": {}}
    document = {"openapi": "3.1.0", "info": {}, "paths": {"/x": {"get": operation}}}
    (tool,), rejected = read_openapi(json.dumps(document))
    assert tool.id == "api/get_x"
    assert [(one.place, one.reason.partition(",")[0]) for one in rejected] == [
        ("GET /x", "it refers to '#/components/parameters/gone'"),
        ("GET /x", "it refers to 'https://example.org/other.yaml#/Pet'"),
    ]


def test_schemas_without_end_end() -> None:
    """One within itself, and one that doubles at every step, are cut; the rest is open."""
    schemas: dict[str, Any] = {
        "Tree": {
            "properties": {
                "left": {"$ref": "#/components/schemas/Tree"},
                "right": {"$ref": "#/components/schemas/Tree"},
            }
        }
    }
    schemas["Loop"] = {"$ref": "#/components/schemas/Loop"}
    operation = {
        "parameters": [
            {"name": name, "in": "query", "schema": {"$ref": f"#/components/schemas/{name}"}} for name in schemas
        ]
    }
    document = {"openapi": "3.1.0", "paths": {"/x": {"get": operation}}, "components": {"schemas": schemas}}
    (tool,), _ = read_openapi(json.dumps(document))
    assert len(json.dumps(tool.input_schema)) < 200_000
    laughs = "a0: &a0 {x: 1}\n" + "".join(f"a{n + 1}: &a{n + 1} [*a{n}, *a{n}, *a{n}, *a{n}]\n" for n in range(30))
    with pytest.raises(UsageError, match="no OpenAPI document"):
        read_openapi(laughs)


@pytest.mark.parametrize(
    "text", ["", "3", "[]", "{}", "a: [", '{"openapi": "3.1.0"}', '{"openapi": 4, "paths": {}}', "[" * 100_000]
)
def test_what_is_no_document(text: str) -> None:
    """It says what is needed."""
    with pytest.raises(UsageError, match=r"no OpenAPI document|neither JSON nor YAML"):
        read_openapi(text)


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text(max_size=5)
    | st.sampled_from(["#/components/x", "string", "path"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["get", "parameters", "schema", "$ref", "properties", "allOf", "items", "name", "in", "requestBody"]
            )
            | st.sampled_from(["content", "application/json", "responses", "200", "required", "type", "anyOf", "x"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=25,
)


@given(JSON, JSON)
def test_any_document_is_read_or_refused(item: object, component: object) -> None:
    """Whatever stands where a path or a component should: no other error than ours, and tools that are JSON."""
    document = {"openapi": "3.1.0", "info": item, "paths": {"/x": item}, "components": {"x": component}}
    tools, _ = read_openapi(json.dumps(document))
    json.dumps([[tool.input_schema, tool.output_schema, tool.description] for tool in tools])


class Listing:
    """A server that lists what it is given."""

    name, about, remote, stale, alive = "files", "Keeps files.", False, False, True

    def __init__(self, answer: Result[list[Any], ToolServerError]) -> None:
        self.tools = lambda: answer


def test_a_server_speaks_for_itself_alone() -> None:
    """Its tools get its name whatever they claim; what is no tool is told, and what comes twice."""
    items: list[Any] = [
        {"name": "read", "server": "bank", "description": "Read."},
        {"name": "read"},
        {"name": 3},
        {"title": "?"},
    ]
    tools, rejected = listed(Listing(Ok(items)))  # type: ignore[arg-type]
    assert [tool.id for tool in tools] == ["files/read"]
    assert [one.place for one in rejected] == ["files tools[1]", "files tools[2]", "files tools[3]"]
    with pytest.raises(ToolServerError, match="gone"):
        listed(Listing(Err(ToolServerError("gone"))))  # type: ignore[arg-type]
