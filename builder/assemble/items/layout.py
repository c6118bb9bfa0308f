"""The parts of a page, and the pure helpers that render them."""

import math
from collections.abc import Callable, Hashable, Iterable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Protocol, TypeVar

from builder.assemble.items.forms import RenderForm
from builder.assemble.items.hint_choice import NO_CHOICE, HintChoice
from builder.domain.breadcrumb import Breadcrumb
from builder.domain.context import Fragment
from builder.domain.message import Call, Image
from builder.domain.phrases import Phrases

Value = TypeVar("Value")


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Fragments under one date line."""

    date: str
    """Empty where the section has no date lines."""
    fragments: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PageSection:
    """A section as the page template gets it."""

    name: str
    title: str
    groups: tuple[Group, ...]
    note: str = ""
    """A line of ours in front of the fragments."""


@dataclass(frozen=True, slots=True)
class Layout:
    """A page that is laid out."""

    text: str
    ends: tuple[int, ...] = ()
    """Characters up to the end of the last fragment of each section; () when the template moves sections."""
    failed: bool = False
    """The profile's template failed, so a bundled one laid the page out."""


class FragmentPending(Exception):  # noqa: N818 - nothing failed
    """Fragments take long and are not made yet, where the caller has asked to be told so."""

    def __init__(self, works: Mapping[Hashable, Callable[[], object]]) -> None:
        """works: make a fragment each, in any thread; the page can be begun again once `READY` has all under their keys."""
        super().__init__()
        self.works = works


PENDING_CHARS: ContextVar[float] = ContextVar("pending_chars", default=math.inf)
"""Body and text of more characters take long."""
READY: ContextVar[Mapping[Hashable, Any]] = ContextVar("ready", default=MappingProxyType({}))
"""Fragments of the page that is begun again; no cache pushes them out before the page is done."""


def each(makes: Iterable[Callable[[], Value]]) -> tuple[Value, ...]:
    """What each of them gives. Raises `FragmentPending` for all of them at once, so that a page begins again a few times only."""
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
        """Render in this form for this page, cut to `cap` tokens with its line end counted; None = nothing is cut.

        label: who speaks, as the page names them. hints: those of the consumer, the record and the schema's definition.
        question: a cut leaves its ends and the passages that are nearest to it; "" = the ends alone.
        """

    def page(self, page: str, sections: tuple[PageSection, ...]) -> Layout:
        """The finished markdown."""

    def fragment_spans(self, page: str, sections: tuple[PageSection, ...]) -> tuple[tuple[int, int], ...]:
        """Where each fragment stands in the text of `page`, in characters, in the order of the sections and their groups.

        () when the template shows one twice, or changes one.
        """

    def heading_tokens(self, page: str, name: str, title: str) -> int:
        """Tokens that a section costs beside its fragments."""

    def date_tokens(self, page: str, date: str) -> int:
        """Tokens of one date line."""

    def count(self, text: str) -> int:
        """True tokens."""

    def page_tokens(self, text: str) -> int:
        """True tokens of a page, of which most parts have been counted before."""

    def shortened(self, text: str, tokens: int) -> str:
        """The text cut to so many tokens with its line end; empty when nothing of it has room."""

    def call(self, breadcrumb: Breadcrumb, request: str) -> Call:
        """The tool call that it makes under a request id."""

    def images(self, breadcrumb: Breadcrumb) -> tuple[Image, ...]:
        """The pictures in its body that chat APIs take."""
