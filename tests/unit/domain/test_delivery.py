"""A delivery has as many contexts as token counts."""

from builder.domain.delivery import DeliveryOutcome
from tests.factories import make_place


def test_there_are_as_many_contexts_as_token_counts() -> None:
    outcome = DeliveryOutcome(subject="s", place=make_place(1), replay=False, outcome="published", seconds=0.1, tokens=(16, 40))
    assert outcome.contexts == 2
