"""The order of a conversation's messages in a file: that of their times, where those run back."""

from datetime import datetime, timedelta
from itertools import accumulate, pairwise

from builder.chat_files.history import Entry
from builder.domain.breadcrumb import USER_MESSAGE

TOLERANCE = timedelta(minutes=1)
"""Clocks of several senders differ; within it the order of the file is right."""


def in_time_order(entries: list[Entry]) -> list[Entry]:
    """The oldest first, where times run back by more than TOLERANCE or all the way; one without a time follows the one before.

    Unless questions would lose their answers: then it is a clock that ran back.
    """
    times = [entry.time for entry in entries if entry.time is not None]
    steps = [later - earlier for earlier, later in pairwise(times)]
    falls = sum(step < timedelta(0) for step in steps)
    if not falls:
        return entries
    is_reversed = falls > 1 or min(steps) < -TOLERANCE
    if is_reversed and all(step <= timedelta(0) for step in steps) and len(times) == len(entries):
        return entries[::-1]
    keys = _sort_keys(entries)
    if not _runs_back(keys):
        return entries
    by_time = [entries[number] for number in sorted(range(len(entries)), key=keys.__getitem__)]
    return by_time if _turns(by_time) >= _turns(entries) else entries


def align_times(entries: list[Entry]) -> None:
    """Let the messages' times run as their order does: an import stands at its time, and a page of the file in its order.

    A time that runs back, and none, become that of the entry before; of the first ones, the first time that there is.
    """
    latest = next((entry.time for entry in entries if entry.time is not None), None)
    for entry in entries:
        if latest is None or (entry.time is not None and entry.time >= latest):
            latest = entry.time
        elif entry.is_chat:
            entry.time = latest if entry.time is None else latest.astimezone(entry.time.tzinfo)


def _turns(entries: list[Entry]) -> int:
    """How many messages of people have an answer or a call right behind them: an order with fewer is not that of the talk."""
    are_people = [_is_of_person(entry) for entry in entries]
    return sum(one and not other for one, other in pairwise(are_people))


def _is_of_person(entry: Entry) -> bool:
    return entry.role == "user" if entry.is_chat else entry.value.get("schema_name") == USER_MESSAGE


def _sort_keys(entries: list[Entry]) -> list[datetime]:
    """A version is not before the one before it."""
    time = next(entry.time for entry in entries if entry.time is not None)
    keys, newest = list[datetime](), dict[str, datetime]()
    for entry in entries:
        time = entry.time or time
        if entry.identity:
            time = newest[entry.identity] = max(time, newest.get(entry.identity, time))
        keys.append(time)
    return keys


def _runs_back(keys: list[datetime]) -> bool:
    return any(key < latest - TOLERANCE for key, latest in zip(keys, accumulate(keys, max), strict=True))
