"""Settings of a profile: their defaults, limits and meaning, which `adapters/profiles` reads files by."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from builder.domain.breadcrumb import AGENT_CONTEXT, CONTEXT_COMPACTED, MOVE, TOMBSTONE
from builder.domain.selector import Selector

QuerySource = Literal["last_user", "last_n", "custom"]
SectionClass = Literal["static", "slow", "turn"]
Dates = Literal["none", "day", "age", "time", "pause"]
ChatFormat = Literal["none", "openai", "anthropic", "responses"]
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
class Retrieval:
    """Search for what the page does not show anyway."""

    scope: Literal["session", "user", "workspace"] | tuple[str, ...] = field(
        default="session",
        metadata={
            "description": "this session; user = words by and to the same `user_id` in any session; workspace = everybody's, "
            "above 20,000 messages in two stages (decision 17); or further sessions"
        },
    )
    schemas: tuple[str, ...] = field(metadata={"description": "schemas that are searched"})
    people: Literal["all", "named"] = field(
        default="all",
        metadata={"description": "whose messages: everybody's, or those of people whom the trigger names"},
    )
    per_schema_limit: Mapping[str, int] = field(
        default_factory=dict,
        metadata={
            "json_schema_extra": {"default": {}},
            "description": "most search results of a schema; others have no limit",
        },
    )
    max_results: int | None = field(
        default=None,
        metadata={"ge": 0, "description": "most search results, without the answers that come along; null = what fits"},
    )
    similarity_threshold: float = field(default=0, metadata={"ge": 0, "le": 1, "description": "least cosine; 0 = none"})
    min_probability: float | None = field(
        default=None,
        metadata={
            "ge": 0,
            "le": 1,
            "description": "least probability that a result answers the question; null = all that fit",
        },
    )
    neighbours: int = field(
        default=0,
        metadata={
            "ge": 0,
            "le": 5,
            "description": "passages before and after the best 5 results, if room is left",
        },
    )
    query: QuerySource = field(
        default="last_user",
        metadata={
            "description": "search text: last_user = the trigger, with what it follows up; last_n = the last messages; custom = "
            "query_text"
        },
    )
    query_messages: int = field(default=3, metadata={"ge": 1, "le": 20, "description": "messages of last_n, with the trigger"})
    query_text: str = field(
        default="", metadata={"max_length": 2000, "description": "text of custom; {trigger} = the trigger's text"}
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """What is kept of a result list."""

    results: int | None = field(default=None, metadata={"ge": 1, "description": "results kept; null = all"})
    characters: int | None = field(default=None, metadata={"ge": 1, "description": "characters of each result; null = all"})


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolOutput:
    """How much of tool results is shown; folding only while the conversation does not fit. The store keeps all."""

    cut: Cut = field(default_factory=Cut, metadata={"description": "what is kept of any result list"})
    per_tool: Mapping[str, Cut] = field(
        default_factory=dict,
        metadata={
            "description": "the same for single tools",
            "json_schema_extra": {"default": {}},
        },
    )
    old_tools: tuple[str, ...] = field(default=(), metadata={"description": "tools whose search results are shortened"})
    old_characters: int = field(default=1500, metadata={"ge": 1, "description": "characters that remain of them"})
    placeholder_after: int | None = field(
        default=None,
        metadata={"ge": 0, "description": "tool turns after which a result is one line; null = never"},
    )
    fold_at: float | None = field(
        default=None,
        metadata={
            "gt": 0,
            "le": 1,
            "description": "share of the conversation's room above which the oldest results become one line each; null = never",
        },
    )
    fold_keep: int | None = field(
        default=None, metadata={"ge": 0, "description": "newest messages and calls that `fold_at` leaves whole; null = none"}
    )
    newest_only: bool = field(
        default=True,
        metadata={"description": "a result becomes one line if the same call succeeded again later"},
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
