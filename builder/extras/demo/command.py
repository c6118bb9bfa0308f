"""The command `demo`."""

import asyncio
from typing import Annotated

import typer

from builder.app.console import AsJson, say, settings, show


def demo(
    *, as_json: AsJson = False, timeout: Annotated[float, typer.Option(help="Seconds to wait for the context.")] = 120
) -> None:
    """Run everything once on the bundled sample and show the context that an agent receives over NATS."""
    from builder.extras.demo.playback import print_costs, run_demo

    result = asyncio.run(run_demo(settings(), timeout))
    if not as_json:
        say("The agent received this over NATS:\n")
    show(result, as_json, text=result["context"]["content"])
    if not as_json:
        print_costs(result)
