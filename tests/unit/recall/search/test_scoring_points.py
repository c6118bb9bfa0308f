"""What is written as the query writes it has points; further passages of a message lose some."""

# ruff: noqa: RUF001 - words of many scripts

import numpy as np
import pytest

from builder.domain.stored import StoredBreadcrumb
from builder.recall.search.scoring import FURTHER, MAX_FURTHER, POINTS, exact, further
from tests.conversations import answered, bash, failed, replied
from tests.factories import (
    make_query,
    make_view,
)
from tests.searches import BLAND


def points(question: str, *rows: StoredBreadcrumb | str) -> list[float]:
    """Of the last rows, after bland ones."""
    view = make_view([*BLAND, *rows])
    return [float(value) for value in exact(make_query(question), view)[-len(rows) :]]


@pytest.mark.parametrize(
    ("question", "right", "wrong"),
    [
        ("What was ticket OPS-4471 about?", "OPS-4471 is the leak.", "OPS-447 is the roof, 4471 the fence."),
        ("Wer hat conf/app.yaml geändert?", "Priya hat conf/app.yaml umgebaut.", "Priya hat die App und yaml umgebaut."),
        ("¿Qué pasó el 2026-03-14?", "El 2026-03-14 llegó el horno.", "El 2026-03-15 no pasó nada."),
        ("Что с заказом А-17?", "Заказ А-17 готов.", "Заказ А-18 готов."),
    ],
)
def test_what_is_written_as_in_the_question_has_points_unlike_what_resembles_it(question: str, right: str, wrong: str) -> None:
    assert points(question, wrong, right) == [0, POINTS]


def test_an_identifier_that_is_everywhere_tells_nothing_apart() -> None:
    rows = [f"Batch 12 has plate number {n} of the whole kiln." for n in range(100, 140)]
    assert not any(points("What is in batch 12?", *rows))


def test_a_question_for_failures_has_points_for_what_failed() -> None:
    rows = [replied(90, "", bash("r1", "make"), bash("r2", "ls")), failed(91, "r1", "no rule"), answered(92, "r2", "kiln.txt")]
    view = make_view([*BLAND, *rows])
    assert float(exact(make_query("Which command failed?"), view)[-2]) == POINTS
    assert not exact(make_query("Which command was it?"), view).any()


def test_further_passages_of_a_message_come_later() -> None:
    view = make_view(
        [" ".join(f"We saw the harbour {'a' * place} and walked on along the river." for place in range(60)), *BLAND]
    )
    lost = further(view, np.arange(view.passages, 0, -1, dtype=np.float32))
    number = view.history.passages.first(1)
    assert lost[:number].tolist() == [min(place, MAX_FURTHER) * FURTHER for place in range(number)]
    assert not lost[number:].any()


def test_a_line_of_a_log_shares_its_chance_with_the_lines_of_its_form_alone() -> None:
    lines = [f"2026-03-02 09:{minute:02}:01 INFO kiln {minute} is at rest and burns no gas at all now" for minute in range(40)]
    lines[20] = "2026-03-02 09:20:01 ERROR the fan of kiln 20 stands still and its door is open"
    rows = [replied(90, "", bash("r1", "tail kiln.log"), bash("r2", "tail kiln.log"))]
    rows += [answered(91, "r1", "\n".join(lines)), answered(92, "r2", "\n".join(lines))]
    view = make_view([*BLAND, *rows])
    lost = further(view, np.zeros(view.passages, np.float32))[view.history.passages.first(len(BLAND) + 1) :]
    assert lost[20] == 0
    assert lost[21] == pytest.approx(np.log(38)), "the first one has its tool's name before it; what came twice counts once"


def test_nothing_was_said() -> None:
    view = make_view([])
    assert not len(further(view, np.zeros(0, np.float32)))
    assert not len(exact(make_query("OPS-4471?"), view))
