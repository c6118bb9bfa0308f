"""The page while it is being filled: what stands on it, what it costs, and the way back."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol

from builder.domain.breadcrumb import Breadcrumb
from builder.domain.context import Fragment
from builder.domain.message import Call, Image
from builder.domain.profile import Dates, SectionRule
from builder.pipeline.units import Candidate, Form, Spans, Unit

Key = tuple[str, int, str]
Date = Callable[[int, Dates], str]
"""Row, and whether its day or its age is wanted → the line in front of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Fragments under one date line; date is empty where the section shows none."""

    date: str
    fragments: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PageSection:
    """What the page template sees of a section. note: a line of our own in front of its fragments."""

    name: str
    title: str
    groups: tuple[Group, ...]
    note: str = ""


@dataclass(frozen=True, slots=True)
class Laid:
    """A page. failed: its template could not, so a bundled one laid it out."""

    text: str
    failed: bool = False


class Rendering(Protocol):
    """The pure helpers of assembly; `builder.rendering` brings them, tests may bring their own."""

    @property
    def revision(self) -> str:
        """Hash of all templates."""

    def fragment(self, breadcrumb: Breadcrumb, spans: Spans, said: int, cap: int, form: Form, page: str) -> Fragment:
        """Render by the breadcrumb's hint for this page, shortened to `cap` tokens, its line end counted."""

    def page(self, page: str, sections: tuple[PageSection, ...]) -> Laid:
        """The finished markdown."""

    def heading_tokens(self, page: str, name: str, title: str) -> int:
        """Tokens that a section costs beside its fragments."""

    def date_tokens(self, page: str, date: str) -> int:
        """Tokens of one date line."""

    def count(self, text: str) -> int:
        """True tokens."""

    def calls(self, breadcrumb: Breadcrumb) -> tuple[Call, ...]:
        """The tool calls that it makes, each request id once."""

    def images(self, breadcrumb: Breadcrumb) -> tuple[Image, ...]:
        """The pictures in its body that chat APIs take."""


@dataclass(frozen=True, slots=True)
class Placed:
    """A candidate on the page."""

    candidate: Candidate
    fragment: Fragment


