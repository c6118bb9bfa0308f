"""What the pages of each consumer cost a day: tokens from its traffic, money from a price list."""

from collections.abc import Mapping
from statistics import fmean
from typing import Any

from builder.adapters.profiles.profiles import known_name
from builder.app.operations.prices import PriceList
from builder.app.operations.traffic import Page, Traffic

HOURS_A_DAY = 24
MONEY_DIGITS = 9
"""Digits behind the point: prices are small for one page."""


def costs(traffic: Traffic, prices: PriceList, hours: float, models: Mapping[str, str]) -> dict[str, Any]:
    """The report: a row a consumer, the largest first. models: consumer → model, where one is named."""
    by_consumer: dict[str, list[Page]] = {}
    for page in traffic.pages:
        by_consumer.setdefault(page.trigger[1], []).append(page)
    rows = [_row(consumer, pages, traffic, prices, hours, models) for consumer, pages in by_consumer.items()]
    amounts = [row["money"][0]["a_day"] for row in rows if len(row["money"]) == 1]
    return {
        "hours": hours,
        "contexts": len(traffic.pages),
        "unreadable": traffic.unreadable,
        "first": min((page.moment.isoformat() for page in traffic.pages), default=None),
        "last": max((page.moment.isoformat() for page in traffic.pages), default=None),
        "cache": prices.cache.model_dump(),
        "currency": prices.currency,
        "consumers": sorted(rows, key=lambda row: -row["contexts_per_day"] * row["tokens"]),
        "a_day": round(sum(amounts), MONEY_DIGITS) if rows and len(amounts) == len(rows) else None,
        "estimates": _estimates(prices, traffic, hours),
    }


def _row(
    consumer: str, pages: list[Page], traffic: Traffic, prices: PriceList, hours: float, models: Mapping[str, str]
) -> dict[str, Any]:
    cached = fmean(prices.cache.cached(min(page.reused, page.tokens), page.pause) for page in pages)
    tokens = fmean(page.tokens for page in pages)
    responses = [traffic.answers[page.trigger] for page in pages if page.trigger in traffic.answers]
    answer = fmean(responses) if responses else 0.0
    a_day = len(pages) * HOURS_A_DAY / hours
    classes = sorted({name for page in pages for name in page.tokens_by_class})
    return {
        "consumer": consumer,
        "sessions": len({(page.trigger[0], page.session) for page in pages}),
        "contexts": len(pages),
        "contexts_per_day": round(a_day, 1),
        "tokens": round(tokens, 1),
        "tokens_max": max(page.tokens for page in pages),
        "tokens_by_class": {name: round(fmean(page.tokens_by_class.get(name, 0) for page in pages), 1) for name in classes},
        "reused_tokens": round(fmean(page.reused for page in pages), 1),
        "cached_tokens": round(cached, 1),
        "new_tokens": round(tokens - cached, 1),
        "responses": len(responses),
        "response_tokens": round(answer, 1),
        "money": [
            _money(model, (tokens - cached, cached, answer), a_day, prices)
            for model in priced_models(models.get(consumer, ""), prices)
        ],
    }


def priced_models(model: str, prices: PriceList) -> list[str]:
    """The list's name of the model; all of the list where no model is named, nothing where the list has no prices for it."""
    if not model:
        return list(prices.models)
    name = known_name(model, prices.models)
    return [name] if name else []


def _money(model: str, tokens: tuple[float, float, float], a_day: float, prices: PriceList) -> dict[str, Any]:
    """tokens: new and cached ones of a page, and of the responses to it."""
    turn = prices.models[model].cost(*tokens)
    return {"model": model, "a_turn": round(turn, MONEY_DIGITS), "a_day": round(turn * a_day, MONEY_DIGITS)}


def _estimates(prices: PriceList, traffic: Traffic, hours: float) -> list[str]:
    """What of the report is no count, in sentences."""
    cache = prices.cache
    cached = (
        f"Estimated: cached tokens. A beginning of {cache.min_tokens:,} tokens or more counts, in blocks of "
        f"{cache.block_tokens}, when the page before is at most {cache.minutes:g} minutes old."
    )
    counted = (
        "Estimated: response tokens, by o200k_base over the words and calls that agents published; reasoning is not in them."
    )
    a_day = [f"Estimated: contexts a day, from those of {hours:g} hours."] if hours < HOURS_A_DAY else []
    return [
        "Counted: contexts, tokens of each page, and the tokens with which the page before it in its session began.",
        *a_day,
        cached,
        counted if traffic.answers else "Not known: response tokens; no agent has published a response to these contexts.",
        "Not in it: what agents send beside the page (system prompts, tool definitions), retries, summaries made by an endpoint.",
    ]
