"""Which sentences a summary keeps, which of its lines yield to later ones, and which the page need not repeat."""

import pytest

from builder.domain.stored import StoredBreadcrumb
from builder.domain.summary import KeptLine
from builder.recall.index.view import View
from builder.recall.summaries.lines import PageContent, extract, shown_lines, tokens_of, valid_lines
from tests.conversations import deleted, said
from tests.factories import bare, make_remembered, make_view
from tests.summarised import COUNT, WORDS, extract_lines

KILN, GLAZE, CLAY = (
    said(n, text, "Ana") for n, text in enumerate(("The kiln is hot.", "The glaze is dry.", "The clay is wet."), 1)
)


def line(*rows: StoredBreadcrumb, verbatim: bool = False) -> KeptLine:
    crumbs = [row.breadcrumb for row in rows]
    return KeptLine(
        text="\n".join(f"{crumb.speaker}: {crumb.text}" for crumb in crumbs),
        day="8 May 2024",
        ids=tuple(crumb.id for crumb in crumbs),
        versions=tuple(crumb.version for crumb in crumbs),
        verbatim=verbatim,
    )


def view_with(*later: StoredBreadcrumb) -> View:
    return make_view([KILN, GLAZE, CLAY, *later])


def test_a_line_whose_source_was_deleted_or_edited_is_not_valid() -> None:
    lines = (line(KILN), line(GLAZE), line(KILN, CLAY))
    assert valid_lines(view_with(), lines) == lines
    assert valid_lines(view_with(deleted(4, "m1")), lines) == (lines[1],)
    assert valid_lines(view_with(said(4, "The glaze is wet.", "Ana", id="m2", version=2)), lines) == (lines[0], lines[2])


def test_lines_stand_in_place_order_and_words_for_word_behind_the_question_in_front_of_them() -> None:
    free, verbatim = (line(KILN), line(GLAZE, CLAY)), (line(CLAY, verbatim=True), line(GLAZE, verbatim=True))
    assert shown_lines(view_with(), verbatim, free) == (line(KILN), line(GLAZE, CLAY), *reversed(verbatim))


def test_free_lines_keep_the_order_that_a_model_gave_them() -> None:
    free = (line(CLAY), line(KILN))
    assert shown_lines(view_with(), (), free) == free


def test_a_line_is_left_out_when_the_page_shows_all_of_its_sources() -> None:
    page = PageContent(rows=frozenset({0, 1}))
    assert shown_lines(view_with(), (line(GLAZE, verbatim=True),), (line(KILN), line(GLAZE, CLAY)), page) == (line(GLAZE, CLAY),)


def test_a_line_is_left_out_when_the_page_shows_its_words_of_a_longer_row() -> None:
    page = PageContent(parts={0: "…  the KILN\nis hot. …", 1: "The glaze …"})
    assert shown_lines(view_with(), (), (line(KILN), line(GLAZE)), page) == (line(GLAZE),)
    both = line(KILN, GLAZE)
    assert shown_lines(view_with(), (), (both,), PageContent(parts={0: "The kiln is hot."})) == (both,)


def test_an_outdated_line_is_left_out_unless_it_is_kept_word_for_word() -> None:
    page = PageContent(outdated=frozenset({0, 1}))
    assert shown_lines(view_with(), (line(GLAZE, verbatim=True),), (line(KILN),), page) == (line(GLAZE, verbatim=True),)


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
