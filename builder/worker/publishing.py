"""What leaves the worker: contexts, each once, and dead letters."""

import contextlib
import logging
from collections.abc import Callable

from builder.domain.breadcrumb import StreamMessage
from builder.domain.context import Context
from builder.domain.errors import AlreadyPublished, ChainTooLong, NoContext, Rejected, Unavailable
from builder.domain.timing import times_text
from builder.ports.broker import Archive, Publisher
from builder.remember.record import holds_secret
from builder.service import BuildResult
from builder.wire.subjects import parse_breadcrumb_subject

log = logging.getLogger("builder.worker.publishing")


class ContextPublisher:
    """Publishes the contexts of one trigger."""

    def __init__(self, publisher: Publisher, encode: Callable[[Context], bytes]) -> None:
        """encode: raises `Rejected`."""
        self._publisher = publisher
        self._encode = encode

    async def publish(self, result: BuildResult, *, is_repeat: bool) -> tuple[int, ...]:
        """Publish the contexts; returns the tokens of each. Then raises `Rejected` when a consumer gets none; and `Unavailable`.

        is_repeat: an earlier attempt may have published.
        """
        rejected, tokens = list(result.rejected), []
        for context in result.contexts:
            try:
                await self._publish(context, is_repeat=is_repeat)
                tokens.append(context.tokens)
                await self._announce(context)
            except AlreadyPublished:
                log.info("context %s was published before; the first one stands", context.id)
            except Rejected as error:
                rejected.append(f"{context.consumer}: {error}")
        if rejected:
            raise (ChainTooLong if result.loop_stopped else NoContext)("; ".join(rejected))
        return tuple(tokens)

    async def are_published(self, result: BuildResult) -> bool:
        """Whether the server holds all of the contexts. Raises `Unavailable`."""
        return all([await self._publisher.holds(context) for context in result.contexts])

    async def _publish(self, context: Context, *, is_repeat: bool) -> None:
        """Raises `AlreadyPublished`. A repeat looks first: plain subscribers also receive an event that the stream refuses."""
        if is_repeat and await self._publisher.holds(context):
            raise AlreadyPublished(f"context {context.id} is in the stream")
        await self._publisher.publish(context, self._encode(context), times_text())

    async def _announce(self, context: Context) -> None:
        """Best effort: the context is published, and must not be built again because of its announcement."""
        try:
            await self._publisher.announce(context)
        except Unavailable as error:
            log.warning("the compaction of context %s was not announced: %s", context.id, error)


class DeadLetters:
    """Publishes dead letters."""

    def __init__(self, publisher: Publisher, archive: Archive) -> None:
        """archive: erases secrets that cannot be read."""
        self._publisher = publisher
        self._archive = archive

    async def publish(self, message: StreamMessage, reason: str) -> None:
        """Publish the letter; then erase the message of a secret, where its subject names a session. Raises `Unavailable`."""
        await self._publisher.dead_letter(message, reason)
        if holds_secret(message.subject, message.data):
            with contextlib.suppress(Rejected):
                address = parse_breadcrumb_subject(message.subject)
                await self._archive.delete_at(message.place, address.workspace, address.session)
