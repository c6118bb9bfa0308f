"""Definitions are a function of the stream in front of a message, and cost the store nothing while none comes."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from builder.domain.breadcrumb import Place, StreamMessage
from builder.domain.recall import Recall, RecallQuery
from tests.conversations import message_of
from tests.examples import examples
from tests.factories import MORNING, make_place
from tests.ports import MemoryStream, make_log
from tests.stores import DurableStore


class CountingStore(DurableStore):
    """reads: how often it was asked for definitions."""

    def __init__(self) -> None:
        super().__init__()
        self.reads = 0

    async def recall(self, query: RecallQuery) -> Recall:
        self.reads += 1
        return await super().recall(query)


class DistantStream(MemoryStream):
    """Its answers take time, in which others wait."""

    async def walk(
        self, workspace: str, session: str, after: Place, until: Place, schema: str = ""
    ) -> AsyncIterator[StreamMessage]:
        await asyncio.sleep(0)
        async for message in super().walk(workspace, session, after, until, schema):
            yield message


class Bench:
    """A worker's reader over these messages."""

    def __init__(self, *messages: StreamMessage) -> None:
        self.stream, self.store = DistantStream(messages), CountingStore()
        self.log = make_log(self.stream, self.store)

    async def versions(self, place: int, seconds: float = 0) -> dict[str, int]:
        """Id → version in front of a place."""
        definitions = await self.log.definitions("acme", make_place(place), MORNING + timedelta(seconds=seconds))
        return {each.id: each.version for each in definitions}


def agent(sequence: int, version: int = 1, name: str = "a", **record: Any) -> StreamMessage:
    return message_of(sequence, "agent.def.v1", {"agent_id": name}, "_", id=name, version=version, **record)


def note(sequence: int) -> StreamMessage:
    return message_of(sequence, "note.v1", {"content": f"Note {sequence}."}, "_")


def gone(sequence: int, name: str = "a") -> StreamMessage:
    return message_of(sequence, "breadcrumb.deleted.v1", {"breadcrumb_id": name}, "_")


async def test_a_definition_holds_for_what_comes_behind_it_until_the_next_version_or_its_end() -> None:
    bench = Bench(agent(2), agent(5, 2), gone(8))
    assert [await bench.versions(place) for place in (1, 2, 3, 5, 6, 8, 9)] == [{}, {}, *[{"a": 1}] * 2, *[{"a": 2}] * 2, {}]
    assert await bench.versions(4) == {"a": 1}, "a message that comes again"


async def test_the_store_is_asked_once_while_no_definition_comes() -> None:
    bench = Bench(agent(1), *(note(number) for number in range(2, 40)))
    for place in range(40, 80):
        assert await bench.versions(place) == {"a": 1}
    assert bench.store.reads == 1
    bench.stream.messages.append(note(80))
    assert await bench.versions(81) == {"a": 1}
    assert bench.store.reads == 1
    bench.stream.messages.append(agent(82, 2))
    assert await bench.versions(83) == {"a": 2}
    assert bench.store.reads == 2


async def test_the_stream_is_asked_once_for_all_messages_that_this_worker_has_heard_of() -> None:
    bench = Bench(agent(1))
    await bench.versions(2)
    await bench.versions(100)
    bench.stream.reads.clear()
    for place in range(3, 100):
        await bench.versions(place)
    assert bench.stream.reads == []


async def test_a_backlog_is_looked_at_once() -> None:
    bench = Bench(agent(1), *(message_of(number, "user.message.v1", {"content": "Hello."}) for number in range(2, 200)))
    await bench.versions(2)
    bench.stream.reads.clear()
    versions = await asyncio.gather(*(bench.versions(place) for place in range(3, 20)))
    assert versions == [{"a": 1}] * 17
    for place in range(20, 200):
        assert await bench.versions(place) == {"a": 1}
    assert len(bench.stream.reads) <= 2, "the first message, and all others"


async def test_another_schema_under_the_id_of_a_definition_does_not_end_it() -> None:
    bench = Bench(agent(1), message_of(3, "note.v1", {"content": "No agent any more."}, "_", id="a", version=2))
    assert [await bench.versions(place) for place in (2, 4)] == [{"a": 1}, {"a": 1}]


async def test_a_definition_that_expires_ends_by_the_time_of_the_message() -> None:
    bench = Bench(agent(1, ttl=(MORNING + timedelta(seconds=60)).isoformat()))
    assert await bench.versions(2, seconds=59) == {"a": 1}
    assert await bench.versions(3, seconds=60) == {}


async def test_what_was_erased_is_read_again() -> None:
    bench = Bench(agent(1))
    assert await bench.versions(2) == {"a": 1}
    await bench.store.erase("acme", "_", "a", make_place(9))
    bench.log.drop("acme")
    assert await bench.versions(3) == {}
    assert list(bench.log.latest_definitions("acme")) == [()]


EVENTS = st.lists(st.sampled_from(["a", "b", "gone a", "gone b", "note", "say"]), max_size=25)


def stream_of(events: list[str]) -> list[StreamMessage]:
    versions = {"a": 0, "b": 0}
    messages = []
    for sequence, event in enumerate(events, 1):
        if event in versions:
            versions[event] += 1
            messages.append(agent(sequence, versions[event], event))
        elif event.startswith("gone"):
            messages.append(gone(sequence, event[-1]))
        elif event == "note":
            messages.append(note(sequence))
        else:
            messages.append(message_of(sequence, "user.message.v1", {"content": "Hello."}))
    return messages


@examples(60)
@given(events=EVENTS, data=st.data())
async def test_workers_agree_whatever_order_messages_reach_them_in(events: list[str], data: st.DataObject) -> None:
    messages = stream_of(events)
    places = data.draw(st.lists(st.integers(1, len(events) + 1), max_size=20))
    bench = Bench(*messages)
    answers = await asyncio.gather(*(bench.versions(place) for place in places[:8])) if places else []
    answers += [await bench.versions(place) for place in places[8:]]
    assert answers == [await Bench(*messages).versions(place) for place in places]
