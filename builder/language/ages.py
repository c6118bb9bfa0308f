"""How long ago a day was, as a phrase and a number: rounded to the day, so that it changes once a day."""

from datetime import datetime

WEEK_DAYS, MONTH_DAYS, YEAR_DAYS = 7, 30.44, 365.25
MAX_DAYS, MAX_WEEKS_DAYS, MAX_MONTHS_DAYS = 13, 60, 700
"""Ages in days up to which the number of days, of weeks and of months is given."""


def age(then: datetime, now: datetime) -> tuple[str, int]:
    """Such as ("today", 0), ("days_ago", 3), ("weeks_ago", 2), ("months_ago", 4). Both are aware; a later day is today."""
    days = (now.astimezone(then.tzinfo).date() - then.date()).days
    if days <= 1:
        return ("yesterday", 1) if days == 1 else ("today", 0)
    if days <= MAX_DAYS:
        return "days_ago", days
    if days <= MAX_WEEKS_DAYS:
        return "weeks_ago", round(days / WEEK_DAYS)
    if days <= MAX_MONTHS_DAYS:
        return "months_ago", round(days / MONTH_DAYS)
    return "years_ago", round(days / YEAR_DAYS)
