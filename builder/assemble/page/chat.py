"""The page as the messages of a chat API."""

from builder.assemble.budget.ledger import Ledger
from builder.domain.message import Message


def messages(ledger: Ledger) -> tuple[Message, ...]:
    """Nothing when the profile wants none."""
    return ()
