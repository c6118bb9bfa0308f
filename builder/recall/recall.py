"""`recall`: what a consumer may see of the history before a message, and the rows that its profile pins."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

import numpy as np

from builder.domain.breadcrumb import NO_SESSION, Breadcrumb, Place
from builder.domain.page_settings import FORBIDDEN_SCHEMAS
from builder.domain.profile import MAX_DEFINITIONS, Profile
from builder.domain.recall import Scope
from builder.domain.selector import CATALOG, DEFINES_TAG, SCHEMA_DEFINITION, Pinned, Selector
from builder.domain.stored import StoredBreadcrumb
from builder.language.words import Terms
from builder.recall.histories import HistoryReader, PinnedRows
from builder.recall.index.conversation import SUMMARIES, Turn, closed_turn, of_audience, without_expired
from builder.recall.index.links import NOBODY
from builder.recall.index.retries import without_retries
from builder.recall.index.view import View
from builder.recall.questions import Questions, questions_of, without_later_triggers
from builder.recall.scopes import looks_for_person, memory_of, scope_of
from builder.recall.workspaces import Workspaces

BLACKLIST = Pinned(selector=Selector(schemas=("context.blacklist.v1",)), keep="latest", section="", of_no_session=True)
"""The blacklist of operators: a participant of a session must not show what they exclude."""
OWN_BLACKLIST = Pinned(selector=BLACKLIST.selector, keep="latest", section="")
"""The latest of the session, if it is later; it excludes beside that of operators."""
AGENTS = Pinned(selector=Selector(schemas=("agent.def.v1",)), keep=MAX_DEFINITIONS, section="", of_no_session=True)
"""Agents' definitions: the newest of a consumer brings its system prompt where its profile has none."""
SCHEMA_DEFINITIONS = Pinned(selector=Selector(schemas=(SCHEMA_DEFINITION,)), keep=MAX_DEFINITIONS, section="", of_no_session=True)
"""Definitions of schemas, for consumers that trust their hints."""

RowsByKind = Mapping[Pinned, tuple[StoredBreadcrumb, ...]]
"""The newest row of a kind comes first."""


def kinds_of(consumers: tuple[Profile, ...]) -> tuple[Pinned, ...]:
    """The kinds that are recalled for these consumers, each once."""
    sections = (each for profile in consumers for kind in profile.pinned for each in _with_shared(kind))
    definitions = (AGENTS,) if any(not each.system_prompt and each.section("system") for each in consumers) else ()
    trusting = [each.trusted_hints for each in consumers if each.trusted_hints]
    schemas = (SCHEMA_DEFINITIONS,) if any(each.covers_schema_definitions for each in trusting) else ()
    return tuple(dict.fromkeys((BLACKLIST, OWN_BLACKLIST, *definitions, *schemas, *sections)))


def unexpired(now: datetime, kinds: tuple[Pinned, ...], rows: PinnedRows) -> RowsByKind:
    """The rows of each kind that have not expired by now."""
    return {
        kind: tuple(row for row in members if row.breadcrumb.expires_at is None or row.breadcrumb.expires_at > now)
        for kind, members in zip(kinds, rows, strict=True)
    }


def pinned_rows(profile: Profile, rows: RowsByKind) -> PinnedRows:
    """The rows of each of the profile's kinds, without forbidden schemas. Operators' catalogs come first."""
    kinds = map(_with_shared, profile.pinned)
    rows_of = ((row for each in kind for row in rows[each]) for kind in kinds)
    return tuple(tuple(row for row in members if row.breadcrumb.schema not in FORBIDDEN_SCHEMAS) for members in rows_of)


def system_prompt(profile: Profile, rows: RowsByKind) -> str:
    """The profile's, else that of the consumer's newest definition of no session; "" without a section for it."""
    if profile.system_prompt or not profile.section("system"):
        return profile.system_prompt
    trusted = (row.breadcrumb for row in rows[AGENTS] if row.breadcrumb.session == NO_SESSION)
    return next((crumb.text for crumb in trusted if crumb.speaker == profile.consumer), "").strip()


