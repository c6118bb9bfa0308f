"""One connection to the broker: opened within seconds, then reconnecting without limit. Refused permissions are logged once."""

import asyncio
import contextlib
import logging
import math
import os
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from nats.aio.client import Client as Connection
from nats.errors import ConnectionReconnectingError, StaleConnectionError, UnexpectedEOF
from nats.errors import Error as NatsError
from nats.js.errors import APIError

from builder.domain.errors import Misconfigured, Unavailable
from builder.wire.subjects import HEADS

log = logging.getLogger("builder.connection")

FIRST_SECONDS = 2.5
"""For the first connection, all attempts."""
RECONNECT_SECONDS = 0.25
LOG_SECONDS = 60.0
CLOSE_SECONDS = 1.0
"""nats-py never closes a connection after a failed TLS handshake."""
_VIOLATION = re.compile(r'permissions violation for (publish|subscription) to "([^"]*)"', re.IGNORECASE)
_JETSTREAM = re.compile(r"(\$js\.(?:ack|api\.\w+(?:\.msg|\.durable)?\.\w+)|\$kv|\$srv|_inbox)(?:\.([^.]+))?(\..+)?")
_STREAM = re.compile(r"^kv(?=_)|(?:breadcrumbs|contexts|deadletters|probes)$")
_WHOLE = frozenset({"_inbox", "$srv"})
_LOSS = (OSError, UnexpectedEOF, StaleConnectionError)
_LOGIN = "authorization violation|authentication (?:expired|revoked|timeout)"
"""A server's refusals of a login."""
_SETTINGS = {
    "certificate verify failed": "name the authority that signed the server's certificate in CONTEXT_BUILDER_NATS__TLS_CA",
    "certificate required": "name the client's certificate in CONTEXT_BUILDER_NATS__TLS_CERT and __TLS_KEY",
    "broken pipe|connection reset": "a server that asks for a certificate ends a connection that brings none: "
    "name the client's certificate in CONTEXT_BUILDER_NATS__TLS_CERT and __TLS_KEY, and check the address",
    _LOGIN: "check the credentials: the service and its commands read CONTEXT_BUILDER_NATS__USER and __PASSWORD, __TOKEN, "
    "__CREDENTIALS or __NKEY, an agent gives `connect(url, user=…, password=…)`, or token=…, user_credentials=… or nkeys_seed=…",
}
_KEY_FILES = {
    "user_credentials": (
        "CONTEXT_BUILDER_NATS__CREDENTIALS",
        r"(?=[\s\S]*BEGIN NATS USER JWT-+\s+\S+\.\S+\.\S+\s)(?=[\s\S]*BEGIN USER NKEY SEED-+\s+SU[A-Z2-7]{56}\s)",
    ),
    "nkeys_seed": ("CONTEXT_BUILDER_NATS__NKEY", r"\s*SU[A-Z2-7]{56}\s*$"),
}
_SECRET = re.compile(r"(?:(?<=://)|(?<=,)|^)(?!\w+://)\s*[^/,]*@")
"""User, password or token before a host."""


def refusal(error: Exception | None) -> str:
    """The missing permission and its remedy; "" for other errors."""
    violation = _VIOLATION.search(str(error))
    if violation is None:
        return ""
    verb = "publish" if violation[1].lower() == "publish" else "subscribe"
    return (
        f"the broker refuses the permission {verb} {permission(violation[2])!r}; grant it to this user (the page protocol.md "
        "lists what the service and what agents need), or check the user and CONTEXT_BUILDER_NAME"
    )


def permission(subject: str) -> str:
    """Permission for the subject's kind. subject: in lower case."""
    if jetstream := _JETSTREAM.fullmatch(subject):
        verb, name, rest = jetstream.groups()
        words = [verb.upper()] if verb in _WHOLE else [verb.upper(), _STREAM.sub(lambda end: end[0].upper(), name or ">")]
        return ".".join([*words, ">"] if rest or verb in {*_WHOLE, "$kv"} else words)
    words = subject.split(".")
    return ".".join([*words[: 1 if words[0] in HEADS else 2], ">"])


@cache
def tell(sentence: str) -> None:
    """Log a sentence, once in the life of the process."""
    log.warning("%s", sentence)


async def tell_refusal(error: Exception) -> None:
    """Error callback; other errors are logged elsewhere."""
    if sentence := refusal(error):
        tell(sentence)


