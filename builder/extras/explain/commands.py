"""Commands that explain contexts: where each line comes from, what other profiles would show, what pages cost."""

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from builder.app.console import AsJson, progress_bar, show, table
from builder.cli.options import Servers, Workspace, target_of, text_of
from builder.wire.subjects import optional_token

if TYPE_CHECKING:
    from builder.cli.options import Target


Trigger = Annotated[
    str, typer.Argument(help="Id of the message that asked for the context; default is the session's last context.")
]
Consumer = Annotated[str, typer.Option("--consumer", "-c", help="Agent whose context to show; needed if several got one.")]
Session = Annotated[
    str, typer.Option("--session", "-s", help="The session; needed without an id, or if several sessions have this id.")
]
AsOf = Annotated[
    int, typer.Option(min=0, help="Show the page refreshed as of this stream sequence (its `as_of`); 0 = as published.")
]
ALL = 0


def explain(
    trigger: Trigger = "",
    consumer: Consumer = "",
    session: Session = "",
    as_of: AsOf = 0,
    most: Annotated[int, typer.Option(min=0, help="How many breadcrumbs that are not on the page are listed; 0 = all.")] = 20,
    svg: Annotated[Path | None, typer.Option(help="Draw the session and its page into this file instead.")] = None,
    workspace: Workspace = "",
    servers: Servers = "",
    *,
    as_json: AsJson = False,
) -> None:
    """Show where each line of a context comes from and why, what was left out and why, and where the budget went."""
    from builder.extras.explain.reports import receipt_text

    if svg:
        _draw(target_of(servers, workspace), _request(trigger, consumer, session, as_of), svg, as_json)
        return
    request = _request(trigger, consumer, session, as_of) | {"most": None if most == ALL else most}
    answer = asyncio.run(target_of(servers, workspace).request("explain", request))
    show(answer, as_json, text=receipt_text(answer), note=_note(answer))


def _draw(target: "Target", request: dict[str, Any], file: Path, as_json: bool) -> None:
    from builder.extras.explain.strip_picture import strip_svg
    from builder.extras.explain.svg import write_picture

    answer = asyncio.run(target.request("strip", request))
    write_picture(file, strip_svg(answer))
    show(answer, as_json, note="\n".join((f"drawn into {file}", *answer["notes"])))


def why(
    breadcrumb: Annotated[str, typer.Argument(help="Id of the breadcrumb.")],
    trigger: Annotated[str, typer.Option("--trigger", "-t", help="Id of the message that asked for the context.")] = "",
    consumer: Consumer = "",
    session: Session = "",
    as_of: AsOf = 0,
    workspace: Workspace = "",
    servers: Servers = "",
    *,
    as_json: AsJson = False,
) -> None:
    """Say in a sentence why a breadcrumb is on the page of a context, or why not."""
    request = _request(trigger, consumer, session, as_of) | {"id": breadcrumb}
    answer = asyncio.run(target_of(servers, workspace).request("why", request))
    show(answer, as_json, text=answer["sentence"] + "\n", note=_note(answer))


def replay(
    trigger: Trigger = "",
    consumer: Consumer = "",
    session: Session = "",
    as_of: AsOf = 0,
    profile: Annotated[str, typer.Option(help="Use this profile or preset, or this YAML file.")] = "",
    templates: Annotated[Path | None, typer.Option(help="Use this folder of templates.", exists=True, file_okay=False)] = None,
    workspace: Workspace = "",
    servers: Servers = "",
    *,
    as_json: AsJson = False,
) -> None:
    """Rebuild a context and compare it with the published one, or show it with another profile or other templates."""
    from builder.extras.explain.reports import comparison_text

    request = _request(trigger, consumer, session, as_of) | _files(profile, templates)
    answer = asyncio.run(target_of(servers, workspace).request("replay", request))
    is_other = bool(profile or templates)
    show(answer, as_json, text=comparison_text(answer, is_other=is_other), note=_note(answer))
    if not is_other and answer["is_same"] is False:
        raise typer.Exit(1)


def _request(trigger: str, consumer: str, session: str, as_of: int) -> dict[str, Any]:
    return {"trigger": trigger, "consumer": consumer, "session": optional_token(session), "as_of": as_of}


def _files(profile: str, templates: Path | None) -> dict[str, Any]:
    """The profile and the files of a request."""
    from builder.app.config import read_layers

    files = read_layers((templates,))[0] if templates else {}
    name = profile
    if profile.endswith((".yaml", ".yml")):
        file = Path(profile)
        name, files = file.stem, {**files, f"profiles/{file.stem}.yaml": text_of(file)}
    return {"profile": name, "files": files, "over_bundled": templates is not None}


def _note(answer: dict[str, Any]) -> str:
    return "\n".join(answer["notes"])


MAX_HOURS = 24
"""As long as the stream keeps contexts."""


def cost(
    hours: Annotated[float, typer.Option(min=0.01, max=MAX_HOURS, help="How far back.")] = MAX_HOURS,
    workspace: Annotated[str, typer.Option("--workspace", "-w", help="Only this workspace; default is all.")] = "",
    servers: Servers = "",
    prices: Annotated[str, typer.Option(hidden=True)] = "",
    *,
    as_json: AsJson = False,
) -> None:
    """Show the tokens of published contexts, and of the conversations that agents would send without them."""
    from datetime import UTC, datetime, timedelta

    from builder.extras.explain.published import read_costs

    if prices:
        typer.echo("there is no option `--prices` any more: costs are tokens; multiply them by what you pay", err=True)
    target, since = target_of(servers), datetime.now(UTC) - timedelta(hours=hours)
    with progress_bar("contexts") as advance:
        rows = asyncio.run(read_costs(target.settings, target.servers, workspace, since, advance))
    note = f"no contexts in the last {hours:g} hours; a context is published when a user message comes"
    show(rows, as_json, text="".join(cost_text(row) for row in rows), note="" if rows else note)


def cost_text(row: dict[str, Any]) -> str:
    """A line per form in which a conversation is sent, and from which size on a page costs less than the conversation."""
    heads = ("sent", *row["sent"]["page"])
    lines = [(form, *(f"{value:,.0f}" for value in each.values())) for form, each in row["sent"].items()]
    rows = table(heads, lines, frozenset(heads[1:]))
    even = row["break_even"]
    last = "every page has the whole conversation, and none costs less than that"
    if even:
        last = (
            f"{even['pages']:,} pages leave something out; they cost less than a conversation above {even['cached']:,} tokens "
            f"that is cached, {even['uncached']:,} that is not"
        )
    return f"{row['consumer']}: {row['contexts']:,} contexts\n{rows}{last}\n\n"
