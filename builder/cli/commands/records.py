"""Commands that look into what is remembered, and take it away: fetch, history, context, forget, purge, export."""

import asyncio
import sys
from typing import Annotated, Any

import typer

from builder.cli.options import AsJson, Servers, Workspace, broker, print_json, say, settings

Id = Annotated[str, typer.Argument(help="Id of the breadcrumb.")]


def fetch(
    breadcrumb: Id,
    version: Annotated[int, typer.Option(help="An earlier version; default is the newest.")] = 0,
    workspace: Workspace = "",
    servers: Servers = "",
    *,
    as_json: AsJson = False,
) -> None:
    """Show all of a breadcrumb, e.g. of one that a context left out or showed in part."""
    from builder.cli.requests import look_up

    mine = settings()
    request = {"id": breadcrumb} | ({"version": version} if version else {})
    answer = asyncio.run(look_up(mine, broker(mine, servers), workspace or mine.workspace, "fetch", request))
    if as_json:
        print_json(answer)
        return
    say(_head(answer))
    sys.stdout.write(answer["text"] + "\n")


def history(
    session: Annotated[str, typer.Argument(help="The session; _ = of no session.")],
    limit: Annotated[int, typer.Option(min=0, help="Show at most so many; 0 = all.")] = 0,
    workspace: Workspace = "",
    servers: Servers = "",
    *,
    newest: Annotated[bool, typer.Option("--newest", help="Begin at the end, the newest first.")] = False,
    as_json: AsJson = False,
) -> None:
    """Show what is remembered of a session, in the order in which it came."""
    from builder.cli.requests import open_source, pages

    mine = settings()

    async def work() -> list[dict[str, Any]]:
        async with open_source(mine, broker(mine, servers), workspace or mine.workspace) as source:
            return [crumb async for crumb in pages(source, {"session": session, "newest": newest}, limit)]

    found = asyncio.run(work())
    if as_json:
        print_json(found)
        return
    for crumb in found:
        sys.stdout.write(f"{_head(crumb)}\n    {crumb['text']}\n")


def context(
    session: Annotated[str, typer.Option("--session", "-s", help="Session of the last context.")] = "",
    trigger: Annotated[str, typer.Option(help="Id of the breadcrumb that asked for the context.")] = "",
    consumer: Annotated[str, typer.Option("--consumer", "-c", help="Agent whose context is meant.")] = "default",
    workspace: Workspace = "",
    servers: Servers = "",
    *,
    as_json: AsJson = False,
) -> None:
    """Show the last context of an agent in a session, or the one that a breadcrumb led to."""
    from builder.cli.requests import look_up

    mine = settings()
    request = {"consumer": consumer, "session": session, "trigger": trigger}
    event = asyncio.run(look_up(mine, broker(mine, servers), workspace or mine.workspace, "context", request))
    if as_json:
        print_json(event)
    else:
        sys.stdout.write(event["content"])


def forget(
    breadcrumbs: Annotated[list[str], typer.Argument(help="Ids of the breadcrumbs.")],
    session: Annotated[str, typer.Option("--session", "-s", help="Their session, where the store cannot know it.")] = "",
    by: Annotated[str, typer.Option(help="Who asks, for the receipt.")] = "",
    workspace: Workspace = "",
    servers: Servers = "",
    *,
    as_json: AsJson = False,
) -> None:
    """Erase breadcrumbs and all that was made from them: stream, store, vectors, caches, summaries, contexts, dead letters."""
    from builder.cli.requests import ask

    mine = settings()

    async def work() -> list[dict[str, Any]]:
        where = (mine, broker(mine, servers), workspace or mine.workspace)
        answers = [await ask(*where, "forget", {"id": each, "session": session, "by": by}) for each in breadcrumbs]
        return [receipt for answer in answers for receipt in answer["receipts"]]

    receipts = asyncio.run(work())
    if as_json:
        print_json(receipts)
        return
    for receipt in receipts:
        say(
            f"forgot {receipt['id']} of {receipt['session']}: {receipt['versions']} versions, "
            f"{len(receipt['summaries'])} summaries, {receipt['messages']} messages, {receipt['contexts']} contexts, "
            f"{receipt['dead_letters']} dead letters"
        )
    if not receipts:
        say("forgotten before")


def purge(
    servers: Servers = "",
    *,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would go.")] = False,
    as_json: AsJson = False,
) -> None:
    """Erase what has expired from stream and store, of all workspaces."""
    from datetime import UTC, datetime

    from builder.app import purge_store

    mine = settings()
    rows = asyncio.run(purge_store(mine, broker(mine, servers).servers, datetime.now(UTC), dry_run=dry_run))
    if as_json:
        print_json(rows)
        return
    for row in rows:
        sys.stdout.write(
            f"{row['workspace']:20} {row['schema']:30} {row['breadcrumbs']:>8,} breadcrumbs {row['bytes']:>12,} bytes\n"
        )
    count, size = (sum(row[name] for row in rows) for name in ("breadcrumbs", "bytes"))
    say(f"{count:,} breadcrumbs of {size:,} bytes {'would go' if dry_run else 'are gone'}")


def export(
    session: Annotated[str, typer.Argument(help="The session; _ = of no session, nothing = the whole workspace.")] = "",
    workspace: Workspace = "",
    servers: Servers = "",
) -> None:
    """Write a session as JSON lines that `import` takes back: whole records in the stream's order, tombstones too, no secrets."""
    from rich.console import Console
    from rich.progress import Progress

    from builder.app import export_session
    from builder.domain.recall import EVERY_SESSION

    mine = settings()
    with Progress(console=Console(stderr=True)) as progress:
        task = progress.add_task("export", total=None)
        done = asyncio.run(
            export_session(
                mine, broker(mine, servers).servers, workspace or mine.workspace, session or EVERY_SESSION,
                sys.stdout.write, lambda now, end: progress.update(task, completed=now, total=end),
            )
        )  # fmt: skip
    say(f"{done.lines} exported; {done.secrets} secrets and {done.unreadable} that the service rejects were left out")


def _head(crumb: dict[str, Any]) -> str:
    return f"{crumb['id']}  {crumb['created_at']}  {crumb['schema_name']} v{crumb['version']}  {crumb['speaker']}"
