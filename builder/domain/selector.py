"""Which breadcrumbs are meant: by schema, id and tags."""

from dataclasses import dataclass
from typing import Literal

from builder.domain.breadcrumb import Breadcrumb

MAX_PINNED = 100
"""Breadcrumbs of one kind that may stand on a page, the newest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Selector:
    """Every condition that is given must hold; none given = every breadcrumb."""

    schemas: tuple[str, ...] = ()
    ids: tuple[str, ...] = ()
    any_tags: tuple[str, ...] = ()
    all_tags: tuple[str, ...] = ()
    none_tags: tuple[str, ...] = ()

    def matches(self, breadcrumb: Breadcrumb) -> bool:
        """Whether the breadcrumb is meant."""
        tags = set(breadcrumb.tags)
        return (
            (not self.schemas or breadcrumb.schema in self.schemas)
            and (not self.ids or breadcrumb.id in self.ids)
            and (not self.any_tags or not tags.isdisjoint(self.any_tags))
            and tags.issuperset(self.all_tags)
            and tags.isdisjoint(self.none_tags)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Pinned:
    """What stands on the page whatever was said since: anchors and always-included sources.

    keep: the latest of its kind, so many of the newest, or all of it, up to MAX_PINNED.
    section: where it stands; "" = the first section with source pinned.
    """

    selector: Selector
    keep: Literal["latest", "all"] | int
    section: str

    @property
    def most(self) -> int:
        """So many are recalled, the newest."""
        match self.keep:
            case "latest":
                return 1
            case "all":
                return MAX_PINNED
            case number:
                return number
