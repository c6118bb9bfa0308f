"""The finished page and its parts."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID, uuid5

from builder.domain.breadcrumb import Breadcrumb, Place
from builder.domain.page_format import PageCopy

OPENING = "…"
"""The user's text before a conversation that begins with the assistant, which Anthropic does not take."""


_NAMESPACE = UUID("5b0f1d0e-6f0f-5f0b-9a55-0d6f7b1c8e21")

DEGRADED = "degraded"
"""Flag: no engine embedded the trigger, so the search had words and fields alone."""
VECTORS_MISSING = "vectors_missing"
"""Flag: some breadcrumbs in scope had no vectors yet, so the search for them had words and fields alone."""

HINT_FAILED = "hint_failed"
"""Flag: a hint failed and the generic one stepped in; the omission has the reason."""
PAGE_FAILED = "page_failed"
"""Flag: the page template failed and a bundled one stepped in."""

NO_USER = "no_user"
"""Flag: the profile looks into the memory of a person, and nothing says who the person is, so only the session was looked at."""

OVER_BUDGET = "over budget"
"""Reason: no room on the page, for a find or a part of the conversation."""
CUT = "cut to what has room"
"""Reason: only a part has room."""
PASSAGES = "only passages of it"
"""Reason: a search found a part of it, or only a part instructs."""
OLDER = "older than the newest part of the conversation, which is shown"
"""Reason: a part of the conversation before the window, which was no find either."""
NEUTRALISED = "neutralised"
"""Reason: it held control text, which was made visible."""
IRRELEVANT = "not near enough to the question"
"""Reason: eligible, but too improbable an answer."""
STATIC, SLOW, RECENT = "static", "slow", "recent"
"""Names of breakpoints. RECENT is after the conversation: nearly all of it begins the next page."""


def context_id(workspace: str, session: str, trigger: str, consumer: str) -> UUID:
    """The only id of a trigger's context for a consumer: no revision, time or attempt is in it."""
    return uuid5(_NAMESPACE, f"{workspace}\x1f{session}\x1f{trigger}\x1f{consumer}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Fragment:
    """A breadcrumb (or a part of it) rendered by its hint."""

    breadcrumb: Breadcrumb
    text: str
    tokens: int
    """With the line end."""
    reduced: str = ""
    """Reason why not all of it is shown, in a word or two; "" = all of it is."""
    in_all: int = 0
    """Tokens of all of it."""
    failed: str = ""
    """Reason why its own hint failed, and what stepped in; "" = it rendered."""
    neutralised: bool = False
    transformed: bool = False
    """Its words are not those of the breadcrumb: hints of a record made them, or of a result a hint that may show a part."""


@dataclass(frozen=True, slots=True)
class Section:
    """A headed group on the page."""

    name: str
    section_class: str
    tokens: int
    tokens_by_id: Mapping[str, int]
    """Tokens that are shown of each breadcrumb, in page order."""
    probability_by_id: Mapping[str, float]
    """Id of a find → how probably it answers the trigger."""

    @property
    def ids(self) -> tuple[str, ...]:
        """The breadcrumbs in it, in page order."""
        return tuple(self.tokens_by_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class Omission:
    """A breadcrumb that is not on the page, or not all of it."""

    id: str
    reason: str
    tokens: int = 0
    """Tokens of all of it, by stored counts where it was not rendered."""
    tokens_shown: int = 0
    probability: float | None = None
    """That it answers the trigger; None = no search asked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Breakpoint:
    """A place at which a prompt cache may cut the page."""

    name: str
    """STATIC, SLOW or RECENT."""
    characters: int
    """Of the markdown before it."""
    tokens: int
    """Of the markdown before it."""
    prefix: str
    """Hash of the markdown before it; equal hash, equal beginning."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Compaction:
    """Tool results that were folded to one line each."""

    original_tokens: int
    """The conversation on the page without folding."""
    compacted_tokens: int
    """The same with folding."""
    folded: tuple[str, ...]
    budget: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """One page for one consumer and one trigger."""

    trigger: Breadcrumb
    consumer: str
    agent: str
    """`creator.agent_id` of what answers it."""
    assembled_at: datetime
    markdown: str
    breakpoints: tuple[Breakpoint, ...]
    tokens: int
    """True count of the markdown."""
    budget: int
    margin: float
    encoding: str
    profile_revision: str
    template_revision: str
    model: str
    flags: tuple[str, ...]
    """Deviations from an ordinary page: DEGRADED, VECTORS_MISSING, HINT_FAILED, PAGE_FAILED, NO_USER."""
    sections: tuple[Section, ...]
    partial: tuple[Omission, ...]
    """Breadcrumbs that are on the page in part."""
    omissions: tuple[Omission, ...]
    """The most relevant of those that are not on it."""
    left_out: Mapping[str, int]
    """All that are not on it, counted by reason."""
    left_out_tokens: int = 0
    """Tokens of all that is not on it, by stored counts."""
    supersedes: UUID | None = None
    """The context of an earlier message that was not answered yet: this one answers it, too."""
    picture_tokens: int = 0
    """Tokens of the pictures in the copy, by the provider's formula."""
    questions: tuple[str, ...] = ()
    """Ids of the messages of people that an answer to it answers, oldest first."""
    as_of: Place | None = None
    """Built again with what had come up to there; None = as of the trigger."""
    quiet_from: Place | None = None
    """With what came within the quiet time of the trigger, up to there; None = nothing did."""
    is_over: bool = False
    """All that it answers was answered, or a later context answers it."""
    later: str = ""
    """The trigger of that later context; "" = none is needed."""
    compaction: Compaction | None = None
    """None when nothing was folded."""
    copy: PageCopy | None = None
    """The same content in the profile's `chat_format`."""

    @property
    def id(self) -> UUID:
        """The id by `context_id`."""
        return context_id(self.trigger.workspace, self.trigger.session, self.trigger.id, self.consumer)
