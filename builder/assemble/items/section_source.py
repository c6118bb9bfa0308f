"""The source of a section: what fills it, and how the page treats it. The table of all is `assemble/sources/table.py`."""

from dataclasses import dataclass

from builder.domain.profile import Profile, SectionRule


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
    yields: int = 0
    """When a page has too many tokens, items of sources with a number go first, the lowest number first; 0 = none goes."""
    schemas: tuple[str, ...] = ()
    """Schemas that the section renders whatever the profile names."""

    def is_in_system(self, rule: SectionRule, profile: Profile) -> bool:
        """Whether `messages` have the section in the system message."""
        is_placed = not self.is_quoted or profile.words_of_people == "system"
        return self.name == "system" or (self.is_lasting and is_placed and rule.section_class != "turn")
