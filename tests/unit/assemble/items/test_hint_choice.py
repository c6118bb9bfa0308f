"""Hints that a breadcrumb may have."""

from typing import Any, Literal

from builder.assemble.items.hint_choice import NO_CHOICE, HintChoice, hint_choice
from builder.domain.selector import TrustedHints
from tests.factories import make_breadcrumb, make_profile

HINTS = '{"include":["title"]}'


def trusting(sessions: Literal["none", "any"] = "any", **fields: Any) -> Any:
    return make_profile(trusted_hints=TrustedHints(schemas=(), sessions=sessions, creators=()), **fields)


def test_hints_of_a_record_are_data_until_a_profile_trusts_them() -> None:
    ticket = make_breadcrumb(schema="ticket.v1", hints=HINTS)
    assert hint_choice(ticket, make_profile(), {"ticket.v1": HINTS}) == NO_CHOICE
    assert hint_choice(ticket, trusting("none"), {}) == NO_CHOICE
    assert hint_choice(ticket, trusting(), {}) == HintChoice(record=HINTS)


def test_the_consumers_own_template_is_chosen_by_schema() -> None:
    profile = make_profile(hints={"ticket.v1": "short-ticket", "tool.request.v1": "short-call"})
    assert hint_choice(make_breadcrumb(schema="ticket.v1"), profile, {}) == HintChoice(own="short-ticket", call="short-call")


def test_the_definition_of_the_schema_is_passed_on() -> None:
    choice = hint_choice(make_breadcrumb(schema="ticket.v1"), trusting(), {"ticket.v1": HINTS, "order.v1": "{}"})
    assert choice == HintChoice(definition=HINTS)
