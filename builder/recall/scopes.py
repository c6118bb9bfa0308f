"""The scope of a message: which sessions are read, their histories in memory, and the causal chain."""

import asyncio
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Generic, TypeVar
from weakref import WeakValueDictionary

import numpy as np

from builder.domain.breadcrumb import NO_SESSION, ORIGIN, Breadcrumb, Place
from builder.domain.errors import ChainTooLong
from builder.domain.profile import DEFINING_SCHEMAS, MAX_DEFINITIONS, Definitions, Profile
from builder.domain.recall import EVERY_SESSION, RecallQuery, Scope, StoredBreadcrumb
from builder.domain.selector import Pinned, Selector
from builder.ports.models import NO_MODEL
from builder.ports.store import BreadcrumbStore, Reader, Store
from builder.recall.index.chronology import in_order_of_time
from builder.recall.index.history import History
from builder.recall.index.links import NOBODY
from builder.recall.index.view import View, as_of

Key = TypeVar("Key")


class KeyedLock(Generic[Key]):
    """Locks that exist while held or awaited; first come, first served."""

    def __init__(self) -> None:
        self._locks: WeakValueDictionary[Key, asyncio.Lock] = WeakValueDictionary()

    def of(self, key: Key) -> asyncio.Lock:
        """The key's lock."""
        return self._locks.setdefault(key, asyncio.Lock())


SCOPE_PASSAGES = 50
"""What an open scope costs beside its passages, in passages."""
PAGE_ROWS = 2_000
"""Rows of one recall: a long session is read in pages, so that it neither fills the memory nor stops the loop."""
VECTOR_ROWS = 64
"""Rows without vectors that one look asks for."""

PinnedRows = tuple[tuple[StoredBreadcrumb, ...], ...]


class HistoryCache:
    """Dropping a history costs time and changes nothing."""

    def __init__(self, passages: int) -> None:
        self._limit = passages
        self._histories: OrderedDict[Scope, History] = OrderedDict()
        self.locks = KeyedLock[Scope]()
        """A scope's history is extended only under the scope's lock."""

    def get(self, scope: Scope) -> History:
        """The scope's history as far as it was read."""
        history = self._histories.setdefault(scope, History())
        self._histories.move_to_end(scope)
        return history

    def scope_of_session(self, workspace: str, session: str) -> Scope:
        """The scope of this session alone that was used last, so that no second history of it is read."""
        alone = (workspace, (session,), "")
        matches = (scope for scope in reversed(self._histories) if (scope.workspace, scope.sessions, scope.user) == alone)
        return next(matches, Scope(workspace=workspace, sessions=(session,)))

    def accepts(self, history: History, revision: int) -> bool:
        """Whether rows of this revision may join it."""
        if not history.rows:
            history.revision = revision
        return history.is_whole and history.revision == revision

    def reset(self, scope: Scope) -> History:
        """An empty history, to be read from its beginning."""
        self._histories[scope] = History()
        return self.get(scope)

    def drop(self, workspace: str) -> int:
        """Drop the histories of a workspace; returns how many scopes."""
        scopes = [scope for scope in self._histories if scope.workspace == workspace]
        for scope in scopes:
            del self._histories[scope]
        return len(scopes)

    def extend(self, history: History, rows: tuple[StoredBreadcrumb, ...]) -> Iterator[None]:
        """Append the rows that it lacks, with pauses; then drop the scopes unused for longest. Read it to its end."""
        yield from history.extending(tuple(filter(history.lacks, rows)))
        cost = sum(each.cost + SCOPE_PASSAGES for each in self._histories.values())
        while len(self._histories) > 1 and cost > self._limit:
            cost -= self._histories.popitem(last=False)[1].cost + SCOPE_PASSAGES


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryReader:
    """Extends the histories by what the store has learned since."""

    store: Store
    cache: HistoryCache
    model: str
    """Id of the engine whose vectors are read."""
    page_rows: int = PAGE_ROWS

    async def read(
        self,
        session: str,
        until: Place,
        scope: Scope,
        pinned: tuple[Pinned, ...],
        *,
        inclusive: bool = False,
        searched: bool = True,
    ) -> tuple[PinnedRows, View]:
        """For each pinned kind its rows as of a place, and the history before it. Raises `Unavailable`.

        inclusive: the history includes the place. searched: read terms and vectors, too.
        """
        async with self.cache.locks.of(scope):
            history, revision = self.cache.get(scope), None
            if searched > history.is_searched:
                history = self.cache.reset(scope)
            while True:
                history.is_searched &= searched or bool(history.rows)
                query = RecallQuery(
                    scope=scope,
                    session=session,
                    after=history.place,
                    until=until,
                    limit=self.page_rows,
                    pinned=pinned,
                    model=self.model,
                    searched=history.is_searched,
                )
                page = await self.store.recall(query)
                revision = page.revision if revision is None else revision
                if not self.cache.accepts(history, revision):
                    history, revision = self.cache.reset(scope), None
                    continue
                is_whole = len(page.rows) < self.page_rows
                if history.continues_with(page.rows):
                    for _ in self.cache.extend(history, page.rows):
                        await asyncio.sleep(0)
                else:  # something older was imported
                    history, is_whole = self.cache.reset(scope), True
                    await self._read_anew(history, query, revision)
                if is_whole and history.size_at(until, inclusive=inclusive) < 0:
                    history = History()
                    await self._read_anew(history, query, revision, inclusive=inclusive)
                if is_whole:
                    await self._fill(history)
                    return page.pinned, as_of(history, until, session, inclusive=inclusive)

    async def rows(self, query: RecallQuery) -> tuple[StoredBreadcrumb, ...]:
        """All rows of a query's scope up to its end, with their facts, in place order. Raises `Unavailable`."""
        rows: list[StoredBreadcrumb] = []
        query = replace(query, after=ORIGIN, limit=self.page_rows, pinned=())
        while True:
            page = (await self.store.recall(query)).rows
            rows += page
            if len(page) < self.page_rows:
                return tuple(rows)
            query = replace(query, after=page[-1].breadcrumb.place)

    async def _read_anew(self, history: History, query: RecallQuery, revision: int, *, inclusive: bool = True) -> None:
        """All rows in order of time, into an empty history. inclusive: also the one at the end of the query."""
        history.revision, history.is_searched = revision, query.searched
        rows = (row for row in await self.rows(query) if inclusive or row.order < (query.until, 1))
        for _ in self.cache.extend(history, tuple(in_order_of_time(rows))):
            await asyncio.sleep(0)

    async def _fill(self, history: History) -> None:
        while history.is_searched and self.model != NO_MODEL and (rows := history.lacking[:VECTOR_ROWS]):
            vectors = await self.store.vectors(tuple(history.rows[row].breadcrumb for row in rows), self.model)
            if not history.fill(dict(zip(rows, vectors, strict=True))):
                return


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
