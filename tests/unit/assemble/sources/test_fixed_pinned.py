"""What stands on the page whatever was said: in sections of its own, whole, and nowhere else."""

from dataclasses import replace

import pytest

from builder.domain.profile import Profile
from builder.domain.selector import Pinned, Selector
from tests.conversations import answered, bash, chat, ids_of, replied, said
from tests.factories import ids_on_page, make_catalog, make_context, make_profile, make_remembered

ASK = said(800, "Which bulbs did we buy?")


def pinning() -> Profile:
    kind = Pinned(selector=Selector(all_tags=("pinned",)), keep="all", section="pinned")
    tools = next(rule for rule in make_profile().sections if rule.source == "pinned")
    section = replace(tools, name="pinned", title="Pinned", section_class="slow", max_share=1)
    return make_profile(pinned=(kind,), sections=(section, *make_profile().sections))


def test_pinned_breadcrumbs_stand_in_their_own_section_and_nowhere_else() -> None:
    sundays = said(2, "We never work on Sundays.", tags=["pinned"])
    context = make_context(ASK, [said(1, "Hello."), sundays, *chat(5, 3)], pinning(), (sundays,))
    assert ids_of(context, "pinned") == ["m2"]
    assert "We never work on Sundays." in context.markdown.partition("## Recent")[0]


def test_they_stand_in_place_order() -> None:
    notes = tuple(make_remembered(f"Rule {n}.", n, id=name, tags=("pinned",)) for n, name in enumerate(("z", "b", "a"), 1))
    context = make_context(ASK, [], pinning(), tuple(reversed(notes)))
    assert ids_of(context, "pinned") == ["z", "b", "a"]


def test_what_is_of_two_kinds_stands_once() -> None:
    both = make_remembered("Rule.", 1, schema="note.v1", tags=("pinned",))
    profile = pinning()
    profile = replace(
        profile, pinned=(*profile.pinned, Pinned(selector=Selector(schemas=("note.v1",)), keep="latest", section="tools"))
    )
    context = make_context(ASK, [], profile, (both,))
    assert ids_on_page(context) == ["m1", "m800"]


def test_a_result_stands_below_the_call_of_a_pinned_message() -> None:
    call = replied(1, "I look for bulbs.", bash("r1", "ls bulbs"), tags=["pinned"])
    context = make_context(ASK, [call, answered(2, "r1", "tulips")], pinning(), (call,))
    assert "- Call bash: command: ls bulbs\n  Result: tulips" in context.markdown


@pytest.mark.parametrize("tools", [60, 500])
def test_under_pressure_a_catalog_is_cut_to_its_share_and_the_conversation_stays_alive(tools: int) -> None:
    catalog = make_catalog(tools, 500)
    context = make_context(ASK, chat(200), make_profile(budget=2000), (catalog,))
    spent = {section.name: section.tokens for section in context.sections}
    assert 300 < spent["tools"] <= 500
    assert spent["recent"] > 300
    assert [part.id for part in context.partial] == ["m500"]
    assert "characters left out, id m500 …]" in context.markdown


def test_an_edit_of_what_stands_that_came_later_changes_nothing() -> None:
    note = make_remembered("Bulbs note: it is foggy.", 1, schema="note.v1")
    edited = make_remembered("Bulbs note: it is sunny.", 950, schema="note.v1", id="m1", version=2)
    profile = make_profile(pinned=("note.v1",))
    before = make_context(ASK, [note, *chat(5, 2)], profile, (note,))
    assert ids_on_page(before).count("m1") == 1
    assert make_context(ASK, [note, *chat(5, 2), edited], profile, (note,)) == before
