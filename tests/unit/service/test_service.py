"""The straight line, with a store in memory and vectors by hashing: what it shares, what triggers it, what it reads again."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from builder.adapters.embedding import CachedEmbedder
from builder.adapters.tokens import load_counter
from builder.app.config import bundled_folder, load_library, read_layers
from builder.domain.context import DEGRADED
from builder.domain.errors import Rejected
from builder.domain.profile import Profile
from builder.domain.recall import Recall, RecallQuery
from builder.domain.selector import trigger_on
from builder.extras.rcrt.record_consumers import RecordProfiles
from builder.ports.models import Embedder
from builder.ports.store import Store
from builder.publish.event import encode
from builder.recall.histories import HistoryCache
from builder.remember.schemas.blacklist import excluded
from builder.service import ContextBuilder, Functions
from tests.commands import DEADLINE
from tests.conversations import sent
from tests.factories import BY_HAND, bare, make_breadcrumb, make_place, make_profile, make_remembered, make_rendering, make_terms
from tests.hashing_embedder import HashingEmbedder
from tests.stores import DurableStore, durable_store


def make_builder(
    embedder: Embedder, store: Store | None = None, profiles: tuple[Profile, ...] = (), passages: int = 10_000
) -> ContextBuilder:
    helpers = Functions(
        terms=make_terms,
        count=load_counter("o200k_base"),
        renderings={"o200k_base": make_rendering()},
        ranker=BY_HAND,
        excluded=excluded,
    )
    return ContextBuilder(store or durable_store(), embedder, profiles, helpers, HistoryCache(passages))


def consumer(name: str, **retrieval: Any) -> Profile:
    return make_profile(consumer=name, retrieval=retrieval)


async def test_consumers_that_ask_the_same_share_one_embedding() -> None:
    embedder = HashingEmbedder()
    builder = make_builder(embedder)
    await builder.remember(make_breadcrumb("The kiln is in Delft.", 1))
    trigger = await builder.ingest.facts(make_breadcrumb("Where does the kiln stand?", 2))
    before = embedder.asked
    await builder.build_contexts(trigger, (consumer("a"), consumer("b")))
    assert embedder.asked - before == 1
    await builder.build_contexts(trigger, (consumer("a"), consumer("b", query="last_n"), consumer("c", query="last_n")))
    assert embedder.asked - before == 3


async def test_ten_consumers_of_files_and_records_cost_one_embedding_and_one_reading_of_each_scope() -> None:
    class Inferences(HashingEmbedder):
        """An engine without a cache."""

        async def ready(self, seconds: float | None = None) -> None:
            """It is."""

        async def aclose(self) -> None:
            """Nothing is open."""

    engine = Inferences()
    store, embedder, queries = durable_store(), CachedEmbedder(engine, 1000), list[RecallQuery]()
    recall = store.recall

    async def counted(query: RecallQuery) -> Recall:
        queries.append(query)
        return await recall(query)

    store.recall = counted  # type: ignore[method-assign]
    pages = [replace(consumer(f"file-{n}"), budget=500 + 500 * n, page=("default", "xml")[n % 2]) for n in range(4)]
    files = (*pages, consumer("file-4", scope="workspace"))
    names = frozenset(profile.consumer for profile in files)
    builder = make_builder(embedder, store, files)
    builder.record_consumers = RecordProfiles(
        load_library(read_layers((bundled_folder("templates"),))), names, lambda _finding: None
    )
    definitions = []
    for number in range(5):
        settings = {"budget": 700 + 300 * number, "sections": {"recent": {"max_share": 0.2 + number / 10}, "instructions": None}}
        body = {"agent_id": f"record-{number}", "system_prompt": f"You are agent {number}.", "context_builder": settings}
        definitions.append(sent(number + 1, "agent.def.v1", body, "_", id=f"def-{number}"))
        await builder.remember(definitions[-1].breadcrumb)
    for sequence in range(10, 60):
        await builder.remember(make_breadcrumb(f"Remark {sequence} on the glaze of the kiln.", sequence))
    before = engine.asked
    trigger = make_breadcrumb("What was said about the glaze?", 100)
    consumers = builder.consumers(trigger, tuple(row.breadcrumb for row in definitions))
    queries.clear()
    built = await builder.build(trigger, consumers)
    store.close()
    assert len(built.contexts) == len(consumers) == 10
    assert engine.asked - before == 1
    assert sorted(query.scope.sessions for query in queries) == [("*",), ("s42",)]
    assert len({context.budget for context in built.contexts}) > 5


async def chained(builder: ContextBuilder, length: int, session: str = "s42") -> None:
    """m1, and each next breadcrumb answers the one before it, by turns in two sessions."""
    for sequence in range(1, length + 1):
        where = session if sequence % 2 else "elsewhere"
        answers = f"m{sequence - 1}" if sequence > 1 else ""
        await builder.remember(make_breadcrumb(f"Remark {sequence}.", sequence, session=where, answers=answers))


async def test_a_causal_chain_of_as_many_steps_as_the_limit_is_answered_and_one_more_is_refused() -> None:
    builder = make_builder(HashingEmbedder())
    await chained(builder, 26)
    last, one_more = (make_breadcrumb("Go on.", n, answers=f"m{n - 1}") for n in (26, 27))
    assert (await builder.build_contexts(await builder.ingest.facts(last), (consumer("a"),))).rejected == ()
    built = await builder.build_contexts(await builder.ingest.facts(one_more), (consumer("a"),))
    assert built.contexts == ()
    assert built.loop_stopped
    (why,) = built.rejected
    assert why == (
        "a: the causal chain has more than 25 steps (recursion_limit): m27 answers m26 answers m25 answers m24 answers m23 "
        "answers …; let one of these agents stop answering the others, or raise the profile's recursion_limit"
    )


async def test_a_consumer_with_a_higher_limit_still_gets_its_context() -> None:
    builder = make_builder(HashingEmbedder())
    await chained(builder, 5)
    strict, patient = replace(consumer("strict"), recursion_limit=4), replace(consumer("patient"), recursion_limit=5)
    built = await builder.build(make_breadcrumb("Go on.", 6, answers="m5"), (strict, patient))
    assert [context.consumer for context in built.contexts] == ["patient"]
    assert [why.split(":")[0] for why in built.rejected] == ["strict"]


async def test_breadcrumbs_that_answer_each_other_in_a_circle_end_the_walk() -> None:
    builder = make_builder(HashingEmbedder())
    await builder.remember(make_breadcrumb("One.", 1, answers="m2"))
    await builder.remember(make_breadcrumb("Two.", 2, answers="m1"))
    built = await builder.build(make_breadcrumb("Three.", 3, answers="m2"), (consumer("a"),))
    assert len(built.contexts) == 1


async def test_what_came_later_or_in_another_workspace_lengthens_no_chain() -> None:
    builder = make_builder(HashingEmbedder())
    await builder.remember(make_breadcrumb("Root.", 50, id="m1", answers="later"))
    await builder.remember(make_breadcrumb("Theirs.", 1, workspace="rival", id="m1", answers="theirs"))
    strict = replace(consumer("strict"), recursion_limit=1)
    assert len((await builder.build(make_breadcrumb("Go on.", 6, answers="m1"), (strict,))).contexts) == 1


async def test_what_a_profile_names_triggers_it_and_a_secret_and_a_tombstone_never_do() -> None:
    profile = replace(consumer("a"), triggers=(trigger_on("user.message.v1"), trigger_on("breadcrumb.deleted.v1")))
    builder = make_builder(HashingEmbedder(), profiles=(profile,))
    assert builder.consumers(make_breadcrumb("Hello.")) == (profile,)
    assert builder.consumers(make_breadcrumb("Hello.", schema="note.v1")) == ()
    assert builder.consumers(make_breadcrumb("", id="m1", removes="m1")) == ()
    assert builder.consumers(make_breadcrumb("", schema="breadcrumb.deleted.v1", removes="m9")) == ()


async def test_the_front_of_a_page_is_made_while_the_trigger_is_embedded() -> None:
    recalled = asyncio.Event()

    class Store(DurableStore):
        async def recall(self, query: RecallQuery) -> Recall:
            recalled.set()
            return await super().recall(query)

    class Waiting(HashingEmbedder):
        async def embed(self, text: str, input_type: str = "", *, is_query: bool = False) -> bytes:
            await recalled.wait()
            return await super().embed(text, input_type, is_query=is_query)

    builder = make_builder(Waiting(), Store())
    async with asyncio.timeout(DEADLINE):
        trigger, begun = await builder.begin(make_breadcrumb("Where is the kiln?", 1), (consumer("a"),))
    assert (trigger.breadcrumb.id, len((await builder.complete(begun)).contexts)) == ("m1", 1)


async def test_vectors_of_the_engine_before_are_never_compared_and_their_words_are_still_found() -> None:
    class Wider(HashingEmbedder):
        model = "hashing/wider/000000"

        async def embed(self, text: str, input_type: str = "", *, is_query: bool = False) -> bytes:
            return 2 * await super().embed(text, input_type, is_query=is_query)

    store = durable_store()
    before, after = make_builder(HashingEmbedder(), store), make_builder(Wider(), store)
    said = [f"The kiln number {number} fires at cone {number}." for number in range(1, 40)]
    for number, text in enumerate(said, 1):
        await (before if number < 20 else after).remember(make_breadcrumb(text, number))
    trigger = make_breadcrumb("Which kiln fires at cone 3?", 40)
    (context,) = (await after.build(trigger, (replace(consumer("a"), budget=400),))).contexts
    assert "vectors_missing" in context.flags
    assert said[2] in context.markdown


SMALL = make_profile(budget=400)
QUESTION = make_breadcrumb("Where does the blue kiln stand?", 90)


async def test_a_context_that_was_built_without_an_engine_is_the_same_when_the_engine_is_back() -> None:
    embedder = HashingEmbedder()
    builder = make_builder(embedder)
    for number in range(1, 60):
        await builder.remember(make_breadcrumb(f"Number {number}: the blue kiln stands in shed {number % 7}.", number))
    embedder.away = True
    (published,) = (await builder.build(QUESTION, (SMALL,))).contexts
    embedder.away = False
    assert DEGRADED in published.flags
    again, assembly = await builder.explain(QUESTION, SMALL, degraded=True)
    assert encode(again) == encode(published)
    assert not assembly.draft.query.vector
    now, _ = await builder.explain(QUESTION, SMALL)
    assert DEGRADED not in now.flags


async def test_a_trigger_that_gives_no_context_says_why() -> None:
    builder = make_builder(HashingEmbedder())
    small = make_profile(consumer="small", budget=12)
    with pytest.raises(Rejected, match="raise `budget` in the profile 'small'"):
        await builder.explain(QUESTION, small)


class Filled(DurableStore):
    """Something is filled in after every recall, as long as anything lacks vectors. after: where the recalls began."""

    def __init__(self) -> None:
        super().__init__()
        self.after: list[int] = []

    async def recall(self, query: RecallQuery) -> Recall:
        self.after.append(query.after.sequence)
        found = await super().recall(query)
        for row in await self.missing_vectors(1):
            await self.fill_vectors(make_remembered(row.breadcrumb.text, row.breadcrumb.place.sequence))
        return found


async def test_a_session_that_is_filled_in_is_never_read_again_and_its_vectors_are_there_the_next_time() -> None:
    store = Filled()
    rows = [make_remembered(f"The kiln has number {n}.", n) for n in range(1, 11)]
    for row in rows:
        await store.remember(bare(row))
    builder, trigger = make_builder(HashingEmbedder(), store), make_remembered("Which kiln is it?", 20)
    builder.recaller = replace(builder.recaller, reader=replace(builder.recaller.reader, page_rows=4))
    await builder.remember(trigger.breadcrumb)

    async def flags() -> list[tuple[str, ...]]:
        return [context.flags for context in (await builder.build(trigger.breadcrumb, (consumer("a"),))).contexts]

    assert await flags() == [("vectors_missing",)]
    assert store.after == [0, 4, 8]
    store.after.clear()
    while await store.count_missing_vectors():
        await flags()
    assert [await flags() for _ in range(2)] == [[()], [()]]
    assert set(store.after) == {20}


async def test_a_reading_that_is_cancelled_anywhere_is_begun_anew_by_the_next_one() -> None:
    store = durable_store()
    for n in range(1, 100):
        await store.remember(make_remembered(f"The kiln has number {n}.", n))
    for steps in range(1, 5):
        builder = make_builder(HashingEmbedder(), store)
        task = asyncio.create_task(builder.recaller.session_view("acme", "s42", make_place(200)))
        for _ in range(steps):
            await asyncio.sleep(0)
        assert not task.done()
        task.cancel()
        await asyncio.wait({task})
        assert (await builder.recaller.session_view("acme", "s42", make_place(200))).passages == 99
