"""Reports: the parts of a delivery's time, a settled delivery, an erasure, a failed template, the receipt of a context."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import datetime
from time import perf_counter
from typing import Literal, get_args

from builder.domain.breadcrumb import Place

Part = Literal["wait", "catch_up", "embedding", "recall", "page"]
PARTS: tuple[Part, ...] = get_args(Part)
"""Waiting (in the stream, for a turn, for the quiet time, during earlier attempts), reading earlier messages with what is
remembered of them, vectors, the history, the page with its search.

Embedding and recall run at the same time, and earlier messages are embedded too, so the sum may exceed the whole.
"""
PartScope = Callable[[Part], AbstractContextManager[object]]
_SECONDS: ContextVar[dict[Part, float]] = ContextVar("seconds_by_part")
_PART_SCOPE: ContextVar[PartScope] = ContextVar("part_scope", default=nullcontext)


@contextmanager
def stopwatch(scope: PartScope = nullcontext) -> Iterator[dict[Part, float]]:
    """Collect what `timed` measures inside the block, in the tasks that it starts, too: part → seconds.

    scope: entered for each part.
    """
    seconds: dict[Part, float] = {}
    tokens = _SECONDS.set(seconds), _PART_SCOPE.set(scope)
    try:
        yield seconds
    finally:
        _SECONDS.reset(tokens[0])
        _PART_SCOPE.reset(tokens[1])


@contextmanager
def timed(part: Part) -> Iterator[None]:
    """Add the duration of the block to its part."""
    start = perf_counter()
    try:
        with _PART_SCOPE.get()(part):
            yield
    finally:
        seconds = _SECONDS.get(None)
        if seconds is not None:
            seconds[part] = seconds.get(part, 0.0) + perf_counter() - start


def times_text() -> str:
    """The times until now as `wait=12 catch_up=1 …` in milliseconds, for a header; "" outside a stopwatch."""
    seconds = _SECONDS.get({})
    return " ".join(f"{part}={1e3 * seconds[part]:.0f}" for part in PARTS if part in seconds)


def times_of(text: str) -> dict[str, int]:
    """Part → milliseconds of what `times_text` wrote."""
    pairs = (pair.partition("=") for pair in text.split())
    return {part: int(milliseconds) for part, _, milliseconds in pairs if part in PARTS and milliseconds.isdecimal()}


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryOutcome:
    """How one delivery was settled."""

    subject: str
    place: Place
    replay: bool
    """True for an import, and for a breadcrumb of the service itself."""
    outcome: str
    """One of remembered, published, superseded, waiting, expired, rejected, unavailable and failed."""
    seconds: float
    """From fetch to settle."""
    build: float | None = None
    """Seconds of remembering, recall and assembly; None where no context was built."""
    tokens: tuple[int, ...] = ()
    """Of each published context."""
    reason: str = ""
    kind: str = ""
    """Of the reason of a rejection: `Rejected.kind`."""
    unread: int = 0
    """Parts of its content that no reader knows."""
    parts: Mapping[Part, float] = field(default_factory=dict)
    """Seconds of each part, see `PARTS`."""

    @property
    def contexts(self) -> int:
        """Number of published contexts."""
        return len(self.tokens)


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """The account of one erasure: one breadcrumb in one session."""

    id: str
    workspace: str
    session: str
    """Its token; the client gives the session's text."""
    by: str
    """Who demanded it, for people; `System` when nobody was named."""
    at: datetime
    """Stream time of the tombstone."""
    versions: int
    """Stored versions of the breadcrumb that were erased."""
    summaries: tuple[str, ...]
    """Ids of the summaries made from it, which were erased too."""
    messages: int
    contexts: int
    dead_letters: int
    cached: int
    """Vectors and fragments dropped from the memory of this process."""


TemplateKind = Literal["hints", "pages"]
LLM_HINTS = "llm_hints"


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """Failures of one template, or of the hints of records of one schema."""

    kind: TemplateKind | Literal["llm_hints"]
    name: str
    reason: str
    """Of the first failure, with the line of the template."""
    instead: str
    times: int = 1

    @property
    def file(self) -> str:
        """Path in the templates folder, or whose hints they are."""
        return f"{LLM_HINTS} of {self.name}" if self.kind == LLM_HINTS else f"{self.kind}/{self.name}.md.j2"


@dataclass(frozen=True, slots=True, kw_only=True)
class SignalValue:
    """One signal of a passage (`recall/search/signals.py`)."""

    name: str
    value: float | None
    """As it was measured, e.g. a cosine; None = unknown."""
    points: float
    """What it adds to the passage's score (its value on the scale of the ranking, times its weight), beyond what it adds to the
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
    """Of all of it, as they were counted when it was stored."""
    evidence: Evidence | None = None
    """None where it was no candidate."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SectionBudget:
    """What one section may have, and what it has."""

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
    """What budget, reserve and margin leave."""
    tokens: int
    """Of the page, its true count."""
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
