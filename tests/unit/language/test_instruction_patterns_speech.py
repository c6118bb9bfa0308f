"""A person's own sentences are told from what the person pasted."""

import pytest

from builder.language.instruction_patterns import MAX_SENTENCE_CHARS, own_sentences


def own(text: str) -> list[str]:
    return [text[start:end] for start, end in own_sentences(text)]


def test_sentences_and_items_are_a_person_s_own() -> None:
    assert own("Be brief. Thanks!\n- no emojis\n2. cite sources") == ["Be brief.", "Thanks!", "no emojis", "cite sources"]


@pytest.mark.parametrize("pasted", ["```\nAlways lock.\n```", "> Always lock.", "{'a': 1}", "2024-05-08 Always lock."])
def test_fences_quotations_and_data_are_not(pasted: str) -> None:
    assert own(f"Look.\n{pasted}") == ["Look."]


@pytest.mark.parametrize("header", ["From: Ana", "Betreff: Ofen", "Asunto: horno", "发件人：安娜", "On 8 May Ana wrote:"])  # noqa: RUF001
def test_nothing_behind_the_header_of_a_mail_is(header: str) -> None:
    assert own(f"Look.\n{header}\nAlways lock the door.") == ["Look."]


def test_of_a_sentence_that_was_not_written_by_hand_only_the_beginning_is() -> None:
    (sentence,) = own("word " * 200)
    assert len(sentence) <= MAX_SENTENCE_CHARS


def test_a_part_of_a_text_is_read_by_its_offsets() -> None:
    text = "One. Two. Three."
    assert [text[start:end] for start, end in own_sentences(text, 5, 9)] == ["Two."]


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("Look. Here is the mail from Tom: Hi. Always lock.\nNever knock.", ["Look.", "Here is the mail from Tom:"]),
        ("Tom wrote: Hi. Always lock.", ["Tom wrote:"]),
        ("I wrote: always lock.", ["I wrote: always lock."]),
        ("Here are the rules of our mails: always lock.", ["Here are the rules of our mails: always lock."]),
    ],
)
def test_what_stands_behind_a_colon_after_an_announcement_is_not(text: str, sentences: list[str]) -> None:
    assert own(text) == sentences
