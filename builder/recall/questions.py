"""The messages of people that a page answers: its trigger's, and those that came since and wait for an answer."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np

from builder.domain.breadcrumb import Breadcrumb
from builder.domain.profile import Profile
from builder.domain.selector import may_trigger
from builder.recall.index.view import View

NEWEST_BREADCRUMBS = 200
"""Breadcrumbs of the session in which unanswered messages are looked for."""
MAX_QUESTIONS = 50
"""Of one page, the newest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Questions:
    """What a page answers. Ids are of messages of people, oldest first."""

    ids: tuple[str, ...] = ()
    """All that an answer to the page answers."""
    current: tuple[str, ...] = ()
    """Those that the page has as its current message; () on a result's page = the message that its turn began with."""
    supersedes: str = ""
    """The message whose page this one replaces; "" = none."""
    is_over: bool = False
    """All of them were answered since, or a later page replaces this one."""


@dataclass(slots=True)
class _Session:
    """A session read in order, as far as it has come."""

    profile: Profile
    unanswered: dict[str, Breadcrumb] = field(default_factory=dict)
    """Messages that have no answer."""
    owners: dict[str, str] = field(default_factory=dict)
    """Those of them for which the agent has called tools → the trigger of the page on which it did."""
    triggers: dict[str, Breadcrumb] = field(default_factory=dict)
    """Those that have pages, in their order."""
    of_results: dict[str, Questions] = field(default_factory=dict)
    """Result → what its page answers."""
    calls: dict[str, Breadcrumb] = field(default_factory=dict)
    """Request id of an open call → what makes it."""

    def read(self, crumb: Breadcrumb, *, is_own: bool) -> None:
        """Take in what came next. is_own: the consumer's agent says or calls it."""
        if crumb.role == "user":
            if may_trigger(crumb) and self.profile.is_triggered_by(crumb):
                self.triggers[crumb.id] = self.unanswered[crumb.id] = crumb
        elif crumb.role == "tool" and not crumb.call_signatures:
            for request in crumb.calls:
                caller = self.calls.pop(request, None)
                if caller and caller.id not in {other.id for other in self.calls.values()}:
                    self._close(crumb, caller)
        elif is_own:
            self._answer(crumb)

    def page(self, trigger: str) -> Questions:
        """What the page of a trigger answers, as far as nothing has answered it yet.

        A message's page answers the earlier ones of its speaker, too, for which no tool was called.
        """
        if trigger in self.of_results:
            page = self.of_results[trigger]
            return replace(page, ids=tuple(name for name in page.ids if name in self.unanswered))
        if trigger not in self.triggers:
            return Questions(ids=(trigger,) if trigger else tuple(self.unanswered))
        crumb = self.triggers[trigger]
        chain = [each for each in self._waiting() if each.place <= crumb.place and is_same_speaker(each, crumb)]
        earlier = [each for each in chain if each is not crumb]
        pairs = pairwise((*earlier, crumb))
        with_pages = [each.id for each, later in pairs if not follows_at_once(each, later, self.profile)]
        ids = (*self._of_page(trigger), *(each.id for each in chain))
        return Questions(ids=ids[-MAX_QUESTIONS:], current=(trigger,), supersedes=with_pages[-1] if with_pages else "")

    def _answer(self, crumb: Breadcrumb) -> None:
        """Words that name no message answer all; calls that name none are about none."""
        ids = [name for name in self.page(crumb.answers).ids if name in self.unanswered]
        if not crumb.calls:
            for name in ids:
                del self.unanswered[name]
            return
        is_bare = crumb.role == "tool"  # what passes another one's call on
        self.calls |= {request: crumb for request in crumb.calls if not (is_bare and request in self.calls)}
        self.owners |= dict.fromkeys(ids, crumb.answers) if crumb.answers else {}

    def _close(self, result: Breadcrumb, caller: Breadcrumb) -> None:
        """The page of a turn's last result also answers every message that waits, if one came after what the turn is about."""
        if not self.profile.waits_for_tools:
            return
        about = {name: self.unanswered[name] for name in self._of_page(caller.answers)}
        waiting = {each.id: each for each in self._waiting() if not self._is_in_quiet_time(each, result)}
        start = min((each.place for each in about.values()), default=caller.place)
        page = Questions(ids=tuple(about), current=self.page(caller.answers).current)
        if any(each.place > start for each in waiting.values()):
            messages = sorted((about | waiting).values(), key=lambda each: each.place)
            ids = tuple(each.id for each in messages[-MAX_QUESTIONS:])
            page = Questions(ids=ids, current=ids, supersedes=ids[-1])
        self.triggers[result.id], self.of_results[result.id] = result, page

    def _waiting(self) -> list[Breadcrumb]:
        """Messages that have no answer, and for which no tool was called."""
        return [crumb for name, crumb in self.unanswered.items() if name not in self.owners]

    def _of_page(self, trigger: str) -> tuple[str, ...]:
        return tuple(name for name, page in self.owners.items() if page == trigger and trigger and name in self.unanswered)

    def _is_in_quiet_time(self, crumb: Breadcrumb, now: Breadcrumb) -> bool:
        """Whether its own page comes later: it, or what follows it at once, has not had its quiet time."""
        later = [each for each in self._waiting() if each.place >= crumb.place and is_same_speaker(each, crumb)]
        return all(follows_at_once(*pair, self.profile) for pair in pairwise((*later, now)))


