"""Whose hints of records run."""

from typing import Any

import pytest

from builder.domain.selector import TrustedHints
from tests.factories import make_breadcrumb


def trusted(**conditions: Any) -> TrustedHints:
    fields: dict[str, Any] = {"schemas": (), "sessions": "none", "creators": ()}
    return TrustedHints(**(fields | conditions))


TICKET = make_breadcrumb(schema="ticket.v1", session="s42", creator="shop-7")
OF_NO_SESSION = make_breadcrumb(schema="ticket.v1", session="_")


@pytest.mark.parametrize(
    ("conditions", "of_session", "of_none"),
    [
        ({}, False, True),
        ({"sessions": "any"}, True, True),
        ({"sessions": "any", "schemas": ("ticket.v1",)}, True, True),
        ({"sessions": "any", "schemas": ("order.v1",)}, False, False),
        ({"sessions": "any", "creators": ("shop-7",)}, True, False),
        ({"creators": ("shop-7",)}, False, False),
    ],
)
def test_every_condition_must_hold(conditions: dict[str, Any], of_session: bool, of_none: bool) -> None:
    own = trusted(**conditions)
    assert (own.trusts(TICKET), own.trusts(OF_NO_SESSION)) == (of_session, of_none)


def test_definitions_are_read_where_their_schema_is_trusted() -> None:
    cases = ((), ("schema.def.v1",), ("ticket.v1",))
    assert [trusted(schemas=schemas).covers_schema_definitions for schemas in cases] == [True, True, False]
