"""One breadcrumb in, its contexts out: the straight line embed → remember → recall → assemble. Read this file first."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from builder.assemble.assemble import begin, complete
from builder.assemble.budget.calibration import calibrated
from builder.assemble.front import Front
from builder.assemble.items.layout import Rendering
from builder.assemble.request import Request, Search
from builder.domain.breadcrumb import Breadcrumb, Place
from builder.domain.context import Context
from builder.domain.errors import ChainTooLong, Rejected, Unavailable
from builder.domain.profile import Profile
from builder.domain.recall import Scope
from builder.domain.selector import Selector
from builder.domain.stored_breadcrumb import StoredBreadcrumb
from builder.domain.summary import SUMMARY
from builder.domain.usage import Usage
from builder.ports.models import Embedder
from builder.ports.store import Store
from builder.recall.index.cache import HistoryCache
from builder.recall.index.conversation import closed_turn, last_words_of_person
from builder.recall.index.view import View
from builder.recall.pinned import BLACKLIST, Held, pinned_of, reports, system_prompt, unexpired
from builder.recall.recall import HistoryReader
from builder.recall.scopes import scope_of, scopes
from builder.recall.search.query import Query, make_query, strip_names
from builder.recall.search.query_text import QueryText, query_text
from builder.recall.search.ranking import Ranker
from builder.recall.visibility import visible_to, without_expired
from builder.remember.ingest import Ingest

SHOWN_LINKS = 5
"""Of a causal chain that is too long, the last ones."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Functions:
    """Pure functions from outside. terms: text → stemmed terms joined by spaces. count: text → tokens (facts).

    renderings: encoding → rendering. ranker: weights of the fusion. excluded: what a blacklist names.
    usage: what an agent reports.
    """

    terms: Callable[[str], str]
    count: Callable[[str], int]
    renderings: Mapping[str, Rendering]
    ranker: Ranker
    excluded: Callable[[Breadcrumb], tuple[Selector, ...]]
    usage: Callable[[Breadcrumb], tuple[Usage, ...]]


@dataclass(frozen=True, slots=True)
class BuildResult:
    """The contexts of one trigger. refused: why a consumer gets none; the others' contexts are not touched by it.

    stopped: whether one was refused because its causal chain is too long.
    """

    contexts: tuple[Context, ...] = ()
    rejected: tuple[str, ...] = ()
    loop_stopped: bool = False


@dataclass(frozen=True, slots=True)
class BegunPages:
    """The pages of one trigger without their finds; see `BuildResult`."""

    fronts: tuple[Front, ...]
    rejected: tuple[str, ...]
    loop_stopped: bool


