"""Tool calls in the shape of OpenAI, which the client and imports read alike."""

from typing import Any

import pytest

from builder.domain.errors import Rejected
from builder.wire.chat_lines import tool_request


def call(arguments: Any) -> dict[str, Any]:
    return {"id": "c1", "type": "function", "function": {"name": "weather", "arguments": arguments}}


@pytest.mark.parametrize(
    ("arguments", "read"),
    [
        ('{"city": "Ulm"}', {"city": "Ulm"}),
        ("", {}),
        (None, {}),
        ({"city": "Ulm"}, {"city": "Ulm"}),
        ("{city", "{city"),
        ("[]", []),
    ],
)
def test_the_arguments_of_a_call_are_its_json_and_else_what_the_model_wrote(arguments: Any, read: Any) -> None:
    assert tool_request(call(arguments)) == {"tool": "weather", "input": read, "requestId": "c1"}


@pytest.mark.parametrize("value", [{}, {"id": "c1"}, {"id": "c1", "function": {}}, {"function": {"name": "x"}}, "x", None])
def test_a_call_without_id_or_name_is_rejected_with_what_to_write(value: Any) -> None:
    with pytest.raises(Rejected, match="a tool call has no id or no name; write"):
        tool_request(value)
