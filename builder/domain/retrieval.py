"""Settings of the search for what the page does not show anyway."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

QuerySource = Literal["last_user", "last_n", "custom"]


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
