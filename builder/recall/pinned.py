"""What is pinned: the kinds that are recalled whatever was said, and which of their rows are one consumer's."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime

from builder.domain.breadcrumb import NO_SESSION
from builder.domain.profile import FORBIDDEN_SCHEMAS, Profile
from builder.domain.record_consumers import MAX_DEFINITIONS
from builder.domain.selector import CATALOG, Pinned, Selector
from builder.domain.stored_breadcrumb import StoredBreadcrumb
from builder.domain.trusted_hints import DEFINES_TAG, SCHEMA_DEFINITION

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
    """The kinds that are recalled for these consumers, each once, whichever section shows it."""
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
    """For each of the profile's kinds its rows, without the schemas that no profile can switch on.

    Operators' catalogs come first: a participant's stands beside them, also under the id of one.
    """
    kinds = (_with_shared(replace(kind, section="")) for kind in profile.pinned)
    rows_of = ((row for each in kind for row in rows[each]) for kind in kinds)
    return tuple(tuple(row for row in members if row.breadcrumb.schema not in FORBIDDEN_SCHEMAS) for members in rows_of)


def system_prompt(profile: Profile, rows: RowsByKind) -> str:
    """The profile's own, else that of the consumer's newest definition; empty where the page has no section for it.

    Only definitions of no session count: a participant of a session must not define an agent.
    """
    if not _needs_definition(profile):
        return profile.system_prompt
    trusted = (row.breadcrumb for row in rows[AGENTS] if row.breadcrumb.session == NO_SESSION)
    return next((crumb.text for crumb in trusted if crumb.speaker == profile.consumer), "").strip()


def schema_hints(profile: Profile, rows: RowsByKind) -> Mapping[str, str]:
    """Schema → the hints of its newest `schema.def.v1` that the profile trusts; as JSON text, "" where that has none.

    Only those of no session count: a participant of a session must not say how a schema is shown.
    """
    trusted = profile.trusted_hints
    if trusted is None or not _reads_schema_definitions(profile):
        return {}
    records = (row.breadcrumb for row in reversed(rows[SCHEMA_DEFINITIONS]))
    usable = [record for record in records if record.session == NO_SESSION and trusted.trusts(record)]
    return {
        tag.removeprefix(DEFINES_TAG): record.hints for record in usable for tag in record.tags if tag.startswith(DEFINES_TAG)
    }


def _with_shared(kind: Pinned) -> tuple[Pinned, ...]:
    """The kind; that of tool catalogs behind those of no session alone, which no participant of a session may displace."""
    return (replace(kind, of_no_session=True), kind) if CATALOG in kind.selector.schemas else (kind,)


def _reads_schema_definitions(profile: Profile) -> bool:
    return profile.trusted_hints is not None and profile.trusted_hints.covers_schema_definitions


def _needs_definition(profile: Profile) -> bool:
    return not profile.system_prompt and profile.section("system") is not None