async def open_connection(
    servers: str, *, timeout: float = FIRST_SECONDS, rounds: int = 0, log_seconds: float = LOG_SECONDS, **options: Any
) -> Connection:
    """Connect, then reconnect without limit, with a log line every `log_seconds`.

    servers: comma-separated URLs. timeout: seconds for the first connection. rounds: attempts per address, 0 = no limit.
    options: of nats-py's connect. Raises `Unavailable`, and `Misconfigured` for unusable keys.
    """
    _check_keys(options)
    logging.getLogger("asyncio").addFilter(_is_no_tls_noise)
    connection = Connection()
    addresses = [part.strip() for part in servers.split(",")]
    journal = _Journal(connection, without_credentials(servers), rounds * len(addresses), log_seconds)
    journal.deadline = asyncio.get_running_loop().time() + timeout
    callbacks = {"error_cb": journal.failed, "reconnected_cb": journal.connected}
    arguments = {
        "max_reconnect_attempts": -1,
        "reconnect_time_wait": RECONNECT_SECONDS,
        "connect_timeout": timeout,
        **callbacks,
        **options,
    }
    try:
        async with asyncio.timeout(timeout):
            await connection.connect(addresses, **arguments)
    except (OSError, TimeoutError, NatsError, _Hopeless) as error:
        with contextlib.suppress(NatsError, OSError, _Hopeless, AssertionError):  # of an address that nats-py does not read
            async with asyncio.timeout(CLOSE_SECONDS):
                await connection.close()
        where, why = without_credentials(servers), reason(journal.last or error)
        matches = ((words, advice) for words, advice in _SETTINGS.items() if re.search(words, why.lower()))
        words, advice = next(matches, ("", "start it, or check the address"))
        what = f"the NATS server at {where} refuses the login" if words == _LOGIN else f"no NATS server answered at {where}"
        raise Unavailable(f"{what}: {why}; {advice}") from error
    journal.is_open = True
    return connection


def without_credentials(servers: str) -> str:
    """The addresses without user names, passwords and tokens."""
    return _SECRET.sub("", servers)


def reason(error: Exception) -> str:
    """The message of a connection or broker error, in one line."""
    text = (error.description if isinstance(error, APIError) else "") or str(error) or type(error).__name__
    return " ".join(text.split())


@contextmanager
def translated(what: str, advice: str) -> Iterator[None]:
    """Errors of the broker as `Unavailable`. what: failed attempt. advice: remedy."""
    try:
        yield
    except (APIError, NatsError, OSError, TimeoutError) as error:
        raise Unavailable(f"{what}: {reason(error)}; {advice}") from error


def _check_keys(options: dict[str, Any]) -> None:
    for option, (setting, pattern) in _KEY_FILES.items():
        file = options.get(option)
        if isinstance(file, str | Path) and not (
            Path(file).is_file() and os.access(file, os.R_OK) and re.match(pattern, Path(file).read_text("utf-8", "replace"))
        ):
            raise Misconfigured(
                f"{setting} is {file}, which cannot be read or lacks keys: a .creds file (CONTEXT_BUILDER_NATS__CREDENTIALS) "
                "holds a user JWT and the seed of a user, the file of CONTEXT_BUILDER_NATS__NKEY that seed alone"
            )


def _is_no_tls_noise(record: logging.LogRecord) -> bool:
    return record.getMessage() != "returning true from eof_received() has no effect when using ssl"


class _Hopeless(Exception):  # noqa: N818 - it ends the attempts of the first connection and never leaves this module
    """Each address was tried `rounds` times, or for as long as it may take."""


class _Journal:
    """Callbacks of nats-py that limit log lines."""

    def __init__(self, connection: Connection, servers: str, attempts: int, every: float) -> None:
        self._attempts = attempts
        self.last: Exception | None = None
        self.is_open = False
        """The first connection was made."""
        self.deadline = math.inf
        """End of the first connection, by the loop's clock: `asyncio.wait_for` in nats-py may swallow the cancellation."""
        self._connection = connection
        self._servers = servers
        self._every = every
        self._written: dict[str, float] = {}

    async def failed(self, error: Exception) -> None:
        if not (isinstance(error, OSError) and isinstance(self.last, NatsError)):  # a broken pipe after what the server said
            self.last = error
        if not self.is_open:
            self._attempts -= 1
            if self._attempts == 0 or asyncio.get_running_loop().time() >= self.deadline:
                raise _Hopeless from error
            return
        if self._connection.is_closed:
            return
        if sentence := refusal(error):
            tell(sentence)
            return
        away = not self._connection.is_connected or isinstance(error, _LOSS)
        kind, now = "away" if away else type(error).__name__, time.monotonic()
        if now - self._written.get(kind, -self._every) < self._every:
            return
        self._written[kind] = now
        if away:
            log.warning("no connection to %s: %s; trying again without end", self._servers, reason(error))
        else:
            log.warning("the connection to %s reports: %s", self._servers, reason(error))

    async def connected(self) -> None:
        waiting: dict[str, asyncio.Future[Any]] = getattr(self._connection, "_resp_map", {})
        for answer in waiting.values():
            if not answer.done():
                answer.set_exception(ConnectionReconnectingError())
        if self._written.pop("away", None) is not None:
            log.warning("connected to %s again", self._servers)
