"""What of summaries a page shows."""

import json
from dataclasses import replace

from builder.recall.summaries.lines import EMPTY_PAGE
from builder.recall.summaries.page_summary import page_summary
from tests.conversations import chat, deleted
from tests.factories import make_view
from tests.summarised import PROFILE, stored_summary


def test_the_page_shows_the_newest_summary_from_before_its_window_moved() -> None:
    view = make_view([*chat(4), stored_summary(5, ("m1",)), stored_summary(6, ("m2",), "m5")])
    summaries = [page_summary(view, PROFILE, EMPTY_PAGE, moved_at) for moved_at in (5, 6)]
    assert [page and page.breadcrumb.id for page in summaries] == ["m5", "m6"]
    assert summaries[1]
    assert [line.ids for line in summaries[1].lines] == [("m2",)]


def test_a_page_shows_no_summary_without_a_line_a_recipe_or_a_chain() -> None:
    rows = [*chat(2), stored_summary(3, ("m1",))]
    assert page_summary(make_view(chat(2)), PROFILE, EMPTY_PAGE, 9) is None
    assert page_summary(make_view([*rows, deleted(4, "m1")]), PROFILE, EMPTY_PAGE, 9) is None
    assert page_summary(make_view(rows), replace(PROFILE, summaries=None), EMPTY_PAGE, 9) is None


def test_a_page_summary_can_be_cut_to_some_of_its_lines() -> None:
    page = page_summary(make_view([*chat(2), stored_summary(3, ("m1", "m2"))]), PROFILE, EMPTY_PAGE, 9)
    assert page
    body = json.loads(page.with_lines(page.lines[1:]).body)
    assert [line["ids"] for line in body["lines"]] == [["m2"]]
    assert body["covered"] == ["m1", "m2"]
