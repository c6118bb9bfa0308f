"""What a plan chooses from, as numbers: entries next to the question, and what was found."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from builder.assemble.budget.plan import part_of
from builder.assemble.budget.purchases import Entries, Offers, Room

MESSAGE = float("inf")
"""Tokens of the line of what is no call."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """A find. Its fields are those of `Offers`."""

    entry: int
    tokens: float
    worth: float = 0.5
    lead: float = 0.0
    is_part: bool = False
    leader: int = -1
    alike: int = 0


def make_entries(
    whole: Sequence[float],
    newest: int | None = None,
    *,
    lines: Sequence[float] = (),
    pictures: Sequence[float] = (),
    is_certain: Sequence[bool] = (),
    result: int = -1,
) -> Entries:
    """Messages of so many tokens. newest: how many are next to the question; None = all. lines: of calls; () = no calls."""
    return Entries(
        newest=len(whole) if newest is None else newest,
        whole=np.array(whole, np.float64),
        pictures=np.array(pictures or [0.0] * len(whole), np.float64),
        line=np.array(lines or [MESSAGE] * len(whole), np.float64),
        is_certain=np.array(is_certain or [False] * len(whole), np.bool_),
        result=result,
    )


def make_offers(*offers: Offer) -> Offers:
    """The finds, numbered in this order."""
    return Offers(
        entry=np.array([offer.entry for offer in offers], np.int64),
        tokens=np.array([offer.tokens for offer in offers], np.float64),
        lead=np.array([offer.lead for offer in offers], np.float64),
        worth=np.array([offer.worth for offer in offers], np.float64),
        is_part=np.array([offer.is_part for offer in offers], np.bool_),
        leader=np.array([offer.leader for offer in offers], np.int64),
        alike=np.array([offer.alike for offer in offers], np.int64),
    )


def make_room(tokens: float, newest: float | None = None, finds: float | None = None, part: int = 0) -> Room:
    """newest, finds: most for each; None = all of it. part: of a long message; 0 = as a page of so much room has it."""
    most_newest, most_finds = (min(tokens if most is None else most, tokens) for most in (newest, finds))
    return Room(page=tokens, newest=most_newest, finds=most_finds, part=part or part_of(tokens))
