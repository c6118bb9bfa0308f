"""`assemble`: recall → context. Reads top to bottom: the conversation and what stands beside it, finds, layout, account."""

from dataclasses import dataclass, replace
from uuid import UUID

from builder.assemble.account import Absence, absence, parts, sections_of
from builder.assemble.front import Front, front_of
from builder.assemble.items.draft import Item, Writer
from builder.assemble.items.forms import FOLD_REASON
from builder.assemble.items.labels import Labels
from builder.assemble.items.layout import Rendering
from builder.assemble.page.chat import chat_tokens, messages
from builder.assemble.page.composition import Page, compose
from builder.assemble.sources.finds import fill
from builder.domain.context import (
    DEGRADED,
    HINT_FAILED,
    NO_USER,
    PAGE_FAILED,
    SYSTEM_CUT,
    VECTORS_MISSING,
    Compaction,
    Context,
    Omission,
    context_id,
)
from builder.domain.message import Message
from builder.domain.phrases import Phrases
from builder.recall.index.conversation import last_row_of_person
from builder.recall.recall import ConsumerRecall
from builder.recall.search.query import Query
from builder.recall.search.ranking import Ranker
from builder.recall.search.retrieval import RetrievalResult, retrieve


def begin(recall: ConsumerRecall, rendering: Rendering) -> Front:
    """The page without its finds, which needs no query. Raises `Rejected` when what no page is without does not fit."""
    recall = _with_tool_heading(recall, rendering.phrases)
    labels = Labels(recall.view, recall.trigger, rendering.phrases, recall.consumers | {recall.profile.consumer})
    writer = Writer(
        view=recall.view,
        profile=recall.profile,
        rendering=rendering,
        labels=labels,
        now=recall.trigger,
        schema_hints=recall.schema_hints,
    )
    return front_of(recall, writer)


@dataclass(frozen=True, slots=True, kw_only=True)
class Assembly:
    """A finished page and what it was made of: a context and its receipt are two accounts of it."""

    front: Front
    query: Query
    retrieval: RetrievalResult
    page: Page
    chat: tuple[Message, ...]
    absence: Absence


def complete(front: Front, query: Query, ranker: Ranker) -> Assembly:
    """The page with the finds in the room that is left."""
    retrieval = _retrieve(front, query, ranker)
    omissions = _put_finds(retrieval, front)
    page, chat = _compose(front)
    missing = absence(front, retrieval, (*omissions, *front.active.omissions, *retrieval.omissions))
    return Assembly(front=front, query=query, retrieval=retrieval, page=page, chat=chat, absence=missing)


def context_of(assembly: Assembly, model: str) -> Context:
    """The context. model: engine of the vectors."""
    front, page = assembly.front, assembly.page
    recall, profile = front.recall, front.recall.profile
    return Context(
        trigger=recall.trigger,
        consumer=profile.consumer,
        agent=profile.agent,
        assembled_at=recall.trigger.received_at,
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
        template_revision=front.ledger.writer.rendering.revision,
        model=model,
        flags=_flags(front, assembly.query, page),
        sections=sections_of(front.ledger),
        supersedes=_superseded_context(recall),
        compaction=_compaction(front),
        partial=tuple(parts(front.ledger)),
        omissions=assembly.absence.omissions,
        left_out=assembly.absence.by_reason,
    )


def _with_tool_heading(recall: ConsumerRecall, phrases: Phrases) -> ConsumerRecall:
    """What a tool answered stands under a heading of its own, never under the user's."""
    if not recall.turn:
        return recall
    sections = tuple(
        replace(rule, title=phrases("tool_results")) if rule.source == "trigger" else rule for rule in recall.profile.sections
    )
    return replace(recall, profile=replace(recall.profile, sections=sections))


def _retrieve(front: Front, query: Query, ranker: Ranker) -> RetrievalResult:
    """The best of what the page does not show."""
    view, rules = front.recall.view, front.recall.profile.retrieval
    if not front.recall.profile.section("retrieval") or query.is_small_talk:
        return RetrievalResult()
    question = last_row_of_person(view) if front.recall.trigger.role == "tool" else -1
    return retrieve(query, view, rules, ranker, front.page_rows | front.active.outdated, front.ledger.remaining, question)


def _put_finds(retrieval: RetrievalResult, front: Front) -> tuple[Omission, ...]:
    """Put what was found on the page; what was said around it only once all of it has room."""
    profile = front.ledger.writer.profile
    rule = profile.section("retrieval")
    if rule is None:
        return ()
    limits = dict(profile.retrieval.per_schema_limit)
    places: dict[int, Item] = {}
    without_room = fill(rule, retrieval.finds, front.ledger, limits, places)
    return without_room or fill(rule, retrieval.neighbours, front.ledger, limits, places)


def _compose(front: Front) -> tuple[Page, tuple[Message, ...]]:
    """The page and its messages; while either has more tokens than its parts had one by one, the last of the oldest goes."""
    ledger = front.ledger
    page, chat = compose(ledger), messages(ledger)
    while max(page.tokens, chat_tokens(chat, ledger.writer)) > ledger.allowance and ledger.take_off_least():
        page, chat = compose(ledger), messages(ledger)
    return page, chat


def _flags(front: Front, query: Query, page: Page) -> tuple[str, ...]:
    flags = {
        DEGRADED: bool(query.text.strip()) and not query.vector,
        VECTORS_MISSING: front.recall.view.lacks_vectors,
        HINT_FAILED: any(fragment.failed for item in front.ledger.all_items() for fragment in item.fragments),
        PAGE_FAILED: page.failed,
        SYSTEM_CUT: front.cut,
        NO_USER: front.recall.lacks_user,
    }
    return tuple(flag for flag, applies in flags.items() if applies)


def _superseded_context(recall: ConsumerRecall) -> UUID | None:
    earlier = recall.supersedes
    return context_id(earlier.workspace, earlier.session, earlier.id, recall.profile.consumer) if earlier else None


def _compaction(front: Front) -> Compaction | None:
    """What was folded, if anything was."""
    folded = tuple(
        fragment.breadcrumb.id
        for item in front.conversation.items
        for fragment in item.fragments
        if fragment.reduced == FOLD_REASON
    )
    compacted = sum(item.tokens for item in front.conversation.items)
    return Compaction(original=front.conversation.unfolded, compacted=compacted, folded=folded) if folded else None
