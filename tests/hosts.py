"""What handlers of requests get, with the parts that a test has."""

import json
from dataclasses import fields
from typing import Any

from builder.app.requests import all_requests
from builder.extra import Host, Request
from builder.wire.requests import read_request

RIGHTS: dict[str, Request] = {name: request for name, request in all_requests().items() if request.right}
"""The requests for doors with tokens."""


def host_of(**parts: Any) -> Host:
    """A host that has these parts alone."""
    none: dict[str, Any] = {field.name: None for field in fields(Host)}
    return Host(**none | parts)


async def answer(host: Host, name: str, request: object) -> dict[str, Any]:
    """Of a request in workspace `acme`, as JSON would bring it."""
    row = all_requests()[name]
    return await row.ask(host, "acme", read_request(row.model, json.dumps(request).encode()))
