"""How one breadcrumb takes another off: by a later version, by a tombstone, or because it was made from it."""

import json
from typing import Any

from builder.domain.breadcrumb import NO_SESSION, Breadcrumb
from builder.domain.facts import SUMMARY


def removed_by(crumb: Breadcrumb, other: Breadcrumb) -> bool:
    """Whether the other one is a tombstone of it, or what is left of a later version."""
    return other.removes == crumb.id and _reaches(crumb, other)


def replaced_by(crumb: Breadcrumb, other: Breadcrumb) -> bool:
    """Whether the other one is a later version of it."""
    return other.id == crumb.id and _reaches(crumb, other)


def _reaches(crumb: Breadcrumb, other: Breadcrumb) -> bool:
    """Whether the other one came later, in the same session or in none."""
    near = other.workspace == crumb.workspace and other.session in (crumb.session, NO_SESSION)
    return near and other.place > crumb.place


def is_same(crumb: Breadcrumb, other: Breadcrumb) -> bool:
    """Whether both are versions of one breadcrumb of one session."""
    return (crumb.workspace, crumb.session, crumb.id) == (other.workspace, other.session, other.id)


def is_made_from(crumb: Breadcrumb, identity: str) -> bool:
    """Whether this is a summary that was made from another breadcrumb: it covers it, or its body names it."""
    if crumb.schema != SUMMARY or crumb.id == identity:
        return False
    return identity in crumb.covers or _holds(json.loads(crumb.body), identity)


def _holds(value: Any, text: str) -> bool:
    if isinstance(value, dict | list):
        return any(_holds(item, text) for item in (value.values() if isinstance(value, dict) else value))
    return bool(value == text)
