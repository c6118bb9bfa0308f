"""A message stands in one line of a log, whatever was sent or written."""

import pytest

from builder.domain.errors import MAX_MESSAGE_CHARS, BuilderError, Misconfigured, Rejected, Unavailable


@pytest.mark.parametrize("kind", [Misconfigured, Rejected, Unavailable])
def test_a_message_is_one_line_of_bounded_length_that_keeps_its_beginning_and_its_end(kind: type[BuilderError]) -> None:
    message = str(kind("profiles/mine.yaml: got\n" + "x " * 5_000_000 + "\n; mend it"))
    assert message.startswith("profiles/mine.yaml: got x x")
    assert message.endswith("x ; mend it")
    assert ("\n" in message, len(message) <= MAX_MESSAGE_CHARS + 3) == (False, True)


def test_a_short_message_stays_as_it_is() -> None:
    assert str(Rejected("no text; send it")) == "no text; send it"
