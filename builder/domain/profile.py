"""The rules of one consumer's page, and the consumers that records make."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import tzinfo
from typing import Literal

from builder.domain.breadcrumb import Breadcrumb
from builder.domain.lint_finding import LintFinding
from builder.domain.page_format import PageFormat
from builder.domain.page_settings import FORBIDDEN_SCHEMAS, Dates, Reminder, SectionClass, Summaries, Window
from builder.domain.retrieval import Retrieval
from builder.domain.selector import Pinned, Selector, Triggers, TrustedHints, matches_one, wait_for_tools
from builder.domain.tool_output import ToolOutput


@dataclass(frozen=True, slots=True, kw_only=True)
class SectionRule:
    """One section of the page."""

    name: str
    title: str
    source: str
    """Name of what fills it, in `assemble/items/section_sources.py`."""
    section_class: SectionClass
    min_share: float
    """Share of the budget that only it may spend, while the conversation does not fit."""
    max_share: float
    """Largest share of the budget, while the conversation does not fit."""
    dates: Dates
    """Line before each day: none, the day, with the time, its age; or after each pause."""
    note: str = ""

    def max_tokens(self, allowance: int) -> int:
        """Tokens that the section may have on a page of `allowance` tokens."""
        return int(self.max_share * allowance)


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """The rules of one consumer's page."""

    consumer: str
    """Name, as of its file."""
    agent: str
    """The agent that reads the pages and says what is the consumer's own."""
    revision: str
    """Hash of the file and of all that it extends."""
    triggers: Triggers
    """Whose first version asks for a context; empty = only on demand."""
    page: str
    encoding: str
    budget: int
    reserve: int
    """Tokens of the budget that are kept free."""
    margin: float
    """Share of the budget kept free because the model's tokenizer is not public."""
    on_overflow: Literal["trim", "reject"]
    system_prompt: str
    language: str
    """ISO 639 code of the page's own words."""
    time_zone: tzinfo
    """For times whose sender gave no offset."""
    audience: Selector | None
    """Breadcrumbs of the consumer's conversation; others never trigger; None = all."""
    debounce: float
    """Seconds of quiet before a person's message gets a context; an earlier one gets none."""
    scope_to_task: bool
    recursion_limit: int
    """Most steps of a causal chain."""
    pinned: tuple[Pinned, ...]
    reminders: tuple[Reminder, ...]
    window: Window
    retrieval: Retrieval
    tool_output: ToolOutput
    summaries: Summaries | None
    chat_format: PageFormat | None
    """The format of the copy beside the markdown; None = there is none."""
    worth: int | None
    """Most tokens for one more message that the answer needs; None = the budget is filled."""
    fill: bool
    """Unused room goes to a conversation that does not fit."""
    sections: tuple[SectionRule, ...]
    hints: Mapping[str, str]
    trusted_hints: TrustedHints | None
    """Whose hints of records run; None = nobody's."""

    def is_triggered_by(self, breadcrumb: Breadcrumb) -> bool:
        """Whether its first version asks for a context: trigger and audience match.

        Never by forbidden schemas, by what is addressed to other agents alone, or by the own agent's answers to everybody.
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
        sections = (self.section("retrieval"), self.section("elsewhere"), self.section("conversation"))
        return bool(any(sections) and self.retrieval.schemas)

    @property
    def least_price(self) -> float:
        """Messages needed per token, below which nothing is bought."""
        return 1 / self.worth if self.worth else 0.0

    @property
    def allowance(self) -> int:
        """Tokens that the finished page may have."""
        return int(self.budget * (1 - self.margin)) - self.reserve


AGENT, CONFIG = "agent.def.v1", "context.config.v1"
DEFINING_SCHEMAS = (AGENT, CONFIG)
MAX_DEFINITIONS = 1_000
"""Newest of each schema in a workspace."""

Definitions = tuple[Breadcrumb, ...]
"""Newest versions of records that may make consumers, as of a place, newest first per schema."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordConsumers:
    """The consumers that the definitions of a workspace make."""

    profiles: tuple[Profile, ...] = ()
    origins: Mapping[str, str] = field(default_factory=dict)
    findings: tuple[LintFinding, ...] = ()
    """Ignored settings and invalid records; `file` is the record."""
