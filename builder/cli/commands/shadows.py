"""The command about profiles on trial."""

import asyncio
from typing import TYPE_CHECKING, Annotated, Any

import typer

from builder.cli.options import AsJson, Servers, Target, Workspace, progress_bar, show, target

if TYPE_CHECKING:
    from builder.app.settings import Settings

MOST = 200
"""Contexts; each replay takes the time of two builds."""


def report(
    consumer: Annotated[str, typer.Option("--consumer", "-c", help="Only shadows of this agent.")] = "",
    shadow: Annotated[str, typer.Option(help="Only this shadow profile.")] = "",
    trigger: Annotated[str, typer.Option(help="Show the difference for this breadcrumb in full.")] = "",
    most: Annotated[int, typer.Option(min=1, help="Replay so many contexts, the newest first.")] = MOST,
    limit: Annotated[int, typer.Option(min=0, help="Show so many of the contexts that differ most.")] = 10,
    workspace: Workspace = "",
    servers: Servers = "",
    *,
    as_json: AsJson = False,
) -> None:
    """Replay the last day's contexts with shadow profiles: tokens, what is lost and gained, the contexts that differ most."""
    from builder.app.operations.shadows import shadow_report
    from builder.cli.shadow_report import difference_text, report_text

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
    summary = shadow_report(differences, limit)
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
