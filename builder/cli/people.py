"""All of a person: what is erased, and what is exported."""

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from builder.app.operations.export import Export, export_session
from builder.cli.options import Target
from builder.cli.requests import history
from builder.domain.recall import EVERY_SESSION
from builder.wire.requests import MAX_HISTORY_PAGE

COUNTS = ("versions", "messages", "contexts", "dead_letters")


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
