"""Where the contexts of a trigger are looked for (features D20)."""

from builder.domain.breadcrumb import NO_SESSION, Breadcrumb
from builder.domain.profile import ANSWER, FAILURE, Profile
from builder.domain.recall import EVERY_SESSION, Scope

MESSAGES = frozenset({"user.message.v1", "agent.response.v1", "tool.request.v1", ANSWER, FAILURE})
"""What is said to somebody, and so belongs to its session alone."""


def scope_of(trigger: Breadcrumb, profile: Profile) -> Scope:
    """Where a consumer's context is looked for: the own session is always part of it, because the conversation is.

    Notes of no session belong to every one; messages of no session are nobody's.
    """
    where = profile.retrieval.scope
    if where == "workspace":
        return Scope(workspace=trigger.workspace, sessions=(EVERY_SESSION,))
    listed = () if where == "session" else where
    shared = () if trigger.session == NO_SESSION else tuple(sorted({*profile.retrieval.schemas} - MESSAGES))
    return Scope(workspace=trigger.workspace, sessions=tuple(sorted({trigger.session, *listed})), shared=shared)


def scopes(trigger: Breadcrumb, consumers: tuple[Profile, ...]) -> tuple[Scope, ...]:
    """Each scope of the consumers once."""
    return tuple(dict.fromkeys(scope_of(trigger, profile) for profile in consumers))
