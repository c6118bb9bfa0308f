"""The command about money: what the pages of the last hours cost."""

import asyncio
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from builder.cli.options import AsJson, Servers, say, show, target
from builder.domain.errors import Misconfigured

if TYPE_CHECKING:
    from builder.app.settings import Settings

MAX_HOURS = 24
"""As long as the stream keeps contexts."""


def cost(
    prices: Annotated[
        Path | None, typer.Option(help="Price list, YAML or JSON (builder/docs/cost.md); without one: tokens only.")
    ] = None,
    model: Annotated[str, typer.Option(help="Model of agents whose profile names none.")] = "",
    hours: Annotated[float, typer.Option(min=0.01, max=MAX_HOURS, help="How far back.")] = MAX_HOURS,
    workspace: Annotated[str, typer.Option("--workspace", "-w", help="Only this workspace; default is all.")] = "",
    servers: Servers = "",
    *,
    as_json: AsJson = False,
) -> None:
    """What contexts cost a day: tokens a turn, new and cached, and money by a price list, from the last 24 hours."""
    from datetime import UTC, datetime, timedelta

    from rich.console import Console
    from rich.progress import Progress

    from builder.app.operations.costs import PriceList, costs, load_prices, priced_models
    from builder.app.operations.traffic import read_traffic
    from builder.cli.cost_table import table

    price_list = load_prices(prices) if prices else PriceList()
    if model and prices and not priced_models(model, price_list):
        raise Misconfigured(f"{prices} has no prices for {model}; it has {', '.join(price_list.models) or 'none'}")
    place, since = target(servers), datetime.now(UTC) - timedelta(hours=hours)
    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task("contexts", total=None)
        reading = read_traffic(
            place.settings, place.servers, workspace, since, lambda now, end: progress.update(task, completed=now, total=end)
        )
        traffic = asyncio.run(reading)
    consumers = {page.trigger[1] for page in traffic.pages}
    figures = costs(
        traffic, price_list, hours, {consumer: _model_of(place.settings, consumer) or model for consumer in consumers}
    )
    if as_json:
        show(figures, as_json)
        return
    if not figures["contexts"]:
        say(f"no contexts in the last {hours:g} hours; a context is published when a user message comes")
        return
    sys.stdout.write(table(figures))
    for sentence in figures["estimates"]:
        say(sentence)


def _model_of(configuration: "Settings", consumer: str) -> str:
    """The model that the profile names; "" where it names none, or is another installation's."""
    from builder.app.operations.profile_catalog import open_catalog

    try:
        values = open_catalog(configuration).settings(consumer)
    except Misconfigured:
        return ""
    return next((str(each.value) for each in values if each.name == "model" and each.value), "")
