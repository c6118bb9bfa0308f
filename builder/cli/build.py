"""A context without NATS: events in, the event out."""

import json
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import UTC, datetime

from builder.app.broker import IN_MEMORY, location
from builder.app.components import open_components
from builder.app.settings import Settings
from builder.chat_files.reader import FileContent, Refusal, read_file, refusal_lines
from builder.domain.breadcrumb import NO_TIME, Breadcrumb, Place
from builder.domain.errors import Rejected
from builder.domain.json_values import JsonObject
from builder.extra import additions
from builder.publish.event import encode
from builder.remember.decode import DEFAULT_MAX_BYTES, decode
from builder.remember.lifetimes import Lifetimes
from builder.service import OPEN_TURN, ContextBuilder


async def build_once(
    settings: Settings,
    lines: Iterable[str],
    workspace: str,
    session: str,
    profile: str,
    trigger_id: str,
    warn: Callable[[str], None],
    *,
    strict: bool = False,
) -> JsonObject:
    """The `agent.context.v1` for one breadcrumb of the events. Raises `Rejected` and `Misconfigured`.

    warn: called with a line for what could not be read, for each template that failed, and for each problem of the profile and of
    the templates it uses. strict: what cannot be read refuses the whole.
    """
    content = read_file(lines, workspace, session)
    breadcrumbs = placed(content, settings.lifetimes, settings.worker.max_body_bytes)
    _check(content, strict=strict, is_empty=not breadcrumbs)
    trigger = trigger_of(tuple(crumb for _, crumb in breadcrumbs), trigger_id)
    async with open_components(settings, location(IN_MEMORY), preset=profile) as core:
        content.refusals += await _remember(core.builder, breadcrumbs, trigger.place)
        _check(content, strict=strict, is_empty=False)
        for sentence in (*content.notes(), *refusal_lines(content.refusals)):
            warn(sentence)
        result = await core.builder.build(trigger, (core.profile(profile),))
        for failure in core.config.failures.all:
            warn(f"{failure.file} failed {failure.times} times, {failure.instead} is shown: {failure.reason}")
    if settings.templates_dir:
        for lint in additions("lints").values():
            for finding in lint(settings, (profile,)):
                warn(str(finding))
    if result.rejected:
        raise Rejected(result.rejected[0])
    if not result.contexts:
        raise Rejected(f"{trigger.id} gives no context: {OPEN_TURN}")
    event: JsonObject = json.loads(encode(result.contexts[0]))
    return event


def read_breadcrumbs(lines: Iterable[str], workspace: str, session: str, lifetimes: Lifetimes) -> tuple[Breadcrumb, ...]:
    """All that a page would be built of, for tests of one's own files. Raises `Rejected` where a line cannot be read."""
    content = read_file(lines, workspace, session)
    breadcrumbs = placed(content, lifetimes)
    _check(content, strict=True, is_empty=False)
    return tuple(crumb for _, crumb in breadcrumbs)


def placed(content: FileContent, lifetimes: Lifetimes, max_bytes: int = DEFAULT_MAX_BYTES) -> tuple[tuple[int, Breadcrumb], ...]:
    """Line and breadcrumb of each event in the content's order, its own time as the stream's; others become refusals.

    A breadcrumb without a time has that of the one before it, else of the first that has one, else NO_TIME.
    """
    now, breadcrumbs = datetime.now(UTC), list[tuple[int, Breadcrumb]]()
    time = next((each.time for each in content.events if each.time is not None), NO_TIME)
    for sequence, each in enumerate(content.events, 1):
        try:
            breadcrumb = decode(each.event.arrive(Place(1, sequence), now), max_bytes, lifetimes)
        except Rejected as error:
            content.refusals.append(Refusal(each.line, str(error)))
            continue
        time = time if each.time is None else breadcrumb.created_at
        breadcrumbs.append((each.line, replace(breadcrumb, created_at=time, received_at=time)))
    return tuple(breadcrumbs)


def trigger_of(breadcrumbs: tuple[Breadcrumb, ...], identity: str) -> Breadcrumb:
    """identity: of the breadcrumb, or of the chat line in its conversation; "" = the last user message."""
    for breadcrumb in reversed(breadcrumbs):
        is_named = identity in (breadcrumb.id, breadcrumb.id.partition(":")[2])
        if (identity and is_named) or (not identity and breadcrumb.role == "user"):
            return breadcrumb
    missing = f"breadcrumb {identity!r}" if identity else "user message"
    raise Rejected(f"the events hold no {missing}; nothing asks for a context")


def _check(content: FileContent, *, strict: bool, is_empty: bool) -> None:
    if content.refusals and (strict or is_empty):
        raise Rejected("; ".join(refusal_lines(content.refusals, most=1)))


async def _remember(builder: ContextBuilder, breadcrumbs: Iterable[tuple[int, Breadcrumb]], end: Place) -> list[Refusal]:
    """Those before the end; what cannot be remembered."""
    refusals = []
    for line, breadcrumb in breadcrumbs:
        try:
            if breadcrumb.place < end:
                await builder.remember(breadcrumb)
        except Rejected as error:
            refusals.append(Refusal(line, str(error)))
    return refusals
