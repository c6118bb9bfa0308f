"""Words of a fragment without its bullet, indent and label: byte for byte where the page shows all of them."""

import json
from dataclasses import replace

import pytest

from builder.assemble.items.forms import RenderForm
from builder.assemble.items.words import MAX_MARGIN_CHARS, call_arguments, message_words, result_words, shows_pictures
from builder.domain.context import Fragment
from builder.domain.stored_breadcrumb import StoredBreadcrumb
from tests.conversations import answered, failed, replied, said
from tests.pages import make_writer

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


@pytest.mark.parametrize("output", ["42 lines\n", "  a\n    b\n", "<tag>"])
def test_a_text_that_a_tool_answered_reads_byte_for_byte(output: str) -> None:
    row = answered(2, "r1", output)
    words = result_words(fragment(row, RenderForm(answer=True)), "Result")
    assert words == output


def test_what_a_tool_answered_as_data_reads_as_the_page_has_it() -> None:
    words = result_words(fragment(answered(2, "r1", {"lines": 42}), RenderForm(answer=True)), "Result")
    assert "42" in words
    assert not words.startswith(("- ", "  ", "Result"))


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
    assert call_arguments(call, writer.fragment(row.breadcrumb, form), "Call bash") == call.arguments
    cut = json.loads(call_arguments(call, writer.fragment(row.breadcrumb, form, 60), "Call bash"))
    assert list(cut) == ["cut"]
    assert "Sentence 0" in cut["cut"]


def test_pictures_go_with_everything_but_a_single_line() -> None:
    row = answered(2, "r1", LONG)
    assert shows_pictures(fragment(row, RenderForm(answer=True)))
    assert shows_pictures(fragment(row, RenderForm(answer=True), 60))
    assert not shows_pictures(fragment(row, RenderForm(answer=True, line="folded")))


def test_of_a_message_that_hints_transformed_the_words_are_theirs() -> None:
    shown = replace(fragment(said(1, "the key is hunter2")), text="- User: (asks for the key)", transformed=True)
    assert message_words(shown, "User") == "(asks for the key)"
