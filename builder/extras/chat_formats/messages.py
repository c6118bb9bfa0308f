"""A page as messages, before a provider's shape."""

from dataclasses import dataclass
from typing import Literal

from builder.assemble.items.rendering import Image
from builder.remember.calls import Call


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """A call and its answer: providers take none alone."""

    call: Call
    results: tuple[str, ...]
    """Texts of the results in order, at least one."""
    ids: tuple[str, ...]
    """Breadcrumbs of the results; () where none came yet."""
    failed: bool
    images: tuple[Image, ...] = ()


@dataclass(frozen=True, slots=True)
class MessagePart:
    """A text by itself."""

    text: str
    is_note: bool = False
    """The builder wrote it; all other text is as its author wrote it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One message with the exchanges that follow from it."""

    role: Literal["system", "user", "assistant"]
    parts: tuple[MessagePart, ...] = ()
    """Empty where there is nothing but exchanges or images; the assistant's are never notes."""
    ids: tuple[str, ...] = ()
    """Breadcrumbs that the parts show, or that make the calls; results have their own."""
    exchanges: tuple[Exchange, ...] = ()
    images: tuple[Image, ...] = ()
    breakpoint: str = ""
    """Name of the breakpoint after it; "" = none."""
