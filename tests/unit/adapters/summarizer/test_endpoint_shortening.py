"""A summary that is a little too long loses whole lines, the least important first."""

from builder.adapters.summarizer.endpoint import shortened
from builder.domain.summary import Line


def make_line(text: str) -> Line:
    return Line(text=text, day="", ids=("m1",), versions=(1,))


NAMED, VAGUE = make_line("Ana: the Blue Kiln fires at cone 6"), make_line("Ana: they talked about the weather for a while")


def words(text: str) -> int:
    return len(text.split())


def test_a_line_without_names_and_numbers_goes_first() -> None:
    assert shortened((NAMED, VAGUE), 12, words) == (NAMED,)
    assert shortened((VAGUE, NAMED), 12, words) == (NAMED,)


def test_a_summary_within_the_cap_is_unchanged() -> None:
    assert shortened((VAGUE, NAMED), 100, words) == (VAGUE, NAMED)


def test_nothing_remains_when_no_line_has_room() -> None:
    assert shortened((NAMED, VAGUE), 1, words) == ()
