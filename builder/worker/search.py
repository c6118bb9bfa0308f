"""The handler of the request `search`: a question of its own, without a page."""

import uuid
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any, Literal

from builder.domain.breadcrumb import NO_SESSION, Breadcrumb, Place
from builder.domain.control_text import visible
from builder.domain.errors import Rejected
from builder.domain.profile import Profile
from builder.domain.recall import EVERY_SESSION
from builder.recall.index.view import View
from builder.recall.search.candidates import Find
from builder.remember.decode import decode
from builder.service import ContextBuilder
from builder.wire.records import make_record, outgoing
from builder.wire.requests import SearchRequest, read_request
from builder.wire.subjects import check_token
from builder.wire.times import moment
from builder.worker.log import Log
from builder.worker.request_handlers import Verb

PROFILE = "default"
"""Its `retrieval` says which schemas are searched, and what is left out."""


class Search:
    """Answers `search`."""

    def __init__(self, log: Log, builder: Callable[[], ContextBuilder], profile: Callable[[str], Profile]) -> None:
        """builder: the present one. profile: name → profile; raises `Misconfigured`."""
        self._log = log
        self._builder = builder
        self._profile = profile

    @property
    def verbs(self) -> Mapping[str, Verb]:
        """Name in the subject → handler."""
        return {"search": self.search}

    async def search(self, workspace: str, data: bytes) -> dict[str, Any]:
        """See `SearchRequest`."""
        request = read_request(SearchRequest, data)
        if request.session and request.user:
            raise Rejected(
                "a search is that of a session, of a person, or of the workspace; name one of `session` and `user`, or none"
            )
        until = await self._log.last()
        for session in (check_token(request.session, "session"), NO_SESSION) if request.session else (EVERY_SESSION,):
            await self._log.catch_up(workspace, session, until.next)
        until = Place(until.incarnation, request.before) if request.before else until.next
        question = _question(request, workspace, until, self._log.now())
        view, finds = await self._builder().search(question, _searching(self._profile(PROFILE), request), request.limit)
        return {"passages": [_passage(view, find) for find in finds]}


def _searching(profile: Profile, request: SearchRequest) -> Profile:
    scope: Literal["session", "user", "workspace"] = "session" if request.session else "user" if request.user else "workspace"
    schemas = request.schemas or profile.retrieval.schemas
    retrieval = replace(profile.retrieval, scope=scope, schemas=schemas)
    return replace(profile, retrieval=retrieval)


def _question(request: SearchRequest, workspace: str, place: Place, now: datetime) -> Breadcrumb:
    record = make_record(
        "user.message.v1", str(uuid.uuid4()), request.session or NO_SESSION, {"content": request.text}, user_id=request.user
    )
    return decode(outgoing(record, workspace).arrive(place, now))


def _passage(view: View, find: Find) -> dict[str, Any]:
    crumb = view.breadcrumb(find.row)
    texts = [crumb.text[start:end] for start, end in find.spans] or [crumb.text]
    return {
        "id": crumb.id,
        "schema_name": crumb.schema,
        "session": crumb.session,
        "seq": crumb.place.sequence,
        "speaker": visible(crumb.speaker),
        "user_id": crumb.user_id or None,
        "created_at": moment(crumb.created_at, crumb.utc_offset),
        "text": visible(" … ".join(texts)),
        "probability": round(find.probability, 4),
    }
