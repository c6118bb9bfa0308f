"""Which summaries an erasure takes along."""

import json
from collections.abc import Iterable
from itertools import chain

from builder.domain.breadcrumb import SUMMARY, Breadcrumb
from builder.domain.json_values import texts


def made_from(summaries: Iterable[Breadcrumb], identities: Iterable[str]) -> tuple[Breadcrumb, ...]:
    """The summaries that cover or name one of these ids, and those made from them; not those that have one of the ids."""
    sources = set(identities)
    waiting = [
        (crumb, frozenset(chain(crumb.covers, texts(json.loads(crumb.body)))))
        for crumb in summaries
        if crumb.schema == SUMMARY and crumb.id not in sources
    ]
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
