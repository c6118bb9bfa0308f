"""A conversation that is on the page whole stands in page order, the running turn apart, and says what a limit left."""

from builder.assemble.draft import PageDraft
from builder.assemble.sources.conversation import FITS, LIMITED
from builder.domain.profile import Profile
from builder.domain.stored import StoredBreadcrumb
from builder.recall.index.conversation import closed_turn
from tests.conversations import answered, bash, chat, replied, said
from tests.pages import make_draft, make_recall
from tests.two_sections import make_two_sections


def shown(draft: PageDraft, source: str) -> list[str]:
    return [part.breadcrumb.id for item in draft.items(source) for part in item.fragments]


def reason(draft: PageDraft) -> str:
    return draft.ledger.reasons["recent"]


def limited(rows: list[StoredBreadcrumb]) -> PageDraft:
    profile: Profile = make_two_sections(window={"max_units": 4, "trim_to": 2}, on_overflow="reject")
    return make_draft(rows, profile)


def test_all_of_it_stands_in_page_order_and_fits() -> None:
    draft = make_draft(chat(9), make_two_sections())
    assert (shown(draft, "window"), reason(draft)) == ([f"m{n}" for n in range(1, 10)], FITS)
    assert not draft.ledger.notes.get("recent")


def test_what_a_limit_leaves_does_not_claim_to_fit() -> None:
    draft = limited(chat(9))
    there = shown(draft, "window")
    assert there == [f"m{n}" for n in range(10 - len(there), 10)]
    assert 2 <= len(there) <= 4
    assert reason(draft) == LIMITED


def test_the_running_turn_stands_in_its_own_section() -> None:
    rows = [*chat(2), said(3, "How hot is it?"), replied(4, "", bash("a", "cat kiln")), answered(5, "a", 1200)]
    view = make_recall(rows).view
    turn = closed_turn(view, 4)
    assert turn
    draft = make_draft(rows, make_two_sections(), rows[-1], view=view, turn=turn)
    assert shown(draft, "window") == ["m1", "m2"]
    assert shown(draft, "turn") == ["m4", "m5"]
