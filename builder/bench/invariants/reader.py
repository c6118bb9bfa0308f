"""Read a page by brute force, from the events, the profile and the published context alone, and report what is wrong.

Nothing of `recall` or `assemble` is called here.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from typing import Any

from builder.bench.invariants.events import Entry, Events
from builder.bench.invariants.expected_items import Display, State, message_state
from builder.bench.invariants.items import Item, Parsed
from builder.bench.invariants.pieces import Piece, Pieces
from builder.bench.invariants.records import RESULTS, Record
from builder.bench.invariants.turns import USER, questions_of, turn_of
from builder.domain.page_settings import Dates
from builder.domain.profile import Profile, SectionRule

FAULTS = (
    MISSING, ORDER, ALTERED, STALE, CUT, FOLD, LIMIT, REPEAT, PAIR, OUTLINE, DATE, ACCOUNT, EXCEEDED, REFUSED, GAPS, UNUSED,
) = (
    "missing", "order", "altered", "stale", "cut", "fold", "limit", "repeats", "pairs", "outline", "dates", "account",
    "exceeded", "refused", "gaps", "unused",
)  # fmt: skip
Fault = tuple[str, str]
HOLE = "…"
OTHER_SESSION = "(another conversation)"
GAP = re.compile(rf"{HOLE}|{re.escape(OTHER_SESSION)}")
TURN, TURN_TITLE = "tool_results", "Tool results"
USER_TITLE, AGENT_TITLE = "Current User Message", "Current Message of an Agent"
MIN_PART_TOKENS = 64
"""Tokens of a useful part of the current message."""
TEXTS = frozenset({"text", "content", "arguments", "output"})
SAME = {"window": ("window", "conversation"), "retrieval": ("retrieval", "elsewhere")}
"""Part of a page → the sources of the sections that have it."""


@dataclass(frozen=True, kw_only=True)
class Reading:
    """A page as its consumer gets it, and what it was made from."""

    events: Events
    """Up to the trigger."""
    trigger: Record
    """As it was sent."""
    profile: Profile
    page: Mapping[str, Any] | None
    """The published context; None when it was refused."""
    count: Callable[[str], int]
    """Text → tokens."""

    @property
    def published(self) -> Mapping[str, Any]:
        """The context, where there is one."""
        return self.page or {}

    @property
    def limit(self) -> int:
        """Most tokens."""
        return int(self.profile.budget * (1 - self.profile.margin)) - self.profile.reserve

    @cached_property
    def parsed(self) -> Parsed:
        """The markdown."""
        rules = self.sections
        titles = {rule.name: rule.title for rule in rules}
        own = frozenset(rule.name for rule in rules if rule.source in {"system", "reminder"})
        return Parsed(self.published["content"], titles, tagged=self.profile.page == "xml", own=own)

    @cached_property
    def turn(self) -> tuple[Entry, ...]:
        """The calls to answer from on a tool's page."""
        is_tool = self.trigger["schema_name"] in RESULTS
        return turn_of(self.events, len(self.events.records) - 1) or () if is_tool else ()

    @cached_property
    def questions(self) -> tuple[Entry, ...]:
        """The messages that they answer, oldest first."""
        return questions_of(self.events, self.turn, self._asks) if self.turn else ()

    def _asks(self, record: Record) -> bool:
        """Whether it is a person's message that asks for a page."""
        audience = self.profile.audience
        is_heard = audience is None or not {*record["tags"]}.isdisjoint(audience.any_tags)
        return is_heard and record["schema_name"] == USER and record["version"] == 1

    @cached_property
    def sections(self) -> tuple[SectionRule, ...]:
        """Of the profile, with the title of an agent's message to answer; on a tool's page that of the turn in front of it."""
        is_of_agent = bool(self.current) and self.current[-1]["schema_name"] == "agent.response.v1"
        rules = [
            replace(each, title=AGENT_TITLE) if is_of_agent and each.title == USER_TITLE else each
            for each in self.profile.sections
        ]
        return tuple(
            rule
            for each in rules
            for rule in (
                *((replace(each, name=TURN, title=TURN_TITLE, source="turn"),) if self.turn and each.source == "trigger" else ()),
                each,
            )
        )

    def rule(self, source: str) -> SectionRule | None:
        """The first section that this source fills, or that has its part of one conversation."""
        return next((rule for rule in self.sections if rule.source in SAME.get(source, (source,))), None)

    @property
    def is_one(self) -> bool:
        """Whether the conversation is one section, with holes where it does not fit."""
        return any(rule.source == "conversation" for rule in self.sections)

    def items(self, source: str) -> list[Item]:
        """What is in it, without lines on gaps."""
        return [item for item in self.lines(source) if not GAP.fullmatch(item.text)]

    def lines(self, source: str) -> list[Item]:
        """What is in it, with lines on gaps."""
        rule = self.rule(source)
        return self.parsed.items(rule.name) if rule else []

    def notes(self, source: str) -> list[str]:
        """The notes above it."""
        rule = self.rule(source)
        return [note for part in self.parsed.sections if rule and part.name == rule.name for note in part.notes]

    def ids(self, source: str) -> list[str]:
        """The breadcrumbs that the context names there."""
        rule = self.rule(source)
        return [name for part in self.published["sections"] if rule and part["name"] == rule.name for name in part["ids"]]

    @property
    def displays(self) -> list[Display]:
        """What is shown of the conversation, of the running turn, and of what they answer."""
        states = zip(self.questions, self.current_states, strict=False)
        current = [Display(question, ((question.row, state),)) for question, state in states if state]
        return [*self.displays_of("window"), *self.displays_of("turn"), *current]

    def displays_of(self, source: str) -> list[Display]:
        """What the items of a part of the conversation show, oldest first."""
        return [display for piece in self.pieces[source] for display in piece.displays]

    @cached_property
    def pieces(self) -> dict[str, list[Piece]]:
        """What the items of the conversation and of the running turn show."""
        return {source: self.pieces_of(source).of(self.items(source)) for source in ("window", "turn")}

    def pieces_of(self, source: str) -> Pieces:
        """How to read a part of the conversation."""
        entries = [entry for entry in self.events.conversation if entry not in self.questions]
        entries += self.turn if source == "turn" else ()  # whole they stand last
        return Pieces(events=self.events, trigger=self.trigger, entries=entries, ids=frozenset(self.ids(source)))

    def day(self, record: Record, dates: Dates = "day") -> str:
        """By the sender's clock, else in the profile's zone. dates: "day", or "time" for the time of day too."""
        sent = record["created_at"]
        moment = datetime.fromisoformat(sent)
        day = moment.astimezone(self.profile.time_zone) if sent.endswith("Z") else moment
        return f"{day.day} {day:%B %Y}" + (f", {day:%H:%M}" if dates == "time" else "")

    @cached_property
    def limited(self) -> list[Entry]:
        """The conversation without the calls that are older than the last tool turns."""
        entries = self.events.conversation
        turns = self.profile.window.max_tool_turns
        if turns is None:
            return entries
        return [entry for entry in entries if not entry.request or entry.turn in set(self.tool_turns[:turns])]

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
    def current_states(self) -> tuple[State | None, ...]:
        """How much of each current message is shown; None when it is not there."""
        texts = [item.text for item in self.items("trigger")]
        lacking = len(self.current) - len(texts)
        records = self.current[max(lacking, 0) :]
        states = [message_state(record, text, self.trigger) for record, text in zip(records, texts, strict=False)]
        return (*[None] * lacking, *states, *[None] * -lacking)

    @property
    def has_current(self) -> bool:
        """Whether the current messages are there; the oldest ones may lack, where no room is left for a useful part of one."""
        lacking, room = len(self.current) - len(self.items("trigger")), self.limit - self.count(self.published["content"])
        may_lack = lacking == 0 or (0 < lacking < len(self.current) and room < MIN_PART_TOKENS)
        return may_lack and all(self.current_states[lacking:])

    @cached_property
    def chat_tokens(self) -> int:
        """Tokens of `messages`."""
        return sum(self.count(text) for text in _texts((self.published.get("system"), self.published.get("messages"))))

    @property
    def used(self) -> int:
        """Tokens of the page or of `messages`, whichever are more, with the pictures."""
        tokens: int = max(self.published["token_count"], self.chat_tokens)
        return tokens + (self.published.get("picture_tokens") or 0)

    @property
    def current(self) -> tuple[Record, ...]:
        """The current messages: on a tool's page what the turn answers, where that is known."""
        return tuple(self.events.records[question.row] for question in self.questions) if self.turn else (self.trigger,)


