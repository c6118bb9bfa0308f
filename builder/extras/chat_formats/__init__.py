"""The formats of chat APIs: OpenAI's chat completions and responses, Anthropic's messages."""

from collections.abc import Mapping

from builder.domain.page_format import PageFormat
from builder.extra import Extra


def _formats() -> Mapping[str, PageFormat]:
    from builder.extras.chat_formats.formats import FORMATS

    return FORMATS


extra = Extra(page_formats=_formats)
