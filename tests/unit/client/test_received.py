"""Reading contexts: whose they are, and what the reader keeps of them."""

import json
from collections import OrderedDict

import pytest

from builder.client.received import Latest, read
from builder.domain.errors import Rejected

ASKED = ("acme", "default")
EVENT = {
    "workspace": "acme",
    "session_id": "s1",
    "consumer_id": "default",
    "trigger_event_id": "m1",
    "trigger_seq": 7,
    "content": "page",
    "token_count": 1,
}


def event(**changes: object) -> bytes:
    """An event with changes."""
    return json.dumps(EVENT | changes).encode()


@pytest.mark.parametrize(
    "data", [b"{", b"\xff", b"[]", b"{}", b"[" * 100_000, event(trigger_seq=float("inf")), event(session_id=[])]
)
def test_what_is_no_context_is_rejected(data: bytes) -> None:
    with pytest.raises(Rejected, match="this is no agent"):
        read(data, ASKED, OrderedDict())


@pytest.mark.parametrize("change", [{"workspace": "globex"}, {"consumer_id": "critic"}])
def test_what_is_somebody_else_s_is_rejected_and_leaves_no_trace(change: dict[str, str]) -> None:
    latest: Latest = OrderedDict()
    with pytest.raises(Rejected, match="not for"):
        read(event(**change), ASKED, latest)
    assert not latest


def test_the_order_of_the_most_recent_sessions_is_remembered_and_no_more() -> None:
    latest: Latest = OrderedDict()
    for session in ("s1", "s2", "s1", "s3"):
        read(event(session_id=session), ASKED, latest, max_sessions=2)
    assert list(latest) == [("acme", "s1"), ("acme", "s3")]
    assert read(event(trigger_seq=6), ASKED, latest, max_sessions=2).late


def test_messages_are_handed_out_as_the_provider_takes_them_and_without_a_shape_the_error_names_the_setting() -> None:
    said = [{"role": "user", "content": [{"type": "text", "text": "Hi"}]}]
    prompt = [{"type": "text", "text": "You help."}]
    context = read(event(system=prompt, messages=said), ASKED, OrderedDict())
    assert (context.system, context.messages) == (prompt, said)
    for plain in (event(), event(system=None, messages=None)):
        context = read(plain, ASKED, OrderedDict())
        assert context.system == []
        with pytest.raises(Rejected, match=r"write chat_format: openai, anthropic or responses in profiles/default\.yaml"):
            _ = context.messages


def test_an_agent_answers_in_the_name_that_its_profile_gives_it_else_in_that_of_the_consumer() -> None:
    found = [read(data, ASKED, OrderedDict()).agent_id for data in (event(), event(agent_id="ana"))]
    assert found == ["default", "ana"]
