"""The default profile as it is where a profile names its two sections: the newest part, and what was found."""

from dataclasses import replace
from functools import cache
from typing import Any

from builder.adapters.profiles.profiles import parse_profile
from builder.app.config import bundled_folder, load_library, read_layers
from builder.domain.profile import Profile
from tests.factories import make_profile

TWO_SECTIONS = "extends: default\nsections: {recent: {}, relevant: {}}\n"


@cache
def two_sections(name: str = "default") -> Profile:
    """name: of the consumer."""
    return parse_profile(name, TWO_SECTIONS, load_library(read_layers((bundled_folder("templates"),))))


def make_two_sections(**changes: Any) -> Profile:
    """Two sections where all room is filled. changes: as of `make_profile`."""
    return make_profile(replace(two_sections(), worth=None), **changes)
