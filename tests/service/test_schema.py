"""Requests made of the OpenAPI description, good and bad: the service answers all of them as it says, never by 5xx.

benchmarks/service_schema.py sends ten thousand.
"""

from schema_cases import ask_all
from servers import Server


def test_made_up_requests_are_answered_as_described(server: Server) -> None:
    assert ask_all(server.url, count=300) >= 200
