"""Everything in front of the finds: the whole conversation when it fits, else shares that depend on history and profile alone."""

from dataclasses import dataclass

from builder.assemble.budget.ledger import Ledger
from builder.assemble.items.draft import Writer
from builder.assemble.page.chat import chat_tokens, messages
from builder.assemble.page.composition import compose
from builder.assemble.sources.conversation import (
    Conversation,
    LimitedConversation,
    cannot_fit,
    limit_conversation,
    newest_part,
    whole_conversation,
)
from builder.assemble.sources.fixed import put_fixed
from builder.assemble.sources.instructions import ActiveInstructions, active_instructions, put_instructions
from builder.assemble.sources.memory import put_memory
from builder.assemble.sources.summary import put_summary
from builder.assemble.sources.table import SOURCES
from builder.domain.context import CUT
from builder.domain.errors import Rejected
from builder.domain.profile import Profile, SectionRule
from builder.recall.index.person_table import NOBODY
from builder.recall.recall import ConsumerRecall
from builder.recall.summaries.lines import PageContent

COUNT_TOLERANCE_TOKENS = 40
"""Tokens by which parts counted one by one may differ from the page counted whole."""
MIN_WINDOW_SHARE = 0.25
"""Share of what the conversation may have below which summary and instructions yield to it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Front:
    """A page without its finds."""

    recall: ConsumerRecall
    ledger: Ledger
    conversation: Conversation
    limits: LimitedConversation
    """What the profile leaves of the conversation."""
    active: ActiveInstructions
    page_rows: frozenset[int]
    """Rows of which the page shows all."""
    verbatim: frozenset[int]
    """Those that its summary has word for word."""
    cut: bool
    """The profile's own words are cut."""


def front_of(recall: ConsumerRecall, writer: Writer) -> Front:
    """The page without its finds. Raises `Rejected` when what no page is without does not fit, or the profile trims nothing."""
    front = _whole_front(recall, writer)
    if front is None and recall.profile.on_overflow == "reject":
        raise Rejected(
            f"the conversation does not fit into {recall.profile.whole} tokens; raise `budget` in the profile "
            f"{recall.profile.consumer!r}, limit its `window`, or let `on_overflow` be trim"
        )
    if front is not None:
        return front
    front = _trimmed_front(recall, writer, dated=_began_earlier(recall, writer))
    return front if front.ledger.dated or not _spans_days(front) else _trimmed_front(recall, writer, dated=True)


def _whole_front(recall: ConsumerRecall, writer: Writer) -> Front | None:
    """The page with all of the conversation that the profile's limits leave; None when it has no room for that."""
    profile, view = recall.profile, recall.view
    if cannot_fit(view, profile, profile.whole):
        return None
    limits = limit_conversation(view, profile, profile.whole, recall.turn, folded=False)
    if limits.is_part:
        return None
    conversation = whole_conversation(limits, writer)
    days = {writer.date(item, "day") for item in conversation.items}
    ledger = Ledger(writer, profile.whole, SOURCES, dated=len(days | {writer.day_of(recall.trigger)}) > 1)
    cut = put_fixed(ledger, recall)
    if any(fragment.reduced == CUT for item in ledger.all_items() for fragment in item.fragments):
        return None  # the current message is part of the conversation
    rule = profile.section("window")
    finds = _finds_share(profile) if limits.left_out and profile.on_overflow == "trim" else 0
    if rule and ledger.total + ledger.cost(rule.name, conversation.items) + finds > profile.whole + COUNT_TOLERANCE_TOKENS:
        return None
    if rule:
        ledger.put(rule.name, conversation.items)
    if ledger.remaining < COUNT_TOLERANCE_TOKENS and not has_room(ledger):
        return None
    _note(ledger, rule, limits)
    shares = profile if profile.whole > profile.aim else None  # only the conversation may take more than the page aims at
    _collect(recall, ledger, shares)
    memory_rows = _put_memory(recall, ledger, newest_room=_share(profile, "window"))
    front = _with_summary_and_instructions(recall, ledger, conversation, limits, shares, cut=cut, memory_rows=memory_rows)
    _aim(ledger, profile, int(COUNT_TOLERANCE_TOKENS + _finds_share(profile)))
    return front


