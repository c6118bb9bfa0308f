"""One breadcrumb in, its contexts out: the straight line embed → remember → recall → assemble. Read this file first."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from builder.domain.breadcrumb import Breadcrumb
from builder.domain.context import Context
from builder.domain.errors import Rejected, Unavailable
from builder.domain.facts import Passage, Remembered
from builder.domain.profile import Profile
from builder.domain.recall import EVERY_SESSION, Recall, RecallQuery, Scope
from builder.pipeline.assemble import Request, assemble
from builder.pipeline.draft import Rendering
from builder.pipeline.histories import Histories
from builder.pipeline.passages import passages
from builder.pipeline.query import Query, make_query, strip_names
from builder.pipeline.rank import Ranker
from builder.pipeline.traits import traits
from builder.pipeline.view import View, as_of
from builder.pipeline.words import fingerprint
from builder.ports import BreadcrumbStore, Embedder

PAGE = 2_000
"""Rows of one recall."""
ASKED_CHARACTERS = 2_000
"""Of a longer trigger only the beginning and the end are asked; engines read no more than 256 word pieces anyway."""


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
        """One context per consumer as of the trigger's place: one recall a scope, one embedding for all of them (features I4).

        ranker: other weights than the bundled ones, for benchmarks.
        """
        seen = {scope: await self._look(trigger.breadcrumb, scope, consumers) for scope in scopes(trigger.breadcrumb, consumers)}
        contexts, refused = [], []
        for profile in consumers:
            recall, view, query = seen[scope_of(trigger.breadcrumb, profile)]
            request = Request(
                trigger=trigger,
                query=query,
                view=view,
                standing=tuple(row for row in recall.standing if row.breadcrumb.schema in profile.standing),
                profile=profile,
                ranker=ranker or self._helpers.ranker,
                model=self._embedder.model,
            )
            try:
                contexts.append(assemble(request, self._helpers.renderings[profile.encoding]))
            except Rejected as error:
                refused.append(f"{profile.consumer}: {error}")
        return Built(tuple(contexts), tuple(refused))

    async def recall_for(self, trigger: Breadcrumb, profile: Profile) -> tuple[Query, View]:
        """What ranking would see for this trigger, for learning and explaining."""
        _, view, query = await self._look(trigger, scope_of(trigger, profile), (profile,))
        return query, view

    async def _look(self, trigger: Breadcrumb, scope: Scope, consumers: tuple[Profile, ...]) -> tuple[Recall, View, Query]:
        recall, view = await self._recall(trigger, scope, consumers)
        return recall, view, await self._query(trigger, view)

    async def _recall(self, trigger: Breadcrumb, scope: Scope, consumers: tuple[Profile, ...]) -> tuple[Recall, View]:
        """In pages, so that a long session that nobody holds yet neither fills the memory nor stops everybody else.

        Once vectors were filled in, all is read again; what is filled in between two pages is left to the next recall.
        """
        history, revision = self._histories.of(scope), None
        while True:
            recall = await self._store.recall(
                RecallQuery(
                    scope=scope,
                    session=trigger.session,
                    after=history.place,
                    until=trigger.place,
                    limit=PAGE,
                    standing=tuple(dict.fromkeys(schema for profile in consumers for schema in profile.standing)),
                    model=self._embedder.model,
                )
            )
            revision = recall.revision if revision is None else revision
            if not self._histories.takes(history, revision):
                history, revision = self._histories.renew(scope), None
                continue
            self._histories.grow(history, recall.rows)
            if len(recall.rows) < PAGE:
                return recall, as_of(history, trigger.place, trigger.session)

    async def facts(self, breadcrumb: Breadcrumb) -> Remembered:
        """What ingestion learns from the breadcrumb alone; stores nothing. Without vectors when the engine is away."""
        bare = Remembered(
            breadcrumb=breadcrumb,
            passages=tuple(self._passage(breadcrumb.text, *span) for span in passages(breadcrumb.text)),
            model="",
            fingerprint=fingerprint(breadcrumb.text),
        )
        try:
            return await self.with_vectors(bare)
        except Unavailable:
            return bare

    async def with_vectors(self, remembered: Remembered) -> Remembered:
        """The same with the vectors of all its passages; blank ones have none. Raises `Unavailable`: all or nothing."""
        text = remembered.breadcrumb.text
        found = [replace(held, vector=await self._vector(text[held.start : held.end])) for held in remembered.passages]
        return replace(remembered, passages=tuple(found), model=self._embedder.model)

    def _passage(self, text: str, start: int, end: int) -> Passage:
        said = text[start:end]
        return Passage(start, end, self._helpers.terms(said), b"", self._helpers.count(said), traits(said))

    async def _vector(self, said: str) -> bytes:
        return await self._embedder.embed(said) if said.strip() else b""

    async def _query(self, trigger: Breadcrumb, view: View) -> Query:
        text = trigger.text
        if len(text) > ASKED_CHARACTERS:
            text = f"{text[: ASKED_CHARACTERS // 2]}\n{text[-ASKED_CHARACTERS // 2 :]}"
        asked, named = strip_names(text, view.speakers)
        try:
            vector = await self._vector(asked)
        except Unavailable:
            vector = b""
        return make_query(asked, named, self._helpers.terms(asked), vector)


def scope_of(trigger: Breadcrumb, profile: Profile) -> Scope:
    """Where a consumer's context is looked for: the own session is always part of it, because the hot window is."""
    where = profile.retrieval.scope
    if where == "workspace":
        return Scope(workspace=trigger.workspace, sessions=(EVERY_SESSION,))
    listed = () if where == "session" else where
    return Scope(workspace=trigger.workspace, sessions=tuple(sorted({trigger.session, *listed})))


def scopes(trigger: Breadcrumb, consumers: tuple[Profile, ...]) -> tuple[Scope, ...]:
    """Each scope of the consumers once."""
    return tuple(dict.fromkeys(scope_of(trigger, profile) for profile in consumers))
