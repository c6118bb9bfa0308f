"""Arrays that grow by doubling."""

import numpy as np
import pytest

from builder.recall.index.breadcrumb_table import GrowingArray


def test_it_grows_beyond_its_room_and_keeps_its_rows() -> None:
    numbers = GrowingArray(np.int64)
    for number in range(100):
        numbers.append(number)
        assert (len(numbers), numbers[-1]) == (number + 1, number)
    assert numbers[:100].tolist() == list(range(100))


def test_a_row_may_be_several_numbers_wide() -> None:
    days = GrowingArray(np.int64, 3)
    for year in range(2000, 2020):
        days.append((year, 1, 2))
    assert days[:20].shape == (20, 3)
    assert days[-1].tolist() == [2019, 1, 2]


def test_a_head_is_no_copy_and_stays_as_long_as_it_was() -> None:
    links = GrowingArray(np.int64)
    links.append(-1)
    head = links[:1]
    links.append(7)
    links[0] = 1
    assert head.tolist() == [1]


def test_a_head_from_before_the_array_moved_to_more_room_keeps_its_rows() -> None:
    numbers = GrowingArray(np.int64)
    for number in range(8):
        numbers.append(number)
    head = numbers[:8]
    for number in range(8, 40):
        numbers.append(number)
    assert head.tolist() == list(range(8))


@pytest.mark.parametrize(("kind", "value"), [(np.bool_, True), (np.float32, 0.5)])
def test_it_has_values_of_one_kind(kind: type[np.generic], value: object) -> None:
    values = GrowingArray(kind)
    values.append(value)
    assert values[:1].dtype == kind
    assert values[-1] == value
