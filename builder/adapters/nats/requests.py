"""Request-reply on core NATS: `requests.{workspace}.{name}[.{consumer}]`, one of the services of a queue group answers."""

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from time import perf_counter

from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.errors import Error as NatsError
from nats.js import JetStreamContext
from nats.js.api import ConsumerInfo
from nats.micro.request import ERROR_CODE_HEADER, ERROR_HEADER

from builder.adapters.nats.connection import optional
from builder.adapters.nats.topology import CONTEXTS
from builder.connection.errors import error_json
from builder.connection.names import DEFAULT, Installation, plain_subject
from builder.domain.errors import BuilderError, Rejected
from builder.domain.json_values import JsonObject, parse
from builder.wire.subjects import REQUESTS, check_token
from builder.wire.traces import span, trace_of
from builder.worker.jobs import UnexpectedError, guard
from builder.worker.requests import JsonHandler

log = logging.getLogger("builder.worker.request_handlers")

Observer = Callable[[str, str, float], None]
"""Called with name, outcome (ok, rejected, unavailable, failed) and seconds of each request."""
ERROR_CODES = {"rejected": "400", "unavailable": "503", "failed": "500"}
MAX_HEADER_CHARS = 300
"""An error in a header is cut to so much; the body has all of it."""
PROTOCOL_BYTES = 1024
"""Bytes of what the broker takes that are left to the protocol."""


@asynccontextmanager
async def answering(
    connection: Client,
    handlers: Mapping[str, JsonHandler],
    installation: Installation = DEFAULT,
    observers: Sequence[Observer] = (),
) -> AsyncIterator[None]:
    """Answer while the block runs. handlers: workspace and JSON bytes → answer; they raise errors of ours."""
    working: set[asyncio.Task[None]] = set()

    async def begin(message: Msg) -> None:
        task = asyncio.create_task(_answer(connection, message, handlers, observers))
        working.add(task)
        task.add_done_callback(working.discard)

    subscription = await connection.subscribe(installation.subject(f"{REQUESTS}.*.>"), queue=installation.name, cb=begin)
    await connection.flush()
    try:
        yield
    finally:
        if not connection.is_closed:
            await subscription.unsubscribe()
        for task in working:
            task.cancel()
        await asyncio.gather(*working, return_exceptions=True)


async def _answer(connection: Client, message: Msg, handlers: Mapping[str, JsonHandler], observers: Sequence[Observer]) -> None:
    """Answer with the result or with a sentence about the error. Never raises."""
    if not message.reply:
        return
    _, name, _ = _parts(message)
    outcome, start, headers = "ok", perf_counter(), dict[str, str]()
    try:
        most = connection.max_payload - PROTOCOL_BYTES
        answer = await guard(_answer_bytes(message, handlers, most), log, f"answering {message.subject}")
    except (BuilderError, UnexpectedError) as error:
        details = error_json(error)
        answer, outcome = _bytes(details), details["kind"] if isinstance(error, BuilderError) else "failed"
        headers = {ERROR_HEADER: _header(details["error"]), ERROR_CODE_HEADER: ERROR_CODES[outcome]}
    for observe in observers:
        observe(name if name in handlers else "unknown", outcome, perf_counter() - start)
    try:
        await connection.publish(message.reply, answer, headers=headers or None)
    except (NatsError, OSError) as error:
        log.warning("%s could not be answered: %r", message.subject, error)


async def _answer_bytes(message: Msg, handlers: Mapping[str, JsonHandler], most: int) -> bytes:
    workspace, name, consumer = _parts(message)
    if name not in handlers:
        raise Rejected(
            f"there is no request {name[:40]!r}; there are {', '.join(handlers)}; "
            "for one of a new extra install the package again (`make up` in a clone)"
        )
    with span(f"request {name}", "consumer", trace_of(message.headers)):
        data = _with_consumer(message.data, check_token(consumer, "consumer")) if consumer else message.data
        answer = _bytes(await handlers[name](check_token(workspace, "workspace"), data))
    if len(answer) > most:
        raise Rejected(
            f"the answer has {len(answer):,} bytes, the broker takes {most:,}; ask for less, or raise max_payload there"
        )
    return answer


def _parts(message: Msg) -> tuple[str, str, str]:
    """Workspace, name and consumer of the subject; "" = it names no consumer."""
    _, workspace, name, *rest = plain_subject(message.subject).split(".", 3)
    return workspace, name, rest[0] if rest else ""


