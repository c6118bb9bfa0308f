"""A context without NATS: events in, the event out."""

import json
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import datetime
from typing import Any

from builder.app.broker import IN_MEMORY, location
from builder.app.components import open_components
from builder.app.operations.profile_catalog import open_catalog
from builder.app.settings import Settings
from builder.domain.breadcrumb import Breadcrumb, Place
from builder.domain.errors import Rejected
from builder.publish.event import encode
from builder.remember.decode import decode
from builder.remember.record import Lifetimes
from builder.service import OPEN_TURN
from builder.wire.chat_lines import chat_lines
from builder.wire.records import Outgoing, read_lines

EPOCH = datetime.fromisoformat("1970-01-01T00:00:00+00:00")


async def build_once(
    settings: Settings,
    lines: Iterable[str],
    workspace: str,
    session: str,
    profile: str,
    trigger_id: str,
    warn: Callable[[str], None],
) -> dict[str, Any]:
    """The `agent.context.v1` for one breadcrumb of the events. Raises `Rejected` and `Misconfigured`.

    warn: called with a line for each template that failed, and for each problem of the profile and of the templates it uses.
    """
    breadcrumbs = read_breadcrumbs(lines, workspace, session, settings.lifetimes)
    trigger = trigger_of(breadcrumbs, trigger_id)
    async with open_components(settings, location(IN_MEMORY), preset=profile) as core:
        for breadcrumb in breadcrumbs:
            if breadcrumb.place < trigger.place:
                await core.builder.remember(breadcrumb)
        result = await core.builder.build(trigger, (core.profile(profile),))
        for failure in core.config.failures.all:
            warn(f"{failure.file} failed {failure.times} times, {failure.instead} is shown: {failure.reason}")
    if settings.templates_dir:
        for finding in open_catalog(settings).findings((profile,)):
            warn(str(finding))
    if result.rejected:
        raise Rejected(result.rejected[0])
    if not result.contexts:
        raise Rejected(f"{trigger.id} gives no context: {OPEN_TURN}")
    event: dict[str, Any] = json.loads(encode(result.contexts[0]))
    return event


def read_breadcrumbs(lines: Iterable[str], workspace: str, session: str, lifetimes: Lifetimes) -> tuple[Breadcrumb, ...]:
    """In file order, their own times as the stream's. Raises `Rejected` with the line number."""
    lines = chat_lines(lines, session).lines
    numbers = [number for number, line in enumerate(lines, 1) if line.strip()]
    events = zip(numbers, read_lines(lines, workspace, session), strict=True)
    return tuple(_placed(event, sequence, number, lifetimes) for sequence, (number, event) in enumerate(events, 1))


def _placed(event: Outgoing, sequence: int, line: int, lifetimes: Lifetimes) -> Breadcrumb:
    """line: of the file, for the message."""
    try:
        breadcrumb = decode(event.arrive(Place(1, sequence), EPOCH), lifetimes=lifetimes)
    except Rejected as error:
        raise Rejected(f"line {line}: {error}") from error
    return replace(breadcrumb, received_at=breadcrumb.created_at)


def trigger_of(breadcrumbs: tuple[Breadcrumb, ...], identity: str) -> Breadcrumb:
    """identity: "" = the last user message."""
    for breadcrumb in reversed(breadcrumbs):
        if breadcrumb.id == identity or (not identity and breadcrumb.role == "user"):
            return breadcrumb
    missing = f"breadcrumb {identity!r}" if identity else "user message"
    raise Rejected(f"the events hold no {missing}; nothing asks for a context")
