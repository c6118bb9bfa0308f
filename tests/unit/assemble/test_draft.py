"""What fits is shown: the conversation whole, in order, word for word, and nothing of it twice."""

from typing import Any

import pytest

from builder.domain.context import Context
from builder.domain.errors import Rejected
from builder.domain.stored import StoredBreadcrumb
from tests.conversations import (
    answered,
    bash,
    chat,
    conversation,
    deleted,
    ids_of,
    replied,
    said,
    sent,
    undated,
)  # fmt: skip
from tests.factories import make_catalog, make_context, make_profile

ASK = said(800, "And now?")
EVERYTHING = [
    *chat(20),
    replied(21, "I look.", bash("r1", "wc -l a.py"), bash("r2", "wc -l b.py")),
    answered(22, "r2", "42 b.py\n"),
    answered(23, "r1", {"lines": 7, "name": "a.py"}),
    said(24, "Ça va? 好的 👩‍👩‍👧"),
    *chat(20, 25),
]


def page(rows: list[StoredBreadcrumb], **changes: Any) -> Context:
    return make_context(ASK, rows, make_profile(**changes))


@pytest.mark.parametrize("shape", ["none", "openai", "anthropic"])
@pytest.mark.parametrize("style", ["default", "xml"])
def test_the_conversation_is_whole_exactly_when_it_fits(shape: str, style: str) -> None:
    whole = page(EVERYTHING, budget=60_000, chat_format=shape, page=style)
    assert ids_of(whole, "conversation") == [
        row.breadcrumb.id for row in (*EVERYTHING[:21], *(EVERYTHING[n] for n in (22, 21)), *EVERYTHING[23:])
    ]
    assert (whole.partial, whole.omissions, dict(whole.left_out)) == ((), (), {})
    if shape == "none":
        at_limit, below = (page(EVERYTHING, budget=budget, page=style) for budget in (whole.tokens, whole.tokens - 1))
        assert at_limit.markdown == whole.markdown
        assert set(ids_of(below, "conversation")) < set(ids_of(whole, "conversation"))
        assert ids_of(below, "conversation")[-1] == "m44"


def test_a_page_that_is_refused_when_it_overflows_is_refused_exactly_when_the_conversation_does_not_fit() -> None:
    tokens = page(EVERYTHING, budget=60_000).tokens
    assert page(EVERYTHING, budget=tokens, on_overflow="reject").tokens == tokens
    with pytest.raises(
        Rejected, match=rf"conversation does not fit into {tokens - 1} tokens; raise `budget` in the profile 'default'"
    ):
        page(EVERYTHING, budget=tokens - 1, on_overflow="reject")


def test_a_current_message_that_does_not_fit_overflows_too() -> None:
    long = said(800, "And now? " * 300)
    with pytest.raises(Rejected, match="conversation does not fit"):
        make_context(long, [], make_profile(budget=300, on_overflow="reject"))
    with pytest.raises(Rejected, match="conversation does not fit"):
        make_context(long, [said(1, "Hi.")], make_profile(budget=300, on_overflow="reject"))
    assert make_context(long, [said(1, "Hi.")], make_profile(budget=300)).tokens > 270


def test_what_a_limit_leaves_out_overflows_nothing() -> None:
    limited = page(EVERYTHING, window={"max_units": 4, "trim_to": 3}, on_overflow="reject", budget=400)
    assert ids_of(limited, "conversation") == ["m41", "m42", "m43", "m44"]


def test_finds_that_have_no_room_overflow_nothing() -> None:
    notes = [sent(n, "note.v1", {"content": f"Note {n}: and now, what now? " * 20}) for n in range(100, 140)]
    rows = [*chat(5), *notes]
    assert ids_of(page(rows, on_overflow="reject", budget=1000), "conversation") == ["m1", "m2", "m3", "m4", "m5"]


def test_a_deleted_message_comes_back_with_no_later_version_of_an_older_number() -> None:
    rows = [said(1, "one", version=2), deleted(2, "m1"), said(3, "zero", id="m1", version=1), said(4, "Hm.")]
    assert undated(conversation(page(rows))) == "- User: Hm."


def test_a_late_result_stands_with_its_call_and_not_where_it_came() -> None:
    rows = [replied(1, "I look.", bash("r1", "make")), said(2, "Take your time."), answered(3, "r1", "done")]
    assert (
        undated(conversation(page(rows)))
        == "- Assistant: I look.\n- Call bash: command: make\n  Result: done\n- User: Take your time."
    )


def test_a_result_whose_call_an_edit_took_back_stands_by_itself() -> None:
    rows = [replied(1, "I look.", bash("r1", "ls")), answered(2, "r1", "files"), replied(3, "I do not look.", id="m1", version=2)]
    assert undated(conversation(page(rows))) == "- Assistant (edited): I do not look.\n- Tool bash answered: files"


def test_what_the_page_shows_whole_is_not_found_once_more() -> None:
    context = page([said(1, "And now, what happens now?"), *chat(10, 2)])
    assert [section.name for section in context.sections] == ["conversation", "current"]


def test_what_is_no_conversation_may_be_found_beside_a_whole_one() -> None:
    notes = [
        sent(n, "note.v1", {"content": text}) for n, text in ((50, "And now for the kiln."), (51, "And now for the weather."))
    ]
    context = page([*chat(5), *notes], worth=None)
    assert ids_of(context, "conversation") == ["m1", "m2", "m3", "m4", "m5"]
    assert set(ids_of(context, "elsewhere")) == {"m50", "m51"}


def test_a_whole_catalog_stands_with_a_whole_conversation_however_large_its_share() -> None:
    profile = make_profile(budget=8000)
    context = make_context(ASK, chat(10), profile, (make_catalog(150, 500),))
    spent = {section.name: section.tokens for section in context.sections}
    tools = next(rule for rule in profile.sections if rule.name == "tools")
    assert spent["tools"] > tools.max_share * profile.budget
    assert context.partial == ()


def test_the_reserve_and_the_margin_are_kept_free() -> None:
    tokens = page(EVERYTHING, budget=60_000).tokens
    for profile in (make_profile(budget=tokens + 50, reserve=50), make_profile(budget=2 * tokens, margin=0.5)):
        assert make_context(ASK, EVERYTHING, profile).tokens == tokens
    assert make_context(ASK, EVERYTHING, make_profile(budget=tokens + 50, reserve=51)).tokens < tokens
