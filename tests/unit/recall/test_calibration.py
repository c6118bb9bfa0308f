"""How much agents' reports about its model make a profile keep free."""

from typing import Any

import pytest

from builder.domain.profile import Profile
from builder.domain.usage import NEWEST_REPORTS, USAGE, Usage
from builder.recall.calibration import MIN_REPORTS, calibrated
from builder.recall.pinned import AGENTS, BLACKLIST, OWN_BLACKLIST, kinds_of
from tests.factories import make_breadcrumb, make_profile


def usage_reports(*used: int) -> tuple[Usage, ...]:
    """About pages of 1,000 tokens."""
    return tuple(Usage(model="claude-sonnet-4", counted=1000, used=number) for number in used)


def asking(**changes: Any) -> Profile:
    fields: dict[str, Any] = {"margin": 0.25, "calibrate": "claude-sonnet-4"}
    return make_profile(**(fields | changes))


def test_the_margin_is_what_the_page_second_furthest_off_would_have_needed() -> None:
    profile = calibrated(asking(), usage_reports(1100, 1250, 900, 1900, 1200))
    assert profile.margin == pytest.approx(0.2)
    assert profile.allowance == 3200


def test_a_margin_below_that_of_the_table_is_taken_too() -> None:
    assert calibrated(asking(), usage_reports(*[1010] * MIN_REPORTS)).margin == pytest.approx(1 - 1 / 1.01)


def test_a_provider_that_counts_less_than_we_do_does_not_raise_the_budget() -> None:
    profile = calibrated(asking(), usage_reports(*[700] * MIN_REPORTS))
    assert (profile.margin, profile.allowance) == (0, profile.budget)


def test_whatever_is_reported_half_of_the_page_stays() -> None:
    assert calibrated(asking(), usage_reports(*[100_000_000] * MIN_REPORTS)).margin == 0.5


def test_a_few_reports_change_nothing() -> None:
    assert calibrated(asking(), usage_reports(*[1500] * (MIN_REPORTS - 1))) == asking()


VERSIONS = ["claude-sonnet-4", "claude-sonnet-4-20250514", "claude-sonnet-4@20250514", "anthropic/claude-sonnet-4"]
OTHERS = ["gpt-4o", "claude-sonnet", "claude-sonnet-40", "claude-sonnet-4-5-20250929", "", "claude-sonnet-4/"]


@pytest.mark.parametrize("model", [*VERSIONS, *OTHERS])
def test_a_report_is_about_the_profiles_model_whatever_its_date_and_provider_and_about_no_other(model: str) -> None:
    *_, kind = kinds_of((asking(pinned=()),))
    found = make_breadcrumb(schema=USAGE, tags=Usage(model=model, counted=1000, used=1000).tags)
    assert kind.selector.matches(found) == (model in VERSIONS)


def test_a_profile_that_does_not_ask_for_it_keeps_its_margin_and_reads_no_reports() -> None:
    profile = asking(calibrate=None)
    assert calibrated(profile, usage_reports(*[1900] * NEWEST_REPORTS)) is profile
    assert kinds_of((make_profile(pinned=()),)) == (BLACKLIST, OWN_BLACKLIST, AGENTS)


def test_consumers_of_one_model_share_what_is_recalled_of_its_reports() -> None:
    both = kinds_of((asking(pinned=()), asking(consumer="other", pinned=())))
    assert [kind.selector.schemas for kind in both] == [
        BLACKLIST.selector.schemas,
        OWN_BLACKLIST.selector.schemas,
        AGENTS.selector.schemas,
        (USAGE,),
    ]
