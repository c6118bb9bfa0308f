"""What one consumer wants on its page, and the consumers that records make."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import tzinfo
from typing import Literal

from builder.domain.breadcrumb import Breadcrumb
from builder.domain.lint_finding import LintFinding
from builder.domain.page_settings import (
    FORBIDDEN_SCHEMAS,
    ChatFormat,
    ChatPlace,
    Dates,
    Reminder,
    Retrieval,
    SectionClass,
    Summaries,
    ToolOutput,
    Window,
)
from builder.domain.selector import Pinned, Selector, Triggers, TrustedHints, matches_one, wait_for_tools


@dataclass(frozen=True, slots=True, kw_only=True)
class SectionRule:
    """One section of the page."""

    name: str
    title: str
    source: str
    """Name of what fills it, in `assemble/items/rendering.py`."""
    section_class: SectionClass
    min_share: float
    """Share of the budget that finds are left with, while the conversation does not fit."""
    max_share: float
    """Largest share of the budget, while the conversation does not fit."""
    min_tokens: int
    """`max_share` is never fewer tokens than these, so that a small page gives more of itself."""
    dates: Dates
    """The line in front of each other day: none, the day, the day with the time, its age at the trigger; or behind each pause."""
    note: str = ""
    """The profile's words above what is in it."""

    def max_tokens(self, allowance: int) -> int:
        """Tokens that the section may have on a page of `allowance` tokens."""
        return min(max(int(self.max_share * allowance), self.min_tokens), allowance)


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """The rules of one consumer's page."""

    consumer: str
    """Its name, which is the name of the file."""
    agent: str
    """The agent that reads its pages: what this one says and calls is the consumer's own."""
    revision: str
    """Hash of the file and of all that it extends."""
    triggers: Triggers
    """Whose first version asks for a context; empty = only on demand."""
    page: str
    encoding: str
    budget: int
    """Most tokens of the page."""
    target: int | None
    """Tokens that the page aims at; None = the budget."""
    reserve: int
    """Tokens of the budget that are kept free."""
    margin: float
    """Share of the budget that is kept free because the model's own tokenizer is not public."""
    on_overflow: Literal["trim", "reject"]
    """What happens to a conversation that does not fit: it is trimmed, or the page is rejected."""
    system_prompt: str
    language: str
    """ISO 639 code of the page's own words."""
    time_zone: tzinfo
    """Of times whose sender gave no offset."""
    audience: Selector | None
    """The breadcrumbs of the session that are this consumer's conversation and may trigger it; None = all."""
    debounce: float
    """Seconds of quiet that a person's message waits for; 0 = it waits for none. One that the same person follows earlier gets no
    context."""
    scope_to_task: bool
    """Only breadcrumbs of the trigger's task are shown."""
    recursion_limit: int
    """Most steps of a causal chain."""
    pinned: tuple[Pinned, ...]
    reminders: tuple[Reminder, ...]
    window: Window
    retrieval: Retrieval
    tool_output: ToolOutput
    summaries: Summaries | None
    chat_format: ChatFormat
    words_of_people: ChatPlace
    """Where `messages` have summaries, the memory of a person and standing instructions."""
    fill: bool
    """What no section uses goes back to a conversation that does not fit."""
    sections: tuple[SectionRule, ...]
    hints: Mapping[str, str]
    """Schema → the hint template that this consumer has it shown by."""
    trusted_hints: TrustedHints | None
    """Whose hints of records run; None = nobody's."""
    shadow_of: str = ""
    """The consumer with whose pages its own are compared, never published; "" = it is a consumer itself."""

    def is_triggered_by(self, breadcrumb: Breadcrumb) -> bool:
        """Whether a first version of it asks for a context: by a trigger, and because the audience matches it.

        What no profile can show never does, whatever its tags are; nor what is addressed to other agents alone, nor the answer of
        the consumer's own agent to everybody.
        """
        is_own_answer = breadcrumb.role == "assistant" and breadcrumb.agent == self.agent
        is_addressed = self.agent in breadcrumb.to if breadcrumb.to else not is_own_answer
        is_meant = is_addressed and breadcrumb.schema not in FORBIDDEN_SCHEMAS and matches_one(self.triggers, breadcrumb)
        return is_meant and (self.audience is None or self.audience.matches(breadcrumb))

    @property
    def waits_for_tools(self) -> bool:
        """Whether a tool's answer may ask for a context."""
        return wait_for_tools(self.triggers)

    def section(self, source: str) -> SectionRule | None:
        """The first section that this source fills."""
        return next((rule for rule in self.sections if rule.source == source), None)

    @property
    def searches(self) -> bool:
        """Whether anything is searched for its pages."""
        return bool(self.section("retrieval") and self.retrieval.schemas)

    @property
    def allowance(self) -> int:
        """Tokens that the finished page may have."""
        return int(self.budget * (1 - self.margin)) - self.reserve

    @property
    def aim(self) -> int:
        """Tokens that the finished page aims at; what must stand on it may take more."""
        return self.allowance if self.target is None else min(self.target, self.allowance)

    @property
    def whole(self) -> int:
        """Tokens of a page on which the conversation may stand whole."""
        return self.allowance if self.window.whole_up_to == "budget" or self.on_overflow == "reject" else self.aim


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
