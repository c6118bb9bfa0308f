"""The finished product and its parts."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID, uuid5

from builder.domain.breadcrumb import Breadcrumb, Place
from builder.domain.message import Message
from builder.domain.profile import ChatFormat

_NAMESPACE = UUID("5b0f1d0e-6f0f-5f0b-9a55-0d6f7b1c8e21")

DEGRADED = "degraded"
"""Flag: no engine was there for the trigger, so it was asked by words and fields alone."""
VECTORS_MISSING = "vectors_missing"
"""Flag: some breadcrumbs in scope had no vectors yet and were found by words and fields alone."""

HINT_FAILED = "hint_failed"
"""Flag: a hint could not render something on the page, which is shown by the generic one; its omission says why."""
PAGE_FAILED = "page_failed"
"""Flag: the page template could not lay the page out, so a bundled one did."""

SYSTEM_CUT = "system_prompt_cut"
"""Flag: the consumer's own system prompt is too large for its page and stands there cut."""

OVER_BUDGET = "over budget"
"""Why what was found or belongs to the conversation is not on the page: it has no room there."""
CUT = "cut to what has room"
"""Why only a part of something is on the page."""
OLDER = "older than the conversation that has room"
"""Why a part of the conversation is not on the page, and was not found either."""
NEUTRALISED = "neutralised"
"""Why something is shown otherwise than it came: it held control text, which stands there visibly."""
IRRELEVANT = "not near enough to the question"
"""Why what may be found is not on the page."""


def context_id(workspace: str, session: str, trigger: str, consumer: str) -> UUID:
    """The one id that a trigger can have for a consumer: no revision, no time, no attempt in it."""
    return uuid5(_NAMESPACE, f"{workspace}\x1f{session}\x1f{trigger}\x1f{consumer}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Fragment:
    """A breadcrumb (or a part of it) rendered by its hint. tokens: with its line end.

    reduced: why not all of it is shown, in a word or two; "" = all of it is. in_all: tokens that all of it would have.
    failed: why its own hint could not render it, and what did; "" = it could.
    neutralised: control text in it was made visible.
    """

    breadcrumb: Breadcrumb
    text: str
    tokens: int
    reduced: str = ""
    in_all: int = 0
    failed: str = ""
    neutralised: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A headed group on the page. breadcrumbs: id → tokens of what it shows of each, in page order.

    probabilities: id → probability that it answers the trigger, of what was found.
    """

    name: str
    section_class: str
    tokens: int
    breadcrumbs: Mapping[str, int]
    probabilities: Mapping[str, float]

    @property
    def ids(self) -> tuple[str, ...]:
        """The breadcrumbs in it, in page order."""
        return tuple(self.breadcrumbs)


@dataclass(frozen=True, slots=True, kw_only=True)
class Omission:
    """What is not on the page, or not all of it, and why.

    tokens: of all of it, by stored counts where it was not rendered. shown: of these on the page.
    """

    id: str
    reason: str
    tokens: int = 0
    shown: int = 0


STATIC, SLOW, RECENT = "static", "slow", "recent"
"""Names of breakpoints. RECENT stands behind the conversation: its end is per-turn, yet nearly all of it begins the next page."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Breakpoint:
    """A place at which a prompt cache may cut the page.

    name: STATIC, SLOW or RECENT.
    characters, tokens: of the markdown in front of it. prefix: hash of that; equal hash, equal beginning.
    """

    name: str
    characters: int
    tokens: int
    prefix: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Compaction:
    """Tool results that were folded to one line each.

    original, compacted: tokens of the conversation on the page without folding and with it. folded: ids, oldest first.
    """

    original: int
    compacted: int
    folded: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """One page for one consumer and one trigger. markdown: exactly what the agent reads; tokens: its true count.

    breakpoints: where a prompt cache may cut it, in page order.
    budget, margin: tokens that were allowed, and the share of them that was kept free. target: what was aimed at; None = all.
    messages: the same once more for a chat API, of this shape; empty when the profile wants none.
    partial: what is on the page in part. omissions: the most relevant of what is not. left_out: all that is not, by reason.
    compaction: None when nothing was folded.
    flags: what was out of the ordinary: DEGRADED, VECTORS_MISSING, HINT_FAILED, PAGE_FAILED, SYSTEM_CUT.
    """

    trigger: Breadcrumb
    consumer: str
    assembled_at: datetime
    markdown: str
    breakpoints: tuple[Breakpoint, ...]
    tokens: int
    budget: int
    target: int | None
    margin: float
    encoding: str
    profile_revision: str
    template_revision: str
    model: str
    flags: tuple[str, ...]
    sections: tuple[Section, ...]
    partial: tuple[Omission, ...]
    omissions: tuple[Omission, ...]
    left_out: Mapping[str, int]
    compaction: Compaction | None = None
    messages: tuple[Message, ...] = ()
    chat_format: ChatFormat = "none"

    @property
    def id(self) -> UUID:
        """See `context_id`."""
        return context_id(self.trigger.workspace, self.trigger.session, self.trigger.id, self.consumer)

    @property
    def place(self) -> Place:
        """The trigger's place: contexts of a session are ordered by it."""
        return self.trigger.place
