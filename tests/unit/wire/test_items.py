"""Contents of any vendor as items, also in shapes that are not quite their vendor's."""

from builder.wire.items import files_beside, items_of, parts_of, unread_lines
from builder.wire.parts import Text, Thought


def test_a_thought_comes_first_and_stands_once() -> None:
    assert [type(part) for part in parts_of(items_of({"content": "x", "reasoning_content": "hm"}))] == [Thought, Text]
    content = [{"type": "thinking", "thinking": "hm"}, "x"]
    assert [type(part) for part in parts_of(items_of({"content": content, "reasoning_content": "hm"}))] == [Thought, Text]


def test_a_long_name_without_an_address_is_a_name() -> None:
    assert files_beside({"images": ["IMG20240401123456Hannover"]}) == ("[file IMG20240401123456Hannover]",)


def test_what_no_reader_knows_of_a_body_is_named() -> None:
    assert unread_lines({"content": [{"type": "hologram", "status": "done"}]}) == ("[hologram, 38 bytes that are not read]",)
    assert unread_lines({"content": [5]}) == ()
