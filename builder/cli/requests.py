"""Requests to the running service, and those about all of a person."""

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from builder.app.operations.export import Export, export_session
from builder.cli.options import Target
from builder.domain.recall import EVERY_SESSION
from builder.wire.requests import MAX_HISTORY_PAGE
from builder.wire.subjects import session_text

COUNTS = ("versions", "messages", "contexts", "dead_letters")


async def ask(target: Target, verb: str, request: dict[str, Any]) -> dict[str, Any]:
    """The answer of the service. Raises `Rejected` and `Unavailable`."""
    async with target.connect() as client:
        return await client.request(verb, request)


def with_text(answer: dict[str, Any]) -> dict[str, Any]:
    """The answer with its session as people name it."""
    return answer | {"session": session_text(answer["session"])}


async def history(target: Target, request: dict[str, Any], limit: int) -> list[dict[str, Any]]:
    """Breadcrumbs of a session, at most `limit`; 0 = all."""
    breadcrumbs: list[dict[str, Any]] = []
    after: str | None = ""
    async with target.connect() as client:
        while after is not None and not (limit and len(breadcrumbs) >= limit):
            page = await client.request("history", request | {"after": after})
            breadcrumbs += page["breadcrumbs"]
            after = page["next"]
    return [with_text(each) for each in (breadcrumbs[:limit] if limit else breadcrumbs)]


async def forget_person(target: Target, user: str, by: str, progress: Callable[[int, int], object]) -> dict[str, Any]:
    """Erase all of a person; one receipt with sums. Raises `Rejected` and `Unavailable`."""
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
    """All versions of what was said by and to a person, in the stream's order. Raises `Unavailable`."""
    breadcrumbs = await history(target, {"user": user, "limit": MAX_HISTORY_PAGE}, 0)
    ids = frozenset((crumb["session"], crumb["id"]) for crumb in breadcrumbs)
    return await export_session(target.settings, target.servers, target.workspace, EVERY_SESSION, write, progress, ids)
