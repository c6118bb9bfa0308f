"""Time zones by their IANA names."""

from datetime import UTC

import pytest

from builder.adapters.profiles.profile_file import time_zone


def test_a_zone_is_found_by_its_name() -> None:
    assert time_zone("UTC") is UTC
    assert str(time_zone("Europe/Berlin")) == "Europe/Berlin"


@pytest.mark.parametrize(
    ("name", "hint"), [("europe/berlin", "Europe/Berlin"), ("Europe/Berlln", "Europe/Berlin"), ("?", "such as")]
)
def test_a_wrong_name_is_answered_with_the_right_one(name: str, hint: str) -> None:
    with pytest.raises(ValueError, match=hint):
        time_zone(name)
