"""Traffic and prices become tokens and money."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from builder.app.operations.costs import CacheRules, ModelPrices, PriceList, costs
from builder.app.operations.traffic import Page, Traffic

NOON = datetime(2026, 11, 23, 12, tzinfo=UTC)
PRICES = PriceList(
    currency="EUR",
    cache=CacheRules(min_tokens=100, block_tokens=50, minutes=10),
    models={"small": ModelPrices(input=1, cached_input=0.1, output=10), "large": ModelPrices(input=20)},
)


def page(number: int, consumer: str = "default", **changes: Any) -> Page:
    values: dict[str, Any] = {
        "trigger": ("acme", consumer, f"m{number}"),
        "session": "s1",
        "moment": NOON + timedelta(minutes=number),
        "tokens": 1000,
        "reused": 0,
        "pause": 60.0,
        "tokens_by_class": {"turn": 1000},
    }
    return Page(**(values | changes))


def test_a_row_has_the_means_of_its_consumer() -> None:
    pages = [page(1), page(2, tokens=2000, reused=999, tokens_by_class={"static": 500, "turn": 1500}), page(3, session="s2")]
    traffic = Traffic(pages=pages, answers={("acme", "default", "m1"): 40, ("acme", "default", "m3"): 60})
    report = costs(traffic, PriceList(), 24, {})
    (row,) = report["consumers"]
    assert (report["contexts"], report["first"]) == (3, "2026-11-23T12:01:00+00:00")
    assert (row["sessions"], row["contexts"], row["contexts_per_day"]) == (2, 3, 3)
    assert (row["tokens"], row["tokens_max"], row["reused_tokens"]) == (1333.3, 2000, 333)
    assert row["tokens_by_class"] == {"static": 166.7, "turn": 1166.7}
    assert (row["responses"], row["response_tokens"]) == (2, 50)
    assert (row["cached_tokens"], row["new_tokens"]) == (0, 1333.3)  # 999 are below the 1,024 that are cached by default
    assert (row["money"], report["a_day"]) == ([], None)


def test_money_is_that_of_new_cached_and_answered_tokens() -> None:
    traffic = Traffic(pages=[page(1), page(2, reused=930)], answers={("acme", "default", "m1"): 100})
    report = costs(traffic, PRICES, 12, {"default": "small-2026-01-01"})
    (row,) = report["consumers"]
    assert (row["contexts_per_day"], row["cached_tokens"], row["new_tokens"]) == (4, 450, 550)
    a_turn = (550 * 1 + 450 * 0.1 + 100 * 10) / 1e6
    assert row["money"] == [{"model": "small", "a_turn": pytest.approx(a_turn), "a_day": pytest.approx(4 * a_turn)}]
    assert report["a_day"] == pytest.approx(4 * a_turn)
    assert "Estimated: contexts a day, from those of 12 hours." in report["estimates"]


def test_a_page_that_comes_when_the_cache_has_forgotten_is_all_new() -> None:
    (row,) = costs(Traffic(pages=[page(1, reused=900, pause=601)]), PRICES, 24, {})["consumers"]
    assert (row["reused_tokens"], row["cached_tokens"]) == (900, 0)


def test_a_consumer_without_a_model_is_priced_by_each_of_the_list_and_adds_up_to_nothing() -> None:
    report = costs(Traffic(pages=[page(1)]), PRICES, 24, {})
    assert [price["model"] for price in report["consumers"][0]["money"]] == ["small", "large"]
    assert report["a_day"] is None


def test_a_model_without_prices_costs_nothing_that_could_be_said() -> None:
    assert costs(Traffic(pages=[page(1)]), PRICES, 24, {"default": "other"})["consumers"][0]["money"] == []


def test_consumers_stand_by_their_tokens_a_day() -> None:
    pages = [page(1, "b"), page(2, "a"), page(3, "a")]
    report = costs(Traffic(pages=pages), PRICES, 24, {"a": "small", "b": "large"})
    assert [row["consumer"] for row in report["consumers"]] == ["a", "b"]
    assert report["a_day"] == pytest.approx(2 * 0.001 + 0.02)


def test_no_contexts_are_no_rows() -> None:
    report = costs(Traffic(), PRICES, 24, {})
    assert (report["contexts"], report["consumers"], report["a_day"], report["first"]) == (0, [], None, None)
