"""Summaries as the service makes them, without a bus: for measurements."""

from itertools import count

from builder.app.components import Components
from builder.domain.breadcrumb import Breadcrumb, Place, StreamMessage
from builder.domain.profile import Profile
from builder.extras.summaries.scheduler import SummaryScheduler
from builder.extras.summaries.writer import SummaryWriter
from builder.ports.models import Summarizer
from builder.remember.decode import decode
from builder.worker.jobs import Observer
from builder.worker.log import StoredLog


class Remembering:
    """`Sender` without a stream: what is sent is remembered at once, in the sequences after the session's end."""

    def __init__(self, core: Components, end: Breadcrumb) -> None:
        """end: last breadcrumb of the session."""
        self._core = core
        self._end = end
        self._sequences = count(end.place.sequence + 1)

    async def send(self, subject: str, data: bytes, message_id: str, *, triggers: bool = False) -> StreamMessage:  # noqa: ARG002 - the port's
        """Remember it."""
        place, moment = Place(self._end.place.incarnation, next(self._sequences)), self._end.received_at
        stored = StreamMessage(subject=subject, data=data, place=place, received_at=moment, replay=True)
        await self._core.builder.remember(decode(stored))
        return stored


async def summarise(core: Components, profiles: tuple[Profile, ...], end: Breadcrumb, endpoint: Summarizer | None = None) -> None:
    """Summarise a stored session as the service would have by its last breadcrumb, without a bus.

    What would be published is remembered at once, in the sequences after the session's end.
    """
    if any(profile.summaries for profile in profiles):
        writer = SummaryWriter(Remembering(core, end), core.helpers, endpoint, core.store, Observer())
        summaries = SummaryScheduler(StoredLog(core.store), core.builder.recaller, writer, lambda _workspace: profiles)
        await summaries.look(end.workspace, end.session, end.place)
