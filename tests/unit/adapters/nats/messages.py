"""Stream messages for unit tests."""

from builder.domain.breadcrumb import Place, StreamMessage
from tests.factories import MORNING


def make_message(place: Place, data: bytes = b"{}", subject: str = "breadcrumbs.acme.s1.user.message.v1") -> StreamMessage:
    """A message as the stream delivers it."""
    return StreamMessage(subject=subject, data=data, place=place, received_at=MORNING)
