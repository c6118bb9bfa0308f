"""The formats as the house gets them: found by their entry points, and a copy with its fields and tokens."""

import json

import pytest
from pydantic import TypeAdapter

from builder.extra import additions, extras
from builder.extras.chat_formats.formats import FORMATS
from builder.publish.event import encode
from tests.conversations import answered, bash, replied, said
from tests.factories import make_context, make_profile

ROWS = [said(1, "Which kiln?"), replied(2, "I look.", bash("r1", "ls")), answered(3, "r1", "the blue one")]
ASK = said(9, "And how hot?")
NAMES = list(FORMATS)


def test_the_formats_are_found_by_the_entry_point() -> None:
    assert extras()["chat_formats"].page_formats() is FORMATS
    assert list(additions("page_formats", ("none",))) == NAMES == ["openai", "anthropic", "responses"]


@pytest.mark.parametrize("name", NAMES)
def test_a_copy_has_the_fields_of_its_types_and_they_are_those_of_the_event(name: str) -> None:
    copy = make_context(ASK, ROWS, make_profile(chat_format=name)).copy
    assert copy
    assert copy.tokens > 0
    assert copy.fields().keys() == FORMATS[name].types.keys()
    event = json.loads(encode(make_context(ASK, ROWS, make_profile(chat_format=name))))
    for field, kind in FORMATS[name].types.items():
        TypeAdapter(kind).validate_json(json.dumps(event[field]))
    assert {"system", "messages"} & event.keys() == copy.fields().keys()


def test_a_page_without_a_format_has_no_copy() -> None:
    context = make_context(ASK, ROWS)
    assert context.copy is None
    assert not {"system", "messages"} & json.loads(encode(context)).keys()
