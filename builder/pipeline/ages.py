"""How long ago a day was, in words: rounded to the day, so that it changes once a day (`reference/field-complaints.md` uS4)."""

from datetime import datetime

WEEK, MONTH, YEAR = 7, 30.44, 365.25
DAYS_UP_TO, WEEKS_UP_TO, MONTHS_UP_TO = 13, 60, 700
"""Days up to which days, weeks and months are told."""


def age(then: datetime, now: datetime) -> str:
    """Today, yesterday, 3 days ago, 2 weeks ago, 4 months ago, 2 years ago. Both are aware; a later day is today."""
    days = (now.astimezone(then.tzinfo).date() - then.date()).days
    if days <= 1:
        return "yesterday" if days == 1 else "today"
    if days <= DAYS_UP_TO:
        return f"{days} days ago"
    if days <= WEEKS_UP_TO:
        return f"{round(days / WEEK)} weeks ago"
    if days <= MONTHS_UP_TO:
        return f"{round(days / MONTH)} months ago"
    return f"{round(days / YEAR)} years ago"
