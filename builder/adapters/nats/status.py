"""nats-py takes a header `Status` that a publisher has set for a word of the server (2.16, `is_status_msg`).

Such a breadcrumb would never reach the worker, never be dead-lettered, and take the rest of its batch with it: one tenant
could stop all of them. What a stream holds comes with an ack subject as its reply; what the server itself says has none.
"""

from nats.aio.msg import Msg
from nats.js import JetStreamContext


def believe_only_the_server() -> None:
    """From now on a stored message is a message, whatever its headers say."""
    JetStreamContext.is_status_msg = staticmethod(_status)  # type: ignore[method-assign, assignment]


def _status(message: Msg | None) -> str | None:
    if message is None or message.reply or message.headers is None:
        return None
    return message.headers.get("Status")
