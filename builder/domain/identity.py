"""Who may stand under an id: later versions have the session, schema and speaker of the first one, and a tombstone closes it.

Everything is decided by place, so a store that is made again from the stream decides the same.
"""

import json
from dataclasses import dataclass
from datetime import datetime

from builder.domain.breadcrumb import (
    AGENT_RESPONSE,
    MOVE,
    NO_SESSION,
    SUMMARY,
    TOOL_ERROR,
    TOOL_REQUEST,
    TOOL_RESPONSE,
    USER_MESSAGE,
    Breadcrumb,
    Place,
    Role,
)
from builder.domain.json_text import canonical_text

MESSAGES = frozenset({USER_MESSAGE, AGENT_RESPONSE, TOOL_REQUEST, TOOL_RESPONSE, TOOL_ERROR})
"""Schemas whose later versions are the speaker's own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """The facts of a version that the rule compares."""

    place: Place
    session: str
    schema: str
    role: Role
    user_id: str
    expires_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """A tombstone or a secret, which closes the id, or a note that its breadcrumb moved."""

    place: Place
    session: str
    to: str = ""
    """The session to which it moved; "" = closed."""
    secret: Version | None = None
    """The secret: unlike a tombstone it closes only what it may be a version of."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """The versions and marks that are stored under an id."""

    first: Version | None = None
    """The lowest place, traces and secrets included."""
    spoken: Version | None = None
    """The lowest place of what can be read: a trace says nothing of its speaker."""
    marks: tuple[Mark, ...] = ()
    """In any order."""

    @property
    def is_ended(self) -> bool:
        """Whether a tombstone or a secret stands under it."""
        return any(not mark.to for mark in self.marks)

    def with_crumb(self, crumb: Breadcrumb, name: str) -> "Identity":
        """With one more, which has this id or marks it. A trace marks nothing."""
        version, is_own = _version(crumb), crumb.id == name
        to = json.loads(crumb.body)["session"] if crumb.schema == MOVE and not is_own else ""
        new = Mark(place=crumb.place, session=crumb.session, to=to, secret=version if is_own else None)
        mark = (new,) if crumb.removes == name and not crumb.is_erased else ()
        return Identity(
            first=_earlier(self.first, version) if is_own else self.first,
            spoken=_earlier(self.spoken, version) if is_own and not crumb.removes else self.spoken,
            marks=(*self.marks, *mark),
        )

    def home(self, place: Place, session: str) -> str:
        """Where the breadcrumb is before a place. session: where it was at first."""
        for mark in sorted(self.marks, key=lambda mark: mark.place):
            if mark.to and mark.session == NO_SESSION and mark.place < place:
                session = mark.to
        return session

    def is_closed(self, crumb: Breadcrumb) -> bool:
        """Whether a tombstone or a secret closes the id to this breadcrumb.

        One of another session closes what nobody had said before it: what it erased is no longer there to be compared.
        Nothing closes a tombstone or a move: what it took away would be back.
        """
        if crumb.kind in {"tombstone", "moved"}:
            return False
        first = self._before(self.first, crumb) or _version(crumb)
        marks = (mark for mark in self.marks if not mark.to and mark.place != crumb.place)
        return any(mark.place < first.place or self._reaches(mark, first, crumb) for mark in marks)

    def conflict(self, crumb: Breadcrumb) -> str:
        """Why the breadcrumb may not stand here, for people; "" = it may."""
        first = self._before(self.first, crumb)
        if first is None:
            return ""
        session = self.home(crumb.place, first.session)
        if crumb.session != session:
            return (
                f"id {crumb.id!r} belongs to session {session!r} of this workspace, and this came in {crumb.session!r}; give "
                "every breadcrumb of a workspace an id of its own"
            )
        if crumb.schema != first.schema:
            return f"id {crumb.id!r} is a {first.schema}, and this is a {crumb.schema}; take another id"
        spoken = self._before(self.spoken, crumb)
        return _foreign(spoken, crumb) if spoken else ""

    def stray(self, tombstone: Breadcrumb) -> str:
        """Why a tombstone does not reach this id, for people; "" = it does."""
        first = self._before(self.first, tombstone)
        session = self.home(tombstone.place, first.session) if first else tombstone.session
        if tombstone.session in (NO_SESSION, session):
            return ""
        return (
            f"id {tombstone.removes!r} belongs to session {session!r}, and this tombstone came in {tombstone.session!r}; publish "
            f"it there, or ask for `forget`"
        )

    def _reaches(self, mark: Mark, first: Version, crumb: Breadcrumb) -> bool:
        """Whether a mark behind the first version closes the id.

        A secret that was stored before what stands before it, and may not stand behind that, closes nothing: it makes way.
        """
        session = self.home(mark.place, first.session)
        if mark.secret is None:
            return mark.session in (NO_SESSION, session)
        is_own = first.place < crumb.place or bool(crumb.removes) or mark.secret.user_id == crumb.user_id
        return mark.session == session and mark.secret.schema == first.schema and is_own

    def _before(self, version: Version | None, crumb: Breadcrumb) -> Version | None:
        return version if version is not None and version.place < crumb.place else None


def displaces(crumb: Breadcrumb, other: Breadcrumb) -> bool:
    """Whether it takes the place of one under its id and version that says something else, and stands behind it."""
    is_same = (crumb.id, crumb.version) == (other.id, other.version) and not (crumb.removes or other.removes)
    is_free = SUMMARY in (crumb.schema, other.schema)
    return is_same and not is_free and crumb.place < other.place and canonical_text(crumb.body) != canonical_text(other.body)


def _earlier(version: Version | None, other: Version) -> Version:
    return other if version is None or other.place < version.place else version


def _version(crumb: Breadcrumb) -> Version:
    return Version(
        place=crumb.place,
        session=crumb.session,
        schema=crumb.schema,
        role=crumb.role,
        user_id=crumb.user_id,
        expires_at=crumb.expires_at,
    )


def _foreign(first: Version, crumb: Breadcrumb) -> str:
    is_secret = crumb.removes == crumb.id  # which has no body to read a role from
    if crumb.schema in MESSAGES:
        if not is_secret and crumb.role != first.role:
            return f"id {crumb.id!r} is of the role {first.role!r}, and this is of {crumb.role!r}; take another id"
        if crumb.user_id != first.user_id:
            return (
                f"id {crumb.id!r} is of {_person(first.user_id)}, and this is of {_person(crumb.user_id)}; its speaker edits it"
            )
    is_earlier = crumb.expires_at is not None and (first.expires_at is None or crumb.expires_at < first.expires_at)
    if (is_secret or is_earlier) and crumb.user_id != first.user_id:
        end = "is secret" if is_secret else "ends earlier"
        return (
            f"a later version of id {crumb.id!r} {end}, which only {_person(first.user_id)} may say of it, and it is of "
            f"{_person(crumb.user_id)}; ask for `forget`"
        )
    return ""


def _person(user_id: str) -> str:
    return f"user_id {user_id!r}" if user_id else "no user_id"
