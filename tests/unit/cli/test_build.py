"""Events of a file as breadcrumbs."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from builder.chat_files.reader import read_file
from builder.cli.build import placed, read_breadcrumbs, trigger_of
from builder.domain.breadcrumb import NO_TIME, Breadcrumb
from builder.domain.errors import Rejected

NO_LIFETIMES: dict[str, float] = {}


def line(identity: str, schema: str = "user.message.v1", **changes: Any) -> str:
    body = {"content": "Hello."} if schema == "user.message.v1" else {"message": "Hi."}
    return json.dumps({"id": identity, "schema_name": schema, "context": body, "created_at": "2026-01-05T09:00:00Z"} | changes)


def breadcrumbs(*lines: str) -> tuple[Breadcrumb, ...]:
    return read_breadcrumbs(lines, "acme", "s1", NO_LIFETIMES)


def test_events_have_places_in_file_order_and_their_own_times() -> None:
    first, second = breadcrumbs(line("m1"), "", line("m2"))
    assert [first.place.sequence, second.place.sequence] == [1, 2]
    assert (first.workspace, first.session) == ("acme", "s1")
    assert first.received_at == first.created_at == datetime(2026, 1, 5, 9, tzinfo=UTC)


def test_an_event_that_is_rejected_is_named_by_its_line_in_the_file_and_the_rest_is_read() -> None:
    content = read_file([line("m1"), "", line("m2", context={"content": 7}), line("m3")], "acme", "s1")
    assert [each.id for _, each in placed(content, NO_LIFETIMES)] == ["m1", "m3"]
    assert [each.line for each in content.refusals] == [3]


def test_what_is_too_large_for_the_service_is_named_too() -> None:
    content = read_file([line("m1", context={"content": "word " * 300})], "acme", "s1")
    assert placed(content, NO_LIFETIMES, 1024) == ()
    assert "line 1: the breadcrumb has 1," in str(content.refusals[0])


def test_a_chat_without_times_has_none_and_one_message_without_has_that_of_its_neighbour() -> None:
    words = [json.dumps({"role": "user", "content": text}) for text in ("One.", "Two.")]
    assert [crumb.created_at for crumb in breadcrumbs(*words)] == [NO_TIME, NO_TIME]
    dated = json.dumps({"role": "user", "content": "Three.", "timestamp": "2026-01-05T09:00:00Z"})
    assert {crumb.created_at for crumb in breadcrumbs(words[0], dated, words[1])} == {datetime(2026, 1, 5, 9, tzinfo=UTC)}


def test_nobody_has_spoken_in_the_future() -> None:
    (crumb,) = breadcrumbs(line("m1", created_at="2099-01-01T00:00:00Z"))
    assert crumb.created_at < datetime(2099, 1, 1, tzinfo=UTC)


def test_what_a_system_says_on_the_way_is_of_the_system_and_of_no_agent() -> None:
    roles = ("user", "assistant", "system")
    crumbs = breadcrumbs(*(json.dumps({"role": role, "content": role}) for role in roles))
    assert [(crumb.role, crumb.speaker, crumb.agent) for crumb in crumbs] == [
        ("user", "User", ""), ("assistant", "Assistant", ""), ("system", "System", "")
    ]  # fmt: skip


def test_the_last_user_message_triggers_unless_an_id_is_given() -> None:
    crumbs = breadcrumbs(line("m1"), line("m2"), line("a1", "agent.response.v1"))
    assert trigger_of(crumbs, "").id == "m2"
    assert trigger_of(crumbs, "a1").id == "a1"


def test_a_chat_line_triggers_by_its_own_id() -> None:
    crumbs = breadcrumbs(json.dumps({"role": "user", "content": "One.", "id": "q1"}))
    assert trigger_of(crumbs, "q1") == trigger_of(crumbs, "s1:q1") == crumbs[0]


@pytest.mark.parametrize(("identity", "missing"), [("", "user message"), ("m9", "breadcrumb 'm9'")])
def test_events_without_the_trigger_are_rejected(identity: str, missing: str) -> None:
    with pytest.raises(Rejected, match=missing):
        trigger_of(breadcrumbs(line("a1", "agent.response.v1")), identity)
