"""The agents that the service builds contexts for."""

from dataclasses import dataclass

from builder.domain.breadcrumb import Breadcrumb
from builder.domain.selector import Selector, matches_one, trigger_on, trigger_text


@dataclass(frozen=True, slots=True, kw_only=True)
class Consumer:
    """An agent that a profile of the service names."""

    name: str
    triggers: tuple[str | Selector, ...]
    """Empty = nothing causes a context."""
    audience: Selector | None = None
    """The breadcrumbs that may cause one; None = all."""
    origin: str = ""
    """The profile file, or the records, that make it."""
    agent: str = ""
    """Empty = the consumer's name (older service)."""

    @property
    def selectors(self) -> tuple[Selector, ...]:
        """The triggers, each as a selector."""
        return tuple(trigger_on(each) if isinstance(each, str) else each for each in self.triggers)

    def refusal(self, breadcrumb: Breadcrumb) -> str:
        """Why a breadcrumb causes no context; "" = it causes one."""
        if not self.triggers:
            return f"no contexts come for {self.name!r}: its profile has no triggers; add one"
        if not matches_one(self.selectors, breadcrumb):
            names = ", ".join(map(trigger_text, self.selectors))
            return (
                f"no context comes for {self.name!r} on a {breadcrumb.schema}: its profile has the triggers {names}; add it there"
            )
        if self.audience is not None and not self.audience.matches(breadcrumb):
            return (
                f"no context comes for {self.name!r}: the audience of its profile leaves this {breadcrumb.schema} out; "
                "send the tags that it names, or change it"
            )
        return ""
