"""An entry whole, in part or with a line for each result; what a later call repeats."""

from dataclasses import replace

import pytest

from builder.assemble.items.rendering import MIN_PART_TOKENS
from builder.assemble.items.writer import Item, Writer
from builder.assemble.sources.conversation import MAX_LINE_TOKENS, is_result, line_of, part_of
from builder.domain.recall import StoredBreadcrumb
from builder.recall.index.conversation import turns
from tests.conversations import answered, bash, failed, replied, said
from tests.factories import make_profile
from tests.pages import make_writer

LOG = "\n".join(f"строка {n}: печь горячая" for n in range(200))


def newest_first(rows: list[StoredBreadcrumb], writer: Writer | None = None) -> list[Item]:
    writer = writer or make_writer(rows)
    return [writer.entry(entry) for turn in turns(writer.view) for entry in reversed(turn)]


def call(number: int, output: str, command: str = "make") -> list[StoredBreadcrumb]:
    return [replied(number, "", bash(f"r{number}", command)), answered(number + 1, f"r{number}", output)]


@pytest.mark.parametrize(("row", "expected"), [(said(1, "Привет."), False), (answered(1, "lost", "42"), True)])
def test_a_call_and_a_result_by_itself_are_results_and_a_message_is_none(row: StoredBreadcrumb, expected: bool) -> None:
    (item,) = newest_first([row])
    assert is_result(item) is expected


def test_a_long_result_is_a_line_below_its_call_and_what_is_shorter_or_failed_is_none() -> None:
    rows = [*call(1, LOG), *call(3, "готово"), replied(5, "", bash("r5", "rm")), failed(6, "r5", LOG)]
    writer = make_writer(rows)
    failure, short, long = newest_first(rows, writer)
    line = line_of(long, writer)
    assert line.tokens <= MAX_LINE_TOKENS
    assert [part.reduced for part in line.fragments] == ["", "folded to one line"]
    assert line_of(short, writer) is short
    assert "  Failed:\n  строка 0: печь горячая" in line_of(failure, writer).text


def test_a_profile_that_folds_nothing_has_the_ends_of_a_result_in_the_place_of_a_line() -> None:
    rules = replace(make_profile().tool_output, fold_at=None)
    writer = make_writer(call(1, LOG), make_profile(tool_output=rules))
    (long,) = newest_first([], writer)
    line = line_of(long, writer)
    assert line.tokens <= MAX_LINE_TOKENS
    assert "compacted" not in line.text
    assert "строка 0: печь горячая" in line.text
    assert "строка 199: печь горячая" in line.text


def test_a_part_is_all_of_it_where_it_has_room_and_nothing_where_no_useful_part_has_any() -> None:
    rows = [said(1, LOG)]
    writer = make_writer(rows)
    (full,) = newest_first(rows, writer)
    assert part_of(full, writer, full.size) is full
    assert part_of(full, writer, MIN_PART_TOKENS - 1) is None
    part = part_of(full, writer, full.size // 2)
    assert part
    assert part.is_cut
    assert full.size // 4 < part.size <= full.size // 2
