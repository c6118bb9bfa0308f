"""Connections of nats-py: errors that become ours, and a status that only the server sets."""

from collections.abc import Awaitable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.errors import Error as NatsError
from nats.js import JetStreamContext
from nats.js.errors import APIError, NotFoundError, ServiceUnavailableError

from builder.connection.opening import reason, refusal
from builder.domain.errors import AlreadyPublished, Misconfigured, Unavailable

T = TypeVar("T")

STORE_FAILED_CODE = 10077
"""JetStream's code for what its store refuses; nats-py raises it as ServiceUnavailableError."""
SUBJECT_IS_TAKEN = "maximum messages per subject exceeded"
"""How that code says "this subject has its one message": a full stream or disk has the same code and other words."""

ACCOUNT = {
    10039: "enable JetStream for the account of this user",
    10027: "raise the account's max_streams: this service needs five streams, its bucket included",
    10026: "raise the account's max_consumers: this service needs three durables, and one for each agent and each reader",
}
"""JetStream's codes for what an account must be given, and what to do."""


@contextmanager
def explained(connection: Client) -> Iterator[None]:
    """Raises `Misconfigured` for what the broker refuses to the user or the account of the connection, else `Unavailable`."""
    try:
        yield
    except (APIError, NatsError, Unavailable) as error:
        missing = refusal(connection.last_error) or ACCOUNT.get(getattr(error.__cause__ or error, "err_code", None) or 0)
        advice = missing or ("" if isinstance(error, Unavailable) else "look at the broker's log and its load")
        raise (Misconfigured if missing else Unavailable)("; ".join(filter(None, (reason(error), advice)))) from error


@contextmanager
def translated(doing: str) -> Iterator[None]:
    """Raises `AlreadyPublished` or `Unavailable` instead of driver errors. doing: what failed, for the message."""
    try:
        yield
    except ServiceUnavailableError as error:
        if error.err_code == STORE_FAILED_CODE and SUBJECT_IS_TAKEN in (error.description or ""):
            raise AlreadyPublished(f"{doing}: the stream holds one already") from error
        raise Unavailable(f"{doing} failed: {error}; the broker cannot serve it now") from error
    except (APIError, NatsError, OSError, TimeoutError) as error:
        raise Unavailable(f"{doing} failed: {error!r}; is the broker up?") from error


async def optional(doing: str, request: Awaitable[T]) -> T | None:
    """The answer; None when the server holds nothing of the kind. Raises as `translated` does."""
    with translated(doing):
        try:
            return await request
        except NotFoundError:
            return None


def believe_only_the_server() -> None:
    """Make nats-py deliver every stored message, whatever its headers say.

    nats-py (2.16, `is_status_msg`) takes a header `Status` of a publisher for a status of the server: the breadcrumb would
    never reach the worker, never be dead-lettered, and take the rest of its batch with it, so one tenant could stop all. A
    stored message comes with an ack subject as its reply; a status of the server has no reply.
    """
    JetStreamContext.is_status_msg = staticmethod(_status)  # type: ignore[method-assign, assignment]


def _status(message: Msg | None) -> str | None:
    if message is None or message.reply or message.headers is None:
        return None
    return message.headers.get("Status")
