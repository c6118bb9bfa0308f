"""A context without NATS: events in, the event out."""

import json
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import datetime
from typing import Any

from builder.app import IN_MEMORY, location, open_components
from builder.app.settings import Settings
from builder.domain.breadcrumb import Breadcrumb, Place
from builder.domain.errors import Rejected
from builder.publish.event import encode
from builder.remember.decode import decode
from builder.remember.lifetimes import Lifetimes
from builder.wire.records import Outgoing, read_lines

EPOCH = datetime.fromisoformat("1970-01-01T00:00:00+00:00")


async def build_once(
    settings: Settings,
    lines: Iterable[str],
    workspace: str,
    session: str,
    profile: str,
    trigger: str,
    tell: Callable[[str], None],
) -> dict[str, Any]:
    """The `agent.context.v1` for one breadcrumb of the events. Raises `Rejected` and `Misconfigured`.

    tell: told in a line of each template that could not render something.
    """
    breadcrumbs = read_breadcrumbs(lines, workspace, session, settings.lifetimes)
    asked = _trigger(breadcrumbs, trigger)
    async with open_components(settings, location(IN_MEMORY)) as core:
        for breadcrumb in breadcrumbs:
            if breadcrumb.place < asked.place:
                await core.builder.remember(breadcrumb)
        built = await core.builder.build(asked, (core.profile(profile),))
        for failure in core.config.failures.all:
            tell(f"{failure.file} failed {failure.times} times, {failure.instead} is shown: {failure.reason}")
    if built.rejected:
        raise Rejected(built.rejected[0])
    if not built.contexts:
        raise Rejected(
            f"{asked.id} gives no context: the calls of its turn are not all answered, its own was answered before, "
            "or a person has spoken since"
        )
    event: dict[str, Any] = json.loads(encode(built.contexts[0]))
    return event


def read_breadcrumbs(lines: Iterable[str], workspace: str, session: str, lifetimes: Lifetimes) -> tuple[Breadcrumb, ...]:
    """Events in file order, their own times as the stream's. Raises `Rejected` with the line number."""
    held = tuple(lines)
    numbers = [number for number, line in enumerate(held, 1) if line.strip()]
    events = zip(numbers, read_lines(held, workspace, session), strict=True)
    return tuple(_placed(event, sequence, number, lifetimes) for sequence, (number, event) in enumerate(events, 1))


def _placed(event: Outgoing, sequence: int, line: int, lifetimes: Lifetimes) -> Breadcrumb:
    """line: where the event stands in the file, for the message."""
    try:
        breadcrumb = decode(event.arrive(Place(1, sequence), EPOCH), lifetimes=lifetimes)
    except Rejected as error:
        raise Rejected(f"line {line}: {error}") from error
    return replace(breadcrumb, received_at=breadcrumb.created_at)


def _trigger(breadcrumbs: tuple[Breadcrumb, ...], wanted: str) -> Breadcrumb:
    for breadcrumb in reversed(breadcrumbs):
        if breadcrumb.id == wanted or (not wanted and breadcrumb.role == "user"):
            return breadcrumb
    raise Rejected(f"the events hold no {'breadcrumb ' + repr(wanted) if wanted else 'user message'}; nothing asks for a context")
