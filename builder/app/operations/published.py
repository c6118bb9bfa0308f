"""Published contexts, read again: their tokens beside those of whole conversations, and what shadow profiles change."""

import json
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from itertools import takewhile
from pathlib import Path
from statistics import fmean
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from builder.adapters.nats.topology import BREADCRUMBS, CONTEXTS
from builder.adapters.tokens import load_encoder
from builder.app.broker import stored
from builder.app.settings import Settings
from builder.client import Client
from builder.domain.breadcrumb import ORIGIN, TOOL_REQUEST, Breadcrumb, StreamMessage
from builder.domain.errors import Misconfigured, Rejected
from builder.remember.decode import decode
from builder.wire.files import YamlMistake, parse_yaml

PAGE, WHOLE, LAST = "page", "whole conversation", "last 20 messages"
LAST_MESSAGES = 20
ROLES = frozenset({"user", "assistant", "tool"})
MILLION = 1_000_000
MIN_CACHED, CACHE_BLOCK, CACHE_SECONDS = 1024, 128, 300.0
"""Prompt caches keep long beginnings, in blocks, for five minutes."""
Price = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class ModelPrices(BaseModel):
    """Prices of one model, for a million tokens of a prompt."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    input: Price
    cached_input: Price | None = None
    """None = as `input`."""

    def cost(self, new: float, cached: float) -> float:
        """The price of so many tokens."""
        return (new * self.input + cached * (self.input if self.cached_input is None else self.cached_input)) / MILLION


class PriceList(BaseModel):
    """A price list file."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    currency: str = Field("", max_length=16)
    models: dict[str, ModelPrices] = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class CountedPage:
    """One published context."""

    key: tuple[str, str, str]
    """Workspace, consumer, session."""
    sequence: int
    """The trigger's."""
    encoding: str
    moment: datetime
    static: int
    """Tokens of static sections, which an agent sends in any form."""
    pieces: Sequence[int]
    """Tokens."""


def load_prices(file: Path) -> PriceList:
    """Read a YAML or JSON file. Raises `Misconfigured`."""
    try:
        return PriceList.model_validate(parse_yaml(file.read_text("utf-8")) or {})
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        entry = "/".join(map(str, first["loc"])) or "the file"
        raise Misconfigured(f"{file}, {entry}: {first['msg']}; builder/docs/cost.md has an example") from error
    except (OSError, ValueError, YamlMistake) as error:
        raise Misconfigured(f"the price list {file} cannot be read: {error}; builder/docs/cost.md has an example") from error


async def read_costs(
    settings: Settings, servers: str, workspace: str, since: datetime, prices: PriceList, progress: Callable[[int, int], object]
) -> list[dict[str, Any]]:
    """A row per consumer with contexts since then. workspace: "" = all. progress: (sequence, last). Raises `Unavailable`."""
    sessions: defaultdict[tuple[str, str], list[CountedPage]] = defaultdict(list)
    rows: defaultdict[str, list[dict[str, tuple[int, int]]]] = defaultdict(list)
    async with (
        stored(settings, servers, CONTEXTS) as (contexts, last),
        stored(settings, servers, BREADCRUMBS) as (breadcrumbs, end),
    ):
        async for arrival in contexts.follow(f"contexts.{workspace or '*'}.>", 1, last.next):
            progress(arrival.place.sequence, last.sequence)
            with suppress(KeyError, TypeError, ValueError):  # the event of a forgotten context is empty
                page = counted_page(arrival)
                sessions[page.key[0], page.key[2]].append(page)
        for (tenant, session), pages in sessions.items():
            if pages[-1].moment < since:
                continue
            crumbs: list[Breadcrumb] = []
            async for arrival in breadcrumbs.walk(tenant, session, ORIGIN, end.next):
                with suppress(Rejected):
                    crumbs.append(decode(arrival))
            for page, sent in zip(pages, sent_tokens(pages, crumbs), strict=True):
                if page.moment >= since:
                    rows[page.key[1]].append(sent)
    return [_row(consumer, sent, prices) for consumer, sent in sorted(rows.items())]


def counted_page(arrival: StreamMessage) -> CountedPage:
    """Raises KeyError, TypeError or ValueError for other messages."""
    event = json.loads(arrival.data)
    encoding = event["assembly"]["tokenizer"]
    return CountedPage(
        key=(event["workspace"], event["consumer_id"], event["session_id"]),
        sequence=event["trigger_seq"],
        encoding=encoding,
        moment=arrival.received_at,
        static=sum(each["tokens"] for each in event["sections"] if each["class"] == "static"),
        pieces=load_encoder(encoding)(event["content"]),
    )


def sent_tokens(pages: Iterable[CountedPage], crumbs: Sequence[Breadcrumb]) -> list[dict[str, tuple[int, int]]]:
    """Per page: form of its conversation → (tokens, cached tokens). crumbs: the session's, in order."""
    before: dict[tuple[str, str], tuple[Sequence[Any], datetime]] = {}
    rows = []
    for page in pages:
        newest: dict[str, Breadcrumb] = {}
        for crumb in crumbs:
            is_sent = crumb.place.sequence <= page.sequence and crumb.role in ROLES and crumb.schema != TOOL_REQUEST
            if is_sent and (crumb.id not in newest or crumb.version > newest[crumb.id].version):
                newest[crumb.id] = crumb
        encode = load_encoder(page.encoding)
        whole = [(each.place, len(encode("\n".join((each.text, *each.call_signatures))))) for each in newest.values()]
        row = {}
        for form, messages in ((PAGE, None), (WHOLE, whole), (LAST, whole[-LAST_MESSAGES:])):
            pieces = [(token, 1) for token in page.pieces] if messages is None else [(ORIGIN, page.static), *messages]
            previous, then = before.get((page.key[1], form), ((), page.moment))
            alike = sum(size for _, size in pieces[: _alike(previous, pieces)])
            is_cached = alike >= MIN_CACHED and (page.moment - then).total_seconds() <= CACHE_SECONDS
            row[form] = sum(size for _, size in pieces), alike // CACHE_BLOCK * CACHE_BLOCK if is_cached else 0
            before[page.key[1], form] = pieces, page.moment
        rows.append(row)
    return rows


