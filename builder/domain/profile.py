"""What a consumer wants on its page. Profiles are files; these are their frozen values."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Source = Literal["standing", "summary", "instructions", "hot", "retrieval", "tools", "trigger"]
QuerySource = Literal["last_user", "last_n", "custom"]
SectionClass = Literal["static", "slow", "turn"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SectionRule:
    """One section of the page.

    floor, ceiling: shares of the budget. The floor is served before any other section gets more than its own floor.
    dates: one date line per sitting in front of its fragments.
    """

    name: str
    title: str
    source: Source
    section_class: SectionClass
    floor: float
    ceiling: float
    dates: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """The hot window in units: trims only above `trigger`, then keeps `keep` (features A1)."""

    trigger: int
    keep: int
    min_recent: int
    max_tool_turns: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Retrieval:
    """scope: where they may stand, the trigger's "session", the whole "workspace" or these sessions too (features D20).

    schemas: which breadcrumbs may be found. ceilings: most units per schema while the budget is tight; none = by rank alone.

    relevance_threshold: least score on the way from the mean of all (0) to the best that may be found (1); None = all.
    query: what is searched with (features D2). query_messages: of `last_n`. query_text: of `custom`.
    rerank: best passages that late interaction puts in order anew; 0 = none.
    neighbours: passages before and after each of the best finds, shown once everything found is on the page.
    """

    scope: Literal["session", "workspace"] | tuple[str, ...]
    schemas: tuple[str, ...]
    ceilings: Mapping[str, int]
    similarity_threshold: float
    relevance_threshold: float | None
    duplicate_threshold: float
    query: QuerySource
    query_messages: int
    query_text: str
    neighbours: int
    rerank: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """The consumer's wishes; the file name is the consumer's name.

    triggers: schemas whose first version asks for a context; empty = only on demand.
    budget, reserve: tokens of the page and tokens kept free of it.
    revision: hash of the file.
    """

    consumer: str
    revision: str
    triggers: tuple[str, ...]
    page: str
    encoding: str
    budget: int
    reserve: int
    standing: tuple[str, ...]
    window: Window
    retrieval: Retrieval
    sections: tuple[SectionRule, ...]

    @property
    def allowance(self) -> int:
        """Tokens that the finished page may have."""
        return self.budget - self.reserve
