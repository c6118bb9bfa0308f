"""Commands that bring events in and take them out: import, export, purge."""

import asyncio
import sys
from dataclasses import asdict
from pathlib import Path
from textwrap import shorten
from typing import TYPE_CHECKING, Annotated

import typer

from builder.app.console import AsJson, progress_bar, progress_bars, say, show
from builder.cli.commands.records import SessionOption, read_history
from builder.cli.options import Servers, Session, Strict, User, Workspace, lines_of, target_of
from builder.domain.errors import Rejected
from builder.wire.subjects import session_token

if TYPE_CHECKING:
    from builder.extras.operations.export import Import


def import_events(
    file: Annotated[
        Path,
        typer.Argument(
            help='One JSON value a line: a record, a chat message {"role", "content"}, or {"messages": [...]}; - is stdin.',
            allow_dash=True,
        ),
    ],
    workspace: Workspace = "",
    session: Session = "main",
    servers: Servers = "",
    *,
    strict: Strict = False,
    as_json: AsJson = False,
) -> None:
    """Publish old events or chats: they are stored and never answered. Nothing is imported twice."""
    from builder.chat_files.reader import read_file, refusal_lines
    from builder.extras.operations.export import import_file

    target, token = target_of(servers, workspace), session_token(session)
    content = read_file(lines_of(file), target.workspace, token)
    if not content.events and not content.refusals and not content.system_messages:
        raise Rejected(f"there is nothing to import in {file}; give a file with records or chat messages, one JSON value a line")

    async def work() -> "Import":
        async with target.connect() as client:
            with progress_bars("the stream", "import") as (read, publish):
                return await import_file(target.settings, client, target.servers, content, read, publish, strict=strict)

    result = asyncio.run(work())
    names = shorten(", ".join(result.sessions), 200, placeholder=" …")
    done = f"{result.published} published, {result.skipped} had been before; sessions: {names}; {result.per_second:,.0f} a second"
    refusals = refusal_lines(result.refusals)
    show(asdict(result) | {"refusals": refusals}, as_json, note="; ".join((done, *result.notes)))
    if refusals:
        for line in refusals[1:]:
            say(line)
        raise Rejected(f"{len(result.refusals)} were not imported; {refusals[0]}")


def export(
    session: Annotated[str, typer.Argument(help="The session; _ = of no session, nothing = the whole workspace.")] = "",
    option: SessionOption = "",
    user: User = "",
    workspace: Workspace = "",
    servers: Servers = "",
) -> None:
    """Write a session, or everything said by and to a user, as JSON lines for `import`.

    Whole records in the stream's order, with tombstones, without secrets.
    """
    from builder.domain.recall import EVERY_SESSION
    from builder.extras.operations.export import Export, export_session
    from builder.wire.requests import MAX_HISTORY_PAGE

    session = session or option
    target, sessions = target_of(servers, workspace), session_token(session) if session else EVERY_SESSION
    if session and user:
        raise Rejected("give either a session or --user: one of them says what to export")
    ids = None
    if user:
        crumbs = asyncio.run(read_history(target, {"user_id": user, "limit": MAX_HISTORY_PAGE}, 0))
        ids = frozenset((crumb["session"], crumb["id"]) for crumb in crumbs)
    with progress_bar("export") as advance:
        work = export_session(target.settings, target.servers, target.workspace, sessions, sys.stdout.write, advance, ids)
        done = asyncio.run(work)
    if done == Export():
        raise Rejected(
            f"nothing is stored {f'of person {user!r}' if user else f'of session {session!r}' if session else ''} in "
            f"workspace {target.workspace!r}; check the name, and --workspace"
        )
    say(f"{done.lines} exported; {done.secrets} secrets and {done.unreadable} that the service rejects were left out")


def purge(
    servers: Servers = "",
    *,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Erase nothing; list what has expired.")] = False,
    as_json: AsJson = False,
) -> None:
    """Erase what has expired from stream and store, of all workspaces."""
    from builder.extras.operations.maintenance import purge_store

    target = target_of(servers)
    rows = asyncio.run(purge_store(target.settings, target.servers, dry_run=dry_run))
    lines = (
        f"{row['workspace']:20} {row['schema']:30} {row['breadcrumbs']:>8,} breadcrumbs {row['bytes']:>12,} bytes\n"
        for row in rows
    )
    count, size = sum(row["breadcrumbs"] for row in rows), sum(row["bytes"] for row in rows)
    note = f"{count:,} breadcrumbs of {size:,} bytes {'would go' if dry_run else 'are gone'}"
    show(rows, as_json, text="".join(lines), note=note if rows else "nothing has expired")
