"""Answers to requests: breadcrumbs and sessions."""

import json
from typing import Any

from builder.domain.breadcrumb import Breadcrumb
from builder.domain.control_text import visible
from builder.wire.times import moment


def breadcrumb_json(crumb: Breadcrumb) -> dict[str, Any]:
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


def session_json(crumb: Breadcrumb) -> dict[str, Any]:
    """A session by its newest breadcrumb."""
    return {"session": crumb.session, "seq": crumb.place.sequence, "created_at": moment(crumb.created_at, crumb.utc_offset)}
