"""A conversation that does not fit: never empty, never too long, with true signs of what is missing, and the best of the rest."""

import re
from collections.abc import Hashable
from contextvars import copy_context
from dataclasses import replace
from itertools import count, pairwise
from typing import Any

import pytest

from builder.assemble.items.pending import PENDING_CHARS, READY, FragmentPending
from builder.domain.context import Context
from builder.domain.stored import StoredBreadcrumb
from builder.recall.questions import Questions
from tests.conversations import answered, bash, chat, conversation, ids_of, replied, requested, said, section, sent, undated
from tests.factories import make_context, make_profile, make_rendering

ASK = said(900, "Where does the red kiln of Delft stand?")
FACT = said(7, "The red kiln of Delft stands behind the church.")
TALK = chat(300, 20, "on tea and the weather")
ROWS = [FACT, *TALK]
LOG = "\n".join(f"{n}: the burner runs and the draught is open" for n in range(200))
COUNT = re.compile(r"\((\d+) of (\d+) messages (?:is|are) not shown, … where\)")


def page(rows: list[StoredBreadcrumb], asks: StoredBreadcrumb = ASK, **changes: Any) -> Context:
    return make_context(asks, rows, make_profile(**({"budget": 800} | changes)))


def signs(context: Context, rows: list[StoredBreadcrumb]) -> None:
    """The number on top and each sign of a conversation of single messages are true."""
    numbers = {row.breadcrumb.id: number for number, row in enumerate(rows)}
    places = [numbers[name] for name in ids_of(context, "conversation")]
    lines = undated(conversation(context)).split("\n")
    told = COUNT.fullmatch(lines[0])
    assert told
    assert (int(told[1]), int(told[2])) == (len(rows) - len(places), len(rows))
    holes = [after - before > 1 for before, after in pairwise([-1, *places])]
    items = (line for is_hole in holes for line in (["- …", "-"] if is_hole else ["-"]))
    assert [line if line == "- …" else line[:1] for line in lines[1:] if line.startswith("- ")] == [*items]


@pytest.mark.parametrize("worth", [None, 50_000, 5000])
@pytest.mark.parametrize("shape", ["none", "openai"])
def test_a_page_is_never_empty_never_too_long_and_its_signs_are_true(worth: int | None, shape: str) -> None:
    for budget in range(120, 1600, 130):
        context = page(ROWS, budget=budget, worth=worth, chat_format=shape)
        assert make_rendering().count(context.markdown) == context.tokens <= budget
        assert ids_of(context, "conversation")[-1] == "m319"
        signs(context, ROWS)


def test_a_page_whose_lines_on_calls_are_dearer_than_counted_is_full() -> None:
    words, rows = "窑很热。见到了鲍勃 星期六 不是 在代尔夫特", [said(1, "Go.")]
    for n in range(60):
        calls = [bash(f"r{n}-{k}", f"{n * 7 % 13}{words[k:]}{n}") for k in (0, 1)]
        rows.append(replied(2 + 3 * n, "Вот " + "не " * (n % 7), *calls))
        rows += [answered(3 + 3 * n + k, f"r{n}-{k}", "x y " * (5 + n % 11 * 6)) for k in (0, 1)]
    rules = replace(make_profile().tool_output, fold_at=0.05, fold_keep=0)
    context = page(rows, said(9000, "And now?"), budget=1600, tool_output=rules, worth=None)
    assert context.tokens > 0.9 * 1600


@pytest.mark.parametrize("shape", ["none", "openai"])
@pytest.mark.parametrize("output", ["done", LOG[:1500]])
def test_a_page_is_not_empty_where_long_calls_are_next_to_the_question(output: str, shape: str) -> None:
    script = "\n".join(f'print("{number}\\t\\"{number}\\"")' for number in range(40))
    rounds = [
        row
        for n in range(400, 460, 2)
        for row in (replied(n, "I run it.", bash(f"r{n}", f"{n} {script}")), answered(n + 1, f"r{n}", output))
    ]
    for budget in (1000, 2000, 4000):
        context = page([*ROWS, *rounds], said(900, "And now?"), budget=budget, chat_format=shape)
        assert ids_of(context, "conversation")
        assert context.tokens <= budget


