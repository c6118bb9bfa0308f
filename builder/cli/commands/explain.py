"""Commands that explain contexts: where each line comes from, what other profiles would show, what pages cost."""

import asyncio
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from builder.app.console import AsJson, progress_bar, say, show, table
from builder.cli.options import Servers, Target, Workspace, target, text_of
from builder.domain.errors import Misconfigured
from builder.wire.subjects import optional_token

if TYPE_CHECKING:
    from builder.app.settings import Settings


Trigger = Annotated[
    str, typer.Argument(help="Id of the message that asked for the context; without it the session's last context is meant.")
]
Consumer = Annotated[str, typer.Option("--consumer", "-c", help="Agent whose context is meant; needed where several got one.")]
Session = Annotated[str, typer.Option("--session", "-s", help="The session, without an id or where several have one of this id.")]
AsOf = Annotated[
    int, typer.Option(min=0, help="Mean the context refreshed as of this stream sequence, its `as_of`; 0 = as it was published.")
]
ALL = 0
"""--most without a limit."""


def explain(
    trigger: Trigger = "",
    consumer: Consumer = "",
    session: Session = "",
    as_of: AsOf = 0,
    most: Annotated[int, typer.Option(min=0, help="How many breadcrumbs that are not on the page are listed; 0 = all.")] = 20,
    workspace: Workspace = "",
    servers: Servers = "",
    *,
    as_json: AsJson = False,
) -> None:
    """Show where each line of a context comes from and why, what was left out and why, and what the budget went to."""
    from builder.cli.reports import receipt_text
    from builder.cli.requests import look_up

    request = _request(trigger, consumer, session, as_of) | {"most": None if most == ALL else most}
    answer = asyncio.run(look_up(target(servers, workspace), "explain", request))
    show(answer, as_json, text=receipt_text(answer), note=_note(answer))


def why(
    breadcrumb: Annotated[str, typer.Argument(help="Id of the breadcrumb that is on the page, or is not.")],
    trigger: Annotated[str, typer.Option("--trigger", "-t", help="Id of the message that asked for the context.")] = "",
    consumer: Consumer = "",
    session: Session = "",
    as_of: AsOf = 0,
    workspace: Workspace = "",
    servers: Servers = "",
    *,
    as_json: AsJson = False,
) -> None:
    """Say in a sentence why a breadcrumb is on the page of a context, or why it is not."""
    from builder.cli.requests import look_up

    request = _request(trigger, consumer, session, as_of) | {"id": breadcrumb}
    answer = asyncio.run(look_up(target(servers, workspace), "why", request))
    show(answer, as_json, text=answer["sentence"] + "\n", note=_note(answer))


def replay(
    trigger: Trigger = "",
    consumer: Consumer = "",
    session: Session = "",
    as_of: AsOf = 0,
    profile: Annotated[str, typer.Option(help="Make the page with this profile or preset, or with this YAML file.")] = "",
    templates: Annotated[
        Path | None, typer.Option(help="Make the page with this folder of templates.", exists=True, file_okay=False)
    ] = None,
    workspace: Workspace = "",
    servers: Servers = "",
    *,
    as_json: AsJson = False,
) -> None:
    """Build a context again from what is remembered and compare it with the published one; or see it made otherwise."""
    from builder.cli.reports import comparison_text
    from builder.cli.requests import look_up

    request = _request(trigger, consumer, session, as_of) | _files(profile, templates)
    answer = asyncio.run(look_up(target(servers, workspace), "replay", request))
    is_other = bool(profile or templates)
    show(answer, as_json, text=comparison_text(answer, is_other=is_other), note=_note(answer))
    if not is_other and answer["is_same"] is False:
        raise typer.Exit(1)


def _request(trigger: str, consumer: str, session: str, as_of: int) -> dict[str, Any]:
    return {"trigger": trigger, "consumer": consumer, "session": optional_token(session), "as_of": as_of}


def _files(profile: str, templates: Path | None) -> dict[str, Any]:
    """The profile and the files of a request."""
    from builder.app.config import read_templates

    files = read_templates(templates) if templates else {}
    name = profile
    if profile.endswith((".yaml", ".yml")):
        file = Path(profile)
        name, files = file.stem, {**files, f"profiles/{file.stem}.yaml": text_of(file)}
    return {"profile": name, "files": files, "over_bundled": templates is not None}


def _note(answer: dict[str, Any]) -> str:
    return "\n".join(answer["notes"])


MAX_CONTEXTS = 200
"""Contexts; each replay takes the time of two builds."""


def shadow_report(
    consumer: Annotated[str, typer.Option("--consumer", "-c", help="Only shadows of this agent.")] = "",
    shadow: Annotated[str, typer.Option(help="Only this shadow profile.")] = "",
    trigger: Annotated[str, typer.Option(help="Show the difference for this breadcrumb in full.")] = "",
    most: Annotated[int, typer.Option(min=1, help="Replay so many contexts, the newest first.")] = MAX_CONTEXTS,
    limit: Annotated[int, typer.Option(min=0, help="Show so many of the contexts that differ most.")] = 10,
    workspace: Workspace = "",
    servers: Servers = "",
    *,
    as_json: AsJson = False,
) -> None:
    """Replay the last day's contexts with shadow profiles: tokens, what is lost and gained, the contexts that differ most."""
    from builder.app.operations.shadows import summarise_differences
    from builder.cli.reports import difference_text, report_text

    place = target(servers, workspace)
    shadows = {
        name: own for name, own in _shadows(place.settings).items() if consumer in ("", own) and shadow in ("", name)
    }  # fmt: skip
    differences = asyncio.run(_differences(place, shadows, trigger, most)) if shadows else []
    note = "" if shadows else "no such shadow profile is here; a profile file with `shadow_of: CONSUMER` is one"
    if shadows and not differences:
        note = f"no context of {', '.join(sorted({*shadows.values()}))} is kept to replay; contexts are kept for 24 hours"
    if trigger:
        show(differences, as_json, text="\n".join(map(difference_text, differences)), note=note)
        return
    summary = summarise_differences(differences, limit)
    show(summary, as_json, text=report_text(summary) if differences else "", note=note)


def _shadows(settings: "Settings") -> dict[str, str]:
    """Shadow → its consumer, by the profile files of the settings. Raises `Misconfigured`."""
    from builder.app.operations.profile_catalog import open_catalog

    catalog = open_catalog(settings)
    profiles = (catalog.profile(entry) for entry in catalog.all)
    return {each.consumer: each.shadow_of for each in profiles if each.shadow_of}


async def _differences(place: Target, shadows: dict[str, str], trigger: str, most: int) -> list[dict[str, Any]]:
    from builder.app.operations.shadows import read_contexts, replayed_differences

    contexts = await read_contexts(place.settings, place.servers, place.workspace, shadows.values(), trigger, most)
    with progress_bar("replays") as advance:
        async with place.connect() as client:
            return await replayed_differences(client, contexts, shadows, advance)


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
        text += f"\n{table(heads, _forms(row), frozenset(heads[1:]))}\n"
    unread = (
        f"{row['consumer']}: {row['contexts_per_day']:,.0f} contexts a day of {row['tokens']:,.0f} tokens were built and read by "
        "nobody, so no model was paid; `triggers: []` in its profile ends that\n"
        for row in figures["unread"]
    )
    return text + "".join(unread)


def _forms(row: dict[str, Any]) -> Iterator[tuple[str, ...]]:
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
