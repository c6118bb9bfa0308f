"""Synthetic messages for the benchmarks of time and memory: distinct texts, so that no cache has them."""

import json
import random
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime, timedelta

import numpy as np

from builder.app.components import Components
from builder.domain.breadcrumb import Breadcrumb, Place
from builder.domain.stored import Passage, StoredBreadcrumb
from builder.extras.demo.sample import sample_lines
from builder.language.wording import fingerprint
from builder.remember.decode import decode
from builder.remember.memory import passages
from builder.wire.records import make_record, outgoing

WORKSPACE = "bench"
REAL_MESSAGES = 200
"""Messages with vectors of their own; further ones mix two of these."""
START = datetime(2026, 1, 5, 9, tzinfo=UTC)
DISTINCT_MESSAGES = 600
"""Messages with vectors of their own; further ones mix two of these, since their time and not their meaning is measured."""


def texts(number: int, first: int = 0) -> list[str]:
    """Distinct messages: two sentences of the sample's, joined with a number that counts from `first`."""
    choosing, sentences = random.Random(11 + first), _sentences()
    return [
        f"{choosing.choice(sentences)} {choosing.choice(sentences)} (order {count})" for count in range(first, first + number)
    ]


def message(session: str, number: int, text: str) -> Breadcrumb:
    """The message of this number; people and agents take turns."""
    schema = "agent.response.v1" if number % 2 else "user.message.v1"
    return breadcrumb(session or "none", f"made{number}", text, Place(1, number + 1), schema)


def breadcrumb(session: str, identity: str, text: str, place: Place, schema: str) -> Breadcrumb:
    """As decoded from the stream, a minute after the one before."""
    moment = START + timedelta(minutes=place.sequence)
    record = make_record(schema, identity, session, {"content": text}, created_at=moment)
    return decode(outgoing(record, WORKSPACE).arrive(place, moment))


def sized_texts(sizes: Iterable[int], first: int = 0) -> Iterator[str]:
    """Distinct messages of sentences of the sample. sizes: characters of each, at least. first: number of the first one."""
    choosing, sentences = random.Random(13 + first), _sentences()
    for number, size in enumerate(sizes, first):
        words = [f"(order {number})"]
        while sum(map(len, words)) + len(words) <= size:
            words.append(choosing.choice(sentences))
        yield " ".join(reversed(words))


def _sentences() -> list[str]:
    records = [json.loads(line)["context"] for line in sample_lines()]
    return [text for body in records if (text := body.get("content") or body.get("message")) and isinstance(text, str)]


async def mixer(core: Components) -> Callable[[Breadcrumb], StoredBreadcrumb]:
    """Stores a breadcrumb with its own words and a vector between two of REAL_MESSAGES."""
    real = [await core.builder.ingest.facts(message("", number, text)) for number, text in enumerate(texts(REAL_MESSAGES))]
    choosing = random.Random(7)
    return lambda crumb: mixed(core, crumb, choosing.choice(real), choosing.choice(real))


def mixed(core: Components, crumb: Breadcrumb, first: StoredBreadcrumb, second: StoredBreadcrumb) -> StoredBreadcrumb:
    """A breadcrumb with its own words and a vector between two real ones, which all its passages have."""
    vectors = [np.frombuffer(fact.passages[0].vector, "<f2").astype(np.float32) for fact in (first, second)]
    between = vectors[0] + vectors[1]
    vector = (between / np.linalg.norm(between)).astype("<f2").tobytes()
    parts = [(start, stop, crumb.text[start:stop]) for start, stop in passages(crumb.text)]
    spans = [Passage(start, stop, core.helpers.terms(part), vector, core.helpers.count(part)) for start, stop, part in parts]
    return StoredBreadcrumb(breadcrumb=crumb, passages=tuple(spans), model=first.model, fingerprint=fingerprint(crumb.text))