def test_what_was_found_far_back_stands_in_the_conversation_behind_a_sign() -> None:
    rows = [*chat(5, words="on the birds"), *ROWS]
    context = page(rows)
    assert conversation(context).split("\n")[1:5] == [
        "[8 May 2024]",
        "- …",
        "- User: The red kiln of Delft stands behind the church.",
        "- …",
    ]
    signs(context, rows)


def test_a_question_that_is_found_brings_its_answer() -> None:
    rows = [said(3, "Where does the red kiln of Delft stand today?"), replied(4, "Behind the church."), *TALK]
    assert ids_of(page(rows), "conversation")[:2] == ["m3", "m4"]


def test_small_talk_finds_nothing_and_a_question_about_the_last_message_has_more_of_what_was_said_last() -> None:
    thanks, question, follow_up = (page(ROWS, said(900, text)) for text in ("Thanks!", ASK.breadcrumb.text, "What do you mean?"))
    assert "m7" not in ids_of(thanks, "conversation")
    assert "m7" in ids_of(question, "conversation")
    newest = [len(ids_of(context, "conversation")) for context in (question, follow_up)]
    assert newest[0] < newest[1]


def test_a_limit_of_a_schema_holds_in_one_conversation_too() -> None:
    notes = [sent(n, "note.v1", {"content": f"Note {n}: the red kiln of Delft is hot."}) for n in range(400, 420)]
    limited = page([*ROWS, *notes], budget=2000, worth=None, retrieval={"per_schema_limit": {"note.v1": 2}})
    assert len(ids_of(limited, "elsewhere")) == 2
    reason = "beyond the 2 most probable of note.v1"
    assert limited.left_out[reason] == 18
    assert len(ids_of(page([*ROWS, *notes], budget=2000, worth=None), "elsewhere")) > 2


def test_the_results_that_triggered_are_whole_where_they_have_room_and_the_question_is_below_them() -> None:
    rows = [*ROWS, said(400, "How hot is it?"), replied(401, "I look.", bash("r1", "cat log"))]
    roomy, tight = (page(rows, answered(402, "r1", LOG), budget=budget) for budget in (4000, 1000))
    assert section(roomy, "Tool results").endswith("199: the burner runs and the draught is open")
    assert "left out" not in section(roomy, "Tool results")
    assert "characters left out, id m402 …]" in section(tight, "Tool results")
    assert roomy.markdown.endswith("- User: How hot is it?\n")
    assert tight.tokens <= 1000


def test_earlier_rounds_of_the_running_turn_stand_with_its_results_and_not_in_the_conversation() -> None:
    rounds = [row for n in range(401, 441, 2) for row in (replied(n, "", bash(f"r{n}", f"job {n}")), answered(n + 1, f"r{n}", n))]
    rows = [*ROWS, said(400, "Which kiln is it?"), *rounds, replied(450, "", bash("last", "cat log"))]
    context = page(rows, answered(451, "last", "1200"))
    results = section(context, "Tool results")
    assert [int(number) for number in re.findall(r"job (4\d\d)", results)][-1] == 439
    assert results.endswith("- Call bash: command: cat log\n  Result: 1200")
    assert "job" not in conversation(context)
    assert ids_of(context, "current") == ["m400"]


def test_the_newest_result_is_there_before_older_messages_are() -> None:
    rows = [*ROWS, replied(400, "I look.", bash("r1", "cat log")), answered(401, "r1", LOG[:600]), said(402, "Hm.")]
    assert "  Result:" in conversation(page(rows, budget=900))
    assert conversation(page(rows, budget=900)).endswith("- User: Hm.")


