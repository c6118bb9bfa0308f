"""The scope of a message: which sessions are read, and the memory of its person."""

from dataclasses import replace

from builder.domain.breadcrumb import NO_SESSION, Breadcrumb
from builder.domain.profile import Profile
from builder.domain.recall import EVERY_SESSION, Scope
from builder.recall.people import looks_for_person

NOTES = frozenset({"note.v1", "knowledge.v1"})
"""Schemas of no session that belong to every session; all else of no session stays there."""


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
