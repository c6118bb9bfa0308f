"""Commands that read what is remembered, and erase it: fetch, history, search, context, forget."""

import asyncio
import json
import sys
from dataclasses import asdict
from textwrap import indent
from typing import TYPE_CHECKING, Annotated

import typer

from builder.app.console import AsJson, progress_bar, say, show
from builder.cli.options import Servers, Target, User, Workspace, target_of
from builder.domain.control_text import visible
from builder.domain.errors import Rejected
from builder.domain.json_values import JsonObject
from builder.wire.subjects import optional_token, session_text

if TYPE_CHECKING:
    from builder.client import PersonReceipt, SearchResult, SessionReceipt

SessionOption = Annotated[str, typer.Option("--session", "-s", help="The session, as other commands take it.")]
Id = Annotated[str, typer.Argument(help="Id of the breadcrumb.")]


def fetch(
    breadcrumb: Id,
    version: Annotated[int, typer.Option(help="An earlier version; default is the newest.")] = 0,
    workspace: Workspace = "",
    servers: Servers = "",
    *,
    as_json: AsJson = False,
) -> None:
    """Show all of a breadcrumb, for example one that a context cut or left out."""
    request = {"id": breadcrumb} | ({"version": version} if version else {})
    answer = _with_text(asyncio.run(target_of(servers, workspace).request("fetch", request)))
    if not as_json:
        say(_head(answer))
    show(answer, as_json, text=visible(answer["text"]) + "\n")


def history(
    session: Annotated[str, typer.Argument(help="The session; _ = of no session.")] = "",
    option: SessionOption = "",
    user: User = "",
    limit: Annotated[int, typer.Option(min=0, help="Show at most so many; 0 = all.")] = 0,
    workspace: Workspace = "",
    servers: Servers = "",
    *,
    newest: Annotated[bool, typer.Option("--newest", help="Show the newest first.")] = False,
    as_json: AsJson = False,
) -> None:
    """Show the breadcrumbs of a session, or of a user in all sessions, in order."""
    session = session or option
    token = optional_token(session)
    request = {"session": token, "newest": newest} | ({"user_id": user} if user else {})
    crumbs = asyncio.run(read_history(target_of(servers, workspace), request, limit))
    text = "".join(f"{_head(crumb)}\n{indent(_words(crumb), '    ')}\n" for crumb in crumbs)
    whose = f"of person {user!r}" if user else f"of session {session!r}"
    show(crumbs, as_json, text=text, note="" if crumbs else f"nothing is remembered {whose}")


def search(
    text: Annotated[str, typer.Argument(help="The question, in words.")],
    session: SessionOption = "",
    user: User = "",
    limit: Annotated[int, typer.Option(min=1, max=100, help="Show at most so many.")] = 10,
    before: Annotated[int, typer.Option(min=0, help="Only what came before this stream sequence; 0 = everything.")] = 0,
    schema: Annotated[list[str] | None, typer.Option(help="Search only these schemas.")] = None,
    workspace: Workspace = "",
    servers: Servers = "",
    *,
    as_json: AsJson = False,
) -> None:
    """Show the passages that answer a question, in a session, in a user's memory, or in the whole workspace."""

    async def work() -> tuple["SearchResult", ...]:
        async with target_of(servers, workspace).connect() as client:
            scope: JsonObject = {"session": session, "user_id": user, "limit": limit, "before": before}
            return await client.search(text, **scope, schemas=schema or ())

    results = asyncio.run(work())
    heads = (
        f"{each.probability:6.1%}  {each.created_at:%Y-%m-%d %H:%M}  {each.session}  {each.speaker}  {each.id}"
        for each in results
    )
    text_of = (f"{head}\n{indent(visible(each.text), '    ')}\n" for head, each in zip(heads, results, strict=True))
    values = [asdict(each) | {"created_at": each.created_at.isoformat()} for each in results]
    show(values, as_json, text="".join(text_of), note="" if results else "nothing answers it")


def context(
    session: Annotated[str, typer.Option("--session", "-s", help="Session of the last context.")] = "",
    trigger: Annotated[str, typer.Option(help="Id of the breadcrumb that led to the context.")] = "",
    consumer: Annotated[str, typer.Option("--consumer", "-c", help="Agent whose context is meant.")] = "default",
    workspace: Workspace = "",
    servers: Servers = "",
    *,
    as_json: AsJson = False,
) -> None:
    """Show the last context of an agent in a session, or the one that a breadcrumb led to."""
    token = optional_token(session)
    request = {"consumer": consumer, "session": token, "trigger": trigger}
    event = asyncio.run(target_of(servers, workspace).request("context", request))
    show(event, as_json, text=event["content"])


OUT_OF_REACH = (
    "out of reach: contexts that agents have read, quotations in other messages, exported files, cases of templates, backups, "
    "records that cannot be decoded, and with PostgreSQL its write-ahead log, archives and replicas"
)
"""What a forgetting leaves, for receipts."""


