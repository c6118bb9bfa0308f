"""The finished page: the ledger's sections in order, its true count, and marks where the prompt begins alike."""

from hashlib import blake2b

from builder.adapters.tokens import load_counter
from builder.assemble.budget.ledger import Ledger
from builder.assemble.page import Page, compose
from tests.conversations import chat
from tests.pages import make_ledger, make_writer

WRITER = make_writer(chat(8))


def ledger(*sections: str) -> Ledger:
    """One message in each of these sections."""
    filled = make_ledger(WRITER)
    for row, section in enumerate(sections):
        filled.put(section, [WRITER.message(WRITER.view.breadcrumb(row), row)], "of the test")
    return filled


def names(page: Page) -> list[str]:
    return [mark.name for mark in page.breakpoints]


def test_an_empty_ledger_is_a_page_without_marks() -> None:
    page = compose(make_ledger(WRITER))
    assert (page.markdown.strip(), page.breakpoints, page.failed) == ("", (), False)


def test_the_tokens_are_those_of_the_whole_text() -> None:
    page = compose(ledger("tools", "recent", "current"))
    assert page.tokens == load_counter("o200k_base")(page.markdown)


def test_marks_stand_behind_what_is_static_what_is_slow_and_the_conversation() -> None:
    page = compose(ledger("tools", "instructions", "recent", "current"))
    assert names(page) == ["static", "slow", "recent"]
    fronts = [page.markdown[: mark.characters] for mark in page.breakpoints]
    assert [front.count("## ") for front in fronts] == [1, 2, 3]
    assert [mark.prefix for mark in page.breakpoints] == [blake2b(front.encode(), digest_size=8).hexdigest() for front in fronts]
    assert [mark.tokens for mark in page.breakpoints] == list(map(load_counter("o200k_base"), fronts))


def test_of_marks_at_one_place_the_first_stands() -> None:
    assert names(compose(ledger("tools", "current"))) == ["static"]
    assert names(compose(ledger("instructions", "current"))) == ["slow"]


def test_a_page_that_begins_with_what_changes_has_no_marks() -> None:
    assert names(compose(ledger("relevant", "current"))) == []


def test_finds_behind_the_conversation_do_not_change_its_mark() -> None:
    short, long = compose(ledger("tools", "recent")), compose(ledger("tools", "recent", "relevant", "current"))
    assert short.breakpoints[-1] == long.breakpoints[1]
