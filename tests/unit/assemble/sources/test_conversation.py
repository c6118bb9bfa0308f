"""A conversation that does not fit: its newest part without holes, results before words, nothing left empty."""

from dataclasses import replace
from typing import Any

import pytest

from builder.assemble.items.rendering import MIN_PART_TOKENS
from builder.assemble.items.writer import Item, Writer
from builder.assemble.sources.conversation import MAX_LINE_TOKENS, is_result, line_of, part_of
from builder.domain.context import CUT, OLDER, Context
from builder.domain.profile import Profile
from builder.domain.recall import StoredBreadcrumb
from builder.recall.index.conversation import turns
from tests.conversations import answered, bash, chat, conversation, failed, ids_of, replied, said, undated
from tests.factories import make_context
from tests.pages import make_writer
from tests.two_sections import make_two_sections

ASK = said(800, "And now?")
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


@pytest.mark.parametrize("budget", range(120, 1200, 60))
def test_the_conversation_has_no_holes_and_ends_with_the_newest(budget: int) -> None:
    shown = ids_of(page(chat(100), profile(budget)), "recent")
    assert shown == [f"m{n}" for n in range(101 - len(shown), 101)]
    assert shown


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


def test_results_yield_before_words_and_older_ones_before_newer_ones() -> None:
    rows = [*chat(4), *exchange(5, LETTER), *chat(4, 7), *exchange(11, LETTER), *chat(4, 13), *exchange(17, LETTER.upper())]
    context = page(rows, profile(1720))
    assert ids_of(context, "recent") == [f"m{n}" for n in range(1, 19)]
    assert set(partial(context)) == {"m6", "m12"}
    assert f"  Result: {LETTER.upper()}" in context.markdown


def test_what_is_folded_is_a_line_with_its_size_and_id_below_its_call() -> None:
    rows = [*exchange(1, LETTER), *chat(6, 3), *exchange(20, LETTER), *chat(2, 30), *exchange(40, LETTER.upper())]
    context = page(rows, profile(1600))
    size = len(rows[1].breadcrumb.body.encode())
    line = f"  [bash: Sentence 0 of a long letter. Sentence… - {size:,} bytes compacted, id m2]"
    assert f"- Call bash: command: cat 1\n{line}\n- User: Remark 3 " in context.markdown
    assert context.compaction is not None
    assert context.compaction.folded == ("m2", "m21")
    assert context.compaction.original_tokens > context.compaction.compacted_tokens
    (folded,) = (part for part in context.partial if part.id == "m2")
    assert (folded.reason, folded.tokens_shown < folded.tokens) == ("folded to one line", True)


def test_a_result_that_is_shorter_than_its_line_is_not_folded() -> None:
    rows = [row for n in range(1, 300, 2) for row in exchange(n, f"{n} crates", text="")]
    context = page(rows)
    assert "compacted" not in context.markdown
    assert context.partial == ()


def test_what_never_folds_is_cut_or_left_out() -> None:
    rows = [*exchange(1, LETTER), *exchange(3, LETTER.upper())]
    rules = replace(make_two_sections().tool_output, fold_at=None, fold_keep=0)
    context = page(rows, profile(700, tool_output=rules))
    assert "compacted" not in context.markdown
    assert "characters left out, id m4" in context.markdown
    assert context.compaction is None


def test_a_result_larger_than_its_share_of_the_room_is_cut_though_it_is_the_newest_and_older_ones_follow() -> None:
    rows = [*chat(30), *exchange(31, "\n".join(f"{n} {LETTER}" for n in range(9)))]
    context = page(rows, make_two_sections(budget=1500, summaries=None, retrieval={"schemas": ()}))
    assert partial(context) == {"m32": CUT}
    assert ids_of(context, "recent")[:-2] == [f"m{n}" for n in range(1, 31)]
    assert context.tokens > 1400


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


def test_the_same_call_answered_again_later_is_one_line_only_under_pressure() -> None:
    rows = [*exchange(1, LETTER, "git status"), *chat(2, 3), *exchange(5, LETTER.upper(), "git status"), *chat(4, 7)]
    assert page(rows, profile(60_000)).partial == ()
    context = page(rows, profile(1150))
    assert "  [bash: the same call was answered again later - " in context.markdown
    assert partial(context)["m2"] == "the same call was answered again later"


