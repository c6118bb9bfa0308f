"""`assemble`: recall → context. The steps that put things on a page, the page, its account."""

from dataclasses import dataclass

from builder.assemble.budget.shares import COUNT_TOLERANCE_TOKENS, Shares, cannot_fit
from builder.assemble.chat import chat_tokens, messages
from builder.assemble.draft import PageDraft, new_draft
from builder.assemble.items.labels import Labels
from builder.assemble.items.rendering import FOLD_REASON, Rendering
from builder.assemble.items.writer import Writer
from builder.assemble.page import Absence, Page, compose, parts, rows_of_calls, sections_of
from builder.assemble.sources.conversation import SHORT_TOKENS, grow, leave_out_older, put_conversation
from builder.assemble.sources.finds import put_finds
from builder.assemble.sources.fixed import (
    complete_current,
    leave_out_instructions,
    put_current,
    put_fixed,
    put_instructions,
    put_pinned,
)
from builder.assemble.sources.purchase import account, choose, complete_results, put_plan, put_results
from builder.assemble.sources.summary import leave_out_shown_lines, put_memory, put_summary
from builder.domain.context import (
    DEGRADED,
    HINT_FAILED,
    NO_USER,
    PAGE_FAILED,
    VECTORS_MISSING,
    Compaction,
    Context,
    Message,
    context_id,
)
from builder.domain.errors import Rejected
from builder.recall.recall import ConsumerRecall
from builder.recall.search.query import Query
from builder.recall.search.ranking import Ranker

MAX_ROUNDS = 4
"""Times that it grows: each time what it shows of other sections makes room."""


def put_fill(draft: PageDraft, shares: Shares) -> None:
    """Let the conversation grow, then the current message; instructions and summary yield what it shows."""
    as_noted = draft.items("instructions")
    if not draft.whole:
        put_instructions(draft, shares)
    leave_out_instructions(draft)
    leave_out_shown_lines(draft)
    if not draft.whole:
        for _ in range(MAX_ROUNDS if draft.recall.profile.fill else 0):
            if draft.room() < SHORT_TOKENS or not grow(draft):
                break
            as_noted = draft.items("instructions")
            put_instructions(draft, shares)
            put_summary(draft, shares)
        if draft.recall.profile.fill:
            complete_current(draft)
        if draft.items("instructions") != as_noted:
            draft.note_what_is_missing()
        leave_out_older(draft)


PLAN_STEPS = (put_fixed, put_current, put_pinned, put_instructions, put_results, put_memory)
"""Those before the plan of a conversation that does not fit."""
STEPS = (put_fixed, put_current, put_pinned, put_instructions, put_conversation, put_memory, put_summary)
"""Those that need no query."""
LAST_STEPS = (put_finds, put_fill)


def begin(recall: ConsumerRecall, rendering: Rendering) -> PageDraft:
    """The page without its finds: with all of the conversation when that fits, else with shares of it.

    Raises `Rejected` when what no page is without does not fit, or the profile trims nothing.
    """
    profile = recall.profile
    labels = Labels(recall.view, recall.trigger, rendering.phrases, recall.consumers | {profile.consumer})
    writer = Writer(
        view=recall.view,
        profile=profile,
        rendering=rendering,
        labels=labels,
        now=recall.trigger,
        schema_hints=recall.schema_hints,
    )
    draft = _whole(recall, writer)
    if draft and not (draft.is_planned and draft.limits.left_out):
        return draft
    if profile.on_overflow == "reject" and not draft:
        raise Rejected(
            f"the conversation does not fit into {profile.whole} tokens; raise `budget` in the profile "
            f"{profile.consumer!r}, limit its `window`, or let `on_overflow` be trim"
        )
    shares = Shares(profile=profile, whole=False)
    draft = new_draft(recall, writer, shares)
    has_summary = profile.summaries is not None and profile.summaries.by == "endpoint"
    steps = (*PLAN_STEPS, *((put_summary,) if has_summary else ())) if draft.is_planned else STEPS
    for step in steps:
        step(draft, shares)
    return draft


def _whole(recall: ConsumerRecall, writer: Writer) -> PageDraft | None:
    profile = recall.profile
    if cannot_fit(recall.view, profile, profile.whole):
        return None
    shares = Shares(profile=profile, whole=True)
    draft = new_draft(recall, writer, shares)
    is_wanted = profile.on_overflow == "reject" or not draft.limits.left_out or not draft.is_planned
    if draft.limits.is_part or not is_wanted:
        return None
    for step in STEPS:
        step(draft, shares)
        if not draft.whole or draft.ledger.remaining < -COUNT_TOLERANCE_TOKENS:
            return None
        if step is put_conversation and not _has_room(draft):
            return None
    return draft


def _has_room(draft: PageDraft) -> bool:
    ledger, profile = draft.ledger, draft.recall.profile
    finds = draft.shares.finds() if draft.limits.left_out and profile.on_overflow == "trim" else 0
    if finds > ledger.remaining + COUNT_TOLERANCE_TOKENS:
        return False
    if ledger.remaining >= COUNT_TOLERANCE_TOKENS:
        return True
    return max(compose(ledger).tokens, chat_tokens(messages(ledger), ledger.writer)) <= ledger.allowance


@dataclass(frozen=True, slots=True, kw_only=True)
class AssembledPage:
    """A finished page and what it was made of: a context and its receipt are accounts of it."""

    draft: PageDraft
    page: Page
    chat: tuple[Message, ...]
    absence: Absence


