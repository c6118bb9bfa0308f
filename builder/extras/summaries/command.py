"""The command `compact`."""

import asyncio
from dataclasses import asdict
from typing import Annotated

import typer

from builder.app.console import AsJson, show
from builder.cli.options import Servers, Workspace, target_of
from builder.domain.summary import CompactionResult


def compact(
    session: Annotated[str, typer.Argument(help="Session that is summarised.")],
    profile: Annotated[str, typer.Option(help="Profile or preset whose summary settings apply.")] = "default",
    workspace: Workspace = "",
    servers: Servers = "",
    *,
    keep_user: Annotated[bool, typer.Option(help="Keep user messages word for word.")] = True,
    as_json: AsJson = False,
) -> None:
    """Summarise all but the newest units of a session; the messages themselves stay."""

    async def work() -> CompactionResult:
        async with target_of(servers, workspace).connect() as client:
            return await client.compact(session, profile=profile, keep_user=keep_user)

    report = asyncio.run(work())
    note = f"{report.units} units of {report.tokens_before} tokens are now {report.tokens_after}: summary {report.summary}"
    show(asdict(report), as_json, note=note if report.units else f"nothing was summarised: {report.reason}")
