"""The scope of a message: which sessions are read, and the memory of its person."""

from dataclasses import replace

import numpy as np

from builder.domain.breadcrumb import NO_SESSION, Breadcrumb, Place
from builder.domain.profile import Profile
from builder.domain.recall import EVERY_SESSION, Scope
from builder.ports.models import NO_MODEL
from builder.ports.store import Store
from builder.recall.histories import HistoryCache, HistoryReader
from builder.recall.index.links import NOBODY

NOTES = frozenset({"note.v1", "knowledge.v1"})
"""Schemas of no session that belong to every session; all else of no session stays there."""
MAX_LINKS = 25
"""Breadcrumbs of a chain of answers in which the person is looked for."""


def scope_of(trigger: Breadcrumb, profile: Profile, memory: Scope | None = None) -> Scope:
    """Where a consumer's context is looked for, always with its own session.

    Of no session only notes belong to every session. memory: of the trigger's person, for profiles that look there.
    """
    where = profile.retrieval.scope
    if where == "workspace":
        return Scope(workspace=trigger.workspace, sessions=(EVERY_SESSION,))
    shared = () if trigger.session == NO_SESSION else tuple(sorted(NOTES.intersection(profile.retrieval.schemas)))
    if where == "user" and memory is not None:
        return replace(memory, shared=shared)
    listed = () if isinstance(where, str) else where
    return Scope(workspace=trigger.workspace, sessions=tuple(sorted({trigger.session, *listed})), shared=shared)


def scopes_before(trigger: Breadcrumb, consumers: tuple[Profile, ...]) -> tuple[Scope, ...]:
    """The scopes to catch up with before the trigger is answered, each once."""
    scopes = {scope_of(trigger, profile): None for profile in consumers}
    if looks_for_person(trigger, consumers):
        scopes[Scope(workspace=trigger.workspace, sessions=(EVERY_SESSION,))] = None
    return tuple(scopes)


def looks_for_person(trigger: Breadcrumb, consumers: tuple[Profile, ...]) -> bool:
    """Whether a consumer reads the memory of a person whom the trigger may name."""
    has_person = bool(trigger.user_id) or trigger.role != "user"
    return has_person and any(profile.retrieval.scope == "user" for profile in consumers)


async def memory_of(store: Store, trigger: Breadcrumb) -> Scope | None:
    """Everything said by and to the trigger's person; None when the person is unknown. Raises `Unavailable`.

    A person's sessions share one history. A private session, or one where another person spoke first, has its own.
    """
    user = await _person_of(store, trigger)
    if not user:
        return None
    is_shared = await store.is_memory(trigger.workspace, trigger.session, user, trigger.place)
    is_shared &= not trigger.private and trigger.session != NO_SESSION
    if is_shared and not trigger.user_id:  # a session in which nobody has spoken is no memory before somebody does
        is_shared = await store.last_speaker(trigger.workspace, trigger.session, trigger.place) is not None
    return Scope(workspace=trigger.workspace, sessions=() if is_shared else (trigger.session,), user=user)


async def history_of(store: Store, workspace: str, user: str, until: Place) -> tuple[Breadcrumb, ...]:
    """Everything said by and to a person up to a place, in newest versions and place order, private sessions too.

    Raises `Unavailable`.
    """
    reader = HistoryReader(store=store, cache=HistoryCache(0), model=NO_MODEL)
    crumbs: list[Breadcrumb] = []
    for session in await store.sessions_of(workspace, user):
        _, view = await reader.read(session, until, Scope(workspace=workspace, sessions=(session,)), (), inclusive=True)
        person = view.history.people.codes.get(user, NOBODY)
        persons = view.history.people.person[: view.size]
        rows = np.flatnonzero((persons == person) & (persons != NOBODY) & view.current)
        crumbs += (view.breadcrumb(row) for row in rows.tolist())
    return tuple(sorted(crumbs, key=lambda crumb: (crumb.place, crumb.session)))


async def _person_of(store: Store, trigger: Breadcrumb) -> str:
    """The person of the trigger, of what it answers, or of the message before a tool result; "" = unknown."""
    if trigger.user_id or trigger.role == "user":
        return trigger.user_id
    if trigger.answers:
        links = await store.chain(trigger.workspace, trigger.answers, trigger.place, MAX_LINKS)
        identities = await store.identities(trigger.workspace, links)
        for spoken in (identities[name].spoken for name in links):
            if spoken and spoken.place < trigger.place and (spoken.user_id or spoken.role == "user"):
                return spoken.user_id
        return ""
    if trigger.role != "tool":
        return ""
    return await store.last_speaker(trigger.workspace, trigger.session, trigger.place) or ""
