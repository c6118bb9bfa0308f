"""How the page of a shadow profile differs from the one that its consumer got: ids and numbers, no text."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class PageFigures:
    """One of the two pages."""

    profile: str
    """Revision of the profile."""
    templates: str
    """Revision of the templates."""
    tokens: int
    budget: int
    build_ms: float
    """Of a build while the history is in memory and the query has its vector: both are built one after the other."""
    flags: tuple[str, ...]
    sections: Mapping[str, int]
    """Name → tokens, in page order."""
    omissions: Mapping[str, int]
    """Reason → breadcrumbs that are not on the page."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShadowDifference:
    """Of one trigger."""

    workspace: str
    consumer: str
    shadow: str
    """Name of the shadow profile."""
    session: str
    trigger: str
    trigger_seq: int
    at: datetime
    """The stream's time of the trigger."""
    page: PageFigures
    """Of the consumer."""
    shadow_page: PageFigures | None
    """None: the shadow profile makes none."""
    rejection: str = ""
    """Why it makes none."""
    both: int = 0
    """Breadcrumbs on both pages."""
    only_consumer: tuple[str, ...] = ()
    """Ids on the consumer's page alone, in page order."""
    only_shadow: tuple[str, ...] = ()
    """Ids on the shadow's page alone, in page order."""
    out_of_order: tuple[str, ...] = ()
    """Ids on both, the fewest that stand in another order."""
    equal_lines: float = 0
    """Lines that both pages have, as a share of all lines of both, from 0 to 1."""
    is_identical: bool = False
    """Both pages have the same bytes."""
