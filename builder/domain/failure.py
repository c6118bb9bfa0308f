"""A template, or hints of a record, that could not render something, for the log line and the metrics."""

from dataclasses import dataclass
from typing import Literal

TemplateKind = Literal["hints", "pages"]
LLM_HINTS = "llm_hints"


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """The failures of one template, or of the hints that records of one schema bring."""

    kind: TemplateKind | Literal["llm_hints"]
    name: str
    """Of the template, or of the schema."""
    reason: str
    """Of the first failure, with the line of the template."""
    instead: str
    """What was rendered in its place."""
    times: int = 1
    """Failures until now."""

    @property
    def file(self) -> str:
        """Path in the templates folder, or whose hints they are."""
        return f"{LLM_HINTS} of {self.name}" if self.kind == LLM_HINTS else f"{self.kind}/{self.name}.md.j2"
