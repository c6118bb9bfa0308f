"""A find shows a passage: all of a short message, a part of a long one."""

from builder.recall.search.candidates import find_of
from tests.factories import make_view
from tests.searches import find


def test_a_short_message_is_found_whole_and_of_a_long_one_the_passage() -> None:
    long = "We saw the harbour and walked on along the river. " * 60
    search = find("Where is the harbour?", ["The kiln is hot.", long])
    assert search.found.candidates is not None
    view = make_view(["The kiln is hot.", long])
    short, part = (find_of(view, passage, search.found.candidates, times=2) for passage in (0, 1))
    assert (short.row, short.spans, short.times) == (0, (), 2)
    ((start, end),) = part.spans
    assert (part.row, start) == (1, 0)
    assert 0 < end < len(long)
    assert part.tokens > short.tokens
