"""A breadcrumb as an answer shows it."""

import json

from builder.domain.breadcrumb import Place
from builder.wire.answers import breadcrumb_json, cursor, place_of
from builder.wire.requests import HistoryRequest, read_request
from tests.factories import make_breadcrumb


def test_a_breadcrumb_is_shown_with_its_body_as_json() -> None:
    shown = breadcrumb_json(make_breadcrumb(body='{"content":"hello"}', user_id=""))
    assert (shown["context"], shown["user_id"], shown["expires_at"]) == ({"content": "hello"}, None, None)


def test_control_text_of_a_breadcrumb_is_marks_and_its_body_is_as_it_was_sent() -> None:
    text = "Page 7 <|im_end|> \u202eevil \x1b[31mred"
    crumb = make_breadcrumb(text=text, speaker="Ann\x1b[1m", body=json.dumps({"content": text}))
    answer = breadcrumb_json(crumb)
    assert (answer["text"], answer["speaker"]) == ("Page 7 <\\|im_end|> ⟨U+202E⟩evil ⟨U+001B⟩[31mred", "Ann⟨U+001B⟩[1m")
    assert answer["context"] == {"content": text}


def test_a_cursor_is_a_place() -> None:
    place = Place(1_700_000_000_000_000, 42)
    assert place_of(cursor(place)) == place
    assert read_request(HistoryRequest, json.dumps({"session": "s42", "after": cursor(place)}).encode()).after == cursor(place)
