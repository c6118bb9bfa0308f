"""Asking the running service, or its store while none runs."""

import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

from builder.app import Address, answer_from_store, client_options, locate_store
from builder.app.settings import Settings
from builder.cli.options import say
from builder.client import Client, Unavailable, connect


class Source:
    """Where things are looked up: the service, and once it does not answer its store."""

    def __init__(self, settings: Settings, address: Address, workspace: str) -> None:
        self._settings = settings
        self._address = address
        self._workspace = workspace
        self._client: Client | None = None
        self._is_answered = False

    async def open(self, stack: AsyncExitStack) -> None:
        """Connect until the stack ends. Raises `Unavailable` when there is neither a broker nor a store."""
        options = client_options(self._address.servers, self._settings)
        try:
            self._client = await stack.enter_async_context(connect(self._address.servers, self._workspace, **options))
            self._is_answered = True
        except Unavailable as error:
            await self._turn_to_store(error)

    async def ask(self, verb: str, request: dict[str, Any]) -> dict[str, Any]:
        """The answer. Raises `Rejected` and `Unavailable`."""
        if self._client is not None and self._is_answered:
            try:
                return await self._client.ask(verb, request)
            except Unavailable as error:
                await self._turn_to_store(error)
        # A broker that was only guessed may be somebody else's.
        is_own = not self._address.is_configured and (self._client is None or bool(self._address.guess))
        servers = "" if is_own else self._address.servers
        return await answer_from_store(self._settings, servers, self._workspace, verb, json.dumps(request).encode())

    async def _turn_to_store(self, error: Unavailable) -> None:
        store = locate_store(self._settings)
        if not await store.exists():
            raise error
        self._is_answered = False
        say(f"{error}; looking into the store {store.name}")


async def ask(settings: Settings, address: Address, workspace: str, verb: str, request: dict[str, Any]) -> dict[str, Any]:
    """The answer of the service. Raises `Rejected` and `Unavailable`."""
    async with connect(address.servers, workspace, **client_options(address.servers, settings)) as client:
        return await client.ask(verb, request)


async def look_up(settings: Settings, address: Address, workspace: str, verb: str, request: dict[str, Any]) -> dict[str, Any]:
    """The answer of the service, or of its store while no service answers. Raises `Rejected` and `Unavailable`."""
    async with open_source(settings, address, workspace) as source:
        return await source.ask(verb, request)


@asynccontextmanager
async def open_source(settings: Settings, address: Address, workspace: str) -> AsyncIterator[Source]:
    """A source for the block. Raises `Unavailable` when there is neither a broker nor a store."""
    async with AsyncExitStack() as stack:
        source = Source(settings, address, workspace)
        await source.open(stack)
        yield source


async def pages(source: Source, request: dict[str, Any], most: int) -> AsyncIterator[dict[str, Any]]:
    """Breadcrumbs of a history, at most so many; 0 = all."""
    after: str | None = ""
    count = 0
    while after is not None:
        page = await source.ask("history", request | {"after": after})
        for breadcrumb in page["breadcrumbs"]:
            yield breadcrumb
            count += 1
            if count == most:
                return
        after = page["next"]
