"""One breadcrumb in, its contexts out: remember → recall → assemble; the worker publishes. Read this file first."""

import asyncio
from collections.abc import Callable, Hashable, Mapping
from copy import copy
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar

from builder.assemble.assemble import AssembledPage, begin, complete, context_of
from builder.assemble.draft import PageDraft
from builder.assemble.items.pending import PENDING_CHARS, READY, FragmentPending
from builder.assemble.items.rendering import Rendering
from builder.domain.breadcrumb import Breadcrumb, Place
from builder.domain.context import Context
from builder.domain.errors import Rejected
from builder.domain.profile import Definitions, Profile, RecordConsumers
from builder.domain.selector import Selector, may_trigger
from builder.domain.stored import StoredBreadcrumb
from builder.domain.timing import timed
from builder.language.words import Terms
from builder.ports.models import Embedder
from builder.ports.store import Store
from builder.recall.causal_chain import chain_refusals
from builder.recall.histories import HistoryCache, HistoryReader
from builder.recall.index.view import View
from builder.recall.recall import Recaller
from builder.recall.search.candidates import Find
from builder.recall.search.query import TRIGGER, Queries, Query, Searcher
from builder.recall.search.ranking import Ranker
from builder.recall.search.retrieval import search
from builder.recall.workspaces import Workspaces
from builder.remember.memory import THREAD_CHARS, Ingest, Memory, in_thread

