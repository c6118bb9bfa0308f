"""What forgetting did."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ErasureReceipt:
    """by: who asked, as the tombstone says. at: stream time of the tombstone.

    versions: stored versions of the breadcrumb that were erased. summaries: ids of summaries that were made from it, erased with
    it. messages: deleted from the stream of breadcrumbs. contexts: published contexts that became stubs. letters: dead letters
    deleted. cached: vectors and fragments dropped from the memory of this process.
    """

    workspace: str
    session: str
    id: str
    by: str
    at: datetime
    versions: int
    summaries: tuple[str, ...]
    messages: int
    contexts: int
    letters: int
    cached: int
