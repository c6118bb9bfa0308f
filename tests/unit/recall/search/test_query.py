"""What a page is searched with: the text, without the names of speakers, embedded once for all that ask the same."""
# ruff: noqa: RUF001 - words of many scripts

from typing import Any

import pytest

from builder.adapters.profiles.profiles import parse_profile
from builder.domain.errors import Misconfigured
from builder.domain.stored import StoredBreadcrumb
from builder.recall.scopes import scope_of
from builder.recall.search.query import CONTEXT_CHARS, MAX_QUERY_CHARS, Query, QueryText, Searcher, query_text, strip_names
from tests.conversations import replied, said
from tests.factories import make_breadcrumb, make_profile, make_remembered, make_terms, make_tombstone, make_vector, make_view
from tests.hashing_embedder import HashingEmbedder

PEOPLE = ("Ana", "Bob Stone", "Bob", "User", "Assistant", "Анна", "R2.D2 (beta)*", "", "  ")


@pytest.mark.parametrize(
    ("text", "asked", "names"),
    [
        ("What did Ana say about the glaze?", "What did say about the glaze?", {"Ana"}),
        ("Where is Ana's brother?", "Where is brother?", {"Ana"}),
        ("Where is Ana’s brother?", "Where is brother?", {"Ana"}),
        ("Did Ana or Bob call?", "Did or call?", {"Ana", "Bob"}),
        ("Did Bob Stone call?", "Did call?", {"Bob Stone"}),
        ("Is the banana ripe? Anas?", "Is the banana ripe? Anas?", set()),
        ("what did ana say?", "what did ana say?", set()),
        ("The User asked the Assistant", "The User asked the Assistant", set()),
        ("No names at all", "No names at all", set()),
        ("Ana?", "Ana?", {"Ana"}),
        ("Что сказала Анна?", "Что сказала ?", {"Анна"}),
        ("Ask R2.D2 (beta)* now", "Ask now", {"R2.D2 (beta)*"}),
        ("", "", set()),
    ],
)
def test_names_of_speakers_are_taken_out_of_the_question(text: str, asked: str, names: set[str]) -> None:
    assert strip_names(text, PEOPLE) == (asked, frozenset(names))


TALK = [
    "We have two kilns, one in Delft and one in Gouda.",
    "The one in Delft was built in 1998.",
    "What does a firing in Delft cost?",
    "A firing there costs 31 euros.",
    "okay",
]


def ask(trigger: str, rows: list[Any], **rules: Any) -> QueryText:
    profile = make_profile(retrieval=rules)
    return query_text(trigger, make_view(rows), profile.retrieval, make_terms)


def test_a_question_that_says_it_all_is_asked_alone() -> None:
    assert ask("How long does the glaze firing take?", TALK) == QueryText("How long does the glaze firing take?")


def test_a_follow_up_is_asked_behind_the_question_it_follows_and_beside_its_answer() -> None:
    assert ask("And the other one?", TALK) == QueryText(f"{TALK[2]}\nAnd the other one?", TALK[3])


def test_a_follow_up_at_the_beginning_stands_alone() -> None:
    assert ask("And the other one?", ["okay", "Sure!"]) == QueryText("And the other one?")


def test_a_question_that_names_somebody_is_no_follow_up() -> None:
    rows = [make_remembered("The kiln in Delft is mine.", 1, speaker="Ana")]
    assert ask("What did Ana say?", rows) == QueryText("What did Ana say?")


def test_what_was_deleted_is_not_asked_along() -> None:
    rows = [make_remembered("Is the kiln in Delft?", 1), make_tombstone("m1", 2)]
    assert ask("Why?", rows) == QueryText("Why?")


def test_the_last_messages_are_asked_in_time_order_with_the_trigger_last() -> None:
    wanted = "\n".join([*TALK[2:4], "How long does it take?"])
    assert ask("How long does it take?", TALK, query="last_n", query_messages=3) == QueryText(wanted)
    assert ask("How long does it take?", TALK, query="last_n", query_messages=1) == QueryText("How long does it take?")


def test_a_profile_may_ask_its_own_question() -> None:
    text = "open orders and {trigger}"
    assert ask("glaze {0} %s", TALK, query="custom", query_text=text) == QueryText("open orders and glaze {0} %s")
    assert ask("glaze", TALK, query="custom", query_text="open orders") == QueryText("open orders")


@pytest.mark.parametrize("query", ["last_user", "last_n"])
def test_long_messages_leave_room_for_the_trigger(query: str) -> None:
    rows = [make_remembered("The kiln in Delft is old. " * 500, n) for n in (1, 2)]
    found = ask("And why?", rows, query=query)
    assert found.text.endswith("And why?")
    assert len(found.text) <= 2 * CONTEXT_CHARS + 10
    assert len(ask("kiln " * 2_000, []).text) <= MAX_QUERY_CHARS + 1


@pytest.mark.parametrize("rules", ["query: custom", "query_text: open orders", "query: last_n, query_text: open orders"])
def test_a_text_of_its_own_belongs_to_custom_and_only_to_that(rules: str) -> None:
    source = f"{{retrieval: {{schemas: [note.v1], {rules}}}, sections: [{{name: c, title: C, source: trigger}}]}}"
    with pytest.raises(Misconfigured, match="custom, and only that, needs a text"):
        parse_profile("mine", source)


def searcher(embedder: HashingEmbedder) -> Searcher:
    return Searcher(embed=embedder.embed, terms=make_terms)


async def query(text: str, rows: list[StoredBreadcrumb], embedder: HashingEmbedder | None = None) -> Query:
    asking = searcher(embedder or HashingEmbedder())
    trigger, profile = make_breadcrumb(text, 99), make_profile()
    return await asking.query(text, make_view(rows), profile, scope_of(trigger, profile), {})


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
