"""Benchmark commands about time and memory: arguments in, one report out."""

import asyncio
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from builder.app.console import AsJson, settings
from builder.bench.commands.options import empty_store, folder, measure, measure_service, numbers, progress, report

if TYPE_CHECKING:
    from collections.abc import Coroutine

    from builder.app.components import Components
    from builder.bench.commands.options import Step


def latency(
    messages: Annotated[str, typer.Option(help="Messages stored in the session, comma-separated.")] = "600,5000,20000",
    rounds: Annotated[int, typer.Option(min=5, help="Measurements of each kind and size.")] = 60,
    scenario: Annotated[Literal["", "reads"], typer.Option(help="reads: a question behind ten long results.")] = "",
    *,
    calls: Annotated[bool, typer.Option("--calls", help="Python calls of a page instead of seconds, without a broker.")] = False,
    as_json: AsJson = False,
) -> None:
    """A whole context beside the bare embedding call, interleaved in one run over a real nats-server."""
    if calls or scenario:
        _calls(numbers(messages), scenario, as_json=as_json)
        return
    from builder.bench.data.synthetic import DISTINCT_MESSAGES
    from builder.bench.scratch import open_encoder
    from builder.bench.speed import latency as bench

    sizes = numbers(messages)
    figures = measure_service(
        "latency",
        DISTINCT_MESSAGES + 3 * len(sizes) + rounds + bench.WARM_UP_ROUNDS,
        lambda settings: open_encoder(settings, "sentence-transformers"),
        lambda service, reference, step, _port: bench.run(service, reference, sizes, rounds, step),
        cached_passages=4 * sum(sizes),  # sessions in use are warm; cold ones are measured apart
    )
    report(figures, as_json, (f"medians of {figures['rounds']} rounds", "messages", figures["sizes"]))


def _calls(sizes: tuple[int, ...], scenario: str, *, as_json: bool) -> None:
    from builder.bench.speed import calls as bench

    def run(core: "Components", step: "Step") -> "Coroutine[Any, Any, dict[str, Any]]":
        return bench.reads(core, step) if scenario else bench.run(core, sizes, step)

    figures = measure("calls", 0, run)
    report(figures, as_json, *(("medians of profiled pages", name.removesuffix("s"), rows) for name, rows in figures.items()))


def explain(
    messages: Annotated[int, typer.Option(min=1000, help="Messages stored in the session.")] = 20_000,
    rounds: Annotated[int, typer.Option(min=3, help="Contexts that are explained.")] = 20,
    *,
    as_json: AsJson = False,
) -> None:
    """Explain, why, replay and the preview of an edit beside the build, as requests to a running service."""
    from builder.bench.data.synthetic import DISTINCT_MESSAGES
    from builder.bench.scratch import open_encoder
    from builder.bench.speed.latency import request_latency

    figures = measure_service(
        "explain",
        DISTINCT_MESSAGES + 3 + rounds,
        open_encoder,
        lambda service, encoder, step, _port: request_latency(service, encoder, messages, rounds, step),
        cached_passages=12 * messages,
    )
    _report(figures, as_json, "explain")


