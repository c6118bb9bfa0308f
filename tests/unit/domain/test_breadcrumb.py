"""A breadcrumb says what it is, and how a tool's answer joins the session of its call."""

import pytest

from builder.domain.breadcrumb import NO_SESSION, ORIGIN, Kind, Place
from tests.factories import make_breadcrumb


def test_a_recreated_stream_sorts_behind_the_old_one() -> None:
    assert ORIGIN < Place(1, 900) < Place(2, 1)


@pytest.mark.parametrize(
    ("removes", "kind"), [("", "content"), ("m2", "tombstone"), ("m1", "secret")], ids=["content", "tombstone", "secret"]
)
def test_a_breadcrumb_is_of_the_kind_of_what_it_takes_off(removes: str, kind: Kind) -> None:
    assert make_breadcrumb(id="m1", removes=removes).kind == kind


def test_an_answer_of_no_session_joins_by_its_request_id() -> None:
    answer = make_breadcrumb(schema="tool.response.v1", session=NO_SESSION, calls=("r1",))
    assert (answer.joins_by, answer.may_join, answer.asks_for) == ("r1", True, ())


def test_a_call_joins_nothing_and_waits_for_answers_in_its_session_only() -> None:
    call = make_breadcrumb(calls=("r1",), call_signatures=("{}",))
    assert (call.joins_by, call.may_join, call.asks_for) == ("", False, ("r1",))
    assert make_breadcrumb(session=NO_SESSION, calls=("r1",), call_signatures=("{}",)).asks_for == ()


def test_a_later_version_of_no_session_may_join_where_the_first_did() -> None:
    assert make_breadcrumb(session=NO_SESSION, version=2).may_join
    assert not make_breadcrumb(session=NO_SESSION).may_join
