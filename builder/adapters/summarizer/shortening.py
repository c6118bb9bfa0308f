"""A model's summary that is a little too long, in whole lines."""

from collections.abc import Callable

from builder.domain.summary import Line
from builder.recall.summaries.excerpts import has_name
from builder.recall.summaries.extract import tokens_of


def shortened(lines: tuple[Line, ...], cap: int, count: Callable[[str], int]) -> tuple[Line, ...]:
    """The lines without the least important ones, as few as it takes for `cap` tokens; empty when no line has room.

    First go those that neither name nor count anything, then the others, the oldest in front. count: text → tokens.
    """
    order = sorted(range(len(lines)), key=lambda number: (has_name(lines[number].text.partition(": ")[2]), number))
    left = list(lines)
    for number in order:
        if tokens_of(left, count) <= cap:
            break
        left.remove(lines[number])
    return tuple(left)
