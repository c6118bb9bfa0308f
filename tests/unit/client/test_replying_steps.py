"""A response that finds no place. Where they are stored over a real broker: integration/test_steps."""

from typing import cast

import pytest

from builder.client.replying import MAX_ATTEMPTS, Answering
from builder.client.requests import Requests
from builder.client.sending import BreadcrumbStream, Conflict, PublishResult
from builder.domain.errors import Unavailable
from builder.wire.records import Outgoing
from tests.unit.client.streams import ListStream, context_of, response_body


@pytest.fixture
def stream() -> ListStream:
    stream = ListStream()
    stream.put("user.message.v1", "m1", {"content": "What is the weather in Oslo?"})
    return stream


async def test_a_session_with_endless_conflicts_is_unavailable(stream: ListStream) -> None:
    attempts = []

    class Contested(ListStream):
        async def publish(self, event: Outgoing, **_: object) -> PublishResult:
            attempts.append(event.message_id)
            raise Conflict("another message came")

    contested = Contested()
    contested.messages = stream.messages
    agent = Answering(cast("BreadcrumbStream", contested), cast("Requests", contested))
    with pytest.raises(Unavailable, match="send it again"):
        await agent.send(context_of(1), response_body("Hello."), None, "")
    assert len(attempts) == MAX_ATTEMPTS
