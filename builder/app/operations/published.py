"""The tokens of published contexts beside those of whole conversations."""

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from itertools import chain, takewhile
from statistics import fmean
from typing import Any

from builder.adapters.nats.topology import BREADCRUMBS, CONTEXTS
from builder.adapters.tokens import load_encoder
from builder.app.broker import stored
from builder.app.settings import Settings
from builder.domain.breadcrumb import ORIGIN, TOOL_REQUEST, Breadcrumb, StreamMessage
from builder.domain.errors import Rejected
from builder.remember.decode import decode

PAGE, WHOLE, LAST = "page", "whole conversation", "last 20 messages"
LAST_MESSAGES = 20
ROLES = frozenset({"user", "assistant", "tool"})
MIN_CACHED, CACHE_BLOCK, CACHE_SECONDS = 1024, 128, 300.0
"""Prompt caches keep long beginnings, in blocks, for five minutes."""
CACHED_WEIGHT = 0.1
"""What a cached token counts beside a new one."""


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
    ids: frozenset[str]
    """Of the breadcrumbs that are on it whole."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SentPage:
    """What one page has, and what would be sent instead of it."""

    is_whole: bool
    """It has all that was said in the conversation, uncut."""
    forms: dict[str, tuple[int, int]]
    """Form of the conversation → (tokens, cached tokens)."""
    growth: int
    """Tokens of the whole conversation that the page before did not have."""


async def read_costs(
    settings: Settings, servers: str, workspace: str, since: datetime, progress: Callable[[int, int], object]
) -> list[dict[str, Any]]:
    """A row per consumer with contexts since then. workspace: "" = all. progress: (sequence, last). Raises `Unavailable`."""
    sessions: defaultdict[tuple[str, str], list[CountedPage]] = defaultdict(list)
    rows: defaultdict[str, list[SentPage]] = defaultdict(list)
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
    return [_row(consumer, sent) for consumer, sent in sorted(rows.items())]


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
        ids=frozenset(chain.from_iterable(each["ids"] for each in event["sections"]))
        - {each["id"] for each in event["omissions"]["partial"]},
    )


def sent_tokens(pages: Iterable[CountedPage], crumbs: Sequence[Breadcrumb]) -> list[SentPage]:
    """Of each page. crumbs: the session's, in order."""
    before: dict[tuple[str, str], tuple[Sequence[Any], datetime]] = {}
    static: defaultdict[str, int] = defaultdict(int)  # a page with little room shows a shorter catalog, an agent sends all of it
    rows = []
    for page in pages:
        newest: dict[str, Breadcrumb] = {}
        for crumb in crumbs:
            is_sent = crumb.place.sequence <= page.sequence and crumb.role in ROLES and crumb.schema != TOOL_REQUEST
            if is_sent and (crumb.id not in newest or crumb.version > newest[crumb.id].version):
                newest[crumb.id] = crumb
        encode = load_encoder(page.encoding)
        whole = [(each.place, len(encode("\n".join((each.text, *each.call_signatures))))) for each in newest.values()]
        static[page.key[1]] = max(static[page.key[1]], page.static)
        forms, growth = {}, 0
        for form, messages in ((PAGE, None), (WHOLE, whole), (LAST, whole[-LAST_MESSAGES:])):
            pieces = [(token, 1) for token in page.pieces] if messages is None else [(ORIGIN, static[page.key[1]]), *messages]
            previous, then = before.get((page.key[1], form), ((), page.moment))
            alike = sum(size for _, size in pieces[: _alike(previous, pieces)])
            is_cached = alike >= MIN_CACHED and (page.moment - then).total_seconds() <= CACHE_SECONDS
            tokens = sum(size for _, size in pieces)
            forms[form] = tokens, alike // CACHE_BLOCK * CACHE_BLOCK if is_cached else 0
            growth = tokens - alike if form == WHOLE else growth
            before[page.key[1], form] = pieces, page.moment
        texts = {crumb.text for crumb in newest.values() if crumb.id in page.ids}  # what was sent twice may stand once
        is_whole = all(crumb.id in page.ids or crumb.text in texts for crumb in newest.values())
        rows.append(SentPage(is_whole=is_whole, forms=forms, growth=growth))
    return rows


def _row(consumer: str, rows: list[SentPage]) -> dict[str, Any]:
    sent = {form: [fmean(values) for values in zip(*(row.forms[form] for row in rows), strict=True)] for form in rows[0].forms}
    return {
        "consumer": consumer,
        "contexts": len(rows),
        "sent": {
            form: {"tokens": round(tokens, 1), "cached": round(cached, 1), "cost": round(_cost(tokens, cached), 1)}
            for form, (tokens, cached) in sent.items()
        },
        "break_even": break_even([row for row in rows if not row.is_whole]),
    }


def break_even(rows: Sequence[SentPage]) -> dict[str, int] | None:
    """Tokens of a whole conversation that cost as much as the mean page, with what came before it cached, and without a cache.

    rows: of pages that leave something out; None where there are none: a page that has everything is never the cheaper one.
    """
    if not rows:
        return None
    page = fmean(_cost(*row.forms[PAGE]) for row in rows)
    growth = fmean(row.growth for row in rows)
    cached = (page - (1 - CACHED_WEIGHT) * growth) / CACHED_WEIGHT
    return {"pages": len(rows), "cached": max(round(cached), 0), "uncached": round(fmean(row.forms[PAGE][0] for row in rows))}


def _cost(tokens: float, cached: float) -> float:
    """In new tokens."""
    return tokens - (1 - CACHED_WEIGHT) * cached


def _alike(before: Sequence[object], now: Sequence[object]) -> int:
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(before, now, strict=False)))
