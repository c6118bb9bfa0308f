"""Failures of templates."""

from dataclasses import dataclass
from typing import Literal

TemplateKind = Literal["hints", "pages"]
LLM_HINTS = "llm_hints"


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """Failures of one template, or of the hints of records of one schema."""

    kind: TemplateKind | Literal["llm_hints"]
    name: str
    reason: str
    """Of the first failure, with the line of the template."""
    instead: str
    times: int = 1

    @property
    def file(self) -> str:
        """Path in the templates folder, or whose hints they are."""
        return f"{LLM_HINTS} of {self.name}" if self.kind == LLM_HINTS else f"{self.kind}/{self.name}.md.j2"
