"""The ledger of a page: its items, section by section, and their tokens."""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby

from builder.assemble.items.draft import Item, Writer
from builder.assemble.items.layout import Group, PageSection
from builder.assemble.items.section_source import SectionSource
from builder.domain.profile import Dates, SectionRule


class Ledger:
    """Grows section by section; all tokens include headings, notes, date lines and line ends."""

    def __init__(self, writer: Writer, allowance: int, sources: Mapping[str, SectionSource], *, dated: bool = False) -> None:
        """sources: name → source."""
        self.allowance = allowance
        """Tokens of the page."""
        self.dated = dated
        """The conversation and the current message have date lines."""
        self.writer = writer
        self.sources = sources
        self.rules = {rule.name: rule for rule in writer.profile.sections}
        self.items: dict[str, list[Item]] = {}
        """Section → its items, in page order."""
        self.texts: dict[str, str] = {}
        """Section → the profile's own words in it."""
        self.notes: dict[str, str] = {}
        """Section → the line of ours in front of its items."""
        self.probabilities: dict[str, float] = {}
        """Breadcrumb id → probability of its finds."""
        self.spent: dict[str, int] = dict.fromkeys(self.rules, 0)
        """Section → its tokens."""
        self._extra = 0

    @property
    def total(self) -> int:
        """Tokens of everything."""
        return sum(self.spent.values())

    @property
    def remaining(self) -> int:
        """Tokens that nothing uses yet, neither of the page nor of `messages`."""
        return self.allowance - self.total - max(self._extra, 0)

    def all_items(self) -> Iterator[Item]:
        """All items."""
        for items in self.items.values():
            yield from items

    def heading(self, section: str) -> int:
        """Tokens that the section's heading would still cost."""
        rule = self.rules[section]
        return 0 if self.spent[section] else self.writer.rendering.heading_tokens(self.writer.profile.page, section, rule.title)

    def put_text(self, section: str, text: str) -> None:
        """Begin a section with words of the profile's own."""
        self.spent[section] += self.heading(section) + self.writer.rendering.count(text + "\n")
        self.texts[section] = text

    def put_note(self, section: str, text: str) -> None:
        """Begin a section with a line of ours, if there is room for it."""
        cost = self.heading(section) + self.writer.rendering.count(text + "\n")
        if cost <= self.remaining:
            self.spent[section] += cost
            self.notes[section] = text

    def put(self, section: str, items: Sequence[Item]) -> None:
        """Fill a section that has none with items in page order."""
        if items:
            self.spent[section] += self.cost(section, items)
            self._extra += sum(item.extra for item in items)
            self.items[section] = list(items)

    def cost(self, section: str, items: Sequence[Item]) -> int:
        """Tokens that these items would cost in a section that has none."""
        lines = (self.date(section, item) for item in items)
        dates = sum(self.writer.date_tokens(line) for line, _ in groupby(lines))
        return self.heading(section) + sum(item.tokens for item in items) + dates if items else 0

    def insert(self, section: str, item: Item) -> bool:
        """Add an item at its place if the page has room for it."""
        items = self.items.get(section, [])
        place = bisect_left(items, item.origin, key=lambda other: other.origin)
        cost = self.heading(section) + item.tokens + self._dates(section, items, place, item)
        if cost > self.remaining:
            return False
        self.items.setdefault(section, items).insert(place, item)
        self.spent[section] += cost
        return True

    def exchange(self, section: str, before: Item, after: Item) -> bool:
        """Put an item in the place of another of the same origin and day if the page has room for it."""
        cost = after.tokens - before.tokens
        if cost > self.remaining:
            return False
        items = self.items[section]
        items[items.index(before)] = after
        self.spent[section] += cost
        return True

    def take_off_least(self) -> bool:
        """Take the oldest of what was found off the page, or the oldest of the conversation; returns whether there was any."""
        yielding = (name for name in self.items if self.items[name] and self.source(self.rules[name]).yields)
        name = min(yielding, key=lambda name: self.source(self.rules[name]).yields, default=None)
        if name is None:
            return False
        item = self.items[name].pop(0)
        self.spent[name] -= item.tokens
        self._extra -= item.extra
        return True

    def source(self, rule: SectionRule) -> SectionSource:
        """What fills a section."""
        return self.sources[rule.source]

    def date(self, section: str, item: Item) -> str:
        """The date line above an item."""
        return self.writer.date(item, self.dates(self.rules[section]))

    def dates(self, rule: SectionRule) -> Dates:
        """What dates a section shows: a conversation of one day shows none, but for times that the profile asks for."""
        is_bare = self.source(rule).is_dialogue and not self.dated and rule.dates != "time"
        return "none" if is_bare else rule.dates

    def page_sections(self, items: Mapping[str, Sequence[Item]] | None = None) -> tuple[PageSection, ...]:
        """The sections that have something in them, in the profile's order. items: of each section; None = all items."""
        by_section = self.items if items is None else items
        return tuple(
            PageSection(name=name, title=rule.title, groups=groups, note=self.notes.get(name, ""))
            for name, rule in self.rules.items()
            if (groups := tuple(self._groups(rule, by_section.get(name, ())))) or name in self.notes
        )

    def _groups(self, rule: SectionRule, by_section: Sequence[Item]) -> Iterable[Group]:
        if rule.name in self.texts:
            yield Group(date="", fragments=(self.texts[rule.name],))
        for line, items in groupby(by_section, key=lambda item: self.date(rule.name, item)):
            yield Group(date=line, fragments=tuple(item.text for item in items))

    def _dates(self, section: str, items: Sequence[Item], place: int, item: Item) -> int:
        """Tokens of the date lines that come with an item put between others."""
        line = self.date(section, item)
        before = self.date(section, items[place - 1]) if place else None
        after = self.date(section, items[place]) if place < len(items) else None
        if line in {before, after}:
            return 0
        again = after if after is not None and after == before else ""
        return self.writer.date_tokens(line) + self.writer.date_tokens(again)
