"""`bench latency`: a whole context beside the bare embedding call, interleaved in one run.

`bench explain`: what explaining a context, building it again and previewing an edit take, beside the build itself.
"""

import random
import statistics
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import Any

from builder.app.components import Components
from builder.app.service import Service
from builder.bench.data.synthetic import DISTINCT_MESSAGES, WORKSPACE, breadcrumb, message, mixed, texts
from builder.bench.speed.quantiles import at, event_to_context, milliseconds
from builder.bench.summaries import summarise
from builder.client import Client, connect
from builder.domain.breadcrumb import Place
from builder.domain.page_settings import Reminder
from builder.domain.profile import Profile
from builder.domain.selector import Pinned, Selector
from builder.domain.stored import StoredBreadcrumb
from builder.extras.chat_formats.formats import FORMATS
from builder.extras.explain.answers import ExplainRequest
from builder.ports.models import Embedder
from builder.publish.event import encode

CONSUMER = "default"
BATCH_MESSAGES = 10_000
"""Messages stored at once."""
WARM_UP_ROUNDS = 3
CONSUMERS = 10
COLD_ROUNDS = 5
"""First pages of a cold session."""


@dataclass(slots=True)
class Timings:
    """Seconds of one size, and tokens of its pages."""

    build: list[float] = field(default_factory=list)
    cold: list[float] = field(default_factory=list)
    """Of first pages, while nothing of their session is in memory."""
    ten: list[float] = field(default_factory=list)
    """Of the contexts of ten consumers with pages of different sizes, for one trigger."""
    all_on: list[float] = field(default_factory=list)
    embed: list[float] = field(default_factory=list)
    yardstick: list[float] = field(default_factory=list)
    event_to_context: list[float] = field(default_factory=list)
    refresh: list[float] = field(default_factory=list)
    """Of requests over the broker for the page just published, as a client sends them."""
    tokens: list[int] = field(default_factory=list)


async def run(
    service: Service, reference: Embedder, sizes: tuple[int, ...], rounds: int, step: Callable[[], None]
) -> dict[str, Any]:
    """The report. service: serving. reference: the yardstick engine. rounds: measurements of each kind and size."""
    await fill_sessions(service.core, sizes, step)
    timings = {size: Timings() for size in sizes}
    async with connect(service.url, WORKSPACE) as client:
        listener = _Listener(client)
        for number in range(-WARM_UP_ROUNDS, rounds):
            for size in sizes:
                await _round(service.core, reference, listener, size, number, timings[size] if number >= 0 else Timings())
            step()
        for size in sizes:
            await _cold(service.core, size, rounds, timings[size])
        await listener.close()
    return {"sizes": {str(size): _summary(timing) for size, timing in timings.items()}, "rounds": rounds}


async def _round(core: Components, reference: Embedder, listener: "_Listener", size: int, number: int, timings: Timings) -> None:
    """Every question is new, so that no cache has its vector."""
    plain, place = core.profile(CONSUMER), size + number
    full = everything(plain)
    yardstick, embed, build, ten, event, all_on = (
        _question(size, number, kind) for kind in ("yardstick", "embed", "build", "ten", "event", "all-on")
    )
    several = tuple(replace(plain, consumer=f"{plain.consumer}-{n}", budget=1000 + 400 * n) for n in range(CONSUMERS))
    timings.yardstick.append(await _seconds(reference.embed(yardstick)))
    timings.embed.append(await _seconds(core.embedder.embed(embed)))
    timings.build.append(await _seconds(_build(core, session_name("build", size), place, build, plain, tokens=timings.tokens)))
    timings.ten.append(await _seconds(_build(core, session_name("build", size), place, ten, *several, behind=1)))
    timings.all_on.append(await _seconds(_build(core, session_name("all-on", size), place, all_on, full)))
    timings.event_to_context.append(await _seconds(listener.ask(session_name("event", size), event)))
    timings.refresh.append(await _seconds(listener.refresh()))


