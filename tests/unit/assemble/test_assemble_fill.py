"""The room that nothing uses goes back to the conversation, unless the profile wants small pages."""

from typing import Any

import pytest

from builder.domain.context import Context
from tests.conversations import answered, bash, chat, ids_of, replied, said
from tests.factories import make_context, make_profile

ASK = said(800, "Und wie heiß war der Ofen?")
ANSWER = "\n".join(f"{n}. Schritt {n}: den Ofen langsam auf {n * 10} Grad bringen." for n in range(1, 60))


def page(number: int, **changes: Any) -> Context:
    return make_context(ASK, chat(number), make_profile(**({"budget": 2000, "summaries": None} | changes)))


@pytest.mark.parametrize("shape", ["none", "openai", "anthropic"])
@pytest.mark.parametrize("number", [125, 130, 400])
def test_a_conversation_that_does_not_fit_fills_the_page_however_long_it_is(number: int, shape: str) -> None:
    context = page(number, chat_format=shape)
    assert context.tokens > 0.93 * context.budget
    assert ids_of(context, "recent")[-1] == f"m{number}"
    assert f"({number - len(ids_of(context, 'recent')) - len(ids_of(context, 'relevant'))} earlier messages" in context.markdown


def test_a_profile_without_a_fill_has_the_least_of_the_conversation_and_stays_small() -> None:
    context = page(400, fill=False)
    assert ids_of(context, "recent")[-3:] == ["m398", "m399", "m400"]
    assert context.tokens < 0.7 * context.budget


def test_a_cut_last_answer_is_completed_before_older_messages_come() -> None:
    rows = [*chat(200), said(201, "Wie brenne ich?"), replied(202, ANSWER)]
    context = make_context(ASK, rows, make_profile(budget=2400, summaries=None))
    assert "59. Schritt 59" in context.markdown
    assert all(f"  {n}. Schritt {n}:" in context.markdown for n in range(2, 60))
    assert context.tokens > 0.93 * context.budget


def test_what_was_found_is_taken_off_once_the_conversation_shows_it() -> None:
    rows = [*chat(60, words="on tea"), said(61, "Der Ofen war 900 Grad heiß."), *chat(50, 62, "on tea")]
    context = make_context(ASK, rows, make_profile(budget=2000, summaries=None, retrieval={"min_probability": None}))
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
    assert "m1" in ids_of(make_context(ASK, rows, make_profile(budget=1600, summaries=None)), "recent")


def test_many_short_results_fill_the_page_whether_their_calls_are_known_or_not() -> None:
    unknown = [answered(n, f"c{n}", f"ok {n}") for n in range(1, 400)]
    known = [row for n in range(1, 800, 2) for row in (replied(n, "", bash(f"c{n}", f"ls {n}")), answered(n + 1, f"c{n}", "ok"))]
    for rows in (unknown, known):
        context = make_context(ASK, [*rows, replied(799, "Alles in Ordnung.")], make_profile(budget=1600, summaries=None))
        assert context.tokens > 0.93 * context.budget
