"""The page as a whole: what stands where, what it lacked, what a prompt cache may cut, and how its room is filled."""

import itertools
from dataclasses import replace
from typing import Any

import pytest

from builder.adapters.templates.folder import TemplateSet, templates_of
from builder.adapters.templates.fragments import JinjaRendering
from builder.app.config import bundled_folder, read_layers
from builder.domain.context import HINT_FAILED, Context
from builder.domain.stored import StoredBreadcrumb
from tests.conversations import (
    answered,
    bash,
    chat,
    conversation,
    failed,
    ids_of,
    replied,
    requested,
    said,
    section,
    sent,
    undated,
)
from tests.factories import (
    PHRASES,
    assemble,
    bare,
    ids_on_page,
    make_catalog,
    make_context,
    make_profile,
    make_query,
    make_remembered,
    make_rendering,
)
from tests.pages import make_recall
from tests.two_sections import make_two_sections

ASK = said(800, "What did the weather service say about Delft?")


def page_with_hint(source: str, rows: list[StoredBreadcrumb]) -> Context:
    """The page when the hint of user messages has this source."""
    bundled_set = TemplateSet(*templates_of(read_layers((bundled_folder("templates"),))))
    hints = {**bundled_set.sources["hints"], "user.message.v1": source}
    rendering = JinjaRendering(
        TemplateSet(hints, bundled_set.sources["pages"], {"en": PHRASES.entries}), make_rendering().count, bundled_set
    )
    return assemble(make_recall(rows, trigger=ASK), make_query(ASK.breadcrumb.text), rendering)


def test_sections_stand_in_the_order_of_the_profile_and_the_current_message_is_last() -> None:
    rows = [said(1, "Always answer in English."), said(2, "The weather service says Delft is foggy."), *chat(200, 10)]
    context = make_context(ASK, rows, make_profile(budget=1500, system_prompt="Be brief."), (make_catalog(2, 900),))
    assert [held.name for held in context.sections] == ["role", "tools", "instructions", "conversation", "current"]
    assert context.markdown.endswith(
        "\n## Current User Message\n[8 May 2024]\n- User: What did the weather service say about Delft?\n"
    )
    assert ids_of(context, "instructions") == ["m1"]
    assert ids_of(context, "conversation")[0] == "m2"


def test_a_context_says_what_it_lacked() -> None:
    rows, unseen = [make_remembered("The kiln is in Delft.", 1)], [bare(make_remembered("The kiln is in Delft.", 1))]
    assert make_context(ASK, rows).flags == ()
    assert make_context(ASK, unseen).flags == ("vectors_missing",)
    assert make_context(ASK, [], asked=b"").flags == ("degraded",)
    assert make_context(ASK, unseen, asked=b"").flags == ("degraded", "vectors_missing")
    assert make_context(said(800, " "), rows).flags == ()


def test_what_a_failing_hint_should_show_stands_in_its_place_by_the_generic_one_and_is_reported() -> None:
    rows = [said(1, "Hello."), said(2, "It rains."), said(3, "Bye.")]
    context = page_with_hint("{{ speaker }}: {{ text if 'rains' not in text else txet }}", rows)
    assert ids_on_page(context) == ["m1", "m2", "m3", "m800"]
    assert "- user.message.v1: content: It rains.\n" in context.markdown
    assert [(part.id, part.reason) for part in context.partial] == [
        ("m2", "hint failed, the generic hint is shown: hints/user.message.v1.md.j2 line 1: 'txet' is undefined")
    ]
    assert context.flags == (HINT_FAILED,)


def test_no_heading_stands_without_anything_below_it() -> None:
    for budget in range(60, 400, 10):
        context = make_context(ASK, [*chat(9), *chat(12, 100)], make_profile(budget=budget), (make_catalog(60, 500),))
        lines = context.markdown.split("\n")
        assert not [line for line, after in itertools.pairwise(lines) if line.startswith("## ") and not after]
        assert context.tokens == make_rendering().count(context.markdown) <= budget


