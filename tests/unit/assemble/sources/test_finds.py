"""What was found fills the rest of the page, the best first, and says nothing that the page says already."""

from collections.abc import Hashable, Iterable
from contextvars import copy_context
from dataclasses import replace
from functools import cache
from itertools import count

import pytest

from builder.assemble.items.pending import PENDING_CHARS, READY, FragmentPending
from builder.domain.context import Context
from builder.domain.profile import Profile
from builder.domain.stored import StoredBreadcrumb
from tests.conversations import answered, bash, chat, failed, ids_of, replied, said, section, sent
from tests.factories import make_context
from tests.two_sections import make_two_sections

ASK = said(800, "Where does the kiln of Delft stand?")


def profile(budget: int = 1000, **retrieval: object) -> Profile:
    """The newest two units are the conversation, all others may be found."""
    window = {"max_units": 2, "trim_to": 2}
    return make_two_sections(budget=budget, window=window, summaries=None, retrieval={"min_probability": None} | retrieval)


def page(rows: Iterable[StoredBreadcrumb], wanted: Profile | None = None) -> Context:
    return make_context(ASK, [*rows, *chat(2, 700, "on the weather")], wanted or profile())


def found(context: Context) -> str:
    return section(context, "Relevant Earlier Messages")


@cache
def kilns(number: int, start: int = 1) -> tuple[StoredBreadcrumb, ...]:
    return tuple(
        said(n, f"Kiln {n} stands in town {n} by the river and is as hot as ever it was.") for n in range(start, start + number)
    )


def test_finds_stand_in_the_order_in_which_they_were_said_and_fill_the_rest() -> None:
    context = page(kilns(200))
    shown = [int(name[1:]) for name in ids_of(context, "relevant")]
    assert shown == sorted(shown)
    assert context.budget - 60 < context.tokens <= context.budget


ROOMY = profile(1100)


def begun_again(ready: dict[Hashable, object], wanted: Profile | None = None) -> tuple[Context, int]:
    """A page of which every fragment takes long, and how often it was begun again. ready: is given the fragments."""
    PENDING_CHARS.set(0)
    READY.set(ready)
    for number in count():
        try:
            return page(kilns(200), wanted or ROOMY), number
        except FragmentPending as pending:
            ready |= {key: make() for key, make in pending.works.items()}
    raise AssertionError


def test_fragments_that_take_long_are_made_together_as_far_as_they_have_room() -> None:
    ready: dict[Hashable, object] = {}
    context, again = copy_context().run(begun_again, ready)
    assert context == page(kilns(200), ROOMY)
    relevant = len(ids_of(context, "relevant"))
    assert again < relevant / 2
    assert len(ready) < 2 * relevant, "nothing is made that has no room"


def test_fragments_beyond_the_limit_of_their_schema_are_not_made() -> None:
    ready: dict[Hashable, object] = {}
    wanted = profile(per_schema_limit={"user.message.v1": 2})
    context, _ = copy_context().run(begun_again, ready, wanted)
    assert context == page(kilns(200), wanted)
    assert len(ids_of(context, "relevant")) == 2
    assert len(ready) < 20, "two finds, and what is on the page without a search"


def test_the_best_finds_have_the_room_and_not_the_newest() -> None:
    best = said(5, "The kiln of Delft stands behind the church.")
    context = page([*chat(4, 1, "on tea"), best, *kilns(100, 6)], profile(350))
    assert "m5" in ids_of(context, "relevant")


def test_an_edited_message_that_is_found_has_the_place_of_what_it_edits() -> None:
    rows = [
        said(1, "The kiln of Delft stands at the quay."),
        *kilns(3, 2),
        said(9, "The kiln of Delft stands behind the church.", id="m1", version=2),
    ]
    assert ids_of(page(rows), "relevant") == ["m1", "m2", "m3", "m4"]


def test_rules_of_a_list_that_is_found_stand_above_and_leave_one_mark_there() -> None:
    items = ("The kilns of Delft have numbers", "Glaze is in the shed of Delft", "The gate of Delft is locked")
    rules = "".join(f"\n* {item}" for item in items)
    rows = [said(1, f"The kiln of Delft stands at the quay.\n\n### Conventions{rules}\n\n### Folders\n* one"), *chat(9, 2)]
    context = page(rows)
    assert section(context, "Standing Instructions").endswith("- User: {}\n  {}\n  {}".format(*items))
    assert "quay.\n\n  ### Conventions\n  * […]\n  ### Folders\n  * one\n" in found(context)


