"""The question that the store answers, and its answer."""

from dataclasses import dataclass

from builder.domain.breadcrumb import Place
from builder.domain.selector import Pinned
from builder.domain.stored_breadcrumb import StoredBreadcrumb

EVERY_SESSION = "*"
"""In place of a session's name: all of them, as in a NATS subject. No session can have this name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """Where to look: sessions of one workspace, in order and each once, or only EVERY_SESSION.

    shared: schemas, in order and each once, of which what is of no session belongs to every one. So does a later version of it
    whatever its schema is, because it ends the earlier one; what came behind a higher version never counts and does not.
    """

    workspace: str
    sessions: tuple[str, ...]
    shared: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallQuery:
    """The first `limit` rows of a scope in a span of places. Scope and session cannot be left out.

    after, until: places; `after` exclusive (what the caller already holds), `until` inclusive.
    session: the trigger's own.
    pinned: what is wanted beside them as of `until`, from the session or from no session; their sections do not matter here.
    model: the engine whose vectors are wanted.
    """

    scope: Scope
    session: str
    after: Place
    until: Place
    limit: int
    pinned: tuple[Pinned, ...]
    model: str


@dataclass(frozen=True, slots=True)
class Recall:
    """rows: in place order. pinned: for each that was asked, what was found, newest first.

    revision: how often rows of the scope changed later, because something was erased, or what had joined one session joined
    another: rows read under another one are out of date.
    """

    rows: tuple[StoredBreadcrumb, ...]
    pinned: tuple[tuple[StoredBreadcrumb, ...], ...]
    revision: int
