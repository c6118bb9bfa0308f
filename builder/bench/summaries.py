"""Summaries as the service makes them, without a bus: for measurements."""

from itertools import count

from builder.app.components import Components
from builder.app.operations.summaries import make_summary_writer
from builder.domain.breadcrumb import Breadcrumb, Place, StreamMessage
from builder.domain.profile import Profile
from builder.ports.models import Summarizer
from builder.remember.decode import decode
from builder.worker.summary_scheduler import Sources, SummaryScheduler
from builder.worker.summary_writer import MAX_SUMMARY_BYTES


class _Remembering:
    """`Sender` without a stream: what is sent is remembered at once, in the sequences behind the session's end."""

    def __init__(self, core: Components, end: Breadcrumb) -> None:
        self._core = core
        self._end = end
        self._sequences = count(end.place.sequence + 1)

    async def send(self, subject: str, data: bytes, message_id: str, *, triggers: bool = False) -> StreamMessage:  # noqa: ARG002 - the port's
        place, moment = Place(self._end.place.incarnation, next(self._sequences)), self._end.received_at
        stored = StreamMessage(subject=subject, data=data, place=place, received_at=moment, replay=True)
        await self._core.builder.remember(decode(stored))
        return stored


async def summarise(core: Components, profiles: tuple[Profile, ...], end: Breadcrumb, endpoint: Summarizer | None = None) -> None:
    """Summarise a stored session as the service would have by its last breadcrumb, without a bus: for the benchmarks.

    What would be published is remembered at once, in the sequences behind the session's end.
    """

    async def walk(*_: object) -> None:
        """Everything is remembered."""

    async def last() -> Place:
        return end.place

    if any(profile.summaries for profile in profiles):
        sources = Sources(view=core.builder.recaller.session_view, walk=walk, last=last)
        making = make_summary_writer(core, _Remembering(core, end), endpoint, lambda _by: None, MAX_SUMMARY_BYTES)
        summarising = SummaryScheduler(sources, making, profiles, lambda: False)
        await summarising.look(end.workspace, end.session, end.place)
