"""What an import has published before, and what was forgotten since."""

import json

from builder.chat_files.reader import FileEvent, read_file
from builder.domain.breadcrumb import Place
from builder.extras.operations.export import StreamContent
from builder.remember.decode import decode
from tests.factories import MORNING


def event_of(**message: str) -> FileEvent:
    (event,) = read_file([json.dumps({"role": "user", "content": "Me!", **message})], "acme", "s1").events
    return event


def has(content: StreamContent, event: FileEvent) -> bool:
    return content.has(event, decode(event.event.arrive(Place(1, 1), MORNING)))


def test_what_was_forgotten_under_the_id_of_an_earlier_release_does_not_come_back() -> None:
    event = event_of(id="m1")
    assert event.former == "m1"
    assert not has(StreamContent(), event)
    assert has(StreamContent(tombstones={("acme", "s1", "m1"): {"acme:t1:1"}}), event)
    assert not has(StreamContent(tombstones={("acme", "s1", "m2"): {"acme:t1:1"}}), event)
