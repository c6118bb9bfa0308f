"""Settings of a profile: their defaults, limits and meaning, which `adapters/profiles` reads files by."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from builder.domain.selector import Selector

QuerySource = Literal["last_user", "last_n", "custom"]
SectionClass = Literal["static", "slow", "turn"]
Dates = Literal["none", "day", "age", "time", "pause"]
ChatFormat = Literal["none", "openai", "anthropic"]
ChatPlace = Literal["system", "user"]
FORBIDDEN_SCHEMAS = frozenset(
    {
        "secret.v1",
        "agent.context.v1",
        "context.blacklist.v1",
        "context.config.v1",
        "breadcrumb.deleted.v1",
        "context.compacted.v1",
    }
)
"""Schemas that no profile can show."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """Limits of the conversation, in units: a message, or an agent's message with all its calls."""

    max_units: int | None = field(
        default=None,
        metadata={
            "ge": 0,
            "description": "units above which the conversation is trimmed to `trim_to`, though more would fit; null = no limit",
        },
    )
    trim_to: int = field(default=10, metadata={"ge": 0, "description": "units that are kept when it is trimmed"})
    min_share: float = field(
        default=0.14,
        metadata={
            "ge": 0,
            "le": 1,
            "description": "share of the page that the newest part of a conversation which does not fit has at least",
        },
    )
    max_tool_turns: int | None = field(
        default=None, metadata={"ge": 0, "description": "newest tool turns whose calls and results are shown; null = all"}
    )
    whole_up_to: Literal["target", "budget"] = field(
        default="target",
        metadata={"description": "a conversation that fits into the profile's `target`, or into its `budget`, is shown whole"},
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Retrieval:
    """What may be found of all that the page does not show anyway."""

    scope: Literal["session", "user", "workspace"] | tuple[str, ...] = field(
        default="session",
        metadata={
            "description": "where: the session; user = what was said by and to the same `user_id` in any session; "
            "workspace = everything of everybody; or a list of sessions beside the own one"
        },
    )
    schemas: tuple[str, ...] = field(metadata={"description": "schemas that are searched"})
    people: Literal["all", "named"] = field(
        default="all",
        metadata={"description": "whose messages may be found: everybody's, or only those of people whom the trigger names"},
    )
    per_schema_limit: Mapping[str, int] = field(
        default_factory=dict,
        metadata={
            "json_schema_extra": {"default": {}},
            "description": "most finds of each schema; a schema that is not named has no limit",
        },
    )
    max_results: int | None = field(
        default=None,
        metadata={"ge": 0, "description": "most finds, not counting the answers that come along; null = what fits"},
    )
    similarity_threshold: float = field(default=0, metadata={"ge": 0, "le": 1, "description": "least cosine; 0 = no threshold"})
    min_probability: float | None = field(
        default=None,
        metadata={
            "ge": 0,
            "le": 1,
            "description": "least probability that a find answers what is asked, small talk finds nothing; "
            "null = all that has room",
        },
    )
    floor: float = field(
        default=0,
        metadata={
            "ge": 0,
            "le": 1,
            "description": "share of the room for finds that the best of them have, however improbable; small talk finds nothing",
        },
    )
    neighbours: int = field(
        default=0,
        metadata={
            "ge": 0,
            "le": 5,
            "description": "passages before and after the best 5 finds, with what is left once everything found is shown",
        },
    )
    first_in_follow_ups: bool = field(
        default=False,
        metadata={
            "description": "on the page of a follow-up question, such as `and the second?`, finds stand before the conversation"
        },
    )
    query: QuerySource = field(
        default="last_user",
        metadata={
            "description": "what is searched with: last_user = the trigger, a follow-up question together with what it follows; "
            "last_n = the last messages; custom = query_text"
        },
    )
    query_messages: int = field(
        default=3, metadata={"ge": 1, "le": 20, "description": "messages of last_n, the trigger included"}
    )
    query_text: str = field(
        default="", metadata={"max_length": 2000, "description": "text of custom; {trigger} stands for the trigger's text"}
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """What is kept of a result list."""

    results: int | None = field(default=None, metadata={"ge": 1, "description": "results that are kept; null = all"})
    characters: int | None = field(default=None, metadata={"ge": 1, "description": "characters of each result; null = all"})


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolOutput:
    """How much of what tools answered is shown. All of it stays in the store."""

    cut: Cut = field(default_factory=Cut, metadata={"description": "what is kept of any result list"})
    per_tool: Mapping[str, Cut] = field(
        default_factory=dict,
        metadata={
            "description": "the same for single tools, by name",
            "json_schema_extra": {"default": {}},
        },
    )
    old_tools: tuple[str, ...] = field(
        default=(), metadata={"description": "tools whose results shrink where they are found, outside the conversation"}
    )
    old_characters: int = field(default=1500, metadata={"ge": 1, "description": "characters that they shrink to"})
    placeholder_after: int | None = field(
        default=None,
        metadata={"ge": 0, "description": "tool turns after which a result of the conversation is one line; null = never"},
    )
    fold_at: float | None = field(
        default=0.7,
        metadata={
            "gt": 0,
            "le": 1,
            "description": "while the conversation does not fit: share of its room above which the oldest results are folded "
            "to a line, as long as messages need the rest; null = never",
        },
    )
    fold_keep: int = field(
        default=4, metadata={"ge": 0, "description": "newest messages and calls that are folded only when they are large"}
    )
    newest_only: bool = field(
        default=True,
        metadata={
            "description": "while the conversation does not fit: the result of a call that was made again later, with the same "
            "arguments and without an error, is one line"
        },
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Summaries:
    """When older units become a summary, off the hot path."""

    max_pending: int | None = field(
        default=50,
        metadata={"ge": 1, "description": "unsummarised units above which a batch is summarised; null = no matter"},
    )
    tokens: int | None = field(
        default=80_000, metadata={"ge": 1, "description": "tokens of them above which one is; null = no matter"}
    )
    keep: int = field(default=20, metadata={"ge": 0, "description": "newest units that are never summarised"})
    batch: int = field(default=10, metadata={"ge": 1, "description": "oldest unsummarised units that are taken at once"})
    cap: int = field(default=400, metadata={"ge": 20, "description": "most tokens of a summary"})
    by: Literal["extractive", "endpoint"] = field(
        default="extractive",
        metadata={"description": "the local summariser, or CONTEXT_BUILDER_SUMMARIES__URL, which falls back to it"},
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Reminder:
    """Text that is added to the page, never stored and never searched."""

    section: str = field(
        metadata={"description": "section with source reminder: in front it is read first, behind the trigger last"}
    )
    text: str = field(metadata={"min_length": 1, "description": "what is said, as it is"})
    every: int = field(default=1, metadata={"ge": 1, "description": "on each n-th turn of the session; 1 = always"})
    when: Selector | None = field(default=None, metadata={"description": "only for triggers that it matches; null = for all"})
