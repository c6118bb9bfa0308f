"""`bench plan`: bytes of messages in a real stream and a real store, and what they predict beside a replay of other lengths."""

import asyncio
import random
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any, NamedTuple, TypeVar

from nats.js import JetStreamContext

from builder.app.components import Components
from builder.bench.data.synthetic import WORKSPACE, message, mixer, sized_texts
from builder.bench.speed.memory import CONSUMER
from builder.connection.names import MESSAGE_ID_HEADER, REPLAY_HEADER
from builder.domain.breadcrumb import Breadcrumb, Place
from builder.domain.stored import StoredBreadcrumb
from builder.publish.event import encode
from builder.wire.records import make_record, outgoing

SHORT_MEDIAN, LONG_MEDIAN, REPLAY_MEDIAN = 4.4, 6.1, 5.2
"""Logarithms of the median length in the two runs that the constants come from, and in the replay: 80, 450 and 180 characters."""
SPREAD, MAX_CHARS = 0.9, 4_000
"""Lengths are log-normal, as those of what people and agents write."""
SESSION_MESSAGES = 100
BATCH_MESSAGES, PUBLICATIONS = 5_000, 500
CONTEXTS = 20


Item = TypeVar("Item")


class Size(NamedTuple):
    """What is stored so far."""

    messages: int = 0
    text_bytes: int = 0
    passages: int = 0
    stream_bytes: int = 0
    store_bytes: int = 0

    def minus(self, other: "Size") -> "Size":
        """What came since."""
        return Size(*(now - before for now, before in zip(self, other, strict=True)))


@dataclass(slots=True)
class Filler:
    """Stores and publishes messages."""

    core: Components
    js: JetStreamContext
    stream: str
    mix: Callable[[Breadcrumb], StoredBreadcrumb]
    step: Callable[[], None]
    size: Size = field(default_factory=Size)

    async def fill(self, lengths: Iterable[int]) -> Size:
        """Add a message of each length; what they took."""
        before = self.size
        for lines in _batches(sized_texts(lengths, before.messages), BATCH_MESSAGES):
            crumbs = [_crumb(number, text) for number, text in enumerate(lines, self.size.messages)]
            rows = tuple(map(self.mix, crumbs))
            await self.core.store.remember_all(rows)
            for part in _batches(iter(crumbs), PUBLICATIONS):
                await asyncio.gather(*map(self._publish, part))
            info = await self.js.stream_info(self.stream)
            self.size = Size(
                self.size.messages + len(lines),
                self.size.text_bytes + sum(len(text.encode()) for text in lines),
                self.size.passages + sum(len(row.passages) for row in rows),
                info.state.bytes,
            )
            self.step()
        await self.core.store.vacuum(frozenset({""}))  # of nothing: what was written is in the file afterwards
        await self.core.store.check()  # a shared store is measured by it
        self.size = self.size._replace(store_bytes=self.core.store.size_bytes())
        return self.size.minus(before)

    async def _publish(self, crumb: Breadcrumb) -> None:
        event = outgoing(make_record(crumb.schema, crumb.id, crumb.session, {"content": crumb.text}), WORKSPACE)
        headers = {MESSAGE_ID_HEADER: event.message_id, REPLAY_HEADER: "1"}
        await self.js.publish(event.subject, event.data, stream=self.stream, headers=headers)


async def run(core: Components, js: JetStreamContext, stream: str, messages: int, step: Callable[[], None]) -> dict[str, Any]:
    """A fifth of the messages is short, a fifth long; the rest is what they predict. step: each batch."""
    filler = Filler(core, js, stream, await mixer(core), step)
    empty = await filler.fill(())
    short, long = [await filler.fill(_lengths(messages // 5, median)) for median in (SHORT_MEDIAN, LONG_MEDIAN)]
    constants = {
        **_line("stream_bytes", short, long),
        **_line("store_bytes", short, long),
        **_line("passages", short, long),
        "context_bytes": round(await _context_bytes(core, messages)),
    }
    replayed = await filler.fill(_lengths(messages - 2 * (messages // 5), REPLAY_MEDIAN))
    predicted = {
        part: replayed.messages * constants[f"{part}_per_message"] + replayed.text_bytes * constants[f"{part}_per_text_byte"]
        for part in ("stream_bytes", "store_bytes", "passages")
    }
    return {
        "messages": filler.size.messages,
        "empty_store_bytes": empty.store_bytes,
        "constants": constants,
        "replay": {
            part: {
                "messages": replayed.messages,
                "text_bytes": round(replayed.text_bytes / replayed.messages, 1),
                "predicted": round(predicted[part]),
                "measured": (measured := getattr(replayed, part)),
                "ratio": round(measured / predicted[part], 3),
            }
            for part in predicted
        },
    }


def steps(messages: int) -> int:
    """Calls of `step`."""
    fifth = messages // 5
    return sum(-(-number // BATCH_MESSAGES) for number in (fifth, fifth, messages - 2 * fifth))


def _batches(items: Iterator[Item], most: int) -> Iterator[tuple[Item, ...]]:
    return iter(lambda: tuple(islice(items, most)), ())


def _crumb(number: int, text: str) -> Breadcrumb:
    session = f"plan-{number // SESSION_MESSAGES}"
    return replace(message(session, number, text), id=f"m{number}")


def _lengths(messages: int, median: float) -> Iterator[int]:
    choosing = random.Random(messages)
    return (min(MAX_CHARS, round(choosing.lognormvariate(median, SPREAD))) for _ in range(messages))


def _line(part: str, short: Size, long: Size) -> dict[str, float]:
    """What a message takes: so much, and so much for each byte of its text."""
    (low, first), (high, second) = (
        (size.text_bytes / size.messages, getattr(size, part) / size.messages) for size in (short, long)
    )
    factor = (second - first) / (high - low)
    return {f"{part}_per_message": round(first - factor * low, 3), f"{part}_per_text_byte": round(factor, 6)}


async def _context_bytes(core: Components, messages: int) -> float:
    """Mean of contexts whose page is full, in the sessions of long messages."""
    sizes = []
    for number in range(min(CONTEXTS, max(1, messages // 5 // SESSION_MESSAGES))):
        session = (messages // 5) // SESSION_MESSAGES + 1 + number
        trigger = replace(
            message(f"plan-{session}", 2 * number, f"Which order was late, and why? (question {number})"),
            id=f"asked-{number}",
            place=Place(1, 10 * messages + number),
        )
        built = await core.builder.build(trigger, (core.profile(CONSUMER),))
        sizes += [len(encode(context)) for context in built.contexts]
    return sum(sizes) / len(sizes)
