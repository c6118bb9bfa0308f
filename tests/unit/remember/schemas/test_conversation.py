"""The bodies of messages, tool calls and answers, and the facts in them."""

from typing import Any

import pytest
from pydantic import ValidationError

from builder.remember.calls import call_signature
from builder.remember.schemas.conversation import (
    AgentResponseV1,
    ToolErrorV1,
    ToolRequestV1,
    ToolResponseV1,
    UserMessageV1,
)


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


def test_a_signature_keeps_the_order_of_the_arguments() -> None:
    assert call_signature("add", {"b": 2, "a": 1}) == '{"tool":"add","input":{"b":2,"a":1}}'


def test_a_request_without_an_id_makes_no_call_that_could_be_answered() -> None:
    facts = ToolRequestV1.model_validate({"tool": "add", "input": {"a": 1}}).facts()
    assert (facts.text, facts.tool, facts.calls, facts.call_signatures) == ("add a: 1", "add", (), ())


def test_a_response_is_its_output_and_a_failed_one_its_error() -> None:
    body = {"tool": "add", "output": {"sum": 3}, "error": "overflow", "requestId": "r1"}
    answer = ToolResponseV1.model_validate(body).facts()
    failure = ToolResponseV1.model_validate(body | {"status": "error"}).facts()
    assert (answer.text, answer.failed, answer.calls) == ("add sum: 3", False, ("r1",))
    assert (failure.text, failure.failed) == ("add overflow\nsum: 3", True)


def test_whatever_a_sender_calls_its_success_is_one() -> None:
    for status, failed in (("ok", False), ("completed", False), ("success", False), ("failed", True), ("error", True)):
        assert ToolResponseV1.model_validate({"tool": "ls", "status": status, "output": "a.txt"}).facts().failed is failed
    assert ToolResponseV1.model_validate({"tool": "ls", "error": "no such folder"}).facts().failed


def test_the_words_of_an_mcp_server_are_those_inside_its_wrapper() -> None:
    parts = [{"type": "text", "text": '{"temp": 12}'}]
    whole = {"content": parts, "isError": False, "structuredContent": {"temp": 12}}
    for output in (parts, {"content": parts}, whole):
        assert ToolResponseV1.model_validate({"tool": "t", "output": output}).facts().text == "t temp: 12"
    for more in ({"structuredContent": {"temp": 13}}, {"isError": True}, {"nextCursor": "p2"}):
        facts = ToolResponseV1.model_validate({"tool": "t", "output": whole | more}).facts()
        assert facts.text != "t temp: 12"


def test_an_error_is_a_failed_answer() -> None:
    facts = ToolErrorV1.model_validate({"tool_name": "add", "error_message": "timeout", "request_id": "r1"}).facts()
    assert (facts.text, facts.tool, facts.failed, facts.calls) == ("add timeout", "add", True, ("r1",))
    assert (
        ToolErrorV1.model_validate({"tool_name": "add", "error": "no disk", "output": "log 7"}).facts().text
        == "add no disk\nlog 7"
    )


def test_calls_in_the_parts_of_a_record_are_its_calls() -> None:
    parts = [{"type": "text", "text": "I look."}, {"type": "tool_use", "id": "t1", "name": "look", "input": {"at": "kiln"}}]
    facts = AgentResponseV1.model_validate({"message": parts}).facts()
    assert (facts.text, facts.calls) == ("I look.", ("t1",))
    assert facts.call_signatures == (call_signature("look", {"at": "kiln"}),)


def test_a_call_in_a_record_whose_result_is_there_too_is_nobody_s_to_run() -> None:
    calls = [{"toolCallId": name, "toolName": "price", "input": {"of": name}} for name in ("mug", "bowl")]
    results = [{"toolCallId": "mug", "toolName": "price", "output": "18 euro"}]
    held = AgentResponseV1.model_validate({"message": "Done.", "toolCalls": calls, "toolResults": results})
    assert [call.request_id for call in held.tool_requests] == ["bowl"]
    assert held.words.split("\n") == ["Done.", "[call price] of: mug", "[result of price] 18 euro"]


def test_what_the_vendor_ran_and_what_the_model_thought_are_marked_in_the_text() -> None:
    server = [{"tool": "web_search", "input": {"query": "kiln"}, "output": "Kilns"}]
    facts = AgentResponseV1.model_validate({"message": "Found.", "reasoning": "Look.", "server_tools": server}).facts()
    assert facts.text == "[call web_search] query: kiln\n[result of web_search] Kilns\n[thought] Look.\nFound."
    assert facts.calls == ()


def test_what_a_person_pastes_stays_as_they_wrote_it() -> None:
    key = f"ssh-rsa {'QUFBQUJCQkJDQ0ND0123456789abcdefXYZ' * 12} mia@laptop"
    assert UserMessageV1.model_validate({"content": key}).facts().text == key
    assert "[encoded data" in ToolResponseV1.model_validate({"tool": "cat", "output": key}).facts().text
