"""The schema of a context has the types that the formats of the installed extras give its messages."""

from typing import Any

import pytest
from pydantic import TypeAdapter

from builder.app import context_event
from builder.app.context_event import AgentContextV1
from builder.domain.page_format import PageFormat
from builder.extras.chat_formats.formats import FORMATS
from builder.publish.event import ContextEvent


def messages_of(event: type[ContextEvent]) -> Any:
    return event.model_json_schema(mode="serialization")["properties"]["messages"]["anyOf"]


def test_messages_are_those_of_one_of_the_formats_or_lacking() -> None:
    *arrays, nothing = messages_of(AgentContextV1)
    assert nothing == {"type": "null"}
    assert [each["items"].get("$ref") for each in arrays[:2]] == ["#/$defs/MessageOpenAI", "#/$defs/MessageAnthropic"]
    assert len(arrays[2]["items"]["anyOf"]) == 3
    assert messages_of(ContextEvent) == [{"items": {}, "type": "array"}, nothing]


@pytest.mark.parametrize("formats", [{}, {"openai": FORMATS["openai"]}])
def test_only_installed_formats_are_in_it(monkeypatch: pytest.MonkeyPatch, formats: dict[str, PageFormat]) -> None:
    monkeypatch.setattr(context_event, "additions", lambda _kind: formats)
    assert len(messages_of(AgentContextV1)) == 1 + len(formats)


def test_a_description_that_has_the_event_twice_defines_it_once() -> None:
    both = TypeAdapter(tuple[AgentContextV1, AgentContextV1]).json_schema(mode="serialization")
    assert both["prefixItems"] == [{"$ref": "#/$defs/AgentContextV1"}] * 2
