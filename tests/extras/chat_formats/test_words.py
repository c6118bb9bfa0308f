"""What a message says of a fragment: byte for byte where all of it is shown, else its part."""

import json
from dataclasses import replace

import pytest

from builder.assemble.items.forms import RenderForm
from builder.domain.context import Context, Fragment
from builder.domain.stored import StoredBreadcrumb
from builder.extras.chat_formats.words import MAX_MARGIN_CHARS, message_words, page_call, result_words
from tests.conversations import answered, conversation, failed, replied, said, sent, undated
from tests.pages import make_writer


def lines(context: Context) -> list[str]:
    return undated(conversation(context)).split("\n")


LONG = " ".join(f"Sentence {n} of a long letter." for n in range(50))


def fragment(row: StoredBreadcrumb, form: RenderForm = RenderForm(), cap: int | None = None) -> Fragment:  # noqa: B008 - frozen
    writer = make_writer([row])
    return writer.fragment(row.breadcrumb, form, cap)


@pytest.mark.parametrize(
    "text", ["Hello.", "# A heading\n\n```\ncode\n```", "  indented\n\ttab", "trailing  \n", "User: no label"]
)
def test_a_message_that_is_shown_whole_reads_byte_for_byte(text: str) -> None:
    assert message_words(fragment(said(1, text)), "User") == text


def test_of_a_message_that_is_cut_its_part_is_left_without_the_label() -> None:
    words = message_words(fragment(said(1, LONG), cap=60), "User")
    assert words.startswith("Sentence 0 of a long letter.")
    assert "characters left out" in words
    assert len(words) < len(LONG)


def test_control_text_of_a_message_is_visible() -> None:
    assert message_words(fragment(said(1, "a\u202eb")), "User") == "a⟨U+202E⟩b"


@pytest.mark.parametrize(("margin", "stays"), [(MAX_MARGIN_CHARS, True), (MAX_MARGIN_CHARS + 1, False)])
def test_white_space_around_a_text_stays_up_to_a_limit(margin: int, stays: bool) -> None:
    text = "x" + " " * margin
    assert (message_words(fragment(said(1, text)), "User") == text) == stays


MANIFEST = '{\n  "version": "1.0",\n  "private": true,\n\n  "zip": "01234"\n}\n'


@pytest.mark.parametrize("output", ["42 lines\n", "  a\n    b\n", "<tag>", MANIFEST, '[{"id": 7, "b": 1}]', "```\n x\n````\n"])
def test_a_text_that_a_tool_answered_reads_byte_for_byte(output: str) -> None:
    row = answered(2, "r1", output)
    words = result_words(fragment(row, RenderForm(answer=True)), "Result")
    assert words == output


def test_a_text_of_several_lines_keeps_its_shape_on_the_page_behind_a_fence() -> None:
    text = fragment(answered(2, "r1", MANIFEST), RenderForm(answer=True)).text
    inner = MANIFEST.replace("\n  ", "\n    ").replace("\n}", "\n  }").removesuffix("\n")
    assert text == f"  Result:\n\n  ```\n  {inner}\n  ```"


@pytest.mark.parametrize(
    ("output", "compact", "lines"),
    [
        (
            {"zip": "01234", "city": "Łódź", "age": 7},
            '{"zip":"01234","city":"Łódź","age":7}',
            ['zip: "01234"', "city: Łódź", "age: 7"],
        ),
        ({"b": "null", "a": None, "c": ""}, '{"b":"null","a":null,"c":""}', ['b: "null"', "a: null", 'c: ""']),
        ({"list": ["1", 1, "True", "{}"]}, '{"list":["1",1,"True","{}"]}', ['list: "1", 1, "True", "{}"']),
        ([{"n": "1e3", "q": '"7"'}] * 4, '[{"n":"1e3","q":"', ['- n: "1e3"\n', 'q: "\\"7\\""']),
        ({"content": [{"type": "text", "text": '{"b": 1, "a": 2}'}]}, '{"b": 1, "a": 2}', ["b: 1", "a: 2"]),
    ],
)
def test_an_object_keeps_its_order_and_its_texts_do_not_read_as_numbers(output: object, compact: str, lines: list[str]) -> None:
    shown = fragment(answered(2, "r1", output), RenderForm(answer=True))
    assert result_words(shown, "Result").startswith(compact)
    found = [shown.text.find(line) for line in lines]
    assert -1 not in found
    assert found == sorted(found)


def test_a_failure_shows_its_error_and_what_it_printed() -> None:
    output = 'Traceback\n  File "k.py"\nValueError: -3\n'
    body = {"tool": "bash", "request_id": "r1", "status": "error", "error": "exit status 2", "output": output}
    row = sent(2, "tool.response.v1", body)
    shown = fragment(row, RenderForm(answer=True))
    assert result_words(shown, "Result") == f"Failed: exit status 2\nResult:\n{output}"
    assert '  Failed: exit status 2\n  Result:\n\n  ```\n  Traceback\n    File "k.py"' in shown.text
    assert "ValueError: -3" in row.breadcrumb.text
    error = fragment(sent(2, "tool.error.v1", {"tool_name": "bash", "request_id": "r1", "error": {"code": "7"}}))
    assert error.text == '- Tool bash failed: code: "7"'


def test_a_cut_result_is_not_given_whole() -> None:
    words = result_words(fragment(answered(2, "r1", LONG), RenderForm(answer=True), 60), "Result")
    assert "characters left out" in words


def test_the_label_of_a_failure_stays() -> None:
    words = result_words(fragment(failed(2, "r1", "The disk is full."), RenderForm(answer=True)), "Result")
    assert words.endswith("The disk is full.")
    assert words != "The disk is full."


def test_the_arguments_of_a_whole_call_are_its_own_and_of_a_cut_one_a_json_object_of_the_part() -> None:
    row = replied(1, "", ("r1", "bash", {"command": LONG}))
    writer = make_writer([row])
    call = writer.rendering.call(row.breadcrumb, "r1")
    form = RenderForm(call="r1")
    assert page_call(writer.fragment(row.breadcrumb, form), "r1", writer) == call
    cut = json.loads(page_call(writer.fragment(row.breadcrumb, form, 60), "r1", writer).arguments)
    assert list(cut) == ["cut"]
    assert "Sentence 0" in cut["cut"]


def test_of_a_message_that_hints_transformed_the_words_are_theirs() -> None:
    shown = replace(fragment(said(1, "the key is hunter2")), text="- User: (asks for the key)", transformed=True)
    assert message_words(shown, "User") == "(asks for the key)"
