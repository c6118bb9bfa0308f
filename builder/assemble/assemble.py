"""`assemble`: recall → context. The steps that put things on a page, the page, its account."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from builder.assemble.absence import Absence
from builder.assemble.budget.limits import COUNT_TOLERANCE_TOKENS, cannot_fit
from builder.assemble.draft import PageDraft, new_draft
from builder.assemble.items.forms import FOLD_REASON
from builder.assemble.items.labels import Labels
from builder.assemble.items.rendering import Rendering
from builder.assemble.items.writer import Writer
from builder.assemble.page import Page, compose, sections_of
from builder.assemble.presence import parts, rows_of_calls
from builder.assemble.sources.conversation import put_conversation
from builder.assemble.sources.fixed import (
    complete_current,
    leave_out_instructions,
    put_current,
    put_fixed,
    put_instructions,
    put_pinned,
)
from builder.assemble.sources.pictures import put_pictures
from builder.assemble.sources.purchase import account, choose, put_note, put_plan
from builder.assemble.sources.results import complete_results, has_older_calls, put_results, shorten_results, take_off_results
from builder.assemble.sources.summary import put_memory
from builder.domain.context import (
    DEGRADED,
    HINT_FAILED,
    NO_USER,
    PAGE_FAILED,
    VECTORS_MISSING,
    Compaction,
    Context,
    context_id,
)
from builder.domain.errors import Rejected
from builder.recall.recall import ConsumerRecall
from builder.recall.search.candidates import probability_of
from builder.recall.search.query import Query
from builder.recall.search.ranking import Ranker

BEFORE_PLAN = (put_fixed, put_current, put_pictures, put_pinned, put_instructions, put_results, put_pictures, put_memory)
"""The steps of a page before what is bought: what stands on it anyway."""
WHOLE = (put_fixed, put_current, put_pictures, put_pinned, put_instructions, put_conversation, put_memory, put_pictures)
"""The steps of a page that has all of the conversation."""
WHOLE_OF_WORDS = tuple(step for step in WHOLE[:-1] if step is not put_pictures) + WHOLE[-1:]
"""The same, where pictures have what words leave."""


def begin(recall: ConsumerRecall, rendering: Rendering) -> PageDraft:
    """The page without what is bought: with all of the conversation when that fits, else with nothing of it.

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
    draft = _whole(recall, writer, WHOLE)
    if draft:
        return draft
    if profile.on_overflow == "reject":
        if draft := _whole(recall, writer, WHOLE_OF_WORDS):
            return draft
        raise Rejected(
            f"the conversation does not fit into {profile.allowance} tokens; raise `budget` in the profile "
            f"{profile.consumer!r}, limit its `window`, or let `on_overflow` be trim"
        )
    draft = new_draft(recall, writer, whole=False)
    for step in BEFORE_PLAN:
        step(draft)
    return draft


def _whole(recall: ConsumerRecall, writer: Writer, steps: tuple[Callable[[PageDraft], None], ...]) -> PageDraft | None:
    profile = recall.profile
    if cannot_fit(recall.view, profile, profile.allowance):
        return None
    draft = new_draft(recall, writer, whole=True)
    if draft.limits.is_part or (draft.limits.left_out and profile.on_overflow == "trim"):
        return None
    for step in steps:
        step(draft)
        if not draft.whole or draft.ledger.remaining < -COUNT_TOLERANCE_TOKENS:
            return None
        if step is put_conversation and not _has_room(draft):
            return None
    return draft


def _has_room(draft: PageDraft) -> bool:
    ledger = draft.ledger
    if draft.limits.left_out:
        ledger.settle()  # signs for what the limits left out
    if ledger.remaining >= COUNT_TOLERANCE_TOKENS:
        return True
    return _excess(draft, compose(ledger)) <= 0


def _excess(draft: PageDraft, page: Page) -> int:
    return max(page.tokens, page.copy.tokens if page.copy else 0) + draft.ledger.pictures - draft.ledger.allowance


@dataclass(frozen=True, slots=True, kw_only=True)
class AssembledPage:
    """A finished page and what it was made of: a context and its receipt are accounts of it."""

    draft: PageDraft
    page: Page
    absence: Absence


def complete(draft: PageDraft, query: Query, ranker: Ranker) -> AssembledPage:
    """The page with the finds, and with all that still has room."""
    draft.query, draft.ranker = query, ranker
    page = _planned(draft)
    ids = {fragment.breadcrumb.id for item in draft.ledger.all_items() for fragment in item.fragments}
    absence = draft.omissions.absence(
        ids | (set() if draft.recall.turn else {draft.recall.trigger.id}),
        draft.verbatim | frozenset(entry.row for entry in draft.in_runs) | rows_of_calls(draft.ledger),
        partial(probability_of, draft.retrieval.candidates, draft.recall.view),
    )
    return AssembledPage(draft=draft, page=page, absence=absence)


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
        copy=page.copy,
        tokens=page.tokens,
        picture_tokens=draft.ledger.pictures,
        budget=profile.budget,
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
        left_out_tokens=assembly.absence.tokens,
    )


def _planned(draft: PageDraft) -> Page:
    choice, excess = choose(draft), 0
    leave_out_instructions(draft)
    while True:
        bought = put_plan(draft, choice, excess)
        if not draft.whole:
            complete_results(draft, excess)
            complete_current(draft, excess)
            draft.ledger.settle()
            put_note(draft)
        put_pictures(draft, excess)
        page = compose(draft.ledger)
        over = _excess(draft, page)
        is_empty = not any(draft.items(source) for source in ("window", "retrieval")) and not has_older_calls(draft)
        if over > 0 and (is_empty or excess > draft.ledger.allowance):
            page = _without_notes(draft)
            over = 0
        if over <= 0:
            account(draft, choice, bought)
            return page
        excess += over


def _without_notes(draft: PageDraft) -> Page:
    """A page without room to buy anything also loses lines of ours, then words of the results, at last all of them."""
    while True:
        page = compose(draft.ledger)
        over = _excess(draft, page)
        if over <= 0 or not (draft.ledger.take_off_note() or shorten_results(draft, over) or take_off_results(draft)):
            return page


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
    view, budget = draft.recall.view, draft.recall.profile.budget
    results = [row for entry in draft.in_runs for row in entry.results]
    lines = (item for item in draft.ledger.all_items() if item.entry is None)
    compacted = sum(part.tokens for item in lines for part in item.fragments if part.reduced == FOLD_REASON)
    original = compacted + int(view.tokens[results].sum())
    folded = tuple(view.breadcrumb(row).id for row in results)
    return Compaction(original_tokens=original, compacted_tokens=compacted, folded=folded, budget=budget) if folded else None
