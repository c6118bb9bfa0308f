"""A cursor is a place."""

import json

from builder.domain.breadcrumb import Place
from builder.wire.cursors import cursor, place_of
from builder.wire.requests import (
    HistoryRequest,
    read_request,
)


def test_a_cursor_is_a_place() -> None:
    place = Place(1_700_000_000_000_000, 42)
    assert place_of(cursor(place)) == place
    assert read_request(HistoryRequest, json.dumps({"session": "s42", "after": cursor(place)}).encode()).after == cursor(place)
