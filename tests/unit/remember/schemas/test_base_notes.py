"""Notes and pages are searched by their words."""

from typing import Any

import pytest

from builder.remember.schemas.base import BrowserTabContextV1, NoteV1


def test_a_note_is_its_content() -> None:
    assert NoteV1.model_validate({"content": "Two coats.", "title": "Glaze"}).facts().text == "Two coats."


@pytest.mark.parametrize(
    ("content", "text"), [({"mainText": "3 open orders"}, "Orders\n3 open orders"), ({"mainText": 3}, "Orders"), (None, "Orders")]
)
def test_a_page_is_its_title_and_its_main_text(content: Any, text: str) -> None:
    body = {"title": "Orders", "url": "https://example.org", "content": content}
    assert BrowserTabContextV1.model_validate(body).facts().text == text
