"""The table of known models."""

import pytest

from builder.adapters.profiles.profiles import known_name, parse_models
from builder.domain.errors import Misconfigured


def test_the_longest_known_name_of_which_a_model_is_a_version_is_its_own() -> None:
    names = ("claude-sonnet-4", "claude-sonnet-4-5", "gpt-5")
    assert known_name("anthropic/claude-sonnet-4-5-20250929", names) == "claude-sonnet-4-5"
    assert known_name("claude-sonnet-45", names) == ""


@pytest.mark.parametrize("source", ["- gpt-5", "gpt-5: {window: 0}", "gpt-5: {windows: 1}", "gpt-5: 4"])
def test_a_table_of_another_form_is_refused(source: str) -> None:
    with pytest.raises(Misconfigured, match=r"models\.yaml: it is not readable"):
        parse_models(source)