def missing_units(reading: Reading) -> tuple[list[int], int]:
    """The first rows of the units of the conversation of which nothing is on the page, and the number of all."""
    events = reading.events
    on_page = {name for part in reading.published["sections"] for name in part["ids"]}
    on_page |= {events.records[row]["id"] for display in reading.displays for row, _ in display.states}
    entry_rows = {row for entry in events.conversation for row in (entry.row, *entry.results)}
    heads = {events.units[row] for row in entry_rows}
    seen = {unit for row, unit in enumerate(events.units) if events.records[row]["id"] in on_page}
    return sorted(heads - seen), len(heads)


def in_outline(reading: Reading) -> Iterator[Fault]:
    """What its outline says is what the profile says, and it is as long as it says, and no longer than it may be."""
    for line in reading.parsed.strange:
        yield OUTLINE, f"{line!r} stands at the root of the page"
    order = [rule.name for rule in reading.sections]
    names = [section.name for section in reading.parsed.sections]
    if names != sorted(names, key=order.index):
        yield OUTLINE, f"the sections stand in the order {names}"
    tokens = reading.count(reading.published["content"])
    if tokens > reading.limit:
        yield EXCEEDED, f"{tokens} tokens, allowed are {reading.limit}"
    if tokens != reading.published["token_count"]:
        yield ACCOUNT, f"{tokens} tokens, token_count is {reading.published['token_count']}"
    if reading.used > reading.limit:
        yield EXCEEDED, f"{reading.used} tokens in messages, pictures included, allowed are {reading.limit}"
    if not reading.has_current:
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
