"""Forms, and the reason of each line."""

from typing import get_args

from builder.assemble.items.forms import FOLD_REASON, LINE_REASONS, Line, RenderForm
from tests.conversations import answered, bash, replied
from tests.pages import make_writer


def test_every_line_has_a_reason_of_its_own_and_what_is_more_than_a_line_has_none() -> None:
    assert LINE_REASONS.keys() == set(get_args(Line))
    assert len(set(LINE_REASONS.values())) == len(LINE_REASONS)
    assert LINE_REASONS[""] == ""
    assert LINE_REASONS["folded"] == FOLD_REASON


def test_a_result_in_the_form_of_a_line_is_one_line_with_its_reason() -> None:
    writer = make_writer([replied(1, "I look.", bash("r1", "ls")), answered(2, "r1", "a\nb\nc")])
    for line, reason in LINE_REASONS.items():
        fragment = writer.fragment(writer.view.breadcrumb(1), RenderForm(answer=True, line=line))
        assert fragment.reduced == reason
        assert ("\n" in fragment.text.strip()) == (not line)
