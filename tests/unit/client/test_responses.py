"""The steps of an agent."""

from typing import Any

from builder.client.responses import Conversation, Response, response_id
from tests.unit.client.streams import CONTEXT_ID


def response(step: int, *calls: str, answered: bool = False) -> Response:
    requests = tuple({"requestId": call} for call in calls)
    results: dict[str, dict[str, Any]] = {call: {} for call in calls} if answered else {}
    return Response(id=f"a{step}", step=step, sequence=step, message="", tool_requests=requests, results=results)


def conversation(*responses: Response, tombstones: frozenset[str] = frozenset()) -> Conversation:
    return Conversation(context_id=CONTEXT_ID, responses=responses, tombstones=tombstones, last=0)


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
