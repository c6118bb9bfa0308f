"""The client of a model's vendor with the page in place of the history. It is handed in: nothing of a vendor is imported.

model = wrap_openai(OpenAI(), client, "s42")
model.chat.completions.create(model="gpt-5", messages=[{"role": "user", "content": "Which kiln is it?"}])
"""

from typing import TypeVar

from builder.client import Client
from builder.client.sync import SyncClient, as_sync
from builder.integrations.conversation import CONSUMER, Conversation
from builder.integrations.vendors.calls import with_memory
from builder.integrations.vendors.chat_completions import CHAT_COMPLETIONS
from builder.integrations.vendors.messages_api import MESSAGES
from builder.integrations.vendors.responses_api import RESPONSES
from builder.integrations.vendors.turns import Turns

__all__ = ["wrap_anthropic", "wrap_openai"]

Vendor = TypeVar("Vendor")


def wrap_openai(
    vendor: Vendor, client: SyncClient | Client, session: str, *, user_id: str = "", consumer: str = CONSUMER
) -> Vendor:
    """A client of OpenAI, plain or asynchronous, whose chat completions and responses read the page of one session.

    `create`, `parse` and `stream` publish what is new in `messages` or `input`, send leading system messages and the page, and
    publish the first choice or the output. Everything else is the vendor's; `vendor` stays as it is. client: an asynchronous one
    for an asynchronous vendor. consumer: a profile with `chat_format: openai`. A call raises `Rejected` and `Unavailable` before
    the vendor is asked, and what the vendor raises; an answer that cannot be published is logged.
    """
    return with_memory(vendor, (CHAT_COMPLETIONS, RESPONSES), Turns(Conversation(as_sync(client), session, user_id, consumer)))


def wrap_anthropic(
    vendor: Vendor, client: SyncClient | Client, session: str, *, user_id: str = "", consumer: str = CONSUMER
) -> Vendor:
    """As `wrap_openai`, for a client of Anthropic and its messages; `system` stays, the page's own comes after it."""
    return with_memory(vendor, (MESSAGES,), Turns(Conversation(as_sync(client), session, user_id, consumer)))