def schema_hints(profile: Profile, rows: RowsByKind) -> Mapping[str, str]:
    """Schema → the hints, as JSON text, of its newest `schema.def.v1` of no session that the profile trusts."""
    trusted = profile.trusted_hints
    if trusted is None or not trusted.covers_schema_definitions:
        return {}
    records = (row.breadcrumb for row in reversed(rows[SCHEMA_DEFINITIONS]))
    usable = [record for record in records if record.session == NO_SESSION and trusted.trusts(record)]
    return {
        tag.removeprefix(DEFINES_TAG): record.hints for record in usable for tag in record.tags if tag.startswith(DEFINES_TAG)
    }


def _with_shared(kind: Pinned) -> tuple[Pinned, ...]:
    """The kinds that stand for it, whichever section shows them; catalogs of no session come before those of the session."""
    recalled = replace(kind, section="")
    return (replace(recalled, of_no_session=True), recalled) if CATALOG in kind.selector.schemas else (recalled,)


def visible_to(view: View, profile: Profile, trigger: Breadcrumb, excluded: tuple[Selector, ...]) -> View:
    """The rows that this consumer may see at the trigger.

    A result goes with its call. An excluded or expired result takes only itself.
    """
    return without_expired(of_consumer(view, profile, trigger), excluded, trigger.received_at)


def of_consumer(view: View, profile: Profile, trigger: Breadcrumb) -> View:
    """The conversation that its agent takes part in."""
    task = trigger.task if profile.scope_to_task else None
    return replace(of_audience(view, profile.audience, task), agent=profile.agent)


def within_scope(view: View, scope: Scope) -> View:
    """Without results that joined a session outside a scope of no session: their calls, which may have ended, are not in it.

    A person's sessions belong to the scope of the person without being named there.
    """
    if NO_SESSION not in scope.sessions or scope.user:
        return view
    sessions = view.history.breadcrumbs.sessions
    codes = [sessions[name] for name in scope.sessions if name in sessions]
    return replace(view, current=view.current & np.isin(view.session_of, codes))


