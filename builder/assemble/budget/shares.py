"""Who gets how many tokens of a page. Rights go in this order, and what one does not use goes to the next.

The profile's own words · the current message · standing instructions · pinned sections · the results that triggered · earlier
rounds of the running turn · the last answer · the recent conversation · memory · summary · finds · again the conversation.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

from builder.assemble.budget.ledger import Ledger
from builder.domain.page_settings import Window
from builder.domain.profile import Profile, SectionRule
from builder.recall.index.conversation import Entry, Turn, turns
from builder.recall.index.view import View

COUNT_TOLERANCE_TOKENS = 40
"""Tokens by which parts counted one by one may differ from the page counted whole."""
CURRENT_SHARE = 0.5
"""Share of what the profile's own words leave, for the current message."""
RESULTS_SHARE = 0.6
"""Share of the rest for the results that triggered."""
ROUNDS_SHARE = 0.15
"""Share of the page for earlier rounds of the running turn."""
ANSWER_SHARE = 0.55
"""Share of the rest for the last answer: half, and what label and indentation cost."""
CUT_ANSWER_SHARE, CUT_ANSWER_TOKENS = 0.2, 300
"""Of the rest, and most tokens: a last answer that is longer than its share and is not followed up, its ends and what is nearest
to the question."""
KEPT_SHARE = 0.5
"""Of the rest for kept words, before anything is found."""
LARGE_SHARE = 0.35
"""Of the conversation's room: above it a result is cut or folded, so that older entries follow."""
OTHER_SESSIONS_SHARE = 0.28
"""Share of the page for the newest part of other sessions beside a conversation that fits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shares:
    """The shares of one page. All rooms are tokens."""

    profile: Profile
    whole: bool
    """The conversation is on the page whole, so it has what it needs and the others have the rest."""

    @property
    def allowance(self) -> int:
        """Tokens of the page."""
        return self.profile.whole if self.whole else self.profile.allowance

    def current(self, ledger: Ledger) -> int:
        """Tokens for the current message."""
        return ledger.remaining if self.whole else int(CURRENT_SHARE * ledger.remaining) + COUNT_TOLERANCE_TOKENS

    def section(self, rule: SectionRule, ledger: Ledger, reserve: int = 0) -> int:
        """Of a section that a share limits. reserve: of what comes after it."""
        free = ledger.remaining - (reserve if self.whole else 0)
        # A conversation that is shown whole above the target leaves the others no more than their shares of the target.
        return free if self.whole and self.profile.whole <= self.profile.aim else min(rule.max_tokens(self.profile.aim), free)

    def results(self, rest: int) -> int:
        """Tokens for the results that triggered."""
        return int(RESULTS_SHARE * rest)

    def answer(self, rest: int, size: int, *, follows: bool) -> int:
        """Of the last answer of `size` tokens: all up to about half of the rest, else a part.

        follows: the current message follows it up, so the part is half of the rest.
        """
        is_whole = size <= min(int(ANSWER_SHARE * rest) + COUNT_TOLERANCE_TOKENS, rest)
        return size if is_whole else rest // 2 if follows else min(int(CUT_ANSWER_SHARE * rest), CUT_ANSWER_TOKENS)

    @property
    def rounds(self) -> int:
        """Tokens for earlier rounds of the running turn."""
        return int(ROUNDS_SHARE * self.profile.aim)

    @property
    def recent(self) -> int:
        """Least tokens for the recent conversation."""
        return int(self.profile.window.min_share * self.profile.aim)

    def finds(self) -> int:
        """Least tokens for finds."""
        rule = self.profile.section("retrieval")
        return int(rule.min_share * self.profile.aim) if rule else 0

    def kept_words(self, ledger: Ledger) -> int:
        """Most tokens for what a compaction kept word for word: what is found has the other part."""
        return int(KEPT_SHARE * ledger.remaining) - self.finds()

    def other_sessions(self, ledger: Ledger) -> int:
        """Of the newest part of other sessions; 0 where the conversation needs the room."""
        room = int(OTHER_SESSIONS_SHARE * self.profile.aim)
        return room if self.whole and room <= ledger.remaining - COUNT_TOLERANCE_TOKENS - self.finds() else 0

    def aim(self, ledger: Ledger, more: int) -> None:
        """Lower the allowance to the target, but leave room for `more` tokens beyond what is placed."""
        ledger.allowance = min(ledger.allowance, max(self.profile.aim, ledger.total + more))


MAX_STORED_SHARE = 1.25
"""Tokens of a text as stored over its tokens on a page, at most: JSON is written otherwise there."""
MAX_TURNS_TO_ANSWER = 50
"""Turns in which the last answer is looked for, though what is newer fills the page."""
STUB_TOKENS = 30
"""Of a result that is one line, about."""
MIN_LABEL_TOKENS = 3
"""Of a bullet, who speaks, and the line end."""
OLD_TURNS = "older than the last"
"""Beginning of the reason of calls that the limit of tool turns takes."""
MIN_CALL_TOKENS = 5


@dataclass(frozen=True, slots=True)
class LimitedConversation:
    """The conversation within the profile's limits, as far back as it may be shown."""

    entries: tuple[Entry, ...]
    """The newest first."""
    placeholders: frozenset[Entry]
    """Those whose results a limit reduces to a line."""
    left_out: tuple[tuple[Entry, str], ...]
    is_part: bool
    """Older entries may be shown too, but need more than the room."""
    moved_at: int
    """Row with which a limit last moved its beginning."""