def complete(draft: PageDraft, query: Query, ranker: Ranker) -> AssembledPage:
    """The page with the finds, and with all that still has room."""
    draft.query, draft.ranker = query, ranker
    page, chat = _planned(draft) if draft.is_planned else _filled(draft)
    ids = {fragment.breadcrumb.id for item in draft.ledger.all_items() for fragment in item.fragments}
    absence = draft.omissions.absence(
        ids | (set() if draft.recall.turn else {draft.recall.trigger.id}),
        draft.verbatim | frozenset(entry.row for entry in draft.in_runs) | rows_of_calls(draft.ledger),
    )
    return AssembledPage(draft=draft, page=page, chat=chat, absence=absence)


def context_of(assembly: AssembledPage, model: str) -> Context:
    """The context. model: engine of the vectors."""
    draft, page = assembly.draft, assembly.page
    recall, profile = draft.recall, draft.recall.profile
    trigger, earlier = recall.trigger, recall.questions.supersedes
    return Context(
        trigger=trigger,
        consumer=profile.consumer,
        agent=profile.agent,
        assembled_at=trigger.received_at,
        markdown=page.markdown,
        breakpoints=page.breakpoints,
        messages=assembly.chat,
        chat_format=profile.chat_format,
        tokens=page.tokens,
        budget=profile.budget,
        target=profile.target,
        margin=profile.margin,
        encoding=profile.encoding,
        profile_revision=profile.revision,
        template_revision=draft.ledger.writer.rendering.revision,
        model=model,
        flags=_flags(draft, page),
        sections=sections_of(draft.ledger),
        supersedes=context_id(trigger.workspace, trigger.session, earlier, profile.consumer) if earlier else None,
        questions=recall.questions.ids,
        as_of=recall.as_of,
        is_over=recall.questions.is_over,
        later=recall.questions.later,
        compaction=_compaction(draft),
        partial=tuple(parts(draft.ledger)),
        omissions=assembly.absence.omissions,
        left_out=assembly.absence.by_reason,
    )


def _planned(draft: PageDraft) -> tuple[Page, tuple[Message, ...]]:
    choice, excess = choose(draft), 0
    leave_out_instructions(draft)
    while True:
        bought = put_plan(draft, choice, excess)
        if not draft.whole:
            complete_results(draft)
            complete_current(draft)
        page, chat = compose(draft.ledger), messages(draft.ledger)
        over = _excess(draft, page, chat)
        is_empty = not any(draft.items(source) for source in ("window", "turn", "retrieval"))
        if over > 0 and (is_empty or excess > draft.ledger.allowance):
            page, chat = _without_notes(draft)
            over = 0
        if over <= 0:
            account(draft, choice, bought)
            return page, chat
        excess += over


def _without_notes(draft: PageDraft) -> tuple[Page, tuple[Message, ...]]:
    """What nothing can be bought for is without lines of ours too, as far as it must be."""
    while True:
        page, chat = compose(draft.ledger), messages(draft.ledger)
        if _excess(draft, page, chat) <= 0 or not draft.ledger.take_off_note():
            return page, chat


def _excess(draft: PageDraft, page: Page, chat: tuple[Message, ...]) -> int:
    return max(page.tokens, chat_tokens(chat, draft.ledger.writer)) - draft.ledger.allowance


def _filled(draft: PageDraft) -> tuple[Page, tuple[Message, ...]]:
    for step in LAST_STEPS:
        step(draft, draft.shares)
    return _compose(draft)


def _compose(draft: PageDraft) -> tuple[Page, tuple[Message, ...]]:
    ledger = draft.ledger
    page, chat = compose(ledger), messages(ledger)
    while _excess(draft, page, chat) > 0:
        if ledger.take_off_least():
            draft.note_what_is_missing()
            leave_out_older(draft)
        elif not ledger.take_off_note():
            break
        page, chat = compose(ledger), messages(ledger)
    return page, chat


def _flags(draft: PageDraft, page: Page) -> tuple[str, ...]:
    flags = {
        DEGRADED: bool(draft.query.text.strip()) and not draft.query.vector,
        VECTORS_MISSING: draft.recall.view.lacks_vectors,
        HINT_FAILED: any(fragment.failed for item in draft.ledger.all_items() for fragment in item.fragments),
        PAGE_FAILED: page.failed,
        NO_USER: draft.recall.lacks_user,
    }
    return tuple(flag for flag, applies in flags.items() if applies)


def _compaction(draft: PageDraft) -> Compaction | None:
    budget = draft.recall.profile.budget
    if draft.is_planned:
        return _compaction_of_runs(draft, budget)
    placed = draft.placed()
    items = [placed[full.entry] for full in reversed(draft.full) if full.entry in placed]
    folded = tuple(part.breadcrumb.id for item in items for part in item.fragments if part.reduced == FOLD_REASON)
    original = sum(full.tokens for full in draft.full if full.entry in placed)
    compacted = sum(item.tokens for item in items)
    return Compaction(original_tokens=original, compacted_tokens=compacted, folded=folded, budget=budget) if folded else None


def _compaction_of_runs(draft: PageDraft, budget: int) -> Compaction | None:
    view = draft.recall.view
    results = [row for entry in draft.in_runs for row in entry.results]
    lines = (item for item in draft.ledger.all_items() if item.entry is None)
    compacted = sum(part.tokens for item in lines for part in item.fragments if part.reduced == FOLD_REASON)
    original = compacted + int(view.tokens[results].sum())
    folded = tuple(view.breadcrumb(row).id for row in results)
    return Compaction(original_tokens=original, compacted_tokens=compacted, folded=folded, budget=budget) if folded else None
