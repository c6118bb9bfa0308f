"""A session as a strip: one cell a breadcrumb, by how much of it is on the page."""

from dataclasses import dataclass
from typing import Literal, get_args

State = Literal["whole", "part", "line", "found", "not"]
"""All of it is on the page; a part; a line that stands for it; a search found it, all or a part; nothing of it."""
STATES: tuple[State, ...] = get_args(State)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """A breadcrumb of the session."""

    id: str
    state: State
    tokens: int
    """Tokens of all of it, as they were counted when it was stored."""
    tokens_shown: int
    """Tokens of it on the page, with its label."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Strip:
    """The newest breadcrumbs of a session that the consumer may see, up to the trigger."""

    cells: tuple[Cell, ...]
    """In place order."""
    earlier: int
    """How many came before them."""
