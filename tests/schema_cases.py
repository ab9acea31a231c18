"""Requests made of the OpenAPI description of a server, sent and judged by schemathesis."""

import contextlib
from typing import Any

import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.errors import Unsatisfiable
from schemathesis.checks import not_a_server_error
from schemathesis.generation import GenerationMode
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    negative_data_rejection,
]


def ask_all(url: str, count: int, number: int = 0) -> int:
    """How many requests were sent, about `count`, half of them against the description; raises at a wrong answer."""
    schema = schemathesis.openapi.from_url(f"{url}/openapi.json")
    operations = [found.ok() for found in schema.get_all_operations()]
    asked = [one for one in operations if not one.path.endswith("/events")]  # these last as long as their jobs
    bodies = [one for one in asked if one.body]
    sent = 0
    for operation in asked:
        share = count * (9 if operation in bodies else 1) // (9 * len(bodies) + len(asked) - len(bodies))
        for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE):

            @seed(number)
            @settings(
                max_examples=max(1, share // 2 + 1),
                deadline=None,
                database=None,
                phases=[Phase.generate],
                suppress_health_check=list(HealthCheck),
            )
            @given(case=operation.as_strategy(mode))
            def ask(case: Any) -> None:
                nonlocal sent
                sent += 1
                case.call_and_validate(base_url=url, checks=CHECKS, timeout=60)

            with contextlib.suppress(Unsatisfiable):  # in some requests nothing can be wrong
                ask()
    return sent
