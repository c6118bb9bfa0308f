"""Answers to requests: breadcrumbs, and the places by which a page of them names the next one."""

import json

from builder.domain.breadcrumb import Breadcrumb, Place
from builder.domain.control_text import visible
from builder.domain.json_values import JsonObject
from builder.wire.times import moment


def breadcrumb_json(crumb: Breadcrumb) -> JsonObject:
    """A stored breadcrumb for people and agents: control text in its words is marks, `context` is as it was sent."""
    return {
        "id": crumb.id,
        "version": crumb.version,
        "schema_name": crumb.schema,
        "workspace": crumb.workspace,
        "session": crumb.session,
        "seq": crumb.place.sequence,
        "speaker": visible(crumb.speaker),
        "user_id": crumb.user_id or None,
        "created_at": moment(crumb.created_at, crumb.utc_offset),
        "expires_at": moment(crumb.expires_at) if crumb.expires_at else None,
        "tags": crumb.tags,
        "to": crumb.to,
        "text": visible(crumb.text),
        "context": json.loads(crumb.body),
    }


def cursor(place: Place) -> str:
    """A place as `next` gives it."""
    return f"{place.incarnation}.{place.sequence}"


def place_of(text: str, incarnation: int = 0) -> Place:
    """A place as `after` gives it. incarnation: of the stream, for a sequence alone."""
    first, dot, second = text.partition(".")
    return Place(int(first), int(second)) if dot else Place(incarnation, int(first))
