"""Tool output in the forms that a profile wants: what becomes one line, what is cut, and what is never touched."""

import json
from dataclasses import replace
from typing import Any

import pytest

from builder.domain.breadcrumb import Arrival
from builder.domain.context import Context
from builder.domain.facts import Remembered
from builder.domain.profile import Cut, Profile
from builder.wire.inbound import decode
from tests.factories import MORNING, ids_on_page, make_context, make_place, make_profile, remembered_of

LONG = " ".join(f"Sentence {n} of a long letter." for n in range(60))
ALL = Cut(results=None, characters=None)


def hear(sequence: int, schema: str, **body: Any) -> Remembered:
    data = json.dumps({"id": f"m{sequence}", "context": body}).encode()
    subject = f"breadcrumbs.acme.s42.{schema}"
    return remembered_of(decode(Arrival(subject=subject, data=data, place=make_place(sequence), received_at=MORNING)))


def exchange(first: int, output: Any, tool: str = "reader", **arguments: Any) -> list[Remembered]:
    """A call with arguments of its own (unless given) and its result: m<first> and m<first+1>."""
    call = f"r{first}"
    asked = {"tool": tool, "input": arguments or {"n": first}, "requestId": call}
    return [
        hear(first, "agent.response.v1", message="I look.", tool_requests=[asked]),
        hear(first + 1, "tool.response.v1", tool=tool, request_id=call, output=output),
    ]


def said(*numbers: int) -> list[Remembered]:
    return [hear(number, "agent.response.v1", message=f"Remark number {number}.") for number in numbers]


def profile(budget: int = 4000, tool_turns: int | None = None, **rules: Any) -> Profile:
    """The default profile with a large section for tools; nothing is folded unless it is asked for."""
    bundled = make_profile(budget=budget, window={"max_tool_turns": tool_turns})
    quiet = {"cut": ALL, "fold_at": None, "newest_only": False}
    sections = tuple(replace(rule, max_share=0.9) if rule.source == "tools" else rule for rule in bundled.sections)
    return replace(bundled, sections=sections, tool_output=replace(bundled.tool_output, **(quiet | rules)))


def page(rows: list[Remembered], wanted: Profile) -> Context:
    return make_context(hear(900, "user.message.v1", content="And now?"), rows, wanted)


def results(context: Context) -> list[str]:
    """The lines of the section with tool results."""
    return context.markdown.partition("## Recent Tool Results\n")[2].partition("\n\n")[0].split("\n")


def reasons(context: Context) -> dict[str, str]:
    return {omission.id: omission.reason for omission in context.omissions}


def test_older_tool_turns_become_a_line_each_and_the_newest_stay() -> None:
    context = page([*exchange(1, LONG), *exchange(3, LONG), *exchange(5, LONG)], profile(40_000, placeholder_after=2))
    assert results(context)[0] == f"- [reader: result processed - {len(exchange(1, LONG)[1].breadcrumb.body):,} bytes, id m2]"
    assert context.markdown.count("reader answered: Sentence 0 ") == 2
    assert reasons(context) == {"m2": "older tool turn, one line"}


def test_a_short_result_stays_because_its_line_would_be_longer() -> None:
    assert results(page([*exchange(1, 12)], profile(placeholder_after=0))) == ["- reader answered: 12"]


def test_of_the_same_call_only_the_newest_result_is_shown_in_full() -> None:
    rows = [*exchange(1, "Rain", n=7), *exchange(3, "Wind", n=8), *exchange(5, "Sun", n=7)]
    first, second, third = results(page(rows, profile(newest_only=True)))
    assert first.startswith("- [reader: the same call was answered again later - ")
    assert first.endswith(", id m2]")
    assert (second, third) == ("- reader answered: Wind", "- reader answered: Sun")
    assert "Rain" in page(rows, profile()).markdown


def test_another_tool_or_other_arguments_are_another_call() -> None:
    rows = [*exchange(1, "Rain", n=7), *exchange(3, "Wind", "other", n=7), *exchange(5, "Sun", n="7")]
    assert "answered again" not in page(rows, profile(newest_only=True)).markdown


def test_a_call_that_failed_supersedes_nothing_and_is_never_one_line() -> None:
    failed = hear(6, "tool.error.v1", tool_name="reader", request_id="r5", error_message=LONG)
    rows = [*exchange(1, "Rain", n=7), exchange(5, "", n=7)[0], failed, *exchange(7, "Sun", n=8)]
    context = page(rows, profile(newest_only=True, placeholder_after=0, fold_at=0.01, fold_keep=0))
    assert "- reader answered: Rain" in context.markdown
    assert "reader failed: Sentence 0" in context.markdown


