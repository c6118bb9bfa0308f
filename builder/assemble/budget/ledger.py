"""The ledger of a page: its items section by section, what is missing between them, and their tokens."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, groupby, repeat
from operator import itemgetter

import numpy as np

from builder.assemble.items.list_items import HOLE, ITEM
from builder.assemble.items.rendering import Group, PageSection
from builder.assemble.items.section_sources import SAME, SOURCES
from builder.assemble.items.writer import Item, Writer
from builder.domain.phrases import Phrases
from builder.domain.profile import SectionRule
from builder.recall.index.breadcrumb_table import Ints
from builder.recall.index.conversation import exchange_of, turn_of
from builder.recall.index.view import View


@dataclass(frozen=True, slots=True, kw_only=True)
class Gaps:
    """Missing units; one that only a summary tells is missing too."""

    view: View
    phrases: Phrases
    missing: Ints
    """Rows that head the units of which the page shows nothing, in place order."""

    @property
    def earlier(self) -> str:
        """The note before the conversation; "" when nothing is missing."""
        number = len(self.missing)
        return self.phrases.counted("message_not_shown", "messages_not_shown", number) if number else ""

    def signs(self, items: Sequence[Item], *, is_first: bool = True) -> Iterator[str]:
        """For each item a sign where something of its session is missing before it; "" = nothing.

        is_first: nothing of the conversation is on the page before them.
        """
        origins = np.array([item.origin for item in items], np.int64)
        is_of_session = (origins >= 0) & (origins < self.view.size)
        is_of_session[is_of_session] = self.view.session_of[origins[is_of_session]] == self.view.session
        places = np.full(len(items), -1, np.int64)
        places[is_of_session] = self.view.history.exchanges.origin[origins[is_of_session]]
        before = np.searchsorted(self.missing, np.maximum.accumulate(places))
        is_hole = np.diff(before, prepend=0 if is_first else before[:1]) > 0
        return (HOLE if hole else "" for hole in is_hole.tolist())

    def lines(self, items: Sequence[Item]) -> Iterator[str]:
        """For each item of several sessions a line where another session begins, or a sign where something is missing."""
        origins = np.array([item.origin for item in items], np.int64)
        is_said = (origins >= 0) & (origins < self.view.size)
        is_said[is_said] = self.view.dialogue[origins[is_said]]
        firsts = np.array([self._place(row) for row in origins[is_said].tolist()], np.int64)
        sessions = self.view.session_of[firsts]
        numbers = np.searchsorted(self.missing, firsts[1:]) - np.searchsorted(self.missing, firsts[:-1], side="right")
        lines = chain([""], map(self._between, sessions[:-1].tolist(), sessions[1:].tolist(), numbers.tolist()))
        return (next(lines) if is_row else "" for is_row in is_said.tolist())

    def _place(self, row: int) -> int:
        """Row of the message, or of the call that a result answers and that may be shown."""
        exchange = exchange_of(self.view, row)
        return exchange.origin if exchange is not None else int(self.view.history.exchanges.origin[row])

    def _between(self, session: int, other: int, number: int) -> str:
        if session != other:
            return ITEM + self.phrases("other_session")
        return HOLE if number > 0 and session == self.view.session else ""


def dialogue_rows(view: View) -> Ints:
    """Rows of the conversation, in place order, without those that only pass on a call."""
    callers = view.history.exchanges.of_caller
    later = [row for row, exchanges in callers.items() if row < view.size and exchanges[0].callers[0] != row]
    silent = [row for row in later if not turn_of(view, row)]
    return view.conversation[~np.isin(view.conversation, silent)]


def units_of(view: View) -> Ints:
    """Rows that head the units of the conversation, in place order."""
    return view.heads_of(dialogue_rows(view))


def missing_of(view: View, units: Ints, page_rows: Iterable[int]) -> Ints:
    """The units of which these rows say nothing."""
    return units[~np.isin(units, view.heads_of(np.array([*page_rows], np.int64)))]


class Ledger:
    """The sections of a page; all tokens include headings, notes, dates, gaps and line ends."""

    def __init__(self, writer: Writer, allowance: int) -> None:
        self.allowance = allowance
        self.writer = writer
        self.rules = {rule.name: rule for rule in writer.profile.sections}
        self.items: dict[str, list[Item]] = {}
        """Section → its items, in page order."""
        self.reasons: dict[str, str] = {}
        """Section → why its items are on the page, where they have no reason of their own."""
        self.texts: dict[str, str] = {}
        """Section → the profile's own words in it."""
        self.notes: dict[str, str] = {}
        """Section → the line of ours before its items."""
        self.noted: frozenset[int] = frozenset()
        """Rows that are missing, as a note says."""
        self.gaps = Gaps(view=writer.view, phrases=writer.rendering.phrases, missing=np.zeros(0, np.int64))
        """As of the last `settle`."""
        self.probabilities: dict[str, float] = {}
        """Breadcrumb id → probability of its finds."""
        self.is_one = writer.profile.section("conversation") is not None
        """The conversation is one section, with what was found of it in its place."""
        self._spent: dict[str, int] = dict.fromkeys(self.rules, 0)
        self._changed: set[str] = set()
        """Sections that are to be counted."""

    @property
    def spent(self) -> Mapping[str, int]:
        """Section → its tokens."""
        for section in self._changed:
            self._spent[section] = self._count(section)
        self._changed.clear()
        return self._spent

    @property
    def total(self) -> int:
        """Tokens of everything."""
        return sum(self.spent.values())

    @property
    def remaining(self) -> int:
        """Tokens that nothing uses yet, neither of the page nor of `messages`."""
        return self.allowance - self.total - max(sum([item.extra for item in self.all_items()]), 0) - self.pictures

    @property
    def pictures(self) -> int:
        """Tokens of the pictures in `messages`."""
        return sum([item.pictures for item in self.all_items()])

    @cached_property
    def units(self) -> Ints:
        """Rows that head the units of the conversation, in place order."""
        return units_of(self.writer.view)

    def rule(self, source: str) -> SectionRule | None:
        """The first section that this source fills, or the one that has its part of one conversation."""
        names = SAME.get(source, (source,))
        return next((rule for rule in self.rules.values() if rule.source in names), None)

    def all_items(self) -> Iterator[Item]:
        """All items."""
        return chain.from_iterable(self.items.values())

    def heading(self, section: str) -> int:
        """Tokens that the section's heading would still cost."""
        return 0 if self.spent[section] else self._heading(section)

    def put_text(self, section: str, text: str) -> None:
        """Begin a section with words of the profile's own."""
        self.texts[section] = text
        self._changed.add(section)

    def put_note(self, section: str, *lines: str) -> None:
        """Begin a section with lines of ours; none = without them."""
        note = "\n".join(filter(None, lines))
        if note != self.notes.get(section, ""):
            self.notes[section] = note
            self._changed.add(section)

    def put(self, section: str, items: Iterable[Item], reason: str) -> None:
        """Fill a section with items in page order. reason: why they are on the page."""
        self.items[section] = list(items)
        self.reasons[section] = reason
        self._changed.add(section)

    def settle(self) -> None:
        """Find the gaps between what is on the page, and count their lines."""
        view = self.writer.view
        names = {fragment.breadcrumb.id for item in self.all_items() for fragment in item.fragments}
        rows = {row for name in names if (row := view.row_of(name)) >= 0}
        self.gaps = replace(self.gaps, missing=missing_of(view, self.units, rows | self.noted))
        self._changed.update(section for section in self.items if SOURCES[self.rules[section].source].is_dated)

    def cost(self, section: str, items: Sequence[Item]) -> int:
        """Tokens that these items would cost in a section that has nothing else."""
        return self._heading(section) + self._tokens(section, items) if items else 0

    def _count(self, section: str) -> int:
        texts = filter(None, (self.texts.get(section), self.notes.get(section)))
        tokens = sum(self._line(text) for text in texts) + self._tokens(section, self.items.get(section, ()))
        return self._heading(section) + tokens if tokens else 0

    def _line(self, text: str) -> int:
        return self.writer.rendering.count(f"{text}\n")

    def _heading(self, section: str) -> int:
        rule = self.rules[section]
        heading = self.writer.rendering.heading_tokens(self.writer.profile.page, section, rule.title)
        return heading + (self._line(rule.note) if rule.note else 0)

    def take_off_note(self) -> bool:
        """Take a note off the page; returns whether there was any."""
        name = next((name for name, note in self.notes.items() if note), None)
        if name is not None:
            self.put_note(name)
        return name is not None

    def date(self, section: str, item: Item) -> str:
        """The date line above an item."""
        return self.writer.date(item, self.rules[section].dates)

    def page_sections(self, items: Mapping[str, Sequence[Item]] | None = None) -> tuple[PageSection, ...]:
        """The sections that are not empty, in the profile's order. items: of each section; None = all."""
        sections: list[PageSection] = []
        for name, rule in self.rules.items():
            items_of = (self.items if items is None else items).get(name, ())
            placed = [(self.date(name, item), gap, item.text) for item, gap in self.with_gaps(name, items_of)]
            groups = [Group(date="", fragments=(self.texts[name],))] if name in self.texts else []
            for date, under in groupby(placed, key=itemgetter(0)):
                groups.append(Group(date=date, fragments=tuple(text for _, *texts in under for text in texts if text)))
            note = "\n".join(filter(None, (rule.note, self.notes.get(name))))
            if groups or self.notes.get(name):
                sections.append(PageSection(name=name, title=rule.title, groups=tuple(groups), note=note))
        return tuple(sections)

    def with_gaps(self, section: str, items: Sequence[Item]) -> Iterator[tuple[Item, str]]:
        """Each item with the line on what is missing before it."""
        source = self.rules[section].source
        if source in {*SAME["window"], "turn"}:
            return zip(items, self.gaps.signs(items, is_first=source == "conversation"), strict=True)
        has_sessions = source in {*SAME["retrieval"], "memory"}
        return zip(items, self.gaps.lines(items) if has_sessions else repeat(""), strict=False)

    def _tokens(self, section: str, items: Sequence[Item]) -> int:
        tokens = sum([item.tokens for item in items])
        if SOURCES[self.rules[section].source].is_dated:
            tokens += sum([self._line(line) for _, line in self.with_gaps(section, items) if line])
        return tokens + sum([self.writer.date_tokens(line) for line, _ in groupby([self.date(section, item) for item in items])])
