"""A picture costs what its provider counts."""

import pytest

from builder.assemble.items.rendering import UNKNOWN_SIZE, Size
from builder.extras.chat_formats.formats import FORMATS
from builder.extras.chat_formats.picture_prices import ANTHROPIC_UNKNOWN, OPENAI_UNKNOWN


@pytest.mark.parametrize(
    ("size", "chat_format", "tokens"),
    [
        ((800, 600), "openai", 765),
        ((1024, 1024), "openai", 765),
        ((2048, 4096), "openai", 1105),
        ((100, 100), "openai", 255),
        (UNKNOWN_SIZE, "openai", OPENAI_UNKNOWN),
        ((800, 600), "responses", 765),
        ((800, 600), "anthropic", 641),
        ((8000, 8000), "anthropic", 1600),
        (UNKNOWN_SIZE, "anthropic", ANTHROPIC_UNKNOWN),
    ],
)
def test_a_picture_costs_what_the_provider_publishes(size: Size, chat_format: str, tokens: int) -> None:
    assert FORMATS[chat_format].picture_tokens(size) == tokens
