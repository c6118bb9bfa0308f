"""The command about profiles on trial."""

import asyncio
import re
from datetime import UTC, datetime, timedelta
from typing import Annotated

import typer

from builder.cli.options import AsJson, Servers, Workspace, show, target
from builder.domain.errors import Rejected

SPANS = {"m": 60, "h": 3600, "d": 86400}
"""Seconds."""


def report(
    consumer: Annotated[str, typer.Option("--consumer", "-c", help="Only shadows of this agent.")] = "",
    shadow: Annotated[str, typer.Option(help="Only this shadow profile.")] = "",
    trigger: Annotated[str, typer.Option(help="Show the difference for this breadcrumb in full.")] = "",
    since: Annotated[str, typer.Option(help="How far back: 30m, 24h, 7d, or a date as 2026-11-23T09:00Z.")] = "7d",
    limit: Annotated[int, typer.Option(min=0, help="Show so many of the contexts that differ most.")] = 10,
    workspace: Workspace = "",
    servers: Servers = "",
    *,
    as_json: AsJson = False,
) -> None:
    """Show what shadow profiles would have changed: tokens, what was lost and gained, and the contexts that differ most."""
    from builder.app.operations.shadows import read_differences, shadow_report
    from builder.cli.shadow_report import difference_text, report_text
    from builder.wire.shadows import difference_json

    place = target(servers, workspace)
    reading = read_differences(
        place.settings,
        place.servers,
        place.workspace,
        consumer=consumer,
        shadow=shadow,
        trigger=trigger,
        since=moment_of(since, datetime.now(UTC)),
    )
    differences = asyncio.run(reading)
    note = "" if differences else "no differences of shadows are kept; a profile with `shadow_of: CONSUMER` makes them"
    if trigger:
        values = [difference_json(each) for each in differences]
        show(values, as_json, text="\n".join(map(difference_text, values)), note=note)
        return
    summary = shadow_report(differences, limit)
    show(summary, as_json, text=report_text(summary) if differences else "", note=note)


def moment_of(text: str, now: datetime) -> datetime:
    """The moment that `--since` means. Raises `Rejected`."""
    if span := re.fullmatch(r"(\d{1,6})([mhd])", text):
        return now - timedelta(seconds=int(span[1]) * SPANS[span[2]])
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        raise Rejected(f"--since is {text!r:.80}; write 30m, 24h, 7d, or a date as 2026-11-23T09:00Z") from error
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
