"""The steps of an agent, read from the stream."""

from dataclasses import replace
from typing import Any, cast

import pytest

from builder.client.responses import Conversation, Response, read_conversation, read_responses, response_id
from builder.client.stream import StreamReader
from builder.domain.errors import Rejected
from tests.unit.client.streams import CALL, CONTEXT_ID, ListStream, context_of, response_body


@pytest.fixture
def stream() -> ListStream:
    stream = ListStream()
    stream.put("user.message.v1", "m1", {"content": "What is the weather in Oslo?"})
    return stream


def reader(stream: ListStream) -> StreamReader:
    return cast("StreamReader", stream)


def response(step: int, *calls: str, answered: bool = False) -> Response:
    requests = tuple({"requestId": call} for call in calls)
    results: dict[str, dict[str, Any]] = {call: {} for call in calls} if answered else {}
    return Response(id=f"a{step}", step=step, sequence=step, message="", tool_requests=requests, results=results)


def conversation(*responses: Response, tombstones: frozenset[str] = frozenset()) -> Conversation:
    return Conversation(context_id=CONTEXT_ID, responses=responses, tombstones=tombstones, last=0)


async def test_without_any_response_the_next_step_is_the_first(stream: ListStream) -> None:
    read = await read_conversation(reader(stream), context_of(1))
    assert (read.responses, read.last, read.next_step(set())) == ((), 0, 1)


async def test_a_response_is_read_with_its_calls_and_the_first_result_of_each(stream: ListStream) -> None:
    sequence = stream.put("agent.response.v1", "a1", response_body("Let me look.", step=1, tool_requests=[CALL]))
    stream.put("tool.response.v1", "t1", {"tool": "weather", "request_id": "r1", "output": {"celsius": 10}})
    stream.put("tool.response.v1", "t2", {"tool": "weather", "request_id": "r1", "output": {"celsius": 20}})
    read = await read_conversation(reader(stream), context_of(1))
    (only,) = read.responses
    assert (only.id, only.step, only.sequence, only.message) == ("a1", 1, sequence, "Let me look.")
    assert only.results["r1"]["output"] == {"celsius": 10}
    assert only.is_complete
    assert read.last == sequence


async def test_a_result_of_no_session_counts_too(stream: ListStream) -> None:
    stream.put("agent.response.v1", "a1", response_body("Let me look.", step=1, tool_requests=[CALL]))
    stream.put("tool.error.v1", "t1", {"tool_name": "weather", "request_id": "r1", "error_message": "down"}, session="_")
    read = await read_conversation(reader(stream), context_of(1))
    assert read.responses[0].is_complete


async def test_responses_of_other_agents_and_to_other_triggers_are_not_read(stream: ListStream) -> None:
    stream.put("agent.response.v1", "a1", response_body("Mine.", creator={"agent_id": "critic"}))
    stream.put("agent.response.v1", "a2", response_body("To another.", trigger_event_id="m0"))
    sequence = stream.put("agent.response.v1", "a3", response_body("No creator.", creator=None))
    read = await read_responses(reader(stream), context_of(1))
    assert read.responses == ()
    assert read.last == sequence


async def test_a_response_without_a_step_is_the_next_one(stream: ListStream) -> None:
    stream.put("agent.response.v1", "a1", response_body("One.", step=4))
    stream.put("agent.response.v1", "a2", response_body("Two."))
    stream.put("agent.response.v1", "a3", response_body("Three.", step="seven"))
    read = await read_responses(reader(stream), context_of(1))
    assert [(each.id, each.step) for each in read.responses] == [("a1", 4), ("a2", 5), ("a3", 6)]


async def test_in_a_recreated_stream_responses_are_read_from_its_beginning() -> None:
    stream = ListStream()
    stream.put("agent.response.v1", "a1", response_body("One.", step=1))
    read = await read_responses(reader(stream), context_of(900))
    assert [each.id for each in read.responses] == ["a1"]


async def test_too_many_messages_are_rejected_with_what_to_do(stream: ListStream) -> None:
    for number in range(3):
        stream.put("agent.response.v1", f"a{number}", response_body("Again."))
    with pytest.raises(Rejected, match=r"more than 2 messages .* name it: send_response"):
        await read_conversation(reader(stream), context_of(1), 2)


async def test_what_cannot_be_decoded_and_later_versions_are_skipped(stream: ListStream) -> None:
    stream.put("agent.response.v1", "a1", response_body("One.", step=1))
    edited = stream.messages[-1]
    data = edited.data.replace(b'"version": 1', b'"version": 2').replace(b'"version":1', b'"version":2')
    stream.messages += [replace(edited, data=part) for part in (data, b"{")]
    read = await read_responses(reader(stream), context_of(1))
    assert len(read.responses) == 1


def test_a_round_is_over_when_each_call_has_its_result() -> None:
    assert conversation(response(1, "r1"), response(2)).next_step(set()) == 1
    assert conversation(response(1, "r1", answered=True)).next_step(set()) == 2


def test_a_round_is_over_when_this_delivery_has_seen_it_or_its_response_was_forgotten() -> None:
    assert conversation(response(1, "r1")).next_step({1}) == 2
    assert conversation(response(1, "r1"), tombstones=frozenset({"a1"})).next_step(set()) == 2


def test_the_step_of_a_forgotten_response_is_never_used_again() -> None:
    tombstones = frozenset({response_id(CONTEXT_ID, 1), response_id(CONTEXT_ID, 2)})
    assert conversation(tombstones=tombstones).next_step(set()) == 3


def test_a_response_with_a_call_of_a_stored_one_is_that_one() -> None:
    stored = conversation(response(1, "r1", answered=True), response(2, "r2", answered=True))
    assert stored.free_step({1}, {"tool_requests": [{"request_id": "r2"}]}, has_own_id=False) == 2


def test_an_agent_that_starts_over_behind_its_final_answer_repeats_its_steps() -> None:
    stored = conversation(response(1, "r1", answered=True), response(2))
    assert stored.free_step(set(), {"tool_requests": [{"requestId": "new"}]}, has_own_id=False) == 1
    assert stored.free_step({1}, {}, has_own_id=False) == 2
    assert stored.free_step({1, 2}, {}, has_own_id=False) == 3


def test_an_id_of_its_own_comes_behind_all_steps() -> None:
    assert conversation(response(1, "r1")).free_step({7}, {}, has_own_id=True) == 8
