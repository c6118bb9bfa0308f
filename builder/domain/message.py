"""A context as the messages of a chat API, before any provider's shape."""

from dataclasses import dataclass
from typing import Literal

OPENING = "…"
"""The user's text in front of a conversation that begins with the assistant: Anthropic wants the user first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Image:
    """A picture of a body. data: base64, "" when it only has an address. media: "" when it is not known."""

    media: str = ""
    data: str = ""
    url: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A tool call as it was made. id: its request id. arguments: a JSON object as text."""

    id: str
    tool: str
    arguments: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """A call and its answer: providers take none without the other.

    results: texts of its results, in order, never none. ids: of the results; () where there is none yet.
    """

    call: Call
    results: tuple[str, ...]
    ids: tuple[str, ...]
    failed: bool
    images: tuple[Image, ...] = ()


@dataclass(frozen=True, slots=True)
class Part:
    """A text that stands by itself. is_note: it is the builder's; else somebody wrote it, and it stands as it was written."""

    text: str
    is_note: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """parts: none where there is nothing but exchanges or images; the assistant's are never notes.

    ids: breadcrumbs that the parts show, or that make the calls; results have their own.
    breakpoint: name of the place behind it at which a prompt cache may cut; "" = none.
    """

    role: Literal["system", "user", "assistant"]
    parts: tuple[Part, ...]
    ids: tuple[str, ...]
    exchanges: tuple[Exchange, ...] = ()
    images: tuple[Image, ...] = ()
    breakpoint: str = ""