def test_a_result_that_is_found_stands_below_its_call_with_the_passage_that_was_found() -> None:
    filling = "The harbour was calm and we walked along the quay. " * 40
    rows = [replied(1, "", bash("r1", "cat kilns.txt")), answered(2, "r1", f"{filling}The kiln of Delft stands here. {filling}")]
    lines = found(page(rows, profile(700))).split("\n")
    assert lines[1:3] == ["- Call bash: command: cat kilns.txt", lines[2]]
    assert lines[2].startswith("  Result: ")
    assert "The kiln of Delft stands here." in lines[2]
    assert "[…]" in lines[2]


def test_of_a_turn_with_more_calls_a_line_says_what_they_were() -> None:
    rows = [
        replied(1, "", bash("r1", "ls"), bash("r2", "pwd"), bash("r3", "df")),
        answered(2, "r2", "The kiln of Delft stands here."),
    ]
    assert found(page(rows)).endswith(
        "- Call bash: command: pwd\n  Result: The kiln of Delft stands here.\n- 2 calls: bash ls, bash df"
    )
    two = [replied(1, "", bash("r1", "ls"), bash("r2", "pwd")), failed(2, "r2", "The kiln of Delft does not stand.")]
    assert found(page(two)).endswith("- Call bash: command: pwd\n  Failed: The kiln of Delft does not stand.\n- 1 call: bash ls")


def test_a_result_whose_call_nobody_knows_is_found_by_itself() -> None:
    rows = [answered(1, "lost", "The kiln of Delft stands here.", "map")]
    assert found(page(rows)).endswith("- Tool map answered: The kiln of Delft stands here.")


def test_a_very_long_call_is_cut_above_what_was_found_of_its_result() -> None:
    rows = [replied(1, "", bash("r1", "echo " + "clay " * 600)), answered(2, "r1", "The kiln of Delft stands here.")]
    text = found(page(rows))
    assert "characters left out" in text
    assert text.endswith("  Result: The kiln of Delft stands here.")


def test_what_was_found_of_one_message_stands_together_and_is_the_whole_of_it_when_all_of_it_was_found() -> None:
    parts = [f"The kiln of Delft number {n} stands in the yard number {n}, " + "as we all know by now, " * 20 for n in range(4)]
    context = page([said(1, ". ".join(parts))], profile(4000))
    assert ids_of(context, "relevant") == ["m1"]
    assert "[…]" not in found(context)


def test_a_message_in_part_has_what_is_nearest_to_the_question_and_is_not_found_once_more() -> None:
    filling = "The harbour was calm and we walked along the quay. " * 100
    rows = [said(1, f"The head of it. {filling}The kiln of Delft stands here. {filling}The tail of it."), *chat(3, 2)]
    context = make_context(ASK, rows, make_two_sections(budget=1500, summaries=None, retrieval={"min_probability": None}))
    assert [part.id for part in context.partial] == ["m1"]
    for words in ("The head of it.", "The kiln of Delft stands here.", "The tail of it."):
        assert context.markdown.count(words) == 1
    assert context.tokens > 1400


def test_the_same_that_is_said_often_is_found_once_with_how_often() -> None:
    rows = [said(n, "The kiln of Delft stands here.") for n in (1, 2, 3)]
    context = page(rows)
    assert "- User: The kiln of Delft stands here. (said 3 times)" in found(context)
    assert {(omission.id, omission.reason) for omission in context.omissions} == {("m1", "repeat"), ("m2", "repeat")}


@pytest.mark.parametrize("limit", [1, 3])
def test_a_limit_of_a_schema_holds_also_while_there_is_room(limit: int) -> None:
    notes = [sent(n, "note.v1", {"content": f"A note on kiln number {n}, which is blue."}) for n in range(60, 70)]
    context = page([*kilns(10), *notes], profile(4000, per_schema_limit={"note.v1": limit}))
    shown = [int(name[1:]) for name in ids_of(context, "relevant")]
    assert sum(name >= 60 for name in shown) == limit
    assert sum(name < 60 for name in shown) == 10


