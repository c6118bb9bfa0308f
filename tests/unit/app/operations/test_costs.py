"""Traffic and prices become tokens and money."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from builder.adapters.nats.requests import Subscription
from builder.app.operations.costs import CacheRules, ModelPrices, PriceList, costs
from builder.app.operations.traffic import LAST, PAGE, WHOLE, Page, Traffic

NOON = datetime(2026, 11, 23, 12, tzinfo=UTC)
PRICES = PriceList(
    currency="EUR",
    cache=CacheRules(min_tokens=100, block_tokens=50, minutes=10),
    models={"small": ModelPrices(input=1, cached_input=0.1, output=10), "large": ModelPrices(input=20)},
)
READER = Subscription(
    name="any", subjects=("contexts.*.default.>", "contexts.acme.a.>", "contexts.acme.b.>"), is_durable=True, listening=0,
    is_working=False, delivered=1, waiting=0, since=None,
)  # fmt: skip


def page(number: int, consumer: str = "default", **changes: Any) -> Page:
    values: dict[str, Any] = {
        "key": ("acme", consumer, "s1"),
        "agent": consumer,
        "trigger": f"m{number}",
        "sequence": number,
        "encoding": "o200k_base",
        "moment": NOON + timedelta(minutes=number),
        "pause": 60.0,
        "static": 0,
        "sent": {PAGE: (1000, 0)},
    }
    return Page(**(values | changes))


def traffic(*pages: Page, reader: Subscription = READER) -> Traffic:
    made = Traffic()
    made.pages, made.subscriptions = list(pages), (reader,)
    return made


def test_a_row_has_the_means_of_its_consumer() -> None:
    pages = (page(1, answers=[30, 10]), page(2, sent={PAGE: (2000, 999)}), page(3, key=("acme", "default", "s2"), answers=[60]))
    report = costs(traffic(*pages), PriceList(), 24, {})
    (row,) = report["consumers"]
    assert (report["contexts"], report["first"]) == (3, "2026-11-23T12:01:00+00:00")
    assert (row["sessions"], row["contexts"], row["contexts_per_day"]) == (2, 3, 3)
    assert (row["tokens"], row["tokens_max"], row["responses"], row["response_tokens"]) == (1333.3, 2000, 2, 50)
    assert row["sent"] == {PAGE: {"tokens": 1333.3, "cached": 0}}  # 999 are below the 1,024 that are cached by default
    assert row["money"] == {}


def test_money_is_that_of_new_cached_and_answered_tokens_of_the_page_and_of_what_would_be_sent_without_it() -> None:
    sent = {PAGE: (1000, 930), WHOLE: (9000, 8990), LAST: (1500, 0)}
    report = costs(traffic(page(1, sent=sent, answers=[100]), page(2, sent=sent)), PRICES, 12, {"default": "small-2026-01-01"})
    (row,) = report["consumers"]
    assert (row["contexts_per_day"], row["sent"][PAGE]) == (4, {"tokens": 1000, "cached": 900})
    amounts = {
        form: 4 * (new + cached * 0.1 + 1000) / 1e6
        for form, new, cached in ((PAGE, 100, 900), (WHOLE, 50, 8950), (LAST, 1500, 0))
    }
    assert row["money"] == {"small": pytest.approx(amounts)}


def test_what_comes_when_the_cache_has_forgotten_is_all_new() -> None:
    (row,) = costs(traffic(page(1, sent={PAGE: (1000, 900)}, pause=601)), PRICES, 24, {})["consumers"]
    assert row["sent"][PAGE]["cached"] == 0


def test_a_consumer_without_a_model_is_priced_by_each_of_the_list_and_one_without_prices_by_none() -> None:
    assert list(costs(traffic(page(1)), PRICES, 24, {})["consumers"][0]["money"]) == ["small", "large"]
    assert costs(traffic(page(1)), PRICES, 24, {"default": "other"})["consumers"][0]["money"] == {}


def test_consumers_stand_by_their_tokens_a_day() -> None:
    report = costs(traffic(page(1, "b"), page(2, "a"), page(3, "a")), PRICES, 24, {"a": "small", "b": "large"})
    assert [row["consumer"] for row in report["consumers"]] == ["a", "b"]


@pytest.mark.parametrize(
    ("reader", "answers", "is_read"),
    [
        (READER, [], True),
        (replace(READER, delivered=0), [], False),
        (replace(READER, delivered=0), [7], True),
        (replace(READER, subjects=("contexts.globex.default.>",)), [], False),
        (replace(READER, subjects=("contexts.>",)), [], False),
    ],
)
def test_a_consumer_whose_contexts_nobody_took_or_answered_is_listed_apart(
    reader: Subscription, answers: list[int], is_read: bool
) -> None:
    report = costs(traffic(page(1, answers=answers), reader=reader), PRICES, 24, {})
    assert (len(report["consumers"]), len(report["unread"])) == ((1, 0) if is_read else (0, 1))


def test_no_contexts_are_no_rows() -> None:
    report = costs(Traffic(), PRICES, 24, {})
    assert (report["contexts"], report["consumers"], report["unread"], report["first"]) == (0, [], [], None)