def test_of_a_result_that_a_limit_folds_the_passage_that_was_found_stands_in_place() -> None:
    fact = "The red kiln of Delft stands behind the church."
    rows = [
        *chat(40),
        replied(400, "I look.", bash("r1", "cat log")),
        answered(401, "r1", f"{LOG}\n{fact}\n{LOG}"),
        *chat(9, 410),
    ]
    rules = replace(make_profile().tool_output, fold_at=0.01, fold_keep=0)
    context = page(rows, budget=4000, worth=None, tool_output=rules)
    assert fact in conversation(context)
    assert 0 < conversation(context).count("the burner runs") < 200
    assert "Remark 1 " in conversation(context), "the room goes to everything else"


@pytest.mark.parametrize("budget", [1260, 1320, 1380, 1440])
@pytest.mark.parametrize(("text", "times"), [("👩‍👩‍👧‍👦 🏴󠁧󠁢󠁥󠁮󠁧󠁿 ", 100), ("hello 👩‍👩‍👧‍👦🏴󠁧󠁢󠁥󠁮󠁧󠁿👩‍👩‍👧‍👦 ", 200)])
def test_what_is_left_of_a_page_goes_to_the_newest_long_message(text: str, times: int, budget: int) -> None:
    rows = [*chat(60), said(400, f"The plan: {text * times}"), said(405, f"A list: {text * (times + 37)}"), *chat(4, 510)]
    context = page(rows, said(900, "?"), budget=budget, worth=None)
    assert budget - 40 <= context.tokens <= budget


def reading(number: int, path: str) -> list[StoredBreadcrumb]:
    """A call by itself, and its long result."""
    return [requested(number, f"r{number}", "read", path=path), answered(number + 1, f"r{number}", f"{number} {LOG}", "read")]


def lines_on_calls(rounds: list[StoredBreadcrumb]) -> list[str]:
    context = page([*ROWS, *rounds, *chat(12, 500)], said(900, "And what about the roof?"), budget=700)
    assert context.tokens <= 700
    return [line for line in conversation(context).split("\n") if "read" in line]


def test_calls_of_which_nothing_is_asked_are_a_line() -> None:
    (line,) = lines_on_calls([row for number in range(400, 460, 2) for row in reading(number, f"src/kiln/a{number}.py")])
    assert re.fullmatch(r"- \d+ calls: (read a4\d\d\.py, ){5}…", line)


def test_a_call_that_was_made_again_later_is_no_more_than_a_part_of_such_a_line() -> None:
    assert len(lines_on_calls([row for number in range(400, 460, 2) for row in reading(number, f"src/a{number % 4}.py")])) == 1


def test_of_several_questions_none_stands_in_the_conversation_too() -> None:
    rows = [*ROWS, said(400, "How hot is it?"), replied(401, "", bash("r1", "cat log")), said(402, "And the red kiln of Delft?")]
    questions = Questions(ids=("m400", "m402"), current=("m400", "m402"))
    context = make_context(answered(403, "r1", "1200"), rows, make_profile(budget=800), questions=questions)
    assert ids_of(context, "current") == ["m400", "m402"]
    assert {"m400", "m402"}.isdisjoint(ids_of(context, "conversation"))


def test_what_a_limit_of_units_leaves_out_may_be_found() -> None:
    limited = page(ROWS, window={"max_units": 4, "trim_to": 4}, budget=4000)
    assert ids_of(limited, "conversation")[-4:] == ["m316", "m317", "m318", "m319"]
    assert "m7" in ids_of(limited, "conversation")
    assert "m315" not in ids_of(limited, "conversation")


def begun_again(ready: dict[Hashable, object]) -> tuple[Context, int]:
    """A page of which every fragment takes long, and how often it was begun again. ready: is given the fragments."""
    PENDING_CHARS.set(0)
    READY.set(ready)
    for number in count():
        try:
            return page(ROWS), number
        except FragmentPending as pending:
            ready |= {key: make() for key, make in pending.works.items()}
    raise AssertionError


def test_fragments_that_take_long_are_made_together() -> None:
    context, again = copy_context().run(begun_again, {})
    assert context == page(ROWS)
    assert again < len(ids_of(context, "conversation")) / 2
