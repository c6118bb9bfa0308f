"""What of the hot window is shown, and what the page says of the rest."""

from builder.domain.facts import Remembered
from builder.pipeline.hot import hot_window
from tests.factories import make_profile, make_remembered, make_view


def turn(number: int, said: str = "") -> list[Remembered]:
    """A call and its result."""
    calls = (f"r{number}",)
    return [
        make_remembered(said, 2 * number, schema="agent.response.v1", role="assistant", calls=calls),
        make_remembered(f"{number} crates", 2 * number + 1, schema="tool.response.v1", role="tool", calls=calls),
    ]


def session(turns: int, said: str = "") -> list[Remembered]:
    return [row for number in range(1, turns + 1) for row in turn(number, said)]


def test_the_page_counts_all_tool_turns_of_the_session_that_it_leaves_out() -> None:
    hot = hot_window(make_view(session(60)), make_profile(window={"max_tool_turns": 3}), {})
    assert hot.note == "(57 earlier tool turns left out)"


def test_one_turn_is_one_turn_and_none_is_no_word() -> None:
    assert hot_window(make_view(session(4)), make_profile(), {}).note == "(1 earlier tool turn left out)"
    assert hot_window(make_view(session(3)), make_profile(), {}).note == ""
    assert hot_window(make_view(session(60)), make_profile(window={"max_tool_turns": None}), {}).note == ""


def test_with_an_old_turn_goes_a_call_without_words_and_what_was_said_with_it_stays() -> None:
    profile = make_profile(window={"max_tool_turns": 1})
    silent, spoken = (hot_window(make_view(session(3, said)), profile, {}) for said in ("", "Let me count."))
    assert [len(unit) for unit in silent.units] == [2]
    assert [[each.remembered.breadcrumb.id for each in unit] for unit in spoken.units] == [["m6", "m7"], ["m4"], ["m2"]]
    assert {omission.reason for omission in silent.omissions} == {"older than the last 1 tool turns"}
