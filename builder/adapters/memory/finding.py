"""What the memory store finds, as pure functions of its rows: the model of what SQL finds elsewhere."""

from collections.abc import Iterable
from dataclasses import replace

from builder.domain.breadcrumb import NO_SESSION, Breadcrumb, Place
from builder.domain.facts import Remembered
from builder.domain.recall import EVERY_SESSION, Scope
from builder.domain.selector import Standing

Where = tuple[str, str, Place]
Joined = dict[Where, str]
"""Where a tool's answer of no session stands → the session that it joined."""


def inside(session: str, scope: Scope) -> bool:
    """Whether the scope names the session."""
    return scope.sessions == (EVERY_SESSION,) or session in scope.sessions


def belongs(crumb: Breadcrumb, scope: Scope, joined: Joined) -> bool:
    """Tombstones of no session belong to every scope, and so does what joined one of its sessions."""
    if inside(crumb.session, scope) or joined.get(where(crumb)) in scope.sessions:
        return True
    return crumb.session == NO_SESSION and crumb.removes != ""


def joins(rows: Iterable[Breadcrumb]) -> Joined:
    """Which session each tool's answer of no session joins (features A8).

    That of whoever asked last before. rows: of one workspace.
    """
    callers: dict[str, str] = {}
    found: dict[Where, str] = {}
    for crumb in sorted(rows, key=in_order):
        callers.update(dict.fromkeys(crumb.asks_for, crumb.session))
        if crumb.joins_by in callers:
            found[where(crumb)] = callers[crumb.joins_by]
    return found


def in_order(crumb: Breadcrumb) -> tuple[Place, str]:
    """To sort breadcrumbs of a workspace."""
    return crumb.place, crumb.session


def where(crumb: Breadcrumb) -> Where:
    """Where it stands."""
    return crumb.workspace, crumb.session, crumb.place


def oldest_first(crumb: Breadcrumb) -> tuple[Place, str, str]:
    """To sort breadcrumbs of all workspaces."""
    return crumb.place, crumb.workspace, crumb.session


def standing(until: list[Remembered], wanted: Standing, session: str) -> list[Remembered]:
    """What the selector means of the session and of none, newest first. until: rows up to a place, in place order."""
    near = [row for row in until if row.breadcrumb.session in (session, NO_SESSION)]
    kept = (row for row in reversed(near) if wanted.selector.matches(row.breadcrumb) and not row.breadcrumb.removes)
    found = [row for row in kept if not _is_gone(row, near)]
    return found[: wanted.most]


def _is_gone(row: Remembered, near: list[Remembered]) -> bool:
    later = (other.breadcrumb for other in near if other.breadcrumb.place > row.breadcrumb.place)
    return any(row.breadcrumb.id in (other.id, other.removes) for other in later)


def of_model(row: Remembered, model: str) -> Remembered:
    """The row without vectors of another model."""
    if row.model == model:
        return row
    passages = tuple(replace(held, vector=b"") for held in row.passages)
    return Remembered(breadcrumb=row.breadcrumb, passages=passages, model=model, fingerprint=row.fingerprint)
