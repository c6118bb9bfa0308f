"""Where the contexts of a trigger are looked for, whose memory that is, and loops of agents."""

from dataclasses import replace

import numpy as np

from builder.domain.breadcrumb import NO_SESSION, Breadcrumb, Place
from builder.domain.errors import ChainTooLong
from builder.domain.profile import DEFINING_SCHEMAS, MAX_DEFINITIONS, Definitions, Profile
from builder.domain.recall import EVERY_SESSION, RecallQuery, Scope
from builder.domain.selector import Pinned, Selector
from builder.ports.models import NO_MODEL
from builder.ports.store import BreadcrumbStore, Reader, Store
from builder.recall.index.links import NOBODY
from builder.recall.index.reader import HistoryCache, HistoryReader

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
    """What was said by and to a person up to a place, in newest versions and place order, private sessions too.

    Raises `Unavailable`.
    """
    reader = HistoryReader(store=store, cache=HistoryCache(0), model=NO_MODEL)
    crumbs: list[Breadcrumb] = []
    for session in await store.sessions_of(workspace, user):
        _, view = await reader.read(session, until, Scope(workspace=workspace, sessions=(session,)), (), inclusive=True)
        person = view.history.people.codes.get(user, NOBODY)
        persons = view.column(view.history.people.person)
        rows = np.flatnonzero((persons == person) & (persons != NOBODY) & view.current)
        crumbs += (view.breadcrumb(row) for row in rows.tolist())
    return tuple(sorted(crumbs, key=lambda crumb: (crumb.place, crumb.session)))


async def _person_of(store: Store, trigger: Breadcrumb) -> str:
    """The person of the trigger, of what it answers, or of the message before a tool result; "" = unknown."""
    if trigger.user_id or trigger.role == "user":
        return trigger.user_id
    for identity in await store.chain(trigger.workspace, trigger.answers, trigger.place, MAX_LINKS) if trigger.answers else ():
        for crumb in await store.versions(trigger.workspace, identity):
            if crumb.user_id or crumb.role == "user":
                return crumb.user_id
    if trigger.answers or trigger.role != "tool":
        return ""
    return await store.last_speaker(trigger.workspace, trigger.session, trigger.place) or ""


_KINDS = tuple(Pinned(selector=Selector(schemas=(name,)), keep=MAX_DEFINITIONS, section="") for name in DEFINING_SCHEMAS)


async def definitions_as_of(store: BreadcrumbStore, workspace: str, until: Place) -> Definitions:
    """The newest version of each record of no session up to and including a place. Raises `Unavailable`.

    A participant of a session must not define an agent.
    """
    scope = Scope(workspace=workspace, sessions=(NO_SESSION,))
    query = RecallQuery(scope=scope, session=NO_SESSION, after=until, until=until, limit=1, pinned=_KINDS, model=NO_MODEL)
    recall = await store.recall(query)
    return tuple(row.breadcrumb for rows in recall.pinned for row in rows)


MAX_LINKS_SHOWN = 5
"""Links of a long chain that the reason shows."""


async def chain_refusals(reader: Reader, trigger: Breadcrumb, consumers: tuple[Profile, ...]) -> dict[str, ChainTooLong]:
    """Consumer → the error, where the chain exceeds its recursion limit. Raises `Unavailable`."""
    if not trigger.answers or not consumers:
        return {}
    limit = max(profile.recursion_limit for profile in consumers)
    links = await reader.chain(trigger.workspace, trigger.answers, trigger.place, limit + 1)
    return {
        profile.consumer: chain_too_long((trigger.id, *links), profile.recursion_limit)
        for profile in consumers
        if len(links) > profile.recursion_limit
    }


def chain_too_long(links: tuple[str, ...], limit: int) -> ChainTooLong:
    """links: from the trigger back, as far as they were read."""
    return ChainTooLong(
        f"the causal chain has more than {limit} steps (recursion_limit): {' answers '.join(links[:MAX_LINKS_SHOWN])} answers …; "
        "let one of these agents stop answering the others, or raise the profile's recursion_limit"
    )
