"""The summarising loop on a store, without a bus: what it publishes is remembered at once, or when the test says so."""

from collections.abc import Callable
from dataclasses import replace
from itertools import count

from builder.adapters.terms import load_language
from builder.adapters.tokens import load_counter
from builder.domain.breadcrumb import Arrival, Breadcrumb, Place
from builder.domain.profile import Profile, Summaries
from builder.pipeline.extract import Words
from builder.ports import Summarizer
from builder.service import ContextBuilder
from builder.summarising import Sources, Summarising
from builder.wire.inbound import decode
from tests.factories import MORNING, make_profile, make_terms

COUNT = load_counter("o200k_base")
WORDS = Words(terms=make_terms, count=COUNT)


def summing(name: str = "default", **changes: object) -> Profile:
    """A profile whose summaries begin early. changes: of the summaries."""
    settings = Summaries(messages=6, tokens=None, keep=4, batch=3, cap=60, by="extractive")
    return make_profile(name, summaries=replace(settings, **changes))  # type: ignore[arg-type]


class Publishing:
    """Takes what is published, with places from `first` on. remembering: False = it stays in `out` until `arrive`."""

    def __init__(self, builder: ContextBuilder, first: Place, remembering: bool = True) -> None:
        self._builder = builder
        self._places = (Place(first.incarnation, first.sequence + n) for n in count())
        self.remembering = remembering
        self.out: list[Breadcrumb] = []

    async def put(self, subject: str, data: bytes, _message_id: str) -> int:
        place = next(self._places)
        crumb = decode(Arrival(subject=subject, data=data, place=place, received_at=MORNING, replay=True))
        self.out.append(crumb)
        if self.remembering:
            await self._builder.remember(crumb)
        return place.sequence


def make_summarising(
    builder: ContextBuilder,
    publishing: Publishing,
    *profiles: Profile,
    endpoint: Summarizer | None = None,
    made: Callable[[str], None] = lambda _by: None,
) -> Summarising:
    """The loop for these profiles; everything counts as caught up."""

    async def walk(*_: object) -> None: ...

    async def last() -> Place:
        return publishing.out[-1].place if publishing.out else Place(2**62, 0)

    sources = Sources(view=builder.view, walk=walk, last=last)
    return Summarising(sources, publishing.put, profiles, WORDS, load_language(), endpoint, lambda: False, made)