def test_the_neighbours_of_a_find_come_with_it() -> None:
    rows = [said(1, "It rains in the north."), said(2, "The kiln of Delft stands here."), said(3, "It snows in the south.")]
    assert ids_of(page(rows, profile(min_probability=0.5)), "relevant") == ["m2"]
    assert ids_of(page(rows, profile(min_probability=0.5, neighbours=1)), "relevant") == ["m1", "m2", "m3"]


def test_what_shrinks_outside_of_the_conversation_does_so_with_its_id() -> None:
    letter = "The kiln of Delft. " + " ".join(f"Line {n} of the report." for n in range(200))
    rows = [replied(1, "", ("r1", "reader", {"path": "a"})), answered(2, "r1", letter, "reader")]
    rules = replace(make_two_sections().tool_output, old_tools=("reader",), old_characters=300)
    context = page(rows, replace(profile(6000), tool_output=rules))
    assert "characters left out, id m2 …]" in found(context)
    assert {part.id: part.reason for part in context.partial} == {"m2": "shrunk outside the conversation"}


def test_what_is_asked_word_for_word_as_before_is_not_found_beside_itself_but_its_answer_is() -> None:
    text = ASK.breadcrumb.text
    context = page([said(1, text), replied(2, "The kiln of Delft stands behind the church."), *kilns(5, 3)])
    assert text not in found(context)
    assert "behind the church" in found(context)


def test_a_result_that_shrinks_to_less_than_a_mark_is_a_line() -> None:
    rows = [replied(1, "", bash("r1", "cat kilns.txt")), answered(2, "r1", "The kiln of Delft stands here. " * 30)]
    wanted = profile()
    wanted = replace(wanted, tool_output=replace(wanted.tool_output, old_tools=("bash",), old_characters=5))
    context = page(rows, wanted)
    assert "  [bash: The kiln of Delft stands here." in found(context)
    assert {part.id: part.reason for part in context.partial} == {"m2": "shrunk outside the conversation"}


def test_small_talk_finds_nothing_and_a_search_of_the_profile_s_own_does() -> None:
    rows = [*kilns(5), *chat(2, 700, "on the weather")]
    for thanks in ("Thanks!", "ok", "Hi, how are you?", "Vielen Dank", "谢谢"):
        assert not ids_of(make_context(said(800, thanks), rows, profile()), "relevant")
    own = profile(query="custom", query_text="kiln")
    assert ids_of(make_context(said(800, "Thanks!"), rows, own), "relevant")


def test_each_find_says_how_probable_it_is_and_nothing_else_does() -> None:
    context = page(kilns(5))
    for part in context.sections:
        assert set(part.probability_by_id) == (set(part.ids) if part.name == "relevant" else set())
        assert all(0 < value <= 1 for value in part.probability_by_id.values())
    (relevant,) = (part for part in context.sections if part.name == "relevant")
    assert sum(relevant.probability_by_id.values()) <= 1


def test_what_shares_no_word_and_says_nothing_is_no_find() -> None:
    rows = [said(1, "Will do."), said(2, "Ninety coins a firing, wood included, as agreed with Anselm.")]
    assert ids_of(page(rows, profile()), "relevant") == ["m2"]


def test_a_result_whose_call_was_answered_again_later_is_no_find() -> None:
    rows = [
        *(replied(1, "", bash("r1", "cat kilns.txt")), answered(2, "r1", "The kiln of Delft stands here.")),
        *(replied(3, "", bash("r3", "cat kilns.txt")), answered(4, "r3", "The kiln of Delft stands there.")),
    ]
    text = found(page(rows))
    assert "stands there." in text
    assert "stands here." not in text


def test_a_later_passage_of_a_long_answer_has_its_heading() -> None:
    filling = "The harbour was calm and we walked along the quay. " * 40
    rows = [replied(1, f"{filling}\n\n## Kilns\n\n{filling}The kiln of Delft stands here. {filling}")]
    assert found(page(rows, profile(700, max_results=1))).startswith("[8 May 2024]\n- Assistant: […] ## Kilns […] The kiln")
