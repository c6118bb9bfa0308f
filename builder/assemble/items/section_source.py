"""The source of a section: what fills it, and how the page treats it. The table of all is `assemble/sources/table.py`."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from builder.assemble.items.draft import Item, Writer
from builder.domain.profile import SectionRule
from builder.recall.recall import ConsumerRecall

Collect = Callable[[ConsumerRecall, SectionRule, Writer, int], Sequence[Item]]
"""Recall, rule, writer and room in tokens → the section's items, in page order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SectionSource:
    """The facts of one source; `name` is what profiles write."""

    name: str
    collect: Collect | None = None
    """Fills the section in front of the finds; None = `front.py` or `assemble.py` does, in an order of its own."""
    is_dated: bool = False
    """The section has date lines unless its rule says otherwise."""
    is_dialogue: bool = False
    """Its items are turns: in `messages` they are messages, and on a page of one day they have no date lines."""
    is_lasting: bool = False
    """In `messages` the section is the system's, unless its class says that it changes with every turn."""
    changes_every_turn: bool = False
    yields: int = 0
    """When a page has too many tokens, items of sources with a number go first, the lowest number first; 0 = none goes."""
    schemas: tuple[str, ...] = ()
    """Schemas that the section renders whatever the profile names."""