Page = TypeVar("Page", PageDraft, AssembledPage)
OPEN_TURN = "the calls of its turn are not all answered, another agent made them, or its own was answered before"
"""Why a tool's answer may give none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Functions:
    """Pure functions from outside."""

    terms: Terms
    count: Callable[[str], int]
    """Text → tokens, as facts are counted."""
    renderings: Mapping[str, Rendering]
    """Encoding → rendering."""
    ranker: Ranker
    """Weights of the fusion."""
    excluded: Callable[[Breadcrumb], tuple[Selector, ...]]
    """A blacklist → what it excludes."""
    record_consumers: Callable[[Definitions], RecordConsumers] = lambda _definitions: RecordConsumers()
    """The definitions of a workspace → the consumers that they make."""


@dataclass(frozen=True, slots=True)
class BuildResult:
    """The contexts of one trigger."""

    contexts: tuple[Context, ...] = ()
    rejected: tuple[str, ...] = ()
    """Why a consumer gets none; the contexts of the others are not touched by it."""
    loop_stopped: bool = False
    """One is rejected because its causal chain is too long."""

    def __add__(self, other: "BuildResult") -> "BuildResult":
        """Those of both."""
        rejected = (*self.rejected, *other.rejected)
        return BuildResult((*self.contexts, *other.contexts), rejected, self.loop_stopped or other.loop_stopped)


@dataclass(frozen=True, slots=True)
class PageDrafts:
    """The pages of one trigger without their finds, which need no query; the other fields are those of `BuildResult`."""

    drafts: tuple[PageDraft, ...]
    rejected: tuple[str, ...]
    loop_stopped: bool


class ContextBuilder:
    """The straight line of one event."""

    def __init__(
        self,
        store: Store,
        embedder: Embedder,
        profiles: tuple[Profile, ...],
        functions: Functions,
        history_cache: HistoryCache,
        passages_at_ingestion: int | None = None,
    ) -> None:
        """Everything is passed in; nothing is opened here.

        passages_at_ingestion: a breadcrumb of more gets its vectors later; None = none does.
        """
        self.ingest = Ingest(embedder, functions.terms, functions.count, passages_at_ingestion)
        self.memory = Memory(store=store, ingest=self.ingest)
        self.remember = self.memory.remember
        reader = HistoryReader(store=store, cache=history_cache, model=embedder.model)
        self.searcher = Searcher(embed=partial(self.ingest.embed, is_query=True), terms=functions.terms)
        workspaces = Workspaces(reader, self.searcher)
        self.recaller = Recaller(reader=reader, workspaces=workspaces, terms=functions.terms, exclusions=functions.excluded)
        self.ranker = functions.ranker
        self.profiles = profiles
        """Profiles of the consumers that files make."""
        self._renderings = functions.renderings
        self.record_consumers = functions.record_consumers

    def with_snapshot(self, profiles: tuple[Profile, ...], functions: Functions) -> "ContextBuilder":
        """The same with other profiles and templates; what began with this one ends with it."""
        other = copy(self)
        other.profiles, other._renderings = profiles, functions.renderings  # noqa: SLF001 - of the same class
        other.record_consumers = functions.record_consumers
        return other

    def consumers(self, breadcrumb: Breadcrumb, definitions: Definitions = ()) -> tuple[Profile, ...]:
        """Who wants a context for it: consumers of profile files, and those that the definitions of its workspace make."""
        if not may_trigger(breadcrumb):
            return ()
        profiles = (*self.profiles, *self.record_consumers(definitions).profiles)
        return tuple(profile for profile in profiles if profile.is_triggered_by(breadcrumb))

    async def in_session(self, trigger: Breadcrumb) -> Breadcrumb:
        """The trigger in the session of its context: a tool's answer of no session belongs to the session of its call.

        Everything before it must have been remembered. Raises `Unavailable`.
        """
        session = await self.recaller.reader.store.caller_session(trigger) if trigger.joins_by else ""
        return replace(trigger, session=session) if session else trigger

    async def build(self, breadcrumb: Breadcrumb, consumers: tuple[Profile, ...]) -> BuildResult:
        """Remember the breadcrumb and build one context per consumer. Raises `Rejected` and `Unavailable`."""
        _, pages = await self.begin(breadcrumb, consumers)
        return await self.complete(pages)

    async def begin(self, breadcrumb: Breadcrumb, consumers: tuple[Profile, ...]) -> tuple[StoredBreadcrumb, PageDrafts]:
        """Remember the breadcrumb, and make what stands in front of the finds. Raises `Rejected` and `Unavailable`.

        The drafts need nothing of the trigger but its place: they are made while it is embedded. A tool's answer is remembered
        first, because it is part of what is recalled for it.
        """
        if breadcrumb.role == "tool":
            trigger = await self.memory.remember(breadcrumb)
            return trigger, await self._begin(trigger.breadcrumb, consumers)
        beginning = asyncio.create_task(self._begin(breadcrumb, consumers))
        try:
            trigger = await self.memory.remember(breadcrumb)
            pages = await beginning
        finally:
            beginning.cancel()
            await asyncio.gather(beginning, return_exceptions=True)
        if trigger.breadcrumb != breadcrumb:  # it came before, and is answered as of its first place
            pages = await self._begin(trigger.breadcrumb, consumers)
        return trigger, pages

    async def complete(self, pages: PageDrafts) -> BuildResult:
        """The contexts of these pages."""
        queries: Queries = {}
        contexts = [context_of(await self._assembly(draft, queries), self.recaller.reader.model) for draft in pages.drafts]
        return BuildResult(tuple(contexts), pages.rejected, pages.loop_stopped)

    async def build_contexts(
        self, trigger: StoredBreadcrumb, consumers: tuple[Profile, ...], quiet_end: Place | None = None
    ) -> BuildResult:
        """One context per consumer as of the place of a trigger that is remembered.

        quiet_end: the last message within the trigger's quiet time, which the pages show too; everything up to it must have been
        remembered.
        """
        result = await self.complete(await self._begin(trigger.breadcrumb, consumers, quiet_end))
        return replace(result, contexts=tuple(map(_after_quiet, result.contexts))) if quiet_end else result

    async def explain(
        self, trigger: Breadcrumb, profile: Profile, *, degraded: bool = False, as_of: Place | None = None, is_quiet: bool = False
    ) -> tuple[Context, AssembledPage]:
        """The context of a trigger that is remembered, built again, and the page that accounts for it.

        degraded: as it was without an engine. as_of: with what came up to there, see `Recaller.recall`. is_quiet: that is the end
        of the trigger's quiet time. Raises `Rejected` when the trigger gives this consumer none, and `Unavailable`.
        """
        pages = await self._begin(trigger, (profile,), as_of)
        if not pages.drafts:
            raise Rejected(pages.rejected[0] if pages.rejected else f"{trigger.id} gives no context: {OPEN_TURN}")
        assembly = await self._assembly(pages.drafts[0], {}, degraded=degraded)
        context = context_of(assembly, self.recaller.reader.model)
        return _after_quiet(context) if is_quiet else context, assembly

    async def search(self, question: Breadcrumb, profile: Profile, limit: int) -> tuple[View, tuple[Find, ...]]:
        """Finds that answer the question in the scope of the profile, the best first. limit: most passages."""
        query, view = await self.question_for(question, profile)
        return view, search(query, view, profile.retrieval, self.ranker, limit)

    async def question_for(self, question: Breadcrumb, profile: Profile) -> tuple[Query, View]:
        """A question as it was asked: no message before it is part of it."""
        profile = replace(profile, retrieval=replace(profile.retrieval, query="custom", query_text=TRIGGER))
        view, scope = await self.recaller.view_for(question, profile)
        return await self.searcher.query(question.text, view, profile, scope, {}), view

    async def _assembly(self, draft: PageDraft, queries: Queries, *, degraded: bool = False) -> AssembledPage:
        recall = draft.recall
        with timed("embedding"):
            query = await self.searcher.query(draft.writer.question, recall.view, recall.profile, recall.scope, queries)
        query, drafts = replace(query, vector=b"") if degraded else query, iter((draft,))

        def assembly() -> AssembledPage:
            """Finds are put on a draft of their own each time."""
            fresh = next(drafts, None) or begin(draft.recall, draft.writer.rendering)
            return complete(fresh, query, self.ranker)

        with timed("page"):
            return await _rendered(assembly)

    async def _begin(self, trigger: Breadcrumb, consumers: tuple[Profile, ...], as_of: Place | None = None) -> PageDrafts:
        trigger = await self.in_session(trigger)
        refusals = await chain_refusals(self.recaller.reader.store, trigger, consumers)
        rejected = [f"{consumer}: {reason}" for consumer, reason in refusals.items()]
        drafts = []
        with timed("recall"):
            recalls = await self.recaller.recall(
                trigger,
                tuple(each for each in consumers if each.consumer not in refusals),
                frozenset(profile.consumer for profile in self.profiles),
                as_of,
            )
        for recall in recalls:
            try:
                profile = recall.profile
                rendering = self._renderings[profile.encoding].for_pages(profile.language, profile.allowance)
                with timed("page"):
                    drafts.append(await _rendered(partial(begin, recall, rendering)))
            except Rejected as error:
                rejected.append(f"{recall.profile.consumer}: {error}")
        return PageDrafts(tuple(drafts), tuple(rejected), bool(refusals))


def _after_quiet(context: Context) -> Context:
    """A page of its own, and no page that was refreshed."""
    return replace(context, as_of=None, quiet_from=context.as_of, is_over=False, later="")


async def _rendered(page: Callable[[], Page]) -> Page:
    """The page, begun again whenever a fragment that takes long is not made yet; the thread of long input makes it."""
    ready: dict[Hashable, object] = {}
    while True:
        tokens = READY.set(ready), PENDING_CHARS.set(min(PENDING_CHARS.get(), THREAD_CHARS))
        try:
            return page()
        except FragmentPending as pending:
            works = pending.works
        finally:
            READY.reset(tokens[0])
            PENDING_CHARS.reset(tokens[1])
        for key, make in works.items():
            ready[key] = await in_thread(make)
