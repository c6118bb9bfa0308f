"""What a consumer wants on its page. Profiles are files; these are their frozen values."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import tzinfo
from typing import Literal

from builder.domain.breadcrumb import Breadcrumb
from builder.domain.selector import Pinned, Selector
from builder.domain.usage import USAGE

QuerySource = Literal["last_user", "last_n", "custom"]
SectionClass = Literal["static", "slow", "turn"]
Dates = Literal["none", "day", "age", "time"]
ChatFormat = Literal["none", "openai", "anthropic"]
NEVER = frozenset(
    {"secret.v1", "agent.context.v1", "context.blacklist.v1", "breadcrumb.deleted.v1", "context.compacted.v1", USAGE}
)
"""Kinds that no profile can switch on."""
ANSWER, FAILURE = "tool.response.v1", "tool.error.v1"
"""What a tool answers, and that it failed."""
MOST_MARGIN = 0.5
"""What calibration may keep free at most: whatever agents report, half of the page stays."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SectionRule:
    """One section of the page.

    min_share, max_share: of the budget, while the conversation does not fit. The minimum is what finds are left with.
    min_tokens: the maximum is never less than these, so that a small page gives more of itself.
    dates: a line in front of what was said on another day: the day, the day with the time of day, or its age at the trigger.
    """

    name: str
    title: str
    source: str
    """Name of what fills it, in `assemble/sources/table.py`."""
    section_class: SectionClass
    min_share: float
    max_share: float
    min_tokens: int
    dates: Dates

    def most(self, allowance: int) -> int:
        """Tokens that the section may have on a page of so many: its maximum, or `min_tokens` on a small page."""
        return min(max(int(self.max_share * allowance), self.min_tokens), allowance)


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """Limits of the conversation: above `max_units` it is trimmed to `trim_to` (None = as many as have room).

    keep_share: a conversation that does not fit is trimmed to this share of its room and grows again, so that its
    beginning moves in jumps. max_tool_turns: newest turns whose calls are shown; None = all.
    whole_up_to: a conversation that fits into the profile's target, or its budget, is shown whole.
    """

    max_units: int | None
    trim_to: int
    keep_share: float
    max_tool_turns: int | None
    whole_up_to: Literal["target", "budget"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Retrieval:
    """scope: where they may stand, the trigger's "session", the whole "workspace" or these sessions too.

    schemas: which breadcrumbs may be found. people: whose messages, everybody's or only theirs whom the trigger names.
    per_schema_limit: most finds of each; one that is not named has no limit.

    min_probability: least probability that a find answers what is asked; None = all that has room.
    query: what is searched with. query_messages: of `last_n`. query_text: of `custom`.
    max_results: finds, whatever their kind, without the answers that come along; None = what fits.
    neighbours: passages before and after each of the best finds, shown once everything found is on the page.
    """

    scope: Literal["session", "workspace"] | tuple[str, ...]
    schemas: tuple[str, ...]
    people: Literal["all", "named"]
    per_schema_limit: Mapping[str, int]
    similarity_threshold: float
    min_probability: float | None
    query: QuerySource
    query_messages: int
    query_text: str
    neighbours: int
    max_results: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """A result list keeps so many results of so many characters each; None = all."""

    results: int | None
    characters: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolOutput:
    """How much of what tools answered is shown. All of it stays in the store.

    cut, per_tool: what is cut of a result list at once. old_tools, old_characters: what shrinks where it is found.
    placeholder_after: turns after which a result of the conversation is one line; None = never.
    While the conversation does not fit: fold_at: share of its room above which the oldest results are folded; None = never.
    fold_keep: newest messages and calls that are never folded. newest_only: the result of a call that was made again later
    with the same arguments is one line.
    """

    cut: Cut
    per_tool: Mapping[str, Cut]
    old_tools: tuple[str, ...]
    old_characters: int
    placeholder_after: int | None
    fold_at: float | None
    fold_keep: int
    newest_only: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Summaries:
    """When and how older units become a summary, off the hot path.

    max_pending, tokens: unsummarised units, or tokens of them, above which a batch is summarised; None = not by this measure.
    keep: newest units that are never summarised. batch: units taken at once. cap: most tokens of a summary.
    by: the extractive summariser, or the endpoint of the settings.
    """

    max_pending: int | None
    tokens: int | None
    keep: int
    batch: int
    cap: int
    by: Literal["extractive", "endpoint"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reminder:
    """Text that a profile adds to the page: never stored, never embedded.

    every: on each n-th turn of the session. when: only for triggers that it matches; None = for all.
    """

    section: str
    text: str
    every: int
    when: Selector | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """The consumer's wishes; the file name is the consumer's name.

    triggers: schemas whose first version asks for a context; empty = only on demand.
    budget, reserve: most tokens of the page, and tokens kept free of it. target: tokens that it aims at; None = the budget.
    margin: share of the budget kept free because the model's
    own tokenizer is not public. calibrate: the undated name of the model whose usage, as agents report it, takes
    the margin's place once enough of it is known; None = the margin stands.
    on_overflow: trim the conversation that does not fit, or reject the page.
    audience: which breadcrumbs of the session are this consumer's conversation, and of `triggers` which trigger it; None = all.
    scope_to_task: only breadcrumbs of the trigger's task.
    recursion_limit: most steps of a causal chain.
    time_zone: of times whose sender gave no offset.
    revision: hash of the file and of all that it extends.
    """

    consumer: str
    revision: str
    triggers: tuple[str, ...]
    page: str
    encoding: str
    budget: int
    target: int | None
    reserve: int
    margin: float
    calibrate: str | None
    on_overflow: Literal["trim", "reject"]
    system_prompt: str
    time_zone: tzinfo
    audience: Selector | None
    scope_to_task: bool
    recursion_limit: int
    pinned: tuple[Pinned, ...]
    reminders: tuple[Reminder, ...]
    window: Window
    retrieval: Retrieval
    tool_output: ToolOutput
    summaries: Summaries | None
    chat_format: ChatFormat
    sections: tuple[SectionRule, ...]

    def is_triggered_by(self, breadcrumb: Breadcrumb) -> bool:
        """Whether a first version of it asks for a context: by its schema, and because the audience matches it.

        Where a tool's answer does, its failure does too: it closes the call as well.
        """
        schema = ANSWER if breadcrumb.schema == FAILURE else breadcrumb.schema
        is_named = bool({schema, breadcrumb.schema} & set(self.triggers))
        return is_named and (self.audience is None or self.audience.matches(breadcrumb))

    @property
    def waits_for_tools(self) -> bool:
        """Whether a tool's answer may ask for a context."""
        return bool({ANSWER, FAILURE} & set(self.triggers))

    def section(self, source: str) -> SectionRule | None:
        """The first section that this source fills."""
        return next((rule for rule in self.sections if rule.source == source), None)

    @property
    def allowance(self) -> int:
        """Tokens that the finished page may have."""
        return self._page(self.margin)

    @property
    def aim(self) -> int:
        """Tokens that the finished page shall have, if nothing that it may not be without needs more."""
        return self.allowance if self.target is None else min(self.target, self.allowance)

    @property
    def whole(self) -> int:
        """Tokens of a page on which the conversation may stand whole."""
        return self.allowance if self.window.whole_up_to == "budget" or self.on_overflow == "reject" else self.aim

    @property
    def least_allowance(self) -> int:
        """Tokens that the finished page may have at least, whatever agents report."""
        return self._page(max(self.margin, MOST_MARGIN) if self.calibrate else self.margin)

    def _page(self, margin: float) -> int:
        return int(self.budget * (1 - margin)) - self.reserve
