"""Request-reply on core NATS: `requests.{workspace}.{verb}`, one of the services of a queue group answers."""

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.errors import Error as NatsError

from builder.domain.errors import BuilderError, Rejected, Unavailable
from builder.wire.requests import error_json
from builder.wire.subjects import DEFAULT, REQUESTS, Installation, check_token, plain_subject
from builder.worker.consumers import Verb
from builder.worker.resilience import UnexpectedError, guard

log = logging.getLogger("builder.worker.request_handlers")

Observer = Callable[[str, str], None]
"""Called with verb and outcome (ok, rejected, unavailable, failed) of each request."""
PROTOCOL_BYTES = 1024
"""Bytes of what the broker takes that are left to the protocol."""


@asynccontextmanager
async def answering(
    connection: Client,
    verbs: Mapping[str, Verb],
    installation: Installation = DEFAULT,
    observe: Observer = lambda _verb, _outcome: None,
) -> AsyncIterator[None]:
    """Answer while the block runs. verbs: workspace and JSON bytes → answer; they raise errors of ours."""
    working: set[asyncio.Task[None]] = set()

    async def begin(message: Msg) -> None:
        task = asyncio.create_task(_answer(message, verbs, connection.max_payload - PROTOCOL_BYTES, observe))
        working.add(task)
        task.add_done_callback(working.discard)

    subscription = await connection.subscribe(installation.subject(f"{REQUESTS}.*.*"), queue=installation.queue, cb=begin)
    await connection.flush()
    try:
        yield
    finally:
        if not connection.is_closed:
            await subscription.unsubscribe()
        for task in working:
            task.cancel()
        await asyncio.gather(*working, return_exceptions=True)


async def _answer(message: Msg, verbs: Mapping[str, Verb], most: int, observe: Observer) -> None:
    """Answer with the result or with a sentence about the error. Never raises."""
    if not message.reply:
        return
    verb, outcome = message.subject.rpartition(".")[2], "ok"
    try:
        answer = await guard(_answer_bytes(message, verbs, most), log, f"answering {message.subject}")
    except (BuilderError, UnexpectedError) as error:
        answer = _bytes(error_json(error))
        outcome = _outcome(error)
    observe(verb if verb in verbs else "unknown", outcome)
    try:
        await message.respond(answer)
    except (NatsError, OSError) as error:
        log.warning("%s could not be answered: %r", message.subject, error)


async def _answer_bytes(message: Msg, verbs: Mapping[str, Verb], most: int) -> bytes:
    _, workspace, verb = plain_subject(message.subject).split(".")
    if verb not in verbs:
        raise Rejected(f"there is no verb {verb[:40]!r}; there are {', '.join(verbs)}")
    answer = _bytes(await verbs[verb](check_token(workspace, "workspace"), message.data))
    if len(answer) > most:
        raise Rejected(
            f"the answer has {len(answer):,} bytes, the broker takes {most:,}; ask for less, or raise max_payload there"
        )
    return answer


def _outcome(error: Exception) -> str:
    if isinstance(error, Rejected):
        return "rejected"
    return "unavailable" if isinstance(error, Unavailable) else "failed"


def _bytes(answer: dict[str, Any]) -> bytes:
    return json.dumps(answer, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
