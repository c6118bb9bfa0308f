"""The one place where errors of nats-py become ours."""

from collections.abc import Iterator
from contextlib import contextmanager

from nats.errors import Error as NatsError
from nats.js.errors import APIError, ServiceUnavailableError

from builder.domain.errors import AlreadyPublished, Unavailable

STORE_FAILED = 10077
"""JetStream's code for what its store refuses; nats-py raises it as ServiceUnavailableError."""
HAS_ITS_ONE = "maximum messages per subject exceeded"
"""How that code says "this subject has its one message": a full stream or disk has the same code and other words."""


@contextmanager
def translated(doing: str) -> Iterator[None]:
    """Raises `AlreadyPublished` or `Unavailable` instead of driver errors. doing: what failed, for the message."""
    try:
        yield
    except ServiceUnavailableError as error:
        if error.err_code == STORE_FAILED and HAS_ITS_ONE in (error.description or ""):
            raise AlreadyPublished(f"{doing}: the stream holds one already") from error
        raise Unavailable(f"{doing} failed: {error}; the broker cannot serve it now") from error
    except (APIError, NatsError, OSError, TimeoutError) as error:
        raise Unavailable(f"{doing} failed: {error!r}; is the broker up?") from error
