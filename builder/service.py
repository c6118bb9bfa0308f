"""One breadcrumb in, its contexts out: the straight line embed → remember → recall → assemble. Read this file first."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from builder.domain.breadcrumb import Breadcrumb, Place
from builder.domain.context import Context
from builder.domain.errors import Rejected, Unavailable
from builder.domain.facts import Passage, Remembered
from builder.domain.profile import Profile
from builder.domain.recall import EVERY_SESSION, Recall, RecallQuery, Scope
from builder.domain.selector import Standing
from builder.pipeline.asked import Asked, asked
from builder.pipeline.assemble import Request, assemble
from builder.pipeline.draft import Rendering
from builder.pipeline.histories import Histories
from builder.pipeline.late import Ints, Reordered, best_passages, keys_of, reorder
from builder.pipeline.passages import passages
from builder.pipeline.query import Query, make_query, strip_names
from builder.pipeline.rank import Ranker
from builder.pipeline.traits import traits
from builder.pipeline.view import View, as_of
from builder.pipeline.words import fingerprint
from builder.ports import BreadcrumbStore, Embedder, TokenVectors

PAGE = 2_000
"""Rows of one recall."""


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
        self,
        store: BreadcrumbStore,
        embedder: Embedder,
        profiles: tuple[Profile, ...],
        helpers: Helpers,
        histories: Histories,
        late: TokenVectors | None = None,
    ) -> None:
        """Everything is passed in; nothing is opened here. late: reads what `store` keeps for late interaction; None = off."""
        self._store = store
        self._embedder = embedder
        self._profiles = profiles
        self._helpers = helpers
        self._histories = histories
        self._late = late

    @property
    def ranker(self) -> Ranker:
        """The weights that are used unless others are given."""
        return self._helpers.ranker

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
        """One context per consumer as of the trigger's place: one recall a scope, one embedding for all that ask the same there.

        ranker: other weights than the bundled ones, for benchmarks.
        """
        crumb = trigger.breadcrumb
        seen = {scope: await self._recall(crumb.session, crumb.place, scope, consumers) for scope in scopes(crumb, consumers)}
        queries: dict[tuple[Scope, Asked, bool], Query] = {}
        ranker = ranker or self.ranker
        contexts, refused = [], []
        kinds = tuple(dict.fromkeys(_kinds(consumers)))
        for profile in consumers:
            recall, view = seen[scope_of(crumb, profile)]
            query = await self._query(crumb, view, profile, queries)
            request = Request(
                trigger=trigger,
                query=query,
                view=view,
                standing=tuple(recall.standing[kinds.index(kind)] for kind in _kinds((profile,))),
                profile=profile,
                ranker=ranker,
                terms=self._helpers.terms,
                model=self._embedder.model,
                reordered=await self._reordered(crumb.workspace, query, view, profile, ranker),
            )
            try:
                contexts.append(assemble(request, self._helpers.renderings[profile.encoding]))
            except Rejected as error:
                refused.append(f"{profile.consumer}: {error}")
        return Built(tuple(contexts), tuple(refused))

    async def recall_for(self, trigger: Breadcrumb, profile: Profile) -> tuple[Query, View]:
        """What ranking would see for this trigger, for learning and explaining."""
        _, view = await self._recall(trigger.session, trigger.place, scope_of(trigger, profile), (profile,))
        return await self._query(trigger, view, profile, {}), view

    async def view(self, workspace: str, session: str, until: Place) -> View:
        """The session up to and including a place, where everything must have been remembered. Raises `Unavailable`."""
        behind = Place(until.incarnation, until.sequence + 1)
        _, view = await self._recall(session, behind, Scope(workspace=workspace, sessions=(session,)), ())
        return view

    async def token_vectors(self, workspace: str, view: View, passages: Ints) -> tuple[bytes, ...]:
        """What late interaction compares, of each of these passages; empty where none are kept. Raises `Unavailable`."""
        keys = keys_of(view, passages)
        return await self._late.token_vectors(workspace, keys, self._embedder.model) if self._late else (b"",) * len(keys)

    async def _reordered(self, workspace: str, query: Query, view: View, profile: Profile, ranker: Ranker) -> Reordered | None:
        """None when nothing is to be put in order anew, or the question has nothing to do it by."""
        if not (profile.retrieval.rerank and query.token_vectors and view.passages):
            return None
        best = best_passages(query, view, profile.retrieval, ranker)
        return reorder(query, best, await self.token_vectors(workspace, view, best.passages), ranker)

    async def _recall(self, session: str, until: Place, scope: Scope, consumers: tuple[Profile, ...]) -> tuple[Recall, View]:
        """In pages, so that a long session that nobody holds yet neither fills the memory nor stops everybody else.

        Once vectors were filled in, all is read again; what is filled in between two pages is left to the next recall.
        """
        history, revision = self._histories.of(scope), None
        while True:
            recall = await self._store.recall(
                RecallQuery(
                    scope=scope,
                    session=session,
                    after=history.place,
                    until=until,
                    limit=PAGE,
                    standing=tuple(dict.fromkeys(_kinds(consumers))),
                    model=self._embedder.model,
                )
            )
            revision = recall.revision if revision is None else revision
            if not self._histories.takes(history, revision):
                history, revision = self._histories.renew(scope), None
                continue
            self._histories.grow(history, recall.rows)
            if len(recall.rows) < PAGE:
                return recall, as_of(history, until, session)

    async def facts(self, breadcrumb: Breadcrumb) -> Remembered:
        """What ingestion learns from the breadcrumb alone; stores nothing. Without vectors when the engine is away."""
        bare = Remembered(
            breadcrumb=breadcrumb,
            passages=tuple(self._passage(breadcrumb, *span) for span in passages(breadcrumb.text)),
            model="",
            fingerprint=fingerprint(breadcrumb.text),
        )
        try:
            return await self.with_vectors(bare)
        except Unavailable:
            return bare

    async def with_vectors(self, remembered: Remembered) -> Remembered:
        """The same with the vectors of all its passages; blank ones have none. Raises `Unavailable`: all or nothing."""
        text, found = remembered.breadcrumb.text, []
        for held in remembered.passages:
            vector, token_vectors = await self._embed(text[held.start : held.end], self._late is not None)
            found.append(replace(held, vector=vector, token_vectors=token_vectors))
        return replace(remembered, passages=tuple(found), model=self._embedder.model)

    def _passage(self, breadcrumb: Breadcrumb, start: int, end: int) -> Passage:
        """Pointers are searched with the first passage (features D11)."""
        said = breadcrumb.text[start:end]
        pointers = () if start else breadcrumb.pointers
        terms = self._helpers.terms(" ".join((said, *pointers)))
        return Passage(start, end, terms, b"", self._helpers.count(said), traits(said))

    async def _embed(self, said: str, with_tokens: bool) -> tuple[bytes, bytes]:
        """Vector and token vectors; both empty for a blank text."""
        if not said.strip():
            return b"", b""
        return await self._embedder.embed_tokens(said) if with_tokens else (await self._embedder.embed(said), b"")

    async def _query(
        self, trigger: Breadcrumb, view: View, profile: Profile, known: dict[tuple[Scope, Asked, bool], Query]
    ) -> Query:
        """What this consumer asks; those that ask the same in the same scope share it."""
        wanted = asked(trigger.text, view, profile.retrieval, self._helpers.terms)
        key = scope_of(trigger, profile), wanted, self._late is not None and profile.retrieval.rerank > 0
        if key not in known:
            known[key] = await self._ask(wanted, view, key[-1])
        return known[key]

    async def _ask(self, wanted: Asked, view: View, late: bool) -> Query:
        text, named = strip_names(wanted.text, view.speakers)
        beside, _ = strip_names(wanted.beside, view.speakers)
        try:
            vector, token_vectors = await self._embed(text, late)
        except Unavailable:
            vector, token_vectors = b"", b""
        return make_query(text, named, f"{self._helpers.terms(text)} {self._helpers.terms(beside)}", vector, token_vectors)


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


def _kinds(consumers: tuple[Profile, ...]) -> tuple[Standing, ...]:
    """What stands for these consumers, wherever each of them shows it."""
    return tuple(replace(kind, section="") for profile in consumers for kind in profile.standing)
