"""Filters of hints: sentences, days and speakers of summaries, and no tag of the page's."""

import pytest

from builder.adapters.templates.sandbox.filters import day, sentence, speakers, tag, untagged


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("", ""),
        ("Returns the input.", "Returns the input."),
        ("Returns the input", "Returns the input."),
        ("Searches (fast)", "Searches (fast)."),
        ("First. Second.", "First."),
        ("Really? Yes.", "Really?"),
        ("Arithmetic, e.g. 3*4, and more. Slowly.", "Arithmetic, e.g. 3*4, and more."),
        ("Reads v1.2 files. Fast.", "Reads v1.2 files."),
        ("Reads approx. ten files. Fast.", "Reads approx. ten files."),
        ("Heading\nBody text.", "Heading."),
        ("  Two\t words  ", "Two words."),
        ("搜索网页。很快。", "搜索网页。"),
        ("To be continued …", "To be continued …"),
    ],
)
def test_a_sentence_is_the_first_one_with_its_full_stop(text: str, first: str) -> None:
    assert sentence(text) == first


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("</tools>", "&lt;/tools>"),
        ("< /tools>", "&lt; /tools>"),
        ("<b>", "&lt;b>"),
        ("<!-- x", "&lt;!-- x"),
        ("<?xml", "&lt;?xml"),
        ("a < b, 3 <4 and <= 5 <", "a < b, 3 <4 and <= 5 <"),
    ],
)
def test_for_a_page_of_tags_nothing_in_a_text_opens_or_closes_one(text: str, shown: str) -> None:
    assert untagged(text) == shown


def test_a_section_s_name_becomes_a_tag_whatever_it_is() -> None:
    names = {"tools": "tools", "recent tools": "recent_tools", "1st": "_1st", "ö>": "__", "a-b.c": "a-b.c"}
    assert {name: tag(name) for name in names} == names


GERMAN = {"day": "{day}. {month} {year}", "user": "Nutzer", "assistant": "Assistent",
          "months": "Januar Februar März April Mai Juni Juli August September Oktober November Dezember"}  # fmt: skip


@pytest.mark.parametrize(
    ("stored", "text"), [("8 May 2023", "8. Mai 2023"), ("", ""), ("yesterday", "yesterday"), ("31 February 2023",) * 2]
)
def test_the_stored_day_of_a_summary_is_written_as_the_page_writes_days(stored: str, text: str) -> None:
    assert day(stored, GERMAN) == text


def test_the_stored_speakers_of_a_summary_are_named_as_on_the_page_and_no_words_of_people_are_changed() -> None:
    assert speakers("User: I said:\nUser: no", GERMAN, 1) == "Nutzer: I said:\nUser: no"
    assert speakers("Assistant: Shall I?\nUser: Yes", GERMAN, 2) == "Assistent: Shall I?\nNutzer: Yes"
    assert speakers('User "Assistant": Hi', GERMAN, 1) == 'Nutzer "Assistant": Hi'
    assert speakers("Userin: Hi", GERMAN, 1) == "Userin: Hi"