def test_above_the_threshold_the_oldest_results_are_folded_until_the_page_would_be_below_it() -> None:
    rows = [*exchange(1, LONG), *exchange(3, LONG), *exchange(5, LONG), *said(7, 8)]
    whole = page(rows, profile(40_000))
    assert whole.compaction is None
    assert whole.tokens > 1400
    context = page(rows, profile(1400, fold_at=0.7, fold_keep=2))
    assert context.compaction is not None
    assert context.compaction.folded == ("m2", "m4")
    assert context.compaction.original > 0.7 * 1400 >= context.compaction.compacted >= context.tokens
    assert results(context)[0].startswith("- [reader: Sentence 0 of a long letter. Sentence… - ")
    assert results(context)[0].endswith(" bytes compacted, id m2]")
    assert "reader answered: Sentence 0" in context.markdown
    assert reasons(context) == {"m2": "folded to one line", "m4": "folded to one line"}


def test_what_the_page_would_have_held_is_counted_truly() -> None:
    rows = [*exchange(1, LONG), *said(7, 8)]
    context = page(rows, profile(40_000, fold_at=0.001, fold_keep=2))
    assert context.compaction is not None
    assert context.compaction.original == page(rows, profile(40_000)).tokens
    assert context.compaction.compacted == context.tokens


def test_the_newest_units_are_never_folded() -> None:
    rows = [*exchange(1, LONG), *said(3, 4, 5)]
    assert page(rows, profile(fold_at=0.01, fold_keep=4)).compaction is None
    assert page(rows, profile(fold_at=0.01, fold_keep=3)).compaction is not None


def test_below_the_threshold_nothing_is_touched() -> None:
    rows = [*exchange(1, LONG), *said(3, 4, 5, 6, 7)]
    assert page(rows, profile(fold_at=0.7)) == page(rows, profile())


def test_a_result_list_is_cut_at_once_with_numbers_of_its_own_for_a_tool() -> None:
    rows = [*exchange(1, ["x" * 50] * 9), *exchange(3, ["y" * 50] * 9, "search")]
    context = page(rows, profile(cut=Cut(results=4, characters=500), per_tool={"search": Cut(results=2, characters=10)}))
    assert context.markdown.count("x" * 50) == 4
    assert "(4 of 9 results shown; fetch m2 for all " in context.markdown
    assert "(2 of 9 results shown, each cut to 10 characters; fetch m4 for all " in context.markdown
    assert reasons(context) == dict.fromkeys(("m2", "m4"), "cut to its first results")


def test_outside_the_hot_window_only_results_of_named_tools_shrink() -> None:
    letter = "The kiln in Delft. " + " ".join(f"Line {n} of the report." for n in range(200))
    rows = [*exchange(1, letter), *exchange(3, letter.replace("report", "review"), "search"), *said(*range(5, 15))]
    wanted = profile(20_000, old_tools=("reader",), old_characters=300)
    wanted = replace(
        wanted,
        window=replace(wanted.window, max_units=3, trim_to=3),
        retrieval=replace(wanted.retrieval, relevance_threshold=None, per_schema_limit={}),
    )
    context = make_context(hear(900, "user.message.v1", content="The report and the review of the kiln?"), rows, wanted)
    assert {"m2", "m4"} <= set(ids_on_page(context))
    first, _, second = context.markdown.partition("search answered:")
    assert "characters left out, id m2 …]" in first
    assert len(first.partition("reader answered:")[2]) < 400
    assert second.count("of the review") == 200


@pytest.mark.parametrize(("turns", "left_out"), [(None, ""), (4, ""), (2, "(1 earlier tool turn left out)"), (0, "(3 earlier")])
def test_the_page_says_how_many_tool_turns_were_left_out(turns: int | None, left_out: str) -> None:
    rows = [*exchange(1, "Rain"), *exchange(3, "Wind"), *exchange(5, "Sun")]
    context = page(rows, replace(profile(tool_turns=turns), retrieval=replace(make_profile().retrieval, schemas=())))
    assert results(context)[0].startswith(left_out or "- reader answered: Rain")
    assert ("earlier tool" in context.markdown) is bool(left_out)
    assert context.tokens == sum(section.tokens for section in context.sections)


def test_the_line_about_left_out_turns_goes_first_when_there_is_no_room() -> None:
    rows = [*exchange(1, "Rain"), *exchange(3, "Wind")]
    tight = page(rows, profile(16, tool_turns=0))
    assert "earlier tool" not in tight.markdown
