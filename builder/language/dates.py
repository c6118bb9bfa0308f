"""Dates that a question names, and how the page words a day or its age."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone, tzinfo
from functools import cache, lru_cache

import numpy as np
from numpy.typing import NDArray

from builder.domain.breadcrumb import Breadcrumb
from builder.domain.phrases import Phrases
from builder.language.word_lists import Pattern, any_of, either, tables, word_set, words

Ints = NDArray[np.int64]

_ISO = re.compile(r"\b((?:19|20)\d\d)-(\d\d)-(\d\d)\b")
_YEAR = re.compile(r"\b((?:19|20)\d\d)\b")

FADE_DAYS = 8.0
"""People speak of a day for about a week after it."""
SPILL_DAYS = 20
"""Days of the next month in which people speak of what happened in a month."""
MONTH_DAYS = 30
YEAR_WEIGHT = np.float32(0.3)


@dataclass(frozen=True, slots=True)
class Mention:
    """The dates that a text names."""

    years: tuple[int, ...] = ()
    months: tuple[tuple[int, int], ...] = ()
    """(month, day), with day 0 where none was named."""

    def __bool__(self) -> bool:
        return bool(self.years or self.months)


def mentioned(text: str) -> Mention:
    """The dates that a text names. "May" counts only with a capital letter or a day."""
    numbers, (month_name, day_month, month_day) = _month_numbers(), _patterns()
    days = {(numbers[month.lower()], int(day)) for day, month in day_month.findall(text)}
    days |= {(numbers[month.lower()], int(day)) for month, day in month_day.findall(text)}
    days |= {(int(month), int(day)) for _, month, day in _ISO.findall(text)}
    names = set(month_name.findall(text)) - word_set("ambiguous_months")
    months = days | {(month, 0) for month in {numbers[name.lower()] for name in names} - {month for month, _ in days}}
    return Mention(tuple(sorted(set(map(int, _YEAR.findall(text))))), tuple(sorted(months)))


def depends_on_day(text: str) -> bool:
    """Whether it names a date or a day relative to now ("until Friday")."""
    return bool(mentioned(text) or _from_today().search(text))


def nearness(mention: Mention, year: Ints, month: Ints, day: Ints) -> NDArray[np.float32]:
    """1 on the named day or in the named month, fading after it, else 0; shape of year, month and day."""

    def is_named(years: Ints) -> NDArray[np.bool_]:
        return np.isin(years, mention.years) | (not mention.years)

    if not mention.months:
        return np.where(np.isin(year, mention.years), YEAR_WEIGHT, np.float32(0))
    best = np.zeros(len(year))
    for number, named_day in mention.months:
        within = (month == number) & is_named(year)
        spill = (month == number % 12 + 1) & (day <= SPILL_DAYS) & is_named(year - number // 12)
        near = np.exp(-np.abs(day - named_day) / FADE_DAYS) if named_day else 1
        late = np.exp(-(MONTH_DAYS - named_day + day) / FADE_DAYS) if named_day else 1
        best = np.maximum(best, np.where(within, near, 0))
        best = np.maximum(best, np.where(spill, 0.5 * late, 0))
    return best.astype(np.float32)


@cache
def _from_today() -> Pattern:
    return re.compile(any_of("days_from_today"), re.IGNORECASE)


@cache
def _month_numbers() -> Mapping[str, int]:
    return {name: number for lists in tables().values() for number, name in enumerate(lists.get("months", ()), 1)}


@cache
def _patterns() -> tuple[Pattern, ...]:
    """Patterns of a month alone, of one after a day, and of one before a day."""
    month, ending, link = (either(words(name)) for name in ("months", "day_endings", "day_links"))
    patterns = (
        rf"\b({month})\b",
        rf"\b(\d{{1,2}})(?:{ending}|\.)?\s+(?:{link}\s+)?({month})\b",
        rf"\b({month})\s+(\d{{1,2}})(?!\d)",
    )
    return tuple(re.compile(pattern, re.IGNORECASE) for pattern in patterns)


DAYS_OF_A_WEEK, DAYS_OF_A_MONTH, DAYS_OF_A_YEAR = 7, 30.44, 365.25
MAX_DAYS, MAX_WEEKS_DAYS, MAX_MONTHS_DAYS = 13, 60, 700
"""Ages in days up to which the number of days, of weeks and of months is given."""


def age(then: datetime, now: datetime) -> tuple[str, int]:
    """("today", 0), ("days_ago", 3), ("weeks_ago", 2), …; both aware, a later day is today."""
    days = (now.astimezone(then.tzinfo).date() - then.date()).days
    if days <= 1:
        return ("yesterday", 1) if days == 1 else ("today", 0)
    if days <= MAX_DAYS:
        return "days_ago", days
    if days <= MAX_WEEKS_DAYS:
        return "weeks_ago", round(days / DAYS_OF_A_WEEK)
    if days <= MAX_MONTHS_DAYS:
        return "months_ago", round(days / DAYS_OF_A_MONTH)
    return "years_ago", round(days / DAYS_OF_A_YEAR)


def local_time(breadcrumb: Breadcrumb, zone: tzinfo) -> datetime:
    """By the sender's offset, else in the zone of the profile; in UTC where that leaves the years 1 to 9999."""
    return _local(breadcrumb.created_at, breadcrumb.utc_offset, zone)


@lru_cache(4096)
def day_line(moment: datetime, offset: int | None, zone: tzinfo, phrases: Phrases) -> str:
    """The day as "8 May 2023". offset: minutes east of UTC of the sender's clock; None = in the zone."""
    return phrases.day(_local(moment, offset, zone))


def _local(moment: datetime, offset: int | None, zone: tzinfo) -> datetime:
    clock = zone if offset is None else timezone(timedelta(minutes=offset))
    try:
        return moment.astimezone(clock)
    except OverflowError:
        return moment
