"""Price lists, and what a provider's cache keeps of a page."""

from pathlib import Path

import pytest

from builder.app.operations.costs import CacheRules, ModelPrices, PriceList, load_prices
from builder.domain.errors import Misconfigured


def test_a_cache_has_whole_blocks_of_a_beginning_that_is_long_and_fresh_enough() -> None:
    rules = CacheRules(min_tokens=1000, block_tokens=100, minutes=5)
    assert [rules.cached(tokens, 300) for tokens in (999, 1000, 1099, 1100)] == [0, 1000, 1000, 1100]
    assert rules.cached(5000, 301) == 0


def test_cached_tokens_cost_what_new_ones_do_where_the_list_does_not_say() -> None:
    assert ModelPrices(input=2, cached_input=0.5, output=8).cost(1_000_000, 2_000_000, 500_000) == 7
    assert ModelPrices(input=2).cost(1_000_000, 2_000_000, 500_000) == 6


def test_a_list_is_yaml_or_json(tmp_path: Path) -> None:
    yaml, json = tmp_path / "prices.yaml", tmp_path / "prices.json"
    yaml.write_text("currency: EUR\nmodels:\n  small: {input: 1, cached_input: 0.1, output: 4}\n", "utf-8")
    json.write_text('{"currency": "EUR", "models": {"small": {"input": 1, "cached_input": 0.1, "output": 4}}}', "utf-8")
    assert load_prices(yaml) == load_prices(json)
    assert load_prices(yaml).models["small"].cached_input == 0.1
    assert PriceList().models == {}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("models: [", "cannot be read: line 1: a value is missing between brackets"),
        ("models: {small: {input: -1}}", "models/small/input: Input should be greater than or equal to 0"),
        ("models: {small: {inptu: 1}}", "models/small/input: Field required"),
        ("prices: {}", "prices: Extra inputs are not permitted"),
        ("- 1", "the file: Input should be a valid dictionary"),
    ],
)
def test_what_is_wrong_with_a_list_is_named_with_its_file(tmp_path: Path, text: str, problem: str) -> None:
    file = tmp_path / "prices.yaml"
    file.write_text(text, "utf-8")
    with pytest.raises(Misconfigured, match=problem) as error:
        load_prices(file)
    assert "prices.yaml" in str(error.value)


def test_a_list_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(Misconfigured, match=r"none\.yaml cannot be read: .*No such file"):
        load_prices(tmp_path / "none.yaml")
