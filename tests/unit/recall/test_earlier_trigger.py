"""The message that a trigger supersedes."""

from datetime import timedelta
from typing import Any

from builder.domain.stored_breadcrumb import StoredBreadcrumb
from builder.recall.earlier_trigger import earlier_trigger
from tests.factories import MORNING, make_history, make_place, make_profile, make_remembered, view_of


def said(sequence: int, user: str = "ada", **changes: Any) -> StoredBreadcrumb:
    return make_remembered(f"Message {sequence}.", sequence, user_id=user, **changes)


def reply(sequence: int, answers: str = "", agent: str = "agent") -> StoredBreadcrumb:
    return make_remembered(f"Reply {sequence}.", sequence, schema="agent.response.v1", answers=answers, agent=agent)


def superseded(*rows: StoredBreadcrumb, trigger: StoredBreadcrumb | None = None, **profile: Any) -> str:
    crumb = (trigger or said(99)).breadcrumb
    view = view_of(make_history(rows), make_place(99), crumb.session)
    earlier = earlier_trigger(view, crumb, make_profile(**({"agent": "agent"} | profile)))
    return earlier.id if earlier else ""


def test_a_message_supersedes_the_one_before_that_nothing_has_answered() -> None:
    assert superseded(said(1)) == "m1"
    assert superseded(said(1), said(2)) == "m2"
    assert superseded() == ""


def test_an_answer_of_the_consumer_ends_it_and_no_other_agents_does() -> None:
    assert superseded(said(1), reply(2, "m1")) == ""
    assert superseded(said(1), reply(2, "m1", "other")) == "m1"
    assert superseded(said(1), reply(2, "m0")) == "m1"
    assert superseded(said(1), reply(2, "m1", "")) == ""
    assert superseded(said(1), reply(2)) == ""  # it may answer anything
    assert superseded(said(1), reply(2, agent="other")) == "m1"


def test_each_person_supersedes_only_the_own_messages() -> None:
    assert superseded(said(1), said(2, "bob")) == "m1"
    assert superseded(said(1, "bob")) == ""
    assert superseded(said(1, ""), trigger=said(99, "")) == "m1"
    assert superseded(said(1, "", speaker="Ada"), trigger=said(99, "", speaker="Bob")) == ""


def test_what_asks_the_consumer_for_nothing_is_not_superseded() -> None:
    note = make_remembered("A note.", 2, user_id="ada", schema="note.v1")
    assert superseded(said(1), note) == "m1"
    assert superseded(said(1), triggers=("note.v1",)) == ""


def test_only_a_persons_words_supersede() -> None:
    assert superseded(said(1), trigger=reply(99)) == ""


def test_what_the_quiet_time_left_without_a_context_is_passed_over() -> None:
    moments = {n: MORNING + timedelta(seconds=seconds) for n, seconds in ((1, 0), (2, 60), (3, 61))}
    rows = [said(n, received_at=moment) for n, moment in moments.items()]
    trigger = said(99, received_at=MORNING + timedelta(seconds=62))
    assert superseded(*rows, trigger=trigger, debounce=5) == "m1"
    assert superseded(*rows, trigger=trigger) == "m3"
