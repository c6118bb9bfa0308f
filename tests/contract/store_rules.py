"""How breadcrumbs of one store stand to each other, said again for the model of the state machine."""

import json
from dataclasses import replace

from builder.domain.breadcrumb import NO_SESSION, Breadcrumb, Place
from builder.domain.stored import StoredBreadcrumb

Key = tuple[str, str, int]


def is_trace(row: StoredBreadcrumb) -> bool:
    """Whether it is a result of a session, whose call stays answered when it is erased."""
    return bool(row.breadcrumb.calls) and row.breadcrumb.session != NO_SESSION


def of_model(row: StoredBreadcrumb, model: str) -> StoredBreadcrumb:
    """The row without vectors of another model."""
    if row.model == model:
        return row
    return replace(row, passages=tuple(replace(passage, vector=b"") for passage in row.passages), model=model)


def key_of(crumb: Breadcrumb) -> Key:
    return crumb.workspace, crumb.id, crumb.version


def position(crumb: Breadcrumb) -> tuple[str, str, Place]:
    return crumb.workspace, crumb.session, crumb.place


def by_place(crumb: Breadcrumb) -> tuple[Place, str]:
    return crumb.place, crumb.session


def oldest_first(crumb: Breadcrumb) -> tuple[Place, str, str]:
    return crumb.place, crumb.workspace, crumb.session


def closes(crumb: Breadcrumb) -> bool:
    """Whether it takes another one away, which would be back without it."""
    return crumb.removes not in ("", crumb.id)


def is_near(other: Breadcrumb, crumb: Breadcrumb) -> bool:
    return other.workspace == crumb.workspace and other.session in (crumb.session, NO_SESSION)


def removes(other: Breadcrumb, crumb: Breadcrumb) -> bool:
    """Whether the other one is a tombstone of it, or the trace of a later version."""
    return other.removes == crumb.id and other.place > crumb.place and is_near(other, crumb)


def replaces(other: Breadcrumb, crumb: Breadcrumb) -> bool:
    """Whether the other one is a higher version of it, whichever came first."""
    return other.id == crumb.id and other.version > crumb.version and is_near(other, crumb)


def is_version(crumb: Breadcrumb, other: Breadcrumb) -> bool:
    return (crumb.workspace, crumb.session, crumb.id) == (other.workspace, other.session, other.id)


def size(row: StoredBreadcrumb) -> int:
    """Bytes of its texts, lists and vectors."""
    crumb = row.breadcrumb
    lists = (crumb.tags, crumb.calls, crumb.pointers, crumb.call_signatures, crumb.covers)
    texts = (crumb.body, crumb.text, *map(json.dumps, lists), *(passage.terms for passage in row.passages))
    vectors = sum(len(passage.vector) for passage in row.passages)
    return sum(len(text.encode("utf-8", "surrogatepass")) for text in texts) + vectors
