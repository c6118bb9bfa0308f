"""Which question an answer belongs to, and which sentences are read at all."""

import pytest

from builder.domain.stored import StoredBreadcrumb
from builder.extras.summaries.questions import (
    MAX_SENTENCE_CHARS,
    MAX_SENTENCES,
    answers_briefly,
    depends_on_previous,
    is_bare,
    is_dependent,
    needs_question,
    prose_sentences,
    question_of,
)
from tests.conversations import answered, replied, requested, said
from tests.factories import make_view
from tests.summarised import extract_lines


def question(*rows: StoredBreadcrumb) -> str | None:
    """The question that the last row answers."""
    view = make_view(rows)
    pair = question_of(view, view.size - 1)
    return pair and f"{view.breadcrumb(pair[0]).id}: {pair[1].text}"


@pytest.mark.parametrize(
    "block",
    [
        "from datetime import datetime",
        "def fire(kiln):\n    kiln.heat = 1222\n    return kiln",
        "2026-03-02 02:00:07 ERROR canceling statement due to timeout in Delft",
        'Traceback (most recent call last):\n  File "run.py", line 88, in main\nKeyError: Delft has no kiln',
        "https://delft.example/kilns and https://lyon.example/kilns",
        "kiln | cone | place\nblue | 6 | Delft",
        '{"kiln": "blue", "cone": 6, "place": "Delft"}',
        "1 failed, 312 passed in 12.4s",
        "kiln,cone,place,price\nblue,6,Delft,900",
    ],
)
def test_code_logs_traces_tables_data_and_addresses_are_no_lines(block: str) -> None:
    assert extract_lines(("A", f"{block}\nThe blue kiln in Delft is broken since March.")) == [
        "Assistant: The blue kiln in Delft is broken since March."
    ]


def test_prose_that_names_code_is_a_line() -> None:
    prose = "The bug is in `fetch_page()`: retry_after in http/client.py:12 is read twice."
    assert extract_lines(("A", prose)) == [f"Assistant: {prose}"]


@pytest.mark.parametrize(
    "text",
    [
        "Die Garantie läuft bis zum 14. Mai 2028.",
        "Lindenallee 8 in Leipzig, 2. Stock links.",
        "Nimm Nr. 5 von Dr. Meier in Bonn.",
    ],
)
def test_no_line_ends_at_an_ordinal_or_an_abbreviation(text: str) -> None:
    assert extract_lines(("U", text)) == [f"User: {text}"]


def test_sentences_are_read_where_they_stand_without_list_marks_headings_and_lead_ins() -> None:
    text = "# Kilns\nWe need these:\n- The blue kiln is hot.\n* The red one is not."
    parts = prose_sentences(text)
    assert [part.text for part in parts] == ["The blue kiln is hot.", "The red one is not."]
    assert [text[part.start] for part in parts] == ["-", "*"]


def test_of_a_long_text_only_the_first_sentences_are_read_and_none_that_is_too_long() -> None:
    assert len(prose_sentences("The kiln is hot. " * (MAX_SENTENCES + 9))) == MAX_SENTENCES
    assert prose_sentences(f"The kiln is {'very ' * MAX_SENTENCE_CHARS}hot.") == ()


@pytest.mark.parametrize(
    ("text", "briefly", "bare", "dependent", "depends"),
    [
        ("no", True, True, True, True),
        ("Yes, the red one.", True, True, True, True),
        ("It is red and stands by the window.", False, False, True, True),
        ("Nina, on Friday at the latest", False, False, True, False),
        ("Nina", False, True, True, False),
        ("We have moved both kilns of the studio to Delft because the rent there is lower.", False, False, False, False),
    ],
)
def test_an_answer_depends_on_its_question_by_its_first_words_or_because_it_is_short(
    text: str, briefly: bool, bare: bool, dependent: bool, depends: bool
) -> None:
    assert (answers_briefly(text), is_bare(text), is_dependent(text), depends_on_previous(text)) == (
        briefly,
        bare,
        dependent,
        depends,
    )


def test_only_a_short_statement_needs_its_question() -> None:
    assert needs_question("Yes, the red one.")
    assert not needs_question("Which one?")
    assert not needs_question("")
    assert not needs_question("```\nno\n```")


def test_the_question_is_the_last_one_of_the_other_speaker_with_what_it_refers_to() -> None:
    assert question(replied(1, "Is it dry? Which mug shall I glaze?"), said(2, "The red one.")) == "m1: Which mug shall I glaze?"
    assert (
        question(replied(1, "The red mug is dry. Shall I glaze it?"), said(2, "Yes."))
        == "m1: The red mug is dry. Shall I glaze it?"
    )
    assert question(replied(1, "Shall I glaze it? There is time."), said(2, "Yes.")) == "m1: Shall I glaze it?"


def test_small_talk_and_tools_may_stand_between_a_question_and_its_answer() -> None:
    ask = said(1, "How many lines has a.py?")
    assert question(ask, replied(2, "okay"), replied(3, "It has 42.")) == "m1: How many lines has a.py?"
    tools = [requested(2, "a", command="wc"), answered(3, "a", 42)]
    assert question(ask, replied(4, "Let me count."), *tools, replied(5, "It has 42.")) == "m1: How many lines has a.py?"


def test_other_words_between_them_end_the_search() -> None:
    ask = said(1, "How many lines has a.py?", "Ana")
    assert question(ask, replied(2, "I think that it is a rather long file."), replied(3, "It has 42.")) is None
    other = said(2, "I moved to Lyon in March with two kilns and all of our forty old moulds.", "Bob")
    assert question(ask, other, replied(3, "It has 42.")) is None
    assert question(said(1, "The kiln is hot."), replied(2, "It is.")) is None
    assert question(replied(1, "It is.")) is None


def test_the_asker_may_add_a_short_remark_to_the_question_and_no_long_one() -> None:
    ask, reply = said(1, "How many lines has a.py?"), replied(9, "It has 42.")
    short, long = "It is in the folder src, next to the tests.", "It is in the folder src, next to all of the tests."
    assert question(ask, said(2, short), reply) == "m1: How many lines has a.py?"
    assert question(ask, said(2, long), reply) is None
    assert question(ask, said(2, short), said(3, short), reply) is None
