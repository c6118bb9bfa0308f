"""The straight line, with a store in memory and vectors by hashing."""

from typing import Any

from builder.adapters.memory import MemoryStore
from builder.adapters.tokens import load_counter
from builder.domain.profile import Profile
from builder.pipeline.histories import Histories
from builder.service import ContextBuilder, Helpers
from tests.factories import BY_HAND, HashingEmbedder, ids_on_page, make_breadcrumb, make_profile, make_rendering, make_terms


def make_builder(embedder: HashingEmbedder) -> ContextBuilder:
    helpers = Helpers(
        terms=make_terms, count=load_counter("o200k_base"), renderings={"o200k_base": make_rendering()}, ranker=BY_HAND
    )
    return ContextBuilder(MemoryStore(), embedder, (), helpers, Histories(10_000))


def consumer(name: str, **retrieval: Any) -> Profile:
    return make_profile(consumer=name, retrieval=retrieval)


async def test_consumers_that_ask_the_same_share_one_embedding() -> None:
    embedder = HashingEmbedder()
    builder = make_builder(embedder)
    await builder.remember(make_breadcrumb("The kiln is in Delft.", 1))
    trigger = await builder.facts(make_breadcrumb("Where does the kiln stand?", 2))
    before = embedder.asked
    await builder.answer(trigger, (consumer("a"), consumer("b")))
    assert embedder.asked - before == 1
    await builder.answer(trigger, (consumer("a"), consumer("b", query="last_n"), consumer("c", query="last_n")))
    assert embedder.asked - before == 3


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
