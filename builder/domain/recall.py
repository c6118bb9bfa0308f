"""The question that the store answers, and its answer."""

from dataclasses import dataclass

from builder.domain.breadcrumb import Place
from builder.domain.facts import Remembered


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallQuery:
    """Everything of one session in a span of places. Workspace and session cannot be left out.

    after, until: places; `after` exclusive (what the caller already holds), `until` inclusive.
    standing: schemas of which the latest breadcrumb before or at `until` is wanted, from the session or from no session.
    model: the engine whose vectors are wanted.
    """

    workspace: str
    session: str
    after: Place
    until: Place
    standing: tuple[str, ...]
    model: str


@dataclass(frozen=True, slots=True)
class Recall:
    """rows: in place order. standing: the latest of each asked schema, in the order asked.

    revision: how often vectors of the session were filled in later. Rows of two revisions are never put together.
    """

    rows: tuple[Remembered, ...]
    standing: tuple[Remembered, ...]
    revision: int
