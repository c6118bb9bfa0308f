"""Groups of settings of a profile: defaults, limits and meaning. `adapters/profiles/profile_file.py` has the others."""

from dataclasses import dataclass, field
from typing import Literal

from builder.domain.breadcrumb import AGENT_CONTEXT, CONTEXT_COMPACTED, MOVE, TOMBSTONE
from builder.domain.selector import Selector

SectionClass = Literal["static", "slow", "turn"]
Dates = Literal["none", "day", "age", "time", "pause"]
DEFAULT_BUDGET = 4000
FORBIDDEN_SCHEMAS = frozenset(
    {
        "secret.v1",
        AGENT_CONTEXT,
        "context.blacklist.v1",
        "context.config.v1",
        TOMBSTONE,
        MOVE,
        CONTEXT_COMPACTED,
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """Limits of the conversation, in units: a message, or one with all its calls."""

    max_units: int | None = field(
        default=None,
        metadata={
            "ge": 0,
            "description": "units above which it is trimmed to `trim_to`, even if more fit; null = no limit",
        },
    )
    trim_to: int = field(default=10, metadata={"ge": 0, "description": "units kept when it is trimmed"})
    max_tool_turns: int | None = field(
        default=None, metadata={"ge": 0, "description": "newest tool turns whose calls and results are shown; null = all"}
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Summaries:
    """When older units become a summary, off the hot path."""

    max_pending: int | None = field(
        default=50,
        metadata={"ge": 1, "description": "unsummarised units above which a batch is summarised; null = off"},
    )
    tokens: int | None = field(default=80_000, metadata={"ge": 1, "description": "tokens of them above which it is; null = off"})
    keep: int = field(default=20, metadata={"ge": 0, "description": "newest units, never summarised"})
    batch: int = field(default=10, metadata={"ge": 1, "description": "oldest units summarised at once"})
    cap: int = field(default=400, metadata={"ge": 20, "description": "most tokens of a summary"})
    by: Literal["extractive", "endpoint"] = field(
        default="extractive",
        metadata={"description": "the local summariser, or CONTEXT_BUILDER_SUMMARIES__URL, which falls back to it if it fails"},
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Reminder:
    """Text that is added to the page, never stored and never searched."""

    section: str = field(metadata={"description": "section with source reminder, first or last on the page"})
    text: str = field(metadata={"min_length": 1, "description": "the text"})
    every: int = field(default=1, metadata={"ge": 1, "description": "on each n-th turn"})
    when: Selector | None = field(default=None, metadata={"description": "only for triggers that match; null = all"})
