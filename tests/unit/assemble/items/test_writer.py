"""Items: what belongs together stays together, tokens are true, and what has no room yields in its order."""

from dataclasses import replace

import pytest

from builder.assemble.items.forms import FOLD_REASON, RenderForm
from builder.assemble.items.writer import MIN_RESULT_TOKENS, Item, Writer
from builder.domain.context import CUT
from builder.domain.stored import StoredBreadcrumb
from builder.domain.tool_output import Cut
from builder.recall.index.conversation import Entry, turns
from tests.chat_copies import ChatFormat
from tests.conversations import answered, bash, failed, replied, said
from tests.factories import make_profile
from tests.pages import make_writer

LONG = " ".join(f"Sentence {n} of a long report." for n in range(100))
CALL = [said(1, "Count."), replied(2, "I count.", bash("r1", "wc -l a.py")), answered(3, "r1", "42 a.py")]


def writer(rows: list[StoredBreadcrumb], chat_format: ChatFormat = "none") -> Writer:
    return make_writer(rows, make_profile(chat_format=chat_format))


def call_entry(page: Writer) -> Entry:
    return next(entry for turn in turns(page.view) for entry in turn if entry.request)


def call_item(output: str, cap: int | None = None) -> Item:
    page = writer([*CALL[:2], answered(3, "r1", output)])
    return page.entry(call_entry(page), cap=cap)


def test_the_tokens_of_an_item_are_those_of_its_fragments() -> None:
    page = writer(CALL)
    item = page.entry(call_entry(page))
    assert item.tokens == page.rendering.count(item.text + "\n")
    assert [part.breadcrumb.id for part in item.fragments] == ["m2", "m3"]
    assert (item.first.id, item.is_cut) == ("m2", False)


def test_the_result_yields_before_the_call_does() -> None:
    whole, short = call_item(LONG), call_item(LONG, 120)
    assert short.fragments[0] == whole.fragments[0]
    assert short.fragments[1].reduced == CUT
    assert short.tokens <= 120 < whole.tokens


def test_a_result_of_which_no_useful_part_has_room_is_one_line() -> None:
    item = call_item(LONG, MIN_RESULT_TOKENS)
    assert item.fragments[1].reduced == FOLD_REASON
    assert "\n" not in item.fragments[1].text


def test_several_results_share_the_room_of_their_call() -> None:
    page = writer([*CALL[:2], answered(3, "r1", LONG), answered(4, "r1", LONG + " Again.")])
    item = page.entry(call_entry(page), cap=400)
    assert [part.reduced for part in item.fragments] == ["", CUT, CUT]
    assert min(part.tokens for part in item.fragments[1:]) > 100
    assert item.tokens <= 400


def test_a_failure_is_never_one_line_and_never_limited() -> None:
    page = writer([*CALL[:2], failed(3, "r1", "The disk is full.")])
    item = page.entry(call_entry(page), "folded")
    assert "The disk is full." in item.text
    assert not item.is_cut
    assert page.result_form(page.view.breadcrumb(2)) == RenderForm(answer=True)


def test_the_limits_of_a_tool_are_its_own_or_those_of_all() -> None:
    profile = make_profile()
    rules = replace(profile.tool_output, cut=Cut(results=5, characters=None), per_tool={"bash": Cut(results=2, characters=9)})
    page = make_writer([*CALL, answered(4, "r2", "1", "reader")], replace(profile, tool_output=rules))
    assert [page.result_form(page.view.breadcrumb(row)).cut.results for row in (2, 3)] == [2, 5]


def test_an_item_is_useful_while_each_part_of_it_says_something() -> None:
    page = writer([said(1, LONG)])
    assert page.message(page.view.breadcrumb(0), 0, cap=MIN_RESULT_TOKENS + 40).is_useful
    assert not page.message(page.view.breadcrumb(0), 0, cap=MIN_RESULT_TOKENS - 10).is_useful


def test_without_messages_an_item_needs_nothing_extra() -> None:
    page = writer(CALL)
    assert all(page.entry(entry).extra == 0 for turn in turns(page.view) for entry in turn)


@pytest.mark.parametrize("chat_format", ["openai", "anthropic"])
def test_with_messages_the_size_of_an_item_is_the_larger_of_both(chat_format: ChatFormat) -> None:
    page = writer([said(1, "One.\n" * 50), *CALL[1:]], chat_format)
    for turn in turns(page.view):
        for item in map(page.entry, turn):
            assert item.size == max(item.tokens, item.tokens + item.extra)


def test_an_indented_text_needs_less_in_messages_and_is_not_charged_for_it_twice() -> None:
    page = writer([said(1, "    x\n" * 30)], "openai")
    (entry,) = next(iter(turns(page.view)))
    item = page.entry(entry)
    assert item.extra < 0
    assert item.size == item.tokens


def test_a_cap_holds_for_the_messages_too() -> None:
    page = writer([*CALL[:2], answered(3, "r1", {"lines": [f'"{n}"' for n in range(300)]})], "openai")
    assert page.entry(call_entry(page), cap=300).size <= 300


def test_date_lines_say_day_time_age_or_nothing() -> None:
    page = writer([said(60, "Hello.")])
    item = page.message(page.view.breadcrumb(0), 0)
    assert [page.date(item, dates) for dates in ("none", "day", "time")] == ["", "8 May 2024", "8 May 2024, 09:01"]
    assert page.date(item, "age") == "today"
    assert (page.date_tokens(""), page.date_tokens("8 May 2024")) == (0, page.rendering.count("[8 May 2024]\n"))
