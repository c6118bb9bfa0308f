"""The messages that a page answers, and the page that it supersedes."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

from builder.domain.selector import Selector
from builder.domain.stored import StoredBreadcrumb
from builder.recall.index.conversation import of_audience
from builder.recall.questions import Questions, questions_of, without_later_triggers
from tests.factories import MORNING, make_history, make_place, make_profile, make_remembered, view_of


def said(sequence: int, user: str = "ada", **changes: Any) -> StoredBreadcrumb:
    return make_remembered(f"Message {sequence}.", sequence, user_id=user, **changes)


def reply(sequence: int, answers: str = "", agent: str = "agent") -> StoredBreadcrumb:
    return make_remembered(f"Reply {sequence}.", sequence, schema="agent.response.v1", answers=answers, agent=agent)


def superseded(*rows: StoredBreadcrumb, trigger: StoredBreadcrumb | None = None, **profile: Any) -> str:
    crumb = (trigger or said(99)).breadcrumb
    view = view_of(make_history(rows), make_place(99), crumb.session)
    return questions_of(replace(view, agent="agent"), crumb, make_profile(**({"agent": "agent"} | profile))).supersedes


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


TOOLS = ("user.message.v1", "tool.response.v1", "tool.error.v1")


def calling(sequence: int, answers: str, *calls: str, schema: str = "agent.response.v1", **changes: Any) -> StoredBreadcrumb:
    """Calls of the agent, without words. schema: of a response, or of a call that is no part of one."""
    signatures = tuple(f'{{"tool": "t", "input": {{"of": "{call}"}}}}' for call in calls)
    fields = {"schema": schema, "answers": answers, "agent": "agent", "calls": calls, "call_signatures": signatures} | changes
    return make_remembered("", sequence, **fields)


def bare(sequence: int, answers: str, call: str, **changes: Any) -> StoredBreadcrumb:
    return calling(sequence, answers, call, schema="tool.request.v1", **changes)


def result(sequence: int, request: str) -> StoredBreadcrumb:
    return make_remembered("Found.", sequence, schema="tool.response.v1", calls=(request,))


def questions(*rows: StoredBreadcrumb, of: StoredBreadcrumb | None = None, **profile: Any) -> Questions:
    """Of the page of the last row, as of it; or of another one, as of the last row."""
    trigger = (of or rows[-1]).breadcrumb
    view = replace(view_of(make_history(rows)), agent="agent")
    return questions_of(view, trigger, make_profile(**({"agent": "agent", "triggers": TOOLS} | profile)))


def test_a_result_answers_what_its_call_was_made_for_and_nothing_more() -> None:
    page = questions(said(1), calling(2, "m1", "a"), result(3, "a"))
    assert (page.ids, page.current, page.supersedes) == (("m1",), ("m1",), "")
    other = questions(said(0, "bob"), said(1), calling(2, "m1", "a"), result(3, "a"))
    assert other.ids == ("m1",)  # bob's has a page of its own


def test_a_person_who_writes_while_a_tool_runs_is_answered_with_its_result() -> None:
    page = questions(said(1), calling(2, "m1", "a"), said(3), result(4, "a"))
    assert (page.ids, page.current, page.supersedes) == (("m1", "m3"), ("m1", "m3"), "m3")


def test_a_message_before_the_call_and_after_its_question_is_answered_with_the_result() -> None:
    page = questions(said(1), said(2, "bob"), calling(3, "m1", "a"), result(4, "a"))
    assert (page.ids, page.supersedes) == (("m1", "m2"), "m2")


def test_what_was_answered_before_the_result_came_is_not_answered_again() -> None:
    page = questions(said(1), calling(2, "m1", "a"), said(3), reply(4, "m3"), result(5, "a"))
    assert (page.ids, page.supersedes) == (("m1",), "")


def test_a_message_for_which_other_calls_run_waits_for_these() -> None:
    rows = (said(1), calling(2, "m1", "a"), said(3), calling(4, "m3", "b"))
    assert questions(*rows, result(5, "a")).ids == ("m1",)
    assert questions(*rows, result(5, "b")).ids == ("m3",)
    assert questions(*rows, result(5, "b"), result(6, "a")).ids == ("m1",)


def test_the_next_round_of_a_joined_page_is_about_all_of_it() -> None:
    rows = (said(1), calling(2, "m1", "a"), said(3), result(4, "a"), calling(5, "m4", "b"))
    page = questions(*rows, result(6, "b"))
    assert (page.ids, page.current, page.supersedes) == (("m1", "m3"), ("m1", "m3"), "")
    assert questions(*rows, said(6), result(7, "b")).ids == ("m1", "m3", "m6")
    assert questions(*rows, result(6, "b"), reply(7, "m6"), said(8)).ids == ("m8",)


def test_only_the_last_result_of_a_turn_has_a_page() -> None:
    both = calling(2, "m1", "a", "b")
    assert questions(said(1), both, said(3), result(4, "a")) == Questions()
    assert questions(said(1), both, result(3, "a"), said(4), result(5, "b")).ids == ("m1", "m4")


def test_a_message_in_its_quiet_time_has_its_own_page() -> None:
    moments = {3: 0.0, 4: 3.0}
    rows = [said(n, received_at=MORNING + timedelta(seconds=seconds)) for n, seconds in moments.items()]
    first = (said(1, received_at=MORNING - timedelta(minutes=1)), calling(2, "m1", "a"), *rows)
    late = make_remembered("Found.", 5, schema="tool.response.v1", calls=("a",), received_at=MORNING + timedelta(seconds=6))
    assert questions(*first, late, debounce=2).ids == ("m1", "m3", "m4")
    assert questions(*first, late, debounce=4).ids == ("m1",)  # both wait: the second one came at once after the first
    assert questions(*first, late, debounce=3).ids == ("m1", "m3", "m4")


def test_deleted_messages_are_not_answered_and_edited_ones_are_in_their_place() -> None:
    gone = make_remembered("", 4, schema="breadcrumb.deleted.v1", removes="m3")
    rows = (said(1), calling(2, "m1", "a"), said(3))
    assert questions(*rows, gone, result(5, "a")).ids == ("m1",)
    edit = said(4, id="m3", version=2)
    assert questions(*rows, edit, result(5, "a")).ids == ("m1", "m3")
    own = make_remembered("", 4, schema="breadcrumb.deleted.v1", removes="m1")
    assert questions(*rows, own, result(5, "a")).ids == ("m3",)


def test_a_refreshed_page_answers_what_is_left() -> None:
    first, second = said(1), said(2)
    assert questions(first, second, reply(3, "m1"), of=second).ids == ("m2",)
    assert questions(first, second, reply(3, "m2"), of=first).is_over
    assert questions(first, second, of=first).is_over  # the page of the second one answers both
    assert not questions(first, said(2, "bob"), of=first).is_over
    found = result(5, "a")
    rows = (first, calling(2, "m1", "a"), said(3), reply(4, "m3"), found)
    assert (questions(*rows, of=found).ids, questions(*rows, of=rows[2]).is_over) == (("m1",), True)
    assert questions(*rows, reply(6, "m5"), of=found).is_over


def test_a_page_that_a_result_has_replaced_is_over_and_one_that_it_has_not_goes_on() -> None:
    typed = said(3)
    rows = (said(1), calling(2, "m1", "a"), typed, result(4, "a"))
    assert questions(*rows, of=typed).is_over
    assert not questions(*rows[:3], of=typed).is_over


def test_a_refreshed_view_is_without_what_has_a_page_of_its_own_and_the_answers_to_that() -> None:
    trigger = said(1)
    rows = [trigger, said(2, "bob"), reply(3, "m2"), reply(4, "m1"), said(5, id="m1", version=2), said(6, id="m2", version=2)]
    view = replace(view_of(make_history(rows)), agent="agent")
    seen = without_later_triggers(view, trigger.breadcrumb, make_profile(agent="agent", triggers=TOOLS))
    assert [row for row in range(view.size) if seen.current[row]] == [3]
    notes = [make_remembered("Noted.", n, schema="agent.response.v1", agent="other") for n in (2, 3)]
    other = replace(view_of(make_history([trigger, *notes])), agent="agent")
    assert without_later_triggers(other, trigger.breadcrumb, make_profile(agent="agent")).current.tolist() == [False, True, True]


def test_calls_that_name_no_message_are_about_the_last_one_before_them() -> None:
    rows = (said(1, "bob"), said(2), calling(3, "", "a"))
    assert questions(*rows, result(4, "a")).ids == ("m2",)
    assert questions(*rows, result(4, "a"), reply(5, "m4"), said(6)).supersedes == ""
    assert questions(*rows, said(4), result(5, "a")).ids == ("m1", "m2", "m4")


def test_calls_that_the_consumer_may_not_see_are_none_of_its_turn() -> None:
    audience = Selector(any_tags=("us",))
    seen = [said(1, "bob", tags=("us",)), said(3, tags=("us",))]
    rows = (seen[0], calling(2, "m1", "a"), seen[1], bare(4, "m3", "a", tags=("us",), call_signatures=("{}",)), result(5, "a"))
    view = of_audience(replace(view_of(make_history(rows)), agent="agent"), audience, None)
    assert questions_of(view, rows[-1].breadcrumb, make_profile(agent="agent", triggers=TOOLS)).ids == ("m3",)


def test_a_result_that_was_deleted_since_has_closed_its_call() -> None:
    both = calling(2, "m1", "a", "b")
    gone = make_remembered("", 4, schema="breadcrumb.deleted.v1", removes="m3")
    assert questions(said(1), both, result(3, "a"), gone, result(5, "b")).ids == ("m1",)


def test_bare_calls_in_a_row_are_one_turn_and_its_last_result_has_its_page() -> None:
    rows = (said(1), bare(2, "m1", "a"), bare(3, "m1", "b"), said(4))
    first, last = result(5, "a"), result(6, "b")
    assert questions(*rows, first) == Questions()
    assert not questions(*rows, first, of=rows[3]).is_over  # no page has come that replaces it
    assert questions(*rows, first, last).ids == ("m1", "m4")


def test_a_bare_call_behind_a_new_message_is_no_part_of_the_turn_before_it() -> None:
    rows = (said(1), bare(2, "m1", "a"), said(3), bare(4, "m3", "b"))
    assert questions(*rows, result(5, "a")).ids == ("m1",)


def test_a_request_id_with_other_arguments_is_another_call() -> None:
    rows = (said(1), calling(2, "m1", "a"), said(3), bare(4, "m3", "a", call_signatures=("{}",)), result(5, "a"))
    assert questions(*rows).ids == ("m3",)
