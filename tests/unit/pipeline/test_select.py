"""How the budget is spent: what is pinned, floors, ceilings, quotas, and what had no room."""

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest

from builder.domain.context import HINT_FAILED, Context
from builder.domain.errors import Rejected
from builder.domain.facts import Remembered
from builder.domain.profile import Profile
from builder.pipeline.assemble import Request, assemble
from builder.rendering.fragments import JinjaRendering
from builder.rendering.templates import TemplateSet, read_folders
from builder.resources import bundled
from tests.factories import (
    BY_HAND,
    MODEL,
    ids_on_page,
    make_catalog,
    make_context,
    make_profile,
    make_query,
    make_remembered,
    make_rendering,
    make_terms,
    make_view,
)  # fmt: skip

QUESTION = make_remembered("Where is the kiln?", 900)
OLD = [
    make_remembered(f"The kiln number {n} stands in town {n} by the river and is as hot as ever it was.", n) for n in range(1, 60)
]
TALK = [
    make_remembered(f"Remark {n} of our long talk about the weather, the garden and the neighbours.", n) for n in range(100, 112)
]
WORDS = " ".join(f"Sentence {n} of a long report." for n in range(900))


def tokens(context: Context) -> dict[str, int]:
    return {section.name: section.tokens for section in context.sections}


def shares(profile: Profile, **changes: tuple[float, float]) -> Profile:
    """The profile with other floors and ceilings."""
    rules = (
        replace(rule, min_share=changes[rule.name][0], max_share=changes[rule.name][1]) if rule.name in changes else rule
        for rule in profile.sections
    )
    return replace(profile, sections=tuple(rules))


def profile(budget: int = 1000, **retrieval: Any) -> Profile:
    return make_profile(budget=budget, retrieval={"relevance_threshold": None} | retrieval)


def page(rows: Iterable[Remembered | str], wanted: Profile, *standing: Remembered, trigger: Remembered = QUESTION) -> Context:
    return make_context(trigger, rows, wanted, standing)


def test_everything_is_shown_when_there_is_room() -> None:
    context = page([*OLD[:4], *TALK[:4]], profile(4000), make_catalog(5, 500))
    assert len(ids_on_page(context)) == 4 + 4 + 1 + 1
    assert context.omissions == ()


@pytest.mark.parametrize("name", ["tools", "recent", "relevant"])
def test_no_section_gets_more_than_its_ceiling(name: str) -> None:
    wanted = shares(profile(), **{name: (0, 0.2)})
    window = replace(wanted.window, min_recent=0, keep_share=1)
    context = page([*OLD, *TALK], replace(wanted, window=window), make_catalog(60, 500))
    assert 100 < tokens(context)[name] <= 200


@pytest.mark.parametrize("name", ["tools", "recent", "relevant"])
def test_every_section_gets_its_floor_when_all_want_more(name: str) -> None:
    wanted = shares(profile(per_schema_limit={}), tools=(0.2, 1), recent=(0.2, 1), relevant=(0.2, 1), current=(0, 0.3))
    question = make_remembered(f"Where is the kiln? {WORDS}", 900)
    context = page(
        [*OLD, *TALK], replace(wanted, window=replace(wanted.window, min_recent=1)), make_catalog(99, 500), trigger=question
    )
    assert tokens(context)[name] >= 200 - 30
    assert context.tokens > 950


def test_a_catalog_is_whole_while_there_is_room_for_it() -> None:
    context = page(TALK[:2], shares(profile(4000), tools=(0.1, 0.3)), make_catalog(60, 500))
    assert "tool-59" in context.markdown
    assert "left out" not in context.markdown
    assert tokens(context)["tools"] > 0.1 * 4000


def test_a_catalog_of_500_tools_leaves_the_conversation_alive() -> None:
    context = page([*OLD, *TALK], profile(4000), make_catalog(500, 500))
    assert {"recent", "relevant", "current"} <= tokens(context).keys()
    assert [f"m{n}" for n in range(100, 112)] == list(context.sections[1].ids)[-12:]
    assert tokens(context)["tools"] <= 0.3 * 4000
    assert "characters left out …]" in context.markdown


