"""A trace holds nothing of what a breadcrumb said."""

from dataclasses import fields

import pytest

from builder.domain.erasure import erased
from tests.factories import MORNING, make_breadcrumb

IDENTITY = {
    *("workspace", "session", "id", "version", "place", "schema", "created_at", "received_at", "answers", "private", "replay")
}


def test_only_identity_and_place_and_the_answered_breadcrumb_and_privacy_survive_an_erasure() -> None:
    crumb = make_breadcrumb(
        "The key is 4711.", user_id="u1", utc_offset=60, tags=("draft",), calls=("r1",), call_signatures=("{}",), answers="m0",
        pointers=("key",), expires_at=MORNING, task="t7", tool="search", failed=True, covers=("m3",), private=True,
        hints="{}", creator="a1", agent="a1", to=("a2",),
    )  # fmt: skip
    trace = erased(crumb)
    same = {field.name for field in fields(crumb) if getattr(crumb, field.name) == getattr(trace, field.name)}
    assert same == IDENTITY
    assert (trace.removes, trace.body, trace.text) == (crumb.id, "{}", "")


@pytest.mark.parametrize("removes", ["", "m1", "m2"])
def test_a_trace_is_erased_whatever_it_was_and_another_erasure_changes_nothing(removes: str) -> None:
    trace = erased(make_breadcrumb(id="m1", removes=removes))
    assert trace.kind == "erased"
    assert erased(trace) == trace


def test_the_trace_of_a_result_still_says_which_call_it_answered_and_that_of_a_call_makes_none() -> None:
    result, call = make_breadcrumb(calls=("r1",)), make_breadcrumb(calls=("r1",), call_signatures=("{}",))
    assert (erased(result).calls, erased(call).calls) == (("r1",), ())
