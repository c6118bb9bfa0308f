"""Whoever waits for fragments is told of all at once."""

import pytest

from builder.assemble.items.pending import FragmentPending, each


def test_all_that_wait_for_a_fragment_are_told_at_once() -> None:
    def waiting(name: str) -> int:
        raise FragmentPending({name: lambda: name})

    assert each((lambda: 1, lambda: 2)) == (1, 2)
    with pytest.raises(FragmentPending) as pending:
        each((lambda: 1, lambda: waiting("a"), lambda: waiting("b")))
    assert [*pending.value.works] == ["a", "b"]
