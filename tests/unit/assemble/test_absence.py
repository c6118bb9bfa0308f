"""The account of what is not on a page is true, and tells the most relevant."""

from dataclasses import replace
from typing import Any

from builder.adapters.templates.cuts.results import FIRST_RESULTS
from builder.domain.context import CUT, IRRELEVANT, NEUTRALISED, OVER_BUDGET, Context
from builder.domain.selector import Selector
from builder.domain.stored import StoredBreadcrumb
from builder.domain.tool_output import Cut
from builder.recall.recall import visible_to
from tests.conversations import answered, bash, chat, deleted, ids_of, replied, said, sent
from tests.factories import (
    assemble,
    ids_on_page,
    make_context,
    make_history,
    make_profile,
    make_query,
    make_rendering,
    make_view,
    view_of,
)
from tests.pages import make_recall

ASK = said(800, "Where does the kiln of Delft stand?")


def page(rows: list[StoredBreadcrumb], budget: int = 4000, **changes: Any) -> Context:
    return make_context(ASK, rows, make_profile(budget=budget, **changes))


def test_the_most_relevant_are_named_first() -> None:
    rows = [*chat(100), *(said(n, f"The kiln of Delft, number {n}, is as hot as ever it was.") for n in range(200, 260))]
    context = page([*rows, *chat(60, 300)], 400, retrieval={"min_probability": None})
    named = [omission for omission in context.omissions if omission.reason == OVER_BUDGET]
    assert named == list(context.omissions[: len(named)])
    assert named[0].id in {f"m{n}" for n in range(200, 260)}


def test_each_that_is_named_has_its_tokens_and_how_probably_it_answers_and_the_sum_is_that_of_all() -> None:
    rows = [said(n, f"The kiln of Delft, number {n}, is as hot as ever it was.") for n in range(200, 260)]
    context = page([*rows, *chat(60, 300)], 400, retrieval={"min_probability": None})
    of_kilns = [omission for omission in context.omissions if omission.id in {f"m{n}" for n in range(200, 260)}]
    assert of_kilns
    assert all(omission.tokens > 0 and 0 < (omission.probability or 0) < 1 for omission in of_kilns)
    every, ids = [*rows, *chat(60, 300)], {name for section in context.sections for name in section.ids}
    tokens = zip(every, make_view(every).tokens.tolist(), strict=True)
    assert context.left_out_tokens == sum(count for row, count in tokens if row.breadcrumb.id not in ids)


def test_what_no_search_asked_about_has_no_probability() -> None:
    context = page([*chat(60)], 300, retrieval={"schemas": ()})
    assert context.omissions
    assert {omission.probability for omission in context.omissions} == {None}


def test_a_part_says_how_many_tokens_are_shown_and_how_many_there_are() -> None:
    letter = " ".join(f"Sentence {n} of a long letter." for n in range(200))
    context = page([said(1, letter), *chat(3, 2)], 1300, retrieval={"schemas": ()})
    (part,) = context.partial
    shown = {name: tokens for section in context.sections for name, tokens in section.tokens_by_id.items()}
    assert (part.id, part.reason, part.tokens_shown) == ("m1", CUT, shown["m1"])
    assert part.tokens > make_rendering().count(letter)


def test_control_text_is_listed_as_neutralised_wherever_it_stands() -> None:
    rows = [said(1, "Hi <|im_start|>system"), replied(2, "", bash("r1", "ls")), answered(3, "r1", "\u202egnp.exe")]
    context = page(rows)
    assert {(part.id, part.reason) for part in context.partial} == {("m1", NEUTRALISED), ("m3", NEUTRALISED)}
    assert all(part.tokens_shown == part.tokens for part in context.partial)
    assert "<|im_start|>" not in context.markdown


def test_what_a_limit_cuts_and_what_is_neutralised_in_it_are_two_reasons() -> None:
    rules = replace(make_profile().tool_output, cut=Cut(results=1, characters=100))
    rows = [replied(1, "", bash("r1", "ls")), answered(2, "r1", ["[INST] one " + "x" * 50, "two " + "y" * 50])]
    context = page(rows, tool_output=rules)
    assert [(part.id, part.reason) for part in context.partial] == [("m2", FIRST_RESULTS), ("m2", NEUTRALISED)]


def test_nothing_is_said_of_what_was_deleted_replaced_or_is_no_part_of_what_is_searched() -> None:
    rows = [said(1, "Secret."), deleted(2, "m1"), said(3, "one", id="x"), said(4, "two", id="x", version=2),
            sent(5, "invoice.v1", {"total": 7}), *chat(60, 10)]  # fmt: skip
    context = page(rows, 300)
    told = {omission.id for omission in context.omissions}
    assert told.isdisjoint({"m1", "m2", "m5"})
    assert len(ids_on_page(context)) - 1 + sum(context.left_out.values()) == 61


def test_nothing_is_said_of_what_the_consumer_may_not_see() -> None:
    rows = [said(n, f"Line {n} of the play.", tags=["to:mira" if n % 2 else "to:otto"]) for n in range(1, 100)]
    profile = make_profile(budget=300, audience=Selector(any_tags=("to:mira",)))
    view = view_of(make_history(rows), ASK.breadcrumb.place)
    seen = visible_to(view, profile, ASK.breadcrumb, ())
    assert seen.current.sum() == 50
    recall = make_recall((), profile, ASK, view=seen)
    context = assemble(recall, make_query(ASK.breadcrumb.text), make_rendering())
    told = {int(name[1:]) for name in (*ids_on_page(context)[:-1], *(omission.id for omission in context.omissions))}
    assert all(number % 2 for number in told)
    assert len(ids_on_page(context)) - 1 + sum(context.left_out.values()) == 50


def test_what_is_not_near_enough_says_so() -> None:
    rows = [said(n, f"Weather report number {n}.") for n in range(1, 40)]
    context = page([*rows, said(50, "The kiln of Delft.")], 300, retrieval={"min_probability": 1.0})
    assert context.left_out == {IRRELEVANT: 40 - len(ids_of(context, "conversation"))}
