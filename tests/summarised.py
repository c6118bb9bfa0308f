"""The summarising loop on a store, without a bus: what it publishes is remembered at once, or when the test says so."""

import json
from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime
from itertools import count
from typing import Any, cast

from typing_extensions import override

from builder.adapters.tokens import load_counter
from builder.domain.breadcrumb import SUMMARY, Breadcrumb, Place, StreamMessage
from builder.domain.errors import Unavailable
from builder.domain.page_settings import Summaries
from builder.domain.profile import Profile
from builder.domain.stored import StoredBreadcrumb
from builder.domain.summary import KeptLine, Utterance
from builder.extra import SummaryModel
from builder.extras.summaries.chain import covered_sources
from builder.extras.summaries.extraction import extract
from builder.extras.summaries.scheduler import MAX_UNITS, SummaryScheduler
from builder.extras.summaries.writer import MAX_SUMMARY_BYTES, SummaryWriter
from builder.ports.models import Summarizer
from builder.ports.store import Store
from builder.recall.histories import HistoryCache
from builder.recall.summaries.recipes import Recipe, recipe_of
from builder.remember.decode import decode
from builder.remember.schemas.blacklist import excluded
from builder.service import ContextBuilder, Functions
from builder.worker.jobs import Observer
from builder.worker.log import StoredLog
from tests.conversations import sent
from tests.factories import BY_HAND, MORNING, make_breadcrumb, make_place, make_remembered, make_rendering, make_terms, make_view
from tests.hashing_embedder import HashingEmbedder
from tests.stores import DurableStore, durable_store
from tests.two_sections import two_sections

COUNT = load_counter("o200k_base")
WORDS = Functions(terms=make_terms, count=COUNT, renderings={}, ranker=BY_HAND, excluded=excluded)


def summing(name: str = "default", **changes: object) -> Profile:
    """A profile of two sections, whose pages have summaries, and these begin early. changes: of the summaries."""
    settings = Summaries(max_pending=6, tokens=None, keep=4, batch=3, cap=60, by="extractive")
    return replace(two_sections(name), summaries=replace(settings, **changes))  # type: ignore[arg-type]


PROFILE = summing()
RECIPE = cast("Recipe", recipe_of(PROFILE))


def stored_summary(sequence: int, covers: tuple[str, ...], previous: str = "", **body: Any) -> StoredBreadcrumb:
    """Of `PROFILE`, with a line for each message. body: other fields."""
    lines = [{"text": f"User: {name}.", "day": "8 May 2024", "ids": [name], "versions": [1]} for name in covers]
    fields = {"lines": lines, "covered": covers, "last": covers[-1], "recipe": RECIPE.name, "previous": previous}
    return sent(sequence, SUMMARY, fields | body)


class Publishing:
    """Takes what is published, with places from `first` on, all at one moment. remembering: False = it stays in `out`.

    hours: that a summary lives; None = for ever.
    """

    def __init__(
        self,
        builder: ContextBuilder,
        first: Place,
        remembering: bool = True,
        moment: datetime = MORNING,
        hours: float | None = None,
    ) -> None:
        self._builder = builder
        self._places = (Place(first.incarnation, first.sequence + n) for n in count())
        self._moment = moment
        self._lifetimes = {} if hours is None else {SUMMARY: hours}
        self.remembering = remembering
        self.out: list[Breadcrumb] = []

    async def send(self, subject: str, data: bytes, message_id: str, *, triggers: bool = False) -> StreamMessage:  # noqa: ARG002 - the port's
        sent = StreamMessage(subject=subject, data=data, place=next(self._places), received_at=self._moment, replay=True)
        crumb = decode(sent, lifetimes=self._lifetimes)
        self.out.append(crumb)
        if self.remembering:
            await self._builder.remember(crumb)
        return sent


def model_at(url: str, key: str = "", timeout: float = 30, attempts: int = 1) -> SummaryModel:
    return SummaryModel(url=url, model="mini", key=key, timeout=timeout, attempts=attempts)


class Endpoint:
    """A `Summarizer` that observes the first message of each batch, or is away."""

    name = "mini"

    def __init__(self, away: bool = False) -> None:
        self.away = away
        self.asked: list[tuple[tuple[KeptLine, ...], tuple[Utterance, ...]]] = []

    async def summarise(self, lines: tuple[KeptLine, ...], said: tuple[Utterance, ...], cap: int) -> tuple[KeptLine, ...]:
        self.asked.append((lines, said))
        if self.away or cap < 1:
            raise Unavailable("nobody answers")
        first = said[0]
        subject = first.speaker.lower()
        return (
            KeptLine(
                text=f"{subject}: spoke {len(lines)} times before",
                day=first.day,
                ids=(first.id,),
                versions=(first.version,),
                id=f"of-{first.id}",
                subject=subject,
            ),
        )


class Makers(Observer):
    """Notes who made each summary."""

    def __init__(self, names: list[str] | None = None) -> None:
        self.names = [] if names is None else names

    @override
    def summarised(self, by: str) -> None:
        self.names.append(by)


