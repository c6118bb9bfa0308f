"""Dates that a question names."""

import numpy as np
import pytest

from builder.language.dates import Mention, depends_on_day, mentioned, nearness


@pytest.mark.parametrize(
    ("text", "years", "months"),
    [
        ("What happened on 7 May 2023?", (2023,), ((5, 7),)),
        ("What happened on May 7, 2023?", (2023,), ((5, 7),)),
        ("What happened on the 7th of May?", (), ((5, 7),)),
        ("What happened on 2023-05-07?", (2023,), ((5, 7),)),
        ("Was geschah am 7. Mai 2023?", (2023,), ((5, 7),)),
        ("¿Qué pasó el 7 de mayo?", (), ((5, 7),)),
        ("In March or in June?", (), ((3, 0), (6, 0))),
        ("And in 2021?", (2021,), ()),
        ("You may march on.", (), ((3, 0),)),
        ("What may happen next?", (), ()),
        ("It costs 12345 coins.", (), ()),
    ],
)
def test_dates_are_read_from_questions(text: str, years: tuple[int, ...], months: tuple[tuple[int, int], ...]) -> None:
    assert mentioned(text) == Mention(years, months)


def near(text: str, *days: tuple[int, int, int]) -> list[float]:
    year, month, day = np.array(days, np.int64).T
    return [round(float(value), 2) for value in nearness(mentioned(text), year, month, day)]


def test_the_named_day_is_nearest_and_the_days_around_it_fade() -> None:
    found = near("on 7 May 2023", (2023, 5, 7), (2023, 5, 9), (2023, 5, 30), (2022, 5, 7), (2023, 8, 7))
    assert found[0] == 1 > found[1] > found[2] > found[3] == found[4] == 0


def test_what_happened_in_a_month_is_told_until_the_middle_of_the_next() -> None:
    assert near("in May", (2023, 5, 1), (2023, 5, 31), (2023, 6, 20), (2023, 6, 21), (2023, 4, 30)) == [1, 1, 0.5, 0, 0]


def test_what_happened_in_december_is_told_in_the_january_of_the_next_year() -> None:
    assert near("in December 2022", (2022, 12, 5), (2023, 1, 5), (2022, 1, 5)) == [1, 0.5, 0]


def test_a_year_alone_is_a_weak_hint() -> None:
    assert near("in 2022", (2022, 3, 1), (2023, 3, 1)) == [0.3, 0]


def test_without_a_date_nothing_is_near() -> None:
    assert not mentioned("What happened?")
    assert near("What happened?", (2022, 3, 1)) == [0]


@pytest.mark.parametrize(
    ("text", "depends"),
    [
        ("Answer in Dutch until Friday.", True),
        ("Diese Woche nur kurze Antworten.", True),
        ("Jusqu'à vendredi, réponds en anglais.", True),
        ("Никогда не звони до понедельника.", True),
        ("本周请始终用英文回答。", True),
        ("Never order before 3 June.", True),
        ("Never answer before ten.", False),
        ("Antworten bis 60 Wörter.", False),
        ("Nunca escribas hasta 60 palabras.", False),
    ],
)
def test_what_a_day_decides_is_told_from_what_holds_on_every_day(text: str, *, depends: bool) -> None:
    assert depends_on_day(text) is depends