class ContextBuilder:
    """remember → recall → assemble; publishing is the worker's."""

    def __init__(
        self,
        store: Store,
        embedder: Embedder,
        profiles: tuple[Profile, ...],
        helpers: Functions,
        history_cache: HistoryCache,
        passages_at_ingestion: int | None = None,
    ) -> None:
        """Everything is passed in; nothing is opened here.

        passages_at_ingestion: a breadcrumb of more gets its vectors later; None = none does.
        """
        self._store = store
        self._embedder = embedder
        self._profiles = profiles
        self._helpers = helpers
        self._histories = history_cache
        self._reader = HistoryReader(store, embedder, history_cache)
        self._passages_at_ingestion = passages_at_ingestion
        self._ingest = Ingest(embedder, helpers.terms, helpers.count, passages_at_ingestion)

    @property
    def ingest(self) -> Ingest:
        """What finds the facts of a breadcrumb."""
        return self._ingest

    @property
    def ranker(self) -> Ranker:
        """The weights that are used unless others are given."""
        return self._helpers.ranker

    def with_edition(self, profiles: tuple[Profile, ...], renderings: Mapping[str, Rendering]) -> "ContextBuilder":
        """The same with other profiles and templates; this one stays as it is for whoever has begun with it."""
        helpers = replace(self._helpers, renderings=renderings)
        return ContextBuilder(self._store, self._embedder, profiles, helpers, self._histories, self._passages_at_ingestion)

    def consumers(self, breadcrumb: Breadcrumb) -> tuple[Profile, ...]:
        """Who wants a context for it: only the first version of a breadcrumb triggers, and never what removes."""
        triggers = breadcrumb.version == 1 and not breadcrumb.removes
        return tuple(profile for profile in self._profiles if triggers and profile.is_triggered_by(breadcrumb))

    async def build(self, breadcrumb: Breadcrumb, consumers: tuple[Profile, ...]) -> BuildResult:
        """Remember the breadcrumb and build one context per consumer. Raises `Rejected` and `Unavailable`."""
        _, begun = await self.begin(breadcrumb, consumers)
        return await self.complete(begun)

    async def begin(self, breadcrumb: Breadcrumb, consumers: tuple[Profile, ...]) -> tuple[StoredBreadcrumb, BegunPages]:
        """Remember the breadcrumb, and all of its pages that stands in front of the finds. Raises `Rejected` and `Unavailable`.

        What needs nothing of the trigger but its place is made while its vector is.
        """
        if breadcrumb.role == "tool":  # a tool's answer is part of what is recalled for it
            trigger = await self.remember(breadcrumb)
            return trigger, await self._begin(trigger.breadcrumb, consumers)
        beside = asyncio.create_task(self._begin(breadcrumb, consumers))
        try:
            trigger = await self.remember(breadcrumb)
            begun = await beside
        finally:
            beside.cancel()
            await asyncio.gather(beside, return_exceptions=True)
        if trigger.breadcrumb != breadcrumb:  # it came before, and is answered as of its first place
            begun = await self._begin(trigger.breadcrumb, consumers)
        return trigger, begun

    async def complete(self, begun: BegunPages) -> BuildResult:
        """The contexts of a trigger whose pages were begun."""
        return await self._complete(begun, self.ranker)

    async def remember(self, breadcrumb: Breadcrumb) -> StoredBreadcrumb:
        """Store the breadcrumb with its facts, once; what is stored already is returned as it is, with its first place and age.

        Raises `Rejected` when its id belongs to a breadcrumb of another session, `Unavailable`.
        """
        known = await self._store.facts(breadcrumb)
        if known is not None:
            if known.breadcrumb.session != breadcrumb.session:
                raise Rejected(
                    f"id {breadcrumb.id!r} version {breadcrumb.version} belongs to session {known.breadcrumb.session!r} of this "
                    "workspace; give every breadcrumb of a workspace an id of its own"
                )
            if is_other(known.breadcrumb, breadcrumb):
                raise Rejected(
                    f"id {breadcrumb.id!r} version {breadcrumb.version} is taken: the breadcrumb that came first has other "
                    "content; publish the next version, or take another id"
                )
            return known
        remembered = await self._ingest.facts(breadcrumb)
        await self._store.remember(remembered)
        return remembered

    async def build_contexts(
        self, trigger: StoredBreadcrumb, consumers: tuple[Profile, ...], ranker: Ranker | None = None
    ) -> BuildResult:
        """One context per consumer as of the trigger's place: one recall a scope, one embedding for all that ask the same there.

        ranker: other weights than the bundled ones, for benchmarks.
        """
        return await self._complete(await self._begin(trigger.breadcrumb, consumers), ranker or self.ranker)

    async def _begin(self, trigger: Breadcrumb, consumers: tuple[Profile, ...]) -> BegunPages:
        """Everything that stands in front of what is found."""
        rejected = await self._too_long(trigger, consumers)
        consumers = tuple(profile for profile in consumers if profile.consumer not in rejected)
        until = behind(trigger.place) if trigger.role == "tool" else trigger.place
        seen = {
            scope: await self._reader.recall(trigger.session, until, scope, consumers) for scope in scopes(trigger, consumers)
        }
        fronts, unmade = [], []
        for wished in consumers:
            held, view = self._as_seen(trigger, wished, *seen[scope_of(trigger, wished)])
            turn = closed_turn(view, view.row_of(trigger.id)) if trigger.role == "tool" else ()
            if turn is None:
                continue  # the turn is answered once, when its last call is
            profile = calibrated(wished, self._usages(wished, held))
            request = Request(
                trigger=trigger,
                view=view,
                pinned=pinned_of(profile, held),
                system_prompt=system_prompt(profile, held),
                profile=profile,
                terms=self._helpers.terms,
                turn=turn,
            )
            try:
                fronts.append(begin(request, self._helpers.renderings[profile.encoding]))
            except Rejected as error:
                unmade.append(f"{profile.consumer}: {error}")
        return BegunPages(tuple(fronts), (*rejected.values(), *unmade), bool(rejected))

    async def _complete(self, begun: BegunPages, ranker: Ranker) -> BuildResult:
        """The contexts, each with what was found for it."""
        queries: dict[tuple[Scope, QueryText], Query] = {}
        contexts = []
        for front in begun.fronts:
            query = await self._query(front.request.trigger, front.request.view, front.request.profile, queries)
            contexts.append(complete(front, Search(query=query, ranker=ranker, model=self._embedder.model)))
        return BuildResult(tuple(contexts), begun.rejected, begun.loop_stopped)

    async def _too_long(self, trigger: Breadcrumb, consumers: tuple[Profile, ...]) -> dict[str, str]:
        """The consumers whose recursion limit the trigger's causal chain exceeds, and what to say about it."""
        if not trigger.answers or not consumers:
            return {}
        most = max(profile.recursion_limit for profile in consumers)
        links = await self._store.chain(trigger.workspace, trigger.answers, trigger.place, most + 1)
        return {
            profile.consumer: f"{profile.consumer}: {chain_too_long((trigger.id, *links), profile.recursion_limit)}"
            for profile in consumers
            if len(links) > profile.recursion_limit
        }

    async def recall_for(self, trigger: Breadcrumb, profile: Profile) -> tuple[Query, View]:
        """What ranking would see for this trigger, for learning and explaining."""
        recalled = await self._reader.recall(trigger.session, trigger.place, scope_of(trigger, profile), (profile,))
        _, view = self._as_seen(trigger, profile, *recalled)
        return await self._query(trigger, view, profile, {}), view

    async def view(self, workspace: str, session: str, until: Place) -> View:
        """The session up to and including a place, where everything must have been remembered. Raises `Unavailable`.

        As whoever summarises it sees it: without what the blacklist names and what had ended when the last of it came.
        """
        held, view = await self._reader.recall(session, behind(until), Scope(workspace=workspace, sessions=(session,)), ())
        if not view.size:
            return view
        now = view.history.rows[view.size - 1].breadcrumb.received_at
        return without_expired(view, self._excluded(unexpired(now, held)), now)

    def _as_seen(self, trigger: Breadcrumb, profile: Profile, held: Held, view: View) -> tuple[Held, View]:
        """What of a recall this consumer may see when the trigger came."""
        held = unexpired(trigger.received_at, held)
        return held, visible_to(view, profile, trigger, self._excluded(held))

    def _excluded(self, held: Held) -> tuple[Selector, ...]:
        """What the blacklist leaves out, if there is one."""
        return tuple(selector for row in held[BLACKLIST] for selector in self._helpers.excluded(row.breadcrumb))

    def _usages(self, profile: Profile, held: Held) -> tuple[Usage, ...]:
        """What agents reported of their usage of the profile's model."""
        return tuple(usage for row in reports(profile, held) for usage in self._helpers.usage(row.breadcrumb))

    async def _query(
        self, trigger: Breadcrumb, view: View, profile: Profile, known: dict[tuple[Scope, QueryText], Query]
    ) -> Query:
        """What this consumer asks; those that ask the same in the same scope share it."""
        text = trigger.text if trigger.role != "tool" else last_words_of_person(view)
        key = scope_of(trigger, profile), query_text(text, view, profile.retrieval, self._helpers.terms)
        if key not in known:
            known[key] = await self._ask(key[1], view)
        return known[key]

    async def _ask(self, wanted: QueryText, view: View) -> Query:
        text, named = strip_names(wanted.text, view.speakers)
        beside, _ = strip_names(wanted.beside, view.speakers)
        try:
            vector = await self._ingest.embed(text)
        except Unavailable:
            vector = b""
        terms = f"{self._helpers.terms(text)} {self._helpers.terms(beside)}"
        return make_query(text, named, terms, vector, is_small_talk=wanted.is_small_talk)


def chain_too_long(links: tuple[str, ...], limit: int) -> ChainTooLong:
    """Why no context follows. links: from the trigger back to what began it, as far as it was walked."""
    return ChainTooLong(
        f"the causal chain has more than {limit} steps (recursion_limit): {' answers '.join(links[:SHOWN_LINKS])} answers …; "
        "let one of these agents stop answering the others, or raise the profile's recursion_limit"
    )


def behind(place: Place) -> Place:
    """The next place."""
    return Place(place.incarnation, place.sequence + 1)


def is_other(known: Breadcrumb, breadcrumb: Breadcrumb) -> bool:
    """Whether something else came under the id and version of what is known. Two workers may word one summary differently."""
    if known.place == breadcrumb.place or breadcrumb.schema == SUMMARY or breadcrumb.id in (known.removes, breadcrumb.removes):
        return False
    return (known.schema, known.body) != (breadcrumb.schema, breadcrumb.body)
