"""A context as the messages of a chat API, before any provider's shape (features G2)."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class Image:
    """A picture of a body (features C9). data: base64, "" when it only has an address. media: "" when it is not known."""

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
    """A call and its answer: there is none without the other (features A8). text: of all its results, in order. ids: theirs."""

    call: Call
    text: str
    ids: tuple[str, ...]
    failed: bool
    images: tuple[Image, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """text: fragments of the page, "" only where there are exchanges.

    ids: breadcrumbs that the text shows, or that make the calls; results have their own.
    breakpoint: name of the place behind it at which a prompt cache may cut; "" = none.
    """

    role: Literal["system", "user", "assistant"]
    text: str
    ids: tuple[str, ...]
    exchanges: tuple[Exchange, ...] = ()
    images: tuple[Image, ...] = ()
    breakpoint: str = ""
