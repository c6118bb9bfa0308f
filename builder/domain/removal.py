"""How one breadcrumb takes another off: by a later version, by a tombstone, or because it was made from it."""

import json
from collections.abc import Iterable
from itertools import chain

from builder.domain.breadcrumb import NO_SESSION, Breadcrumb
from builder.domain.json_text import texts
from builder.domain.summary import SUMMARY


def removed_by(crumb: Breadcrumb, other: Breadcrumb) -> bool:
    """Whether the other one is a tombstone of it, or the trace of a later version."""
    return other.removes == crumb.id and other.place > crumb.place and _is_near(crumb, other)


def replaced_by(crumb: Breadcrumb, other: Breadcrumb) -> bool:
    """Whether the other one is a higher version of it, whichever came first."""
    return other.id == crumb.id and other.version > crumb.version and _is_near(crumb, other)


def _is_near(crumb: Breadcrumb, other: Breadcrumb) -> bool:
    """Whether the other one is of the same session or of none."""
    return other.workspace == crumb.workspace and other.session in (crumb.session, NO_SESSION)


def is_same(crumb: Breadcrumb, other: Breadcrumb) -> bool:
    """Whether both are versions of one breadcrumb of one session."""
    return (crumb.workspace, crumb.session, crumb.id) == (other.workspace, other.session, other.id)


def made_from(summaries: Iterable[Breadcrumb], identities: Iterable[str]) -> tuple[Breadcrumb, ...]:
    """The summaries that cover or name one of these ids, and those that name one of them in turn: any may repeat its words.

    Summaries that have one of these ids themselves are left out.
    """
    sources = set(identities)
    waiting = [(crumb, _names(crumb)) for crumb in summaries if crumb.schema == SUMMARY and crumb.id not in sources]
    derived: list[Breadcrumb] = []
    while sources:
        level = [crumb for crumb, names in waiting if names & sources]
        waiting = [(crumb, names) for crumb, names in waiting if not names & sources]
        derived += level
        sources = {crumb.id for crumb in level}
    return tuple(derived)


def ids_by_session(crumbs: Iterable[Breadcrumb]) -> dict[tuple[str, str], set[str]]:
    """The ids of breadcrumbs by workspace and session."""
    ids: dict[tuple[str, str], set[str]] = {}
    for crumb in crumbs:
        ids.setdefault((crumb.workspace, crumb.session), set()).add(crumb.id)
    return ids


def _names(summary: Breadcrumb) -> frozenset[str]:
    """The ids that it covers, and every text of its body, because any may be an id."""
    return frozenset(chain(summary.covers, texts(json.loads(summary.body))))
