"""What is searched for: the query of each consumer, embedded once for all that ask the same."""

from builder.domain.recall import StoredBreadcrumb
from builder.recall.scopes import scope_of
from builder.recall.search.query import Queries, Query, Searcher
from tests.conversations import replied, said
from tests.factories import HashingEmbedder, make_breadcrumb, make_profile, make_terms, make_vector, make_view


def searcher(embedder: HashingEmbedder) -> Searcher:
    return Searcher(embed=embedder.embed, terms=make_terms)


async def query(text: str, rows: list[StoredBreadcrumb], embedder: HashingEmbedder | None = None) -> Query:
    asking = searcher(embedder or HashingEmbedder())
    trigger, profile = make_breadcrumb(text, 99), make_profile()
    return await asking.query(text, make_view(rows), profile, scope_of(trigger, profile), {})


async def test_consumers_that_ask_the_same_in_the_same_scope_share_a_query() -> None:
    embedder, queries = HashingEmbedder(), Queries()
    trigger, view = make_breadcrumb("Where is the kiln?", 99), make_view([said(1, "In Delft.")])
    profiles = (make_profile(consumer="a"), make_profile(consumer="b"), make_profile(retrieval={"scope": "workspace"}))
    first, second, third = [
        await searcher(embedder).query(trigger.text, view, profile, scope_of(trigger, profile), queries) for profile in profiles
    ]
    assert first is second
    assert third == first
    assert (embedder.asked, len(queries)) == (2, 2)


async def test_names_of_speakers_are_matched_as_a_field_and_are_neither_embedded_nor_searched_as_words() -> None:
    question = await query("What did Ana say about the glaze?", [said(1, "It is dry.", "Ana")])
    assert (question.names, question.text) == (frozenset({"Ana"}), "What did say about the glaze?")
    assert question.vector == make_vector(question.text)
    assert "ana" not in question.terms


async def test_a_follow_up_is_also_searched_by_the_words_of_the_answer_before_it() -> None:
    rows = [said(1, "Where is the spare key?"), replied(2, "Behind the buckets.")]
    question = await query("And the other one?", rows)
    assert question.text == "Where is the spare key?\nAnd the other one?"
    assert set(make_terms("buckets").split()) <= set(question.terms)
    assert question.vector == make_vector(question.text)


async def test_without_the_engine_the_query_has_its_words_alone() -> None:
    embedder = HashingEmbedder()
    embedder.away = True
    question = await query("Where is the kiln?", [said(1, "In Delft.")], embedder)
    assert (question.vector, question.terms) == (b"", tuple(make_terms("Where is the kiln?").split()))


async def test_small_talk_is_known_as_such() -> None:
    assert (await query("okay, thanks!", [])).is_small_talk
    assert not (await query("Where is the kiln?", [])).is_small_talk


async def test_a_name_that_the_conversation_has_as_a_word_is_searched_for_and_pulls_no_lines() -> None:
    rows = [said(1, "Ready.", "Marketing"), said(2, "The marketing budget is 900 euros, marketing says.", "Ana")]
    question = await query("What did Marketing cost, Ana?", rows)
    assert question.names == frozenset({"Ana"})
    assert set(make_terms("marketing").split()) <= set(question.terms)


async def test_a_query_has_each_term_once() -> None:
    terms = (await query("Fire the kiln, then fire it.", [said(1, "It is dry.")])).terms
    assert "kiln" in terms
    assert len(set(terms)) == len(terms)
