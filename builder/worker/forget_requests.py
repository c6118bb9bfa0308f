"""Requests to forget: breadcrumbs by their ids, all of a person, or a whole session."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from builder.domain.breadcrumb import ORIGIN, SUMMARY, Breadcrumb
from builder.domain.errors import Missing
from builder.domain.json_values import JsonObject
from builder.domain.recall import EVERY_SESSION, RecallQuery, Scope
from builder.ports.archive import EVERY_ID
from builder.ports.store import CompleteStore, Store
from builder.recall.scopes import history_of
from builder.wire.forgetting import MAX_FORGOTTEN, ForgetRequest, check_subject, receipt_json
from builder.worker.log import STREAM_END
from builder.worker.requests import Host
from builder.worker.tombstones import Target

PAGE_ROWS = 1_000
"""Rows of a session that is read as a whole."""


def nothing_to_forget(workspace: str, ids: Iterable[str]) -> Missing:
    """Refusal of a request to forget."""
    names = ", ".join(map(repr, ids))
    return Missing(
        f"there is no breadcrumb {names} in workspace {workspace!r}; name its session if the store cannot know it, because it is "
        "a secret or was rejected"
    )


async def breadcrumbs_of(store: Store, workspace: str, request: ForgetRequest) -> list[Breadcrumb]:
    """The breadcrumbs of a request for a person or a session, in newest versions, responses and results first.

    Summaries come when nothing else is left: they go with what they were made from. Raises `Unavailable`.
    """
    if request.user_id:
        crumbs = await history_of(store, workspace, request.user_id, STREAM_END)
        return sorted(crumbs, key=lambda crumb: (crumb.user_id == request.user_id, -crumb.place.sequence))
    whole = await _session(store, workspace, request.session)
    return [crumb for crumb in whole if crumb.schema != SUMMARY] or whole


async def _session(store: Store, workspace: str, session: str) -> list[Breadcrumb]:
    """Also results of no session that joined it; the newest first."""
    scope, after, newest = Scope(workspace=workspace, sessions=(session,)), ORIGIN, dict[str, Breadcrumb]()
    while True:
        query = RecallQuery(
            scope=scope, session=session, after=after, until=STREAM_END, limit=PAGE_ROWS, pinned=(), model="", searched=False
        )
        rows = (await store.recall(query)).rows
        for crumb in (row.breadcrumb for row in rows if not row.breadcrumb.removes):
            if crumb.id not in newest or newest[crumb.id].version < crumb.version:
                newest[crumb.id] = crumb
        if len(rows) < PAGE_ROWS:
            return sorted(newest.values(), key=lambda crumb: crumb.place, reverse=True)
        after = rows[-1].breadcrumb.place


async def forget(host: Host, workspace: str, request: ForgetRequest) -> JsonObject:
    """See `ForgetRequest`. A receipt for each breadcrumb in each session that had it; none when it was forgotten before."""
    check_subject(request)
    store, forgetting = host.log.store, host.forgetting
    await host.log.catch_up(workspace, EVERY_SESSION)
    if request.names:
        return _answer(await forgetting.request(workspace, await _targets(store, workspace, request), request.by))
    crumbs = await breadcrumbs_of(store, workspace, request)
    targets = [await _target(store, workspace, crumb) for crumb in crumbs[:MAX_FORGOTTEN]]
    receipts = await forgetting.request(workspace, targets, request.by)
    letters = Counter[str]()
    if request.session:
        letters = await host.letters.delete_of(workspace, request.session)
    rest = len(await breadcrumbs_of(store, workspace, request))
    return _answer(receipts, rest, letters[EVERY_ID])


def _answer(receipts: Sequence[Any], rest: int = 0, letters: int = 0) -> JsonObject:
    return {"receipts": list(map(receipt_json, receipts)), "rest": rest, "dead_letters": letters}


async def _target(store: Store, workspace: str, crumb: Breadcrumb) -> Target:
    versions = await store.versions(workspace, crumb.id)
    return Target(session=crumb.session, id=crumb.id, versions=sum(each.session == crumb.session for each in versions))


async def _targets(store: CompleteStore, workspace: str, request: ForgetRequest) -> list[Target]:
    targets, unknown = list[Target](), list[str]()
    for name in request.names:
        counts = Counter(crumb.session for crumb in await store.versions(workspace, name))
        sessions = sorted({request.session} if request.session else counts)
        if not sessions and not await store.traces(workspace, name):
            unknown.append(name)
        targets += (Target(session=session, id=name, versions=counts[session]) for session in sessions)
    if unknown:
        raise nothing_to_forget(workspace, unknown)
    return targets
