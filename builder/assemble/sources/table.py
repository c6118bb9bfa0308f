"""All sources of sections. A new source is one entry here, with a step of `assemble.py`."""

from builder.assemble.items.section_source import SectionSource

SOURCES: dict[str, SectionSource] = {
    source.name: source
    for source in (
        SectionSource(name="system", is_lasting=True),
        SectionSource(name="pinned", is_lasting=True),
        SectionSource(name="summary", is_lasting=True, is_quoted=True, schemas=("summary.v1",)),
        SectionSource(name="memory", is_dated=True, is_lasting=True, is_quoted=True, schemas=("summary.v1",)),
        SectionSource(name="instructions", is_lasting=True, is_quoted=True, schemas=("user.message.v1",)),
        SectionSource(name="window", is_dated=True, is_dialogue=True, changes_every_turn=True, yields=2),
        SectionSource(name="turn", is_dated=True, is_dialogue=True, changes_every_turn=True, yields=3),
        SectionSource(name="retrieval", is_dated=True, changes_every_turn=True, yields=1),
        SectionSource(name="reminder"),
        SectionSource(name="trigger", is_dated=True, is_dialogue=True, changes_every_turn=True),
    )
}
