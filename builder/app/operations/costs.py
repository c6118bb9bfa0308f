"""What the pages of each consumer cost a day: tokens from its traffic, money from a price list, a file of the installation."""

from collections.abc import Mapping
from pathlib import Path
from statistics import fmean
from typing import Annotated, Any

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from builder.adapters.profiles.profiles import known_name
from builder.app.operations.traffic import Page, Traffic
from builder.domain.errors import Misconfigured

MILLION = 1_000_000
_STRICT = ConfigDict(extra="forbid", frozen=True)
Price = Annotated[float, Field(ge=0, allow_inf_nan=False)]
HOURS_A_DAY = 24
MONEY_DIGITS = 9
"""Digits behind the point: prices are small for one page."""


class CacheRules(BaseModel):
    """What a provider keeps of a prompt. The defaults are cautious; its own pages say what it does."""

    model_config = _STRICT
    min_tokens: int = Field(1024, ge=0, description="shorter beginnings are not cached")
    block_tokens: int = Field(128, ge=1, description="only whole blocks of a beginning are cached")
    minutes: float = Field(5, gt=0, description="a beginning is forgotten when it was not used for so long")

    def cached(self, tokens: int, seconds: float) -> int:
        """Of a beginning that a page shares with the one before, so many seconds ago: the tokens that the cache has."""
        if tokens < self.min_tokens or seconds > self.minutes * 60:
            return 0
        return tokens // self.block_tokens * self.block_tokens


class ModelPrices(BaseModel):
    """Prices of one model, for a million tokens."""

    model_config = _STRICT
    input: Price = Field(description="new tokens of a prompt")
    cached_input: Price | None = Field(None, description="tokens of a prompt that the cache has; default is `input`")
    output: Price = Field(0, description="tokens of an answer")

    def cost(self, new: float, cached: float, answer: float) -> float:
        """Of so many tokens."""
        cached_input = self.input if self.cached_input is None else self.cached_input
        return (new * self.input + cached * cached_input + answer * self.output) / MILLION


class PriceList(BaseModel):
    """A price list file."""

    model_config = _STRICT
    currency: str = Field("", max_length=16, description="of all prices, shown as it is")
    cache: CacheRules = CacheRules()
    models: dict[str, ModelPrices] = Field({}, description="name of a model, undated → its prices")


def load_prices(file: Path) -> PriceList:
    """Read a YAML or JSON file. Raises `Misconfigured`."""
    try:
        return PriceList.model_validate(yaml.safe_load(file.read_text("utf-8")) or {})
    except OSError as error:
        raise Misconfigured(f"the price list {file} cannot be read: {error.strerror}; name another by --prices") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise Misconfigured(f"the price list {file} is no YAML: {error}; builder/docs/cost.md has an example") from error
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = "/".join(map(str, first["loc"])) or "the file"
        raise Misconfigured(f"{file}, {place}: {first['msg']}; builder/docs/cost.md has an example") from error


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


def priced_models(model: str, prices: PriceList) -> list[str]:
    """The list's name of the model; all of the list where no model is named, nothing where the list has no prices for it."""
    if not model:
        return list(prices.models)
    name = known_name(model, prices.models)
    return [name] if name else []


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
