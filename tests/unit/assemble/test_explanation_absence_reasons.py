"""Why something that was recalled is not on a page."""

from datetime import timedelta
from typing import Any

from builder.domain.recall import StoredBreadcrumb
from builder.domain.selector import Selector
from tests.explanations import make_explanation
from tests.factories import MORNING, make_profile, make_remembered, make_tombstone
from tests.property.sessions import hear

QUESTION = make_remembered("Where is the blue kiln?", 900)


def why(name: str, *rows: StoredBreadcrumb, trigger: StoredBreadcrumb = QUESTION, **profile: Any) -> str:
    _, explanation = make_explanation(trigger, rows, make_profile(**({"budget": 600} | profile)))
    return explanation.why(name)


def session(*special: StoredBreadcrumb) -> list[StoredBreadcrumb]:
    """Far more than fits, behind what is looked for."""
    return [*special, *(make_remembered(f"Number {n}: the weather was fine and nobody came by.", n) for n in range(10, 200))]


def test_what_is_no_answer_has_its_probability_and_the_limit() -> None:
    sentence = why("m1", *session(make_remembered("Somebody bought a teapot.", 1)), retrieval={"min_probability": 0.2})
    assert sentence.startswith("m1 v1 (user.message.v1, User) is not on the page: not near enough to the question, which asks ")
    assert "for a probability of at least 0.2 or for room in the floor (probability 0.0" in sentence


def test_small_talk_says_that_it_holds_nothing_to_find() -> None:
    assert why("m1", *session(make_remembered("ok", 1))) == (
        "m1 v1 (user.message.v1, User) is not on the page: older than the conversation that has room; it is small talk, which "
        "holds nothing to find."
    )


def test_a_schema_that_is_not_searched_is_named() -> None:
    note = make_remembered("The blue kiln is a gas kiln.", 1, schema="note.v1", role="other")
    assert "the profile searches user.message.v1, not note.v1" in why(
        "m1", *session(note), retrieval={"schemas": ["user.message.v1"]}
    )


def test_what_was_deleted_or_replaced_says_so() -> None:
    gone = make_remembered("The blue kiln is broken.", 1)
    assert "it was replaced by a later version, or deleted" in why("m1", gone, make_tombstone("m1", 2))


def test_what_had_expired_says_when() -> None:
    gone = make_remembered("The blue kiln is broken.", 1, expires_at=MORNING)
    late = make_remembered("Where is the blue kiln?", 900, received_at=MORNING + timedelta(hours=2))
    assert f"it had expired at {MORNING:%Y-%m-%d %H:%M}Z" in why("m1", gone, trigger=late)


def test_what_the_audience_does_not_match_says_so() -> None:
    aside = make_remembered("The blue kiln is broken.", 1, tags=("team:other",))
    audience = Selector(any_tags=("team:mine",))
    mine = make_remembered("Where is the blue kiln?", 900, tags=("team:mine",))
    assert "the audience of profile 'default' does not match it" in why("m1", aside, trigger=mine, audience=audience)


def test_a_record_that_passes_a_call_on_is_on_the_page_with_the_message_that_made_it() -> None:
    call = {"content": "", "tool_requests": [{"tool": "search", "input": {"q": "kiln"}, "requestId": "r1"}]}
    rows = (
        hear(1, "agent.response.v1", call),
        hear(2, "tool.request.v1", {"tool": "search", "input": {"q": "kiln"}, "requestId": "r1"}),
        hear(3, "tool.response.v1", {"tool": "search", "output": "three", "request_id": "r1", "status": "success"}),
    )
    context, explanation = make_explanation(QUESTION, rows, make_profile())
    assert "its call is on the page with the message that made it" in explanation.why("m2")
    assert context.left_out == {}


def test_a_message_that_asks_for_nothing_searches_nothing() -> None:
    thanks = make_remembered("thanks!", 900)
    rows = session(make_remembered("The blue kiln is a gas kiln.", 1))
    assert "the message asks for nothing, so nothing was searched" in why("m1", *rows, trigger=thanks)
