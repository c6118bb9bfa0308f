"""The question that the store answers for a page, and its answer."""

from dataclasses import dataclass

from builder.domain.breadcrumb import Place
from builder.domain.selector import Pinned
from builder.domain.stored import StoredBreadcrumb

EVERY_SESSION = "*"
"""All sessions, in place of a session's name, as in a NATS subject. No session can have this name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """Sessions of one workspace, or of one person in it."""

    workspace: str
    sessions: tuple[str, ...]
    """In order and each once, or only EVERY_SESSION."""
    user: str = ""
    """A person. Every session in which this person (`user_id`) has spoken belongs to the scope from the first words on, with what
    agents said before unless another person spoke; not so when its first breadcrumb is private. The trigger's own session belongs
    to it from the trigger on at the latest."""
    shared: tuple[str, ...] = ()
    """Schemas, in order and each once, whose breadcrumbs of no session belong to every session.

    So does a later version of such a breadcrumb whatever its schema is, because it ends the earlier one. A version that comes
    after a higher one never counts.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallQuery:
    """The first `limit` rows of a scope in a span of places. Scope and session are always named."""

    scope: Scope
    session: str
    after: Place
    """Exclusive: the caller has everything up to it."""
    until: Place
    """Inclusive."""
    limit: int
    pinned: tuple[Pinned, ...]
    """Read beside the rows as of `until`, from the session or from no session; their sections do not matter here."""
    model: str
    searched: bool = True
    """Whether terms and vectors of passages are read; without a search nothing needs them."""


@dataclass(frozen=True, slots=True)
class Recall:
    """The answer to a `RecallQuery`."""

    rows: tuple[StoredBreadcrumb, ...]
    """In place order."""
    pinned: tuple[tuple[StoredBreadcrumb, ...], ...]
    """For each `Pinned` of the query its breadcrumbs, newest first."""
    revision: int
    """Number of later changes to rows of the scope: erasures, and answers that moved to another session.

    Rows read under another revision are out of date.
    """
