"""Messages of RCRT's stream are settled."""

import contextlib
from typing import Literal

from nats.aio.msg import Msg
from nats.errors import Error as NatsError


async def settle(message: Msg | None, verb: Literal["ack", "nak", "in_progress"]) -> None:
    """Tell the broker; what it does not hear it delivers again. None = nobody waits for the message."""
    if message is not None:
        with contextlib.suppress(NatsError, OSError):
            await getattr(message, verb)()
