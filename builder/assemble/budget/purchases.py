"""Purchases one after the other, and what each still costs when something of it is shown already."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from builder.assemble.budget.worth import Doubles, Ints

Flags = NDArray[np.bool_]

HOLE_TOKENS = 2
"""Tokens of a hole."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entries:
    """Messages, and calls with their results: those next to the question, newest first, then those of finds. Shape (entries,)."""

    newest: int
    """How many of them are next to the question, one after the other."""
    whole: Doubles
    """Tokens, label and pictures included."""
    pictures: Doubles
    """Tokens of them that only the newest part may spend: of what was found there is the line of a picture."""
    line: Doubles
    """Tokens of a call in a run of calls; infinite for a message, which is cut."""
    is_certain: Flags
    """The last message, and the calls of the last turn."""
    result: int
    """The newest call with a result, where it was made lately; -1 = none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Offers:
    """The finds, the best first. Shape (finds,)."""

    entry: Ints
    tokens: Doubles
    """Without label and hole."""
    lead: Doubles
    """Tokens of the label, or of the call above a result."""
    worth: Doubles
    is_part: Flags
    """A passage of its entry; else all of it."""
    leader: Ints
    """The find that brings it; -1 = none."""
    alike: Ints
    """How many others are of its kind."""
    copies: Mapping[int, int] = field(default_factory=dict)
    """Entry of a find → the entry of the conversation in which the same was said last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """Tokens that may be spent."""

    page: float
    newest: float
    """At most so many of them for the newest part."""
    finds: float
    """At most so many of them for finds."""
    part: int
    """Most for the short form of a message."""


@dataclass(slots=True)
class Plan:
    """Entries and finds that are shown."""

    newest: int = 0
    """Entries of the newest part."""
    whole: set[int] = field(default_factory=set)
    pictured: set[int] = field(default_factory=set)
    """Entries of the newest part that send their pictures."""
    short: set[int] = field(default_factory=set)
    """Entries of the newest part in their short form."""
    caps: dict[int, int] = field(default_factory=dict)
    """Most tokens of a message in its short form, and of a call whose results have no room whole."""
    parts: dict[int, list[int]] = field(default_factory=dict)
    """Entry → its finds."""
    for_newest: float = 0.0
    for_finds: float = 0.0
    summary: int = 0
    """Tokens of lines of a summary."""
    lacks_room: bool = False
    """Something that is worth its price has none."""

    @property
    def spent(self) -> float:
        """Tokens."""
        return self.for_newest + self.for_finds + self.summary


