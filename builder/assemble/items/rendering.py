"""How much of a breadcrumb is rendered, by which hints, and the pure helpers that render a page."""

import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal, Protocol, TypeVar

from builder.assemble.items.pictures import Size
from builder.domain.breadcrumb import SUMMARY, TOOL_REQUEST, USER_MESSAGE, Breadcrumb
from builder.domain.context import Call, Fragment, Image
from builder.domain.page_settings import Cut
from builder.domain.profile import Profile, SectionRule
from builder.domain.text import Phrases

Spans = tuple[tuple[int, int], ...]
"""Character offsets into a breadcrumb's text, in order; () = the whole text."""
Line = Literal["", "placeholder", "folded", "superseded"]

FOLD_REASON = "folded to one line"
"""Why a result is one line: it yields to what is newer."""
LINE_REASONS: dict[Line, str] = {
    "": "",
    "folded": FOLD_REASON,
    "placeholder": "older tool turn, one line",
    "superseded": "the same call was answered again later",
}
"""Why a result is one line only, as omissions say it."""
MIN_PART_TOKENS = 64
"""Tokens below which a part of a message says nothing."""
NO_CUT = Cut(results=None, characters=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class RenderForm:
    """The part of a breadcrumb that is rendered, and its form."""

    spans: Spans = ()
    is_bare: bool = False
    """Without signs for what the spans leave out."""
    times: int = 1
    """How often the same was said."""
    call: str = ""
    """Request id of the call that is rendered instead of the text; "" = the text."""
    below: str = ""
    """Name of the phrase below a call that has no result below."""
    answer: bool = False
    """The result is below its call."""
    line: Line = ""
    """Why the result is one line; "" = it is more."""
    cut: Cut = NO_CUT
    """Limits of the result list."""
    characters: int | None = None
    """Limit of the whole; None = all."""


WHOLE = RenderForm()


def even_caps(sizes: Sequence[int], room: int) -> list[int]:
    """Tokens of each when all share the room evenly; what is smaller leaves the others more."""
    caps = [0] * len(sizes)
    for number, index in enumerate(sorted(range(len(sizes)), key=sizes.__getitem__)):
        caps[index] = min(sizes[index], max(room, 0) // (len(sizes) - number))
        room -= caps[index]
    return caps


@dataclass(frozen=True, slots=True, kw_only=True)
class HintChoice:
    """In the order in which they are tried."""

    record: str = ""
    """The breadcrumb's own `llm_hints` as JSON text, if the consumer trusts them."""
    own: str = ""
    call: str = ""
    definition: str = ""
    """The `llm_hints` of the schema's definition as JSON text; they serve a schema without a configured template."""


NO_CHOICE = HintChoice()
"""The configured hint, else the generic one."""


def hint_choice(breadcrumb: Breadcrumb, profile: Profile, schema_hints: Mapping[str, str]) -> HintChoice:
    """schema_hints: schema → the trusted hints of its definition."""
    trusted = profile.trusted_hints
    if trusted is None and not profile.hints:
        return NO_CHOICE
    return HintChoice(
        record=breadcrumb.hints if breadcrumb.hints and trusted is not None and trusted.trusts(breadcrumb) else "",
        own=profile.hints.get(breadcrumb.schema, ""),
        call=profile.hints.get(TOOL_REQUEST, ""),
        definition=schema_hints.get(breadcrumb.schema, ""),
    )


Value = TypeVar("Value")


@dataclass(frozen=True, slots=True, kw_only=True)
class SectionSource:
    """The facts of one source; `name` is what profiles write."""

    name: str
    is_dated: bool = False
    """The section has date lines unless its rule says otherwise."""
    is_dialogue: bool = False
    """Its items are turns: in `messages` they are messages, and on a page of one day they have no date lines."""
    is_lasting: bool = False
    """In `messages` the section is the system's, unless its class says that it changes with every turn."""
    is_quoted: bool = False
    """It holds words of people and agents, which are no rules of the operator."""
    changes_every_turn: bool = False
    schemas: tuple[str, ...] = ()

    def is_in_system(self, rule: SectionRule) -> bool:
        """Whether `messages` have the section in the system message."""
        return self.name == "system" or (self.is_lasting and rule.section_class != "turn")


SOURCES: dict[str, SectionSource] = {
    source.name: source
    for source in (
        SectionSource(name="system", is_lasting=True),
        SectionSource(name="pinned", is_lasting=True),
        SectionSource(name="summary", is_lasting=True, is_quoted=True, schemas=(SUMMARY,)),
        SectionSource(name="memory", is_dated=True, is_lasting=True, is_quoted=True, schemas=(SUMMARY,)),
        SectionSource(name="instructions", is_lasting=True, is_quoted=True, schemas=(USER_MESSAGE,)),
        SectionSource(name="window", is_dated=True, is_dialogue=True, changes_every_turn=True),
        SectionSource(name="conversation", is_dated=True, is_dialogue=True, changes_every_turn=True),
        SectionSource(name="elsewhere", is_dated=True, changes_every_turn=True),
        SectionSource(name="turn", is_dated=True, is_dialogue=True, changes_every_turn=True),
        SectionSource(name="retrieval", is_dated=True, changes_every_turn=True),
        SectionSource(name="reminder"),
        SectionSource(name="trigger", is_dated=True, is_dialogue=True, changes_every_turn=True),
    )
}


SAME: Mapping[str, tuple[str, ...]] = {"window": ("window", "conversation"), "retrieval": ("retrieval", "elsewhere")}
"""Source → the sources that have its part of a page: of the conversation, and of what was found."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Fragments under one date line."""

    date: str
    fragments: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PageSection:
    """A section as the page template gets it."""

    name: str
    title: str
    groups: tuple[Group, ...]
    note: str = ""
    """A line of ours before the fragments."""


@dataclass(frozen=True, slots=True)
class Layout:
    """A page that is laid out."""

    text: str
    ends: tuple[int, ...] = ()
    """Characters up to the end of the last fragment of each section; () when the template moves sections."""
    failed: bool = False
    """The profile's template failed, so a bundled one laid the page out."""


class FragmentPending(Exception):  # noqa: N818 - nothing failed
    """Fragments take long, and the caller asked to be told."""

    def __init__(self, works: Mapping[Hashable, Callable[[], object]]) -> None:
        """works: each makes a fragment, in any thread; begin the page again once `READY` has all of them."""
        super().__init__()
        self.works = works


PENDING_CHARS: ContextVar[float] = ContextVar("pending_chars", default=math.inf)
"""Body and text of more characters take long."""
READY: ContextVar[Mapping[Hashable, Any]] = ContextVar("ready", default=MappingProxyType({}))
"""Fragments of the page that is begun again; no cache pushes them out before the page is done."""


def each(makes: Iterable[Callable[[], Value]]) -> tuple[Value, ...]:
    """The results in order. Raises `FragmentPending` for all that are pending at once."""
    values, works = list[Value](), dict[Hashable, Callable[[], object]]()
    for make in makes:
        try:
            values.append(make())
        except FragmentPending as pending:
            works |= pending.works
    if works:
        raise FragmentPending(works)
    return tuple(values)


class Rendering(Protocol):
    """The pure helpers of assembly, implemented by `builder.adapters.templates`."""

    @property
    def revision(self) -> str:
        """Hash of all templates."""

    @property
    def phrases(self) -> Phrases:
        """The fixed phrases of the page."""

    def for_pages(self, language: str, tokens: int) -> "Rendering":
        """The same for pages of this language and of so many tokens."""

    def fragment(
        self,
        breadcrumb: Breadcrumb,
        form: RenderForm,
        label: str,
        page: str,
        cap: int | None = None,
        hints: HintChoice = NO_CHOICE,
        question: str = "",
    ) -> Fragment:
        """Render in this form for this page, cut to `cap` tokens with its line end; None = not cut.

        label: who speaks. hints: of consumer, record and definition. question: a cut keeps what is nearest to it.
        """

    def page(self, page: str, sections: tuple[PageSection, ...]) -> Layout:
        """The finished markdown."""

    def fragment_spans(self, page: str, sections: tuple[PageSection, ...]) -> tuple[tuple[int, int], ...]:
        """Character spans of the fragments in the text of `page`, in order; () when the template moves or changes one."""

    def heading_tokens(self, page: str, name: str, title: str) -> int:
        """Tokens that a section costs beside its fragments."""

    def date_tokens(self, page: str, date: str) -> int:
        """Tokens of one date line."""

    def count(self, text: str) -> int:
        """True tokens."""

    def page_tokens(self, text: str) -> int:
        """True tokens of a page, of which most parts have been counted before."""

    def shortened(self, text: str, tokens: int) -> str:
        """Cut to so many tokens with its line end; "" = no room."""

    def call(self, breadcrumb: Breadcrumb, request: str) -> Call:
        """The tool call that it makes under a request id."""

    def images(self, breadcrumb: Breadcrumb) -> tuple[Image, ...]:
        """The pictures in its body that chat APIs take."""

    def picture_sizes(self, breadcrumb: Breadcrumb) -> tuple[Size, ...]:
        """Of the same pictures."""
