"""Which profiles share the summaries of a session."""

from dataclasses import replace

from builder.domain.selector import Selector
from builder.recall.summaries.recipes import recipe_of
from tests.summarised import PROFILE, RECIPE, summing


def test_profiles_of_equal_settings_and_audience_share_a_recipe() -> None:
    assert recipe_of(replace(PROFILE, consumer="other")) == RECIPE
    assert recipe_of(summing(cap=61)) != RECIPE
    assert recipe_of(replace(PROFILE, audience=Selector(any_tags=("to:mira",)))) != RECIPE


def test_without_summaries_and_for_one_task_alone_there_is_no_recipe() -> None:
    assert recipe_of(replace(PROFILE, summaries=None)) is None
    assert recipe_of(replace(PROFILE, scope_to_task=True)) is None