def _with_consumer(data: bytes, consumer: str) -> bytes:
    """The request of the consumer that its subject names, which rights know. Raises `Rejected` if it names another."""
    try:
        request = parse(data or b"{}")
    except ValueError:
        return data  # who reads the request says what is wrong with it
    if not isinstance(request, dict):
        return data
    if request.get("consumer") not in (None, "", consumer):
        raise Rejected(f"the subject names the consumer {consumer!r}, and the request {request['consumer']!r}; name one of them")
    return _bytes(request | {"consumer": consumer})


def _header(sentence: str) -> str:
    return " ".join(sentence.split())[:MAX_HEADER_CHARS].encode("ascii", "backslashreplace").decode()


def _bytes(answer: JsonObject) -> bytes:
    return json.dumps(answer, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


CONSUMER_TOKENS = 3
"""Tokens of a filter that names a consumer: the head, the workspace, the consumer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Subscription:
    """A durable, or what an agent without one has while it runs."""

    name: str
    subjects: tuple[str, ...]
    """Filters, without the installation's name."""
    is_durable: bool
    listening: int
    """Requests for the next context that are open now."""
    is_working: bool
    """A context was handed out so short a time ago that the broker does not yet give it to another process."""
    delivered: int
    """Contexts that were ever handed out, repetitions included."""
    waiting: int
    since: datetime | None
    """Stream time of the oldest of them."""

    @property
    def is_silent(self) -> bool:
        """Contexts wait and nobody takes them. What belongs to no durable is lost with its process and waits for nobody."""
        return self.is_durable and bool(self.waiting) and not self.listening and not self.is_working

    def is_of(self, workspace: str, consumer: str) -> bool:
        """Whether a filter names the consumer, for this workspace or for all."""
        parts = (subject.split(".") for subject in self.subjects)
        return any(part[1] in (workspace, "*") and part[2] == consumer for part in parts if len(part) >= CONSUMER_TOKENS)

    def __str__(self) -> str:
        """How it is, in a sentence."""
        who = f"{self.listening} listen" if self.listening else "may be at work" if self.is_working else "nobody listens"
        wait = f"{self.waiting:,} wait" if self.waiting else "none waits"
        return f"{self.name}: {who}, {wait}" + (f" since {self.since:%Y-%m-%d %H:%M:%S}Z" if self.since else "")


async def read_subscriptions(js: JetStreamContext, installation: Installation, now: datetime) -> tuple[Subscription, ...]:
    """All that are durable, or whose process may be alive; none before the first start made the stream. Raises `Unavailable`."""
    stream, infos = installation.stream(CONTEXTS), list[ConsumerInfo]()
    # The server lists 256 at once.
    while page := await optional("listing subscriptions", js.consumers_info(stream, offset=len(infos))):
        infos += page
    subscriptions = [await _subscription(js, info, now) for info in infos]
    return tuple(each for each in subscriptions if each.is_durable or each.listening or each.is_working)


async def _subscription(js: JetStreamContext, info: ConsumerInfo, now: datetime) -> Subscription:
    filters = info.config.filter_subjects or [info.config.filter_subject or ">"]
    waiting, last = (info.num_pending or 0) + (info.num_ack_pending or 0), info.delivered.last_active if info.delivered else None
    return Subscription(
        name=info.name,
        subjects=tuple(map(plain_subject, filters)),
        is_durable=bool(info.config.durable_name),
        listening=(info.num_waiting or 0) + bool(info.push_bound),
        is_working=bool(info.num_ack_pending and last and now - last < timedelta(seconds=info.config.ack_wait or 0)),
        delivered=info.delivered.consumer_seq if info.delivered else 0,
        waiting=waiting,
        since=await _oldest(js, info, filters) if waiting else None,
    )


async def _oldest(js: JetStreamContext, info: ConsumerInfo, filters: list[str]) -> datetime | None:
    """Stream time of the first context that is not acknowledged; None when it has gone meanwhile."""
    first = (info.ack_floor.stream_seq if info.ack_floor else 0) + 1
    reads = (js.get_msg(info.stream_name, seq=first, subject=subject, next=True) for subject in filters)
    messages = [await optional("looking for the oldest context", read) for read in reads]
    return min((message.time.astimezone(UTC) for message in messages if message and message.time), default=None)
