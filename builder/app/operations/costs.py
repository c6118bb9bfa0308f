"""What the pages of each consumer cost a day: tokens from its traffic, money from a price list, a file of the installation."""

from collections.abc import Mapping
from pathlib import Path
from statistics import fmean
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from builder.adapters.profiles.profiles import known_name
from builder.app.operations.traffic import PAGE, Page, Traffic
from builder.domain.errors import Misconfigured
from builder.wire.files import YamlMistake, parse_yaml

MILLION = 1_000_000
_STRICT = ConfigDict(extra="forbid", frozen=True)
Price = Annotated[float, Field(ge=0, allow_inf_nan=False)]
HOURS_A_DAY = 24
COUNTED = (
    "Counted: contexts, tokens of each page, of the messages that it is made of with the page's static sections before them, and "
    "with how many what came before began. Estimated: what a provider has cached, by `cache` of the price list; response tokens."
)
NOT_COUNTED = (
    "Not in it: what agents send beside page or messages (own system prompts, tool definitions, roles), reasoning, retries, "
    "summaries made by an endpoint."
)


class CacheRules(BaseModel):
    """What a provider keeps of a prompt. The defaults are cautious; its own pages say what it does."""

    model_config = _STRICT
    min_tokens: int = Field(1024, ge=0, description="shorter beginnings are not cached")
    block_tokens: int = Field(128, ge=1, description="only whole blocks of a beginning are cached")
    minutes: float = Field(5, gt=0, description="a beginning is forgotten when it was not used for so long")

    def cached(self, tokens: int, seconds: float) -> int:
        """Of a beginning that was sent before, too, so many seconds ago: the tokens that the cache has."""
        is_cached = tokens >= self.min_tokens and seconds <= self.minutes * 60
        return tokens // self.block_tokens * self.block_tokens if is_cached else 0


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

    def matching(self, model: str) -> list[str]:
        """The list's name of the model; all of the list where no model is named, nothing where the list has no prices for it."""
        return [name for name in (known_name(model, self.models),) if name] if model else list(self.models)


def load_prices(file: Path) -> PriceList:
    """Read a YAML or JSON file. Raises `Misconfigured`."""
    try:
        return PriceList.model_validate(parse_yaml(file.read_text("utf-8")) or {})
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = "/".join(map(str, first["loc"])) or "the file"
        raise Misconfigured(f"{file}, {place}: {first['msg']}; builder/docs/cost.md has an example") from error
    except (OSError, ValueError, YamlMistake) as error:
        raise Misconfigured(f"the price list {file} cannot be read: {error}; builder/docs/cost.md has an example") from error


def costs(traffic: Traffic, prices: PriceList, hours: float, models: Mapping[str, str]) -> dict[str, Any]:
    """The report: a row a consumer, the most tokens first, those apart that nobody reads. models: consumer → model, if named."""
    names = dict.fromkeys(page.key[1] for page in traffic.pages)
    rows = [
        _row(
            consumer,
            [page for page in traffic.pages if page.key[1] == consumer],
            traffic,
            prices,
            hours,
            models.get(consumer, ""),
        )
        for consumer in names
    ]
    return {
        "hours": hours,
        "contexts": len(traffic.pages),
        "unreadable": traffic.unreadable,
        "first": min((page.moment.isoformat() for page in traffic.pages), default=None),
        "last": max((page.moment.isoformat() for page in traffic.pages), default=None),
        "currency": prices.currency,
        "consumers": sorted((row for row in rows if row["is_read"]), key=lambda row: -row["contexts_per_day"] * row["tokens"]),
        "unread": [row for row in rows if not row["is_read"]],
    }


def _row(consumer: str, pages: list[Page], traffic: Traffic, prices: PriceList, hours: float, model: str) -> dict[str, Any]:
    answers, a_day = [sum(page.answers) for page in pages if page.answers], len(pages) * HOURS_A_DAY / hours
    answer = fmean(answers or [0])
    forms = {form: _mean(form, pages, prices.cache) for form in pages[0].sent}
    served = [each for each in traffic.subscriptions if each.delivered]
    return {
        "consumer": consumer,
        "is_read": bool(answers) or any(each.is_of(page.key[0], consumer) for each in served for page in pages),
        "sessions": len({page.key for page in pages}),
        "contexts": len(pages),
        "contexts_per_day": round(a_day, 1),
        "tokens_max": max(page.sent[PAGE][0] for page in pages),
        "tokens": forms[PAGE]["tokens"],
        "responses": len(answers),
        "response_tokens": round(answer, 1),
        "sent": forms,
        "money": {
            name: {
                form: round(a_day * prices.models[name].cost(each["tokens"] - each["cached"], each["cached"], answer), 9)
                for form, each in forms.items()
            }
            for name in prices.matching(model)
        },
    }


def _mean(form: str, pages: list[Page], cache: CacheRules) -> dict[str, float]:
    """Tokens a turn, and those of them that the cache has."""
    tokens, cached = zip(*((page.sent[form][0], cache.cached(page.sent[form][1], page.pause)) for page in pages), strict=True)
    return {"tokens": round(fmean(tokens), 1), "cached": round(fmean(cached), 1)}
