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
    if draft := _whole(recall, writer):
        return draft
    if profile.on_overflow == "reject":
        raise Rejected(
            f"the conversation does not fit into {profile.whole} tokens; raise `budget` in the profile "
            f"{profile.consumer!r}, limit its `window`, or let `on_overflow` be trim"
        )
    shares = Shares(profile=profile, whole=False)
    draft = new_draft(recall, writer, shares)
    for step in STEPS:
        step(draft, shares)
    return draft


def _whole(recall: ConsumerRecall, writer: Writer) -> PageDraft | None:
    profile = recall.profile
    if cannot_fit(recall.view, profile, profile.whole):
        return None
    shares = Shares(profile=profile, whole=True)
    draft = new_draft(recall, writer, shares)
    if draft.limits.is_part:
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
    for step in LAST_STEPS:
        step(draft, draft.shares)
    page, chat = _compose(draft)
    ids = {fragment.breadcrumb.id for item in draft.ledger.all_items() for fragment in item.fragments}
    absence = draft.omissions.absence(
        ids | (set() if draft.recall.turn else {draft.recall.trigger.id}), draft.verbatim | rows_of_calls(draft.ledger)
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


def _compose(draft: PageDraft) -> tuple[Page, tuple[Message, ...]]:
    ledger = draft.ledger
    page, chat = compose(ledger), messages(ledger)
    while max(page.tokens, chat_tokens(chat, ledger.writer)) > ledger.allowance:
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
    placed = draft.placed()
    items = [placed[full.entry] for full in reversed(draft.full) if full.entry in placed]
    folded = tuple(part.breadcrumb.id for item in items for part in item.fragments if part.reduced == FOLD_REASON)
    original = sum(full.tokens for full in draft.full if full.entry in placed)
    compacted = sum(item.tokens for item in items)
    budget = draft.recall.profile.budget
    return Compaction(original_tokens=original, compacted_tokens=compacted, folded=folded, budget=budget) if folded else None
