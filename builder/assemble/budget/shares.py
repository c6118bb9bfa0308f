"""Who gets how many tokens of a page. Rights go in this order, and what one does not use goes to the next.

The profile's own words · the current message · standing instructions · pinned sections · the results that triggered · earlier
rounds of the running turn · the last answer · the recent conversation · memory · summary · finds · again the conversation.
"""

from dataclasses import dataclass

from builder.assemble.budget.ledger import Ledger
from builder.domain.profile import Profile, SectionRule

COUNT_TOLERANCE_TOKENS = 40
"""Tokens by which parts counted one by one may differ from the page counted whole."""
CURRENT_SHARE = 0.5
"""Of what the profile's own words leave: the current message."""
RESULTS_SHARE = 0.6
"""Of the rest: the results that triggered."""
ROUNDS_SHARE = 0.15
"""Of the page: the running turn's earlier rounds."""
ANSWER_SHARE = 0.55
"""Of the rest: the last answer, half of it and what its label and its indentation cost."""
CUT_ANSWER_SHARE, CUT_ANSWER_TOKENS = 0.2, 300
"""Of the rest, and most tokens: a last answer that is longer than its share and is not followed up, its ends and what is nearest
to the question."""
LARGE_SHARE = 0.35
"""Of the conversation's room: above it a result is cut or folded, so that older entries follow."""
OTHER_SESSIONS_SHARE = 0.28
"""Of the page: the newest part of other sessions beside a conversation that fits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shares:
    """The shares of one page. All rooms are tokens."""

    profile: Profile
    whole: bool
    """The conversation is on the page whole, so it has what it needs and the others have the rest."""

    @property
    def allowance(self) -> int:
        """Of the page."""
        return self.profile.whole if self.whole else self.profile.allowance

    def current(self, ledger: Ledger) -> int:
        """Of the current message."""
        return ledger.remaining if self.whole else int(CURRENT_SHARE * ledger.remaining) + COUNT_TOLERANCE_TOKENS

    def section(self, rule: SectionRule, ledger: Ledger, reserve: int = 0) -> int:
        """Of a section that a share limits under pressure. reserve: of what comes after it."""
        free = ledger.remaining - (reserve if self.whole else 0)
        # A conversation that is shown whole above the target leaves the others no more than their shares of the target.
        return free if self.whole and self.profile.whole <= self.profile.aim else min(rule.max_tokens(self.profile.aim), free)

    def results(self, rest: int) -> int:
        """Of the results that triggered."""
        return int(RESULTS_SHARE * rest)

    def answer(self, rest: int, size: int, *, follows: bool) -> int:
        """Of the last answer, which needs `size` tokens: all of them up to about half of the rest, else a part.

        follows: the current message follows it up, so the part is half of the rest.
        """
        is_whole = size <= min(int(ANSWER_SHARE * rest) + COUNT_TOLERANCE_TOKENS, rest)
        return size if is_whole else rest // 2 if follows else min(int(CUT_ANSWER_SHARE * rest), CUT_ANSWER_TOKENS)

    @property
    def rounds(self) -> int:
        """Of the running turn's earlier rounds."""
        return int(ROUNDS_SHARE * self.profile.aim)

    @property
    def recent(self) -> int:
        """Of the recent conversation, at least."""
        return int(self.profile.window.min_share * self.profile.aim)

    def finds(self) -> int:
        """Of finds, at least."""
        rule = self.profile.section("retrieval")
        return int(rule.min_share * self.profile.aim) if rule else 0

    def other_sessions(self, ledger: Ledger) -> int:
        """Of the newest part of other sessions; 0 where a conversation that does not fit needs the room."""
        room = int(OTHER_SESSIONS_SHARE * self.profile.aim)
        return room if self.whole and room <= ledger.remaining - COUNT_TOLERANCE_TOKENS - self.finds() else 0

    def aim(self, ledger: Ledger, more: int) -> None:
        """Let the page have what it aims at from now on, but `more` than what stands on it already as far as the budget goes."""
        ledger.allowance = min(ledger.allowance, max(self.profile.aim, ledger.total + more))
