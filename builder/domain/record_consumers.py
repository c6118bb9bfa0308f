"""Consumers that records make: breadcrumbs of no session that say what an agent wants on its page."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from builder.domain.breadcrumb import Breadcrumb
from builder.domain.lint_finding import LintFinding
from builder.domain.profile import Profile

AGENT, CONFIG = "agent.def.v1", "context.config.v1"
DEFINING_SCHEMAS = (AGENT, CONFIG)
MAX_DEFINITIONS = 1_000
"""Of each schema in a workspace, the newest."""

Definitions = tuple[Breadcrumb, ...]
"""Newest versions of records that may make consumers, as of a place: of each schema the newest first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordConsumers:
    """What the definitions of a workspace make."""

    profiles: tuple[Profile, ...] = ()
    """By name."""
    origins: Mapping[str, str] = field(default_factory=dict)
    """Consumer → the records that make it."""
    findings: tuple[LintFinding, ...] = ()
    """What no page follows, and which record makes no consumer; `file` is the record."""
