"""Names on the broker: the default installation has none in front, every other one has."""

import pytest

from builder.connection.names import DEFAULT, HEADS, Installation, plain_subject
from builder.domain.errors import Rejected

SUBJECT = "breadcrumbs.acme.s1.user.message.v1"


def test_the_default_installation_has_no_name_in_front() -> None:
    assert (DEFAULT.subject(SUBJECT), DEFAULT.stream("BREADCRUMBS")) == (SUBJECT, "BREADCRUMBS")
    assert (DEFAULT.name, DEFAULT.calls_durable) == ("context-builder", "context-builder-calls")


def test_another_name_stands_in_front_of_subjects_and_streams() -> None:
    staging = Installation("staging")
    assert staging.subject(SUBJECT) == f"staging.{SUBJECT}"
    assert staging.stream("CONTEXTS") == "staging-CONTEXTS"
    assert (staging.name, staging.calls_durable) == ("staging", "staging-calls")
    assert staging.bucket == "staging-workers"


@pytest.mark.parametrize("name", ["context-builder", "staging", "a1_b-c"])
def test_a_subject_of_the_broker_is_plain_inside(name: str) -> None:
    assert plain_subject(Installation(name).subject(SUBJECT)) == SUBJECT


@pytest.mark.parametrize("name", ["", "Staging", "a.b", "a b", "*", ">", "$JS", "_INBOX", "-a", "a" * 33, "é", *sorted(HEADS)])
def test_a_name_that_fits_no_subject_or_is_one_of_ours_is_refused(name: str) -> None:
    with pytest.raises(Rejected, match="cannot be used"):
        Installation(name)
