"""A context as the messages of a chat API, before any provider's shape."""

from dataclasses import dataclass
from typing import Literal

OPENING = "…"
"""The user's text in front of a conversation that begins with the assistant, which Anthropic does not take."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Image:
    """A picture of a body."""

    media: str = ""
    """Media type; "" = unknown."""
    data: str = ""
    """Base64; "" = it only has an address."""
    url: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A tool call."""

    id: str
    """Its request id."""
    tool: str
    arguments: str
    """A JSON object as text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """A call and its answer: providers take none without the other."""

    call: Call
    results: tuple[str, ...]
    """Texts of the results in order, at least one."""
    ids: tuple[str, ...]
    """Breadcrumbs of the results; () where none came yet."""
    failed: bool
    images: tuple[Image, ...] = ()


@dataclass(frozen=True, slots=True)
class Part:
    """A text that stands by itself."""

    text: str
    is_note: bool = False
    """The builder wrote it; all other text stands as its author wrote it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One message with the exchanges that follow from it."""

    role: Literal["system", "user", "assistant"]
    parts: tuple[Part, ...]
    """Empty where there is nothing but exchanges or images; the assistant's are never notes."""
    ids: tuple[str, ...]
    """Breadcrumbs that the parts show, or that make the calls; results have their own."""
    exchanges: tuple[Exchange, ...] = ()
    images: tuple[Image, ...] = ()
    breakpoint: str = ""
    """Name of the place behind it at which a prompt cache may cut; "" = none."""