class Draft:
    """Takes whole units or nothing; `undo` takes the last one back."""

    def __init__(self, allowance: int, page: str, rules: tuple[SectionRule, ...], rendering: Rendering, date: Date) -> None:
        self.allowance = allowance
        self.page = page
        self.rules = {rule.name: rule for rule in rules}
        self.placed: dict[Key, Placed] = {}
        self.notes: dict[str, str] = {}
        self._note_costs: dict[str, int] = {}
        self.spent: dict[str, int] = dict.fromkeys(self.rules, 0)
        self.own_texts: dict[str, str] = {}
        self.taken: list[tuple[Unit, dict[Key, Placed | None], dict[str, int]]] = []
        self._stands: dict[str, Key] = {}  # by id: what stands, or triggers, has no row
        self._dated: Counter[tuple[str, str]] = Counter()
        self._rendering = rendering
        self._date = date

    @property
    def total(self) -> int:
        """Tokens spent, headings and date lines included."""
        return sum(self.spent.values())

    def pin(self, section: str, text: str) -> None:
        """Put the profile's own words into a section, in front of everything else and never to be taken off again."""
        self.spent[section] += self.heading(section) + self._rendering.count(text + "\n")
        self.own_texts[section] = text

    def offer(self, unit: Unit, limits: dict[str, int], caps: dict[str, int]) -> bool:
        """Take the unit if the page and every limited section have room for all of it.

        limits: section → most tokens it may have in the end. caps: section → most tokens of one fragment.
        """
        placed: dict[Key, Placed] = {}
        for candidate in unit:
            if candidate.section not in self.rules:
                continue
            key = _key(candidate)
            elsewhere = self._stands.get(candidate.remembered.breadcrumb.id, key)
            left = _without(candidate, self.placed[elsewhere].candidate) if elsewhere != key else candidate
            if left is None:
                continue  # it stands in another section already: nothing is shown twice
            before = self.placed.get(key)
            joined = _join(before.candidate, left) if before else left
            if before and joined == before.candidate:
                continue
            cap = min(caps.get(candidate.section, self.allowance), self.allowance)
            fragment = self.fragment(joined, self.allowance if before else cap)
            if not fragment.text or (before and fragment.tokens > cap):
                return False  # shortened, a join would lose the very passages that it is made of
            placed[key] = Placed(joined, fragment)
        costs = self._costs(placed)
        fits = self.total + sum(costs.values()) <= self.allowance and all(
            self.spent[name] + cost <= limits.get(name, self.allowance) for name, cost in costs.items()
        )
        if fits and placed:
            self.taken.append((unit, {key: self.placed.get(key) for key in placed}, costs))
            self._dated.update((key[0], self._line(key)) for key in placed.keys() - self.placed.keys())
            for key in placed:
                self._stands.setdefault(key[2], key)
            self.placed.update(placed)
            for name, cost in costs.items():
                self.spent[name] += cost
        return fits

    def undo(self) -> Unit:
        """Take the last unit off the page."""
        unit, before, costs = self.taken.pop()
        for key, placed in before.items():
            if placed is None:
                del self.placed[key]
                if self._stands[key[2]] == key:
                    del self._stands[key[2]]
                self._dated[key[0], self._line(key)] -= 1
            else:
                self.placed[key] = placed
        for name, cost in costs.items():
            self.spent[name] -= cost
        return unit

    def _line(self, key: Key) -> str:
        """The date line above what has this key."""
        return self._date(key[1], self.rules[key[0]].dates)

    def heading(self, name: str) -> int:
        """Tokens that the section's heading would still cost."""
        return 0 if self.spent[name] else self._rendering.heading_tokens(self.page, name, self.rules[name].title)

    def forget_notes(self) -> None:
        """Take all of them back."""
        for name, cost in self._note_costs.items():
            self.spent[name] -= cost
        self.notes.clear()
        self._note_costs.clear()

    def note(self, name: str, text: str) -> None:
        """Put a line of our own in front of the section's fragments, if there is room for it."""
        if name not in self.rules:
            return
        cost = self.heading(name) + self._rendering.count(text + "\n")
        if self.total + cost <= self.allowance:
            self.notes[name], self._note_costs[name] = text, cost
            self.spent[name] += cost

    def fragment(self, candidate: Candidate, cap: int) -> Fragment:
        """The candidate as this page would show it."""
        crumb = candidate.remembered.breadcrumb
        return self._rendering.fragment(crumb, candidate.spans, candidate.said, cap, candidate.form, self.page)

    def _costs(self, placed: dict[Key, Placed]) -> dict[str, int]:
        costs: dict[str, int] = {}
        shown: set[tuple[str, str]] = set()
        for key, new in placed.items():
            name, date = key[0], self._line(key)
            before = self.placed.get(key)
            cost = new.fragment.tokens - (before.fragment.tokens if before else 0)
            if not self.spent[name] and name not in costs:
                cost += self.heading(name)
            if date and not self._dated[name, date] and (name, date) not in shown:
                shown.add((name, date))
                cost += self._rendering.date_tokens(self.page, date)
            costs[name] = costs.get(name, 0) + cost
        return costs


def _key(candidate: Candidate) -> Key:
    return candidate.section, candidate.row, candidate.remembered.breadcrumb.id


def _join(before: Candidate, new: Candidate) -> Candidate:
    """Two finds of one breadcrumb: their passages together, the whole text once every passage is in."""
    if not before.spans or not new.spans:
        return replace(before, spans=())
    spans = tuple(sorted({*before.spans, *new.spans}))
    return replace(before, spans=() if spans == _everything(before) else spans)


def _without(candidate: Candidate, other: Candidate) -> Candidate | None:
    """What of it does not stand elsewhere; None when nothing with a word in it is left."""
    text = candidate.remembered.breadcrumb.text
    left = (candidate.spans or _everything(candidate)) if other.spans else ()
    for start, end in other.spans:
        pieces = (piece for low, high in left for piece in ((low, min(high, start)), (max(low, end), high)))
        left = tuple((low, high) for low, high in pieces if low < high)
    left = tuple(_trimmed(text, low, high) for low, high in left if any(map(str.isalnum, text[low:high])))
    return replace(candidate, spans=left) if left else None


def _trimmed(text: str, low: int, high: int) -> tuple[int, int]:
    """The span without white space at its ends."""
    held = text[low:high]
    return low + len(held) - len(held.lstrip()), low + len(held.rstrip())


def _everything(candidate: Candidate) -> Spans:
    return tuple((passage.start, passage.end) for passage in candidate.remembered.passages)
