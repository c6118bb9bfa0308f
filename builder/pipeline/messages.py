"""The page once more, as the messages of a chat API: same fragments, nothing more and nothing less (features G2, H2).

What lasts is the system message, a section each; then the hot window in place order, tool calls with all their results; the last
message has the other sections as text, and the current message at their end.
"""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain, takewhile

from builder.domain.breadcrumb import Breadcrumb
from builder.domain.context import RECENT, SLOW, STATIC
from builder.domain.message import Message
from builder.domain.profile import Profile, SectionRule
from builder.pipeline.compose import page_sections, placed_in
from builder.pipeline.draft import Date, Draft, Key, PageSection, Placed, Rendering
from builder.pipeline.exchanges import Exchanges, Talk, Told, pictures, shown_exchanges

LASTING = frozenset({"pinned", "summary", "instructions"})
"""Sources of the system message, unless the section's class says that they change from turn to turn."""
BETWEEN = frozenset({"hot", "tools"})
"""Sources of the messages between it and the last one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Page:
    """What all parts of this module look at. said: the hot window. exchanges: those that are told as such.

    nameless: roles in which one speaker alone is heard: the role says who it is.
    """

    draft: Draft
    profile: Profile
    rendering: Rendering
    date: Date
    said: Talk
    exchanges: Exchanges
    nameless: frozenset[str]

    @property
    def told(self) -> frozenset[Key]:
        """What messages of the hot window tell: calls, their results, and what was said; not what else tools answered."""
        answers = {name for exchange in chain.from_iterable(self.exchanges.values()) for name in exchange.ids}
        return frozenset(key for key, placed in self.said if key[2] in answers or _is_message(placed, self.exchanges))


def messages(draft: Draft, profile: Profile, rendering: Rendering, date: Date, told: Told) -> tuple[Message, ...]:
    """What the draft holds, as messages, the last one the user's; nothing when the profile wants none.

    A call is told with its results that are on the page; when none is, its message stays without it. A result whose call is not
    on the page, and a bare tool request that has no answer there, stand as text in the last message.
    """
    if profile.chat_format == "none":
        return ()
    said = tuple(sorted((pair for pair in draft.placed.items() if _is_said(pair[0], draft)), key=lambda pair: pair[0][1:]))
    page = _Page(
        draft=draft,
        profile=profile,
        rendering=rendering,
        date=date,
        said=said,
        exchanges=shown_exchanges(said, told, rendering),
        nameless=_nameless(said, draft),
    )
    hot = {key: _message(placed, page) for key, placed in said if _is_message(placed, page.exchanges)}
    sections = page_sections(draft, profile, date, page.told)
    front = tuple(section for section in sections if _lasts(draft.rules[section.name]))
    system = _system(front, page)
    lasting = not system or bool(system[-1].breakpoint)
    behind = tuple(section for section in sections if section not in front)
    return (*system, *_dated(hot, page, lasting), _last(behind, page))


def _is_said(key: Key, draft: Draft) -> bool:
    return draft.rules[key[0]].source in BETWEEN and key[1] >= 0


def _nameless(said: Talk, draft: Draft) -> frozenset[str]:
    speakers: defaultdict[str, set[str]] = defaultdict(set)
    trigger = (placed for key, placed in draft.placed.items() if draft.rules[key[0]].source == "trigger")
    for placed in chain((placed for _, placed in said), trigger):
        if _crumb(placed).role != "tool":
            speakers[_role(_crumb(placed))].add(_crumb(placed).speaker)
    return frozenset(role for role, names in speakers.items() if len(names) == 1)


def _is_message(placed: Placed, exchanges: Exchanges) -> bool:
    """What was said, and calls that are told."""
    return _crumb(placed).role != "tool" or _crumb(placed).id in exchanges


def _message(placed: Placed, page: _Page) -> Message:
    """One breadcrumb. Where it says nothing but its calls, and these are told with their arguments, they say it."""
    crumb = _crumb(placed)
    exchanges = page.exchanges.get(crumb.id, ())
    whole = {exchange.call for exchange in exchanges} <= set(page.rendering.calls(crumb))
    silent = exchanges and (whole if crumb.role == "tool" else not crumb.text.strip())
    return Message(
        role="assistant" if _role(crumb) == "assistant" else "user",
        text="" if silent else _spoken(placed.fragment.text, crumb, page),
        ids=(crumb.id,),
        exchanges=exchanges,
        images=pictures(placed, page.rendering),
    )


def _role(crumb: Breadcrumb) -> str:
    """Who says it in a chat of two: bare tool requests are the assistant's."""
    return "assistant" if crumb.role in {"assistant", "tool"} else "user"


def _spoken(text: str, crumb: Breadcrumb, page: _Page) -> str:
    """The fragment without the speaker's name, where the role says it."""
    bare = text.removeprefix(f"{crumb.speaker}: ") if _role(crumb) in page.nameless else text
    return bare if bare.strip() else text


def _crumb(placed: Placed) -> Breadcrumb:
    return placed.candidate.remembered.breadcrumb


def _lasts(rule: SectionRule) -> bool:
    return rule.source == "system" or (rule.source in LASTING and rule.section_class != "turn")


def _system(front: tuple[PageSection, ...], page: _Page) -> tuple[Message, ...]:
    """A message a section, marked behind what is static and behind what is slow."""
    classes = [page.draft.rules[section.name].section_class for section in front]
    static = len(list(takewhile(lambda name: name == STATIC, classes)))
    slow = len(list(takewhile(lambda name: name != "turn", classes)))
    marks = {slow: SLOW} | {static: STATIC}
    return tuple(
        Message(
            role="system",
            text=page.rendering.page(page.profile.page, (section,)).text.strip("\n"),
            ids=_ids((section,), page),
            breakpoint=marks.get(number, ""),
        )
        for number, section in enumerate(front, 1)
    )


def _dated(hot: dict[Key, Message], page: _Page, lasting: bool) -> Iterator[Message]:
    """The messages with the dates that their section shows; the last one is marked, when what is in front of it lasts."""
    before = ""
    for number, (key, message) in enumerate(hot.items(), 1):
        dated = message
        line = page.date(key[1], page.draft.rules[key[0]].dates)
        if line != before and message.text:
            dated, before = replace(message, text=f"[{line}]\n{message.text}" if line else message.text), line
        yield replace(dated, breakpoint=RECENT if lasting and number == len(hot) else "")


def _last(behind: tuple[PageSection, ...], page: _Page) -> Message:
    """The current message, by itself or under its heading behind the other sections."""
    current = next(placed for key, placed in page.draft.placed.items() if page.draft.rules[key[0]].source == "trigger")
    text = page.rendering.page(page.profile.page, behind).text.strip("\n")
    if len(behind) == 1 and [group.fragments for group in behind[0].groups] == [(current.fragment.text,)]:
        text = _spoken(current.fragment.text, _crumb(current), page)
    return Message(role="user", text=text, ids=_ids(behind, page), images=pictures(current, page.rendering))


def _ids(sections: tuple[PageSection, ...], page: _Page) -> tuple[str, ...]:
    """Of what these sections still show as text."""
    rules = (page.draft.rules[section.name] for section in sections)
    return tuple(_crumb(placed).id for rule in rules for placed in placed_in(page.draft, rule, page.told))
