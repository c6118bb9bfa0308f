"""What an erasure takes along: summaries that were made from the breadcrumb."""

import json
from collections.abc import Iterable
from itertools import chain

from builder.domain.breadcrumb import Breadcrumb
from builder.domain.json_text import texts
from builder.domain.summary import SUMMARY


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
