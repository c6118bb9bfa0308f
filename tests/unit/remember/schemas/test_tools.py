"""The bodies of tool calls and answers, and the facts in them."""

from builder.remember.schemas.tools import ToolCatalogV1, ToolErrorV1, ToolRequestV1, ToolResponseV1, call_signature


def test_equal_calls_have_equal_signatures() -> None:
    assert call_signature("add", {"a": 1, "b": 2}) == call_signature("add", {"b": 2, "a": 1})
    assert call_signature("add", {"a": 1}) != call_signature("sub", {"a": 1})


def test_a_request_without_an_id_makes_no_call_that_could_be_answered() -> None:
    facts = ToolRequestV1.model_validate({"tool": "add", "input": {"a": 1}}).facts()
    assert (facts.text, facts.tool, facts.calls, facts.call_signatures) == ("add a: 1", "add", (), ())


def test_a_response_is_its_output_and_a_failed_one_its_error() -> None:
    body = {"tool": "add", "output": {"sum": 3}, "error": "overflow", "requestId": "r1"}
    answer = ToolResponseV1.model_validate(body).facts()
    failure = ToolResponseV1.model_validate(body | {"status": "error"}).facts()
    assert (answer.text, answer.failed, answer.calls) == ("add sum: 3", False, ("r1",))
    assert (failure.text, failure.failed) == ("add overflow", True)


def test_an_error_is_a_failed_answer() -> None:
    facts = ToolErrorV1.model_validate({"tool_name": "add", "error_message": "timeout", "request_id": "r1"}).facts()
    assert (facts.text, facts.tool, facts.failed, facts.calls) == ("add timeout", "add", True, ("r1",))


def test_a_catalog_is_a_line_for_each_tool() -> None:
    tools = [{"name": "add", "description": "Adds"}, {"name": "sub"}]
    assert ToolCatalogV1.model_validate({"tools": tools}).facts().text == "add: Adds\nsub: "
