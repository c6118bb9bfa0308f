"""The finished page: marks where prompts begin alike, and the tokens of its sections."""

from hashlib import blake2b
from typing import Any

import pytest

from builder.adapters.tokens import load_counter
from builder.assemble.page import compose
from builder.domain.context import Context
from builder.domain.stored import StoredBreadcrumb
from tests.conversations import answered, bash, chat, replied, said
from tests.factories import (
    make_catalog,
    make_context,
    make_profile,
    make_rendering,
)
from tests.pages import filled_ledger, make_writer
from tests.two_sections import make_two_sections

WRITER = make_writer(chat(8), make_two_sections())


def test_marks_stand_behind_what_is_static_what_is_slow_and_the_conversation() -> None:
    page = compose(filled_ledger(WRITER, "tools", "instructions", "recent", "current"))
    assert [mark.name for mark in page.breakpoints] == ["static", "slow", "recent"]
    fronts = [page.markdown[: mark.characters] for mark in page.breakpoints]
    assert [front.count("## ") for front in fronts] == [1, 2, 3]
    assert [mark.prefix for mark in page.breakpoints] == [blake2b(front.encode(), digest_size=8).hexdigest() for front in fronts]
    assert [mark.tokens for mark in page.breakpoints] == list(map(load_counter("o200k_base"), fronts))


def test_finds_behind_the_conversation_do_not_change_its_mark() -> None:
    short, long = (
        compose(filled_ledger(WRITER, "tools", "recent")),
        compose(filled_ledger(WRITER, "tools", "recent", "relevant", "current")),
    )
    assert short.breakpoints[-1] == long.breakpoints[1]


@pytest.mark.parametrize(
    ("sections", "marks"),
    [
        (("tools", "current"), ["static"]),
        (("instructions", "current"), ["slow"]),
        (("relevant", "current"), []),
        ((), []),
    ],
)
def test_of_marks_at_one_place_the_first_stands_and_before_what_changes_none(sections: tuple[str, ...], marks: list[str]) -> None:
    assert [mark.name for mark in compose(filled_ledger(WRITER, *sections)).breakpoints] == marks


ASK = said(800, "Where does the kiln of Delft stand?")


def page(rows: list[StoredBreadcrumb], budget: int = 4000, **changes: Any) -> Context:
    return make_context(ASK, rows, make_profile(budget=budget, **changes))


def test_a_section_has_the_tokens_of_each_of_its_breadcrumbs() -> None:
    rows = [said(1, "Go."), replied(2, "I look.", bash("r1", "ls"), bash("r2", "pwd")), answered(3, "r1", "files")]
    context = make_context(ASK, rows, make_profile(), (make_catalog(3, 500),))
    count = make_rendering().count
    (dialogue,) = (section for section in context.sections if section.name == "conversation")
    assert list(dialogue.tokens_by_id) == ["m1", "m2", "m3"]
    assert dialogue.tokens_by_id["m1"] == count("- User: Go.\n")
    assert dialogue.tokens_by_id["m3"] == count("  Result: files\n")
    assert dialogue.tokens_by_id["m2"] == sum(
        map(count, ("- Assistant: I look.\n", "- Call bash: command: ls\n", "- Call bash: command: pwd\n  (no answer yet)\n"))
    )
    assert 0 <= dialogue.tokens - sum(dialogue.tokens_by_id.values()) < 10 + count("[8 May 2024]\n")
    assert sum(section.tokens for section in context.sections) >= context.tokens
