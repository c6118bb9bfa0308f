"""Dead letters as the stream has them, and the breadcrumb that one is about."""

from collections.abc import Iterable

from builder.adapters.nats.connection import translated
from builder.adapters.nats.publisher import letter_subject
from builder.adapters.nats.stream import NatsStream
from builder.adapters.nats.topology import BREADCRUMBS, DEADLETTERS, current_incarnation
from builder.app.broker import connected, stored
from builder.app.settings import Settings
from builder.domain.breadcrumb import Place
from builder.domain.errors import Rejected


async def read_dead_letters(settings: Settings, servers: str) -> list[bytes]:
    """JSON, oldest first. Raises `Unavailable`."""
    async with stored(settings, servers, DEADLETTERS) as (stream, last):
        return [arrival.data async for arrival in stream.follow("deadletters.>", 1, last.next)]


async def clear_dead_letters(settings: Settings, servers: str, letters: Iterable[tuple[Place, str]]) -> None:
    """Letters about these breadcrumbs and consumers; "" = the service's. Raises `Unavailable`."""
    async with connected(settings, servers) as connection:
        for letter in letters:
            subject, stream = settings.installation.subject(letter_subject(*letter)), settings.installation.stream(DEADLETTERS)
            with translated(f"clearing {subject}"):
                await connection.jetstream().purge_stream(stream, subject=subject)


async def read_breadcrumb(settings: Settings, servers: str, place: Place, subject: str) -> bytes:
    """Raises `Rejected` if it is gone."""
    async with connected(settings, servers) as connection:
        js = connection.jetstream()
        message = await NatsStream(js, lambda: 0, BREADCRUMBS, settings.installation).get(place.sequence)
        incarnation = await current_incarnation(js, settings.installation)
    if incarnation != place.incarnation:
        raise Rejected(f"the stream was made again since breadcrumb {place.sequence} came; let its sender publish it again")
    if message is None:
        raise Rejected(f"the stream no longer holds breadcrumb {place.sequence}; let its sender publish it again")
    if message.subject != subject:
        raise Rejected(
            f"breadcrumb {place.sequence} has the subject {message.subject}, its dead letter says {subject}; "
            "let its sender publish it again"
        )
    return message.data