def cannot_fit(view: View, profile: Profile, allowance: int) -> bool:
    """Whether the conversation is surely longer than `allowance` tokens, by stored counts."""
    window, own = profile.window, view.rows
    if window.max_units is not None or window.max_tool_turns is not None or profile.tool_output.placeholder_after is not None:
        return False
    rows_shown = own[view.dialogue[own] & view.current[own]]
    texts = rows_shown[~view.history.breadcrumbs.by_tool[rows_shown]]
    return float((view.tokens[texts] + MIN_LABEL_TOKENS).sum()) > MAX_STORED_SHARE * allowance


def limit_conversation(view: View, profile: Profile, room: float, current: Turn, *, folded: bool) -> LimitedConversation:
    """The entries that may be shown, back to where they need more than `room` tokens by stored counts.

    current: entries that are elsewhere. folded: results need one line each, and the last answer is included.
    """
    entries: list[Entry] = []
    left_out: list[tuple[Entry, str]] = []
    placeholders: set[Entry] = set()
    tokens, stored, has_answer, is_part = 0.0, view.tokens, False, False
    for number, entry, reason, is_reduced in _limits(view, profile):
        is_part = tokens > MAX_STORED_SHARE * room and (not folded or has_answer or number >= MAX_TURNS_TO_ANSWER)
        if is_part:
            break
        if reason and entry not in current:
            left_out.append((entry, reason))
        elif entry not in current:
            entries.append(entry)
            role = view.breadcrumb(entry.row).role
            has_answer |= not entry.request and role == "assistant"
            placeholders.update({entry} if is_reduced else ())
            results = entry.results if entry.request or role != "tool" else (entry.row,)  # a result whose call is not known
            words = 0.0 if entry.request or results else float(stored[entry.row])
            tokens += sum(min(float(stored[row]), STUB_TOKENS if folded else math.inf) for row in results)
            tokens += words + (MIN_CALL_TOKENS if entry.request else MIN_LABEL_TOKENS)
    moved_at = 0 if is_part else last_trim_row(view, profile.window)
    return LimitedConversation(tuple(entries), frozenset(placeholders), tuple(left_out), is_part, moved_at)


def _limits(view: View, profile: Profile) -> Iterator[tuple[int, Entry, str, bool]]:
    """Each entry, the newest first: the number of its turn, the limit that takes it, whether one reduces its results."""
    window, after = profile.window, profile.tool_output.placeholder_after
    most, max_calls, tool_turns = window.max_units, window.max_tool_turns, 0
    if most is not None and view.units > most:
        most = window_size(view.units, window)
    for number, turn in enumerate(turns(view)):
        tool_turns += any(entry.request for entry in turn)
        for entry in reversed(turn):
            reason = f"older than the newest {most} units" if most is not None and number >= most else ""
            if not reason and entry.request and max_calls is not None and tool_turns > max_calls:
                reason = f"{OLD_TURNS} {max_calls} tool turns"
            yield number, entry, reason, after is not None and tool_turns > after


def window_size(units: int, window: Window) -> int:
    """Units left of `units`: trimmed above `max_units` to `trim_to`; equal for every worker."""
    most, keep = window.max_units, window.trim_to
    if most is None or units <= most:
        return units
    return keep + (units - most - 1) % (most - keep + 1)


def last_trim_row(view: View, window: Window) -> int:
    """The row with which the window was last trimmed; 0 when it never was."""
    units, most = view.units, window.max_units
    if most is None or units <= most:
        return 0
    since = (units - most - 1) % (most - window.trim_to + 1)
    heads: set[int] = set()
    row: int
    for row in reversed(view.rows.tolist()):
        if view.dialogue[row]:
            heads.add(view.unit_of(row))
            if len(heads) > since:
                return row
    return 0
