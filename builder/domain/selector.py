"""Which breadcrumbs are meant: by schema, id and tags."""

from dataclasses import dataclass
from typing import Literal

from builder.domain.breadcrumb import Breadcrumb


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
class Standing:
    """What stands on the page whatever was said since: anchors (features A3) and always-included sources (D19).

    keep: the latest of its kind, or all of it. section: where it stands; "" = the first section of standing breadcrumbs.
    """

    selector: Selector
    keep: Literal["latest", "all"]
    section: str
