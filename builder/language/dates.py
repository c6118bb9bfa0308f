"""Dates that a question names, and how near a day is to them."""

import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Ints = NDArray[np.int64]

_MONTHS = (
    "january januar enero janvier",
    "february februar febrero février",
    "march märz marzo mars",
    "april abril avril",
    "may mai mayo",
    "june juni junio juin",
    "july juli julio juillet",
    "august agosto août",
    "september septiembre septembre",
    "october oktober octubre octobre",
    "november noviembre novembre",
    "december dezember diciembre décembre",
)
_NUMBER_OF = {name: number for number, names in enumerate(_MONTHS, 1) for name in names.split()}
_NAME = "|".join(sorted(_NUMBER_OF, key=len, reverse=True))
_MONTH = re.compile(rf"\b({_NAME})\b", re.IGNORECASE)
_DAY_MONTH = re.compile(rf"\b(\d{{1,2}})(?:st|nd|rd|th|\.)?\s+(?:of\s+|de\s+)?({_NAME})\b", re.IGNORECASE)
_MONTH_DAY = re.compile(rf"\b({_NAME})\s+(\d{{1,2}})(?!\d)", re.IGNORECASE)
_ISO = re.compile(r"\b((?:19|20)\d\d)-(\d\d)-(\d\d)\b")
_YEAR = re.compile(r"\b((?:19|20)\d\d)\b")

FADE_DAYS = 8.0
"""People speak of a day for about a week after it (`reference/retrieval.md` §9)."""
SPILL_DAYS = 20
"""What happened in a month is told until the twentieth of the next."""


@dataclass(frozen=True, slots=True)
class Mention:
    """years: named years. months: (month, day) with day 0 where none was named."""

    years: tuple[int, ...] = ()
    months: tuple[tuple[int, int], ...] = ()

    def __bool__(self) -> bool:
        return bool(self.years or self.months)


NO_DATES = Mention()


def mentioned(text: str) -> Mention:
    """The dates that a text names, in several languages. "May" counts only with a capital letter or a day."""
    days = {(_NUMBER_OF[month.lower()], int(day)) for day, month in _DAY_MONTH.findall(text)}
    days |= {(_NUMBER_OF[month.lower()], int(day)) for month, day in _MONTH_DAY.findall(text)}
    days |= {(int(month), int(day)) for _, month, day in _ISO.findall(text)}
    named = {_NUMBER_OF[match[1].lower()] for match in _MONTH.finditer(text) if match[1] != "may" and match[1] != "mars"}
    months = days | {(month, 0) for month in named - {month for month, _ in days}}
    return Mention(tuple(sorted(set(map(int, _YEAR.findall(text))))), tuple(sorted(months)))


def nearness(mention: Mention, year: Ints, month: Ints, day: Ints) -> Floats:
    """1 on the named day or in the named month, fading after it, 0 elsewhere. year, month, day: one number a breadcrumb."""

    def told(years: Ints) -> NDArray[np.bool_]:
        return np.isin(years, mention.years) if mention.years else np.ones(len(years), np.bool_)

    best = np.zeros(len(year), np.float32)
    if not mention.months:
        return np.where(np.isin(year, mention.years), np.float32(0.3), best)
    for wanted, on in mention.months:
        here = (month == wanted) & told(year)
        spill = (month == wanted % 12 + 1) & (day <= SPILL_DAYS) & told(year - wanted // 12)
        near = np.exp(-np.abs(day - on) / FADE_DAYS) if on else np.ones(len(day))
        late = np.exp(-(30 - on + day) / FADE_DAYS) if on else np.ones(len(day))
        best = np.maximum(best, np.where(here, near, 0)).astype(np.float32)
        best = np.maximum(best, np.where(spill, 0.5 * late, 0)).astype(np.float32)
    return best
