"""How one breadcrumb takes another off: by a later version, by a tombstone, or because it was made from it."""

import json
from collections.abc import Iterable, Iterator
from typing import Any

from builder.domain.breadcrumb import NO_SESSION, Breadcrumb
from builder.domain.summary import SUMMARY


def removed_by(crumb: Breadcrumb, other: Breadcrumb) -> bool:
    """Whether the other one is a tombstone of it, or what is left of a later version."""
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
    gone = set(identities)
    left = [(crumb, _names(crumb)) for crumb in summaries if crumb.schema == SUMMARY and crumb.id not in gone]
    found: list[Breadcrumb] = []
    while taken := [crumb for crumb, names in left if names & gone]:
        left = [(crumb, names) for crumb, names in left if not names & gone]
        found += taken
        gone = {crumb.id for crumb in taken}
    return tuple(found)


def ids_by_session(crumbs: Iterable[Breadcrumb]) -> dict[tuple[str, str], set[str]]:
    """The ids of breadcrumbs by workspace and session."""
    found: dict[tuple[str, str], set[str]] = {}
    for crumb in crumbs:
        found.setdefault((crumb.workspace, crumb.session), set()).add(crumb.id)
    return found


def _names(summary: Breadcrumb) -> frozenset[str]:
    """What it covers, and every text of its body, for any may be an id."""
    return frozenset((*summary.covers, *_texts(json.loads(summary.body))))


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _texts(item)
    elif isinstance(value, str):
        yield value
