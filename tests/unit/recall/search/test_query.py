"""Names of speakers are matched as a field, not as words."""
# ruff: noqa: RUF001 - words of many scripts

import pytest

from builder.recall.search.query import strip_names

PEOPLE = ("Ana", "Bob Stone", "Bob", "User", "Assistant")


@pytest.mark.parametrize(
    ("text", "asked", "names"),
    [
        ("What did Ana say about the glaze?", "What did say about the glaze?", {"Ana"}),
        ("Where is Ana's brother?", "Where is brother?", {"Ana"}),
        ("Where is Ana’s brother?", "Where is brother?", {"Ana"}),
        ("Did Ana or Bob call?", "Did or call?", {"Ana", "Bob"}),
        ("Did Bob Stone call?", "Did call?", {"Bob Stone"}),
        ("Is the banana ripe? Anas?", "Is the banana ripe? Anas?", set()),
        ("what did ana say?", "what did ana say?", set()),
        ("The User asked the Assistant", "The User asked the Assistant", set()),
        ("No names at all", "No names at all", set()),
        ("", "", set()),
    ],
)
def test_names_of_speakers_are_taken_out_of_the_question(text: str, asked: str, names: set[str]) -> None:
    assert strip_names(text, PEOPLE) == (asked, frozenset(names))


def test_a_question_that_is_only_a_name_keeps_it() -> None:
    assert strip_names("Ana?", PEOPLE) == ("Ana?", frozenset({"Ana"}))


def test_a_name_in_another_script_is_found() -> None:
    assert strip_names("Что сказала Анна?", ("Анна",)) == ("Что сказала ?", frozenset({"Анна"}))


def test_a_name_may_hold_any_characters() -> None:
    assert strip_names("Ask R2.D2 (beta)* now", ("R2.D2 (beta)*",)) == ("Ask now", frozenset({"R2.D2 (beta)*"}))


def test_blank_speakers_are_no_names() -> None:
    assert strip_names("What now?", ("", "  ")) == ("What now?", frozenset())