def test_a_catalog_is_cut_to_what_is_left_rather_than_left_out() -> None:
    long = [make_remembered(f"{n} {WORDS}", n) for n in (1, 2, 3)]
    context = page(long, shares(profile(2000), tools=(0.1, 0.3)), make_catalog(99, 500), trigger=make_remembered(WORDS, 900))
    assert tokens(context)["tools"] > 50


def test_a_long_current_message_is_cut_to_its_ceiling_with_a_note() -> None:
    context = page(TALK, profile(1000), trigger=make_remembered(f"{WORDS} Where is the kiln?", 900))
    assert 400 < tokens(context)["current"] <= 520
    assert "[… 2" in context.markdown
    assert context.markdown.endswith("Where is the kiln?\n")


def test_a_long_recent_message_is_cut_with_a_note_and_the_others_stay() -> None:
    context = page([TALK[0], make_remembered(WORDS, 101), TALK[2]], profile(1000))
    assert context.sections[0].ids == ("m100", "m101", "m102")
    assert "characters left out …]" in context.markdown


def test_the_newest_messages_are_pinned_before_anything_else_has_a_claim() -> None:
    wanted = shares(profile(300), recent=(0, 0.5), relevant=(0.9, 1), tools=(0, 1))
    context = page([*OLD, *TALK], wanted, make_catalog(60, 500))
    assert [held for section in context.sections if section.name == "recent" for held in section.ids][-3:] == [
        "m109",
        "m110",
        "m111",
    ]


@pytest.mark.parametrize("budget", range(70, 700, 35))
def test_the_conversation_has_no_holes(budget: int) -> None:
    context = page(TALK, profile(budget))
    shown = [held for section in context.sections if section.name == "recent" for held in section.ids]
    assert shown == [f"m{n}" for n in range(112 - len(shown), 112)]


@pytest.mark.parametrize("budget", [60, 75, 90, 120, 200, 400])
def test_what_is_not_on_the_page_is_among_the_omissions_with_its_tokens(budget: int) -> None:
    context = page([*OLD[:9], *TALK], profile(budget), make_catalog(9, 500))
    omitted = {omission.id: omission for omission in context.omissions}
    assert omitted.keys().isdisjoint(ids_on_page(context))
    assert {f"m{n}" for n in range(100, 112)} | {"m500"} <= omitted.keys() | set(ids_on_page(context))
    assert len(omitted) == len(context.omissions)
    assert all(omission.tokens > 0 for omission in context.omissions if omission.reason == "over budget")


@pytest.mark.parametrize("budget", range(60, 200, 5))
def test_no_heading_stands_without_anything_below_it(budget: int) -> None:
    context = page([*OLD[:9], *TALK], profile(budget), make_catalog(60, 500))
    assert not re.search(r"^##.*\n\n", context.markdown, re.MULTILINE)


def test_quotas_hold_only_while_not_everything_found_would_fit() -> None:
    quota = {"per_schema_limit": {"user.message.v1": 5}}
    notes = [make_remembered(f"A note on kiln number {n}, which is blue.", n, schema="note.v1") for n in range(60, 70)]
    window = {"max_units": 0, "trim_to": 0, "min_recent": 0}
    sections = tuple(replace(rule, min_tokens=0) for rule in make_profile().sections)
    roomy = page([*OLD[:20], *notes], make_profile(budget=15000, window=window, retrieval={"relevance_threshold": None} | quota))
    tight = page(
        [*OLD[:20], *notes],
        make_profile(budget=2100, window=window, sections=sections, retrieval={"relevance_threshold": None} | quota),
    )
    assert len(roomy.sections[0].ids) == 30
    found = tight.sections[0].ids
    assert sum(int(held[1:]) < 60 for held in found) == 5
    assert sum(int(held[1:]) >= 60 for held in found) == 10


