"""Which lines of a summary are valid, and which the page need not repeat."""

from builder.domain.stored import StoredBreadcrumb
from builder.domain.summary import KeptLine
from builder.recall.index.view import View
from builder.recall.summaries.lines import PageContent, shown_lines, with_rows
from tests.conversations import deleted, said
from tests.factories import make_view

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
    assert with_rows(view_with(), lines) == [((0,), lines[0]), ((1,), lines[1]), ((0, 2), lines[2])]
    assert with_rows(view_with(deleted(4, "m1")), lines) == [((1,), lines[1])]
    edited = view_with(said(4, "The glaze is wet.", "Ana", id="m2", version=2))
    assert with_rows(edited, lines) == [((0,), lines[0]), ((0, 2), lines[2])]


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
