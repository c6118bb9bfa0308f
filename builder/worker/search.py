"""The handler of the request `search`: a question of its own, without a page."""

import uuid
from dataclasses import replace
from datetime import datetime
from typing import Literal

from builder.domain.breadcrumb import NO_SESSION, Breadcrumb, Place
from builder.domain.control_text import visible
from builder.domain.errors import Rejected
from builder.domain.json_values import JsonObject
from builder.domain.profile import Profile
from builder.domain.recall import EVERY_SESSION
from builder.recall.index.view import View
from builder.recall.search.candidates import Find
from builder.remember.calls import call_words
from builder.remember.decode import decode
from builder.wire.records import make_record, outgoing
from builder.wire.requests import SearchRequest
from builder.wire.subjects import check_token
from builder.wire.times import moment
from builder.worker.requests import Host

PROFILE = "default"
"""Its `retrieval` says which schemas are searched, and what is left out."""


async def search(host: Host, workspace: str, request: SearchRequest) -> JsonObject:
    """See `SearchRequest`."""
    if request.session and request.user_id:
        raise Rejected(
            "a search is that of a session, of a person, or of the workspace; name one of `session` and `user_id`, or none"
        )
    until = await host.log.last()
    for session in (check_token(request.session, "session"), NO_SESSION) if request.session else (EVERY_SESSION,):
        await host.log.catch_up(workspace, session, until.next)
    until = Place(until.incarnation, request.before) if request.before else until.next
    question = _question(request, workspace, until, host.log.now())
    view, finds = await host.builder().search(question, _searching(host.profile(PROFILE), request), request.limit)
    return {"passages": [_passage(view, find) for find in finds]}


def _searching(profile: Profile, request: SearchRequest) -> Profile:
    scope: Literal["session", "user", "workspace"] = "session" if request.session else "user" if request.user_id else "workspace"
    schemas = request.schemas or profile.retrieval.schemas
    retrieval = replace(profile.retrieval, scope=scope, schemas=schemas)
    return replace(profile, retrieval=retrieval)


def _question(request: SearchRequest, workspace: str, place: Place, now: datetime) -> Breadcrumb:
    record = make_record(
        "user.message.v1", str(uuid.uuid4()), request.session or NO_SESSION, {"content": request.text}, user_id=request.user_id
    )
    return decode(outgoing(record, workspace).arrive(place, now))


def _passage(view: View, find: Find) -> JsonObject:
    crumb = view.breadcrumb(find.row)
    texts = [crumb.text[start:end] for start, end in find.spans] or [crumb.text]
    lines = filter(None, (" … ".join(texts), call_words(crumb)))
    return {
        "id": crumb.id,
        "schema_name": crumb.schema,
        "session": crumb.session,
        "seq": crumb.place.sequence,
        "speaker": visible(crumb.speaker),
        "user_id": crumb.user_id or None,
        "created_at": moment(crumb.created_at, crumb.utc_offset),
        "text": visible("\n".join(lines)),
        "probability": round(find.probability, 4),
    }
