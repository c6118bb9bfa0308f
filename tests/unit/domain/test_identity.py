"""Who may stand under an id, by place alone."""

from dataclasses import replace
from typing import Any

import pytest

from builder.domain.breadcrumb import NO_SESSION, USER_MESSAGE, Breadcrumb
from builder.domain.identity import Identity, Mark
from tests.factories import MORNING, make_breadcrumb, make_place


def said(place: int, **fields: Any) -> Breadcrumb:
    return replace(make_breadcrumb("Words.", place, id="m"), schema=USER_MESSAGE, role="user", user_id="maya", **fields)


FIRST = Identity().with_crumb(said(5), "m")


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({}, ""),
        ({"expires_at": MORNING}, ""),
        ({"removes": "m", "role": "other"}, ""),
        ({"session": "other"}, "belongs to session 's42'"),
        ({"session": NO_SESSION}, "belongs to session 's42'"),
        ({"schema": "agent.response.v1"}, r"is a user\.message\.v1"),
        ({"role": "system"}, "role 'user'"),
        ({"user_id": "bob"}, "its speaker edits it"),
        ({"user_id": ""}, "its speaker edits it"),
    ],
)
def test_a_later_version_has_session_schema_and_speaker_of_the_first_whatever_its_number(
    fields: dict[str, Any], reason: str
) -> None:
    later = replace(said(6), version=3, **fields)
    assert (FIRST.conflict(later) == "") is (reason == "")
    if reason:
        with pytest.raises(AssertionError, match=reason):
            raise AssertionError(FIRST.conflict(later))
    assert FIRST.conflict(replace(later, place=make_place(4))) == ""  # it stands before, and is the first


@pytest.mark.parametrize("change", [{"expires_at": MORNING}, {"removes": "m"}])
def test_a_note_is_renewed_by_anybody_and_ended_or_made_secret_by_its_own_speaker_alone(change: dict[str, Any]) -> None:
    there = Identity().with_crumb(replace(said(5), schema="note.v1"), "m")
    renewed = replace(said(6), schema="note.v1", version=2, user_id="bob")
    assert there.conflict(renewed) == ""
    assert "only user_id 'maya' may say" in there.conflict(replace(renewed, **change))
    assert there.conflict(replace(renewed, user_id="maya", **change)) == ""


def test_a_tombstone_closes_for_good_what_is_of_its_session_and_what_nobody_had_said_before_it() -> None:
    closed = Identity(marks=(Mark(place=make_place(7), session="s42"),))
    assert closed.is_closed(said(8, session="other"))
    assert closed.is_closed(said(6))
    assert not closed.is_closed(said(6, session="other"))
    foreign = replace(FIRST, marks=(Mark(place=make_place(7), session="other"),))
    assert not foreign.is_closed(said(8))
    assert replace(FIRST, marks=(Mark(place=make_place(7), session=NO_SESSION),)).is_closed(said(8))


def test_what_moved_goes_on_in_the_new_session_and_no_more_in_the_old_one() -> None:
    there = replace(FIRST, marks=(Mark(place=make_place(7), session=NO_SESSION, to="new"),))
    assert not there.is_ended
    assert there.conflict(said(6)) == there.conflict(said(8, session="new")) == ""
    assert there.conflict(said(8))
    assert there.conflict(said(6, session="new"))


def test_a_tombstone_reaches_its_own_session_and_none_reaches_all() -> None:
    def tombstone(session: str) -> Breadcrumb:
        return replace(make_breadcrumb("", 9, session=session), schema="breadcrumb.deleted.v1", removes="m")

    assert FIRST.stray(tombstone("s42")) == FIRST.stray(tombstone(NO_SESSION)) == ""
    assert "belongs to session 's42'" in FIRST.stray(tombstone("other"))
    assert Identity().stray(tombstone("other")) == ""
