"""What an erasure did."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ErasureReceipt:
    """The account of one erasure."""

    workspace: str
    session: str
    id: str
    by: str
    """The person or system that the tombstone names."""
    at: datetime
    """Stream time of the tombstone."""
    versions: int
    """Stored versions of the breadcrumb that were erased."""
    summaries: tuple[str, ...]
    """Ids of the summaries made from it, which were erased too."""
    messages: int
    """Messages deleted from the stream of breadcrumbs."""
    contexts: int
    """Published contexts that became stubs."""
    letters: int
    """Dead letters deleted."""
    cached: int
    """Vectors and fragments dropped from the memory of this process."""
