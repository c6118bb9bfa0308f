"""Each breadcrumb of a session by how much of it is on the page."""

from collections import Counter
from dataclasses import replace

from builder.assemble.assemble import context_of
from builder.domain.tool_output import Cut
from builder.extras.explain.cells import Strip
from builder.extras.explain.strip import strip_of
from tests.conversations import answered, bash, replied, said
from tests.factories import MODEL, make_assembly, make_profile, make_remembered

QUESTION = make_remembered("Where is the blue kiln?", 900)


def states(strip: Strip) -> dict[str, str]:
    return {cell.id: cell.state for cell in strip.cells}


def test_a_session_that_fits_is_whole_and_its_last_cell_is_the_question() -> None:
    rows = [said(1, "The blue kiln is in the yard."), replied(2, "I look.", bash("r1", "ls")), answered(3, "r1", "files")]
    assembly = make_assembly(QUESTION, rows)
    strip = strip_of(assembly, 100)
    assert states(strip) == {"m1": "whole", "m2": "whole", "m3": "whole", "m900": "whole"}
    assert list(states(strip))[-1] == "m900"
    assert all(cell.tokens > 0 and cell.tokens_shown > 0 for cell in strip.cells)


def test_what_was_found_and_what_is_missing_are_told_apart_and_add_up_to_the_page() -> None:
    rows = [
        said(1, "The blue kiln stands in the yard."),
        *(said(n, f"Number {n}: the weather was fine.") for n in range(10, 200)),
    ]
    assembly = make_assembly(QUESTION, rows, make_profile(budget=400))
    context = context_of(assembly, MODEL)
    strip = strip_of(assembly, 1000)
    assert states(strip)["m1"] == "found"
    ids = {name for section in context.sections for name in section.ids}
    assert {cell.id for cell in strip.cells if cell.state != "not"} == ids
    assert Counter(states(strip).values())["not"] == sum(context.left_out.values())
    assert {cell.id: cell.tokens_shown for cell in strip.cells if cell.tokens_shown} == {
        name: tokens for section in context.sections for name, tokens in section.tokens_by_id.items()
    }


def test_what_is_cut_is_there_in_part() -> None:
    rules = replace(make_profile().tool_output, cut=Cut(results=1, characters=100))
    rows = [replied(1, "", bash("r1", "ls")), answered(2, "r1", ["one " + "x" * 50, "two " + "y" * 50])]
    assembly = make_assembly(QUESTION, rows, make_profile(tool_output=rules))
    assert states(strip_of(assembly, 9))["m2"] == "part"


def test_only_the_newest_are_listed_and_the_others_counted() -> None:
    rows = [said(n, f"Number {n}.") for n in range(1, 21)]
    assembly = make_assembly(QUESTION, rows)
    whole, few = strip_of(assembly, 100), strip_of(assembly, 5)
    assert (few.cells, few.earlier) == (whole.cells[-5:], 16)
    assert (len(whole.cells), whole.earlier) == (21, 0)
