"""Requests to the running service, or to its store while none runs, and those about all of a person."""

import json
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import asdict
from typing import Any

from builder.app.console import say
from builder.app.operations.explanations import answer_from_store
from builder.app.operations.export import Export, export_session
from builder.app.stores import locate_store
from builder.cli.options import Target
from builder.client import Client, Unavailable
from builder.domain.recall import EVERY_SESSION
from builder.wire.requests import MAX_HISTORY_PAGE
from builder.wire.subjects import session_text

COUNTS = ("versions", "messages", "contexts", "dead_letters")


class Source:
    """Answers from the service, and from its store once the service does not answer."""

    def __init__(self, target: Target) -> None:
        self._target = target
        self._client: Client | None = None
        self._is_answered = False

    async def open(self, stack: AsyncExitStack) -> None:
        """Connect until the stack ends. Raises `Unavailable` when there is neither a broker nor a store."""
        try:
            self._client = await stack.enter_async_context(self._target.connect())
            self._is_answered = True
        except Unavailable as error:
            await self._turn_to_store(error)

    async def ask(self, verb: str, request: dict[str, Any]) -> dict[str, Any]:
        """The answer. Raises `Rejected` and `Unavailable`."""
        if self._client is not None and self._is_answered:
            try:
                return await self._client.request(verb, request)
            except Unavailable as error:
                await self._turn_to_store(error)
        target = self._target
        # A broker at a guessed address may belong to another service.
        is_own = not target.address.is_configured and (self._client is None or bool(target.address.guess))
        servers = "" if is_own else target.servers
        return await answer_from_store(target.settings, servers, target.workspace, verb, json.dumps(request).encode())

    async def _turn_to_store(self, error: Unavailable) -> None:
        store = locate_store(self._target.settings)
        if not await store.exists():
            raise error
        self._is_answered = False
        say(f"{error}; looking into the store {store.name}")


async def ask(target: Target, verb: str, request: dict[str, Any]) -> dict[str, Any]:
    """The answer of the service. Raises `Rejected` and `Unavailable`."""
    async with target.connect() as client:
        return await client.request(verb, request)


async def look_up(target: Target, verb: str, request: dict[str, Any]) -> dict[str, Any]:
    """The answer of the service, or of its store while no service answers. Raises `Rejected` and `Unavailable`."""
    async with open_source(target) as source:
        return await source.ask(verb, request)


@asynccontextmanager
async def open_source(target: Target) -> AsyncIterator[Source]:
    """A source for the block. Raises `Unavailable` when there is neither a broker nor a store."""
    async with AsyncExitStack() as stack:
        source = Source(target)
        await source.open(stack)
        yield source


def with_text(answer: dict[str, Any]) -> dict[str, Any]:
    """The answer with its session as people name it."""
    return answer | {"session": session_text(answer["session"])}


async def history(target: Target, request: dict[str, Any], limit: int) -> list[dict[str, Any]]:
    """Breadcrumbs of a session, at most `limit`; 0 = all."""
    breadcrumbs: list[dict[str, Any]] = []
    after: str | None = ""
    async with open_source(target) as source:
        while after is not None and not (limit and len(breadcrumbs) >= limit):
            page = await source.ask("history", request | {"after": after})
            breadcrumbs += page["breadcrumbs"]
            after = page["next"]
    return [with_text(each) for each in (breadcrumbs[:limit] if limit else breadcrumbs)]


async def forget_person(target: Target, user: str, by: str, progress: Callable[[int, int], object]) -> dict[str, Any]:
    """Erase all of a person; one receipt with the sums. Raises `Rejected` and `Unavailable`."""
    async with target.connect() as client:
        receipt = await client.forget_person(user, by=by, progress=progress)
    return {
        "user_id": receipt.user_id,
        "by": receipt.by,
        "breadcrumbs": len({each.id for each in receipt.receipts}),
        "sessions": receipt.sessions,
        "summaries": receipt.summaries,
        **{name: sum(getattr(each, name) for each in receipt.receipts) for name in COUNTS},
        "receipts": [asdict(each) | {"at": each.at.isoformat()} for each in receipt.receipts],
    }


async def export_person(
    target: Target, user: str, write: Callable[[str], object], progress: Callable[[int, int], None]
) -> Export:
    """Every version of what was said by and to a person as JSON lines, in the stream's order. Raises `Unavailable`."""
    breadcrumbs = await history(target, {"user": user, "limit": MAX_HISTORY_PAGE}, 0)
    ids = frozenset((crumb["session"], crumb["id"]) for crumb in breadcrumbs)
    return await export_session(target.settings, target.servers, target.workspace, EVERY_SESSION, write, progress, ids)
