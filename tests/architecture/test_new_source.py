"""A new source of sections is one entry in a table, and nothing else knows of it."""

from collections.abc import Sequence

import pytest

from builder.adapters.profiles.profiles import parse_profile
from builder.assemble.items.draft import Item, Writer
from builder.assemble.items.section_source import SectionSource
from builder.assemble.sources.table import SOURCES
from builder.domain.errors import Misconfigured
from builder.domain.profile import SectionRule
from builder.publish.event import encode
from builder.recall.recall import ConsumerRecall
from tests.factories import make_context, make_remembered

PROFILE = """
sections:
  - {name: latest, title: Latest note, source: newest_note, max_share: 0.5}
  - {name: recent, title: Recent Conversation, source: window}
  - {name: current, title: Current User Message, source: trigger}
retrieval: {schemas: []}
chat_format: openai
"""
NOTE = make_remembered("The kiln is booked until Friday.", 1, schema="note.v1", session="_")


def newest_note(recall: ConsumerRecall, _rule: SectionRule, writer: Writer, room: int) -> Sequence[Item]:
    notes = (
        row.breadcrumb for row in reversed(recall.view.history.rows[: recall.view.size]) if row.breadcrumb.schema == "note.v1"
    )
    items = [writer.message(note, -1) for note in notes][:1]
    return [item for item in items if item.tokens <= room]


def test_a_toy_source_fills_a_section_of_page_messages_and_event_by_one_entry(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(Misconfigured, match="newest_note"):
        parse_profile("toy", PROFILE)
    monkeypatch.setitem(SOURCES, "newest_note", SectionSource(name="newest_note", collect=newest_note, is_lasting=True))
    profile = parse_profile("toy", PROFILE)
    context = make_context(make_remembered("Is it free?", 9), [NOTE, make_remembered("Hello.", 2)], profile)
    assert context.markdown.startswith("## Latest note\n")
    assert "The kiln is booked until Friday." in context.markdown.split("##")[1]
    assert ("latest", ("m1",)) in [(section.name, section.ids) for section in context.sections]
    assert any("booked until Friday" in part.text for message in context.messages for part in message.parts)
    assert b"Latest note" in encode(context)
