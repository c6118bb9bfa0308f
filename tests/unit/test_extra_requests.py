"""A request of an extra at a door with tokens."""

import json
from typing import Any

import pytest
from pydantic import BaseModel

from builder.app.access import AccessControl
from builder.domain.errors import Forbidden, Rejected
from builder.extra import Ask, Caller, Host, Narrowing, Request
from builder.worker.log import StoredLog
from tests.factories import make_profile
from tests.hosts import host_of
from tests.ports import FixedConsumers
from tests.stores import durable_store

OFFICE = Caller(name="office", workspace="acme", rights=frozenset({"read"}))
ADA = Caller(name="ada", workspace="acme", user="ada", rights=frozenset({"read"}))


class Greeting(BaseModel):
    """Whom to greet."""

    name: str


async def greet(_host: Host, workspace: str, request: Greeting) -> dict[str, Any]:
    return {"text": f"hello {request.name} of {workspace}"}


async def only_oneself(_access: AccessControl, caller: Caller, request: Greeting, ask: Ask) -> dict[str, Any]:
    if request.name != caller.user:
        raise Forbidden("greet yourself")
    return await ask(request.model_copy(update={"name": request.name.title()}))


def control(narrowing: Narrowing | None) -> AccessControl:
    request = Request(model=Greeting, answer=dict, handler=greet, right="read", narrowing=narrowing)
    return AccessControl(host_of(log=StoredLog(durable_store()), consumers=FixedConsumers(make_profile())), {"greet": request})


async def ask(caller: Caller, name: object, narrowing: Narrowing | None = only_oneself) -> dict[str, Any]:
    return await control(narrowing).answer(caller, "greet", json.dumps({"name": name}).encode())


async def test_a_token_of_the_workspace_asks_anything() -> None:
    assert await ask(OFFICE, "ben") == {"text": "hello ben of acme"}


async def test_a_token_of_a_user_asks_what_the_request_lets_it_ask() -> None:
    assert await ask(ADA, "ada") == {"text": "hello Ada of acme"}
    with pytest.raises(Forbidden, match="greet yourself"):
        await ask(ADA, "ben")
    with pytest.raises(Rejected):
        await ask(ADA, 7)


async def test_without_a_narrowing_a_token_of_a_user_is_refused() -> None:
    with pytest.raises(Forbidden, match="greet answers for a whole workspace, and this token is of user 'ada'"):
        await ask(ADA, "ada", narrowing=None)
