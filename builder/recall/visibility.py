"""What of a view one consumer may see: its own conversation, nothing that is excluded and nothing that has expired.

Where the contexts of a trigger are looked for.

The person of a trigger, and the scope of this person's memory.
"""

from dataclasses import replace
from datetime import datetime

import numpy as np

from builder.domain.breadcrumb import NO_SESSION, Breadcrumb, Place
from builder.domain.profile import Profile
from builder.domain.recall import EVERY_SESSION, Scope
from builder.domain.selector import Selector
from builder.domain.summary import SUMMARY
from builder.ports.models import NO_MODEL
from builder.ports.store import Store
from builder.recall.index.person_table import NOBODY
from builder.recall.index.prefix import Rows
from builder.recall.index.reader import HistoryCache, HistoryReader
from builder.recall.index.view import View

SUMMARIES = Selector(schemas=(SUMMARY,))
"""Their recipe says whose they are."""
NOTES = frozenset({"note.v1", "knowledge.v1"})
"""Schemas of no session that belong to every session; all else of no session stays there."""
MAX_LINKS = 25
"""Breadcrumbs of a chain of answers in which the person is looked for."""


def visible_to(view: View, profile: Profile, trigger: Breadcrumb, excluded: tuple[Selector, ...], user: str = "") -> View:
    """The view as this consumer sees it at the trigger; the same view when there is nothing to hide.

    A result goes with its call: it is the consumer's if the call is, and with an excluded or expired call go its results. An
    excluded or expired result takes only itself. user: the person whose memory the view is of; "" = it is no person's.
    """
    view = without_expired(of_consumer(view, profile, trigger), excluded, trigger.received_at)
    return of_person(view, user) if user else view


def of_person(view: View, user: str) -> View:
    """Of other sessions only what was said by and to this person, and nothing that is kept out of the person's memory."""
    table, people = view.history.breadcrumbs, view.history.people
    person = people.codes.get(user, NOBODY)
    own = view.column(table.session) == view.session
    persons = view.column(people.person)
    memory = (persons == person) & (person != NOBODY) & ~view.column(table.private)
    if NO_SESSION in table.sessions:
        memory |= (view.column(table.session) == table.sessions[NO_SESSION]) & (persons == NOBODY)
    summaries = view.current & ~own & table.matching(SUMMARIES, view.size)
    return replace(view, current=view.current & (own | (memory & ~summaries)), person=person, summaries=summaries)


def of_consumer(view: View, profile: Profile, trigger: Breadcrumb) -> View:
    """The conversation that its agent takes part in."""
    task = trigger.task if profile.scope_to_task else None
    return replace(of_audience(view, profile.audience, task), agent=profile.agent)


def of_audience(view: View, audience: Selector | None, task: str | None) -> View:
    """Only what a consumer's `audience` matches, and of one task; None = everything."""
    if audience is None and task is None:
        return view
    table = view.history.breadcrumbs
    rows = np.ones(view.size, np.bool_)
    if audience is not None:
        rows &= table.matching(audience, view.size)
    if task is not None:
        rows &= view.column(table.task) == table.tasks.get(task, -1)
    visible = _with_results(view, rows) | table.matching(SUMMARIES, view.size)
    return replace(view, current=view.current & visible, audience=visible)


def without_expired(view: View, excluded: tuple[Selector, ...], now: datetime) -> View:
    """Without what has expired by now, and what the blacklist names, each selector by itself."""
    table = view.history.breadcrumbs
    rows = np.zeros(view.size, np.bool_)
    if table.can_expire:
        rows |= view.column(table.expires) <= now.timestamp()
    for selector in excluded:
        rows |= table.matching(selector, view.size)
    rows &= view.current  # an older version that has expired takes nothing with it
    return replace(view, current=view.current & ~(rows | _with_results(view, rows))) if rows.any() else view


def scope_of(trigger: Breadcrumb, profile: Profile, memory: Scope | None = None) -> Scope:
    """Where a consumer's context is looked for: the own session is always part of it, because the conversation is.

    Notes of no session belong to every one; everything else of no session stays there. memory: of the trigger's person, for
    profiles that look there; without one they look in the session.
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
    """What must have been remembered before the trigger is answered, each scope once.

    A person may have spoken in any session, and no subject names the person.
    """
    scopes = {scope_of(trigger, profile): None for profile in consumers}
    if looks_for_person(trigger, consumers):
        scopes[Scope(workspace=trigger.workspace, sessions=(EVERY_SESSION,))] = None
    return tuple(scopes)


def looks_for_person(trigger: Breadcrumb, consumers: tuple[Profile, ...]) -> bool:
    """Whether a consumer looks into the memory of a person whom the trigger may have."""
    has_person = bool(trigger.user_id) or trigger.role != "user"
    return has_person and any(profile.retrieval.scope == "user" for profile in consumers)


async def memory_of(store: Store, trigger: Breadcrumb) -> Scope | None:
    """Everything that was said by and to the person of a trigger; None when nothing says who that is. Raises `Unavailable`.

    The sessions of a person share one history. A session in which another person spoke first, or that is private, has one of its
    own: only its own pages show all of it.
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
    """What was said by and to a person up to a place, in newest versions, in place order. Raises `Unavailable`.

    Private sessions are part of it. The histories are read apart from those of pages, for which everything in front of a place
    must have been remembered.
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


def _with_results(view: View, rows: Rows) -> Rows:
    """All versions of those of these rows that are words or calls, with the results of the calls and what passes them on."""
    exchanges = view.history.exchanges
    origin, call = view.column(exchanges.origin), view.column(exchanges.call).copy()
    early = {row: exchange for row in exchanges.early if (exchange := exchanges.of_result[row]).callers[0] < view.size}
    call[list(early)] = [exchange.origin for exchange in early.values()]
    follows = call >= 0
    leader = np.where(follows, call, origin)
    leads = np.zeros(view.size, np.bool_)
    leads[leader[rows & ~follows]] = True
    return np.asarray(leads[leader])


async def _person_of(store: Store, trigger: Breadcrumb) -> str:
    """The trigger's own, that of what it answers, or of the message in front of a tool's answer; "" = unknown.

    Once a person has spoken no tool's answer triggers any more, so the last message is the one that it belongs to.
    """
    if trigger.user_id or trigger.role == "user":
        return trigger.user_id
    if trigger.answers:
        return await _person_answered(store, trigger)
    if trigger.role != "tool":
        return ""
    return await store.last_speaker(trigger.workspace, trigger.session, trigger.place) or ""


async def _person_answered(store: Store, trigger: Breadcrumb) -> str:
    for identity in await store.chain(trigger.workspace, trigger.answers, trigger.place, MAX_LINKS):
        for crumb in await store.versions(trigger.workspace, identity):
            if crumb.user_id or crumb.role == "user":
                return crumb.user_id
    return ""
