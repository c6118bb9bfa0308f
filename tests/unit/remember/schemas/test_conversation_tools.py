"""The bodies of tool calls and answers, and the facts in them."""

from builder.remember.schemas.conversation import ToolErrorV1, ToolRequestV1, ToolResponseV1, call_signature


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
        assert ToolResponseV1.model_validate({"tool": "t", "output": output}).facts().text == 't {"temp": 12}'
    for more in ({"structuredContent": {"temp": 13}}, {"isError": True}, {"nextCursor": "p2"}):
        facts = ToolResponseV1.model_validate({"tool": "t", "output": whole | more}).facts()
        assert facts.text != 't {"temp": 12}'


def test_an_error_is_a_failed_answer() -> None:
    facts = ToolErrorV1.model_validate({"tool_name": "add", "error_message": "timeout", "request_id": "r1"}).facts()
    assert (facts.text, facts.tool, facts.failed, facts.calls) == ("add timeout", "add", True, ("r1",))
    assert (
        ToolErrorV1.model_validate({"tool_name": "add", "error": "no disk", "output": "log 7"}).facts().text
        == "add no disk\nlog 7"
    )
