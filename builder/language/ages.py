"""How long ago a day was, as a phrase and a number: rounded to the day, so that it changes once a day (features uS4)."""

from datetime import datetime

WEEK, MONTH, YEAR = 7, 30.44, 365.25
DAYS_UP_TO, WEEKS_UP_TO, MONTHS_UP_TO = 13, 60, 700
"""Days up to which days, weeks and months are told."""


def age(then: datetime, now: datetime) -> tuple[str, int]:
    """Such as ("today", 0), ("days_ago", 3), ("weeks_ago", 2), ("months_ago", 4). Both are aware; a later day is today."""
    days = (now.astimezone(then.tzinfo).date() - then.date()).days
    if days <= 1:
        return ("yesterday", 1) if days == 1 else ("today", 0)
    if days <= DAYS_UP_TO:
        return "days_ago", days
    if days <= WEEKS_UP_TO:
        return "weeks_ago", round(days / WEEK)
    if days <= MONTHS_UP_TO:
        return "months_ago", round(days / MONTH)
    return "years_ago", round(days / YEAR)
