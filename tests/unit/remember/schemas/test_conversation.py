"""The bodies of messages, and the facts in them."""

from typing import Any

import pytest
from pydantic import ValidationError

from builder.remember.schemas.conversation import AgentResponseV1, call_signature


def test_the_calls_of_a_response_are_those_with_a_request_id() -> None:
    requests = [{"tool": "a", "input": 1, "requestId": "r1"}, {"tool": "b"}, {"tool": "c", "request_id": "r2"}]
    facts = AgentResponseV1.model_validate({"message": "", "tool_requests": requests}).facts()
    assert facts.calls == ("r1", "r2")
    assert facts.call_signatures == (call_signature("a", 1), call_signature("c", None))


@pytest.mark.parametrize(("sent", "step"), [(3, 3), (0, None), (True, None), ("2", None)])
def test_a_step_is_a_number_from_one_on(sent: Any, step: int | None) -> None:
    assert AgentResponseV1.model_validate({"message": "x", "step": sent}).step == step


def test_calls_need_no_text_and_without_one_a_response_is_refused() -> None:
    calls = [{"tool": "ls", "requestId": "r1"}]
    silent = AgentResponseV1.model_validate({"content": None, "tool_requests": calls}).facts()
    assert (silent.text, silent.calls) == ("", ("r1",))
    with pytest.raises(ValidationError, match="no text"):
        AgentResponseV1.model_validate({"tool_requests": []})