def test_without_quotas_rank_alone_decides() -> None:
    context = page(
        OLD,
        make_profile(
            budget=2100, window={"max_units": 0, "trim_to": 0}, retrieval={"relevance_threshold": None, "per_schema_limit": {}}
        ),
    )
    assert len(context.sections[0].ids) > 8


def test_found_messages_stand_in_the_order_in_which_they_were_said() -> None:
    context = page([*OLD, *TALK], profile(2000))
    found = [int(held[1:]) for section in context.sections if section.name == "relevant" for held in section.ids]
    assert found == sorted(found)
    assert len(found) > 2


def test_the_reserve_is_kept_free() -> None:
    context = page([*OLD, *TALK], replace(profile(1000), reserve=600))
    assert context.tokens <= 400


def test_a_budget_too_small_for_the_current_message_is_refused_with_what_to_do() -> None:
    with pytest.raises(Rejected, match=r"budget of 12 tokens is too small .* raise `budget` in the profile 'default'"):
        page([], profile(12))


def page_with_hint(source: str, trigger: Remembered, rows: list[Remembered]) -> Context:
    """The page when the hint of user messages has this source."""
    bundled_set = TemplateSet(*read_folders((bundled("templates"),)))
    hints = {**bundled_set.sources["hints"], "user.message.v1": source}
    rendering = JinjaRendering(TemplateSet(hints, bundled_set.sources["pages"]), make_rendering().count, bundled_set)
    query, view = make_query(trigger.breadcrumb.text), make_view(rows)
    request = Request(
        trigger=trigger,
        query=query,
        view=view,
        standing=((),),
        system_prompt="",
        profile=profile(4000),
        ranker=BY_HAND,
        terms=make_terms,
        model=MODEL,
    )
    return assemble(request, rendering)


def test_what_a_failing_hint_should_show_stands_in_its_section_by_the_generic_one_and_is_reported() -> None:
    rain = make_remembered("It rains.", 150, id="broken")
    context = page_with_hint("{{ speaker }}: {{ text if 'rains' not in text else txet }}", QUESTION, [TALK[0], rain, TALK[1]])
    assert ids_on_page(context) == ["m100", "m101", "broken", "m900"]
    assert "- user.message.v1: content: It rains.\n" in context.markdown
    assert [(omission.id, omission.reason) for omission in context.omissions] == [
        ("broken", "hint failed, the generic hint is shown: hints/user.message.v1.md.j2 line 1: 'txet' is undefined")
    ]
    assert context.flags == (HINT_FAILED,)


def test_a_hint_that_always_fails_takes_no_message_off_the_page() -> None:
    whole, context = (
        page_with_hint(source, QUESTION, TALK) for source in ("{{ speaker }}: {{ text }}", "{{ speaker }}: {{ txet }}")
    )
    assert ids_on_page(context) == ids_on_page(whole)
    assert all(row.breadcrumb.text in context.markdown for row in (*TALK, QUESTION) if row.breadcrumb.id in ids_on_page(whole))


def test_neighbours_of_the_best_finds_are_shown_with_what_is_left() -> None:
    said = ("It rains in the north.", "The kiln stands in Delft.", "It snows in the south.")
    told = [*(make_remembered(text, n) for n, text in enumerate(said, 1)), *TALK]
    wanted = profile(2000, relevance_threshold=0.5)
    window = replace(wanted.window, max_units=3, trim_to=2)
    assert "m1" not in ids_on_page(page(told, replace(wanted, window=window)))
    around = profile(2000, relevance_threshold=0.5, neighbours=1)
    assert {"m1", "m2", "m3"} <= set(ids_on_page(page(told, replace(around, window=window))))


def test_no_neighbour_is_shown_while_something_that_was_found_is_not() -> None:
    without, around = (page([*OLD, *TALK], profile(600, neighbours=count)) for count in (0, 3))
    assert any(omission.reason == "over budget" for omission in without.omissions)
    assert ids_on_page(around) == ids_on_page(without)
