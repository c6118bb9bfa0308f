"""What one consumer may see: what is neither excluded nor expired, and the rows that its profile pins."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime

import numpy as np

from builder.domain.breadcrumb import NO_SESSION, Breadcrumb
from builder.domain.page_settings import FORBIDDEN_SCHEMAS
from builder.domain.profile import MAX_DEFINITIONS, Profile
from builder.domain.recall import StoredBreadcrumb
from builder.domain.selector import CATALOG, DEFINES_TAG, SCHEMA_DEFINITION, Pinned, Selector
from builder.domain.summary import SUMMARY
from builder.recall.index.links import NOBODY
from builder.recall.index.view import Rows, View

BLACKLIST = Pinned(selector=Selector(schemas=("context.blacklist.v1",)), keep="latest", section="", of_no_session=True)
"""Of operators: a participant of a session must not show what they exclude."""
OWN_BLACKLIST = Pinned(selector=BLACKLIST.selector, keep="latest", section="")
"""The latest of the session, if it is later; it excludes beside that of operators."""
AGENTS = Pinned(selector=Selector(schemas=("agent.def.v1",)), keep=MAX_DEFINITIONS, section="", of_no_session=True)
"""Agents' definitions: the newest of a consumer brings its system prompt where its profile has none."""
SCHEMA_DEFINITIONS = Pinned(selector=Selector(schemas=(SCHEMA_DEFINITION,)), keep=MAX_DEFINITIONS, section="", of_no_session=True)
"""Definitions of schemas, for consumers that trust their hints."""

RowsByKind = Mapping[Pinned, tuple[StoredBreadcrumb, ...]]
"""Of each kind its rows, the newest first."""


def kinds_of(consumers: tuple[Profile, ...]) -> tuple[Pinned, ...]:
    """The kinds that are recalled for these consumers, each once."""
    sections = (each for profile in consumers for kind in profile.pinned for each in _with_shared(replace(kind, section="")))
    definitions = (AGENTS,) if any(map(_needs_definition, consumers)) else ()
    schemas = (SCHEMA_DEFINITIONS,) if any(map(_reads_schema_definitions, consumers)) else ()
    return tuple(dict.fromkeys((BLACKLIST, OWN_BLACKLIST, *definitions, *schemas, *sections)))


def unexpired(now: datetime, rows: RowsByKind) -> RowsByKind:
    """The rows that have not expired by now."""
    return {
        kind: tuple(row for row in members if row.breadcrumb.expires_at is None or row.breadcrumb.expires_at > now)
        for kind, members in rows.items()
    }


def pinned_rows(profile: Profile, rows: RowsByKind) -> tuple[tuple[StoredBreadcrumb, ...], ...]:
    """The rows of each of the profile's kinds, without forbidden schemas. Operators' catalogs come first."""
    kinds = (_with_shared(replace(kind, section="")) for kind in profile.pinned)
    rows_of = ((row for each in kind for row in rows[each]) for kind in kinds)
    return tuple(tuple(row for row in members if row.breadcrumb.schema not in FORBIDDEN_SCHEMAS) for members in rows_of)


def system_prompt(profile: Profile, rows: RowsByKind) -> str:
    """The profile's, else that of the consumer's newest definition of no session; "" without a section for it."""
    if not _needs_definition(profile):
        return profile.system_prompt
    trusted = (row.breadcrumb for row in rows[AGENTS] if row.breadcrumb.session == NO_SESSION)
    return next((crumb.text for crumb in trusted if crumb.speaker == profile.consumer), "").strip()


def schema_hints(profile: Profile, rows: RowsByKind) -> Mapping[str, str]:
    """Schema → the hints, as JSON text, of its newest `schema.def.v1` of no session that the profile trusts."""
    trusted = profile.trusted_hints
    if trusted is None or not _reads_schema_definitions(profile):
        return {}
    records = (row.breadcrumb for row in reversed(rows[SCHEMA_DEFINITIONS]))
    usable = [record for record in records if record.session == NO_SESSION and trusted.trusts(record)]
    return {
        tag.removeprefix(DEFINES_TAG): record.hints for record in usable for tag in record.tags if tag.startswith(DEFINES_TAG)
    }


def _with_shared(kind: Pinned) -> tuple[Pinned, ...]:
    return (replace(kind, of_no_session=True), kind) if CATALOG in kind.selector.schemas else (kind,)


def _reads_schema_definitions(profile: Profile) -> bool:
    return profile.trusted_hints is not None and profile.trusted_hints.covers_schema_definitions


def _needs_definition(profile: Profile) -> bool:
    return not profile.system_prompt and profile.section("system") is not None


SUMMARIES = Selector(schemas=(SUMMARY,))
"""Their recipe says whose they are."""


def visible_to(view: View, profile: Profile, trigger: Breadcrumb, excluded: tuple[Selector, ...]) -> View:
    """The view as this consumer sees it at the trigger.

    A result goes with its call. An excluded or expired result takes only itself.
    """
    return without_expired(of_consumer(view, profile, trigger), excluded, trigger.received_at)


def of_person(view: View, user: str) -> View:
    """Of other sessions only what was said by and to this person and is not private."""
    table, people = view.history.breadcrumbs, view.history.people
    person = people.codes.get(user, NOBODY)
    own = view.session_of == view.session
    persons = view.column(people.person)
    memory = (persons == person) & (person != NOBODY) & ~view.column(table.private)
    if NO_SESSION in table.sessions:
        memory |= (view.session_of == table.sessions[NO_SESSION]) & (persons == NOBODY)
    summaries = view.current & ~own & table.matching(SUMMARIES, view.size)
    return replace(view, current=view.current & (own | (memory & ~summaries)), person=person, summaries=summaries)


def of_consumer(view: View, profile: Profile, trigger: Breadcrumb) -> View:
    """The conversation that its agent takes part in."""
    task = trigger.task if profile.scope_to_task else None
    return replace(of_audience(view, profile.audience, task), agent=profile.agent)


def of_audience(view: View, audience: Selector | None, task: str | None) -> View:
    """What an `audience` matches, of one task; None = everything."""
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
    """Without what has expired by now and what a selector excludes."""
    table = view.history.breadcrumbs
    rows = np.zeros(view.size, np.bool_)
    if table.can_expire:
        rows |= view.column(table.expires) <= now.timestamp()
    for selector in excluded:
        rows |= table.matching(selector, view.size)
    rows &= view.current  # an older version that has expired takes nothing with it
    return replace(view, current=view.current & ~(rows | _with_results(view, rows))) if rows.any() else view


def _with_results(view: View, rows: Rows) -> Rows:
    exchanges = view.history.exchanges
    origin, call = view.column(exchanges.origin), view.column(exchanges.call).copy()
    early = {row: exchange for row in exchanges.early if (exchange := exchanges.of_result[row]).callers[0] < view.size}
    call[list(early)] = [exchange.origin for exchange in early.values()]
    follows = call >= 0
    leader = np.where(follows, call, origin)
    leads = np.zeros(view.size, np.bool_)
    leads[leader[rows & ~follows]] = True
    return np.asarray(leads[leader])
