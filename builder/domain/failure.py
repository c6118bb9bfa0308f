"""What a template could not render, for the log line and the metrics."""

from dataclasses import dataclass
from typing import Literal

Kind = Literal["hints", "pages"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """reason: of the first time, with the line of the template. instead: what was shown. times: how often until now."""

    kind: Kind
    name: str
    reason: str
    instead: str
    times: int = 1

    @property
    def file(self) -> str:
        """The template, as its folder has it."""
        return f"{self.kind}/{self.name}.md.j2"
