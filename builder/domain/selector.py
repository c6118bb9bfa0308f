"""Which breadcrumbs are meant: by schema, id and tags."""

from dataclasses import dataclass
from typing import Literal

from builder.domain.breadcrumb import Breadcrumb

CATALOG = "tool.catalog.v1"
MAX_PINNED = 100
"""Breadcrumbs of one kind that may stand on a page, the newest."""


_CONDITIONS = ("schemas", "ids", "any_tags", "all_tags", "none_tags")


@dataclass(frozen=True, slots=True, kw_only=True)
class Selector:
    """Conditions that must all hold; without any, every breadcrumb matches."""

    schemas: tuple[str, ...] = ()
    ids: tuple[str, ...] = ()
    any_tags: tuple[str, ...] = ()
    all_tags: tuple[str, ...] = ()
    none_tags: tuple[str, ...] = ()

    @property
    def conditions(self) -> dict[str, tuple[str, ...]]:
        """Those that are given, by name, in the order of the fields."""
        return {name: values for name in _CONDITIONS if (values := getattr(self, name))}

    def matches(self, breadcrumb: Breadcrumb) -> bool:
        """Whether all conditions hold for the breadcrumb."""
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
    """What stands on every page: anchors and always-included sources."""

    selector: Selector
    keep: Literal["latest", "all"] | int
    """The latest of its kind, this number of the newest, or all of it up to MAX_PINNED."""
    section: str
    """Name of its section; "" = the first section with source pinned."""
    of_no_session: bool = False
    """Only what is of no session, whatever a session says about it: its participants neither add to it nor take from it."""

    @property
    def limit(self) -> int:
        """Number of breadcrumbs that are recalled, the newest."""
        match self.keep:
            case "latest":
                return 1
            case "all":
                return MAX_PINNED
            case number:
                return number
