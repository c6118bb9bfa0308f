"""What stands whatever was said: which kinds are recalled for some consumers, and what of them is one consumer's."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime

from builder.domain.facts import Remembered
from builder.domain.profile import NEVER, Profile
from builder.domain.selector import Selector, Standing
from builder.domain.usage import USAGE
from builder.pipeline.calibrate import NEWEST

BLACKLIST = Standing(selector=Selector(schemas=("context.blacklist.v1",)), keep="latest", section="")
AGENTS = Standing(selector=Selector(schemas=("agent.def.v1",)), keep="all", section="")
"""Agents' definitions: the newest of a consumer brings its system prompt where its profile has none (features A2)."""
USAGES = Standing(selector=Selector(schemas=(USAGE,)), keep=2 * NEWEST, section="")
"""What agents report of their usage, for profiles that calibrate their margin by it; room for two models that are used alike."""

Held = Mapping[Standing, tuple[Remembered, ...]]


def kinds(consumers: tuple[Profile, ...]) -> tuple[Standing, ...]:
    """Everything that is recalled for these consumers, each kind once, wherever each of them shows it."""
    wanted = (replace(kind, section="") for profile in consumers for kind in profile.standing)
    defined = (AGENTS,) if any(map(_wants_definition, consumers)) else ()
    reported = (USAGES,) if any(profile.calibrate for profile in consumers) else ()
    return tuple(dict.fromkeys((BLACKLIST, *defined, *reported, *wanted)))


def in_force_at(now: datetime, held: Held) -> Held:
    """Without what has ended by now."""
    return {kind: tuple(row for row in rows if not _has_ended(row, now)) for kind, rows in held.items()}


def standing_of(profile: Profile, held: Held) -> tuple[tuple[Remembered, ...], ...]:
    """For each of the profile's kinds what was found, newest first; never what no profile can switch on."""
    found = (held[replace(kind, section="")] for kind in profile.standing)
    return tuple(tuple(row for row in rows if row.breadcrumb.schema not in NEVER) for rows in found)


def system_prompt(profile: Profile, held: Held) -> str:
    """The profile's, else that of the consumer's newest definition; empty where the page has no place for it."""
    if not _wants_definition(profile):
        return profile.system_prompt
    defined = (row.breadcrumb.text for row in held[AGENTS] if row.breadcrumb.speaker == profile.consumer)
    return next(defined, "").strip()


def _wants_definition(profile: Profile) -> bool:
    return not profile.system_prompt and profile.section("system") is not None


def _has_ended(row: Remembered, now: datetime) -> bool:
    return row.breadcrumb.expires_at is not None and row.breadcrumb.expires_at <= now
