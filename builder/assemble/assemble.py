"""`assemble`: recall → context. Reads top to bottom: the conversation and what stands beside it, finds, layout, account."""

from dataclasses import replace

from builder.assemble.account import absences, parts, sections_of
from builder.assemble.front import Front, front_of
from builder.assemble.items.draft import Item, Writer
from builder.assemble.items.forms import FOLDED
from builder.assemble.items.labels import Labels
from builder.assemble.items.layout import Rendering
from builder.assemble.page.chat import chat_tokens, messages
from builder.assemble.page.composition import Page, compose
from builder.assemble.request import Request, Search
from builder.assemble.sources.finds import fill
from builder.domain.context import (
    DEGRADED,
    HINT_FAILED,
    PAGE_FAILED,
    SYSTEM_CUT,
    VECTORS_MISSING,
    Compaction,
    Context,
    Omission,
)
from builder.domain.message import Message
from builder.domain.phrases import Phrases
from builder.recall.search.retrieval import RetrievalResult, retrieve


def assemble(request: Request, search: Search, rendering: Rendering) -> Context:
    """One page under the budget. Raises `Rejected` when what no page is without does not fit."""
    return complete(begin(request, rendering), search)


def begin(request: Request, rendering: Rendering) -> Front:
    """The page without its finds, which needs no query. Raises `Rejected` when what no page is without does not fit."""
    request = _titled(request, rendering.phrases)
    labels = Labels(request.view, request.trigger, rendering.phrases)
    writer = Writer(view=request.view, profile=request.profile, rendering=rendering, labels=labels, now=request.trigger)
    return front_of(request, writer)


def complete(front: Front, search: Search) -> Context:
    """The page with what was found in the room that is left."""
    request, profile = front.request, front.request.profile
    found = _found(front, search)
    missed = _put_finds(found, front)
    page, chat = _composed(front)
    absent = absences(front, found, (*missed, *front.active.omissions, *found.omissions))
    return Context(
        trigger=request.trigger,
        consumer=profile.consumer,
        assembled_at=request.trigger.received_at,
        markdown=page.markdown,
        breakpoints=page.breakpoints,
        messages=chat,
        chat_format=profile.chat_format,
        tokens=page.tokens,
        budget=profile.budget,
        target=profile.target,
        margin=profile.margin,
        encoding=profile.encoding,
        profile_revision=profile.revision,
        template_revision=front.ledger.writer.rendering.revision,
        model=search.model,
        flags=_flags(front, search, page),
        sections=sections_of(front.ledger),
        compaction=_compaction(front),
        partial=tuple(parts(front.ledger)),
        omissions=absent.named,
        left_out=absent.by_reason,
    )


def _titled(request: Request, phrases: Phrases) -> Request:
    """What a tool answered stands under a heading of its own, never under the user's."""
    if not request.turn:
        return request
    sections = tuple(
        replace(rule, title=phrases("tool_results")) if rule.source == "trigger" else rule for rule in request.profile.sections
    )
    return replace(request, profile=replace(request.profile, sections=sections))


def _found(front: Front, search: Search) -> RetrievalResult:
    """The best of what the page does not show; nothing is ranked when there is nothing to find."""
    view, rules, query = front.request.view, front.request.profile.retrieval, search.query
    if not front.request.profile.section("retrieval") or query.is_small_talk:
        return RetrievalResult()
    return retrieve(query, view, rules, search.ranker, front.shown | front.active.outdated, front.ledger.left)


def _put_finds(found: RetrievalResult, front: Front) -> tuple[Omission, ...]:
    """Put what was found on the page; what was said around it only once all of it has room."""
    profile = front.ledger.writer.profile
    rule = profile.section("retrieval")
    if rule is None:
        return ()
    limits = dict(profile.retrieval.per_schema_limit)
    places: dict[int, Item] = {}
    missed = fill(rule, found.finds, front.ledger, limits, places)
    return missed or fill(rule, found.neighbours, front.ledger, limits, places)


def _composed(front: Front) -> tuple[Page, tuple[Message, ...]]:
    """The page and its messages; while either has more tokens than its parts had one by one, the last of the oldest goes."""
    ledger = front.ledger
    page, chat = compose(ledger), messages(ledger)
    while max(page.tokens, chat_tokens(chat, ledger.writer)) > ledger.allowance and ledger.take_off_least():
        page, chat = compose(ledger), messages(ledger)
    return page, chat


def _flags(front: Front, search: Search, page: Page) -> tuple[str, ...]:
    query = search.query
    found = {
        DEGRADED: bool(query.text.strip()) and not query.vector,
        VECTORS_MISSING: front.request.view.lacks_vectors,
        HINT_FAILED: any(fragment.failed for item in front.ledger.shown() for fragment in item.fragments),
        PAGE_FAILED: page.failed,
        SYSTEM_CUT: front.cut,
    }
    return tuple(flag for flag, is_so in found.items() if is_so)


def _compaction(front: Front) -> Compaction | None:
    """What was folded, if anything was."""
    folded = tuple(
        fragment.breadcrumb.id for item in front.conversation.items for fragment in item.fragments if fragment.reduced == FOLDED
    )
    compacted = sum(item.tokens for item in front.conversation.items)
    return Compaction(original=front.conversation.unfolded, compacted=compacted, folded=folded) if folded else None
