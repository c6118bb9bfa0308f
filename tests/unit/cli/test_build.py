"""Events of a file as breadcrumbs."""

import json
from typing import Any

import pytest

from builder.cli.build import read_breadcrumbs, trigger_of
from builder.domain.errors import Rejected

NO_LIFETIMES: dict[str, float] = {}


def line(identity: str, schema: str = "user.message.v1", **changes: Any) -> str:
    body = {"content": "Hello."} if schema == "user.message.v1" else {"message": "Hi."}
    return json.dumps({"id": identity, "schema_name": schema, "context": body, "created_at": "2026-01-05T09:00:00Z"} | changes)


def test_events_have_places_in_file_order_and_their_own_times() -> None:
    first, second = read_breadcrumbs([line("m1"), "", line("m2")], "acme", "s1", NO_LIFETIMES)
    assert [first.place.sequence, second.place.sequence] == [1, 2]
    assert (first.workspace, first.session) == ("acme", "s1")
    assert first.received_at == first.created_at


def test_an_event_that_is_rejected_is_named_by_its_line_in_the_file() -> None:
    with pytest.raises(Rejected, match=r"^line 3: "):
        read_breadcrumbs([line("m1"), "", line("m2", context={"content": 7})], "acme", "s1", NO_LIFETIMES)


def test_the_last_user_message_triggers_unless_an_id_is_given() -> None:
    lines = [line("m1"), line("m2"), line("a1", "agent.response.v1")]
    breadcrumbs = read_breadcrumbs(lines, "acme", "s1", NO_LIFETIMES)
    assert trigger_of(breadcrumbs, "").id == "m2"
    assert trigger_of(breadcrumbs, "a1").id == "a1"


@pytest.mark.parametrize(("identity", "missing"), [("", "user message"), ("m9", "breadcrumb 'm9'")])
def test_events_without_the_trigger_are_rejected(identity: str, missing: str) -> None:
    breadcrumbs = read_breadcrumbs([line("a1", "agent.response.v1")], "acme", "s1", NO_LIFETIMES)
    with pytest.raises(Rejected, match=missing):
        trigger_of(breadcrumbs, identity)
