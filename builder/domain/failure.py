"""A template that could not render something, for the log line and the metrics."""

from dataclasses import dataclass
from typing import Literal

TemplateKind = Literal["hints", "pages"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """The failures of one template."""

    kind: TemplateKind
    name: str
    reason: str
    """Of the first failure, with the line of the template."""
    instead: str
    """What was rendered in its place."""
    times: int = 1
    """Failures until now."""

    @property
    def file(self) -> str:
        """Path in the templates folder."""
        return f"{self.kind}/{self.name}.md.j2"
