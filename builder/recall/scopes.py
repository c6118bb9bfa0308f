"""Where the contexts of a trigger are looked for."""

from builder.domain.breadcrumb import NO_SESSION, Breadcrumb
from builder.domain.profile import Profile
from builder.domain.recall import EVERY_SESSION, Scope

NOTES = frozenset({"note.v1", "knowledge.v1"})
"""Schemas of no session that belong to every session; all else of no session stays there."""


def scope_of(trigger: Breadcrumb, profile: Profile) -> Scope:
    """Where a consumer's context is looked for: the own session is always part of it, because the conversation is.

    Notes of no session belong to every one; everything else of no session stays there.
    """
    where = profile.retrieval.scope
    if where == "workspace":
        return Scope(workspace=trigger.workspace, sessions=(EVERY_SESSION,))
    listed = () if where == "session" else where
    shared = () if trigger.session == NO_SESSION else tuple(sorted(NOTES.intersection(profile.retrieval.schemas)))
    return Scope(workspace=trigger.workspace, sessions=tuple(sorted({trigger.session, *listed})), shared=shared)


def scopes(trigger: Breadcrumb, consumers: tuple[Profile, ...]) -> tuple[Scope, ...]:
    """Each scope of the consumers once."""
    return tuple(dict.fromkeys(scope_of(trigger, profile) for profile in consumers))