def make_summarising(
    builder: ContextBuilder,
    publishing: Publishing,
    *profiles: Profile,
    endpoint: Summarizer | None = None,
    made: list[str] | None = None,
    max_bytes: int = MAX_SUMMARY_BYTES,
    max_units: int = MAX_UNITS,
) -> SummaryScheduler:
    """The scheduler for these profiles; everything counts as caught up. made: gets who made each summary."""
    store = cast("DurableStore", builder.memory.store)
    writer = SummaryWriter(publishing, WORDS, endpoint, store, Makers(made), max_bytes)
    return SummaryScheduler(StoredLog(store), builder.recaller, writer, lambda _workspace: profiles, max_units=max_units)


BEHIND = make_place(1000)
FACTS = (
    "The blue kiln is K-4711.",
    "Nina fires it at cone 6 on Friday.",
    "The glaze of batch 7 needs two coats.",
    "Ana moved to Delft in March.",
    "The rent of the studio is 900 euros.",
    "Bob brings the clay from Limoges.",
)


def make_builder(store: Store | None = None, profiles: tuple[Profile, ...] = ()) -> ContextBuilder:
    helpers = replace(WORDS, renderings={"o200k_base": make_rendering()})
    return ContextBuilder(store or durable_store(), HashingEmbedder(), profiles, helpers, HistoryCache(10_000))


def talk(number: int) -> list[Breadcrumb]:
    """Facts and small talk in turn."""
    said = (FACTS[n // 2 % len(FACTS)] if n % 2 else f"Thanks, and how is your week number {n}?" for n in range(1, number + 1))
    return [make_breadcrumb(text, n) for n, text in enumerate(said, 1)]


async def remember(builder: ContextBuilder, crumbs: Iterable[Breadcrumb]) -> None:
    for crumb in crumbs:
        await builder.remember(crumb)


async def talking(number: int, **changes: object) -> tuple[ContextBuilder, Profile]:
    """A builder that remembers so much talk, and a profile whose summaries begin early. changes: of the summaries."""
    builder = make_builder()
    await remember(builder, talk(number))
    return builder, summing(**changes)  # type: ignore[arg-type]


REPORT = "I have looked through the whole list once more, and all of it is as it should be by now. " * 9
"""An agent's words, of which a summary keeps little."""


def report(number: int) -> Breadcrumb:
    return make_breadcrumb(REPORT, number, schema="agent.response.v1", role="assistant", speaker="Assistant")


async def reporting(number: int, **changes: object) -> tuple[ContextBuilder, Profile]:
    """As `talking`, but the third message is a long one of the agent: without it nothing is saved word for word."""
    builder = make_builder()
    await remember(builder, (report(3) if n == 3 else crumb for n, crumb in enumerate(talk(number), 1)))
    return builder, summing(**changes)  # type: ignore[arg-type]


async def look_once(
    builder: ContextBuilder, profile: Profile, sequence: int, publishing: Publishing | None = None, **changes: Any
) -> Publishing:
    """A worker looks at the session as of this place. publishing: to go on with; else one behind it, with these changes."""
    publishing = publishing or Publishing(builder, BEHIND, **changes)
    await make_summarising(builder, publishing, profile).look("acme", "s42", make_place(sequence))
    return publishing


async def chain(builder: ContextBuilder, profile: Profile) -> tuple[str, ...]:
    recipe = recipe_of(profile)
    assert recipe
    return tuple(
        name for name, _ in covered_sources(await builder.recaller.session_view("acme", "s42", make_place(2000)), recipe)
    )


async def page(builder: ContextBuilder, profile: Profile, sequence: int = 1500, question: str = "And what now?") -> str:
    trigger = make_breadcrumb(question, sequence)
    (context,) = (await builder.build_contexts(await builder.ingest.facts(trigger), (profile,))).contexts
    return context.markdown


async def summary(builder: ContextBuilder, profile: Profile, sequence: int = 1900) -> str:
    """What the page says above a conversation of few units, when nothing is found that it would not repeat."""
    profile = replace(
        profile, window=replace(profile.window, max_units=4, trim_to=2), retrieval=replace(profile.retrieval, max_results=0)
    )
    return (await page(builder, profile, sequence)).partition("## Recent")[0]


def lines(crumb: Breadcrumb) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(crumb.body)["lines"]
    return found


def extract_lines(*turns: tuple[str, str], cap: int = 400) -> list[str]:
    """The lines made of what a person (U), an agent (A), tools (T) and Ana say in turn."""
    kinds = {
        "U": {"schema": "user.message.v1", "role": "user", "speaker": "User"},
        "A": {"schema": "agent.response.v1", "role": "assistant", "speaker": "Assistant"},
        "T": {"schema": "tool.response.v1", "role": "tool", "speaker": "bash"},
        "Ana": {"schema": "user.message.v1", "role": "user", "speaker": "Ana"},
    }
    rows = [make_remembered(text, n, **kinds[who]) for n, (who, text) in enumerate(turns, 1)]
    return [line.text for line in extract(make_view(rows), (), range(len(turns)), cap, WORDS)]
