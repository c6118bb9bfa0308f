"""Which instructions hold as of a message, and why the others do not."""

import pytest

from builder.domain.stored_breadcrumb import StoredBreadcrumb
from builder.recall.search.instructions import ActiveInstructions, active_instructions
from tests.conversations import chat, said
from tests.factories import make_terms, make_view

ASK = said(800, "And now?").breadcrumb


def active(*rows: StoredBreadcrumb) -> ActiveInstructions:
    return active_instructions(make_view(rows), ASK, make_terms)


def test_where_nobody_instructs_nothing_holds() -> None:
    assert active(*chat(6)) == ActiveInstructions()


@pytest.mark.parametrize(
    "wish", ["Always answer in English.", "Antworte bitte immer auf Deutsch.", "Responde siempre en español."]
)
def test_an_instruction_holds_however_long_ago_it_was_given(wish: str) -> None:
    (find,) = active(said(1, wish), *chat(40, 2)).instructions
    assert find.row == 0


def test_the_sentence_that_instructs_is_shown_of_a_long_message() -> None:
    text = f"{'The kiln is hot and the glaze is wet. ' * 30}Never use emojis. {'The shelf is full. ' * 30}"
    (find,) = active(said(1, text)).instructions
    ((start, end),) = find.spans
    assert "Never use emojis." in text[start:end]
    assert end - start < len(text) // 2
