"""The messages of people that a page answers: its trigger, and those that came since and wait for an answer."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise

import numpy as np

from builder.domain.breadcrumb import Breadcrumb
from builder.domain.profile import Profile
from builder.domain.selector import may_trigger
from builder.recall.index.view import View

NEWEST_BREADCRUMBS = 200
"""Breadcrumbs of the session in which unanswered messages are looked for."""
MAX_QUESTIONS = 50
"""The newest ones of a page."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Questions:
    """The messages of people that a page answers, as ids, oldest first."""

    ids: tuple[str, ...] = ()
    """All that an answer to the page answers."""
    current: tuple[str, ...] = ()
    """Those that the page has as its current message; () on a result's page = the message that its turn began with."""
    supersedes: str = ""
    """The message whose page this one replaces; "" = none."""
    turn: str = ""
    """Trigger of the page on which the calls of a result's page were made."""
    answered: int = 0
    """Messages that the page was to answer and that were answered since."""
    is_over: bool = False
    """All of them were answered since, or a later page replaces this one."""
    later: str = ""
    """The trigger of that later page; "" = none is needed."""


Call = tuple[int, str]
"""Row of the first version of what makes it, and request id."""


@dataclass(slots=True)
class _Session:
    """A session read in order, as far as it has come."""

    profile: Profile
    is_shown: Callable[[str], bool]
    """Whether a breadcrumb is there and may be shown."""
    unanswered: dict[str, Breadcrumb] = field(default_factory=dict)
    page_of_calls: dict[str, str] = field(default_factory=dict)
    """Those of them for which the agent has called tools → the trigger of the page on which it did."""
    triggers: dict[str, Breadcrumb] = field(default_factory=dict)
    """Those that have pages, in their order."""
    of_results: dict[str, Questions] = field(default_factory=dict)
    calls: dict[Call, tuple[str, Breadcrumb]] = field(default_factory=dict)
    """Open call → the first of what calls in its turn, and what makes it."""
    trigger: str = ""
    published: tuple[str, ...] = ()
    """The questions that this page answered when it was first built."""
    run: str = ""
    """The first of the bare calls in a row at the end, which are one turn; "" = there is none."""

    def read(self, crumb: Breadcrumb, *, is_own: bool, calls: tuple[Call, ...] = ()) -> None:
        """Take in what came next. is_own: the consumer's agent says or calls it. calls: that it makes or answers."""
        if crumb.role == "user":
            self.run = ""
            if may_trigger(crumb) and self.profile.is_triggered_by(crumb):
                self.triggers[crumb.id] = self.unanswered[crumb.id] = crumb
        elif _is_result(crumb):
            self.run = self.run if calls or not is_own else ""
            self._settle(crumb, calls)
        elif is_own:
            self._open(crumb, calls)
            self._answer(crumb)
        if crumb.id == self.trigger:
            self.published = self.page(crumb.id).ids

    def _open(self, crumb: Breadcrumb, calls: tuple[Call, ...]) -> None:
        if calls or crumb.role != "tool":
            self.run = (self.run or crumb.id) if crumb.role == "tool" else ""
            self.calls |= dict.fromkeys(calls, (self.run or crumb.id, crumb))

    def _settle(self, result: Breadcrumb, calls: tuple[Call, ...]) -> None:
        """A turn is closed by the result of the last of its calls."""
        for turn, caller in [self.calls.pop(call) for call in calls if call in self.calls]:
            if turn not in {other for other, _ in self.calls.values()}:
                self._close(result, caller)

    def page(self, trigger: str) -> Questions:
        """Open questions that the page of a trigger answers; for a message also earlier ones of its speaker."""
        if trigger in self.of_results:
            page = self.of_results[trigger]
            own = {trigger, page.turn}
            # nothing has answered it, and no call was made for it on another page than its own ones
            unanswered = (name for name in page.ids if name in self.unanswered and self.page_of_calls.get(name, trigger) in own)
            return replace(page, ids=tuple(unanswered))
        if trigger not in self.triggers:
            return Questions(ids=(trigger,) if trigger else tuple(self.unanswered))
        crumb = self.triggers[trigger]
        chain = [each for each in self._waiting() if each.place <= crumb.place and is_same_speaker(each, crumb)]
        earlier = [each for each in chain if each is not crumb]
        pairs = pairwise((*earlier, crumb))
        with_pages = [each.id for each, later in pairs if not follows_at_once(each, later, self.profile)]
        ids = (*self._of_calls_on(trigger), *(each.id for each in chain))
        return Questions(ids=ids[-MAX_QUESTIONS:], current=(trigger,), supersedes=with_pages[-1] if with_pages else "")

    def _answer(self, crumb: Breadcrumb) -> None:
        ids = self.page(crumb.answers).ids
        if not crumb.calls:
            self.unanswered = {name: each for name, each in self.unanswered.items() if name not in ids}
        elif crumb.answers:
            self.page_of_calls |= {name: crumb.answers for name in ids if name in self.unanswered}

    def _close(self, result: Breadcrumb, caller: Breadcrumb) -> None:
        if not self.profile.waits_for_tools:
            return
        about = {name: self.unanswered[name] for name in self._of_calls_on(caller.answers) or self._newest_before(caller)}
        waiting = {each.id: each for each in self._waiting() if not self._is_in_quiet_time(each, result)}
        start = min((each.place for each in about.values()), default=caller.place)
        turn = self.page(caller.answers)
        is_gone = bool(caller.answers) and not self.is_shown(caller.answers)
        is_over = not about and (turn.is_over or is_gone)
        page = Questions(ids=tuple(about), current=turn.current, is_over=is_over)
        if any(each.place > start for each in waiting.values()):
            messages = sorted((about | waiting).values(), key=lambda each: each.place)
            ids = tuple(each.id for each in messages[-MAX_QUESTIONS:])
            page = Questions(ids=ids, current=ids, supersedes=ids[-1])
        self.triggers[result.id], self.of_results[result.id] = result, replace(page, turn=caller.answers)

    def _waiting(self) -> list[Breadcrumb]:
        return [crumb for name, crumb in self.unanswered.items() if name not in self.page_of_calls]

    def _of_calls_on(self, trigger: str) -> tuple[str, ...]:
        return tuple(name for name, page in self.page_of_calls.items() if page == trigger and trigger and name in self.unanswered)

    def _newest_before(self, caller: Breadcrumb) -> tuple[str, ...]:
        before = [name for name, crumb in self.unanswered.items() if crumb.place < caller.place and not caller.answers]
        return tuple(before[-1:])

    def _is_in_quiet_time(self, crumb: Breadcrumb, now: Breadcrumb) -> bool:
        later = [each for each in self._waiting() if each.place >= crumb.place and is_same_speaker(each, crumb)]
        return all(follows_at_once(*pair, self.profile) for pair in pairwise((*later, now)))


