"""Limits that a profile names act always; shares only when the conversation does not fit."""

from dataclasses import replace
from typing import Any

import pytest

from builder.domain.context import Context
from builder.domain.profile import Profile
from builder.domain.stored import StoredBreadcrumb
from builder.domain.tool_output import Cut
from tests.conversations import answered, bash, chat, conversation, ids_of, replied, said, undated
from tests.factories import make_catalog, make_context
from tests.two_sections import make_two_sections

ASK = said(800, "And now?")
LINE_ON_WHAT_IS_MISSING = 10
LONG = " ".join(f"Sentence {n} of a long letter." for n in range(60))


def exchange(number: int, output: Any, tool: str = "reader") -> list[StoredBreadcrumb]:
    call = f"r{number}"
    return [replied(number, f"I look {number}.", (call, tool, {"n": number})), answered(number + 1, call, output, tool)]


def limited(turns: int | None = None, **rules: Any) -> Profile:
    bundled = make_two_sections(budget=40_000, window={"max_tool_turns": turns}, retrieval={"schemas": ()})
    return replace(bundled, tool_output=replace(bundled.tool_output, **rules))


def page(rows: list[StoredBreadcrumb], profile: Profile) -> Context:
    return make_context(ASK, rows, profile)


def partial(context: Context) -> dict[str, str]:
    return {part.id: part.reason for part in context.partial}


def test_what_a_limit_of_units_takes_is_counted_by_that_reason() -> None:
    profile = make_two_sections(window={"max_units": 4, "trim_to": 2}, retrieval={"schemas": ()})
    assert page(chat(10), profile).left_out == {"older than the newest 4 units": 6}


@pytest.mark.parametrize(("turns", "number"), [(None, 3), (4, 3), (2, 2), (0, 0)])
def test_only_the_newest_tool_turns_are_shown_what_was_said_with_the_others_stays_and_the_account_counts_them(
    turns: int | None, number: int
) -> None:
    context = page([*exchange(1, "Rain"), *exchange(3, "Wind"), *exchange(5, "Sun")], limited(turns))
    lines = conversation(context).split("\n")
    assert [line for line in lines if "Result: " in line] == ["  Result: Rain", "  Result: Wind", "  Result: Sun"][3 - number :]
    assert sum("I look" in line for line in lines) == 3
    assert context.left_out == ({f"older than the last {turns} tool turns": 3 - number} if number < 3 else {})


def test_with_a_turn_that_is_left_out_go_its_calls_and_what_was_said_with_them_stays() -> None:
    context = page(
        [*exchange(1, "Rain"), replied(3, "", bash("r3", "ls")), answered(4, "r3", "files"), *exchange(5, "Sun")], limited(1)
    )
    assert undated(conversation(context)) == (
        "(1 of 3 messages is not shown, … where)\n- Assistant: I look 1.\n- …\n"
        "- Assistant: I look 5.\n- Call reader: n: 5\n  Result: Sun"
    )
    assert context.left_out == {"older than the last 1 tool turns": 3}


def test_older_tool_turns_become_a_line_each_below_their_calls() -> None:
    context = page([*exchange(1, LONG), *exchange(3, LONG), *exchange(5, LONG)], limited(placeholder_after=2))
    size = len(exchange(1, LONG)[1].breadcrumb.body.encode())
    assert f"- Call reader: n: 1\n  [reader: result processed - {size:,} bytes, id m2]\n" in context.markdown
    assert context.markdown.count("  Result: Sentence 0 ") == 2
    assert partial(context) == {"m2": "older tool turn, one line"}


def test_a_result_that_is_shorter_than_its_line_stays() -> None:
    context = page(exchange(1, 12), limited(placeholder_after=0))
    assert conversation(context).endswith("- Call reader: n: 1\n  Result: 12")
    assert context.partial == ()


def test_a_result_list_is_cut_with_numbers_of_its_own_for_a_tool_and_a_note_that_is_true() -> None:
    rows = [*exchange(1, ["x" * 50] * 9), *exchange(3, ["y" * 50] * 9, "search")]
    rules = limited(cut=Cut(results=4, characters=500), per_tool={"search": Cut(results=2, characters=10)})
    context = page(rows, rules)
    assert context.markdown.count("x" * 50) == 4
    assert "  (4 of 9 results shown; fetch m2 for all " in context.markdown
    assert "  (2 of 9 results shown, each cut to 10 characters; fetch m4 for all " in context.markdown
    assert partial(context) == dict.fromkeys(("m2", "m4"), "cut to its first results")
    assert all(part.tokens_shown < part.tokens for part in context.partial)


@pytest.mark.parametrize("name", ["recent", "tools", "instructions"])
def test_a_share_that_a_profile_names_holds_under_pressure_and_acts_only_then(name: str) -> None:
    wishes = [said(n, f"Never show the colour of glaze batch {n}.") for n in range(1, 60)]
    rows, tools = [*wishes, *chat(100, 60)], (make_catalog(99, 500),)

    def spent(budget: int, number: int) -> int:
        profile = make_two_sections(budget=budget)
        rules = tuple(replace(rule, max_share=0.2) if rule.name == name else rule for rule in profile.sections)
        context = make_context(ASK, rows[-number:], replace(profile, sections=rules), tools)
        return sum(section.tokens for section in context.sections if section.name == name)

    assert 50 < spent(1000, 159) <= 200 + LINE_ON_WHAT_IS_MISSING
    assert name == "instructions" or spent(60_000, 159) > 1000


def test_a_limit_by_units_that_is_not_reached_limits_nothing() -> None:
    """Two answers to an unknown call are one unit and two items."""
    rows = [said(1, "First."), answered(2, "r9", "One."), answered(3, "r9", "Two."), said(4, "Last.")]
    profile = make_two_sections(window={"max_units": 10, "trim_to": 3}, retrieval={"schemas": ()})
    assert ids_of(page(rows, profile), "recent") == ["m1", "m2", "m3", "m4"]
