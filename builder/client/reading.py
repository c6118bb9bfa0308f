"""Chat messages of any vendor or framework as the breadcrumbs that they are."""

from collections.abc import Mapping
from typing import Any

from builder.chat_messages.bodies import Body, Conversation, message_bodies


class ChatReader:
    """Reads the messages of one conversation in their order; calls without ids get some, results the name of their tool."""

    def __init__(self, *, is_new: bool = True) -> None:
        self._conversation = Conversation("", has_words=not is_new)

    def read(self, message: Mapping[str, Any]) -> list[Body]:
        """Schema and body each; [] for a system prompt, which comes before all words. Raises `Rejected`."""
        return message_bodies(message, self._conversation)
