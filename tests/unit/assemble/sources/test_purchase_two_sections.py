"""A page of two sections: its newest part has no hole, what was found stands by itself, and each has its share."""

from dataclasses import replace
from typing import Any

import pytest

from builder.domain.context import CUT, OLDER, Context
from builder.domain.profile import Profile
from builder.domain.stored import StoredBreadcrumb
from tests.conversations import answered, bash, chat, conversation, ids_of, replied, said, section, undated
from tests.factories import make_context
from tests.two_sections import make_two_sections

ASK = said(800, "And now?")
LINES = 40
"""Tokens of headings, dates and the current message, at most."""
LETTER = " ".join(f"Sentence {n} of a long letter." for n in range(60))


def profile(budget: int = 1000, **changes: Any) -> Profile:
    """Only the conversation and the current message; it may have half of the page."""
    bundled = make_two_sections(budget=budget, **({"summaries": None, "retrieval": {"schemas": ()}} | changes))
    kept = (rule for rule in bundled.sections if rule.source not in {"summary", "instructions"})
    return replace(bundled, sections=tuple(replace(rule, max_share=0.5) if rule.source == "window" else rule for rule in kept))


def page(rows: list[StoredBreadcrumb], wanted: Profile | None = None) -> Context:
    return make_context(ASK, rows, wanted or profile())


def exchange(number: int, output: object, command: str = "", text: str = "I look.") -> list[StoredBreadcrumb]:
    """A message that calls, and the result: m<number> and m<number+1>."""
    return [
        replied(number, text, bash(f"r{number}", command or f"cat {number}")),
        answered(number + 1, f"r{number}", output),
    ]


def partial(context: Context) -> dict[str, str]:
    return {part.id: part.reason for part in context.partial}


def test_what_is_older_than_the_part_that_has_room_is_counted_by_that_reason() -> None:
    context = page(chat(100))
    assert context.left_out == {OLDER: 100 - len(ids_of(context, "recent"))}
    assert context.omissions[0].id == f"m{context.left_out[OLDER]}"
    assert len(context.omissions) == 50
    assert all(omission.reason == OLDER and omission.tokens > 0 for omission in context.omissions)


def test_an_old_message_that_is_edited_now_stays_where_it_was() -> None:
    rows = [*chat(100), said(101, "Never mind the kiln.", id="m1", version=2), said(102, "I edited it.", id="m99", version=2)]
    context = page(rows)
    assert "m1" not in ids_of(context, "recent")
    assert conversation(context).split("\n")[-2:] == [
        "- User (edited): I edited it.",
        "- Assistant: Remark 100 about the kiln, the glaze and the shelf.",
    ]


def test_a_late_result_does_not_drag_an_old_call_into_the_part_that_has_room() -> None:
    rows = [replied(1, "I look.", bash("r1", "make")), *chat(100, 2), answered(102, "r1", "done")]
    assert "r1" not in conversation(page(rows))
    assert ids_of(page(rows), "recent")[-1] == "m101"


def test_a_message_that_is_larger_than_what_is_left_is_cut_with_its_id_and_how_much_is_missing() -> None:
    rows = [said(1, LETTER), *chat(3, 2)]
    context = page(rows, profile(500))
    ((cut,), shown) = context.partial, conversation(context)
    assert (cut.id, cut.reason) == ("m1", "cut to what has room")
    assert 64 <= cut.tokens_shown < cut.tokens
    assert "characters left out, id m1 …]" in shown
    assert undated(shown).startswith("- User: Sentence 0 of a long letter.")
    assert ids_of(context, "recent") == ["m1", "m2", "m3", "m4"]


def test_no_shred_is_shown_of_what_has_no_useful_part() -> None:
    for budget in range(120, 1200, 20):
        context = page([said(1, LETTER), *chat(3, 2)], profile(budget))
        assert all(part.tokens_shown >= 32 for part in context.partial)


def test_an_answer_that_is_shorter_than_the_line_on_its_repeat_stays() -> None:
    rows = [row for n in range(1, 100, 2) for row in exchange(n, f"{n} passed", "pytest -q", "")]
    context = page(rows)
    assert "answered again" not in context.markdown
    assert context.partial == ()


def test_more_budget_never_shows_less_of_a_plain_conversation() -> None:
    shown = [len(ids_of(page(chat(40), profile(budget)), "recent")) for budget in range(100, 1600, 50)]
    assert shown == sorted(shown)
    assert shown[-1] == 40


@pytest.mark.parametrize("budget", range(120, 400, 20))
def test_a_result_of_which_no_useful_part_has_room_is_a_line_and_never_gone_without_a_word(budget: int) -> None:
    results = [answered(number, "r1", f"{number} {LETTER}") for number in range(5, 9)]
    context = page([*chat(3), replied(4, "", bash("r1", "cat a")), *results], profile(budget))
    shown = ids_of(context, "recent")
    assert all(f"id {name}" in conversation(context) for name in shown if name in {"m5", "m6", "m7", "m8"})
    assert "\n\n" not in conversation(context)


