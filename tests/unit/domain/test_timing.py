"""The parts of a delivery are timed, in its tasks too, and written and read as a header."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

from builder.domain.timing import Part, stopwatch, timed, times_of, times_text


async def test_a_part_is_the_sum_of_its_blocks_in_all_tasks() -> None:
    async def embed() -> None:
        with timed("embedding"):
            await asyncio.sleep(0)

    with stopwatch() as seconds:
        await asyncio.gather(asyncio.create_task(embed()), embed())
        with timed("page"):
            pass
    assert list(seconds) == ["embedding", "page"]
    assert all(value > 0 for value in seconds.values())


def test_outside_a_stopwatch_nothing_is_kept() -> None:
    with timed("page"):
        pass
    assert times_text() == ""


async def test_each_block_is_inside_what_is_put_around_its_part() -> None:
    entered: list[tuple[str, str]] = []

    @contextmanager
    def around(part: Part) -> Iterator[None]:
        entered.append(("begin", part))
        yield
        entered.append(("end", part))

    async def embed() -> None:
        with timed("embedding"):
            await asyncio.sleep(0)

    with stopwatch(around):
        with timed("catch_up"):
            pass
        await asyncio.create_task(embed())
    with timed("page"):
        pass
    assert entered == [("begin", "catch_up"), ("end", "catch_up"), ("begin", "embedding"), ("end", "embedding")]


def test_a_header_is_read_as_it_was_written_and_what_else_it_says_is_ignored() -> None:
    with stopwatch() as seconds:
        seconds |= {"page": 0.0091, "wait": 1.2}
        assert times_text() == "wait=1200 page=9"
        assert times_of(times_text()) == {"wait": 1200, "page": 9}
    assert times_of("page=x other=3 wait=4") == {"wait": 4}