def test_an_answer_that_is_shorter_than_the_line_on_its_repeat_stays() -> None:
    rows = [row for n in range(1, 100, 2) for row in exchange(n, f"{n} passed", "pytest -q", "")]
    context = page(rows)
    assert "answered again" not in context.markdown
    assert context.partial == ()


def test_more_budget_never_shows_less_of_a_plain_conversation() -> None:
    shown = [len(ids_of(page(chat(40), profile(budget)), "recent")) for budget in range(100, 1600, 50)]
    assert shown == sorted(shown)
    assert shown[-1] == 40


def test_an_answer_to_an_unknown_call_yields_before_words_like_any_other() -> None:
    rows = [answered(1, "r8", LETTER), *chat(4, 2), answered(6, "r9", LETTER), *chat(4, 7), *exchange(11, "It holds.")]
    context = page(rows, profile(1100))
    assert undated(conversation(context)).startswith("- [bash: Sentence 0 of a long letter.")
    assert partial(context)["m1"] == "folded to one line"
    assert "  Result: It holds." in context.markdown


@pytest.mark.parametrize("budget", range(120, 400, 20))
def test_a_result_of_which_no_useful_part_has_room_is_a_line_and_never_gone_without_a_word(budget: int) -> None:
    results = [answered(number, "r1", f"{number} {LETTER}") for number in range(5, 9)]
    rules = replace(make_two_sections().tool_output, fold_at=None)
    context = page([*chat(3), replied(4, "", bash("r1", "cat a")), *results], profile(budget, tool_output=rules))
    shown = ids_of(context, "recent")
    assert all(f"id {name}" in conversation(context) for name in shown if name in {"m5", "m6", "m7", "m8"})
    assert "\n\n" not in conversation(context)


LOG = "\n".join(f"строка {n}: печь горячая" for n in range(200))


def newest_first(rows: list[StoredBreadcrumb], writer: Writer | None = None) -> list[Item]:
    writer = writer or make_writer(rows)
    return [writer.entry(entry) for turn in turns(writer.view) for entry in reversed(turn)]


def call(number: int, output: str, command: str = "make") -> list[StoredBreadcrumb]:
    return [replied(number, "", bash(f"r{number}", command)), answered(number + 1, f"r{number}", output)]


@pytest.mark.parametrize(("row", "expected"), [(said(1, "Привет."), False), (answered(1, "lost", "42"), True)])
def test_a_call_and_a_result_by_itself_are_results_and_a_message_is_none(row: StoredBreadcrumb, expected: bool) -> None:
    (item,) = newest_first([row])
    assert is_result(item) is expected


def test_a_long_result_is_a_line_below_its_call_and_what_is_shorter_or_failed_is_none() -> None:
    rows = [*call(1, LOG), *call(3, "готово"), replied(5, "", bash("r5", "rm")), failed(6, "r5", LOG)]
    writer = make_writer(rows)
    failure, short, long = newest_first(rows, writer)
    line = line_of(long, writer)
    assert line.tokens <= MAX_LINE_TOKENS
    assert [part.reduced for part in line.fragments] == ["", "folded to one line"]
    assert line_of(short, writer) is short
    assert "  Failed:\n  строка 0: печь горячая" in line_of(failure, writer).text


def test_a_profile_that_folds_nothing_has_the_ends_of_a_result_in_the_place_of_a_line() -> None:
    rules = replace(make_two_sections().tool_output, fold_at=None)
    writer = make_writer(call(1, LOG), make_two_sections(tool_output=rules))
    (long,) = newest_first([], writer)
    line = line_of(long, writer)
    assert line.tokens <= MAX_LINE_TOKENS
    assert "compacted" not in line.text
    assert "строка 0: печь горячая" in line.text
    assert "строка 199: печь горячая" in line.text


def test_a_part_is_all_of_it_where_it_has_room_and_nothing_where_no_useful_part_has_any() -> None:
    rows = [said(1, LOG)]
    writer = make_writer(rows)
    (full,) = newest_first(rows, writer)
    assert part_of(full, writer, full.size) is full
    assert part_of(full, writer, MIN_PART_TOKENS - 1) is None
    part = part_of(full, writer, full.size // 2)
    assert part
    assert part.is_cut
    assert full.size // 4 < part.size <= full.size // 2