def questions_of(view: View, trigger: Breadcrumb, profile: Profile) -> Questions:
    """What the page of a trigger answers as of the end of the view, which may come after the trigger.

    The trigger of a message's page need not be in the view.
    """
    session = _read(view, profile)
    if trigger.id not in session.triggers:
        session.read(trigger, is_own=False)
    if trigger.id not in session.triggers:
        return Questions()
    page, later = session.page(trigger.id), [*session.triggers]
    pages = [{*session.page(name).ids} for name in later[later.index(trigger.id) + 1 :]]
    ids = tuple(name for name in page.ids if name == trigger.id or _is_shown(view, name))
    is_over = trigger.role == "user" or bool(session.of_results[trigger.id].ids)
    return replace(
        page,
        ids=ids,
        current=tuple(name for name in page.current if name in ids),
        is_over=is_over and (not ids or any({*ids} <= each for each in pages)),
    )


def without_later_triggers(view: View, trigger: Breadcrumb, profile: Profile) -> View:
    """The view without the trigger, and without what came after it and has a page of its own, with the answers to that."""
    hidden, requests, gone = set[str](), set[str](), np.zeros(view.size, np.bool_)
    pages = _read(view, profile).triggers
    for row in view.rows.tolist():
        crumb = view.breadcrumb(row)
        is_later = crumb.version == 1 and crumb.place > trigger.place and (crumb.id in pages or _asks_otherwise(crumb, profile))
        answers_later = crumb.answers in hidden or not requests.isdisjoint(crumb.calls)
        if crumb.id in hidden or is_later or answers_later or (crumb.id == trigger.id and crumb.role != "tool"):
            gone[row] = True
            hidden.update({crumb.id} - {trigger.id})
            requests.update(crumb.calls if crumb.call_signatures else ())
    if not gone.any():
        return view
    return replace(view, current=view.current & ~gone, audience=~gone if view.audience is None else view.audience & ~gone)


def follows_at_once(crumb: Breadcrumb, later: Breadcrumb, profile: Profile) -> bool:
    """Whether the later message came before the earlier one has had its quiet time."""
    return (later.received_at - crumb.received_at).total_seconds() < profile.debounce


def is_same_speaker(crumb: Breadcrumb, other: Breadcrumb) -> bool:
    """Whether one person said both: by `user_id`, where it is unknown by the display name."""
    return crumb.role == other.role == "user" and (crumb.user_id, crumb.speaker) == (other.user_id, other.speaker)


def _read(view: View, profile: Profile) -> _Session:
    session = _Session(profile)
    for crumb in _newest(view):
        session.read(crumb, is_own=crumb.role in {"assistant", "tool"} and view.is_own(crumb))
    return session


def _newest(view: View) -> Iterator[Breadcrumb]:
    """The first versions of what the consumer sees, and its agent's words even where they are deleted."""
    for row in view.rows[-NEWEST_BREADCRUMBS:].tolist():
        crumb = view.breadcrumb(row)
        if crumb.version == 1 and (crumb.role == "assistant" or _is_shown(view, crumb.id)):
            yield crumb


def _is_shown(view: View, identity: str) -> bool:
    row = view.row_of(identity)
    return row >= 0 and bool(view.current[row]) and view.in_conversation(row)


def _asks_otherwise(crumb: Breadcrumb, profile: Profile) -> bool:
    """Whether it asks for a page, and is neither a person's message nor a tool's result."""
    return crumb.role not in {"user", "tool"} and may_trigger(crumb) and profile.is_triggered_by(crumb)
