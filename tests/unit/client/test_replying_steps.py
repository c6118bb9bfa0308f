"""Responses are stored once a step, whichever process sends them."""

from typing import Any, cast

import pytest

from builder.client.replying import MAX_ATTEMPTS, Answer, Answering
from builder.client.requests import Requests
from builder.client.responses import response_id
from builder.client.sending import BreadcrumbStream, Conflict, PublishResult
from builder.domain.errors import Rejected, Unavailable
from builder.wire.records import Outgoing, make_record, outgoing
from tests.unit.client.streams import CALL, CONTEXT_ID, SESSION, WORKSPACE, ListStream, context_of, response_body


@pytest.fixture
def stream() -> ListStream:
    stream = ListStream()
    stream.put("user.message.v1", "m1", {"content": "What is the weather in Oslo?"})
    return stream


def answering(stream: ListStream) -> Answering:
    return Answering(cast("BreadcrumbStream", stream), cast("Requests", stream))


async def send(stream: ListStream, message: str, step: int | None = None, message_id: str = "", **changes: Any) -> Answer:
    """As an agent that has just received the context."""
    return await answering(stream).send(context_of(1), response_body(message, **changes), step, message_id)


async def test_the_first_response_is_step_one_under_an_id_of_context_and_step(stream: ListStream) -> None:
    answer = await send(stream, "It is cold.")
    assert answer == Answer(id=response_id(CONTEXT_ID, 1), step=1, sequence=2, already_answered=False)


async def test_a_second_process_gets_the_stored_response(stream: ListStream) -> None:
    first = await send(stream, "Let me look.", tool_requests=[CALL])
    again = await send(stream, "I will look.", tool_requests=[CALL])
    assert (again.id, again.already_answered) == (first.id, True)
    assert len(stream.messages) == 2


async def test_one_delivery_goes_on_to_the_next_step(stream: ListStream) -> None:
    context = context_of(1)
    steps = [(await answering(stream).send(context, response_body(text), None, "")).step for text in ("One.", "Two.")]
    assert steps == [1, 2]
    assert context.steps == {1, 2}


async def test_a_response_that_another_process_stored_meanwhile_is_found(stream: ListStream) -> None:
    body = response_body("Theirs.", step=1)
    stream.rival = outgoing(make_record("agent.response.v1", response_id(CONTEXT_ID, 1), SESSION, body), WORKSPACE)
    answer = await send(stream, "Mine.")
    assert answer.already_answered
    assert answer.sequence == 2


async def test_a_step_below_one_is_rejected(stream: ListStream) -> None:
    with pytest.raises(Rejected, match="1, 2, 3"):
        await send(stream, "No.", step=0)


async def test_another_response_under_an_own_id_is_rejected(stream: ListStream) -> None:
    await send(stream, "One.", message_id="mine")
    assert (await send(stream, "One.", message_id="mine")).already_answered
    with pytest.raises(Rejected, match="already has a breadcrumb with this id"):
        await send(stream, "Two.", message_id="mine")


async def test_an_own_id_takes_no_step_that_has_a_response(stream: ListStream) -> None:
    await send(stream, "One.")
    with pytest.raises(Rejected, match="step 1 has the response"):
        await send(stream, "Two.", step=1, message_id="mine")


async def test_a_forgotten_response_is_not_stored_again(stream: ListStream) -> None:
    stream.put("breadcrumb.deleted.v1", "d1", {"breadcrumb_id": response_id(CONTEXT_ID, 1)})
    with pytest.raises(Rejected, match="was forgotten"):
        await send(stream, "Again.", step=1)
    assert (await send(stream, "Another.")).step == 2


async def test_a_session_with_endless_conflicts_is_unavailable(stream: ListStream) -> None:
    attempts = []

    class Contested(ListStream):
        async def publish(self, event: Outgoing, **_: object) -> PublishResult:
            attempts.append(event.message_id)
            raise Conflict("another message came")

    contested = Contested()
    contested.messages = stream.messages
    agent = answering(contested)
    with pytest.raises(Unavailable, match="send it again"):
        await agent.send(context_of(1), response_body("Hello."), None, "")
    assert len(attempts) == MAX_ATTEMPTS
