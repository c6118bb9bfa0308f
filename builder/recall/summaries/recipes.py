"""The settings that summaries are made with, by which a page knows those that it may show."""

from dataclasses import dataclass
from hashlib import blake2b

from builder.domain.page_settings import Summaries
from builder.domain.profile import Profile
from builder.domain.selector import Selector


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """The settings that summaries of equal profiles share."""

    name: str
    """Hash of the settings and of the audience."""
    settings: Summaries
    audience: Selector | None


def recipe_of(profile: Profile) -> Recipe | None:
    """None for a profile without summaries, and for one that sees only its own task."""
    if profile.summaries is None or profile.scope_to_task:
        return None
    source = f"{profile.summaries!r}\0{profile.audience!r}"
    name = blake2b(source.encode(), digest_size=4).hexdigest()
    return Recipe(name=name, settings=profile.summaries, audience=profile.audience)
