"""A page as its reader sees it: what is skipped, what stands whole, what stands twice."""

import re
from collections import Counter
from collections.abc import Callable, Iterable
from functools import cached_property

from builder.bench.data.answer_sessions import TOOL, Message, Session
from builder.bench.quality.recall import folded
from builder.domain.context import Context
from builder.domain.profile import Profile

CONVERSATION = frozenset({"window", "retrieval", "conversation", "elsewhere"})
"""Sources whose sections show the session."""
NEAR = 2
"""Entries on either side of a needed one that its reader reads."""
LEAST_CHARS = 25
"""A shorter text may stand on a page twice."""
SIGN = re.compile(
    r"(?m)^(?:- )?(?:…|\((?:another conversation|[\d,]+ messages? between|[\d,]+ other calls? of this turn"
    r"|[\d,]+ earlier (?:messages?|tool turns?) (?:is|are) not shown|[\d,]+ earlier tool turns? left out)\))\n"
)
"""A line that stands for what is missing."""


class Reading:
    """A page as its reader sees it: what stands on it of each entry of the session.

    An entry is a message with the calls that it makes and their results. The newest piece goes from the question backwards to
    the first message with words of which the page shows nothing.
    """

    def __init__(
        self, session: Session, page: Context, profile: Profile, count: Callable[[str], int], needed: frozenset[str]
    ) -> None:
        """needed: ids of what answers the question."""
        dialogue = {rule.name for rule in profile.sections if rule.source in CONVERSATION}
        self._entries = entries(session.messages)
        self._tokens = Counter[int]()
        self._there = set[int]()
        for section in page.sections:
            self._there |= {self._entries[id_] for id_ in section.ids if id_ in self._entries}
            for id_, tokens in section.tokens_by_id.items() if section.name in dialogue else ():
                if id_ in self._entries:
                    self._tokens[self._entries[id_]] += tokens
        self._worded = {self._entries[message.id] for message in session.messages if message.text and message.speaker != TOOL}
        self._answers = {self._entries[id_] for id_ in needed}
        self._count, self._page = count, page
        self._reduced = {omission.id for omission in page.partial}

    @cached_property
    def signs(self) -> int:
        """Tokens of the lines that stand for what is missing."""
        return sum(map(self._count, SIGN.findall(self._page.markdown)))

    @cached_property
    def edge(self) -> int:
        """The oldest entry of the newest piece."""
        missing = self._worded - self._there
        return max(missing, default=-1) + 1

    @property
    def newest_piece(self) -> int:
        """Tokens of it."""
        return sum(tokens for entry, tokens in self._tokens.items() if entry >= self.edge)

    @property
    def skipped(self) -> float:
        """Share of the conversation on the page that is neither in the newest piece nor near to what is needed."""
        far = sum(tokens for entry, tokens in self._tokens.items() if entry < self.edge and not self._is_near(entry))
        return (far + self.signs) / max(sum(self._tokens.values()) + self.signs, 1)

    def is_whole(self, id_: str) -> bool:
        """Whether all of it stands on the page in one piece."""
        places = [section for section in self._page.sections if id_ in section.tokens_by_id]
        return len(places) == 1 and id_ not in self._reduced

    def _is_near(self, entry: int) -> bool:
        return any(abs(entry - needed) <= NEAR for needed in self._answers)


def entries(messages: Iterable[Message]) -> dict[str, int]:
    """Id → number of its entry, in the order of time; a result belongs to the message that made the call."""
    numbers: dict[str, int] = {}
    callers: dict[str, int] = {}
    following = 0
    for message in messages:
        entry = callers.get(message.result_of, following)
        numbers[message.id] = entry
        callers |= {call.request_id: entry for call in message.calls if call.request_id}
        following += entry == following
    return numbers


def twice(session: Session, page: Context, profile: Profile) -> int:
    """Lines of some length that one message alone has, and that the page has again; instructions may stand beside theirs."""
    fixed = {rule.name for rule in profile.sections if rule.source not in CONVERSATION}
    instructions = {id_ for section in page.sections if section.name in fixed for id_ in section.tokens_by_id}
    holders: dict[str, set[str]] = {}
    for message in session.messages:
        for line in map(folded, message.text.splitlines()):
            if len(line) > LEAST_CHARS:
                holders.setdefault(line, set()).add(message.id)
    markdown = folded(page.markdown)
    return sum(max(markdown.count(line) - 1, 0) for line, ids in holders.items() if len(ids) == 1 and not ids & instructions)