def of_person(view: View, user: str) -> View:
    """The view without words of other sessions, unless this person said or heard them and they are not private."""
    table, people = view.history.breadcrumbs, view.history.people
    person = people.codes.get(user, NOBODY)
    own = view.session_of == view.session
    persons = people.person[: view.size]
    memory = (persons == person) & (person != NOBODY) & ~table.private[: view.size]
    memory |= (view.session_of == table.sessions.get(NO_SESSION, -1)) & (persons == NOBODY)
    summaries = view.current & ~own & table.matching(SUMMARIES, view.size)
    return replace(view, current=view.current & (own | (memory & ~summaries)), person=person, summaries=summaries)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumerRecall:
    """All that assembly needs but the search."""

    trigger: Breadcrumb
    profile: Profile
    view: View
    """As of the trigger's place, what the consumer may see; with the trigger in it when that is a tool's answer."""
    pinned: PinnedRows
    """For each of the profile's kinds its rows, the newest first."""
    system_prompt: str
    terms: Terms
    """Text → stemmed terms joined by spaces."""
    scope: Scope
    questions: Questions = field(default_factory=Questions)
    as_of: Place | None = None
    """The view ends here, after the trigger; None = at the trigger."""
    lacks_user: bool = False
    """The profile looks into the memory of a person whom nothing names."""
    turn: Turn = ()
    """The calls to answer from, when the trigger is a tool's answer."""
    consumers: frozenset[str] = frozenset()
    """Names of the consumers that profile files make: nobody else may be shown under them."""
    schema_hints: Mapping[str, str] = field(default_factory=dict)
    """Schema → the hints of its definition that the consumer trusts, as JSON text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recaller:
    """Recalls for consumers and for summaries. All methods raise `Unavailable`."""

    reader: HistoryReader
    workspaces: Workspaces
    terms: Terms
    exclusions: Callable[[Breadcrumb], tuple[Selector, ...]]
    """A blacklist → what it excludes."""

    async def recall(
        self,
        trigger: Breadcrumb,
        consumers: tuple[Profile, ...],
        names: frozenset[str] = frozenset(),
        as_of: Place | None = None,
    ) -> tuple[ConsumerRecall, ...]:
        """Reads each scope once. A consumer with unanswered calls gets no recall: the last result will trigger it.

        names: of other consumers. as_of: with what came up to there; None = up to the trigger.
        """
        until = as_of or trigger.place
        memory = await memory_of(self.reader.store, trigger) if looks_for_person(trigger, consumers) else None
        readings: dict[tuple[Scope, str], tuple[RowsByKind, View]] = {}
        recalls = []
        for profile in consumers:
            scope = scope_of(trigger, profile, memory)
            inclusive = trigger.role == "tool" or as_of is not None
            key = scope, profile.consumer if await self.workspaces.is_large(scope, until) else ""
            if key not in readings:
                readings[key] = await self._reading(trigger, until, scope, profile, consumers, inclusive=inclusive)
            recalls.append(self._for(trigger, profile, scope, *readings[key], as_of))
        return tuple(replace(recall, consumers=names) for recall in recalls if recall is not None)

    async def view_for(self, question: Breadcrumb, profile: Profile) -> tuple[View, Scope]:
        """The view and the scope that a question of its own is searched in. It is part of no turn and answers nothing."""
        memory = await memory_of(self.reader.store, question) if looks_for_person(question, (profile,)) else None
        scope = scope_of(question, profile, memory)
        rows, view = await self._reading(question, question.place, scope, profile, (), inclusive=False)
        view = within_scope(visible_to(view, profile, question, self._excluded(rows)), scope)
        return (of_person(view, scope.user) if scope.user else view), scope

    async def session_view(self, workspace: str, session: str, until: Place) -> View:
        """The session up to and including a place, as a summariser sees it."""
        scope = self.reader.cache.scope_of_session(workspace, session)
        kinds = kinds_of(())
        rows, view = await self.reader.read(session, until, scope, kinds, inclusive=True)
        if not view.size:
            return view
        now = view.breadcrumb(view.size - 1).received_at
        return without_expired(view, self._excluded(unexpired(now, kinds, rows)), now)

    async def _reading(
        self,
        trigger: Breadcrumb,
        until: Place,
        scope: Scope,
        profile: Profile,
        consumers: tuple[Profile, ...],
        *,
        inclusive: bool,
    ) -> tuple[RowsByKind, View]:
        kinds = kinds_of(consumers)
        if await self.workspaces.is_large(scope, until):
            rows, view = await self.workspaces.read(trigger, until, profile, kinds, inclusive=inclusive)
        else:
            searched = not consumers or any(each.searches for each in consumers)
            rows, view = await self.reader.read(trigger.session, until, scope, kinds, inclusive=inclusive, searched=searched)
        return unexpired(trigger.received_at, kinds, rows), view

    def _for(
        self, trigger: Breadcrumb, profile: Profile, scope: Scope, rows: RowsByKind, view: View, as_of: Place | None
    ) -> ConsumerRecall | None:
        view = within_scope(visible_to(view, profile, trigger, self._excluded(rows)), scope)
        questions = questions_of(view, trigger, profile)
        if scope.user:
            rows_asked = (row for row in map(view.row_of, questions.ids) if row >= 0)  # the trigger itself is in no view
            is_of_person = all(view.breadcrumb(row).user_id == scope.user for row in rows_asked)
            view = of_person(view, scope.user if is_of_person else "")
        if as_of:
            trigger, view = _newest_version(view, trigger), without_later_triggers(view, trigger, profile)
        view = without_retries(view, trigger)
        turn = closed_turn(view, view.history.breadcrumbs.versions[trigger.id][0]) if trigger.role == "tool" else ()
        if turn is None:
            return None
        return ConsumerRecall(
            trigger=trigger,
            profile=profile,
            view=view,
            pinned=pinned_rows(profile, rows),
            system_prompt=system_prompt(profile, rows),
            terms=self.terms,
            scope=scope,
            questions=questions,
            as_of=as_of,
            lacks_user=profile.retrieval.scope == "user" and not scope.user,
            turn=turn,
            schema_hints=schema_hints(profile, rows),
        )

    def _excluded(self, rows: RowsByKind) -> tuple[Selector, ...]:
        lists = {row.breadcrumb.id: row.breadcrumb for row in (*rows[BLACKLIST], *rows[OWN_BLACKLIST])}
        return tuple(selector for each in lists.values() for selector in self.exclusions(each))


def _newest_version(view: View, trigger: Breadcrumb) -> Breadcrumb:
    row = view.row_of(trigger.id)
    newest = view.breadcrumb(row) if row >= 0 and view.current[row] else trigger
    return replace(newest, session=trigger.session, place=trigger.place, received_at=trigger.received_at)