def forget(
    breadcrumbs: Annotated[list[str] | None, typer.Argument(help="Ids of the breadcrumbs.")] = None,
    user: User = "",
    session: Annotated[
        str, typer.Option("--session", "-s", help="The whole session; with ids theirs, if the store does not have them.")
    ] = "",
    by: Annotated[str, typer.Option(help="Name for the receipt.")] = "",
    workspace: Workspace = "",
    servers: Servers = "",
    *,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")] = False,
    as_json: AsJson = False,
) -> None:
    """Erase breadcrumbs, a person or a session, and all that was made from them: stream, store, summaries, contexts, letters."""
    target, token = target_of(servers, workspace), optional_token(session)
    if bool(breadcrumbs) + bool(user) + bool(session and not breadcrumbs) != 1:
        raise Rejected("give ids, --user or --session: one of them says what to forget")
    if breadcrumbs:
        _forget_ids(target, breadcrumbs, token, by, as_json)
        return
    if sys.stdin.isatty() and not yes:
        _confirm(target, user, session)
    _forget_all(target, user, session, by, as_json)


def _confirm(target: Target, user: str, session: str) -> None:
    """Ask the terminal. Raises `typer.Abort`."""
    request = {"user_id": user} if user else {"session": optional_token(session)}
    crumbs = asyncio.run(read_history(target, request, 0))
    what = f"of session {session!r}"
    if user:
        sessions = {crumb["session"] for crumb in crumbs}
        what = f"of {user!r} in {len(sessions)} sessions"
    typer.confirm(f"Erase {len(crumbs)} breadcrumbs {what} for ever?", abort=True, err=True)


def _forget_ids(target: Target, ids: list[str], session: str, by: str, as_json: bool) -> None:
    """session: its token, "" = that of each."""
    from builder.wire.forgetting import MAX_FORGOTTEN

    async def work() -> list[JsonObject]:
        receipts: list[JsonObject] = []
        for start in range(0, len(ids), MAX_FORGOTTEN):
            request = {"ids": ids[start : start + MAX_FORGOTTEN], "session": session, "by": by}
            answer = await target.request("forget", request)
            receipts += map(_with_text, answer["receipts"])
        return receipts

    receipts = asyncio.run(work())
    lines = [f"forgot {receipt['id']} of {receipt['session']}: {_counts(receipt)}" for receipt in receipts]
    show(receipts, as_json, note="\n".join([*lines, OUT_OF_REACH]) if lines else "forgotten before")


def _forget_all(target: Target, user: str, session: str, by: str, as_json: bool) -> None:
    async def work() -> "PersonReceipt | SessionReceipt":
        async with target.connect() as client:
            if user:
                return await client.forget_person(user, by=by, progress=advance)
            return await client.forget_session(session, by=by, progress=advance)

    with progress_bar("forget") as advance:
        receipt = asyncio.run(work())
    receipts = receipt.receipts
    answer = {
        **({"user_id": user} if user else {"session": session}),
        "by": receipt.by,
        "breadcrumbs": len({each.id for each in receipts}),
        "sessions": receipt.sessions,
        "summaries": receipt.summaries,
        **{name: sum(getattr(each, name) for each in receipts) for name in ("versions", "messages", "contexts", "dead_letters")},
        "receipts": [asdict(each) | {"at": each.at.isoformat()} for each in receipts],
        "out_of_reach": OUT_OF_REACH,
    }
    answer["dead_letters"] += getattr(receipt, "other_letters", 0)
    what = f"{user} in {len(receipt.sessions)} sessions" if user else f"session {session}"
    note = f"forgot {answer['breadcrumbs']} breadcrumbs of {what}: {_counts(answer)}\n{OUT_OF_REACH}"
    show(answer, as_json, note=note if receipts or answer["dead_letters"] else f"nothing of {user or session} is remembered")


def _with_text(answer: JsonObject) -> JsonObject:
    """With the session as people name it."""
    return answer | {"session": session_text(answer["session"])}


async def read_history(target: Target, request: JsonObject, limit: int) -> list[JsonObject]:
    """Breadcrumbs, at most `limit`; 0 = all."""
    from builder.client.requests import pages

    breadcrumbs: list[JsonObject] = []
    async with target.connect() as client:
        async for page in pages(client, "history", request):
            breadcrumbs += page["breadcrumbs"]
            if limit and len(breadcrumbs) >= limit:
                break
    return [_with_text(each) for each in (breadcrumbs[:limit] if limit else breadcrumbs)]


def _counts(receipt: JsonObject) -> str:
    counts = {name: receipt[name] for name in ("versions", "messages", "contexts")} | {"summaries": len(receipt["summaries"])}
    return ", ".join(f"{count} {name}" for name, count in (counts | {"dead letters": receipt["dead_letters"]}).items())


def _words(crumb: JsonObject) -> str:
    """Text, and calls, which the text leaves out."""
    calls = [call for call in crumb["context"].get("tool_requests") or () if isinstance(call, dict)]
    lines = (f"calls {call.get('tool')} {json.dumps(call.get('input'), ensure_ascii=False)}" for call in calls)
    return visible("\n".join(filter(None, (crumb["text"], *lines))))


def _head(crumb: JsonObject) -> str:
    return visible(f"{crumb['id']}  {crumb['created_at']}  {crumb['schema_name']} v{crumb['version']}  {crumb['speaker']}")