def _row(consumer: str, rows: list[dict[str, tuple[int, int]]], prices: PriceList) -> dict[str, Any]:
    sent = {form: [round(fmean(values), 1) for values in zip(*(row[form] for row in rows), strict=True)] for form in rows[0]}
    return {
        "consumer": consumer,
        "contexts": len(rows),
        "sent": {
            form: {"tokens": tokens, "cached": cached}
            | {name: round(len(rows) * each.cost(tokens - cached, cached), 9) for name, each in prices.models.items()}
            for form, (tokens, cached) in sent.items()
        },
    }


def _alike(before: Sequence[object], now: Sequence[object]) -> int:
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(before, now, strict=False)))


Event = Mapping[str, Any]
REASONS = 3


async def read_contexts(settings: Settings, servers: str, workspace: str, consumers: Iterable[str], most: int) -> list[Event]:
    """The newest kept ones, newest first. Raises `Unavailable`."""
    newest: deque[Event] = deque(maxlen=most)
    names = frozenset(consumers)
    async with stored(settings, servers, CONTEXTS) as (stream, last):
        async for arrival in stream.follow(f"contexts.{workspace}.>", 1, last.next):
            event = json.loads(arrival.data)  # the event of a forgotten context is empty
            if event.get("consumer_id") in names:
                newest.append(event)
    return list(reversed(newest))


async def replayed_differences(
    client: Client, contexts: Iterable[Event], shadows: Mapping[str, str], advance: Callable[[int, int], object]
) -> list[dict[str, Any]]:
    """Replay each context with its consumer's shadows.

    shadows: name → consumer. advance: (done, total). Raises `Unavailable`.
    """
    trials = [(event, name) for event in contexts for name, consumer in shadows.items() if consumer == event["consumer_id"]]
    differences = []
    for done, (event, shadow) in enumerate(trials, 1):
        address = {"trigger": event["trigger_event_id"], "session": event["session_id"], "consumer": event["consumer_id"]}
        try:
            answer = await client.request("replay", address | {"profile": shadow})
            differences.append(difference(event, shadow, answer["after"]))
        except Rejected as error:
            differences.append(difference(event, shadow, None, str(error)))
        advance(done, len(trials))
    return differences


def difference(event: Event, shadow: str, other: Event | None, why: str = "") -> dict[str, Any]:
    """`equal_lines` is 0 to 1. other: None = no page, because of `why`."""
    ids = [dict.fromkeys(each for section in page["sections"] for each in section["ids"]) for page in (event, other or event)]
    return {
        "consumer": event["consumer_id"],
        "shadow": shadow,
        "session": event["session_id"],
        "trigger": event["trigger_event_id"],
        "tokens": event["token_count"],
        "shadow_tokens": other["token_count"] if other else None,
        "rejection": why,
        "lost": [each for each in ids[0] if other and each not in ids[1]],
        "gained": [each for each in ids[1] if each not in ids[0]],
        "equal_lines": round(equal_lines(event["content"], other["content"]), 4) if other else 0,
        "is_identical": other is not None and event["content"] == other["content"],
    }


def equal_lines(one: str, other: str) -> float:
    """Share of all lines; 1 for equal texts."""
    counts, others = Counter(one.splitlines()), Counter(other.splitlines())
    total = counts.total() + others.total()
    return 2 * (counts & others).total() / total if total else 1.0


def summarise_differences(differences: Iterable[Mapping[str, Any]], limit: int) -> dict[str, Any]:
    """A summary per consumer and shadow, and the `limit` most different contexts."""
    pairs: defaultdict[tuple[str, str], list[Mapping[str, Any]]] = defaultdict(list)
    for each in differences:
        pairs[each["consumer"], each["shadow"]].append(each)
    differing = [each for members in pairs.values() for each in members if not each["is_identical"]]
    return {
        "shadows": [_summary(*pair, members) for pair, members in sorted(pairs.items())],
        "most_different": sorted(differing, key=lambda each: float(each["equal_lines"]))[:limit],
    }


def _summary(consumer: str, shadow: str, members: list[Mapping[str, Any]]) -> dict[str, Any]:
    pages = [each for each in members if each["shadow_tokens"] is not None]
    return {
        "consumer": consumer,
        "shadow": shadow,
        "contexts": len(members),
        "without_page": len(members) - len(pages),
        "identical": sum(each["is_identical"] for each in members),
        "tokens_mean": round(fmean([each["tokens"] for each in pages] or [0])),
        "shadow_tokens_mean": round(fmean([each["shadow_tokens"] for each in pages] or [0])),
        "equal_lines": round(fmean(each["equal_lines"] for each in members), 3),
        "lost": sum(len(each["lost"]) for each in pages),
        "gained": sum(len(each["gained"]) for each in pages),
        "rejections": dict(Counter(each["rejection"] for each in members if each["rejection"]).most_common(REASONS)),
    }
