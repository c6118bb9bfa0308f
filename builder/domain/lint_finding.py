"""What is wrong with a profile or a template, for its author."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class LintFinding:
    """One problem with its remedy."""

    file: str
    """Path in the templates folder."""
    place: str
    """Dotted setting; "" for the whole file."""
    problem: str
    fix: str