def load(
    seconds: Annotated[float, typer.Option(min=1, help="Length of the run, at least.")] = 30,
    sessions: Annotated[int, typer.Option(min=1, help="Sessions at once.")] = 50,
    *,
    hostile: Annotated[
        bool, typer.Option(help="Records of a megabyte that are made to cost most, and how long others wait beside them.")
    ] = False,
    cached: Annotated[bool, typer.Option(help="The same texts again, whose vectors are cached: store and bus alone.")] = False,
    as_json: AsJson = False,
) -> None:
    """Messages and contexts a second over a real nats-server, beside the bare encoder in the same run."""
    from builder.bench.scratch import open_encoder
    from builder.bench.speed import hostile as beside
    from builder.bench.speed import load as bench

    if hostile:
        figures = measure_service(
            "hostile", len(beside.schemas()), open_encoder, lambda service, _encoder, step, port: beside.run(service, port, step)
        )
        memory = {name: {"value": value} for name, value in figures.items() if name != "kinds"}
        report(figures, as_json, ("others wait", "beside", figures["kinds"]), ("memory", "measure", memory))
        return
    steps = int(seconds // bench.SLICE_SECONDS) + 1
    figures = measure_service(
        "load",
        steps,
        open_encoder,
        lambda service, encoder, step, _port: bench.run(service, encoder, seconds, sessions, step, bench.Sizes(is_cached=cached)),
    )
    _report(figures, as_json, "load")


def memory(
    stored: Annotated[int, typer.Option(min=1, help="Messages in the store.")] = 1_000_000,
    sessions: Annotated[int, typer.Option(min=1, help="Sessions that they are spread over.")] = 50,
    *,
    as_json: AsJson = False,
) -> None:
    """Memory of the worker with a large store, after a trigger in every session."""
    from builder.app.broker import location
    from builder.app.components import open_components
    from builder.bench.speed import memory as bench

    async def work() -> dict[str, Any]:
        with folder() as path, progress("memory", stored + sessions) as step:
            store = location(f"sqlite:{path}/store.sqlite3")
            async with open_components(settings(), store) as core:
                await bench.fill(core, stored, sessions, step)
            async with open_components(settings(), store) as core:
                return await bench.ask(core, stored, sessions, step)

    _report(asyncio.run(work()), as_json, "memory")


def plan(
    messages: Annotated[int, typer.Option(min=1000, help="Messages that are stored and published.")] = 1_000_000,
    *,
    as_json: AsJson = False,
) -> None:
    """Bytes of messages in a stream and a store, as `bench store` takes one, and what they predict beside a replay."""
    from builder.app.components import open_components
    from builder.app.settings import NatsSettings
    from builder.bench.scratch import open_streams
    from builder.bench.speed import capacity as bench
    from builder.connection.names import DEFAULT_NAME

    async def work() -> dict[str, Any]:
        with folder() as path, progress("plan", bench.steps(messages)) as step:
            parts = {"name": DEFAULT_NAME, "data_dir": path, "nats": NatsSettings(port=-1)}
            own = settings().model_copy(update=parts)
            async with open_components(own, await empty_store(path)) as core, open_streams(own) as (js, stream):
                return await bench.run(core, js, stream, messages, step)

    figures = asyncio.run(work())
    constants = {name: {"value": value} for name, value in figures["constants"].items()}
    report(figures, as_json, ("constants", "measure", constants), ("replay", "of the", figures["replay"]))


def store(
    messages: Annotated[
        str, typer.Option(help="Messages stored, comma-separated, rising; multiples of 10,000.")
    ] = "10000,100000",
    rounds: Annotated[int, typer.Option(min=5, help="Recalls of each size.")] = 60,
    *,
    as_json: AsJson = False,
) -> None:
    """A recall of a session while the store grows; also of an empty PostgreSQL that CONTEXT_BUILDER_STORE__URL names."""
    from builder.app.components import open_components
    from builder.bench.speed import store as bench

    sizes = numbers(messages)

    async def work() -> dict[str, Any]:
        with folder() as path, progress("store", max(sizes) + bench.SINGLE_WRITES) as step:
            async with open_components(settings(), await empty_store(path)) as core:
                return await bench.run(core, sizes, rounds, step)

    figures = asyncio.run(work())
    report(
        figures,
        as_json,
        (f"{figures['rounds']} rounds; {figures['remember_per_second']} single writes a second", "messages", figures["sizes"]),
    )


def sandbox(
    rounds: Annotated[int, typer.Option(min=5, help="Renderings of each example.")] = 300,
    *,
    as_json: AsJson = False,
) -> None:
    """What the sandbox costs a fragment: every bundled hint on its examples, beside Jinja alone."""
    from builder.bench.scratch import bundled_renderers
    from builder.bench.speed import sandbox as bench

    renderers = bundled_renderers()
    with progress("sandbox", len(renderers)) as step:
        figures = bench.run(renderers, rounds, step)
    totals = {name: value for name, value in figures.items() if name != "hints"}
    title = f"medians of {figures['rounds']} rounds, ms"
    report(figures, as_json, (title, "hint", figures["hints"]), ("all of them", "", {"": totals}))


def http(
    messages: Annotated[int, typer.Option(min=1, help="Messages of the session that is searched.")] = 700,
    rounds: Annotated[int, typer.Option(min=5, help="Contexts that are asked for, over each door.")] = 60,
    seconds: Annotated[float, typer.Option(min=1, help="Length of the searches.")] = 10,
    listeners: Annotated[int, typer.Option(min=1, help="Clients of server-sent events; each needs two open files.")] = 10_000,
    *,
    as_json: AsJson = False,
) -> None:
    """The HTTP door: asking beside the client, searches a second, and the memory of idle listeners."""
    from builder.bench.speed import http as bench

    with progress("http", 4) as step:
        figures = asyncio.run(bench.run(messages, rounds, seconds, listeners, step))
    _report(figures, as_json, "http")


def _report(figures: dict[str, Any], as_json: bool, title: str) -> None:
    report(figures, as_json, (title, "measure", {name: {"value": value} for name, value in figures.items()}))
