"""What is wrong with a profile or a template, for its author."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class LintFinding:
    """file: of the templates folder. place: dotted setting, or "" for the whole file. wrong: what is. mend: what to do."""

    file: str
    place: str
    problem: str
    fix: str
