"""An agent's responses to a context, read from the stream for it."""

from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any, cast

import pytest

from builder.client.requests import Requests
from builder.client.responses import Conversation, read_conversation
from builder.domain.breadcrumb import StreamMessage
from builder.domain.errors import Rejected
from builder.wire.records import make_record, outgoing
from tests.unit.client.streams import CALL, WORKSPACE, ListStream, context_of, response_body


@pytest.fixture
def stream() -> ListStream:
    stream = ListStream()
    stream.put("user.message.v1", "m1", {"content": "What is the weather in Oslo?"})
    return stream


async def read(stream: ListStream, context: Any = None, **options: Any) -> Conversation:
    return await read_conversation(cast("Requests", stream), context or context_of(1), **options)


async def test_without_any_response_the_next_step_is_the_first(stream: ListStream) -> None:
    there = await read(stream)
    assert (there.responses, there.last, there.next_step(set())) == ((), 0, 1)


async def test_a_response_is_read_with_its_calls_and_the_first_result_of_each(stream: ListStream) -> None:
    sequence = stream.put("agent.response.v1", "a1", response_body("Let me look.", step=1, tool_requests=[CALL]))
    stream.put("tool.response.v1", "t1", {"tool": "weather", "request_id": "r1", "output": {"celsius": 10}})
    stream.put("tool.response.v1", "t2", {"tool": "weather", "request_id": "r1", "output": {"celsius": 20}})
    there = await read(stream)
    (only,) = there.responses
    assert (only.id, only.step, only.sequence, only.message) == ("a1", 1, sequence, "Let me look.")
    assert only.results["r1"]["output"] == {"celsius": 10}
    assert only.is_complete
    assert there.last == sequence


async def test_a_result_of_no_session_counts_too(stream: ListStream) -> None:
    stream.put("agent.response.v1", "a1", response_body("Let me look.", step=1, tool_requests=[CALL]))
    stream.put("tool.error.v1", "t1", {"tool_name": "weather", "request_id": "r1", "error_message": "down"}, session="_")
    there = await read(stream)
    assert there.responses[0].is_complete


async def test_responses_of_other_agents_and_to_other_triggers_are_not_read(stream: ListStream) -> None:
    stream.put("agent.response.v1", "a1", response_body("Mine.", creator={"agent_id": "critic"}))
    stream.put("agent.response.v1", "a2", response_body("To another.", trigger_event_id="m0"))
    sequence = stream.put("agent.response.v1", "a3", response_body("No creator.", creator=None))
    there = await read(stream, with_results=False, context=context_of(1))
    assert there.responses == ()
    assert there.last == sequence


async def test_a_response_without_a_step_is_the_next_one(stream: ListStream) -> None:
    stream.put("agent.response.v1", "a1", response_body("One.", step=4))
    stream.put("agent.response.v1", "a2", response_body("Two."))
    stream.put("agent.response.v1", "a3", response_body("Three.", step="seven"))
    there = await read(stream, with_results=False, context=context_of(1))
    assert [(each.id, each.step) for each in there.responses] == [("a1", 4), ("a2", 5), ("a3", 6)]


async def test_in_a_recreated_stream_responses_are_read_from_its_beginning() -> None:
    stream = ListStream()
    stream.put("agent.response.v1", "a1", response_body("One.", step=1))
    there = await read(stream, with_results=False, context=context_of(900))
    assert [each.id for each in there.responses] == ["a1"]


async def test_too_many_messages_are_rejected_with_what_to_do(stream: ListStream) -> None:
    for number in range(3):
        stream.put("agent.response.v1", f"a{number}", response_body("Again."))
    with pytest.raises(Rejected, match=r"more than 2 messages .* name it: send_response"):
        await read(stream, most=2)


async def test_what_cannot_be_decoded_and_later_versions_are_skipped(stream: ListStream) -> None:
    stream.put("agent.response.v1", "a1", response_body("One.", step=1))
    edited = stream.messages[-1]
    data = edited.data.replace(b'"version": 1', b'"version": 2').replace(b'"version":1', b'"version":2')
    stream.messages += [replace(edited, data=part) for part in (data, b"{")]
    there = await read(stream, with_results=False, context=context_of(1))
    assert len(there.responses) == 1


async def test_others_answers_are_counted_and_not_told(stream: ListStream) -> None:
    assert not (await read(stream)).is_answered_by_others
    stream.put("agent.response.v1", "a1", response_body("Mine.", creator={"agent_id": "critic"}))
    there = await read(stream)
    assert (there.is_answered_by_others, there.responses, there.others) == (True, (), {})


async def test_a_response_that_comes_while_the_others_are_read_is_refused_by_the_stream(
    stream: ListStream, monkeypatch: pytest.MonkeyPatch
) -> None:
    walk = stream.host.log.walk

    async def walk_beside_another_agent(*args: Any) -> AsyncIterator[StreamMessage]:
        async for message in walk(*args):
            yield message
        stream.put("agent.response.v1", "late", response_body("Mine.", creator={"agent_id": "critic"}))

    stream.put("agent.response.v1", "a1", response_body("One.", step=1))
    monkeypatch.setattr(stream.host.log, "walk", walk_beside_another_agent)
    there = await read(stream, with_results=False)
    assert [each.id for each in there.responses] == ["a1"]
    assert there.last == 2, "the newest one that was read, so a reply on top of the late one is a conflict"


async def test_whether_a_session_has_gone_on(stream: ListStream) -> None:
    assert not (await read(stream)).has_gone_on
    stream.put("note.v1", "n1", {"content": "Later."})
    assert (await read(stream)).has_gone_on


async def test_a_record_is_compared_with_its_own_version_alone(stream: ListStream) -> None:
    record = make_record("user.message.v1", "m1", "s1", {"content": "What is the weather in Rome?"})
    answer = await stream.request("difference", {"record": record, "sequence": 1, "own_clock": True})
    assert (answer["is_there"], answer["fields"]) == (True, "context.content")
    other = record | {"id": "m2"}
    assert not (await stream.request("difference", {"record": other, "sequence": 1}))["is_there"]
    stream.messages[0] = outgoing(record, "beta").arrive(stream.messages[0].place, stream.messages[0].received_at)
    assert not (await stream.request("difference", {"record": record, "sequence": 1}))["is_there"]


async def test_the_durable_of_another_consumer_cannot_be_taken(stream: ListStream) -> None:
    with pytest.raises(Rejected, match="is that of another consumer"):
        await stream.request("durable", {"consumer": "weather", "name": f"{WORKSPACE}=default"})
