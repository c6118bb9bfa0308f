"""What stands whatever was said: which kinds are recalled for some consumers, and what of them is one consumer's."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime

from builder.domain.breadcrumb import NO_SESSION
from builder.domain.profile import NEVER, Profile
from builder.domain.selector import Pinned, Selector
from builder.domain.stored_breadcrumb import StoredBreadcrumb
from builder.domain.usage import NEWEST_REPORTS, USAGE, tag_of

BLACKLIST = Pinned(selector=Selector(schemas=("context.blacklist.v1",)), keep="latest", section="")
AGENTS = Pinned(selector=Selector(schemas=("agent.def.v1",)), keep="all", section="")
"""Agents' definitions: the newest of a consumer brings its system prompt where its profile has none."""

Held = Mapping[Pinned, tuple[StoredBreadcrumb, ...]]


def kinds(consumers: tuple[Profile, ...]) -> tuple[Pinned, ...]:
    """Everything that is recalled for these consumers, each kind once, wherever each of them shows it."""
    wanted = (replace(kind, section="") for profile in consumers for kind in profile.pinned)
    defined = (AGENTS,) if any(map(_wants_definition, consumers)) else ()
    reported = (kind for profile in consumers for kind in _reported(profile))
    return tuple(dict.fromkeys((BLACKLIST, *defined, *reported, *wanted)))


def unexpired(now: datetime, held: Held) -> Held:
    """Without what has ended by now."""
    return {kind: tuple(row for row in rows if not _has_ended(row, now)) for kind, rows in held.items()}


def pinned_of(profile: Profile, held: Held) -> tuple[tuple[StoredBreadcrumb, ...], ...]:
    """For each of the profile's kinds what was found, newest first; never what no profile can switch on."""
    found = (held[replace(kind, section="")] for kind in profile.pinned)
    return tuple(tuple(row for row in rows if row.breadcrumb.schema not in NEVER) for rows in found)


def reports(profile: Profile, held: Held) -> tuple[StoredBreadcrumb, ...]:
    """What agents reported of their usage of the profile's model, newest first; nothing where it is not calibrated."""
    return tuple(row for kind in _reported(profile) for row in held[kind])


def system_prompt(profile: Profile, held: Held) -> str:
    """The profile's, else that of the consumer's newest definition; empty where the page has no place for it.

    A definition counts in no session only: who talks in a session may not say what an agent is.
    """
    if not _wants_definition(profile):
        return profile.system_prompt
    trusted = (row.breadcrumb for row in held[AGENTS] if row.breadcrumb.session == NO_SESSION)
    defined = (crumb.text for crumb in trusted if crumb.speaker == profile.consumer)
    return next(defined, "").strip()


def _wants_definition(profile: Profile) -> bool:
    return not profile.system_prompt and profile.section("system") is not None


def _reported(profile: Profile) -> tuple[Pinned, ...]:
    """The newest that count about its model: a kind for each model, so that no other model's reports push them out."""
    if profile.calibrate is None:
        return ()
    about = Selector(schemas=(USAGE,), all_tags=(tag_of(profile.calibrate),))
    return (Pinned(selector=about, keep=NEWEST_REPORTS, section=""),)


def _has_ended(row: StoredBreadcrumb, now: datetime) -> bool:
    return row.breadcrumb.expires_at is not None and row.breadcrumb.expires_at <= now
