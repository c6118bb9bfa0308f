"""A delivery counts its contexts by their tokens."""

from builder.domain.reports import DeliveryOutcome


def test_there_are_as_many_contexts_as_token_counts() -> None:
    outcome = DeliveryOutcome(subject="s", sequence=1, replay=False, outcome="published", seconds=0.1, tokens=(16, 40))
    assert outcome.contexts == 2