class Buyer:
    """Buys as long as there is room; what is bought twice is paid once."""

    def __init__(self, entries: Entries, offers: Offers, short: Doubles, room: Room) -> None:
        """short: tokens of the short form of each entry."""
        self.plan = Plan()
        self._entries, self._offers, self._short, self._room = entries, offers, short, room
        self._paid: dict[int, float] = {}
        """Entry → tokens."""
        self._smallest = float(min(short.min(initial=np.inf), offers.tokens.min(initial=np.inf)))
        self._is_open = True
        """The newest part may still grow."""
        self._count()
        self.brings: dict[int, list[int]] = {}
        """Find → those that come along with it."""
        for find in np.flatnonzero(offers.leader >= 0).tolist():
            self.brings.setdefault(int(offers.leader[find]), []).append(find)

    def _count(self) -> None:
        page = self._room.page - self.plan.spent
        self._left_for_newest = min(page, self._room.newest - self.plan.for_newest)
        self._left_for_finds = min(page, self._room.finds - self.plan.for_finds)
        self.is_full = max(self._left_for_newest, self._left_for_finds) < self._smallest
        """Nothing has room any more."""

    def newest_result(self, most: float) -> None:
        """Buy the newest result, and what is behind it in short form, if all that is at most `most` tokens."""
        result = self._entries.result
        text = self._entries.whole - self._entries.pictures
        if result < 0 or text[result] + self._short[:result].sum() > most:
            return
        self.steps(0, result + 1)
        self.rest(result)

    def steps(self, first: int, number: int) -> None:
        """Buy entries of the newest part in order, as far as there is room."""
        for entry in range(max(first, self.plan.newest), first + number):
            if not (self._is_open and self._pay(entry, float(self._short[entry]) - self._paid.get(entry, 0.0))):
                self._is_open = False
                return
            self.plan.newest = entry + 1
            if self._short[entry] >= self._entries.whole[entry]:
                self.plan.whole.add(entry)
            elif entry not in self.plan.whole:
                self.plan.short.add(entry)
                if np.isinf(self._entries.line[entry]):
                    self.plan.caps[entry] = self._room.part

    def rest(self, entry: int) -> None:
        """Buy the rest of an entry of the newest part."""
        if entry >= self.plan.newest:
            return
        if entry in self.plan.whole or self._pay_whole(entry):
            self._pay_pictures(entry)
            return
        is_new = bool(self._entries.is_certain[entry]) or entry == self._entries.result
        if is_new and np.isfinite(self._entries.line[entry]) and self._pay(entry, float(self._room.part)):
            self.plan.caps[entry] = self._room.part

    def find(self, find: int) -> None:
        """Buy a find with what it brings; alone where all of it has no room."""
        missing = [each for each in (find, *self.brings.get(find, ())) if not self._is_shown(each)]
        if len(missing) > 1 and sum(map(self._cost, missing)) > self._left_for_finds:
            self.plan.lacks_room = True
            missing = [each for each in missing if each == find]
        for each in missing:
            self._put(each)

    def drop_copies(self) -> None:
        """Take off the finds of which a later copy is there whole."""
        for entry, copy in self._offers.copies.items():
            if entry >= self.plan.newest and copy in self.plan.whole:
                self.plan.whole.discard(entry)

    def summary(self, tokens: int) -> None:
        """Buy so many tokens of its lines, or what there is room for."""
        room = int(self._room.page - self.plan.spent)
        self.plan.lacks_room |= room < tokens
        self.plan.summary = min(tokens, room)
        self._count()

    def _is_shown(self, find: int) -> bool:
        entry = int(self._offers.entry[find])
        return entry in self.plan.whole or find in self.plan.parts.get(entry, ())

    def _cost(self, find: int) -> float:
        offers, entry = self._offers, int(self._offers.entry[find])
        paid = self._paid.get(entry, 0.0)
        hole = 0 if paid or entry < self.plan.newest else HOLE_TOKENS
        if not offers.is_part[find]:
            return max(float(self._entries.whole[entry] - self._entries.pictures[entry]) - paid, 0.0) + hole
        return float(offers.tokens[find]) + (0.0 if paid else float(offers.lead[find]) + hole)

    def _put(self, find: int) -> None:
        entry, cost = int(self._offers.entry[find]), self._cost(find)
        if not self._pay(entry, cost, is_find=True):
            return
        if self._offers.is_part[find]:
            self.plan.parts.setdefault(entry, []).append(find)
        else:
            self._show_whole(entry)

    def _pay_pictures(self, entry: int) -> None:
        tokens = float(self._entries.pictures[entry])
        if tokens > self._left_for_newest:
            self.plan.lacks_room = True
        elif tokens and entry not in self.plan.pictured:
            self.plan.pictured.add(entry)
            self.plan.for_newest += tokens
            self._count()

    def _pay_whole(self, entry: int) -> bool:
        text = float(self._entries.whole[entry] - self._entries.pictures[entry])
        is_bought = self._pay(entry, text - self._paid.get(entry, 0.0))
        if is_bought:
            self._show_whole(entry)
        return is_bought

    def _show_whole(self, entry: int) -> None:
        self.plan.whole.add(entry)
        self.plan.short.discard(entry)
        self.plan.caps.pop(entry, None)

    def _pay(self, entry: int, cost: float, *, is_find: bool = False) -> bool:
        """Bought if it has room; a cost is never negative."""
        cost = 0.0 if entry in self.plan.whole else max(cost, 0.0)
        if cost > (self._left_for_finds if is_find else self._left_for_newest):
            self.plan.lacks_room = True
            return False
        if is_find:
            self.plan.for_finds += cost
        else:
            self.plan.for_newest += cost
        self._paid[entry] = self._paid.get(entry, 0.0) + cost
        self._count()
        return True
