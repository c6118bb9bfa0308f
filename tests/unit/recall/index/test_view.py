"""A history as of any place, as one consumer sees it."""

import numpy as np

from builder.domain.selector import Selector
from builder.recall.index.conversation import without_expired
from builder.recall.recall import visible_to
from tests.conversations import answered, bash, chat, replied, said
from tests.factories import (
    MORNING,
    bare,
    extend,
    make_breadcrumb,
    make_history,
    make_place,
    make_profile,
    make_remembered,
    make_tombstone,
    make_view,
    view_of,
)


def test_a_passage_with_words_and_without_a_vector_lacks_one_from_its_place_on() -> None:
    history = make_history([make_remembered("The kiln is hot.", 1), make_remembered("?!", 2), bare(make_remembered("Hot.", 3))])
    assert [view_of(history, make_place(n)).lacks_vectors for n in (1, 2, 3, 4)] == [False, False, False, True]
    assert view_of(history, make_place(4)).prefix.has_vector.tolist() == [True, False, False]


def test_repeats_are_the_same_words_of_the_same_speaker_so_far() -> None:
    rows = [make_remembered("Yes we can!", n, speaker=name) for n, name in enumerate(("Ana", "Bob", "Ana", "Ana"), 1)]
    history = make_history(rows)
    assert view_of(history, make_place(4)).repeats(0) == (0, 2)
    assert view_of(history, make_place(9)).repeats(0) == (0, 2, 3)


def test_arrays_grow_and_earlier_views_stay_as_they_were() -> None:
    history = make_history([f"Message {n}." for n in range(10)])
    view = view_of(history, make_place(6))
    before = (view.crumb.copy(), view.current.copy(), view.units)
    extend(history, tuple(make_remembered(f"Message {n}.", n) for n in range(11, 500)))
    np.testing.assert_array_equal(view.crumb, before[0])
    np.testing.assert_array_equal(view.current, before[1])
    assert view.units == before[2]


def test_of_a_conversation_that_is_heard_in_part_only_the_units_with_a_row_in_it_count() -> None:
    rows = [said(1, "One.", tags=["to:mira"]), replied(2, "Two."), replied(3, "", bash("a", "ls"), tags=["to:mira"])]
    mira = make_profile(audience=Selector(any_tags=("to:mira",)))
    view = visible_to(make_view([*rows, answered(4, "a", 1)]), mira, make_breadcrumb("And?", 9), ())
    assert view.units == 2
    assert view.dialogue.tolist() == [True, False, True, True]


def test_what_has_expired_is_no_unit() -> None:
    rows = [said(1, "One."), make_remembered("Two.", 2, expires_at=MORNING), said(3, "Three.")]
    view = without_expired(make_view(rows), (), MORNING)
    assert (view.units, view.conversation.tolist()) == (2, [0, 2])


def test_the_turn_counts_a_persons_messages_of_the_own_session_the_trigger_included() -> None:
    history = make_history([*chat(5), said(6, "Elsewhere.", session="s43")])
    assert view_of(history).turn == 4
    assert view_of(history, make_place(2)).turn == 2


def test_small_talk_has_no_passage() -> None:
    view = make_view(["The kiln is hot.", "okay"])
    assert (view.first_passage(0), view.first_passage(1)) == (0, None)


def test_repeats_of_a_person_are_found_in_all_sessions_and_of_an_agent_in_its_own() -> None:
    people = [make_remembered("Yes we can!", n, session=f"s{n}", user_id="u1") for n in (1, 2)]
    agents = [make_remembered("Yes we can!", n, session=f"s{n}", schema="agent.response.v1") for n in (3, 4)]
    view = make_view([*people, *agents])
    assert [view.repeats(row) for row in range(4)] == [(0, 1), (0, 1), (2,), (3,)]


def test_a_repeat_that_was_deleted_is_none() -> None:
    rows = [make_remembered("Yes we can!", n) for n in (1, 2)]
    view = make_view([*rows, make_tombstone("m1", 3)])
    assert view.repeats(1) == (1,)
    assert view.repeats(0) == (0, 1)


def test_a_message_is_edited_once_its_words_are_others_and_where_its_first_ones_are_unknown() -> None:
    first, tagged = make_remembered("Um 14 Uhr."), make_remembered("Um 14 Uhr.", 2, id="m1", version=2, tags=("x",))
    edited = make_remembered("Um 16 Uhr.", 3, id="m1", version=3)
    view = make_view([first, tagged, edited])
    assert [view.is_edited(row.breadcrumb) for row in (first, tagged, edited)] == [False, False, True]
    assert make_view([edited]).is_edited(edited.breadcrumb)
