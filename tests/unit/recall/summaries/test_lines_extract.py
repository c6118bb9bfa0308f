"""Which sentences a summary keeps, in several languages and without vectors."""

import pytest

from builder.recall.summaries.lines import extract, tokens_of
from tests.factories import bare, make_remembered, make_view
from tests.summarised import COUNT, WORDS, extract_lines


def lines_of_ana(*texts: str, cap: int = 400, vectors: bool = True) -> list[str]:
    """The lines made of what Ana said."""
    rows = [make_remembered(text, n, speaker="Ana") for n, text in enumerate(texts, 1)]
    view = make_view(rows if vectors else [bare(row) for row in rows])
    return [line.text for line in extract(view, (), range(len(texts)), cap, WORDS)]


def test_names_and_numbers_are_kept_before_mere_words() -> None:
    plain, telling = "it was a rather pleasant quiet evening", "the rent is 900 euros"
    (line,) = lines_of_ana(f"{plain}.", f"{telling}.", cap=22)
    assert line == "Ana: the rent is 900 euros."


def test_what_was_said_twice_is_kept_once() -> None:
    assert lines_of_ana("The kiln stands in Delft.", "So the kiln stands in Delft.") == ["Ana: The kiln stands in Delft."]


@pytest.mark.parametrize("cap", [1, 10, 20, 40])
def test_the_cap_is_never_passed(cap: int) -> None:
    rows = [make_remembered(f"Crate {n} holds {n * 7} cups for Delft.", n) for n in range(1, 30)]
    lines = extract(make_view(rows), (), range(29), cap, WORDS)
    assert tokens_of(lines, COUNT) <= cap


def test_it_works_by_words_alone() -> None:
    assert lines_of_ana("The kiln stands in Delft.", "Bob brings clay on 3 June.", vectors=False) == [
        "Ana: The kiln stands in Delft.",
        "Ana: Bob brings clay on 3 June.",
    ]


def test_earlier_lines_compete_with_new_ones() -> None:
    rows = [make_remembered("It was nice weather outside again.", 1), make_remembered("Bob pays 900 euros for 3 kilns.", 2)]
    view = make_view(rows)
    old = extract(view, (), (0,), 30, WORDS)
    assert [line.ids for line in extract(view, old, (1,), 26, WORDS)] == [("m2",)]


def test_of_a_long_report_no_sentence_counts_as_much_as_a_short_message() -> None:
    report = " ".join(f"Part {n} of the kiln report lists {n} broken shelves." for n in range(60))
    (line,) = lines_of_ana(report, "Ana moved to Delft in March.", cap=22)
    assert line == "Ana: Ana moved to Delft in March."


def test_what_an_agent_concluded_is_kept_before_what_tools_said_and_tools_are_kept_where_nobody_else_speaks() -> None:
    result = "The invoice 4711 of Delft is unpaid since 3 March."
    assert extract_lines(("T", result), ("A", "The reminder for Limoges went out today.")) == [
        "Assistant: The reminder for Limoges went out today."
    ]
    assert extract_lines(("T", result)) == [f"bash: {result}"]


def test_decisions_are_kept_before_remarks() -> None:
    remark, decision = "we talked about tiles from Limoges", "we decided on tiles from Lyon"
    assert extract_lines(("U", f"{remark}."), ("A", f"{decision}."), cap=22) == ["Assistant: we decided on tiles from Lyon."]


def test_lines_are_ranked_by_how_much_they_tell() -> None:
    rows = [make_remembered(f"Crate {n} holds {n * 7} cups for Delft.", n) for n in range(1, 9)]
    few = {line.text for line in extract(make_view(rows), (), range(8), 40, WORDS)}
    many = extract(make_view(rows), (), range(8), 400, WORDS)
    assert {line.text for line in sorted(many, key=lambda line: line.rank)[: len(few)]} == few
    assert sorted(line.rank for line in many) == list(range(len(many)))
