"""Requests, tokens and accounts of the doors, by right."""

import socket
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, NamedTuple

import pytest

from builder.client import Unavailable, connect
from tests.http_api import EVERY_RIGHT, Answer, Api

HTTP = {
    "read": ("context", "explain", "fetch", "history", "omitted", "search", "sessions", "strip"),
    "write": ("compact", "send"),
    "forget": ("forget",),
    "export": ("export",),
}
"""Right → what it is enough for. `ask` writes and reads."""
MCP = {
    "read": ("search", "history", "list_omitted", "fetch_omitted"),
    "write": ("remember",),
    "forget": ("forget",),
    "export": (),
}
NATS = {
    "read": ("context", "explain", "fetch", "history", "search", "sessions", "strip"),
    "write": ("compact",),
    "forget": ("forget",),
}
VERBS = [verb for verbs in HTTP.values() for verb in verbs]
TOKENS: dict[str, dict[str, Any]] = {
    **{right: {"workspace": "acme", "rights": [right]} for right in EVERY_RIGHT},
    "acme": {"workspace": "acme"}, "other": {"workspace": "other"}, "ada": {"workspace": "acme", "user": "ada"},
}  # fmt: skip


def configuration() -> str:
    """Accounts of NATS that have one right each, as permissions.md grants them: by subject."""
    users = [
        f"{{user: {right}, password: p, permissions: {{publish: [{', '.join(f'requests.acme.{verb}' for verb in verbs)}], "
        'subscribe: ["_INBOX.>"]}}'
        for right, verbs in NATS.items()
    ]
    other = '{user: other, password: p, permissions: {publish: ["requests.other.>"], subscribe: ["_INBOX.>"]}}'
    return f"authorization {{users: [{{user: service, password: p}}, {other}, {', '.join(users)}]}}\n"


class Doors(NamedTuple):
    """Where a service is asked."""

    http: str
    mcp: str
    nats: str


async def is_true(condition: bool) -> bool:
    """For `until`."""
    return condition


def listens(port: int) -> bool:
    """Whether somebody takes connections there."""
    with suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
        return True
    return False


async def send(api: Api, schema: str, session: str, identity: str, user: str = "") -> Answer:
    """A breadcrumb about the kiln."""
    person = {"user_id": user} if user else {}
    body = {"message" if schema == "agent.response.v1" else "content": f"The kiln of {identity} is K-4711."}
    return await api.post("/v1/messages", schema_name=schema, session=session, context=body, id=identity, **person)


async def ask(api: Api, verb: str, session: str, message: str, user: str = "") -> Answer:
    """The request of a verb that names these."""
    person = {"user_id": user} if user else {}
    record = {"schema_name": "user.message.v1", "context": {"content": "Hello."}, "session": session}
    requests: dict[str, Callable[[], Awaitable[Answer]]] = {
        "context": lambda: api.get("/v1/contexts/default", session=session),
        "explain": lambda: api.post("/v1/explain", trigger=message, consumer="default"),
        "fetch": lambda: api.get(f"/v1/breadcrumbs/{message}"),
        "history": lambda: api.get("/v1/history", session=session),
        "omitted": lambda: api.get("/v1/contexts/default/omitted", session=session),
        "strip": lambda: api.post("/v1/strip", trigger=message, consumer="default"),
        "search": lambda: api.post("/v1/search", text="Which kiln?", session=session),
        "sessions": lambda: api.get("/v1/sessions", user_id=user),
        "compact": lambda: api.post("/v1/compact", session=session),
        "ask": lambda: api.post("/v1/contexts", session=session, content="Hello.", **person),
        "send": lambda: api.post("/v1/messages", **record, **person),
        "forget": lambda: api.post("/v1/forget", id=message),
        "export": lambda: api.get("/v1/export", session=session),
    }
    return await requests[verb]()


async def refusal(url: str, user: str, password: str) -> str:
    """How the broker refuses a login."""
    with pytest.raises(Unavailable, match="refuses the login") as error:
        async with connect(url, "acme", user=user, password=password, rounds=1):
            pass
    return str(error.value)
