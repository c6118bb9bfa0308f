"""Breadcrumbs, sessions and search results, as the service answers; frozen."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from pydantic import BeforeValidator, Field

from builder.domain.json_values import JsonObject
from builder.wire.subjects import session_text

Session = Annotated[str, BeforeValidator(lambda token: session_text(token) if isinstance(token, str) else token)]
"""As the client was given it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BreadcrumbRecord:
    """A breadcrumb as the service has stored it."""

    id: str
    version: int
    """From 1."""
    schema: Annotated[str, Field(alias="schema_name")]
    workspace: str
    session: Session
    sequence: Annotated[int, Field(alias="seq")]
    speaker: str
    """Display name."""
    user_id: str | None
    """None = unknown."""
    created_at: datetime
    """By the sender's clock, with its offset."""
    expires_at: datetime | None
    """None = never."""
    tags: tuple[str, ...]
    to: tuple[str, ...] = ()
    """Agents that it is for; () = everybody."""
    text: str
    """Shown on pages and searched."""
    body: Annotated[JsonObject, Field(alias="context")]


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionEnd:
    """A session, by its newest breadcrumb."""

    session: Session
    sequence: Annotated[int, Field(alias="seq")]
    created_at: datetime
    """By the sender's clock, with its offset."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchResult:
    """A passage that answers a search."""

    id: str
    """Id of its breadcrumb; `fetch` gives the whole."""
    schema: Annotated[str, Field(alias="schema_name")]
    session: Session
    sequence: Annotated[int, Field(alias="seq")]
    speaker: str
    """Display name."""
    user_id: str | None
    """None = unknown."""
    created_at: datetime
    """By the sender's clock, with its offset."""
    text: str
    probability: float
    """That it answers the question."""