CALLS = [said(1, "How hot is it?"), replied(2, "I look.", bash("a", "cat kiln"), bash("b", "cat oven")), answered(3, "a", 1200)]


@pytest.mark.parametrize("last", [answered(4, "b", 220), failed(4, "b", "no oven")])
def test_a_tools_answer_that_closes_its_turn_asks_with_all_calls_of_the_turn_before_the_message_that_they_answer(
    last: StoredBreadcrumb,
) -> None:
    context = make_context(last, CALLS)
    result = "Failed: no oven" if last.breadcrumb.failed else "Result: 220"
    assert context.markdown == (
        "## Tool results\n[8 May 2024]\n- Assistant: I look.\n- Call bash: command: cat kiln\n  Result: 1200\n"
        f"- Call bash: command: cat oven\n  {result}\n\n"
        "## Current User Message\n[8 May 2024]\n- User: How hot is it?\n"
    )
    assert ids_of(context, "tool_results") == ["m2", "m3", "m4"]
    assert ids_of(context, "current") == ["m1"]


def test_what_a_person_said_last_is_what_is_searched_for_a_tools_answer() -> None:
    notes = [sent(n, "note.v1", {"content": f"Note {n} on tea."}) for n in range(50, 60)]
    rows: list[StoredBreadcrumb] = [
        *CALLS[:1],
        sent(40, "note.v1", {"content": "How hot the kiln is: as hot as it is."}),
        *notes,
        requested(60, "a", command="x"),
    ]
    context = make_context(answered(61, "a", "Note on tea"), rows)
    assert ids_of(context, "elsewhere") == ["m40"]


def test_results_larger_than_the_page_are_cut_where_they_are_largest_and_every_call_stays() -> None:
    rows = [said(1, "Go."), replied(2, "", bash("a", "cat big"), bash("b", "cat small")), answered(3, "a", "word " * 3000)]
    context = make_context(answered(4, "b", "small"), rows, make_profile(budget=600))
    text = section(context, "Tool results")
    assert "characters left out, id m3 …]" in text
    assert text.endswith("- Call bash: command: cat small\n  Result: small")
    assert context.tokens <= 600


def test_speakers_of_a_profile_that_searches_nothing_lose_nothing_else() -> None:
    rows = [said(1, "Go."), replied(2, "I look.", bash("a", "ls")), answered(3, "a", "fog")]
    shown = undated(conversation(make_context(ASK, rows, replace(make_profile("recall"), window=make_profile().window))))
    assert shown == "- User: Go.\n- Assistant: I look.\n- Call bash: command: ls\n  Result: fog"


HOW_HOT = said(800, "Und wie heiß war der Ofen?")
ANSWER = "\n".join(f"{n}. Schritt {n}: den Ofen langsam auf {n * 10} Grad bringen." for n in range(1, 60))


def page(number: int, **changes: Any) -> Context:
    return make_context(HOW_HOT, chat(number), make_two_sections(**({"budget": 2000, "summaries": None} | changes)))


@pytest.mark.parametrize(("number", "shape"), [(125, "none"), (130, "openai"), (400, "anthropic")])
def test_a_conversation_that_does_not_fit_fills_the_page_however_long_it_is(number: int, shape: str) -> None:
    context = page(number, chat_format=shape)
    assert context.tokens > 0.93 * context.budget
    assert ids_of(context, "recent")[-1] == f"m{number}"
    assert f"({number - len(ids_of(context, 'recent')) - len(ids_of(context, 'relevant'))} earlier messages" in context.markdown


