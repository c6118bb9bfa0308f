"""Which reports of tokens count, and which models are one."""

import pytest

from builder.domain.usage import MIN_TOKENS, Usage, known_name, undated


@pytest.mark.parametrize(
    ("model", "name"),
    [
        ("claude-sonnet-4-5-20250929", "claude-sonnet-4-5"),
        ("openai/gpt-4o-2024-08-06", "gpt-4o"),
        ("gemini-2.5-pro-preview-05-06", "gemini-2.5-pro"),
        ("llama3.1:70b", "llama3.1"),
        ("ft:gpt-4o-mini:acme::abc123", "gpt-4o-mini"),
        ("mistral-large-latest", "mistral-large"),
        ("gpt-4-0613", "gpt-4"),
        ("gpt-5", "gpt-5"),
    ],
)
def test_dated_sized_and_tuned_versions_are_one_model(model: str, name: str) -> None:
    assert undated(model) == name


def test_the_longest_known_name_of_which_a_model_is_a_version_is_its_own() -> None:
    assert (
        known_name("anthropic/claude-sonnet-4-5-20250929", ("claude-sonnet-4", "claude-sonnet-4-5", "gpt-5"))
        == "claude-sonnet-4-5"
    )
    assert known_name("claude-sonnet-45", ("claude-sonnet-4",)) == ""


@pytest.mark.parametrize(
    ("counted", "used", "counts"), [(1000, 1200, True), (1000, 2001, False), (1000, 499, False), (99, 99, False)]
)
def test_a_report_counts_when_both_can_have_counted_the_same_page(counted: int, used: int, counts: bool) -> None:
    usage = Usage(model="gpt-5-2025-08-07", counted=counted, used=used)
    assert usage.tags == (("model:gpt-5",) if counts else ())


def test_a_small_page_allows_any_counts() -> None:
    assert Usage(model="m", counted=MIN_TOKENS - 1, used=1_000_000).is_plausible
