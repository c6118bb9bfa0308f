"""Where the contexts of a trigger are looked for (features D20)."""

from builder.domain.breadcrumb import Breadcrumb
from builder.domain.profile import Profile
from builder.domain.recall import EVERY_SESSION, Scope


def scope_of(trigger: Breadcrumb, profile: Profile) -> Scope:
    """Where a consumer's context is looked for: the own session is always part of it, because the hot window is."""
    where = profile.retrieval.scope
    if where == "workspace":
        return Scope(workspace=trigger.workspace, sessions=(EVERY_SESSION,))
    listed = () if where == "session" else where
    return Scope(workspace=trigger.workspace, sessions=tuple(sorted({trigger.session, *listed})))


def scopes(trigger: Breadcrumb, consumers: tuple[Profile, ...]) -> tuple[Scope, ...]:
    """Each scope of the consumers once."""
    return tuple(dict.fromkeys(scope_of(trigger, profile) for profile in consumers))
