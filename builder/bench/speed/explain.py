"""`bench explain`: what explaining a context, building it again and previewing an edit take, beside the build itself."""

import statistics
from collections.abc import Awaitable, Callable
from time import perf_counter
from typing import Any

from builder.app.service import Service
from builder.bench.data.synthetic import WORKSPACE
from builder.bench.speed.latency import CONSUMER, fill_sessions, session_name
from builder.bench.speed.quantiles import milliseconds
from builder.client import Client, connect
from builder.ports.models import Embedder
from builder.wire.requests import ExplainRequest

HINT = "hints/user.message.v1.md.j2"
EDIT = "{# edit %d #}- {{ speaker }} said: {{ text | block }}{{ repeats }}\n"
"""Another text each time, as an author's edits are."""
KINDS = ("embed", "build", "explain", "why", "replay", "preview")


async def run(service: Service, encoder: Embedder, size: int, rounds: int, step: Callable[[], None]) -> dict[str, Any]:
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


async def _seconds(work: Awaitable[object]) -> float:
    start = perf_counter()
    await work
    return perf_counter() - start
