"""How much agents' reports make a profile keep free, and which of them count."""

from typing import Any

import pytest

from builder.domain.profile import Profile
from builder.domain.usage import ModelName, Usage
from builder.pipeline.calibrate import FEWEST, NEWEST, SMALLEST, calibrated
from builder.pipeline.standing import BLACKLIST, USAGES, kinds
from tests.factories import make_profile

SONNET = ModelName(name="claude-sonnet-4", others=("claude-sonnet-4-5",))


def report(used: int, counted: int = 1000, model: str = "claude-sonnet-4") -> Usage:
    return Usage(model=model, counted=counted, used=used)


def asking(**changes: Any) -> Profile:
    fields: dict[str, Any] = {"margin": 0.25, "calibrate": SONNET}
    return make_profile(**(fields | changes))


def test_the_margin_is_what_the_page_that_was_counted_furthest_off_would_have_needed() -> None:
    profile = calibrated(asking(), [report(1100), report(1250), report(900), report(1000), report(1200)])
    assert profile.margin == pytest.approx(0.2)
    assert profile.allowance == 3200


def test_a_margin_below_that_of_the_table_is_taken_too() -> None:
    assert calibrated(asking(), [report(1010)] * FEWEST).margin == pytest.approx(1 - 1 / 1.01)


def test_a_provider_that_counts_less_than_we_do_does_not_raise_the_budget() -> None:
    profile = calibrated(asking(), [report(700)] * FEWEST)
    assert (profile.margin, profile.allowance) == (0, profile.budget)


def test_whatever_is_reported_half_of_the_page_stays() -> None:
    assert calibrated(asking(), [report(100_000_000, SMALLEST)] * FEWEST).margin == 0.5


def test_a_few_reports_change_nothing() -> None:
    assert calibrated(asking(), [report(1500)] * (FEWEST - 1)) == asking()


def test_a_page_of_a_few_tokens_says_nothing_about_a_tokenizer() -> None:
    small = [report(SMALLEST + 50, SMALLEST - 1)] * NEWEST
    assert calibrated(asking(), small) == asking()
    assert calibrated(asking(), [*small, *[report(1100)] * FEWEST]).margin == pytest.approx(1 - 1 / 1.1)


def test_only_the_newest_reports_count() -> None:
    newest = [report(1100)] * NEWEST
    assert calibrated(asking(), [*newest, report(1900)]).margin == pytest.approx(1 - 1 / 1.1)
    assert calibrated(asking(), [*newest[1:], report(1900)]).margin == pytest.approx(1 - 1 / 1.9)


def test_reports_about_another_model_neither_count_nor_push_others_out() -> None:
    others = [report(1900, model=name) for name in ("gpt-4o", "claude-sonnet-4-5-20250929", "claude-sonnet-40")]
    assert calibrated(asking(), others * NEWEST) == asking()
    assert calibrated(asking(), [*others * NEWEST, *[report(1100)] * FEWEST]).margin == pytest.approx(1 - 1 / 1.1)


VERSIONS = ["claude-sonnet-4", "claude-sonnet-4-20250514", "claude-sonnet-4@20250514", "anthropic/claude-sonnet-4"]


@pytest.mark.parametrize("name", VERSIONS)
def test_a_dated_version_and_a_provider_in_front_are_the_same_model(name: str) -> None:
    assert calibrated(asking(), [report(1100, model=name)] * FEWEST).margin < 0.25


def test_a_profile_that_does_not_ask_for_it_keeps_its_margin_and_reads_no_reports() -> None:
    profile = asking(calibrate=None)
    assert calibrated(profile, [report(1900)] * NEWEST) is profile
    assert kinds((make_profile(standing=()),)) == (BLACKLIST,)
    assert kinds((make_profile(standing=()), asking(standing=()))) == (BLACKLIST, USAGES)
