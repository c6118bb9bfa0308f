"""Errors travel as JSON."""

import pytest

from builder.connection.errors import error_json, raise_error
from builder.domain.errors import Rejected, Unavailable


@pytest.mark.parametrize("error", [Rejected("no such id"), Unavailable("the store is away")])
def test_an_error_is_raised_at_the_other_end_as_what_it_was(error: Exception) -> None:
    with pytest.raises(type(error), match=str(error)):
        raise_error(error_json(error))


def test_a_bug_says_nothing_of_itself_and_an_answer_is_no_error() -> None:
    assert "4711" not in error_json(RuntimeError("key 4711"))["error"]
    raise_error({"id": "m1"})