def questions_of(view: View, trigger: Breadcrumb, profile: Profile) -> Questions:
    """The questions that the page of a trigger answers as of the end of the view, which may come after the trigger."""
    session = _read(view, profile, trigger.id)
    if trigger.id not in session.triggers:
        session.read(trigger, is_own=False)
    if trigger.id not in session.triggers:
        return Questions()
    page = session.page(trigger.id)
    ids = tuple(name for name in page.ids if name == trigger.id or _is_shown(view, name))
    later = _covering(session, trigger.id, {*ids})
    is_answerable = trigger.role == "user" or bool(session.of_results[trigger.id].ids)
    return replace(
        page,
        ids=ids,
        current=tuple(name for name in page.current if name in ids),
        answered=sum(name not in session.unanswered for name in session.published),
        is_over=page.is_over or (is_answerable and bool(later or not ids)),
        later=later if ids and not page.is_over else "",
    )


def _covering(session: _Session, trigger: str, ids: set[str]) -> str:
    """The last later trigger whose page answers all of these; "" = none."""
    names = [*session.triggers]
    later = reversed(names[names.index(trigger) + 1 :])
    return next((name for name in later if ids.issubset(session.page(name).ids)), "")


def without_later_triggers(view: View, trigger: Breadcrumb, profile: Profile) -> View:
    """The view without the trigger, and without later messages that have their own page."""
    hidden, requests, gone = set[str](), set[str](), np.zeros(view.size, np.bool_)
    pages, rows = _read(view, profile).triggers, view.rows
    for row in rows[rows >= view.history.breadcrumbs.versions[trigger.id][0]].tolist():
        crumb = view.breadcrumb(row)
        asks_otherwise = crumb.role not in {"user", "tool"} and may_trigger(crumb) and profile.is_triggered_by(crumb)
        is_later = crumb.version == 1 and crumb.place > trigger.place and (crumb.id in pages or asks_otherwise)
        answers_later = crumb.answers in hidden or not requests.isdisjoint(crumb.calls)
        if crumb.id in hidden or is_later or answers_later or (crumb.id == trigger.id and crumb.role != "tool"):
            gone[row] = True
            hidden.update({crumb.id} - {trigger.id})
            requests.update(crumb.calls if crumb.call_signatures else ())
    return view.within(~gone)


def follows_at_once(crumb: Breadcrumb, later: Breadcrumb, profile: Profile) -> bool:
    """Whether the later message came within the quiet time of the earlier."""
    return (later.received_at - crumb.received_at).total_seconds() < profile.debounce


def is_same_speaker(crumb: Breadcrumb, other: Breadcrumb) -> bool:
    """Whether one person said both, by `user_id` or else by name."""
    return crumb.role == other.role == "user" and (crumb.user_id, crumb.speaker) == (other.user_id, other.speaker)


def _read(view: View, profile: Profile, trigger: str = "") -> _Session:
    session = _Session(profile, partial(_is_shown, view), trigger=trigger)
    for row in view.rows[-NEWEST_BREADCRUMBS:].tolist():
        crumb = view.breadcrumb(row)
        is_past = (crumb.role == "assistant" and not crumb.calls) or (_is_result(crumb) and view.dialogue[row])
        if crumb.version == 1 and (is_past or _is_shown(view, crumb.id)):
            is_own = crumb.role in {"assistant", "tool"} and view.is_own(crumb)
            session.read(crumb, is_own=is_own, calls=tuple(_calls(view, row)))
    return session


def _calls(view: View, row: int) -> Iterator[Call]:
    exchanges = view.history.exchanges
    if exchange := exchanges.of_result.get(row):
        yield exchange.origin, exchange.request
    for each in exchanges.of_caller.get(row, ()):
        is_made = each.callers[0] == row and view.row_of(view.breadcrumb(row).id) in each.callers
        if is_made and (not each.results or each.results[0] > row):
            yield each.origin, each.request


def _is_result(crumb: Breadcrumb) -> bool:
    return crumb.role == "tool" and not crumb.call_signatures


def _is_shown(view: View, identity: str) -> bool:
    row = view.row_of(identity)
    return row >= 0 and bool(view.current[row])
