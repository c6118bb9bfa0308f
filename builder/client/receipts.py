"""Receipts of what a request erased."""

from dataclasses import dataclass, replace
from typing import Any

from builder.client.results import read_result
from builder.domain.erasure import Receipt
from builder.wire.subjects import session_text


@dataclass(frozen=True, slots=True, kw_only=True)
class _Receipts:
    by: str
    receipts: tuple[Receipt, ...]
    """One per breadcrumb, in order; empty when nothing was stored."""

    @property
    def sessions(self) -> tuple[str, ...]:
        """In which something was erased, sorted."""
        return tuple(sorted({receipt.session for receipt in self.receipts}))

    @property
    def summaries(self) -> tuple[str, ...]:
        """Ids of summaries made from the erased breadcrumbs, sorted."""
        return tuple(sorted({summary for receipt in self.receipts for summary in receipt.summaries}))


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonReceipt(_Receipts):
    """Everything erased for a person."""

    user_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionReceipt(_Receipts):
    """Everything erased of a session."""

    session: str
    other_letters: int
    """Dead letters of the session that are about none of the breadcrumbs."""


def read_receipt(answer: Any) -> Receipt:
    """With the session by its text. Raises `Unavailable`."""
    receipt = read_result(Receipt, answer)
    return replace(receipt, session=session_text(receipt.session))
