"""Chat messages of frameworks as the breadcrumbs that they are."""

from builder.client.reading import ChatReader

SYSTEM = {"role": "system", "content": "Mail is off."}


def test_a_result_has_the_tool_of_its_call_and_a_system_message_counts_after_words() -> None:
    reader = ChatReader()
    assert reader.read(SYSTEM) == []
    reader.read({"role": "assistant", "content": "", "tool_calls": [{"id": "c1", "function": {"name": "weigh"}}]})
    ((schema, body),) = reader.read({"role": "tool", "tool_call_id": "c1", "content": "12 kg"})
    assert (schema, body["tool"], body["output"]) == ("tool.response.v1", "weigh", "12 kg")
    assert len(reader.read(SYSTEM)) == len(ChatReader(is_new=False).read(SYSTEM)) == 1
