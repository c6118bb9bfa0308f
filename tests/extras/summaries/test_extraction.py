"""Which sentences a summary keeps, and which of its lines yield to later ones."""

import pytest

from builder.extras.summaries.extraction import extract
from builder.recall.summaries.lines import tokens_of
from tests.factories import bare, make_remembered, make_view
from tests.summarised import COUNT, WORDS, extract_lines


def lines_of_ana(*texts: str, cap: int = 400, vectors: bool = True) -> list[str]:
    """The lines made of what Ana said."""
    rows = [make_remembered(text, n, speaker="Ana") for n, text in enumerate(texts, 1)]
    view = make_view(rows if vectors else [bare(row) for row in rows])
    return [line.text for line in extract(view, (), range(len(texts)), cap, WORDS)]


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


def test_lines_are_ranked_by_how_much_they_tell() -> None:
    rows = [make_remembered(f"Crate {n} holds {n * 7} cups for Delft.", n) for n in range(1, 9)]
    few = {line.text for line in extract(make_view(rows), (), range(8), 40, WORDS)}
    many = extract(make_view(rows), (), range(8), 400, WORDS)
    assert {line.text for line in sorted(many, key=lambda line: line.rank)[: len(few)]} == few
    assert sorted(line.rank for line in many) == list(range(len(many)))


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("The rent of the studio is 900 euros.", "The rent of the studio is 950 euros."),
        ("The tasting at the vineyard is on Friday.", "The tasting at the vineyard is on Sunday."),
        ("We meet the surveyor at the harbour office.", "We meet the surveyor at the town hall instead."),
        ("Die Anlieferung der Fliesen kommt am 3. Mai.", "Die Fliesen kommen doch erst am 9. Mai zur Anlieferung."),
        ("El hotel de Lisboa cuesta 80 euros.", "Al final el hotel de Lisboa cuesta 95 euros la noche."),
        ("Защита диплома 9 июня в аудитории 304.", "Защита диплома перенесена на 11 июня."),
    ],
)
def test_a_line_yields_to_a_later_one_that_changes_it(earlier: str, later: str) -> None:
    assert extract_lines(("U", earlier), ("A", "Noted, thanks."), ("U", later)) == [f"User: {later}"]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Crate 3 holds cups for Delft.", "Crate 4 holds cups for Delft."),
        ("The red crate for Delft weighs as much as 5 kilos.", "The blue crate for Delft weighs as much as 7 kilos."),
        ("Nina rents a studio in Delft.", "Now Bob fires a kiln in Limoges."),
    ],
)
def test_a_line_about_something_else_yields_to_nothing(one: str, other: str) -> None:
    assert extract_lines(("U", one), ("U", other)) == [f"User: {one}", f"User: {other}"]


def test_no_line_yields_to_an_earlier_one() -> None:
    now, later = "Now the rent of the studio is 950 euros.", "The rent of the studio was 900 euros."
    assert f"User: {later}" in extract_lines(("U", now), ("U", later))