def _trimmed_front(recall: ConsumerRecall, writer: Writer, *, dated: bool) -> Front:
    """The page with the newest part of the conversation. The current message takes from the finds first, then from it."""
    profile, view = recall.profile, recall.view
    ledger = Ledger(writer, profile.allowance, SOURCES, dated=dated)
    cut = put_fixed(ledger, recall)
    _aim(ledger, profile, profile.aim // 2)
    trigger = next(rule for rule in profile.sections if rule.source == "trigger")
    _collect(recall, ledger, profile)
    reserved = _share(profile, "summary") + _share(profile, "instructions")
    reserved += _share(profile, "memory") if view.person != NOBODY else 0
    room = ledger.remaining + ledger.spent[trigger.name] - reserved - _finds_share(profile)
    room = min(room, ledger.remaining - reserved, _share(profile, "window"))
    if room < MIN_WINDOW_SHARE * _share(profile, "window"):
        room = min(_share(profile, "window"), ledger.remaining)
    rule = profile.section("window")
    limits = limit_conversation(view, profile, room, recall.turn, folded=True)
    conversation = Conversation(items=(), whole=False)
    if rule:
        _note(ledger, rule, limits)
        heading = ledger.heading(rule.name) or ledger.spent[rule.name]
        conversation = newest_part(limits, writer, max(room - heading, 0), ledger.dates(rule))
        ledger.put(rule.name, conversation.items)
    memory_rows = _put_memory(recall, ledger, newest_room=0)
    return _with_summary_and_instructions(recall, ledger, conversation, limits, profile, cut=cut, memory_rows=memory_rows)


def _with_summary_and_instructions(
    recall: ConsumerRecall,
    ledger: Ledger,
    conversation: Conversation,
    limits: LimitedConversation,
    shares: Profile | None,
    *,
    cut: bool,
    memory_rows: frozenset[int],
) -> Front:
    """The front with summary and instructions, of what the conversation does not show. shares: None = no shares act.

    memory_rows: of which other sessions' part of the page shows all.
    """
    profile, view = recall.profile, recall.view
    page_rows = conversation.whole_rows() | memory_rows | pinned_rows(recall) | {view.row_of(recall.trigger.id)}
    page_rows |= {row for entry in recall.turn for row in entry.results}
    everything = conversation.whole and not limits.left_out
    summary, instructed = profile.section("summary"), profile.section("instructions")
    active = (
        active_instructions(view, recall.trigger, recall.terms)
        if instructed and not (everything and profile.retrieval.scope == "session")
        else ActiveInstructions()
    )
    page = PageContent(rows=page_rows, outdated=active.outdated)
    if instructed:
        # What holds from another session is said again: there it is one message of many.
        page = put_instructions(ledger, instructed, active, page_rows - memory_rows, _room(instructed, ledger, shares))
    verbatim = frozenset[int]()
    if summary and not everything:
        rooms = (_room(summary, ledger, shares), _room_of_verbatim_lines(ledger, profile))
        verbatim = put_summary(ledger, summary, page, conversation.moved_at or limits.moved_at, rooms)
    return Front(
        recall=recall,
        ledger=ledger,
        conversation=conversation,
        limits=limits,
        active=active,
        page_rows=page_rows | verbatim,
        verbatim=verbatim,
        cut=cut,
    )


def has_room(ledger: Ledger) -> bool:
    """Whether page and messages, counted whole, stay within the allowance."""
    tokens = max(compose(ledger).tokens, chat_tokens(messages(ledger), ledger.writer))
    return tokens <= ledger.allowance


def pinned_rows(recall: ConsumerRecall) -> frozenset[int]:
    """Rows of the view that stand in sections of their own."""
    if not recall.profile.section("pinned"):
        return frozenset()
    rows = (recall.view.row_of(row.breadcrumb.id) for kind in recall.pinned for row in kind)
    return frozenset(row for row in rows if row >= 0)


def _collect(recall: ConsumerRecall, ledger: Ledger, shares: Profile | None) -> None:
    """Fill the sections whose sources collect by themselves."""
    for rule in recall.profile.sections:
        if collect := ledger.source(rule).collect:
            room = _room(rule, ledger, shares) - ledger.heading(rule.name)
            ledger.put(rule.name, collect(recall, rule, ledger.writer, room))


def _put_memory(recall: ConsumerRecall, ledger: Ledger, newest_room: int) -> frozenset[int]:
    """The memory of the person beside the conversation. newest_room: of its newest part, where finds still have their share."""
    rule = recall.profile.section("memory")
    if rule is None:
        return frozenset()
    room = max(ledger.remaining - COUNT_TOLERANCE_TOKENS, 0)
    beside_finds = room - _finds_share(recall.profile)
    return put_memory(ledger, rule, recall, room if newest_room else 0, newest_room if newest_room <= beside_finds else 0)


def _note(ledger: Ledger, rule: SectionRule | None, limits: LimitedConversation) -> None:
    """The note on tool turns that a limit leaves out."""
    turns = len({entry.origin for entry, _ in limits.left_out if entry.request})
    if rule and turns:
        ledger.put_note(rule.name, ledger.writer.rendering.phrases.counted("tool_turn_left_out", "tool_turns_left_out", turns))


def _room(rule: SectionRule, ledger: Ledger, shares: Profile | None) -> int:
    """Tokens that a section may have: what is left, and no more than its share where shares act."""
    return ledger.remaining if shares is None else min(rule.max_tokens(shares.aim), ledger.remaining)


def _room_of_verbatim_lines(ledger: Ledger, profile: Profile) -> int:
    """Tokens that a summary with lines word for word may have: all that is left but what finds need at least.

    The current message takes from the finds first.
    """
    trigger = next(rule for rule in profile.sections if rule.source == "trigger")
    return min(ledger.remaining + ledger.spent[trigger.name] - _finds_share(profile), ledger.remaining)


def _share(profile: Profile, source: str) -> int:
    rule = profile.section(source)
    return rule.max_tokens(profile.aim) if rule else 0


def _finds_share(profile: Profile) -> int:
    """Tokens that finds are left with at least."""
    rule = profile.section("retrieval")
    return int(rule.min_share * profile.aim) if rule else 0


def _aim(ledger: Ledger, profile: Profile, more: int) -> None:
    """Let the page have what it aims at from now on, but `more` than what stands on it already as far as the budget goes."""
    ledger.allowance = min(ledger.allowance, max(profile.aim, ledger.total + more))


def _spans_days(front: Front) -> bool:
    """Whether what is shown of the conversation was said on several days, the trigger's included: clocks differ by offsets."""
    writer = front.ledger.writer
    return any(writer.day_of(item.first) != writer.day_of(front.recall.trigger) for item in front.conversation.items)


def _began_earlier(recall: ConsumerRecall, writer: Writer) -> bool:
    """Whether the conversation began on another day than the trigger's."""
    view = recall.view
    first = next((row for row in view.session_rows[: view.session_size] if view.in_conversation(row)), None)
    if first is None:
        return False
    return writer.day_of(view.breadcrumb(first)) != writer.day_of(recall.trigger)