def test_results_yield_before_words_and_older_ones_before_newer_ones() -> None:
    rows = [*chat(4), *exchange(5, LETTER), *chat(4, 7), *exchange(11, LETTER), *chat(4, 13), *exchange(17, LETTER.upper())]
    context = page(rows, profile(1720))
    assert ids_of(context, "recent") == [f"m{n}" for n in range(1, 19) if n not in {6, 12}]
    lines = [line for line in conversation(context).split("\n") if " call: " in line]
    assert lines == ["- 1 call: bash cat 5", "- 1 call: bash cat 11"]
    assert f"  Result: {LETTER.upper()}" in context.markdown
    assert context.compaction
    assert context.compaction.folded == ("m6", "m12")


def test_the_same_call_answered_again_later_is_a_bare_line_only_under_pressure() -> None:
    rows = [*exchange(1, LETTER, "git status"), *chat(2, 3), *exchange(5, LETTER.upper(), "git status"), *chat(4, 7)]
    assert page(rows, profile(60_000)).partial == ()
    context = page(rows, make_two_sections(budget=1000, summaries=None, retrieval={"schemas": ()}))
    assert conversation(context).count("- 1 call: bash git status\n") == 1
    assert f"  Result: {LETTER.upper()}" in context.markdown


def test_the_newest_result_that_has_no_room_is_cut_and_what_is_older_follows_whole() -> None:
    rows = [*chat(30), *exchange(31, "\n".join(f"{n} {LETTER}" for n in range(9)))]
    context = page(rows, make_two_sections(budget=1500, summaries=None, retrieval={"schemas": ()}))
    assert partial(context) == {"m32": CUT}
    assert ids_of(context, "recent")[:-2] == [f"m{n}" for n in range(1, 31)]


RED = said(800, "Where does the red kiln stand?")
SYLLABLES = [
    f"{first}{last}" for first in ("ba", "co", "de", "fi", "gu", "ha", "ko", "li") for last in ("ran", "sto", "tel", "vim")
]
SIGHTINGS = [said(n, f"The red kiln, {' '.join(SYLLABLES[n % 32 :: 7])}.") for n in range(1, 33)]
"""Of many patterns."""
KILNS = [said(n, f"The red kiln number {n} stands in town {n} by the river, and is as hot as ever.") for n in range(1, 100)]


def test_what_is_missing_is_counted_above_what_was_found_and_every_message_is_accounted_for() -> None:
    rows = [*KILNS[:3], *chat(200, 200, "on tea")]
    context = make_context(RED, rows, make_two_sections(budget=700, summaries=None))
    newest, finds = (ids_of(context, name) for name in ("recent", "relevant"))
    assert {"m1", "m2", "m3"} <= set(finds)
    missing = len(rows) - len(newest) - len(finds)
    note = f"({missing} earlier messages are not shown)"  # no sign says where: nothing is missing between two that are shown
    assert section(context, "Relevant Earlier Messages").startswith(f"{note}\n")
    assert context.markdown.count("not shown") == 1
    assert sum(context.left_out.values()) == missing
    assert not set(newest) & set(finds)


@pytest.mark.parametrize("shape", ["none", "openai", "anthropic"])
@pytest.mark.parametrize(("name", "other", "share"), [("recent", "relevant", 0.2), ("relevant", "recent", 0.1)])
def test_a_section_has_at_most_its_largest_share_and_never_what_is_kept_for_the_other(
    name: str, other: str, share: float, shape: str
) -> None:
    def spent(section: str, **shares: float) -> dict[str, int]:
        bundled = make_two_sections(budget=2000, summaries=None, chat_format=shape)
        rules = tuple(replace(rule, **shares) if rule.name == section else rule for rule in bundled.sections)  # type: ignore[arg-type]
        context = make_context(RED, [*SIGHTINGS, *chat(400, 200, "on tea")], replace(bundled, sections=rules))
        assert context.tokens <= context.budget
        return {part.name: part.tokens for part in context.sections}

    plain = spent(name)
    assert 0 < spent(name, max_share=share)[name] <= 2000 * share < plain[name]
    assert 0 < spent(other, min_share=1 - share)[name] <= 2000 * share + 20, "the note stands above the finds, too"


def test_what_only_one_section_may_spend_stays_free_where_it_has_nothing() -> None:
    bundled = make_two_sections(budget=2000, summaries=None, retrieval={"schemas": ()})
    rules = (replace(rule, min_share=0.5) if rule.source == "retrieval" else rule for rule in bundled.sections)
    context = page(chat(400), replace(bundled, sections=tuple(rules)))
    assert 800 < context.tokens <= 1000 + LINES
