"""The line of a long message that says what a passage of it is about."""

import re

from builder.language.sentences import sentences

MAX_CHARS = 100
"""Of a heading or a first sentence; a longer one is none."""
_HEADING = re.compile(r"^(?:#{1,6} .*|\*\*[^*\n]+\*\*:?|[^\n:]{3,60}:)[ \t]*$", re.MULTILINE)

Spans = tuple[tuple[int, int], ...]


def with_lead(text: str, spans: Spans) -> Spans:
    """Spans of passages with the nearest heading in front of the first one, or the text's first sentence.

    () is the whole text, which needs none.
    """
    if not spans or not text[: spans[0][0]].strip():
        return spans
    first = spans[0][0]
    headings = [match.span() for match in _HEADING.finditer(text, 0, first)]
    start, end = headings[-1] if headings else next(iter(sentences(text[:first])))
    if end - start > MAX_CHARS:
        return spans
    return ((start, end), *spans) if text[end:first].strip() else ((start, spans[0][1]), *spans[1:])
