"""What is published or printed about contexts: folded results, receipts, and how two pages differ."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from builder.domain.context import Compaction, Context
from builder.domain.receipt import Receipt

COMPACTION_SCHEMA = "context.compacted.v1"

STRICT_MODEL = ConfigDict(extra="forbid", frozen=True)


class CompactionV1(BaseModel):
    """Tool results that were folded to one line each, because the conversation does not fit."""

    model_config = STRICT_MODEL
    original_tokens: int = Field(description="tokens that the conversation on the page would have without folding")
    compacted_tokens: int = Field(description="tokens that it has with the results folded")
    folded: tuple[str, ...] = Field(description="breadcrumbs whose results were folded, oldest first")
    budget: int = Field(description="tokens that the page may have")


class ContextCompactedV1(CompactionV1):
    """Says that a context was compacted: sent by core NATS once the context is published, best effort, kept by nobody."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        json_schema_extra={
            "examples": [
                {
                    "original_tokens": 5120,
                    "compacted_tokens": 2710,
                    "folded": ["t3", "t5"],
                    "budget": 4000,
                    "schema_name": COMPACTION_SCHEMA,
                    "context_id": "8c1cbb1e-52b3-5d0e-9d0c-6a2f4c3b2a10",
                    "workspace": "default",
                    "consumer_id": "default",
                    "session_id": "s42",
                    "trigger_event_id": "m110",
                }
            ]
        },
    )
    schema_name: str = COMPACTION_SCHEMA
    context_id: str = Field(description="id of the context")
    workspace: str
    consumer_id: str
    session_id: str
    trigger_event_id: str


def encode_compaction(context: Context, compaction: Compaction) -> bytes:
    """The event `context.compacted.v1`."""
    event = ContextCompactedV1(
        **compaction_of(context, compaction).model_dump(),
        context_id=str(context.id),
        workspace=context.trigger.workspace,
        consumer_id=context.consumer,
        session_id=context.trigger.session,
        trigger_event_id=context.trigger.id,
    )
    return event.model_dump_json().encode()


def compaction_of(context: Context, compaction: Compaction) -> CompactionV1:
    """Of a context's event."""
    return CompactionV1(
        original_tokens=compaction.original,
        compacted_tokens=compaction.compacted,
        folded=compaction.folded,
        budget=context.budget,
    )


DIGITS = 6
"""Of probabilities and signals."""


def receipt_values(receipt: Receipt) -> dict[str, Any]:
    """The fields of `Receipt`; what is None is left out."""
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


Event = Mapping[str, Any]


def difference(event: Event, shadow: str, other: Event | None, why: str = "") -> dict[str, Any]:
    """How a shadow's page differs from the consumer's, as JSON.

    event: the consumer's. other: the shadow's; None = no page, and `why` says why.
    """
    one, two = _ids(event), _ids(other) if other else ()
    own, others = frozenset(one), frozenset(two)
    return {
        **{name: event[name] for name in ("workspace", "trigger_seq")},
        "consumer": event["consumer_id"],
        "shadow": shadow,
        "session": event["session_id"],
        "trigger": event["trigger_event_id"],
        "at": event["assembled_at"],
        "page": _figures(event),
        "shadow_page": _figures(other) if other else None,
        "rejection": why,
        "both": len(own & others),
        "only_consumer": [each for each in one if each not in others],
        "only_shadow": [each for each in two if each not in own],
        "out_of_order": out_of_order([each for each in one if each in others], [each for each in two if each in own]),
        "equal_lines": round(equal_lines(event["content"], other["content"]), 4) if other else 0,
        "is_identical": other is not None and event["content"] == other["content"],
    }


def equal_lines(one: str, other: str) -> float:
    """Share of all lines that both texts have; 1 for equal texts."""
    counts, others = Counter(one.splitlines()), Counter(other.splitlines())
    total = counts.total() + others.total()
    return 2 * (counts & others).total() / total if total else 1.0


def out_of_order(one: Sequence[str], other: Sequence[str]) -> tuple[str, ...]:
    """The fewest ids to remove so that both have one order. Both have the same ids, each once."""
    places = {each: number for number, each in enumerate(other)}
    ends: list[int] = []  # of ascending runs of length 1, 2, …: the lowest place at which one ends
    runs: list[tuple[str, ...]] = []
    for each in one:
        length = bisect_left(ends, places[each])
        run = ((*runs[length - 1], each) if length else (each,),)
        ends[length : length + 1], runs[length : length + 1] = [places[each]], run
    stays = frozenset(runs[-1]) if runs else frozenset[str]()
    return tuple(each for each in one if each not in stays)


def _ids(event: Event) -> tuple[str, ...]:
    return tuple(dict.fromkeys(each for section in event["sections"] for each in section["ids"]))


def _figures(event: Event) -> dict[str, Any]:
    return {
        **{name: event["assembly"][name] for name in ("profile", "templates", "budget", "flags")},
        "tokens": event["token_count"],
        "sections": {section["name"]: section["tokens"] for section in event["sections"]},
        "omissions": event["omissions"]["by_reason"],
    }