async def _cold(core: Components, size: int, rounds: int, timings: Timings) -> None:
    """The first page of a session of which nothing is in memory, a few times."""
    for number in range(rounds, rounds + COLD_ROUNDS):
        core.history_cache.drop(WORKSPACE)
        build = _build(core, session_name("build", size), size + number, _question(size, number, "cold"), core.profile(CONSUMER))
        timings.cold.append(await _seconds(build))


async def _build(
    core: Components,
    session: str,
    number: int,
    text: str,
    *profiles: Profile,
    behind: int = 0,
    tokens: list[int] | None = None,
) -> None:
    """Stops 4 to 7 of the line and the encoding, for one trigger. tokens: where those of the page are put.

    behind: places between the trigger and the first one of its round.
    """
    place = Place(1, 2 * number + WARM_UP_ROUNDS + behind)  # behind the summaries
    trigger = breadcrumb(session, f"{session}-asks-{number}-{behind}", text, place, "user.message.v1")
    built = await core.builder.build(trigger, profiles)
    for context in built.contexts:
        encode(context)
        if tokens is not None:
            tokens.append(context.tokens)


def everything(profile: Profile) -> Profile:
    """The profile with every method of context management that it does not use anyway."""
    people = Selector(schemas=("user.message.v1", "agent.response.v1", "tool.response.v1", "tool.error.v1"))
    pinned = Pinned(selector=Selector(all_tags=("pinned",)), keep="all", section="")
    first = profile.sections[0].name
    return replace(
        profile,
        page="xml",
        chat_format=FORMATS["anthropic"],
        system_prompt="You are the assistant of a small pottery studio. Answer in one paragraph.",
        audience=people,
        pinned=(*profile.pinned, pinned),
        reminders=(Reminder(section=first, text="Answer in the language of the question.", every=1, when=people),),
        tool_output=replace(profile.tool_output, placeholder_after=3, old_tools=("search",), newest_only=True),
        sections=tuple(replace(rule, dates="age" if rule.source == "retrieval" else rule.dates) for rule in profile.sections),
    )


