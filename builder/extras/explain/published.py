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
Pieces = Sequence[tuple[object, int]]
"""What is sent, in order: anything that tells one piece from another, and its tokens."""


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


class _Sender:
    """An agent that sends the conversation in each form, page after page."""

    def __init__(self) -> None:
        self._before: dict[tuple[str, str], tuple[Pieces, datetime]] = {}
        self._static: defaultdict[str, int] = defaultdict(int)
        """By consumer: a page with little room shows a shorter catalog, an agent sends all of it."""

    def send(self, page: CountedPage, messages: Sequence[Breadcrumb]) -> SentPage:
        """messages: the conversation up to the page's trigger."""
        _, consumer, _ = page.key
        encode = load_encoder(page.encoding)
        self._static[consumer] = max(self._static[consumer], page.static)
        catalog = (ORIGIN, self._static[consumer])
        whole = [(each.place, len(encode("\n".join((each.text, *each.call_signatures))))) for each in messages]
        forms = {
            PAGE: self._counts(page, PAGE, [(token, 1) for token in page.pieces]),
            WHOLE: self._counts(page, WHOLE, [catalog, *whole]),
            LAST: self._counts(page, LAST, [catalog, *whole[-LAST_MESSAGES:]]),
        }
        texts = {each.text for each in messages if each.id in page.ids}  # what was sent twice may stand once
        is_whole = all(each.id in page.ids or each.text in texts for each in messages)
        tokens, alike, _ = forms[WHOLE]
        sizes = {form: (tokens, cached) for form, (tokens, _, cached) in forms.items()}
        return SentPage(is_whole=is_whole, forms=sizes, growth=tokens - alike)

    def _counts(self, page: CountedPage, form: str, pieces: Pieces) -> tuple[int, int, int]:
        """Tokens; those with which the page before began, too; those of them that are cached."""
        _, consumer, _ = page.key
        previous, then = self._before.get((consumer, form), ((), page.moment))
        self._before[consumer, form] = pieces, page.moment
        alike = sum(size for _, size in pieces[: _alike(previous, pieces)])
        is_cached = alike >= MIN_CACHED and (page.moment - then).total_seconds() <= CACHE_SECONDS
        return sum(size for _, size in pieces), alike, alike // CACHE_BLOCK * CACHE_BLOCK if is_cached else 0


def sent_tokens(pages: Iterable[CountedPage], crumbs: Sequence[Breadcrumb]) -> list[SentPage]:
    """Of each page. crumbs: the session's, in order."""
    sender = _Sender()
    return [sender.send(page, _conversation(page, crumbs)) for page in pages]


def _conversation(page: CountedPage, crumbs: Sequence[Breadcrumb]) -> tuple[Breadcrumb, ...]:
    """What was said up to the trigger, in newest versions."""
    newest: dict[str, Breadcrumb] = {}
    for crumb in crumbs:
        is_sent = crumb.place.sequence <= page.sequence and crumb.role in ROLES and crumb.schema != TOOL_REQUEST
        if is_sent and (crumb.id not in newest or crumb.version > newest[crumb.id].version):
            newest[crumb.id] = crumb
    return tuple(newest.values())


def _row(consumer: str, rows: list[SentPage]) -> dict[str, Any]:
    sent = {}
    for form in rows[0].forms:
        tokens = fmean(row.forms[form][0] for row in rows)
        cached = fmean(row.forms[form][1] for row in rows)
        sent[form] = {"tokens": round(tokens, 1), "cached": round(cached, 1), "cost": round(_cost(tokens, cached), 1)}
    return {
        "consumer": consumer,
        "contexts": len(rows),
        "sent": sent,
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
