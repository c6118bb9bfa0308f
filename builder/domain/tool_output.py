"""Settings of how much of tool results is shown."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """The part of a result list that is kept."""

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
