"""The receipt of a context: where each line of its page comes from, what is not on it, and why."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class SignalValue:
    """One signal of a passage (`recall/search/signals.py`)."""

    name: str
    value: float | None
    """As it was measured, e.g. a cosine; None = unknown."""
    points: float
    """Its part of the passage's score (its value on the scale of the ranking, times its weight), beyond what it adds to the
    candidates on average: a difference of 1 makes a passage 2.7 times as probable."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """Why a passage was found, or was not."""

    probability: float
    rank: int
    """Among the candidates, 1 = the best."""
    candidates: int
    signals: tuple[SignalValue, ...]
    """The most points, for or against, first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageSource:
    """The breadcrumb that words come from."""

    id: str
    version: int
    schema: str
    session: str
    speaker: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PagePart:
    """Lines of the page that come from one place."""

    first: int
    """Number of the first line, from 1; 0 = the page template moves or changes fragments, so lines are unknown."""
    last: int
    section: str
    source: PageSource | None
    """None for what the profile or the service says itself."""
    tokens: int
    """0 for headings, dates and notes, which belong to no breadcrumb."""
    reason: str
    reduced: str = ""
    """Why not all of it is shown; "" = all of it is."""
    evidence: Evidence | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AbsentSource:
    """A breadcrumb that is not on the page."""

    source: PageSource
    reason: str
    tokens: int
    """Tokens of all of it, as they were counted when it was stored."""
    evidence: Evidence | None = None
    """None where it was no candidate."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SectionBudget:
    """The tokens that one section may have, and those that it has."""

    name: str
    source: str
    section_class: str
    tokens: int
    """With heading, notes and date lines."""
    least: int
    """Tokens that finds are left with while the conversation does not fit; 0 for all other sections."""
    most: int
    """Tokens that it may have while the conversation does not fit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetReceipt:
    """The ledger of the budget, in tokens."""

    budget: int
    reserve: int
    margin: float
    allowance: int
    """The rest that reserve and margin leave of the budget."""
    tokens: int
    """True count of the page."""
    is_whole: bool
    """The conversation fits and is shown whole; no share of a section acts then."""
    sections: tuple[SectionBudget, ...]
    """In page order, empty ones too."""

    @property
    def unused(self) -> int:
        """Tokens of the allowance that the page does not use."""
        return self.allowance - self.tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """The question, for a receipt."""

    text: str
    """The words that were embedded, without names."""
    terms: tuple[str, ...]
    names: tuple[str, ...]
    is_small_talk: bool
    """It asks for nothing, so nothing was searched."""
    has_vector: bool
    """False when no engine was there: then words and fields alone were compared."""
    candidates: int
    """Passages that could be found; 0 when nothing was searched."""
    unanswered: float | None
    """Probability that no passage answers it, those on the page included; None when nothing was searched."""
    min_probability: float | None
    """Below it nothing is found; None = no limit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextReceipt:
    """Its parts cover every line of the page but empty ones."""

    parts: tuple[PagePart, ...]
    """In page order."""
    absent: tuple[AbsentSource, ...]
    """Breadcrumbs that the consumer may see and the page does not show, the most relevant first."""
    by_reason: Mapping[str, int]
    budget: BudgetReceipt
    question: Question
