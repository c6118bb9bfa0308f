"""The sources of sections: what may be on a page."""

from collections.abc import Mapping
from dataclasses import dataclass

from builder.domain.breadcrumb import SUMMARY, USER_MESSAGE
from builder.domain.profile import SectionRule


@dataclass(frozen=True, slots=True, kw_only=True)
class SectionSource:
    """The facts of one source; `name` is what profiles write."""

    name: str
    is_dated: bool = False
    """The section has date lines unless its rule says otherwise."""
    is_dialogue: bool = False
    """Its items are turns: in `messages` they are messages, and on a page of one day they have no date lines."""
    is_lasting: bool = False
    """In `messages` the section is the system's, unless its class says that it changes with every turn."""
    is_quoted: bool = False
    """It holds words of people and agents, which are no rules of the operator."""
    changes_every_turn: bool = False
    schemas: tuple[str, ...] = ()

    def is_in_system(self, rule: SectionRule) -> bool:
        """Whether `messages` have the section in the system message."""
        return self.name == "system" or (self.is_lasting and rule.section_class != "turn")


SOURCES: dict[str, SectionSource] = {
    source.name: source
    for source in (
        SectionSource(name="system", is_lasting=True),
        SectionSource(name="pinned", is_lasting=True),
        SectionSource(name="summary", is_lasting=True, is_quoted=True, schemas=(SUMMARY,)),
        SectionSource(name="memory", is_dated=True, is_lasting=True, is_quoted=True, schemas=(SUMMARY,)),
        SectionSource(name="instructions", is_lasting=True, is_quoted=True, schemas=(USER_MESSAGE,)),
        SectionSource(name="window", is_dated=True, is_dialogue=True, changes_every_turn=True),
        SectionSource(name="conversation", is_dated=True, is_dialogue=True, changes_every_turn=True),
        SectionSource(name="elsewhere", is_dated=True, changes_every_turn=True),
        SectionSource(name="turn", is_dated=True, is_dialogue=True, changes_every_turn=True),
        SectionSource(name="retrieval", is_dated=True, changes_every_turn=True),
        SectionSource(name="reminder"),
        SectionSource(name="trigger", is_dated=True, is_dialogue=True, changes_every_turn=True),
    )
}


SAME: Mapping[str, tuple[str, ...]] = {"window": ("window", "conversation"), "retrieval": ("retrieval", "elsewhere")}
"""Source → the sources that have its part of a page: of the conversation, and of what was found."""
