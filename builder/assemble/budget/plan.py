"""From numbers to what is shown: the dearest first, until nothing has room or is worth its tokens.

Price = worth ÷ tokens, label and hole included. Everything is an index into arrays: no text is read here.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from builder.assemble.budget.purchases import HOLE_TOKENS, Buyer, Entries, Offers, Plan, Room
from builder.assemble.budget.worth import DOUBTFUL, FOLLOW_UP, QUOTED, REPEATED, Doubles, density

PART_SHARE, MIN_PART, MAX_PART = 0.1, 64, 300
"""The short form of a long message, as a share of the room, and its bounds in tokens."""
LONG = 4 / 3
"""Times its short form, above which a message has one."""
FAR = 60
"""Most tokens that a call with its results counts between the question and what is older."""
RESULT_SHARE, RESULT_TOKENS = 0.7, 300
REST_SHARE, REST_TOKENS = 0.1, 100
"""Worth of the rest of a call, of a picture, and of a long message, as a share of its density; tokens up to which it grows."""
COMPANION = 0.35
"""Least worth of what a find brings, as a share of its own."""
SUMMARY_PRICE = 3e-5
"""The lines of a summary: bought after what is probable, and after the last few hundred tokens."""
NEWEST_RESULT = 0.5
"""The newest result, with everything after it, comes first where it needs no more of the room."""


@dataclass(frozen=True, slots=True)
class _Purchase:
    price: float
    kind: Literal["step", "rest", "find", "summary"]
    number: int
    """Number of the entry or find, or of the first of several steps; a summary's tokens."""
    steps: int = 1


class _Block(NamedTuple):
    """Entries that are bought together."""

    price: float
    worth: float
    tokens: float
    steps: int


LEAST_TOKENS = 1e-9
ORDER = {"step": 0, "rest": 1, "find": 2, "summary": 3}
"""Purchases of one price."""


def part_of(room: float) -> int:
    """Most tokens of the short form of a message on a page of so much room."""
    return max(MIN_PART, min(MAX_PART, int(PART_SHARE * room)))


def plan(entries: Entries, offers: Offers, room: Room, least: float, *, follows: bool, summary: int = 0) -> Plan:
    """Buy.

    least: price below which nothing is bought. follows: the question follows up the last messages. summary: tokens of it.
    """
    text = entries.whole - entries.pictures
    cut = np.where(text > LONG * room.part, float(room.part), text)
    short = np.where(np.isinf(entries.line), cut, np.minimum(text, entries.line))
    needed = _density(entries, short, follows=follows)
    buyer = Buyer(entries, offers, short, room)
    buyer.newest_result(NEWEST_RESULT * room.newest)
    purchases = [
        *_steps(short, needed, room.newest),
        *_rests(entries, short, needed, room.newest, follows=follows),
        *_finds(offers, buyer.brings, follows=follows),
        *([_Purchase(SUMMARY_PRICE, "summary", summary)] if summary else []),
    ]
    for purchase in sorted(purchases, key=lambda each: (-each.price, ORDER[each.kind], each.number)):
        if purchase.price < least:
            break
        if buyer.is_full:
            buyer.plan.lacks_room = True
            break
        match purchase.kind:
            case "step":
                buyer.steps(purchase.number, purchase.steps)
            case "rest":
                buyer.rest(purchase.number)
            case "find":
                buyer.find(purchase.number)
            case "summary":
                buyer.summary(purchase.number)
    buyer.drop_copies()
    return buyer.plan


def _density(entries: Entries, short: Doubles, *, follows: bool) -> Doubles:
    """Messages needed per token of each entry of the newest part."""
    whole, tokens = entries.whole[: entries.newest], short[: entries.newest]
    far = np.where(np.isinf(entries.line[: entries.newest]), tokens, np.minimum(whole, FAR))
    needed = density(np.cumsum(far) - far / 2) * (FOLLOW_UP if follows else 1.0)
    most = 1 / np.maximum(tokens, 1.0)
    return np.where(entries.is_certain[: entries.newest], most, np.minimum(needed, most))


def _steps(short: Doubles, needed: Doubles, room: float) -> Iterator[_Purchase]:
    """Entries of the newest part, which are bought in order: pooled until prices fall."""
    blocks: list[_Block] = []
    tokens = 0.0
    for cost, density_ in zip(short.tolist(), needed.tolist(), strict=False):
        tokens += cost
        if tokens > room + cost:
            break
        price, worth, pooled, steps = density_, density_ * cost, cost, 1
        while blocks and price > blocks[-1].price:
            before = blocks.pop()
            worth, pooled, steps = worth + before.worth, pooled + before.tokens, steps + before.steps
            price = worth / (pooled or LEAST_TOKENS)
        blocks.append(_Block(price, worth, pooled, steps))
    first = 0
    for block in blocks:
        yield _Purchase(block.price, "step", first, block.steps)
        first += block.steps


def _rests(entries: Entries, short: Doubles, needed: Doubles, room: float, *, follows: bool) -> Iterator[_Purchase]:
    """The rest that the short form of an entry of the newest part leaves."""
    part, whole = short[: entries.newest], entries.whole[: entries.newest]
    reach = int(np.searchsorted(np.cumsum(part), room)) + 1
    for entry in np.flatnonzero(part[:reach] < whole[:reach]).tolist():
        rest = float(whole[entry] - part[entry])
        is_message = bool(np.isinf(entries.line[entry]))
        is_text = is_message and not entries.pictures[entry]
        share, tokens = (REST_SHARE, float(REST_TOKENS)) if is_text else (RESULT_SHARE, float(RESULT_TOKENS))
        if follows and is_message and entries.is_certain[entry]:  # it asks about the last message
            share, tokens = 1.0, rest
        yield _Purchase(share * float(needed[entry]) * min(1.0, tokens / rest), "rest", entry)


def _finds(offers: Offers, brings: dict[int, list[int]], *, follows: bool) -> Iterator[_Purchase]:
    worth = offers.worth * (QUOTED if follows else 1.0)
    worth = np.where(offers.worth < DOUBTFUL, worth * np.power(REPEATED, offers.alike), worth)
    tokens = offers.tokens + offers.lead
    for find in np.flatnonzero(offers.leader < 0).tolist():
        own, cost = float(worth[find]), float(tokens[find]) + HOLE_TOKENS
        total = own
        for other in brings.get(find, ()):
            total += max(float(worth[other]), COMPANION * own)
            cost += float(tokens[other])
        yield _Purchase(total / cost, "find", find)
