"""Requests made of the OpenAPI description, good and bad: the service answers all of them as it says, never by 5xx.

benchmarks/service_schema.py sends ten thousand.
"""

import re
from collections.abc import Iterator
from typing import Any

import pytest

from orienteer.service.app import create_app
from orienteer.service.problem_schema import PLACE, PROBLEM, ROUTE
from orienteer.service.settings import Settings
from schema_cases import ask_all
from servers import Server, problem


def test_made_up_requests_are_answered_as_described(server: Server) -> None:
    assert ask_all(server.url, count=300) >= 200


def described(**settings: Any) -> dict[str, Any]:
    """The OpenAPI description of a service."""
    return create_app(Settings(**settings)).openapi()


@pytest.mark.parametrize(("token", "wanted"), [("", [{}, {"token": []}]), ("correct-horse-battery", [{"token": []}])])
def test_the_token_is_described(token: str, wanted: list[dict[str, Any]]) -> None:
    found = described(token=token)
    assert found["components"]["securitySchemes"] == {"token": {"type": "http", "scheme": "bearer"}}
    assert found["paths"]["/v1/solve"]["post"]["security"] == wanted
    assert found["paths"]["/metrics"]["get"]["security"] == wanted
    assert "security" not in found["paths"]["/healthz"]["get"]


def test_errors_are_described_as_problem_documents_alone() -> None:
    found = described()
    assert "HTTPValidationError" not in str(found)
    assert found["components"]["schemas"]["Problem"]["properties"].keys() == {
        "type",
        "title",
        "status",
        "detail",
        "field",
    }
    for methods in found["paths"].values():
        for operation in methods.values():
            for status, answer in operation["responses"].items():
                if status >= "400":
                    schema = {"$ref": "#/components/schemas/Problem"}
                    assert answer["content"] == {"application/problem+json": {"schema": schema}}


def test_all_fields_of_answers_are_described(server: Server) -> None:
    rules = {"names": [f"place {number}" for number in range(20)], "clock": "hours"}
    ask = {"problem": problem() | rules, "steps": 100, "alternatives": 1}
    answer = server.client.post("/v1/solve", json=ask).json()
    schemas = described()["components"]["schemas"]
    route = answer["routes"][0]
    for name, part in (
        ("Answer", answer),
        ("Plan", answer["alternatives"][0]),
        ("Route", route),
        ("Stop", route["stops"][0]),
    ):
        assert part.keys() <= schemas[name]["properties"].keys(), name
    assert "clock" in route["stops"][0]


def test_all_keys_of_problems_are_described() -> None:
    from orienteer.data.json_file import KEYS
    from orienteer.data.places import KEYS as OF_PLACE

    assert set(KEYS) - {"comment"} == PROBLEM["properties"].keys()
    assert set(OF_PLACE) - {"id", "comment"} == PLACE["properties"].keys() - {"duration"}


def test_all_keys_of_routes_are_described() -> None:
    from dataclasses import fields

    from orienteer.model.rules import Route

    assert {one.name for one in fields(Route)} | {"closes", "free_end"} == ROUTE["properties"].keys()


def undescribed(schema: Any, path: str) -> Iterator[str]:
    """The fields of a schema, and of what it holds, about which nothing is said."""
    if isinstance(schema, list):
        for part in schema:
            yield from undescribed(part, path)
    if not isinstance(schema, dict):
        return
    for name, field in schema.get("properties", {}).items():
        if not field.get("description"):
            yield f"{path}.{name}"
        yield from undescribed(field, f"{path}.{name}")
    for key in schema.keys() - {"properties"}:
        yield from undescribed(schema[key], path)


def test_every_field_is_explained() -> None:
    """Eighty fields had a type and no word about them, so that a client made of the description had to guess."""
    found = described()
    assert list(undescribed(found["components"]["schemas"], "")) == []
    for path, methods in found["paths"].items():
        for method, operation in methods.items():
            assert list(undescribed(operation, f"{method} {path}")) == []
            for parameter in operation.get("parameters", []):
                assert parameter.get("description"), f"{method} {path}: {parameter['name']}"


def test_generated_clients_get_good_names() -> None:
    """Functions were called solve_v1_solve_post, and each request had a copy of the problem without a name."""
    found = described()
    names = [operation["operationId"] for methods in found["paths"].values() for operation in methods.values()]
    assert {"solve", "explain", "add_job", "get_job", "cancel_job", "events"} <= set(names)
    assert len(set(names)) == len(names)
    known = {f"#/components/schemas/{name}" for name in found["components"]["schemas"]}
    used = set(re.findall(r"#/components/schemas/\w+", str(found)))
    assert used <= known
    assert known - used <= {"#/components/schemas/News"}
    asked = found["components"]["schemas"]["Ask"]["properties"]
    assert asked["problem"]["$ref"] == "#/components/schemas/OrienteeringProblem"
