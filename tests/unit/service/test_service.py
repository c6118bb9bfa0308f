"""The straight line, with a store in memory and vectors by hashing."""

import asyncio
from dataclasses import replace
from typing import Any

from builder.adapters.embedding import CachedEmbedder
from builder.adapters.profiles.record_consumers import RecordProfiles
from builder.adapters.sql.store import SqlStore
from builder.adapters.tokens import load_counter
from builder.app.config import bundled_folder, load_library, read_layers
from builder.domain.profile import Profile
from builder.domain.recall import Recall, RecallQuery
from builder.domain.selector import Selector, trigger_on
from builder.ports.models import Embedder
from builder.recall.scopes import HistoryCache
from builder.remember.schemas.control import excluded
from builder.service import ContextBuilder, Functions
from tests.commands import DEADLINE
from tests.conversations import sent
from tests.factories import BY_HAND, HashingEmbedder, ids_on_page, make_breadcrumb, make_profile, make_rendering, make_terms
from tests.stores import DurableStore, durable_store


def make_builder(embedder: Embedder, store: SqlStore | None = None, profiles: tuple[Profile, ...] = ()) -> ContextBuilder:
    helpers = Functions(
        terms=make_terms,
        count=load_counter("o200k_base"),
        renderings={"o200k_base": make_rendering()},
        ranker=BY_HAND,
        excluded=excluded,
    )
    store = store or durable_store()
    return ContextBuilder(store, embedder, profiles, helpers, HistoryCache(10_000))


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


async def test_a_follow_up_finds_what_the_question_before_it_was_about() -> None:
    builder = make_builder(HashingEmbedder())
    told = ["The spare key of the kiln hangs behind the glaze buckets.", *(f"Remark {n} on the weather." for n in range(60))]
    for sequence, text in enumerate([*told, "Where is the spare key of the kiln?"], 1):
        await builder.remember(make_breadcrumb(text, sequence))
    built = await builder.build(make_breadcrumb("And the other one?", 100), (consumer("a"),))
    assert "m1" in ids_on_page(built.contexts[0])


async def test_pointers_are_searched_and_never_shown() -> None:
    builder = make_builder(HashingEmbedder())
    await builder.remember(make_breadcrumb("It went well.", 1, pointers=("celadon-workshop",)))
    for sequence in range(2, 60):
        await builder.remember(make_breadcrumb(f"Remark {sequence} on the weather.", sequence))
    (context,) = (await builder.build(make_breadcrumb("How was the celadon workshop?", 100), (consumer("a"),))).contexts
    assert "m1" in ids_on_page(context)
    assert "celadon-workshop" not in context.markdown


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


async def test_a_failure_triggers_where_a_tool_s_answer_does() -> None:
    failure = make_breadcrumb("no answer", schema="tool.error.v1")
    for named, triggers in (("tool.response.v1", True), ("tool.error.v1", True), ("user.message.v1", False)):
        builder = make_builder(HashingEmbedder(), profiles=(replace(consumer("loop"), triggers=(trigger_on(named),)),))
        assert bool(builder.consumers(failure)) is triggers


async def test_a_consumer_is_triggered_only_by_what_its_audience_matches() -> None:
    director, mira = (
        replace(consumer(name), audience=Selector(any_tags=(f"to:{name}", "to:all"))) for name in ("director", "mira")
    )
    builder = make_builder(HashingEmbedder(), profiles=(director, mira, consumer("everybody")))
    for tags, triggered in (
        (("to:director",), ["director", "everybody"]),
        (("to:mira", "scene:2"), ["mira", "everybody"]),
        (("to:all",), ["director", "mira", "everybody"]),
        ((), ["everybody"]),
    ):
        crumb = make_breadcrumb("Director, is scene two ready?", tags=tags)
        assert [profile.consumer for profile in builder.consumers(crumb)] == triggered


async def test_a_secret_and_a_tombstone_never_trigger() -> None:
    profile = replace(consumer("a"), triggers=(trigger_on("user.message.v1"), trigger_on("breadcrumb.deleted.v1")))
    builder = make_builder(HashingEmbedder(), profiles=(profile,))
    assert builder.consumers(make_breadcrumb("Hello.")) == (profile,)
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
