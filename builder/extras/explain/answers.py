"""Answers to `explain`, `strip`, `why` and `replay`: a published context is built again and accounted for."""

import json
from dataclasses import asdict
from typing import Annotated, Any

from pydantic import BeforeValidator, Field
from typing_extensions import TypedDict

from builder.app.context_event import AgentContextV1
from builder.domain.breadcrumb import NO_SESSION
from builder.domain.errors import Rejected
from builder.extra import Host
from builder.extras.explain.cells import Cell
from builder.extras.explain.context_receipt import ContextReceipt
from builder.extras.explain.explanation import PageExplanation
from builder.extras.explain.strip import strip_of
from builder.publish.reports import DIGITS
from builder.wire.requests import BuiltContext, Number, ReplayRequest, json_number
from builder.worker.replays import Replay

MAX_CELLS = 10_000


class ExplainRequest(BuiltContext):
    """Why the page of a context looks as it does: its receipt."""

    most: Annotated[int, Field(ge=0), BeforeValidator(json_number)] | None = Field(
        50, description="breadcrumbs that are named of those not on the page; null = all"
    )


class StripRequest(BuiltContext):
    """How much of each breadcrumb of a session is on a context's page."""

    most: Number = Field(MAX_CELLS, ge=1, le=MAX_CELLS, description="most cells, the newest")


class WhyRequest(BuiltContext):
    """Why a breadcrumb is on a context's page, or not."""

    id: str = Field(min_length=1, description="id of the breadcrumb")


class Rebuilt(TypedDict):
    """Names the context that was built again."""

    context: str
    trigger: str
    session: str
    consumer: str
    tokens: int
    is_same: bool | None
    notes: list[str]


class Explanation(Rebuilt):
    """The page with its receipt, and the milliseconds of its parts."""

    content: str
    receipt: dict[str, Any]
    times: dict[str, int]


class SectionSize(TypedDict):
    """A section of the page."""

    name: str
    tokens: int


class SessionStrip(Rebuilt):
    """The session in cells, beside the page."""

    content: str
    budget: int
    sections: list[SectionSize]
    cells: list[Cell]
    earlier: int


class Reason(Rebuilt):
    """Why a breadcrumb is on the page, or not."""

    sentence: str


class Comparison(Rebuilt):
    """A context as it was and as it is built now, and templates that failed."""

    before: AgentContextV1
    after: AgentContextV1
    failures: list[str]


async def explain(host: Host, workspace: str, request: ExplainRequest) -> dict[str, Any]:
    """The page built again, and the reason of each line."""
    replay = await host.replays.replay(workspace, request)
    receipt = receipt_values(PageExplanation(replay.assembly).receipt(request.most))
    return _head(replay) | {"content": replay.context.markdown, "receipt": receipt, "times": dict(replay.times)}


async def strip(host: Host, workspace: str, request: StripRequest) -> dict[str, Any]:
    """One cell a breadcrumb, beside the page built again."""
    replay = await host.replays.replay(workspace, request)
    context = replay.context
    page = {
        "content": context.markdown,
        "budget": context.budget,
        "sections": [{"name": section.name, "tokens": section.tokens} for section in context.sections],
    }
    return _head(replay) | page | asdict(strip_of(replay.assembly, request.most))


async def why(host: Host, workspace: str, request: WhyRequest) -> dict[str, Any]:
    """A sentence on one breadcrumb."""
    replay = await host.replays.replay(workspace, request)
    explanation = PageExplanation(replay.assembly)
    if explanation.knows(request.id):
        sentence = explanation.why(request.id)
    else:
        sentence = await _why_not_recalled(host, replay, request.id)
    return _head(replay) | {"sentence": sentence}


async def replay(host: Host, workspace: str, request: ReplayRequest) -> dict[str, Any]:
    """Two events, and failures of templates.

    `before`: published, or rebuilt. `after`: rebuilt, or with the other profile and files.
    """
    if request.profile or request.files or request.over_bundled:
        variation = await host.replays.vary(workspace, request)
        again, after, failures = variation.replay, variation.event, variation.failures
    else:
        again = await host.replays.replay(workspace, request)
        after, failures = again.event, ()
    before = again.event if again.published is None else again.published
    return _head(again) | {"before": json.loads(before), "after": json.loads(after), "failures": list(failures)}


def receipt_values(receipt: ContextReceipt) -> dict[str, Any]:
    """The fields of `ContextReceipt`; what is None is left out."""
    values: dict[str, Any] = _plain(asdict(receipt))
    values["budget"]["unused"] = receipt.budget.unused
    return values


def _plain(value: Any) -> Any:
    if isinstance(value, float):
        return round(value, DIGITS)
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items() if item is not None}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value


async def _why_not_recalled(host: Host, replay: Replay, identity: str) -> str:
    """Raises `Rejected` for an unknown breadcrumb."""
    trigger, as_of = replay.trigger, replay.context.as_of or replay.context.quiet_from
    versions = await host.log.store.versions(trigger.workspace, identity)
    if not versions and await host.log.store.traces(trigger.workspace, identity):
        return f"{identity} is not on the page: it was erased."
    if not versions:
        problem = f"there is no breadcrumb {identity!r} in workspace {trigger.workspace!r}"
        raise Rejected(f"{problem}; context-builder history SESSION lists ids")
    first = versions[0]
    name = f"{identity} v{first.version} ({first.schema}, {first.speaker})"
    if first.place > (as_of or trigger.place):
        end = f"sequence {as_of.sequence:,}" if as_of else "the message to answer"
        return f"{name} is not on the page: it came after {end}."
    if first.session not in (trigger.session, NO_SESSION):
        scope, consumer = replay.profile.retrieval.scope, replay.profile.consumer
        where = scope if isinstance(scope, str) else ", ".join(scope)
        return (
            f"{name} is not on the page: it is of session {first.session}, and profile {consumer!r} looks into "
            f"`retrieval.scope: {where}`."
        )
    return f"{name} is not on the page: it is of no session, and neither a note that is searched nor pinned by the profile."


def _head(replay: Replay) -> dict[str, Any]:
    context = replay.context
    return {
        "context": str(context.id),
        "trigger": replay.trigger.id,
        "session": replay.trigger.session,
        "consumer": context.consumer,
        "tokens": context.tokens,
        "is_same": replay.is_same,
        "notes": list(replay.notes),
    }
