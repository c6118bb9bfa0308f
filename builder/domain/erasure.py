"""The remains of an erasure: a trace in the store, and a receipt."""

from dataclasses import dataclass, replace
from datetime import datetime

from builder.domain.breadcrumb import Breadcrumb


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """An expired breadcrumb, an earlier version of one, or a summary made from one."""

    breadcrumb: Breadcrumb
    size: int
    """Bytes that the store holds of it."""


def erased(breadcrumb: Breadcrumb) -> Breadcrumb:
    """The trace of an erased breadcrumb: identity, place, what it answered, privacy."""
    return replace(
        breadcrumb,
        speaker="",
        user_id="",
        utc_offset=None,
        role="other",
        tags=(),
        body="{}",
        text="",
        calls=() if breadcrumb.call_signatures else breadcrumb.calls,
        removes=breadcrumb.id,
        is_erased=True,
        pointers=(),
        expires_at=None,
        task="",
        tool="",
        failed=False,
        call_signatures=(),
        covers=(),
        hints="",
        creator="",
        to=(),
        agent="",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """The account of one erasure: one breadcrumb in one session."""

    id: str
    workspace: str
    session: str
    """Its token; the client gives the session's text."""
    by: str
    """Who demanded it, for people; `System` when nobody was named."""
    at: datetime
    """Stream time of the tombstone."""
    versions: int
    """Stored versions of the breadcrumb that were erased."""
    summaries: tuple[str, ...]
    """Ids of the summaries made from it, which were erased too."""
    messages: int
    contexts: int
    dead_letters: int
    cached: int
    """Vectors and fragments dropped from the memory of this process."""
