"""The command about money: what the pages of the last hours cost, and what agents would send without them."""

import asyncio
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from builder.cli.options import AsJson, Servers, progress_bar, say, show, target
from builder.cli.tables import table
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
    """What contexts cost a day, beside the whole conversation and its last messages: tokens a turn, and money by a price list."""
    from datetime import UTC, datetime, timedelta

    from builder.app.operations.costs import COUNTED, NOT_COUNTED, PriceList, costs, load_prices
    from builder.app.operations.traffic import read_traffic

    price_list = load_prices(prices) if prices else PriceList()
    if prices and not price_list.matching(model):
        raise Misconfigured(f"{prices} has no prices for {model or 'any model'}; it has {', '.join(price_list.models) or 'none'}")
    place, since = target(servers), datetime.now(UTC) - timedelta(hours=hours)
    with progress_bar("contexts") as advance:
        traffic = asyncio.run(read_traffic(place.settings, place.servers, workspace, since, advance))
    names = {page.key[1] for page in traffic.pages}
    figures = costs(traffic, price_list, hours, {name: _model_of(place.settings, name) or model for name in names})
    if as_json:
        show(figures, as_json)
    elif not figures["contexts"]:
        say(f"no contexts in the last {hours:g} hours; a context is published when a user message comes")
    else:
        sys.stdout.write(cost_text(figures))
        say(f"{COUNTED}\n{NOT_COUNTED}")


def cost_text(figures: dict[str, Any]) -> str:
    """A table a consumer, with a line for each form in which a conversation is sent; and whom nobody reads."""
    text = ""
    for row in figures["consumers"]:
        currency = f" in {figures['currency']}" if figures["currency"] else ""
        text += (
            f"{row['consumer']}: {row['contexts_per_day']:,.0f} contexts a day, responses of {row['response_tokens']:,.0f} tokens"
            + (f", money{currency} a day" if row["money"] else "")
        )
        heads = ("sent", "tokens a turn", "cached", *row["money"])
        text += f"\n{table(heads, _lines(row), frozenset(heads[1:]))}\n"
    unread = (
        f"{row['consumer']}: {row['contexts_per_day']:,.0f} contexts a day of {row['tokens']:,.0f} tokens were built and read by "
        "nobody, so no model was paid; `triggers: []` in its profile ends that\n"
        for row in figures["unread"]
    )
    return text + "".join(unread)


def _lines(row: dict[str, Any]) -> Iterator[tuple[str, ...]]:
    """A line of a consumer's table for each form."""
    for form, each in row["sent"].items():
        yield (
            form,
            f"{each['tokens']:,.0f}",
            f"{each['cached']:,.0f}",
            *(f"{money[form]:,.4f}" for money in row["money"].values()),
        )


def _model_of(configuration: "Settings", consumer: str) -> str:
    """The model that the profile names; "" where it names none, or is another installation's."""
    from builder.app.operations.profile_catalog import open_catalog

    try:
        values = open_catalog(configuration).settings(consumer)
    except Misconfigured:
        return ""
    return next((str(each.value) for each in values if each.name == "model" and each.value), "")