@pytest.mark.parametrize(("number", "shape"), [(125, "none"), (130, "openai"), (400, "anthropic")])
def test_one_conversation_fills_the_page_where_no_message_costs_too_much(number: int, shape: str) -> None:
    context = make_context(HOW_HOT, chat(number), make_profile(budget=2000, worth=None, chat_format=shape))
    numbers = ids_of(context, "conversation")
    assert 0.93 * context.budget < context.tokens <= context.budget
    assert numbers[-1] == f"m{number}"
    assert f"({number - len(numbers)} of {number} messages are not shown, … where)" in context.markdown


def test_a_page_ends_where_one_more_message_costs_more_than_the_profile_pays() -> None:
    cheap, dear = (make_context(HOW_HOT, chat(400), make_profile(worth=worth)) for worth in (5000, 100_000))
    assert 0 < len(ids_of(cheap, "conversation")) < len(ids_of(dear, "conversation"))
    assert cheap.tokens < dear.tokens < 0.93 * dear.budget


def test_a_profile_without_a_fill_has_the_least_of_the_conversation_and_stays_small() -> None:
    small, full = (page(400, fill=fill, worth=50_000) for fill in (False, True))
    assert ids_of(small, "recent")[-3:] == ["m398", "m399", "m400"]
    assert small.tokens < 0.2 * small.budget < full.tokens


def test_a_cut_last_answer_is_completed_before_older_messages_come() -> None:
    rows = [*chat(200), said(201, "Wie brenne ich?"), replied(202, ANSWER)]
    context = make_context(HOW_HOT, rows, make_two_sections(budget=2400, summaries=None))
    assert "59. Schritt 59" in context.markdown
    assert all(f"  {n}. Schritt {n}:" in context.markdown for n in range(2, 60))
    assert context.tokens > 0.93 * context.budget


def test_what_was_found_is_taken_off_once_the_conversation_shows_it() -> None:
    rows = [*chat(60, words="on tea"), said(61, "Der Ofen war 900 Grad heiß."), *chat(50, 62, "on tea")]
    context = make_context(HOW_HOT, rows, make_two_sections(budget=2000, summaries=None, retrieval={"min_probability": None}))
    shown = [*ids_of(context, "recent"), *ids_of(context, "relevant")]
    assert len(shown) == len(set(shown))
    assert "m61" in shown


def test_on_the_page_of_a_tool_the_question_and_the_result_have_what_nothing_else_uses() -> None:
    lines = "\n".join(f"線{n}: 窯は{n}度" for n in range(900))
    rows = [*chat(4), said(10, f"{ANSWER}\n窯は何度?"), replied(11, "", bash("a", "cat log"))]
    context = make_context(answered(12, "a", lines), rows, make_profile(budget=3000, summaries=None))
    assert context.markdown.endswith("窯は何度?\n")
    assert "線0: 窯は0度" in context.markdown
    assert "線899: 窯は899度" in context.markdown
    assert context.tokens > 0.93 * context.budget


def test_large_results_whose_calls_are_not_known_hide_no_short_message_before_them() -> None:
    log = "\n".join(f"Zeile {n}: der Brenner läuft, und der Zug ist offen." for n in range(90))
    results = (answered(n, f"c{n}", log.replace("Zeile", f"L{n}")) for n in range(2, 5))
    rows = [said(1, "Das Thermometer hängt links."), *results, replied(5, "Alle drei Brenner laufen.")]
    assert "m1" in ids_of(make_context(HOW_HOT, rows, make_two_sections(budget=1600, summaries=None)), "recent")


def test_many_short_results_fill_the_page_whether_their_calls_are_known_or_not() -> None:
    unknown = [answered(n, f"c{n}", f"ok {n}") for n in range(1, 400)]
    known = [row for n in range(1, 798, 2) for row in (replied(n, "", bash(f"c{n}", f"ls {n}")), answered(n + 1, f"c{n}", "ok"))]
    for rows in (unknown, known):
        context = make_context(
            HOW_HOT, [*rows, replied(799, "Alles in Ordnung.")], make_two_sections(budget=1600, summaries=None)
        )
        assert context.tokens > 0.93 * context.budget
