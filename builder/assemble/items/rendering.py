"""The pure helpers that render a page."""

from dataclasses import dataclass
from typing import Protocol

from builder.assemble.items.forms import RenderForm
from builder.assemble.items.hint_choice import NO_CHOICE, HintChoice
from builder.domain.breadcrumb import Breadcrumb
from builder.domain.context import Fragment
from builder.domain.phrases import Phrases
from builder.remember.calls import Call

Size = tuple[int, int]
"""Width and height of a picture in pixels."""
UNKNOWN_SIZE: Size = (0, 0)


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Image:
    """A picture of a body."""

    media: str = ""
    data: str = ""
    """Base64; "" = it only has an address."""
    url: str = ""


@dataclass(frozen=True, slots=True)
class Layout:
    """A page that is laid out."""

    text: str
    ends: tuple[int, ...] = ()
    """Characters up to the end of the last fragment of each section; () when the template moves sections."""
    failed: bool = False
    """The profile's template failed, so a bundled one laid the page out."""


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
        """The sizes of the same pictures."""
