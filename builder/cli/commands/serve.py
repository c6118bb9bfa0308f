"""Commands that run the service: up, worker, demo."""

import asyncio
from typing import Annotated

import typer

from builder.cli.options import AsJson, say, settings, show


def up() -> None:
    """Run the service until Ctrl-C: embedded NATS unless servers are configured, store, worker, HTTP."""
    from builder.cli.serve import serve_until_signal

    asyncio.run(serve_until_signal(settings()))


def worker() -> None:
    """Run a worker on configured NATS servers (CONTEXT_BUILDER_NATS__SERVERS), without an embedded one."""
    from builder.cli.serve import serve_until_signal
    from builder.domain.errors import Misconfigured

    configuration = settings()
    if not configuration.nats.servers:
        raise Misconfigured("a worker needs CONTEXT_BUILDER_NATS__SERVERS; set it, or run `context-builder up`")
    asyncio.run(serve_until_signal(configuration))


def demo(
    *, as_json: AsJson = False, timeout: Annotated[float, typer.Option(help="Seconds to wait for the context.")] = 120
) -> None:
    """Run everything once on the bundled sample and show the context that an agent receives over NATS."""
    from builder.cli.demo import print_costs, run_demo

    result = asyncio.run(run_demo(settings(), timeout))
    if not as_json:
        say("The agent received this over NATS:\n")
    show(result, as_json, text=result["context"]["content"])
    if not as_json:
        print_costs(result)
