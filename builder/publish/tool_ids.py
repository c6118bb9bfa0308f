"""Ids and names of tool calls that providers take: what they refuse cannot be expressed in a context."""

import re
from dataclasses import replace
from hashlib import blake2b
from itertools import chain, count

from builder.domain.message import Exchange, Message

MAX_ID_CHARS, MAX_NAME_CHARS = 40, 64
"""OpenAI's limits, which are within Anthropic's."""
SUFFIX_CHARS = 6
"""Room for the number of a repeated id."""
_ID = re.compile(rf"[A-Za-z0-9_-]{{1,{MAX_ID_CHARS}}}")
_NO_NAME = re.compile(r"[^A-Za-z0-9_-]")


def acceptable(messages: tuple[Message, ...]) -> tuple[Message, ...]:
    """The same with call ids and tool names that both providers take, every id once."""
    used: set[str] = set()
    return tuple(
        replace(message, exchanges=tuple(_acceptable(exchange, used) for exchange in message.exchanges)) for message in messages
    )


def _acceptable(exchange: Exchange, used: set[str]) -> Exchange:
    request_id = exchange.call.id
    stem = request_id if _ID.fullmatch(request_id) else f"call_{blake2b(request_id.encode(), digest_size=8).hexdigest()}"
    candidates = chain((stem,), (f"{stem[: MAX_ID_CHARS - SUFFIX_CHARS]}_{number}" for number in count(2)))
    unique = next(candidate for candidate in candidates if candidate not in used)
    used.add(unique)
    tool = _NO_NAME.sub("_", exchange.call.tool)[:MAX_NAME_CHARS] or "tool"
    return replace(exchange, call=replace(exchange.call, id=unique, tool=tool))