class _Listener:
    """Asks over the broker and waits for the context."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._contexts = client.contexts(CONSUMER, deliver="all")
        self._request: dict[str, Any] = {}

    async def ask(self, session: str, text: str) -> None:
        """From the publishing of the message to its context in hand."""
        identity = await self._client.send_user_message(session, text)
        async for context in self._contexts:
            if context.trigger_event_id == identity:
                self._request = {"trigger": identity, "consumer": CONSUMER, "session": session}
                return

    async def refresh(self) -> None:
        """From the request to the page of the last context in hand, with what has come since."""
        await self._client.request("refresh", self._request)

    async def close(self) -> None:
        """Stop listening."""
        await self._contexts.aclose()


async def fill_sessions(core: Components, sizes: tuple[int, ...], step: Callable[[], None]) -> None:
    """Three sessions a size, two for direct builds and one for the bus: stored and summarised like any other."""
    lines = texts(max(sizes))
    facts: list[StoredBreadcrumb] = []
    for number, text in enumerate(lines[:DISTINCT_MESSAGES]):
        facts.append(await core.builder.ingest.facts(message("", number, text)))
        step()
    mixing = random.Random(7)
    for number, text in enumerate(lines[DISTINCT_MESSAGES:], DISTINCT_MESSAGES):
        facts.append(
            mixed(
                core,
                message("", number, text),
                mixing.choice(facts[:DISTINCT_MESSAGES]),
                mixing.choice(facts[:DISTINCT_MESSAGES]),
            )
        )
    for size in sizes:
        for kind in ("build", "all-on", "event"):
            session = session_name(kind, size)
            for first in range(0, size, BATCH_MESSAGES):
                rows = (
                    replace(fact, breadcrumb=replace(fact.breadcrumb, session=session, id=f"{session}-{number}"))
                    for number, fact in enumerate(facts[first : min(first + BATCH_MESSAGES, size)], first)
                )
                await core.store.remember_all(tuple(rows))
            end = replace(facts[size - 1].breadcrumb, session=session, id=f"{session}-{size - 1}")
            plain = core.profile(CONSUMER)
            await summarise(core, (everything(plain) if kind == "all-on" else plain,), end)
            step()


def _question(size: int, number: int, kind: str) -> str:
    return f"What did we decide about order {number * 7 + size} and where does the {kind} key go, round {number}?"


def session_name(kind: str, size: int) -> str:
    """Of the sessions that `fill_sessions` makes: "build", "all-on" and "event" of each size."""
    return f"{kind}-{size}"


async def _seconds(work: Awaitable[object]) -> float:
    start = perf_counter()
    await work
    return perf_counter() - start


def _summary(timings: Timings) -> dict[str, float]:
    p50 = statistics.median(timings.build)
    return {
        "build_p50_ms": milliseconds(p50),
        "page_tokens": round(statistics.fmean(timings.tokens)),
        "cold_p50_ms": milliseconds(statistics.median(timings.cold)),
        "build_p95_ms": milliseconds(at(timings.build, 0.95)),
        "embed_p50_ms": milliseconds(statistics.median(timings.embed)),
        "yardstick_p50_ms": milliseconds(statistics.median(timings.yardstick)),
        "build_ratio": round(p50 / statistics.median(timings.yardstick), 3),
        "ten_consumers_p50_ms": milliseconds(statistics.median(timings.ten)),
        "ten_consumers_ratio": round(statistics.median(timings.ten) / p50, 3),
        "all_on_p50_ms": milliseconds(statistics.median(timings.all_on)),
        "all_on_ratio": round(statistics.median(timings.all_on) / p50, 3),
        **event_to_context(timings.event_to_context),
        "refresh_p50_ms": milliseconds(statistics.median(timings.refresh)),
        "refresh_ratio": round(statistics.median(timings.refresh) / p50, 3),
    }


HINT = "hints/user.message.v1.md.j2"
EDIT = "{# edit %d #}- {{ speaker }} said: {{ text | block }}{{ repeats }}\n"
"""Another text each time, as an author's edits are."""
KINDS = ("embed", "build", "explain", "why", "replay", "preview")


async def request_latency(
    service: Service, encoder: Embedder, size: int, rounds: int, step: Callable[[], None]
) -> dict[str, Any]:
    """Medians in milliseconds, requests over the broker and back. encoder: the bare engine. size: messages of the session."""
    await fill_sessions(service.core, (size,), step)
    seconds: dict[str, list[float]] = {kind: [] for kind in KINDS}
    session = session_name("event", size)
    async with connect(service.url, WORKSPACE) as client:
        for number in range(rounds):
            question = f"Where does the key of order {number * 7} go, round {number}?"
            context = await client.ask(session, question, consumer=CONSUMER)
            which = {"trigger": context.trigger_event_id, "consumer": CONSUMER}
            trigger = (await service.core.store.versions(WORKSPACE, context.trigger_event_id))[0]
            profile = service.core.profile(CONSUMER)
            seconds["embed"].append(await _seconds(encoder.embed(trigger.text)))
            seconds["build"].append(await _seconds(service.core.builder.explain(trigger, profile)))
            requests: dict[str, dict[str, Any]] = {
                "explain": which,
                "why": which | {"id": f"{session}-{number}"},
                "replay": which,
                "preview": which | {"files": {HINT: EDIT % number}},
            }
            for verb, request in requests.items():
                seconds[verb].append(await _seconds(_ask(client, "replay" if verb == "preview" else verb, request)))
            step()
    medians = {f"{kind}_p50_ms": milliseconds(statistics.median(times)) for kind, times in seconds.items()}
    return {"messages": size, "rounds": rounds, "named": ExplainRequest.model_fields["most"].default} | medians


async def _ask(client: Client, verb: str, request: dict[str, Any]) -> None:
    answer = await client.request(verb, request)
    if verb == "explain" and not answer["is_same"]:
        raise AssertionError(f"the page is not the published one: {answer['notes']}")
