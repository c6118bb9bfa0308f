"""Read a page by brute force, knowing only the events, the profile and what was published, and say what is wrong with it.

Nothing of the pipeline or of assembly is called here.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from builder.bench.invariants.events import RESULTS, Entry, Events, Record
from builder.bench.invariants.expected_items import Shown, message_state, shown
from builder.bench.invariants.items import Item, Parsed
from builder.domain.profile import Profile, SectionRule

FAULTS = (
    MISSING, ORDER, ALTERED, STALE, CUT, FOLD, LIMIT, REPEAT, PAIR, OUTLINE, DATE, ACCOUNT, EXCEEDED, REFUSED,
) = (
    "missing", "order", "altered", "stale", "cut", "fold", "limit", "repeats", "pairs", "outline", "dates", "account",
    "exceeded", "refused",
)  # fmt: skip
Fault = tuple[str, str]
TEXTS = frozenset({"text", "content", "arguments"})


@dataclass(frozen=True, kw_only=True)
class Reading:
    """A page as its consumer gets it, and what it was made from.

    events: up to the trigger. trigger: as it was sent. page: the published context; None when it was refused.
    count: text → tokens.
    """

    events: Events
    trigger: Record
    profile: Profile
    page: Mapping[str, Any] | None
    count: Callable[[str], int]

    @property
    def published(self) -> Mapping[str, Any]:
        """The context, where there is one."""
        return self.page or {}

    @property
    def whole(self) -> int:
        """Tokens of a page on which the conversation may stand whole."""
        return min(self.limit, self.profile.whole)

    @property
    def limit(self) -> int:
        """Most tokens."""
        return int(self.profile.budget * (1 - self.profile.margin)) - self.profile.reserve

    @cached_property
    def parsed(self) -> Parsed:
        """The markdown."""
        rules = self.profile.sections
        titles = {rule.name: rule.title for rule in rules}
        own = frozenset(rule.name for rule in rules if rule.source in {"system", "reminder"})
        return Parsed(self.published["content"], titles, tagged=self.profile.page == "xml", own=own)

    def rule(self, source: str) -> SectionRule | None:
        """The first section that this source fills."""
        return next((rule for rule in self.profile.sections if rule.source == source), None)

    def items(self, source: str) -> list[Item]:
        """What stands in it."""
        rule = self.rule(source)
        return self.parsed.items(rule.name) if rule else []

    def ids(self, source: str) -> list[str]:
        """The breadcrumbs that the context names there."""
        rule = self.rule(source)
        return [name for part in self.published["sections"] if rule and part["name"] == rule.name for name in part["ids"]]

    @cached_property
    def recent(self) -> tuple[list[Shown], int]:
        """What the conversation's items show, oldest first, and how many entries are older than these.

        Read from the newest back; ends where an item is not the next entry.
        """
        found: list[Shown] = []
        entries = self.limited
        for entry, item in zip(reversed(entries), reversed(self.items("window")), strict=False):
            match = shown(entry, item.text, self.events, self.trigger)
            if match is None:
                break
            found.append(match)
        return found[::-1], len(entries) - len(found)

    @cached_property
    def limited(self) -> list[Entry]:
        """The conversation without the calls that are older than the last tool turns."""
        entries = self.events.conversation
        most = self.profile.window.max_tool_turns
        if most is None:
            return entries
        return [entry for entry in entries if not entry.request or entry.turn in set(self.tool_turns[:most])]

    @cached_property
    def tool_turns(self) -> list[int]:
        """The turns that call tools, the newest first."""
        return list(dict.fromkeys(entry.turn for entry in reversed(self.events.conversation) if entry.request))

    def is_placeholder(self, entry: Entry) -> bool:
        """Whether a limit makes one line of its results."""
        after = self.profile.tool_output.placeholder_after
        return after is not None and sum(turn >= entry.turn for turn in self.tool_turns) > after

    def is_limited(self, row: int) -> bool:
        """Whether the profile cuts the result lists of this tool."""
        record, rules = self.events.records[row], self.profile.tool_output
        cut = rules.per_tool.get(record["context"].get("tool", ""), rules.cut)
        return record["schema_name"] in RESULTS and (cut.results is not None or cut.characters is not None)

    @cached_property
    def trigger_state(self) -> str:
        """How much of the current message is shown; "" when it is not there."""
        items = self.items("trigger")
        return (message_state(self.trigger, items[0].text, self.trigger) or "") if len(items) == 1 else ""


def on_page(reading: Reading) -> Iterator[Fault]:
    """What its outline says is what the profile says, and it is as long as it says, and no longer than it may be."""
    for line in reading.parsed.strange:
        yield OUTLINE, f"{line!r} stands at the root of the page"
    order = [rule.name for rule in reading.profile.sections]
    names = [section.name for section in reading.parsed.sections]
    if names != sorted(names, key=order.index):
        yield OUTLINE, f"the sections stand in the order {names}"
    tokens = reading.count(reading.published["content"])
    if tokens > reading.limit:
        yield EXCEEDED, f"{tokens} tokens, allowed are {reading.limit}"
    if tokens != reading.published["token_count"]:
        yield ACCOUNT, f"{tokens} tokens, token_count is {reading.published['token_count']}"
    texts = sum(reading.count(text) for text in _texts((reading.published.get("system"), reading.published.get("messages"))))
    if texts > reading.limit:
        yield EXCEEDED, f"{texts} tokens in messages, allowed are {reading.limit}"
    if not reading.trigger_state:
        yield ALTERED, f"the current message says {[item.text for item in reading.items('trigger')]}"


def _texts(value: Any) -> Iterator[str]:
    """What `messages` cost: texts, results, and the arguments of calls."""
    if isinstance(value, dict):
        for key, item in value.items():
            if key == "input":
                yield json.dumps(item, ensure_ascii=False, separators=(",", ":"))
            elif key in TEXTS and isinstance(item, str):
                yield item
            else:
                yield from _texts(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _texts(item)
