"""One breadcrumb in, its contexts out: the straight line embed → remember → recall → assemble. Read this file first."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from builder.domain.breadcrumb import Breadcrumb
from builder.domain.context import Context
from builder.domain.errors import Rejected
from builder.domain.facts import Passage, Remembered
from builder.domain.profile import Profile, Retrieval
from builder.domain.recall import Recall, RecallQuery
from builder.pipeline.asked import Asked, asked
from builder.pipeline.assemble import Request, assemble
from builder.pipeline.draft import Rendering
from builder.pipeline.histories import Histories
from builder.pipeline.history import View
from builder.pipeline.passages import passages
from builder.pipeline.query import Query, make_query, strip_names
from builder.pipeline.rank import Ranker
from builder.pipeline.traits import traits
from builder.pipeline.words import fingerprint
from builder.ports import BreadcrumbStore, Embedder


@dataclass(frozen=True, slots=True, kw_only=True)
class Helpers:
    """Pure functions from outside. terms: text → stemmed terms joined by spaces. count: text → tokens (facts).

    renderings: encoding → rendering. ranker: weights of the fusion.
    """

    terms: Callable[[str], str]
    count: Callable[[str], int]
    renderings: Mapping[str, Rendering]
    ranker: Ranker


@dataclass(frozen=True, slots=True)
class Built:
    """The contexts of one trigger. refused: why a consumer gets none; the others' contexts are not touched by it."""

    contexts: tuple[Context, ...] = ()
    refused: tuple[str, ...] = ()


class ContextBuilder:
    """remember → recall → assemble; publishing is the worker's."""

    def __init__(
        self, store: BreadcrumbStore, embedder: Embedder, profiles: tuple[Profile, ...], helpers: Helpers, histories: Histories
    ) -> None:
        """Everything is passed in; nothing is opened here."""
        self._store = store
        self._embedder = embedder
        self._profiles = profiles
        self._helpers = helpers
        self._histories = histories

    def consumers(self, breadcrumb: Breadcrumb) -> tuple[Profile, ...]:
        """Who wants a context for it: only the first version of a breadcrumb triggers (design §3)."""
        return tuple(profile for profile in self._profiles if breadcrumb.version == 1 and breadcrumb.schema in profile.triggers)

    async def build(self, breadcrumb: Breadcrumb, consumers: tuple[Profile, ...]) -> Built:
        """Remember the breadcrumb and build one context per consumer. Raises `Rejected` and `Unavailable`."""
        return await self.answer(await self.remember(breadcrumb), consumers)

    async def remember(self, breadcrumb: Breadcrumb) -> Remembered:
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
            return known
        remembered = await self.facts(breadcrumb)
        await self._store.remember(remembered)
        return remembered

    async def answer(self, trigger: Remembered, consumers: tuple[Profile, ...], ranker: Ranker | None = None) -> Built:
        """One context per consumer as of the trigger's place: one recall for all, one embedding for all that ask the same.

        ranker: other weights than the bundled ones, for benchmarks.
        """
        recall, view = await self._recall(trigger.breadcrumb, consumers)
        queries: dict[Asked, Query] = {}
        contexts, refused = [], []
        for profile in consumers:
            query = await self._query(trigger.breadcrumb, view, profile.retrieval, queries)
            request = Request(
                trigger=trigger,
                query=query,
                view=view,
                standing=tuple(row for row in recall.standing if row.breadcrumb.schema in profile.standing),
                profile=profile,
                ranker=ranker or self._helpers.ranker,
                terms=self._helpers.terms,
                model=self._embedder.model,
            )
            try:
                contexts.append(assemble(request, self._helpers.renderings[profile.encoding]))
            except Rejected as error:
                refused.append(f"{profile.consumer}: {error}")
        return Built(tuple(contexts), tuple(refused))

    async def recall_for(self, trigger: Breadcrumb, consumers: tuple[Profile, ...]) -> tuple[Query, View]:
        """What ranking would see for this trigger and the first consumer, for learning and explaining."""
        _, view = await self._recall(trigger, consumers)
        return await self._query(trigger, view, consumers[0].retrieval, {}), view

    async def _recall(self, trigger: Breadcrumb, consumers: tuple[Profile, ...]) -> tuple[Recall, View]:
        history = self._histories.of(trigger.workspace, trigger.session)
        recall = await self._store.recall(
            RecallQuery(
                workspace=trigger.workspace,
                session=trigger.session,
                after=history.place,
                until=trigger.place,
                standing=tuple(dict.fromkeys(schema for profile in consumers for schema in profile.standing)),
                model=self._embedder.model,
            )
        )
        return recall, self._histories.grow(history, recall.rows).view(trigger.place)

    async def facts(self, breadcrumb: Breadcrumb) -> Remembered:
        """What ingestion learns from the breadcrumb alone; stores nothing."""
        found: list[Passage] = []
        for start, end in passages(breadcrumb.text):
            said = breadcrumb.text[start:end]
            vector = await self._embedder.embed(said) if said.strip() else b""
            pointers = self._helpers.terms(" ".join(breadcrumb.pointers)) if not found else ""
            terms = f"{self._helpers.terms(said)} {pointers}".strip()
            found.append(Passage(start, end, terms, vector, self._helpers.count(said), traits(said)))
        return Remembered(
            breadcrumb=breadcrumb,
            passages=tuple(found),
            model=self._embedder.model,
            fingerprint=fingerprint(breadcrumb.text),
        )

    async def _query(self, trigger: Breadcrumb, view: View, rules: Retrieval, known: dict[Asked, Query]) -> Query:
        """The query of these rules; consumers that ask the same share it."""
        wanted = asked(trigger.text, view, rules, self._helpers.terms)
        if wanted not in known:
            text, named = strip_names(wanted.text, view.speakers)
            beside, _ = strip_names(wanted.beside, view.speakers)
            vector = await self._embedder.embed(text) if text.strip() else b""
            known[wanted] = make_query(text, named, f"{self._helpers.terms(text)} {self._helpers.terms(beside)}", vector)
        return known[wanted]
